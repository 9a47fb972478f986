"""What is said of each keyword, and the tables of docs/schemas.md against the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forklift.decoding.grammar import MAX_RECURSION
from forklift.json_schema import ANNOTATIONS, CHECKED, ENFORCED, LARGEST_INTEGER, REFUSED, Document
from forklift.schema import Schema
from forklift.schema_formats import CHECKED_FORMATS, ENFORCED_FORMATS, format_checker
from forklift.schema_source import bundled_names, bundled_summary
from forklift.schema_survey import Treatment, survey

DOCUMENT = (Path(__file__).parent.parent / "docs" / "schemas.md").read_text(encoding="utf-8")
ENF, CHK, IGN, REF = Treatment.ENFORCED, Treatment.CHECKED, Treatment.IGNORED, Treatment.REFUSED


def found(schema: Any) -> list[tuple[str, str, Treatment]]:
    return [(one.pointer, one.keyword, one.treatment) for one in survey(Document(schema))]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"title": "t", "description": "d", "default": 1, "type": "string"}, [("", "type", ENF)]),
        ({"type": "string", "minimum": 3}, [("", "type", ENF), ("", "minimum", IGN)]),  # says nothing of strings
        ({"type": ["string", "number"], "minimum": 3}, [("", "type", ENF), ("", "minimum", ENF)]),
        ({"type": "number", "format": "double"}, [("", "type", ENF), ("", "format", IGN)]),
        ({"not": {"type": "string", "typo": 1}}, [("", "not", CHK), ("/not", "type", CHK), ("/not", "typo", IGN)]),
        ({"uniqueItems": False}, [("", "uniqueItems", ENF)]),
        ({"unevaluatedProperties": False}, [("", "unevaluatedProperties", CHK)]),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]},
         [("", "oneOf", ENF), ("/oneOf/0", "type", ENF), ("/oneOf/1", "type", ENF)]),
        ({"$anchor": "a", "type": "string"}, [("", "$anchor", REF), ("", "type", ENF)]),
        ({"pattern": "[", "x-y": 1}, [("", "pattern", REF), ("", "x-y", IGN)]),
        ({"$ref": "#/$defs/no"}, [("", "$ref", REF), ("", "$ref", ENF)]),
        # A definition counts by who refers to it.
        ({"$defs": {"A": {"type": "string"}, "B": {"type": "string"}, "C": {"minLength": 1}},
          "$ref": "#/$defs/A", "not": {"$ref": "#/$defs/B"}},
         [("", "$ref", ENF), ("", "not", CHK), ("/$defs/A", "type", ENF), ("/$defs/B", "type", CHK),
          ("/$defs/C", "", IGN), ("/not", "$ref", CHK)]),
        ({"items": [{"type": "string"}], "additionalItems": False}, [("", "items", ENF), ("", "additionalItems", ENF),
         ("/items/0", "type", ENF)]),
        ({"items": {}, "additionalItems": False}, [("", "items", ENF), ("", "additionalItems", IGN)]),
    ],
)  # fmt: skip
def test_what_becomes_of_each_keyword(schema: Any, expected: list[tuple[str, str, Treatment]]) -> None:
    assert found(schema) == expected


def test_a_property_that_a_closed_part_forbids_is_said_to_be_left_out() -> None:
    base = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    schema = Schema.load({"allOf": [base, {"properties": {"b": {"type": "string"}}}]})
    assert list(schema.decoded()["properties"]) == ["a"]
    assert [one.pointer for one in schema.findings if one.treatment is IGN] == ["/properties/b"]


def test_what_is_given_up_for_a_combination_is_named() -> None:
    two = {"type": "object", "patternProperties": {"^a": {"type": "string"}, "b$": {"type": "string"}}}
    assert ("", "patternProperties") in Schema.load(two).unenforced
    one = {**two, "patternProperties": {"^a": {"type": "string"}}}
    assert Schema.load(one).unenforced == ()


# docs/schemas.md


def row(first: str) -> set[str]:
    found = re.findall(rf"^\| {re.escape(first)} \| (.*) \|$", DOCUMENT, re.M)
    return set(re.findall(r"`([^`]+)`", " ".join(found)))


def test_the_document_lists_the_keywords_of_the_code() -> None:
    assert row("enforced while decoding") == ENFORCED | ENFORCED_FORMATS
    assert row("checked afterwards") == CHECKED | CHECKED_FORMATS
    assert row("shown to the model, without further effect") == ANNOTATIONS
    assert row("refused") == REFUSED


def test_the_document_lists_the_bundled_schemas_as_the_command_does() -> None:
    for name in bundled_names():
        assert f"| `{name}` | {bundled_summary(name)[1]} |" in DOCUMENT


def test_the_document_gives_the_true_bounds() -> None:
    assert f"±{LARGEST_INTEGER} " in DOCUMENT
    assert f"decoded up to {MAX_RECURSION} levels" in DOCUMENT


def test_every_format_that_is_enforced_or_checked_has_a_final_check() -> None:
    assert set(format_checker().checkers) == ENFORCED_FORMATS | CHECKED_FORMATS


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date-time", "2024-02-29t12:30:00.5z", "2024-02-29 12:30:00Z"),
        ("time", "12:30:00+01:00", "12:30"),
        ("duration", "P1Y2M3DT4H", "P"),
        ("hostname", "a-b.example", "-a.example"),
        ("uri", "urn:isbn:1", "no uri"),
        ("json-pointer", "/a~1b/0", "a"),
        ("ipv6", "::1", ":::1"),
    ],
)
def test_the_final_check_of_formats(name: str, valid: str, invalid: str) -> None:
    assert format_checker().conforms(valid, name)
    assert not format_checker().conforms(invalid, name)
    assert format_checker().conforms(7, name)  # speaks of strings only
