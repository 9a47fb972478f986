"""A task asks for some of a document's fields, and its answer is exactly those, in the schema's order."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest

from training.layouts import KINDS, make_document
from training.leaf import Leaf
from training.seeds import (
    EXAMPLES_START,
    HELD_OUT_START,
    TRAINING_END,
    example_random,
    held_out_random,
    make_heldout,
    training_random,
)
from training.tasks import CROPS, Task, answer_json, bundled_schema, make_task, plain_task


def tasks(kind: str, number: int, **options: Any) -> list[Task]:
    made = []
    for seed in range(number):
        random = Random(seed)
        made.append(make_task(random, make_document(random, kind), **options))
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_has_the_schemas_properties_in_its_order(kind: str) -> None:
    for task in tasks(kind, 30):
        assert list(task.answer) == list(task.schema["properties"])
        assert task.answer
        if "line_items" in task.answer:
            columns = list(task.schema["properties"]["line_items"]["items"]["properties"])
            assert task.answer["line_items"]
            for item in task.answer["line_items"]:
                assert list(item) == columns
        jsonschema.validate(answer_json(task.answer), task.schema, format_checker=jsonschema.FormatChecker(["date"]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_asked_property_is_as_the_bundled_schema_has_it_or_without_description(kind: str) -> None:
    bare = 0
    for task in tasks(kind, 30):
        schema = "receipt" if "receipt" in kind else "invoice"
        for name, asked in task.schema["properties"].items():
            if name == "line_items":
                continue
            bundled = bundled_schema(schema)["properties"].get(name) or bundled_schema("receipt")["properties"][name]
            assert list(asked) == [key for key in bundled if key in asked]
            assert asked["type"] == bundled["type"]
            assert asked.get("format") == bundled.get("format")
            bare += "description" not in asked
    assert bare > 0


def test_without_variation_the_task_is_the_bundled_schema() -> None:
    for kind in ("invoice", "receipt", "invoice_two_pages"):
        document = make_document(Random(3), kind)
        task = make_task(Random(4), document, vary=False)
        assert task.schema == bundled_schema(document.schema)
        assert list(task.schema["properties"]) == list(bundled_schema(document.schema)["properties"])


def test_about_a_third_of_the_hardest_tasks_are_plain_and_none_of_the_easier_ones() -> None:
    bundled = json.dumps(bundled_schema("invoice"))  # the order counts
    hard = sum(json.dumps(task.schema) == bundled for task in tasks("invoice", 200))
    # 0.35 of 200 and about 0.05 that vary into it are 80; four standard deviations are 28
    assert 52 <= hard <= 108
    assert not any(json.dumps(task.schema) == bundled for task in tasks("invoice", 60, difficulty=0.5))


def test_difficulty_bounds_how_many_fields_are_asked_for() -> None:
    assert max(len(task.answer) for task in tasks("invoice", 40, difficulty=0.2)) <= 2
    assert max(len(task.answer) for task in tasks("invoice", 40, difficulty=0.0)) == 1


def test_crops_are_asked_for_what_they_show_and_now_and_then_for_one_thing_more() -> None:
    more = 0
    for kind in sorted(CROPS):
        for seed in range(60):
            random = Random(seed)
            document = make_document(random, kind)
            task = make_task(random, document)
            extra = set(task.answer) - set(document.truth)
            assert len(extra) <= 1
            assert all(task.answer[name] == Leaf(None, "null", (None,) * 5) for name in extra)
            more += len(extra)
            assert set(plain_task(document).answer) == set(document.truth)
    # 0.15 of the 0.65 of 180 that are no plain task are 18; four standard deviations are 16
    assert 2 <= more <= 34


def test_money_is_spelled_with_two_decimals_and_counts_without() -> None:
    for seed in range(40):
        truth = make_document(Random(seed), "invoice").truth
        assert truth["total"].text == f"{truth['total'].value:.2f}"
        for item in truth["line_items"]:
            assert item["amount"].text == f"{item['amount'].value:.2f}"
            assert item["quantity"].value is None or item["quantity"].text == str(item["quantity"].value)


def test_training_held_out_and_example_seeds_do_not_meet() -> None:
    assert TRAINING_END <= HELD_OUT_START < EXAMPLES_START
    training_random(TRAINING_END - 1)
    with pytest.raises(ValueError, match="training index"):
        training_random(HELD_OUT_START)
    with pytest.raises(ValueError, match="held-out index"):
        held_out_random(EXAMPLES_START - HELD_OUT_START)
    with pytest.raises(ValueError, match="example index"):
        example_random(-1)
    assert held_out_random(5).random() == Random(HELD_OUT_START + 5).random()


def test_held_out_documents_alternate_and_are_asked_the_plain_task() -> None:
    kinds = [make_heldout(index)[0].kind for index in range(4)]
    assert kinds == ["invoice", "receipt", "invoice", "receipt"]
    document, task = make_heldout(7, "invoice_two_pages")
    assert document.kind == "invoice_two_pages"
    assert task.schema == bundled_schema("invoice")
