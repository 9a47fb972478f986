"""Schemas that break other tools, one test for each: what is enforced, what is checked afterwards, what is refused.

Through the real grammar, from the decoded text to the data, and the final check.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.errors import SchemaError
from forklift.extract import Extractor
from forklift.results import Outcome
from forklift.schema import Schema
from forklift.schema_survey import Treatment

STRING: dict[str, Any] = {"type": "string"}
EXAMPLE = Path(__file__).parent.parent / "examples" / "receipt.png"


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.fixture(scope="module")
def view() -> TokenizerView:
    text = (resources.files("forklift") / "nano" / "tokenizer.json").read_text(encoding="utf-8")
    return TokenizerView.cached(text, (0,))


def accepts(view: TokenizerView, schema: Any, value: Any, *, strict: bool = False) -> bool:
    """Whether an answer may read as `value`, a text or JSON to be written with `, ` and `: `."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    constraint = Constraint(view, Schema.load(schema), strict=strict)
    token_ids = view.encode(text)
    if constraint.acceptable(token_ids) < len(token_ids):
        return False
    constraint.accept(token_ids)
    return constraint.may_end


def treatments(schema: Any) -> dict[tuple[str, str], Treatment]:
    return {(one.pointer, one.keyword): one.treatment for one in Schema.load(schema).findings}


@pytest.mark.parametrize("closing", [{}, {"additionalProperties": False}])
def test_objects_are_closed_unless_the_schema_opens_them(view: TokenizerView, closing: dict[str, Any]) -> None:
    schema = {**of(a=STRING), **closing}
    assert accepts(view, schema, {"a": "x"})
    assert not accepts(view, schema, {"a": "x", "b": "y"})
    assert accepts(view, {**of(a=STRING), "additionalProperties": STRING}, {"a": "x", "b": "y"})


def test_an_optional_field_is_always_there_and_null_where_the_document_lacks_it(view: TokenizerView) -> None:
    schema = {**of(a=STRING, b=STRING), "required": ["a"]}
    assert accepts(view, schema, {"a": "x", "b": None})
    assert not accepts(view, schema, {"a": "x"})
    assert Schema.load(schema).settle({"a": "x", "b": None}) == ({"a": "x"}, ())


@pytest.mark.parametrize(
    "enum",
    [
        {"type": "string", "enum": ["a", "b"]},
        {"type": ["string", "null"], "enum": ["a", "b"]},  # nullable by its type only
        {"type": "string", "enum": ["a", "b"], "nullable": True},
        {"enum": ["a", "b"]},
        {"const": "a"},
    ],
)
def test_null_is_added_to_an_enum_as_well(view: TokenizerView, enum: Any) -> None:
    assert accepts(view, of(e=enum), {"e": None})
    assert accepts(view, of(e=enum), {"e": "a"})
    assert not accepts(view, of(e=enum), {"e": "c"})


@pytest.mark.parametrize("definitions", ["$defs", "definitions"])
@pytest.mark.parametrize("order", [["Line", "Money"], ["Money", "Line"]])
def test_references_are_resolved_whatever_the_order(view: TokenizerView, definitions: str, order: list[str]) -> None:
    made = {"Line": of(amount={"$ref": f"#/{definitions}/Money"}), "Money": {"type": "number", "minimum": 0}}
    lines = {"type": "array", "items": {"$ref": f"#/{definitions}/Line"}}
    for schema in (
        {definitions: {name: made[name] for name in order}, **of(lines=lines)},
        {**of(lines=lines), definitions: {name: made[name] for name in order}},
    ):
        assert accepts(view, schema, {"lines": [{"amount": 2.5}, {"amount": None}]})
        assert not accepts(view, schema, {"lines": [{"amount": -2}]})
        assert not accepts(view, schema, {"lines": [{"amount": "2"}]})


def test_recursion_is_bounded(view: TokenizerView) -> None:
    schema = {"$defs": {"N": of(n=STRING, kids={"type": "array", "items": {"$ref": "#/$defs/N"}})}, "$ref": "#/$defs/N"}
    deep: Any = {"n": "x", "kids": []}
    for _ in range(5):
        deep = {"n": "x", "kids": [deep, deep]}
    assert accepts(view, schema, deep)
    token_ids = view.encode('{"n": "x", "kids": [' * 60)
    assert Constraint(view, Schema.load(schema)).acceptable(token_ids) < len(token_ids) / 4


@pytest.mark.parametrize("schema", [of(a={}), of(a=True), of(a={"description": "said in words only"})])
def test_an_untyped_property_takes_any_json(view: TokenizerView, schema: Any) -> None:
    for value in (None, 1.5, "x", True, [1, {"b": []}], {"c": None}):
        assert accepts(view, schema, {"a": value})


def test_an_array_without_items_takes_any_items_and_true_any_answer(view: TokenizerView) -> None:
    assert accepts(view, {"type": "array"}, [1, "x", {"a": []}])
    assert not accepts(view, {"type": "array"}, {"a": 1})
    for schema in (True, {}):
        for value in ([], {"a": [1]}, '"x"', 2):
            assert accepts(view, schema, value)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (False, "/"),
        ({**of(**{"a/b": False}), "required": ["a/b"]}, "/properties/a~1b"),
        ({"$ref": "#/$defs/none"}, "/$ref"),
    ],
)
def test_what_means_nothing_is_an_error_with_its_place(schema: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.load(schema)
    assert pointer in str(caught.value)


CHECKED = [  # schema, keyword's place, an answer that the keyword refuses, one that it admits
    pytest.param(
        {"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": True},
        ("", "patternProperties"), {"xa": "text"}, {"xa": 1, "b": "text"}, id="patternProperties"),
    pytest.param(of(a={**STRING, "not": {"const": "x"}}), ("/properties/a", "not"), {"a": "x"}, {"a": "y"}, id="not"),
    pytest.param(
        {**of(k={"enum": ["card", "cash"]}, last4=STRING), "required": ["k"],
         "if": {"properties": {"k": {"const": "card"}}}, "then": {"required": ["last4"]}, "else": {"maxProperties": 1}},
        ("", "then"), {"k": "card", "last4": None}, {"k": "card", "last4": "1234"}, id="if-then-else"),
    pytest.param(of(a={"type": "array", "items": STRING, "uniqueItems": True}), ("/properties/a", "uniqueItems"),
        {"a": ["x", "x"]}, {"a": ["x", "y"]}, id="uniqueItems"),
    pytest.param({**of(a=STRING, b=STRING), "dependentRequired": {"a": ["b"]}}, ("", "dependentRequired"),
        {"a": "x", "b": None}, {"a": None, "b": None}, id="dependentRequired"),
    pytest.param(of(n={"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]}), ("/properties/n", "oneOf"),
        {"n": 7}, {"n": 7.5}, id="overlapping-oneOf"),
    pytest.param(of(a={**STRING, "pattern": "^(?!INV)"}), ("/properties/a", "pattern"), {"a": "INV-1"}, {"a": "RE-1"},
        id="look-around"),
    pytest.param(of(a={**STRING, "format": "json-pointer"}), ("/properties/a", "format"), {"a": "x"}, {"a": "/x"},
        id="format-checked"),
    pytest.param(of(a={"allOf": [{**STRING, "pattern": "^a"}, {"pattern": "z$"}]}), ("/properties/a", "pattern"),
        {"a": "ab"}, {"a": "abz"}, id="two-patterns"),
    pytest.param(of(a={"type": "number", "multipleOf": 0.25}), ("/properties/a", "multipleOf"), {"a": 0.3}, {"a": 1.25},
        id="multipleOf"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "place", "refused", "admitted"), CHECKED)
def test_what_decoding_cannot_enforce_is_checked_and_said(
    view: TokenizerView, schema: Any, place: tuple[str, str], refused: Any, admitted: Any
) -> None:
    assert treatments(schema)[place] is Treatment.CHECKED
    loaded = Schema.load(schema)
    assert any(f'"{place[1]}" cannot be enforced' in warning for warning in loaded.warnings)
    for answer, is_valid in ((refused, False), (admitted, True)):
        assert accepts(view, schema, answer)
        result = Extractor(ScriptedEngine(json.dumps(answer))).extract(EXAMPLE, schema)
        assert (result.problems == ()) is is_valid, result
        assert set(loaded.warnings) <= set(result.warnings)


def test_an_unknown_format_is_ignored_with_a_warning(view: TokenizerView) -> None:
    schema = of(a={**STRING, "format": "iban"})
    assert treatments(schema)[("/properties/a", "format")] is Treatment.IGNORED
    assert Schema.load(schema).warnings == ("schema: /properties/a: the format 'iban' is not known and was ignored",)
    assert accepts(view, schema, {"a": "anything"})


def test_a_misspelt_keyword_is_warned_of_with_a_guess() -> None:
    warnings = Schema.load(of(a={**STRING, "maxLen": 3}, b={**STRING, "patern": "x", "x-mine": 1})).warnings
    assert warnings == (
        'schema: /properties/a: the keyword "maxLen" is not known and was ignored; did you mean maxLength?',
        'schema: /properties/b: the keyword "patern" is not known and was ignored; did you mean pattern?',
    )


def test_nullable_of_openapi_is_honoured(view: TokenizerView) -> None:
    schema = {**of(a={"type": "integer", "nullable": True}), "required": ["a"]}
    assert accepts(view, schema, {"a": None}, strict=True)
    assert Schema.load(schema).settle({"a": None}) == ({"a": None}, ())
    assert Schema.load(schema).problems({"a": None}, strict=True) == ()
    assert not accepts(view, {**of(a={"type": "integer"}), "required": ["a"]}, {"a": None}, strict=True)


@pytest.mark.parametrize("text", ["9" * 400, "1e999", "-" + "9" * 400])
def test_numbers_are_bounded_to_what_a_reader_can_hold(view: TokenizerView, text: str) -> None:
    for kind in ("integer", "number"):
        assert not accepts(view, {"type": kind}, text)
        assert not accepts(view, {"type": kind, "maximum": 10**400}, text)


def test_a_huge_maximal_length_compiles_and_control_characters_are_refused(view: TokenizerView) -> None:
    schema = of(a={**STRING, "maxLength": 10**12})
    assert accepts(view, schema, {"a": "x" * 500})
    assert not accepts(view, schema, '{"a": "\\u0000"}')
    assert not accepts(view, schema, '{"a": "\x00"}')


def test_the_order_of_keys_is_the_schemas(view: TokenizerView) -> None:
    schema = of(zebra=STRING, apple=STRING, **{"10": STRING, "9": STRING})
    assert accepts(view, schema, {"zebra": "1", "apple": "2", "10": "3", "9": "4"})
    assert not accepts(view, schema, {"apple": "2", "zebra": "1", "10": "3", "9": "4"})
    result = Extractor(ScriptedEngine('{"zebra": "1", "apple": null, "10": "3", "9": "4"}')).extract(EXAMPLE, schema)
    assert list(result.data) == ["zebra", "10", "9"]


def test_text_beyond_ascii_is_exact(view: TokenizerView) -> None:
    schema = of(größe={"enum": ["groß", "小さい"]}, 住所=STRING)
    assert accepts(view, schema, '{"größe": "小さい", "住所": "東京 – é😀"}')
    assert not accepts(view, schema, '{"größe": "\\u5c0f\\u3055\\u3044", "住所": ""}')
    assert "größe" in Schema.load(schema).prompt_text
    result = Extractor(ScriptedEngine('{"größe": "groß", "住所": "東京"}')).extract(EXAMPLE, schema)
    assert result.data == {"größe": "groß", "住所": "東京"}


def test_white_space_has_one_of_four_forms_and_never_runs_on(view: TokenizerView) -> None:
    schema = of(lines={"type": "array", "items": STRING})
    for indent, separators in ((None, (",", ":")), (None, (", ", ": ")), (2, None), (4, None)):
        assert accepts(view, schema, json.dumps({"lines": ["a", "b", "c"]}, indent=indent, separators=separators))
    for text in ('{"lines":  []}', '{"lines": [ ]}', '{"lines": ["a",  "b"]}', '{ "lines": []}', '{"lines": []} '):
        assert not accepts(view, schema, text)


def test_a_cut_answer_is_truncated_and_its_complete_part_is_kept() -> None:
    schema = of(a=STRING, lines={"type": "array", "items": of(n={"type": "integer"})})
    engine = ScriptedEngine(Answer('{"a": "x", "lines": [{"n": 1}, {"n": 2', outcome=Outcome.TRUNCATED))
    result = Extractor(engine).extract(EXAMPLE, schema)
    assert result.outcome is Outcome.TRUNCATED
    assert result.data == {"a": "x", "lines": [{"n": 1}, {}]}


def test_identical_items_are_no_error(view: TokenizerView) -> None:
    schema = of(lines={"type": "array", "items": of(n={"type": "integer"})})
    answer = {"lines": [{"n": 1}] * 40}
    assert accepts(view, schema, answer)
    result = Extractor(ScriptedEngine(json.dumps(answer))).extract(EXAMPLE, schema)
    assert (result.outcome, result.data, result.problems, result.warnings) == (Outcome.COMPLETE, answer, (), ())
