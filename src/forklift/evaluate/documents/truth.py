"""The right answer of a document: schema, gold and labels, built together so that they cannot drift apart."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "date", "amount", "number", "integer", "choice"]
Label = Literal["derived", "spans_pages", "must_be_null", "distractor", "exhaustive_list", "aggregated"]
LABELS: tuple[Label, ...] = (
    *("derived", "spans_pages", "must_be_null", "distractor"),
    *("exhaustive_list", "aggregated"),
)
Value = str | int | float | datetime.date | None


@dataclass(frozen=True)
class Column:
    """A property of the objects in a list. choices: of a "choice"."""

    name: str
    kind: Kind
    description: str
    choices: tuple[str, ...] = ()


class Truth:
    """An object of the answer. Amounts are given in cents and become numbers; dates become ISO text.

    labels: JSON Pointer -> what makes the field hard. near_misses: JSON Pointer -> values in the document that are
    easily taken for it. Both are shared by all parts of one document.
    """

    def __init__(self, description: str) -> None:
        self.labels: dict[str, list[Label]] = {}
        self.near_misses: dict[str, list[Any]] = {}
        self.gold: dict[str, Any] = {}
        self._properties: dict[str, Any] = {}
        self._pointer = ""
        self.schema: dict[str, Any] = {
            "type": "object",
            "description": description,
            "properties": self._properties,
        }

    @classmethod
    def of_schema(cls, schema: dict[str, Any], gold: dict[str, Any]) -> Truth:
        """The answer for a schema that exists already; nulls are labelled."""
        truth = cls("")
        truth.schema, truth.gold = schema, gold

        def label_nulls(pointer: str, value: Any) -> None:
            if isinstance(value, dict | list):
                for key, child in value.items() if isinstance(value, dict) else enumerate(value):
                    label_nulls(f"{pointer}/{key}", child)
            elif value is None:
                truth.label(pointer, "must_be_null")

        label_nulls("", gold)
        return truth

    def add_near_misses(self, pointer: str, *values: Any) -> None:
        """Values as JSON; those that are null or right are left out."""
        self._add_near(pointer, self._at(pointer), list(values))

    def put(
        self,
        name: str,
        kind: Kind,
        value: Value,
        description: str,
        *,
        labels: Iterable[Label] = (),
        near: Iterable[Value] = (),
        choices: tuple[str, ...] = (),
    ) -> None:
        """Add a leaf. None is labelled must_be_null, and near misses make the field a distractor's."""
        self._properties[name] = _leaf_schema(kind, description, choices)
        self.gold[name] = _as_json(kind, value)
        self._label(f"{self._pointer}/{name}", kind, self.gold[name], labels, near)

    def part(self, name: str, description: str) -> Truth:
        """Add an object and give it to be filled."""
        part = Truth(description)
        part.labels, part.near_misses = self.labels, self.near_misses
        part._pointer = f"{self._pointer}/{name}"
        self._properties[name] = part.schema
        self.gold[name] = part.gold
        return part

    def records(
        self,
        name: str,
        description: str,
        columns: Sequence[Column],
        rows: Iterable[Sequence[Value]],
        *,
        labels: Iterable[Label] = (),
    ) -> None:
        """Add a list of objects, in the document's order. `labels` belong to the list as a whole."""
        properties = {column.name: _leaf_schema(column.kind, column.description, column.choices) for column in columns}
        self._properties[name] = {
            "type": "array",
            "description": description,
            "items": {"type": "object", "properties": properties},
        }
        records: list[dict[str, Any]] = []
        pointer = f"{self._pointer}/{name}"
        for index, row in enumerate(rows):
            assert len(row) == len(columns), f"{pointer}: {len(row)} values for {len(columns)} columns"
            record = {}
            for column, value in zip(columns, row, strict=True):
                record[column.name] = _as_json(column.kind, value)
                self._label(f"{pointer}/{index}/{column.name}", column.kind, record[column.name], (), ())
            records.append(record)
        self.gold[name] = records
        self.label(pointer, *labels)

    def label(self, pointer: str, *labels: Label) -> None:
        """Add labels to a pointer that is given from the document's root."""
        have = self.labels.setdefault(pointer, []) if labels else []
        have.extend(label for label in labels if label not in have)

    def _label(self, pointer: str, kind: Kind, value: Any, labels: Iterable[Label], near: Iterable[Value]) -> None:
        self.label(pointer, *labels)
        if value is None:
            self.label(pointer, "must_be_null")
        self._add_near(pointer, value, [_as_json(kind, miss) for miss in near])

    def _add_near(self, pointer: str, value: Any, misses: list[Any]) -> None:
        misses = [miss for miss in misses if miss is not None and miss != value]
        if misses:
            self.near_misses[pointer] = misses
            self.label(pointer, "distractor")

    def _at(self, pointer: str) -> Any:
        value: Any = self.gold
        for step in pointer.split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
        return value


def _leaf_schema(kind: Kind, description: str, choices: tuple[str, ...]) -> dict[str, Any]:
    kinds = {"text": "string", "date": "string", "amount": "number", "number": "number", "integer": "integer"}
    schema: dict[str, Any] = {"type": [kinds.get(kind, "string"), "null"], "description": description}
    if kind == "date":
        schema["format"] = "date"
    if kind == "choice":
        schema["enum"] = [*choices, None]
    return schema


def _as_json(kind: Kind, value: Value) -> Any:
    if value is None:
        return None
    if kind == "amount":
        assert isinstance(value, int)
        return value // 100 if value % 100 == 0 else value / 100
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def count_leaves(value: Any) -> int:
    """Fields of an answer: its scalars, nulls included."""
    if isinstance(value, dict):
        return sum(count_leaves(child) for child in value.values())
    if isinstance(value, list):
        return sum(count_leaves(child) for child in value)
    return 1
