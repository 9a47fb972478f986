"""Tables of (schema, accepted, rejected) through the real matcher, and what is forced."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.grammar import (
    ANSWER_FORMS,
    COMPACT,
    SPACED,
    AnswerForm,
)
from forklift.errors import CheckpointError, DecodeError, SchemaError
from forklift.schema import Schema


def accepts(view: TokenizerView, schema: Any, text: str, **options: Any) -> bool:
    constraint = Constraint(view, Schema.load(schema), **options)
    token_ids = view.encode(text)
    return constraint.acceptable(token_ids) == len(token_ids) and _ends(constraint, token_ids)


def _ends(constraint: Constraint, token_ids: list[int]) -> bool:
    constraint.accept(token_ids)
    return constraint.may_end


def written(value: Any, form: AnswerForm) -> str:
    return json.dumps(
        value, ensure_ascii=False, indent=form.indent, separators=(form.item_separator, form.key_separator)
    )


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


STRING: dict[str, Any] = {"type": "string"}
LINKED = {
    "$defs": {"Node": of(name=STRING, next={"$ref": "#/$defs/Node"})},
    "$ref": "#/$defs/Node",
}

DECODED = [  # as `extract` decodes: every property there, every leaf nullable, closed
    pytest.param(
        of(a=STRING, b={"type": "number"}),
        ['{"a": "x", "b": 1.5}', '{"a": null, "b": null}'],
        ['{"a": "x"}', '{"b": 1, "a": "x"}', '{"a": "x", "b": 1, "c": 2}', '{"a": "x", "b": "1"}', "null"],
        id="every-property-in-order-and-closed",
    ),
    pytest.param(
        of(a={"enum": ["paid", "öffen"]}, b={"const": 7}),
        ['{"a": "öffen", "b": 7}', '{"a": null, "b": null}'],
        ['{"a": "open", "b": 7}', '{"a": "paid", "b": 8}', '{"a": "\\u00f6ffen", "b": 7}'],
        id="enum-and-const-are-nullable",
    ),
    pytest.param(
        of(größe={"type": "integer"}, 住所=STRING, **{'quote"d\\': STRING}),
        ['{"größe": 4, "住所": "東京 – é😀", "quote\\"d\\\\": ""}'],
        [
            '{"gr\\u00f6\\u00dfe": 4, "住所": "", "quote\\"d\\\\": ""}',
            '{"größe": 4.0, "住所": "", "quote\\"d\\\\": ""}',
        ],
        id="names-that-are-not-ascii",
    ),
    pytest.param(
        {"type": "array", "items": of(a={"type": "number"})},
        [
            "[]",
            '[{"a": 1}]',
            '[{"a": 1}, {"a": 1}, {"a": 1}, {"a": 1}]',
            "[" + ", ".join(['{"a": 2}'] * 60) + "]",
        ],
        ['[{"a": 1},]', "[null]", '[{"a": 1} ]', "[{}]"],
        id="arrays-of-any-length-and-identical-items",
    ),
    pytest.param(
        {"type": "array", "items": STRING, "minItems": 1, "maxItems": 3},
        ['["a"]', '["a", "b", null]'],
        ["[]", '["a", "b", "c", "d"]'],
        id="bounded-array",
    ),
    pytest.param({"type": "array", "maxItems": 0, "items": STRING}, ["[]"], ['["a"]'], id="array-that-must-be-empty"),
    pytest.param(
        {
            "type": "array",
            "prefixItems": [STRING, {"type": "integer"}],
            "items": {"type": "boolean"},
            "minItems": 1,
        },
        ['["a"]', '["a", 1]', '["a", 1, true, false]', "[null]"],
        ["[]", "[1]", '["a", true]'],
        id="tuple",
    ),
    pytest.param(
        {"type": "array", "prefixItems": [STRING], "items": False},
        ["[]", '["a"]'],
        ['["a", "b"]'],
        id="closed-tuple",
    ),
    pytest.param(
        of(d={"type": "string", "format": "date"}),
        ['{"d": "2024-02-29"}', '{"d": "1900-02-28"}', '{"d": "2000-02-29"}', '{"d": null}'],
        [
            '{"d": "2023-02-29"}',
            '{"d": "1900-02-29"}',
            '{"d": "2024-04-31"}',
            '{"d": "0000-01-01"}',
            '{"d": ""}',
        ],
        id="only-dates-that-exist",
    ),
    pytest.param(
        of(n={"type": "number"}),
        ['{"n": -0.5}', '{"n": 1e9}', '{"n": 123456789012345}', '{"n": 0}'],
        ['{"n": 1e999}', '{"n": 01}', '{"n": .5}', '{"n": ' + "9" * 400 + "}", '{"n": 0.' + "1" * 40 + "}"],
        id="numbers-a-reader-can-hold",
    ),
    pytest.param(
        of(n={"type": "integer"}),
        ['{"n": 8999999999999999}', '{"n": -12}'],
        ['{"n": 9999999999999999}', '{"n": 1.5}', '{"n": 1e3}'],
        id="integers-a-reader-can-hold",
    ),
    pytest.param(
        of(n={"type": "number", "minimum": -2.5, "maximum": 10}),
        ['{"n": -2.5}', '{"n": 9.99}', '{"n": 10}', '{"n": null}'],
        ['{"n": -2.6}', '{"n": 10.01}'],
        id="bounded-number",
    ),
    pytest.param(of(n={"type": "number", "minimum": 0}), ['{"n": 0}', '{"n": 3.20}'], ['{"n": -1}'], id="not-negative"),
    pytest.param(
        of(n={"type": "integer", "exclusiveMinimum": 3}),
        ['{"n": 4}'],
        ['{"n": 3}', '{"n": -5}'],
        id="open-bound",
    ),
    pytest.param(
        of(s=STRING),
        ['{"s": "a\\nb\\t\\"\\\\/"}', '{"s": "\\u00e9"}', '{"s": "\\ud83d\\ude00"}'],
        ['{"s": "\\u0000"}', '{"s": "\\u001b"}', '{"s": "a\nb"}', '{"s": "\\ud83d"}', '{"s": "\\b"}'],
        id="no-control-characters",
    ),
    pytest.param(
        of(s={"type": "string", "minLength": 2, "maxLength": 3}),
        ['{"s": "éé"}', '{"s": "abc"}', '{"s": "a\\n"}'],
        ['{"s": "é"}', '{"s": "abcd"}'],
        id="lengths-count-characters",
    ),
    pytest.param(
        of(s={"type": "string", "pattern": "^[A-ZÄ]{2}-\\d+$"}),
        ['{"s": "ÄB-12"}', '{"s": null}'],
        ['{"s": "ab-12"}', '{"s": "AB-"}'],
        id="pattern",
    ),
    pytest.param(
        of(a={"type": ["string", "integer"]}),
        ['{"a": "x"}', '{"a": 3}', '{"a": null}'],
        ['{"a": 3.5}', '{"a": true}', '{"a": {}}'],
        id="several-types",
    ),
    pytest.param(
        of(a={"anyOf": [of(k={"const": "card"}, last4=STRING), of(k={"const": "cash"})]}),
        ['{"a": {"k": "card", "last4": "1"}}', '{"a": {"k": "cash"}}'],
        ['{"a": {"k": "cash", "last4": "1"}}', '{"a": {"k": "card"}}'],
        id="alternatives",
    ),
    pytest.param(
        of(a={"type": "object", "additionalProperties": {"type": "integer"}}),
        ['{"a": {}}', '{"a": {"x": 1, "ü": null}}'],
        ['{"a": {"x": "y"}}', '{"a": {"x": 1,}}'],
        id="open-object",
    ),
    pytest.param(
        {**of(a=STRING), "additionalProperties": True},
        ['{"a": "x"}', '{"a": "x", "b": [1, {"c": null}]}'],
        ['{"b": 1}', '{"a": "x", "a": "y"}'],
        id="open-object-with-listed-names",
    ),
    pytest.param(
        {"type": "object", "patternProperties": {"^x_": {"type": "integer"}}},
        ["{}", '{"x_a": 1}'],
        ['{"y": 1}', '{"x_a": "1"}'],
        id="names-by-pattern",
    ),
    pytest.param(
        of(a={}), ['{"a": {"b": [1, "x", {"c": {}}]}}', '{"a": null}', '{"a": 1}'], ['{"a": }'], id="anything"
    ),
    pytest.param(
        LINKED,
        ['{"name": "a", "next": null}', '{"name": "a", "next": {"name": null, "next": null}}'],
        ['{"name": "a"}', '{"name": "a", "next": {}}'],
        id="recursion-has-a-way-out",
    ),
    pytest.param(
        {"allOf": [of(a=STRING), {**of(b=STRING), "required": ["b"]}]},
        ['{"a": "", "b": ""}'],
        ['{"a": ""}', '{"b": ""}'],
        id="all-of",
    ),
    pytest.param(
        of(a={"$ref": "#/$defs/Ccy"}) | {"$defs": {"Ccy": {"enum": ["€", "$"]}}},
        ['{"a": "€"}', '{"a": null}'],
        ['{"a": "£"}'],
        id="reference-to-an-enum",
    ),
    pytest.param({"type": "number"}, ["1", "12.5", "null"], ["", "1.", '"1"'], id="scalar-answer"),
]


@pytest.mark.parametrize(("schema", "accepted", "rejected"), DECODED)
def test_decoded_schema_accepts_and_rejects(
    view: TokenizerView, schema: Any, accepted: list[str], rejected: list[str]
) -> None:
    assert [text for text in accepted if not accepts(view, schema, text)] == []
    assert [text for text in accepted if not accepts(view, schema, text, form=SPACED)] == []
    assert [text for text in rejected if accepts(view, schema, text)] == []


STRICT = [
    pytest.param(
        {**of(a=STRING, b=STRING, c=STRING), "required": ["b"]},
        ['{"b": ""}', '{"a": "", "b": ""}', '{"a": "", "b": "", "c": ""}', '{"b": "", "c": ""}'],
        ["{}", '{"a": ""}', '{"b": null}', '{"c": "", "b": ""}', '{"b": "", "d": 1}'],
        id="optional-properties-may-be-left-out",
    ),
    pytest.param(of(a=STRING, b=STRING), ["{}", '{"b": ""}'], ['{"a": null}'], id="all-optional"),
    pytest.param({**of(a={"enum": [1, 2]}), "required": ["a"]}, ['{"a": 1}'], ['{"a": null}'], id="enum"),
    pytest.param(
        {**of(a=STRING), "additionalProperties": {"type": "integer"}},
        ["{}", '{"b": 1}', '{"a": "", "b": 1, "c": 2}'],
        ['{"a": 1}', '{"b": ""}', '{"b": null}'],
        id="open",
    ),
]


@pytest.mark.parametrize(("schema", "accepted", "rejected"), STRICT)
@pytest.mark.parametrize("form", [None, *ANSWER_FORMS.values()])
def test_strict_decodes_the_schema_literally(
    view: TokenizerView, schema: Any, accepted: list[str], rejected: list[str], form: AnswerForm | None
) -> None:
    shapes = [form] if form else list(ANSWER_FORMS.values())
    for shape in shapes:
        for text in accepted:
            assert accepts(view, schema, written(json.loads(text), shape), strict=True, form=form), text
        for text in rejected:
            assert not accepts(view, schema, written(json.loads(text), shape), strict=True, form=form), text


NESTED = of(
    a=STRING,
    lines={"type": "array", "items": of(n={"type": "number"}, tags={"type": "array", "items": STRING})},
    o=of(x={"type": "boolean"}, any={}),
    e=of(),
    c={"enum": [{"k": [1, 2]}, "z"]},
)
NESTED_ANSWER = {
    "a": "é",
    "lines": [{"n": 1, "tags": ["x", "y"]}, {"n": 1, "tags": []}],
    "o": {"x": True, "any": {"p": [1, {"q": None}], "r": {}}},
    "e": {},
    "c": {"k": [1, 2]},
}


@pytest.mark.parametrize("form", ANSWER_FORMS.values(), ids=str)
def test_each_form_is_exact_and_the_union_takes_any_one(view: TokenizerView, form: AnswerForm) -> None:
    schema = {
        **NESTED,
        "properties": {**NESTED["properties"], "e": {"type": "object", "additionalProperties": False}},
    }
    text = written(NESTED_ANSWER, form)
    assert accepts(view, schema, text)
    for other in ANSWER_FORMS.values():
        assert accepts(view, schema, text, form=other) == (other == form)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"x", "b":"y"}',  # one form's comma, another's colon
        '{"a": "x","b": "y"}',
        '{ "a": "x", "b": "y" }',
        '{"a":  "x",  "b": "y"}',
        '{\n  "a": "x",\n    "b": "y"\n}',
        '{\n   "a": "x",\n   "b": "y"\n}',
        '{\n\n  "a": "x"',
        ' {"a": "x", "b": "y"}',
        '{"a": "x", "b": "y"} ',
        '{"a": "x", "b": "y"}\n',
    ],
)
def test_no_other_white_space(view: TokenizerView, text: str) -> None:
    assert not accepts(view, of(a=STRING, b=STRING), text)


@pytest.mark.parametrize("form", ANSWER_FORMS.values(), ids=str)
def test_forty_levels_deep(view: TokenizerView, form: AnswerForm) -> None:
    schema: Any = of(leaf=STRING)
    value: Any = {"leaf": "x"}
    for _ in range(40):
        schema, value = of(inner=schema), {"inner": value}
    assert accepts(view, schema, written(value, form), form=form)


def walk_forced(view: TokenizerView, schema: Any, text: str, form: AnswerForm | None) -> tuple[int, int]:
    """Follow `text`; returns (tokens that were forced, tokens), and fails where a forced token is another."""
    constraint = Constraint(view, Schema.load(schema), form=form)
    token_ids, position, forced = view.encode(text), 0, 0
    while position < len(token_ids):
        now = constraint.forced()
        assert token_ids[position : position + len(now)] == now, (position, text)
        forced += len(now)
        now = now or token_ids[position : position + 1]
        constraint.accept(now)
        position += len(now)
    assert constraint.is_complete
    return forced, len(token_ids)


@pytest.mark.parametrize("form", ANSWER_FORMS.values(), ids=str)
@pytest.mark.parametrize("known", [True, False], ids=["known-form", "unknown-form"])
def test_forced_tokens_are_those_of_the_whole_text(view: TokenizerView, form: AnswerForm, known: bool) -> None:
    schema = of(
        vendor=STRING,
        Straße=STRING,
        line_items={"type": "array", "items": of(description=STRING, amount={"type": "number"})},
        status={"enum": ["bezahlt", "überfällig"]},
        total={"type": "number"},
    )
    lines = [{"description": "Bolt", "amount": 1}] * 3
    answer = {"vendor": "Acme", "Straße": "Ö 1", "line_items": lines, "status": "überfällig", "total": 3.0}
    forced, total = walk_forced(view, schema, written(answer, form), form if known else None)
    assert forced > total / 2  # names, punctuation and the rest of the enum


def test_mask_allows_the_tokens_that_are_accepted(view: TokenizerView) -> None:
    schema = Schema.load(of(ä={"enum": ["x", "yy"]}, n={"type": "integer"}, s=STRING))
    constraint = Constraint(view, schema)
    compared = 0
    for token_id in view.encode('{"ä": "yy", "n": 12, "s": "ö€ 1"}'):
        bits = np.unpackbits(constraint.allowed().view(np.uint8), bitorder="little")
        allowed = np.flatnonzero(bits).tolist()
        accepted = [i for i in range(view.vocabulary_size) if constraint.acceptable([i])]
        forced = constraint.forced()
        if forced:  # of the ways to cut the forced text, only the tokenizer's own
            assert allowed == forced[:1]
        else:
            assert allowed == accepted
            compared += 1
        constraint.accept([token_id])
    assert compared > 5
    assert constraint.is_complete
    bits = np.unpackbits(constraint.allowed().view(np.uint8), bitorder="little")
    assert set(np.flatnonzero(bits).tolist()) == set(view.end_token_ids)


def test_the_end_is_allowed_where_the_answer_may_end(view: TokenizerView) -> None:
    constraint = Constraint(view, Schema.load({"type": "number"}))
    constraint.accept(view.encode("12"))
    assert constraint.may_end
    assert not constraint.is_complete
    assert constraint.allowed()[0] >> view.end_token_ids[0] & 1


def test_rollback_goes_back_to_what_was_allowed(view: TokenizerView) -> None:
    constraint = Constraint(view, Schema.load(of(a=STRING)), form=COMPACT)
    before = constraint.allowed().copy()
    token_ids = view.encode('{"a":"xyz"}')
    constraint.accept(token_ids)
    assert constraint.is_complete
    constraint.rollback(len(token_ids))
    assert (constraint.allowed() == before).all()
    constraint.accept(token_ids)
    assert constraint.is_complete


def test_a_refused_token_raises(view: TokenizerView) -> None:
    constraint = Constraint(view, Schema.load(of(a=STRING)))
    with pytest.raises(DecodeError):
        constraint.accept(view.encode("x"))


def test_a_grammar_that_cannot_be_built_raises_and_names_the_schema(view: TokenizerView) -> None:
    impossible = {**of(s={"type": "string", "pattern": "^a$", "minLength": 5}), "required": ["s"]}
    with pytest.raises(SchemaError, match="my schema"):
        Constraint(view, Schema.load(impossible, name="my schema"), strict=True)


def test_constraints_of_one_schema_do_not_share_state(view: TokenizerView) -> None:
    schema = Schema.load(of(a=STRING))
    first, second = Constraint(view, schema), Constraint(view, schema)
    first.accept(view.encode('{"a":"x"}'))
    assert first.is_complete
    second.accept(view.encode('{"a": "y"}'))
    assert second.is_complete


def test_texts_of_tokens_are_bytes_and_special_tokens_have_none(view: TokenizerView, tokenizer: Tokenizer) -> None:
    text = "Straße 😀"
    assert b"".join(view.text(token_id) for token_id in view.encode(text)) == text.encode()
    assert view.encode(text) == tokenizer.encode(text).ids
    assert view.text(2) == b""


def test_truncation_in_the_tokenizer_file_is_ignored(tokenizer: Tokenizer) -> None:
    cut = Tokenizer.from_str(tokenizer.to_str())
    cut.enable_truncation(max_length=2)
    view = TokenizerView(cut.to_str(), (2,))
    assert accepts(view, of(a=STRING), '{"a": "a rather long text"}')


@pytest.mark.parametrize("text", ["", "{}", "not json", '{"version": "1.0"}'])
def test_a_broken_tokenizer_file_is_a_checkpoint_error(text: str) -> None:
    with pytest.raises(CheckpointError):
        TokenizerView(text, (0,))


def test_a_schema_of_369_fields_compiles(view: TokenizerView) -> None:
    schema = of(**{f"section_{i}": of(**{f"field_{i}_{j}": STRING for j in range(9)}) for i in range(41)})
    answer = {f"section_{i}": {f"field_{i}_{j}": None for j in range(9)} for i in range(41)}
    assert accepts(view, schema, written(answer, SPACED))
