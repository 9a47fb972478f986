from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pydantic
import pytest
from hypothesis import given, settings

from forklift.decoding.grammar import grammar_error
from forklift.errors import SchemaError
from forklift.json_schema import walk
from forklift.schema import Schema
from forklift.schema_source import bundled_names, bundled_summary
from forklift.schema_survey import Treatment
from tests.schema_generator import random_schema, schemas

STRING: dict[str, Any] = {"type": "string"}


def of(*, required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema if required is None else {**schema, "required": required}


# Loading


class Line(pydantic.BaseModel):
    description: str
    amount: float | None = None


class Bill(pydantic.BaseModel):
    """A bill."""

    vendor: str = pydantic.Field(description="Who sent it")
    Währung: Literal["€", "CHF"]
    title: str | None = None
    lines: list[Line]


def test_a_schema_comes_from_many_places(tmp_path: Path) -> None:
    source = of(größe=STRING, a={"type": "number"})
    path = tmp_path / "my schema.json"
    path.write_text(json.dumps(source), encoding="utf-8-sig")
    for given_as in (source, path, str(path), json.dumps(source), Schema.load(source)):
        schema = Schema.load(given_as)
        assert schema.source == source
        assert list(schema.source["properties"]) == ["größe", "a"]
    assert Schema.load(path).name == "my schema.json"


def test_a_pydantic_model_without_made_up_titles() -> None:
    schema = Schema.load(Bill)
    assert schema.name == "Bill"
    assert list(schema.source["properties"]) == ["vendor", "Währung", "title", "lines"]
    assert "Vendor" not in schema.prompt_text
    assert schema.source["properties"]["vendor"]["description"] == "Who sent it"
    settled, missing = schema.settle(
        {"vendor": "A", "Währung": "€", "title": None, "lines": [{"description": None, "amount": None}]}
    )
    assert missing == ("/lines/0/description",)
    assert settled["title"] is None


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_schemas(name: str) -> None:
    schema = Schema.load(name)
    assert {finding.treatment for finding in schema.findings} == {Treatment.ENFORCED}
    assert len(schema.prompt_text) < (2500 if name in ("invoice", "receipt") else 14_000)  # nano's prompt is small
    assert name in ("invoice", "receipt") or {"title", "description"} <= schema.source.keys()
    for pointer, node in walk(schema.source):
        kind = node.get("type")
        assert kind in ("object", "array") or "null" in kind or pointer.endswith("/items"), pointer
        assert "required" not in node, pointer
        assert pointer == "" or pointer.endswith("/items") or len(node["description"]) >= 3, pointer
        if "date" in pointer.rsplit("/", 1)[-1] and kind == ["string", "null"]:
            assert node["format"] == "date", pointer
    blank = _blank(schema.source)
    assert schema.settle(blank) == (blank, ())
    assert schema.problems(blank, strict=True) == ()
    assert grammar_error(schema.decoded()) == ""


def _blank(node: Any) -> Any:
    if node["type"] == "object":
        return {name: _blank(child) for name, child in node["properties"].items()}
    return [] if node["type"] == "array" else None


def test_the_bundled_schemas_are_these_and_may_be_named_with_underscores() -> None:
    detailed = {"invoice-detailed", "receipt-detailed"}
    assert set(bundled_names()) == detailed | {
        "invoice", "receipt", "purchase-order", "bank-statement", "contract", "financial-report", "identity-document",
        "research-paper",
    }  # fmt: skip
    assert Schema.load("purchase_order").source == Schema.load("purchase-order").source
    for name in bundled_names():
        assert all(bundled_summary(name))


def test_the_prompt_shows_the_users_own_json() -> None:
    text = Schema.load('{"type":"object","properties":{"z":{"type":"string"},"é":{"enum":["ü"]}}}').prompt_text
    assert text.splitlines()[:4] == ["{", '  "type": "object",', '  "properties": {', '    "z": {']
    assert '"é"' in text
    assert '"ü"' in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "no-such-file.json",
            r"no-such-file\.json: no such schema file; the bundled schemas are bank-statement, contract, ",
        ),
        ("{oops", "line 1, column 2: not JSON"),
        ('{"type": "object", "type": "array"}', "'type' stands twice"),
        (3, "not int"),
        ({"type": "objekt"}, "/type: .*; the types are string, number, integer, boolean, object, array and null"),
        (of(a={"type": "date"}), '/properties/a/type: .*; write "type": "string", "format": "date"'),
        (of(a={"type": "string", "required": True}), "/properties/a/required: .*of the object around"),
        ({"vendor": "string", "total": 12.5}, r"vendor, total\); if it is an example .*from-example"),
        ({"type": "number", "exclusiveMinimum": True}, "/exclusiveMinimum: .*write the bound itself"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "draft 3 is not supported"),
        ({"type": "string", "pattern": "("}, r"/pattern: '\(' cannot be read as a regular expression"),
        (
            of(required=["a/b"], **{"a/b": {"type": "integer", "minimum": 5, "maximum": 3}}),
            "/properties/a~1b: at least 5",
        ),
        (
            of(required=["a"], a={"type": "string", "minLength": 4, "maxLength": 3}),
            "at least 4 and at most 3 characters",
        ),
        (
            of(required=["a"], a={"type": "integer", "minimum": 10**400}),
            "integers beyond 9007199254740991 are not held",
        ),
        ({"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, STRING]}}, **of(a={"$ref": "#/$defs/A"})}, "leads back"),
        ({"properties": {"a/b": {"minLength": -1}}}, "/properties/a~1b/minLength: "),
        (of(a={"$ref": "#/$defs/Gone"}), "/properties/a/\\$ref: '#/\\$defs/Gone' names nothing"),
        (of(a={"$ref": "https://example.com/s.json"}), "/properties/a/\\$ref: .* is not inside this schema"),
        ({"$ref": "#"}, "leads back to itself"),
        (
            {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"},
            "leads back to itself",
        ),
        ({"$dynamicRef": "#x"}, "/\\$dynamicRef: not supported"),
        (False, "no value is possible"),
        (of(required=["a"], a={"enum": ["x"], "type": "integer"}), "no value is possible"),
        ({"type": "string", "minimum": float("nan")}, "not JSON"),
        ({"type": "string", "const": "\ud800"}, "not JSON"),
    ],
)
def test_errors_say_what_and_where(source: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.load(source)


def test_a_schema_nested_without_end_is_refused() -> None:
    deep: Any = STRING
    for _ in range(5000):
        deep = of(a=deep)
    with pytest.raises(SchemaError, match="levels deep"):
        Schema(deep)
    with pytest.raises(SchemaError):
        Schema.load('{"a":' * 100_000)


def test_later_changes_to_the_callers_dict_do_not_reach_the_schema() -> None:
    source = of(a=STRING)
    schema = Schema.load(source)
    source["properties"]["a"] = {"type": "number"}
    assert schema.source["properties"]["a"] == STRING


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(SchemaError, match=r"s\.json"):
        Schema.load(tmp_path / "s.json")
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.load(tmp_path)


# Decoded form


@pytest.mark.parametrize(
    ("source", "decoded"),
    [
        (STRING, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a", 1]}, {"enum": ["a", 1, None]}),
        ({"type": "string", "enum": ["a", 1]}, {"enum": ["a", None]}),
        ({"const": True}, {"enum": [True, None]}),
        ({"enum": [1, True], "const": True}, {"enum": [True, None]}),
        ({"minimum": 3}, {"type": ["number", "null"], "minimum": 3}),
        ({"pattern": "^a"}, {"type": ["string", "null"], "pattern": "^a"}),
        ({"anyOf": [STRING, {"type": "null"}]}, {"type": ["string", "null"]}),
        ({}, {}),
        ({"description": "anything"}, {}),
        ({"items": STRING}, {"type": "array", "items": {"type": ["string", "null"]}}),
        (
            {"allOf": [{"minLength": 1}, {"minLength": 3, "type": "string"}]},
            {"type": ["string", "null"], "minLength": 3},
        ),
        (
            of(a=STRING, b={"type": "object", "properties": {}, "additionalProperties": True}),
            {
                "type": "object",
                "properties": {
                    "a": {"type": ["string", "null"]},
                    "b": {"type": "object", "properties": {}, "required": [], "additionalProperties": {}},
                },
                "required": ["a", "b"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_decoded_form(source: Any, decoded: Any) -> None:
    assert Schema.load(source).decoded() == decoded


def test_the_order_of_properties_is_the_users() -> None:
    names = ["z", "größe", "a", "Z", "0"]
    decoded = Schema.load(of(required=["a", "z"], **dict.fromkeys(names, STRING))).decoded()
    assert list(decoded["properties"]) == names
    assert decoded["required"] == names


def test_strict_is_literal() -> None:
    decoded = Schema.load(of(required=["b"], a=STRING, b={"enum": [1]})).decoded(strict=True)
    assert decoded["required"] == ["b"]
    assert decoded["properties"] == {"a": STRING, "b": {"enum": [1]}}
    assert decoded["additionalProperties"] is False


def test_recursion_is_kept_as_references() -> None:
    node = {
        "type": "object",
        "properties": {"name": STRING, "kids": {"type": "array", "items": {"$ref": "#"}}},
    }
    decoded = Schema.load(node).decoded()
    jsonschema.Draft202012Validator.check_schema(decoded)
    assert jsonschema.Draft202012Validator(decoded).is_valid(
        {"name": "a", "kids": [{"name": None, "kids": [{"name": "c", "kids": []}]}]}
    )


def test_required_recursion_can_end_in_null_but_not_literally() -> None:
    endless = {"$defs": {"N": of(required=["next"], next={"$ref": "#/$defs/N"})}, "$ref": "#/$defs/N"}
    schema = Schema.load(endless)
    assert schema.settle({"next": {"next": None}}) == ({"next": {"next": None}}, ("/next/next",))
    with pytest.raises(SchemaError, match="always contains itself"):
        schema.decoded(strict=True)
    in_an_array = {"type": "array", "minItems": 1, "items": {"$ref": "#"}}
    with pytest.raises(SchemaError, match="always contains itself"):
        Schema.load(in_an_array)


def test_any_order_of_defs() -> None:
    first = {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"enum": ["x"]}}, **of(a={"$ref": "#/$defs/A"})}
    last = {**of(a={"$ref": "#/$defs/A"}), "$defs": {"B": {"enum": ["x"]}, "A": {"$ref": "#/$defs/B"}}}
    for source in (first, last):
        decoded = Schema.load(source).decoded()
        assert jsonschema.Draft202012Validator(decoded).is_valid({"a": None})
        assert not jsonschema.Draft202012Validator(decoded).is_valid({"a": "y"})


@pytest.mark.parametrize(
    ("source", "unenforced"),
    [
        (of(a={"type": "array", "uniqueItems": True}), [("/properties/a", "uniqueItems")]),
        (of(a={"not": {"const": 1}}), [("/properties/a", "not")]),
        ({"type": "object", "if": {}, "then": {}}, [("", "if"), ("", "then")]),
        (of(a={"type": "string", "pattern": "^(?=a)b"}), [("/properties/a", "pattern")]),
        (of(a={"type": "string", "format": "iri"}), []),  # nor is it checked: ignored
        (of(a={"type": "string", "format": "json-pointer"}), [("/properties/a", "format")]),
        ({"oneOf": [of(a=STRING), of(b=STRING)]}, [("", "oneOf")]),
        ({"oneOf": [STRING, {"type": "null"}]}, []),
        ({"dependentRequired": {"a": ["b"]}}, [("", "dependentRequired")]),
        ({"type": "object", "minProperties": 2}, [("", "minProperties")]),
    ],
)
def test_what_decoding_cannot_enforce_is_named(source: Any, unenforced: list[tuple[str, str]]) -> None:
    assert list(Schema.load(source).unenforced) == unenforced


def test_keywords_that_json_schema_does_not_know_are_named() -> None:
    schema = Schema.load(of(a={"type": "string", "maxLen": 3, "x-order": 1}))
    assert schema.unknown_keywords == (("/properties/a", "maxLen"),)


# Settling


NULLABLE = {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("source", "decoded", "settled", "missing"),
    [
        (of(a=STRING, b=STRING), {"a": None, "b": "x"}, {"b": "x"}, []),
        (of(required=["a"], a=STRING), {"a": None}, {"a": None}, ["/a"]),
        (of(required=["a"], a=NULLABLE, b=NULLABLE), {"a": None, "b": None}, {"a": None, "b": None}, []),
        (of(required=["a/b~"], **{"a/b~": STRING}), {"a/b~": None}, {"a/b~": None}, ["/a~1b~0"]),
        (of(required=["a"], a={"enum": ["x", None]}), {"a": None}, {"a": None}, []),
        (of(required=["a"], a={"const": "x"}), {"a": None}, {"a": None}, ["/a"]),
        (of(required=["a"], a={"type": "string", "nullable": True}), {"a": None}, {"a": None}, []),
        (of(required=["a"], a={"anyOf": [STRING, {"type": "null"}]}), {"a": None}, {"a": None}, []),
        (of(required=["a"], a={}), {"a": None}, {"a": None}, []),
        (
            of(lines={"type": "array", "items": of(required=["n"], n=STRING, m=STRING)}),
            {"lines": [{"n": "1", "m": None}, {"n": None, "m": "2"}]},
            {"lines": [{"n": "1"}, {"n": None, "m": "2"}]},
            ["/lines/1/n"],
        ),
        (
            of(tags={"type": "array", "items": STRING}),
            {"tags": ["a", None]},
            {"tags": ["a", None]},
            ["/tags/1"],
        ),
        # An optional object in which nothing was found is not there.
        (of(o=of(required=["x"], x=STRING)), {"o": {"x": None}}, {}, []),
        (of(o=of(x=STRING)), {"o": {"x": None}}, {}, []),
        (of(o=of(x=NULLABLE)), {"o": {"x": None}}, {"o": {"x": None}}, []),
        (
            of(required=["o"], o=of(required=["x"], x=STRING)),
            {"o": {"x": None}},
            {"o": {"x": None}},
            ["/o/x"],
        ),
        (
            {"$defs": {"O": of(required=["x"], x=STRING)}, **of(required=["o"], o={"$ref": "#/$defs/O"})},
            {"o": {"x": None}},
            {"o": {"x": None}},
            ["/o/x"],
        ),
        (
            of(
                required=["pay"],
                pay={
                    "anyOf": [
                        of(required=["k", "n"], k={"const": "card"}, n=STRING),
                        of(required=["k"], k={"const": "cash"}, n=STRING),
                    ]
                },
            ),
            {"pay": {"k": "cash", "n": None}},
            {"pay": {"k": "cash"}},
            [],
        ),
        (
            {"allOf": [of(required=["a"], a=STRING), of(b=STRING)]},
            {"a": None, "b": None},
            {"a": None},
            ["/a"],
        ),
        (STRING, None, None, [""]),
        # A null in place of a branch of a recursive schema.
        (
            {"$defs": {"N": of(n=STRING, next={"$ref": "#/$defs/N"})}, "$ref": "#/$defs/N"},
            {"n": "a", "next": {"n": "b", "next": None}},
            {"n": "a", "next": {"n": "b"}},
            [],
        ),
        ({"type": "array", "prefixItems": [NULLABLE, STRING]}, [None, None], [None, None], ["/1"]),
        # By pattern, and an array of the alternative that was decoded.
        (
            {"type": "object", "patternProperties": {"^x_": STRING, "^n_": NULLABLE}},
            {"x_a": None, "n_a": None},
            {"n_a": None},
            [],
        ),
        (
            {
                "anyOf": [
                    {"type": "array", "items": STRING},
                    {"type": "array", "items": of(required=["a"], a=STRING, b=STRING)},
                ]
            },
            [{"a": None, "b": None}],
            [{"a": None}],
            ["/0/a"],
        ),
    ],
)
def test_settle(source: Any, decoded: Any, settled: Any, missing: list[str]) -> None:
    schema = Schema.load(source)
    assert schema.settle(decoded) == (settled, tuple(missing))
    assert schema.problems(settled) == ()
    assert bool(schema.problems(settled, strict=True)) == bool(missing)


# Final validation


@pytest.mark.parametrize(
    ("source", "data", "problems"),
    [
        (of(a={"type": "integer"}), {"a": "x"}, ["/a: 'x' is not of type 'integer'"]),
        (of(required=["a", "b"], a=STRING, b=STRING), {"a": None}, ["/: 'b' is a required property"]),
        (
            {**of(a=STRING), "additionalProperties": False},
            {"z": None},
            ["/: Additional properties are not allowed"],
        ),
        (
            of(a={"type": "array", "items": STRING, "uniqueItems": True}),
            {"a": ["x", "x"]},
            ["/a: ['x', 'x'] has non-unique elements"],
        ),
        (
            {"type": "array", "items": {"type": "integer"}},
            [1, None, "x"],
            ["/2: 'x' is not of type 'integer'"],
        ),
        (
            of(d={"type": "string", "format": "date"}),
            {"d": "2023-02-30"},
            ["/d: '2023-02-30' is not a 'date'"],
        ),
        (of(a={"type": "string", "pattern": "^\\p{L}+$"}), {"a": "é"}, []),  # Python cannot read the pattern
        (of(a={"type": "number", "nullable": True}), {"a": None}, []),
        (of(a={"not": {"const": "x"}}), {"a": "x"}, ["/a: 'x' should not be valid"]),
        (
            {"type": "array", "prefixItems": [STRING], "items": False},
            ["a", "b"],
            ["/: Expected at most 1 item"],
        ),
    ],
)
def test_problems(source: Any, data: Any, problems: list[str]) -> None:
    found = Schema.load(source).problems(data)
    assert len(found) == len(problems)
    for one, expected in zip(found, problems, strict=True):
        assert one.startswith(expected)


@pytest.mark.parametrize(
    ("source", "data", "valid"),
    [
        # A missing value is null, not a match of everything.
        (of(required=["a"], a=STRING, **{"b": STRING}) | {"not": of(a={"const": "x"})}, {"a": None}, True),
        (
            of(required=["k", "n"], k={"const": "card"}, n=STRING)
            | {"if": {"properties": {"k": {"const": "card"}}}, "then": {"required": ["last4"]}},
            {"k": None, "n": "x"},
            True,
        ),
        ({"oneOf": [of(required=["a"], a=STRING), of(required=["a"], a={"type": "integer"})]}, {"a": 3}, True),
        ({"anyOf": [of(required=["a"], a=STRING), {"type": "array"}]}, {"a": None}, True),
        ({"anyOf": [of(required=["a"], a=STRING), {"type": "array"}]}, {"b": None}, False),
        (of(a={"not": {"type": "null"}}), {"a": None}, False),
        (of(a={"type": "array", "items": STRING, "uniqueItems": True}), {"a": [None, None]}, False),
        # Decimal arithmetic.
        (of(a={"type": "number", "multipleOf": 0.01}), {"a": 19.99}, True),
        (of(a={"type": "number", "multipleOf": 0.01}), {"a": 19.995}, False),
        # `nullable` is a keyword only where a subschema stands, and does not move what references name.
        (of(nullable=True, a={"enum": [{"nullable": True}]}), {"nullable": 3, "a": {"nullable": True}}, True),
        (
            of(a=of(b=STRING) | {"nullable": True}, c={"$ref": "#/properties/a/properties/b"}),
            {"a": None, "c": "x"},
            True,
        ),
        # A part with an `$id` of its own: references are still into the whole.
        ({"$defs": {"S": STRING}, **of(a={"$id": "part", **of(b={"$ref": "#/$defs/S"})})}, {"a": {"b": "x"}}, True),
        (of(a={"type": "string", "format": "date-time"}), {"a": "2023-02-29T12:00:00Z"}, False),
        (of(a={"type": "string", "format": "uri"}), {"a": "not a uri"}, False),
    ],
)
def test_the_final_check_of_answers_with_missing_values(source: Any, data: Any, valid: bool) -> None:
    assert (Schema.load(source).problems(data) == ()) is valid


def test_an_answer_that_nests_without_end_is_a_problem_and_no_crash() -> None:
    schema = Schema.load({"$defs": {"N": of(a={"$ref": "#/$defs/N"})}, "$ref": "#/$defs/N"})
    for depth in (170, 190, 3000):
        deep: Any = None
        for _ in range(depth):
            deep = {"a": deep}
        schema.settle(deep)
        assert schema.problems(deep) in ((), ("/: the answer is nested too deep to be checked",))
    assert schema.problems(deep)


def test_nullable_of_openapi_is_honoured_in_strict_validation_too() -> None:
    schema = Schema.load(of(required=["a"], a={"type": "number", "nullable": True}))
    assert schema.problems({"a": None}, strict=True) == ()
    assert schema.problems({"a": "x"}, strict=True) != ()


@settings(max_examples=50, deadline=None)
@given(schemas())
def test_every_generated_schema_loads_and_its_decoded_forms_are_schemas(source: dict[str, Any]) -> None:
    schema = Schema.load(source)
    for strict in (False, True):
        jsonschema.Draft202012Validator.check_schema(schema.decoded(strict))
    assert json.loads(schema.prompt_text) == source


def test_generated_schemas_repeat_by_seed() -> None:
    assert random_schema(random.Random(5)) == random_schema(random.Random(5))
    texts = {json.dumps(random_schema(random.Random(seed))) for seed in range(50)}
    assert len(texts) == 50
