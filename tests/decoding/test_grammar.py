"""Where others' grammars break: depth, recursion, huge bounds, keys, formats; through the real matcher."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.grammar import (
    ANSWER_FORMS,
    COMPACT,
    MAX_RECURSION,
    SPACED,
    AnswerForm,
    grammar_error,
    write_grammar,
)
from forklift.decoding.leaves import leaf_error
from forklift.errors import SchemaError
from forklift.schema import Schema

STRING: dict[str, Any] = {"type": "string"}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def written(value: Any, form: AnswerForm) -> str:
    separators = (form.item_separator, form.key_separator)
    return json.dumps(value, ensure_ascii=False, indent=form.indent, separators=separators)


def accepts(view: TokenizerView, schema: Any, text: str, **options: Any) -> bool:
    constraint = Constraint(view, Schema.load(schema), **options)
    token_ids = view.encode(text)
    if constraint.acceptable(token_ids) < len(token_ids):
        return False
    constraint.accept(token_ids)
    return constraint.may_end


# Recursion


LINKED = {"$defs": {"Node": of(name=STRING, next={"$ref": "#/$defs/Node"})}, "$ref": "#/$defs/Node"}


def chain(length: int) -> Any:
    node: Any = None
    for _ in range(length):
        node = {"name": "x", "next": node}
    return node


@pytest.mark.parametrize("form", ANSWER_FORMS.values(), ids=str)
def test_recursion_ends_at_its_bound_in_every_form(view: TokenizerView, form: AnswerForm) -> None:
    assert accepts(view, LINKED, written(chain(MAX_RECURSION), form), form=form)
    assert accepts(view, LINKED, written(chain(MAX_RECURSION), form))
    assert not accepts(view, LINKED, written(chain(MAX_RECURSION + 1), form), form=form)


def test_the_bound_counts_from_below_the_schemas_own_nesting(view: TokenizerView) -> None:
    nested = {"$defs": LINKED["$defs"], **of(a=of(b={"type": "array", "items": {"$ref": "#/$defs/Node"}}))}
    assert accepts(view, nested, written({"a": {"b": [chain(MAX_RECURSION)]}}, COMPACT), form=COMPACT)


@pytest.mark.parametrize("schema", [{}, of(a={}), {"type": "array"}, {"type": "object"}])
def test_what_may_be_anything_does_not_open_brackets_for_ever(view: TokenizerView, schema: Any) -> None:
    start = '{"a":' if "properties" in schema else ""
    for bracket in ("[", '{"k":'):
        constraint = Constraint(view, Schema.load(schema), form=COMPACT)
        if not start and schema.get("type") == ("object" if bracket == "[" else "array"):
            continue
        token_ids = view.encode(start + bracket * (3 * MAX_RECURSION))
        reached = b"".join(view.text(one) for one in token_ids[: constraint.acceptable(token_ids)]).decode()
        opened = reached.removeprefix(start).count(bracket[0])
        assert MAX_RECURSION <= opened <= MAX_RECURSION + 2


def test_recursion_without_null_bottoms_out_in_what_does_not_recurse(view: TokenizerView) -> None:
    kids = {"type": "array", "items": {"$ref": "#/$defs/T"}}
    tree = {"$defs": {"T": {**of(kids=kids), "required": ["kids"]}}, "$ref": "#/$defs/T"}
    value: Any = {"kids": []}
    for _ in range(MAX_RECURSION // 2 - 1):
        value = {"kids": [value, {"kids": []}]}
    assert accepts(view, tree, written(value, COMPACT), strict=True)
    for _ in range(2):
        value = {"kids": [value]}
    assert not accepts(view, tree, written(value, COMPACT), strict=True)


def test_alternatives_that_only_recurse_drop_out_at_the_bound(view: TokenizerView) -> None:
    expression = {
        "$defs": {"E": {"anyOf": [{"type": "integer"}, {**of(left={"$ref": "#/$defs/E"}), "required": ["left"]}]}},
        "$ref": "#/$defs/E",
    }
    value: Any = 1
    for _ in range(MAX_RECURSION):
        value = {"left": value}
    assert accepts(view, expression, written(value, SPACED), strict=True)
    assert not accepts(view, expression, written({"left": value}, SPACED), strict=True)


def test_an_answer_that_must_nest_beyond_the_bound_is_an_error() -> None:
    long: dict[str, Any] = {"$defs": {}, "$ref": "#/$defs/N0"}
    count = 2 * MAX_RECURSION
    for index in range(count):
        following = (
            {"$ref": f"#/$defs/N{index + 1}"} if index + 1 < count else {"anyOf": [{"$ref": "#/$defs/N0"}, STRING]}
        )
        long["$defs"][f"N{index}"] = {**of(next=following), "required": ["next"]}
    decoded = Schema.load(long).decoded(strict=True)
    with pytest.raises(SchemaError, match="every answer would nest more than"):
        write_grammar(decoded, (COMPACT,))


# Bounds beyond reason


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        ({"type": "string", "maxLength": 10**12}, ['"abc"', "null"], ['"a']),
        ({"type": "string", "minLength": 3, "maxLength": 10**9}, ['"abc"'], ['"ab"']),
        ({"type": "array", "items": STRING, "maxItems": 10**12}, ['["a", "b"]', "[]"], []),
        ({"type": "integer", "maximum": 10**400}, ["7", "-7"], ["9" * 400, "9999999999999999"]),
        ({"type": "integer", "minimum": -(10**400), "maximum": 5}, ["5", "-12"], ["6", "-" + "9" * 400]),
        ({"type": "number", "maximum": 10**400}, ["1.5"], ["1e999", "9" * 400]),
        ({"type": "number", "minimum": 1e300}, ["1e99"], ["1e999"]),  # the bound is checked, not enforced
        ({"type": "number", "exclusiveMaximum": 1e18}, ["-2.5"], ["1e18"]),
        (of(s=STRING), ['{"s": "\\u00e9"}'], ['{"s": "\\u0000"}', '{"s": "\x00"}', '{"s": "\\u001F"}']),
        ({"type": "string", "pattern": "a"}, ['"abc"'], ['"a\\u0000"', '"a\x00"']),
        ({"type": "string", "format": "email"}, ['"a@example.com"'], ['"a\\u0000@example.com"']),
    ],
)
def test_bounds_beyond_what_a_reader_holds(
    view: TokenizerView, schema: Any, accepted: list[str], rejected: list[str]
) -> None:
    assert [text for text in accepted if not accepts(view, schema, text)] == []
    assert [text for text in rejected if accepts(view, schema, text)] == []


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        ({"multipleOf": 0.01, "type": "number"}, ["19.99", "-0.5", "3"], ["0.001"]),
        ({"multipleOf": 0.25, "type": "number"}, ["1.5", "-1.25"], ["0.125"]),  # decimals enforced, the rest checked
        ({"multipleOf": 5, "type": "number"}, ["15", "-5", "0"], ["3", "7.5"]),
        ({"multipleOf": 3, "type": "integer"}, ["9", "-3"], ["4"]),
        ({"minimum": 3.2, "maximum": 5.7, "type": "integer"}, ["4", "5"], ["3", "6"]),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 1, "type": "number"}, ["0.5"], ["0", "1"]),
    ],
)
def test_bounds_of_numbers(view: TokenizerView, schema: Any, accepted: list[str], rejected: list[str]) -> None:
    assert [text for text in accepted if not accepts(view, schema, text)] == []
    assert [text for text in rejected if accepts(view, schema, text)] == []


# Formats


@pytest.mark.parametrize(
    ("name", "accepted", "rejected"),
    [
        (
            "date-time",
            ["2024-02-29T12:30:00Z", "2024-12-31T23:59:59.5+02:00"],
            ["2023-02-29T00:00:00Z", "2024-01-01T00:00:60Z", "2024-01-01"],
        ),
        ("time", ["23:59:59Z", "00:00:00.25-05:30"], ["24:00:00Z", "12:30", "12:30:00"]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
        ("ipv4", ["127.0.0.1"], ["256.0.0.1"]),
    ],
)
def test_formats(view: TokenizerView, name: str, accepted: list[str], rejected: list[str]) -> None:
    for bounds in ({}, {"maxLength": 60}):
        schema = {"type": "string", "format": name, **bounds}
        assert [text for text in accepted if not accepts(view, schema, json.dumps(text))] == []
        assert [text for text in rejected if accepts(view, schema, json.dumps(text))] == []


# Names


def test_a_listed_name_does_not_come_back_in_another_spelling(view: TokenizerView) -> None:
    schema = {**of(ab=STRING), "additionalProperties": {"type": "integer"}}
    assert accepts(view, schema, '{"ab": "x", "abc": 1}')
    for name in ("ab", "a\\u0062", "\\u0061b"):
        assert not accepts(view, schema, f'{{"ab": "x", "{name}": 1}}')


def test_the_order_of_names_is_the_schemas_and_no_other(view: TokenizerView) -> None:
    schema = of(z=STRING, größe=STRING, a=STRING, **{"0": STRING})
    right = '{"z": null, "größe": null, "a": null, "0": null}'
    assert accepts(view, schema, right)
    assert not accepts(view, schema, '{"0": null, "a": null, "größe": null, "z": null}')


# Depth


def test_a_deep_schema_of_369_fields_takes_a_whole_answer(view: TokenizerView) -> None:
    """Nine branches, five levels deep, each level with eight leaves and one more array of objects."""
    leaves: dict[str, Any] = {
        "name": STRING, "when": {"type": "string", "format": "date"}, "amount": {"type": "number"},
        "count": {"type": "integer", "minimum": 0}, "kind": {"enum": ["größer", "kleiner"]}, "ok": {"type": "boolean"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"}, "währung": {"type": "string", "maxLength": 3},
    }  # fmt: skip
    values: dict[str, Any] = {
        "name": "Acme", "when": "2024-02-29", "amount": 12.5, "count": 3, "kind": "größer", "ok": True, "code": "AB12",
        "währung": "€",
    }  # fmt: skip
    branch, answer = of(**leaves), dict(values)
    for _ in range(4):
        branch = of(**leaves, parts={"type": "array", "items": branch})
        answer = {**values, "parts": [answer, answer]}
    schema = of(**{f"b{index}": branch for index in range(9)}, **{f"x{index}": STRING for index in range(9)})
    fields = sum(len(node.get("properties", ())) for node in _objects(schema)) - 9 - 9 * 4
    assert fields == 369
    whole = {**{f"b{index}": answer for index in range(9)}, **{f"x{index}": None for index in range(9)}}
    for form in ANSWER_FORMS.values():
        constraint = Constraint(view, Schema.load(schema), form=form)
        token_ids = view.encode(written(whole, form))
        constraint.accept(token_ids)
        assert constraint.is_complete


def _objects(node: Any) -> Any:
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for child in node.values():
            yield from _objects(child)


# Errors


def test_a_grammar_that_cannot_be_built_says_why() -> None:
    assert grammar_error(Schema.load(of(a=STRING)).decoded()) == ""
    assert "Regex" in grammar_error({"type": "string", "pattern": "^a$", "minLength": 5})


def test_what_the_grammar_cannot_hold_a_string_to() -> None:
    assert leaf_error({"type": "string", "pattern": "^a+$"}) == ""
    assert "look-around" in leaf_error({"type": "string", "pattern": "(?=a)"})
    assert "Unsatisfiable" in leaf_error({"type": "string", "pattern": "^a$", "minLength": 5})
