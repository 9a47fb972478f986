"""Schemas as columns, data as rows."""

from __future__ import annotations

from typing import Any

import pytest

from forklift.errors import UsageError
from forklift.outputs.columns import Columns
from forklift.schema import Schema

TEXT = {"type": "string"}


def of(properties: dict[str, Any], **more: Any) -> Schema:
    return Schema({"type": "object", "properties": properties, **more})


INVOICE = of(
    {
        "number": TEXT,
        "seller": {"type": ["object", "null"], "properties": {"name": TEXT, "address": {"$ref": "#/$defs/address"}}},
        "line_items": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": TEXT, "tags": {"type": "array", "items": TEXT}}},
        },
        "total": {"type": "number"},
    },
    **{"$defs": {"address": {"type": "object", "properties": {"city": TEXT}}}},
)


def test_objects_are_flattened_in_the_schemas_order_and_lists_are_one_column() -> None:
    columns = Columns(INVOICE)
    assert columns.names == ("/number", "/seller/name", "/seller/address/city", "/line_items", "/total")
    data = {
        "number": "7",
        "seller": {"name": "Ä", "address": {"city": "Ö"}},
        "line_items": [{"text": "é"}],
        "total": 1.5,
    }
    assert list(columns.cells(data)) == [["7", "Ä", "Ö", '[{"text": "é"}]', 1.5]]


@pytest.mark.parametrize("data", [None, {}, {"seller": None, "line_items": None}])
def test_what_is_not_there_is_an_empty_cell(data: Any) -> None:
    assert list(Columns(INVOICE).cells(data)) == [[None] * 5]


def test_each_element_of_the_rows_is_a_row_with_the_documents_own_values_repeated() -> None:
    columns = Columns(INVOICE, "/line_items")
    assert columns.names == (
        "/number", "/seller/name", "/seller/address/city", "/line_items/text", "/line_items/tags", "/total",
    )  # fmt: skip
    data = {"number": "7", "line_items": [{"text": "a", "tags": ["x"]}, {"text": None}], "total": 3}
    assert list(columns.cells(data)) == [
        ["7", None, None, "a", '["x"]', 3],
        ["7", None, None, None, None, 3],
    ]


@pytest.mark.parametrize("items", [[], None])
def test_a_document_without_any_element_still_has_its_row(items: Any) -> None:
    assert list(Columns(INVOICE, "/line_items").cells({"number": "7", "line_items": items})) == [
        ["7", None, None, None, None, None]
    ]


def test_elements_may_be_scalars_and_the_whole_answer_may_be_a_list() -> None:
    tags = of({"id": TEXT, "tags": {"type": "array", "items": TEXT}})
    columns = Columns(tags, "/tags")
    assert columns.names == ("/id", "/tags")
    assert list(columns.cells({"id": "1", "tags": ["a", "b"]})) == [["1", "a"], ["1", "b"]]
    whole = Columns(Schema({"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}), "")
    assert whole.names == ("/a",)
    assert list(whole.cells([{"a": "x"}, {"a": "y"}])) == [["x"], ["y"]]


@pytest.mark.parametrize("pointer", ["/total", "/none", "/line_items/tags", "line_items"])
def test_rows_that_are_no_list_of_the_schema_are_refused_with_those_that_are(pointer: str) -> None:
    with pytest.raises(UsageError, match=r"its lists are: /line_items\."):
        Columns(INVOICE, pointer)


def test_members_without_a_name_stand_together() -> None:
    opened = of({"a": TEXT, "more": {"type": "object", "additionalProperties": TEXT}}, additionalProperties=True)
    columns = Columns(opened)
    assert columns.names == ("/a", "/more", "/*")
    assert list(columns.cells({"a": "1", "more": {"x": "y"}, "z": 2})) == [["1", '{"x": "y"}', '{"z": 2}']]
    assert list(columns.cells({"a": "1", "more": {}})) == [["1", "{}", None]]


def test_alternatives_and_recursion_end() -> None:
    tree = of(
        {
            "name": TEXT,
            "parent": {"$ref": "#"},
            "either": {"anyOf": [TEXT, {"type": "object", "properties": {"b": TEXT}}]},
        }
    )
    columns = Columns(tree)
    assert columns.names == ("/name", "/parent", "/either", "/either/b")
    assert list(columns.cells({"either": {"b": "x"}})) == [[None, None, '{"b": "x"}', "x"]]
    assert list(columns.cells({"parent": {"name": "p"}, "either": "y"})) == [[None, '{"name": "p"}', "y", None]]


def test_names_are_json_pointers() -> None:
    assert Columns(of({"a/b": TEXT, "c~d": TEXT, "größe": TEXT})).names == ("/a~1b", "/c~0d", "/größe")
    assert Columns(Schema({"type": "string"})).names == ("/",)
