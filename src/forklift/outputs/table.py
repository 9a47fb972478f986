"""What a document becomes in a table: lines of JSON, or rows of CSV that a spreadsheet opens safely."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any, Protocol

from forklift.outputs.columns import Columns, as_text
from forklift.outputs.files import as_json
from forklift.outputs.record import Record
from forklift.schema import Schema

FAILED = "failed"  # in the place of an outcome: the document could not be read at all

# A spreadsheet runs a cell that starts with one of these as a formula, also when a document wrote it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,'\u00a0 ][0-9]+)*[.,]?\s?%?")


class TableFormat(Protocol):
    """UTF-8 text of a table, a document at a time. name: the input's path, as it was named."""

    def head(self) -> bytes: ...

    def rows(self, name: str, record: Record) -> bytes: ...

    def failed(self, name: str, message: str) -> bytes: ...


class JsonLines:
    """One line a document: name, outcome, missing, problems, data; with `details` the whole record between."""

    def __init__(self, *, details: bool = False) -> None:
        self._details = details

    def head(self) -> bytes:
        return b""

    def rows(self, name: str, record: Record) -> bytes:
        result = record.result
        line = {
            "name": name,
            "outcome": result.outcome.value,
            "missing": result.missing,
            "problems": result.problems,
        }
        if self._details:
            line |= record.described()
        return as_json({**line, "data": result.data}, indent=None)

    def failed(self, name: str, message: str) -> bytes:
        line = {"name": name, "outcome": FAILED, "missing": [], "problems": [message], "data": None}
        return as_json(line, indent=None)


class Csv:
    """RFC 4180 with a head line. Columns: name, outcome, missing, problems, then those of the schema.

    rows: JSON Pointer of a list; each of its elements is a row, and a column "row" counts them from 1.
    byte_order_mark: begin with one, by which Excel knows UTF-8.
    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    Raises UsageError when `rows` names no list of the schema.
    """

    def __init__(self, schema: Schema, *, rows: str | None = None, byte_order_mark: bool = False) -> None:
        self._columns = Columns(schema, rows)
        self._counted = rows is not None
        self._mark = byte_order_mark

    def head(self) -> bytes:
        first = ["name", "outcome", "missing", "problems", *(["row"] if self._counted else [])]
        return b"\xef\xbb\xbf" * self._mark + _line([*first, *self._columns.names])

    def rows(self, name: str, record: Record) -> bytes:
        result = record.result
        first = [name, result.outcome.value, " ".join(p or "/" for p in result.missing), "; ".join(result.problems)]
        lines = []
        for number, cells in enumerate(self._columns.cells(result.data), start=1):
            lines.append(_line([*first, *([number] if self._counted else []), *cells]))
        return b"".join(lines)

    def failed(self, name: str, message: str) -> bytes:
        empty = [None] * (len(self._columns.names) + self._counted)
        return _line([name, FAILED, None, message, *empty])


def _line(cells: Sequence[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow([_spelled(cell) for cell in cells])
    return text.getvalue().encode("utf-8", errors="replace")


def _spelled(cell: Any) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return as_text(cell)  # numbers and booleans as in JSON
    text = cell.lstrip(" \n\x00")
    if text.startswith(_FORMULA_STARTS) and not _PLAIN_NUMBER.fullmatch(text):
        return f"'{cell}"
    return cell
