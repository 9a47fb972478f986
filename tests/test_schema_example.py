"""A schema inferred from examples takes them all, and says what they leave open."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forklift.errors import SchemaError
from forklift.schema import Schema
from forklift.schema_example import infer
from tests.schema_generator import random_schema
from tests.schema_values import ValueMaker

EXAMPLES = Path(__file__).parent.parent / "examples"


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("examples", "expected"),
    [
        ([{"a": "x"}], of(a={"type": ["string", "null"]})),
        ([{"a": 1}], of(a={"type": ["integer", "null"]})),
        ([{"a": 1}, {"a": 2.5}], of(a={"type": ["number", "null"]})),
        ([{"a": 1.0}], of(a={"type": ["number", "null"]})),
        ([{"a": True}, {"a": None}], of(a={"type": ["boolean", "null"]})),
        ([{"a": None}], of(a={"type": ["string", "null"]})),
        ([{"a": "2024-02-29"}], of(a={"type": ["string", "null"], "format": "date"})),
        ([{"a": "2024-02-29"}, {"a": None}], of(a={"type": ["string", "null"], "format": "date"})),
        ([{"a": "2024-02-29"}, {"a": "soon"}], of(a={"type": ["string", "null"]})),
        ([{"a": "2024-02-30"}], of(a={"type": ["string", "null"]})),  # no such day
        ([{"a": "2024-02-29T10:00:00Z"}], of(a={"type": ["string", "null"], "format": "date-time"})),
        ([{"a": "29.02.2024"}], of(a={"type": ["string", "null"]})),
        ([{"a": "x"}, {"a": 3}], of(a={"type": ["string", "integer", "null"]})),
        ([{"a": []}], of(a={"type": "array"})),
        ([{"a": ["x", "y"]}], of(a={"type": "array", "items": {"type": "string"}})),
        ([{"a": ["x", None]}], of(a={"type": "array", "items": {"type": ["string", "null"]}})),
        ([{"a": {}}], of(a={"type": "object"})),
        ([{"a": {"b": 1.5}}, {"a": None}],
         of(a={"type": ["object", "null"], "properties": {"b": {"type": ["number", "null"]}}})),
        ([{"a": "x"}, {"a": ["y"]}],
         of(a={"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})),
        ([{"a": "x"}, {"a": {"b": "y"}}, {"a": None}],
         of(a={"anyOf": [{"type": "string"}, of(b={"type": ["string", "null"]}), {"type": "null"}]})),
        ([[{"b": 1.5}, {"c": "x"}]],
         {"type": "array", "items": of(b={"type": ["number", "null"]}, c={"type": ["string", "null"]})}),
    ],
)  # fmt: skip
def test_infer(examples: list[Any], expected: Any) -> None:
    assert infer(examples)[0] == expected


def test_names_keep_their_order_and_a_new_one_stands_where_it_stood() -> None:
    schema, _ = infer([{"z": "1", "ä": "2", "total": 3.5}, {"z": "1", "tax": 1.5, "total": 3.5, "note": "x"}])
    assert list(schema["properties"]) == ["z", "tax", "ä", "total", "note"]


def test_required_is_what_no_example_lacks() -> None:
    schema, _ = infer([{"a": "x", "b": "y", "c": None}, {"a": "z", "c": "d"}], required=True)
    assert schema["required"] == ["a"]
    assert schema["properties"]["a"] == {"type": "string"}
    assert schema["properties"]["b"] == schema["properties"]["c"] == {"type": ["string", "null"]}


def test_what_the_examples_leave_open_is_noted() -> None:
    _, notes = infer([{"a/b": None, "t": [], "o": {}, "n": [{"q": 2}], "m": "x"}, {"m": ["y"]}])
    assert [note.partition(":")[0] for note in notes] == ["/a~1b", "/t", "/o", "/n/*/q", "/m"]


@pytest.mark.parametrize("examples", [[], ["text"], [3], [None], [{"a": 1}, "x"]])
def test_what_is_no_answer_is_an_error(examples: list[Any]) -> None:
    with pytest.raises(SchemaError, match="example"):
        infer(examples)


def test_an_example_nested_without_end_is_an_error() -> None:
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    with pytest.raises(SchemaError, match="levels deep"):
        infer([{"a": deep}])


@pytest.mark.parametrize("required", [False, True])
def test_the_schema_takes_every_example_and_can_be_used(required: bool) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        maker = ValueMaker(random_schema(rng, depth=2), rng, full=True)
        examples = [maker.value() for _ in range(3)]
        schema, _ = infer(examples, required=required)
        validator = jsonschema.Draft202012Validator(schema)
        for example in examples:
            assert validator.is_valid(example), (seed, schema, example)
        assert Schema.load(schema).unenforced == ()


def test_the_example_invoices_give_what_the_bundled_schema_says() -> None:
    examples = [json.loads((EXAMPLES / f"{name}.json").read_text()) for name in ("invoice", "invoice_two_pages")]
    inferred, bundled = infer(examples)[0], Schema.load("invoice").source
    assert list(inferred["properties"]) == list(bundled["properties"])
    for name, node in bundled["properties"].items():
        assert inferred["properties"][name].get("format") == node.get("format")
