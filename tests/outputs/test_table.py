"""Lines of JSON and rows of CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from forklift.outputs.record import FileState, Record
from forklift.outputs.settings import Settings
from forklift.outputs.table import Csv, JsonLines
from forklift.results import Outcome, Result
from forklift.schema import Schema

SCHEMA = Schema(
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "number"},
            "yes": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "string"}},
        },
    }
)


def record(data: Any, **more: Any) -> Record:
    result = Result(data, Outcome.COMPLETE, **more)
    return Record.of(Path("a.pdf"), result, Settings(SCHEMA), state=FileState(1, 2, "3"), seconds=0.5)


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def row(text: Any) -> str:
    table = Csv(SCHEMA)
    return read(table.head() + table.rows("a.pdf", record({"text": text})))[0]["/text"]


def test_a_line_of_json_holds_the_data_and_what_is_wrong_with_it() -> None:
    lines = JsonLines()
    line = lines.rows("ü/a.pdf", record({"text": "é\n", "number": 1}, missing=("/x",), problems=("/: bad",)))
    assert line.count(b"\n") == 1
    assert list(json.loads(line).items()) == [
        ("name", "ü/a.pdf"), ("outcome", "complete"), ("missing", ["/x"]), ("problems", ["/: bad"]),
        ("data", {"text": "é\n", "number": 1}),
    ]  # fmt: skip
    assert json.loads(lines.failed("b.pdf", "is empty")) == {
        "name": "b.pdf", "outcome": "failed", "missing": [], "problems": ["is empty"], "data": None,
    }  # fmt: skip
    assert json.loads(JsonLines(details=True).rows("a.pdf", record({})))["input"]["bytes"] == 1


def test_a_row_of_csv_holds_every_kind_of_value() -> None:
    table = Csv(SCHEMA)
    content = table.head() + table.rows(
        "ü, a.pdf",
        record(
            {"text": 'é "x", y\nz', "number": -12.5, "yes": True, "list": ["a"]}, missing=("", "/b"), problems=("/: p",)
        ),
    )
    assert content.startswith(b"name,outcome,missing,problems,/text,/number,/yes,/list\r\n")
    assert read(content + table.failed("b.pdf", "is empty")) == [
        {
            "name": "ü, a.pdf", "outcome": "complete", "missing": "/ /b", "problems": "/: p", "/text": 'é "x", y\nz',
            "/number": "-12.5", "/yes": "true", "/list": '["a"]',
        },
        {
            "name": "b.pdf", "outcome": "failed", "missing": "", "problems": "is empty", "/text": "", "/number": "",
            "/yes": "", "/list": "",
        },
    ]  # fmt: skip


def test_elements_are_counted() -> None:
    table = Csv(SCHEMA, rows="/list")
    rows = read(table.head() + table.rows("a", record({"text": "t", "list": ["x", "y"]})) + table.failed("b", "no"))
    assert [(row["name"], row["row"], row["/text"], row["/list"]) for row in rows] == [
        ("a", "1", "t", "x"), ("a", "2", "t", "y"), ("b", "", "", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=HYPERLINK(1)", "=", "-",
        "+49 30 12x", "＝1", "-12.50 EUR",
    ],
)  # fmt: skip
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert row(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "-12.50", "+3", "-1,234.56", "-5 %", "- ".strip(" -"), "1-2", "'x", "/x"])
def test_other_text_and_plain_numbers_are_left_alone(text: str) -> None:
    assert row(text) == text


def test_names_of_files_are_guarded_too() -> None:
    table = Csv(SCHEMA)
    assert table.failed("=1.pdf", "no").startswith(b"'=1.pdf,")


def test_the_byte_order_mark_is_on_demand() -> None:
    assert Csv(SCHEMA, byte_order_mark=True).head().startswith(b"\xef\xbb\xbfname,")
    assert Csv(SCHEMA).head().startswith(b"name,")
