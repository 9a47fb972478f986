"""Schemas of wide documents ask as users do, and every answer is what the schema and the page together say."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import numpy as np
import pytest
from PIL import Image

from training.evaluate import SCHEMAS, Asked, Tally, _choose, count, leaves, write
from training.layouts import PROFILES, make_document
from training.leaf import Document, Leaf
from training.lessons import UNKNOWN, LessonMaker, batch_size, make_lesson, padded_length, shares, tokenizer
from training.seeds import make_heldout
from training.tasks import answer_json, bundled_schema, make_task, plain_task
from training.wide.fields import GROUPS, ITEMS, LISTS, SCALARS
from training.wide.schemas import KINDS, styled, variant
from training.wide.wear import wear


def nullable(schema: Any) -> Any:
    """The schema as it is decoded: any leaf may be null."""
    if isinstance(schema, dict):
        changed = {key: nullable(child) for key, child in schema.items()}
        if isinstance(changed.get("type"), str) and changed["type"] not in ("object", "array", "null"):
            changed["type"] = [changed["type"], "null"]
        if "enum" in changed and None not in changed["enum"]:
            changed["enum"] = [*changed["enum"], None]
        return changed
    return [nullable(child) for child in schema] if isinstance(schema, list) else schema


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [make_document(Random(seed), kind, profile="wide") for kind in PROFILES["wide"] for seed in range(8)]


def properties(schema: dict[str, Any], answer: Any) -> Iterator[tuple[dict[str, Any], Leaf]]:
    """Every leaf of an answer with its subschema."""
    if isinstance(answer, Leaf):
        yield schema, answer
    elif isinstance(answer, list):
        for element in answer:
            yield from properties(schema["items"], element)
    else:
        assert list(schema["properties"]) == list(answer)
        for name, child in answer.items():
            yield from properties(schema["properties"][name], child)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_have_the_schemas_properties_in_its_order_and_satisfy_it(documents: list[Document], kind: str) -> None:
    for seed, document in enumerate(documents):
        task = variant(Random(seed), document, kind)
        assert task.answer
        list(properties(task.schema, task.answer))
        jsonschema.validate(
            answer_json(task.answer), nullable(task.schema), format_checker=jsonschema.FormatChecker(["date"])
        )


def test_an_answer_is_spelled_as_its_subschema_asks(documents: list[Document]) -> None:
    seen: Counter[str] = Counter()
    for seed in range(5):
        for index, document in enumerate(documents):
            task = variant(Random(1000 * seed + index), document, "varied")
            for schema, leaf in properties(task.schema, task.answer):
                kinds = schema.get("type") or [option["type"] for option in schema["anyOf"]]
                kind = kinds if isinstance(kinds, str) else kinds[0]
                seen["any of"] += "anyOf" in schema
                if leaf.value is None:
                    seen["null"] += 1
                    continue
                assert len(leaf.places) == len(leaf.text) + 1
                if schema.get("format") == "date":
                    assert leaf.verbatim is not None
                    assert leaf.text.count("-") == 2
                    seen["iso date"] += 1
                elif "enum" in schema:
                    assert leaf.value in schema["enum"]
                    seen["enum"] += 1
                elif kind == "integer":
                    assert isinstance(leaf.value, int)
                    seen["integer"] += 1
                elif kind == "number":
                    assert isinstance(leaf.value, int | float)
                    assert float(leaf.text) == leaf.value
                    seen["number"] += 1
                else:
                    assert isinstance(leaf.value, str)
                    assert leaf.value == leaf.text
                    seen["string"] += 1
                    seen["printed number"] += leaf.text.replace(",", "").replace(".", "").isdigit()
                    seen["described"] += "description" in schema
    for what in ("any of", "null", "iso date", "enum", "integer", "number", "string", "printed number", "described"):
        assert seen[what] >= 10, seen


def test_a_date_is_printed_unless_its_schema_asks_for_iso() -> None:
    printed = 0
    iso_forms = ("YYYY-MM-DD", "ISO", "year-month-day")
    for seed in range(60):
        document = make_document(Random(seed), "receipt", profile="wide")
        leaf = document.truth["date"]
        task = variant(Random(seed), document, "varied")
        for schema, answered in properties(task.schema, task.answer):
            words = schema.get("description", "")
            iso = schema.get("format") == "date" or any(form in words for form in iso_forms)
            if answered is leaf:
                assert iso or "date" not in words.lower()
            if answered is leaf.verbatim:
                assert not iso or leaf.verbatim.text == leaf.text
                printed += 1
    assert printed >= 5


def test_variants_change_one_thing_each() -> None:
    document = make_document(Random(2), "invoice", profile="wide")
    plain = plain_task(document)
    whole = answer_json(plain.answer)
    assert plain.schema == bundled_schema("invoice")
    reordered = variant(Random(1), document, "reordered")
    assert list(reordered.schema["properties"]) != list(plain.schema["properties"])
    assert answer_json(reordered.answer) == whole
    partial = variant(Random(1), document, "partial")
    assert set(partial.schema["properties"]) < set(plain.schema["properties"])
    renamed = variant(Random(1), document, "renamed")
    assert len(renamed.answer) == len(plain.answer)
    assert not set(renamed.answer) & {"vendor", "customer", "invoice_number", "total"}
    for old, new in zip(plain.answer.values(), renamed.answer.values(), strict=True):
        if not isinstance(old, list):
            assert new == old


def test_every_field_of_a_document_can_be_asked_for_by_several_names() -> None:
    for kind, schema in (("invoice", "invoice"), ("receipt", "receipt"), ("statement", "statement")):
        truth = make_document(Random(0), kind, profile="wide").truth
        for name in truth:
            field = LISTS.get(name) or SCALARS[schema][name]
            assert field.names[0] == name
            assert len(set(field.names)) == len(field.names) >= 2, name
            assert field.descriptions
        for name, columns in ITEMS.items():
            if truth.get(name):
                assert set(columns) == set(truth[name][0]), name
    known = {name for fields in SCALARS.values() for name in fields}
    assert all(set(members) <= known for _, members in GROUPS.values())


def test_names_are_styled() -> None:
    assert styled("invoice_number", "camel") == "invoiceNumber"
    assert styled("vat_id", "title") == "VAT ID"
    assert styled("due_date", "lower") == "due date"
    assert styled("due_date", "snake") == "due_date"


@pytest.mark.parametrize("kind", PROFILES["wide"])
def test_each_answer_character_points_at_a_glyph_of_its_kind(kind: str) -> None:
    checked = right = 0
    for seed in range(4):
        random = Random(seed)
        document = make_document(random, kind, profile="wide")
        if seed % 2:
            document = wear(document, random)
        lesson = make_lesson(document, plain_task(document))
        assert lesson is not None
        assert len(lesson.token_ids) <= padded_length(lesson)
        assert padded_length(lesson) % 256 == 0
        for span in lesson.spans:
            if "date" in span.pointer or "period" in span.pointer or "currency" in span.pointer:
                continue
            for index in range(span.start, span.end):
                if lesson.slot[index] == UNKNOWN:
                    continue
                page = max(p for p, start in enumerate(lesson.image_start) if start <= lesson.cell[index])
                label = lesson.labels[page, lesson.cell[index] - lesson.image_start[page], lesson.slot[index]]
                if label <= 0:
                    continue  # not asked for: too close to a border
                from training.nano import CHARACTERS

                printed = CHARACTERS[label - 1]
                character = tokenizer().decode([lesson.token_ids[index]], skip_special_tokens=False)
                checked += 1
                right += printed == character or (character, printed) in {(".", ","), ("-", "(")}
    assert checked > 15
    assert right == checked


def test_batches_are_of_one_shape_and_repeat() -> None:
    one, other = (LessonMaker(2, "wide").draw(40, 0.0) for _ in range(2))
    assert [lesson.token_ids for lesson in one] == [lesson.token_ids for lesson in other]
    assert len({(lesson.kind, lesson.size, padded_length(lesson)) for lesson in one}) == 1
    assert len(one) == -(-batch_size(one[0]) // 2)
    for progress in (0.0, 0.25, 1.0):
        assert sum(shares(progress, "wide").values()) == pytest.approx(1)
    assert set(shares(1, "wide")) == set(PROFILES["wide"])


def test_training_tasks_are_mostly_varied() -> None:
    document = make_document(Random(1), "invoice", profile="wide")
    bundled = json.dumps(bundled_schema("invoice"))
    plain = sum(json.dumps(make_task(Random(seed), document).schema) == bundled for seed in range(300))
    # 0.18 of 300 are 54; four standard deviations are 27
    assert 27 <= plain <= 81
    assert max(len(make_task(Random(seed), document, difficulty=0.1).answer) for seed in range(60)) <= 4


def _options(**changed: str) -> argparse.Namespace:
    chosen = {"kind": None, "profile": "wide", "language": "all", "noise": "all", "schemas": "all", "families": "all"}
    return argparse.Namespace(**{**chosen, **changed})


def test_evaluation_takes_all_choices_in_turn(tmp_path: Path) -> None:
    seen: dict[str, set[str]] = {"noise": set(), "schema": set(), "families": set(), "language": set()}
    for index in range(30):
        document, task, asked = _choose(index, _options(kind="receipt"))
        seen["noise"].add(document.noise)
        seen["schema"].add(asked.schema)
        seen["families"].add(asked.families)
        seen["language"].add(document.language)
        assert (document.layout == "kiosk") == (asked.families == "held-out")
        if index < 3:
            path = write(document, tmp_path, index)
            assert path.suffix == (".pdf" if document.noise == "clean" else ".png")
        assert task.answer
    assert {name: len(values) for name, values in seen.items()} == {
        "noise": 3,
        "schema": 5,
        "families": 2,
        "language": 6,
    }
    assert set(SCHEMAS) == set(KINDS)


def test_noise_and_schema_do_not_change_which_document_is_drawn() -> None:
    plain, _ = make_heldout(7, "receipt", profile="wide")
    worn, task = make_heldout(7, "receipt", profile="wide", noise="strong", schema="reordered")
    assert answer_json(plain.truth) == answer_json(worn.truth)
    assert set(task.answer) == set(bundled_schema("receipt")["properties"])
    with pytest.raises(ValueError, match="of the profile wide"):
        make_heldout(7, "receipt", noise="strong")


def test_a_worn_document_of_two_pages_is_written_as_a_tiff_of_two(tmp_path: Path) -> None:
    document, _ = make_heldout(1, "invoice_two_pages", profile="wide", noise="light")
    path = write(document, tmp_path, 1)
    pages = document.sheet.render()
    with Image.open(path) as picture:
        for index, page in enumerate(pages):
            picture.seek(index)
            assert np.array_equal(np.asarray(picture.convert("L")), page)
    assert path.suffix == ".tiff"
    assert len(pages) == 2


def test_figures_are_told_apart_by_schema_noise_language_and_families() -> None:
    tally, wrong = Tally(), []
    document, task, asked = _choose(4, _options(kind="receipt", schemas="renamed", noise="light", families="held-out"))
    truth = leaves(answer_json(task.answer))
    answer = {**truth, next(iter(truth)): "something else"}
    count(tally, wrong, 4, document, truth, answer, asked)
    expected = [len(truth) - 1, len(truth)]
    assert asked == Asked("renamed", "held-out")
    for grouping, group in (
        *(("by schema", "renamed"), ("by families", "held-out"), ("by noise", "light"), ("by pages", "1")),
        ("by language", document.language),
    ):
        assert tally.counts[grouping, group] == expected, grouping
    assert tally.counts["whole documents by schema", "renamed"] == [0, 1]
    assert not [key for key in tally.counts if key[0] == "by field"]  # a renamed schema's names are not comparable
    assert len(wrong) == 1
