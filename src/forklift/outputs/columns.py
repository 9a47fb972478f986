"""A schema as the columns of a table, and data as its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from forklift.errors import UsageError
from forklift.json_schema import Document, Node, escape, types_of
from forklift.schema import Schema

_ABSENT = object()
_REST = object()  # stands in a path for the members that have no column of their own


@dataclass(frozen=True)
class _Column:
    """path: the steps from the document (or from one element of the rows) to the value."""

    name: str
    path: tuple[Any, ...]
    of_element: bool
    named: frozenset[str] = frozenset()  # with _REST: the members that do have one


class Columns:
    """Columns in the schema's order, named by JSON Pointer; known before the first document is read.

    Objects are flattened. A list is one column, holding JSON, unless `rows` is its pointer: then every element is a
    row, and the element's values have columns of their own ("/line_items/amount"). Members of an object that
    the schema leaves open stand as JSON in "<pointer>/*".
    Raises UsageError when `rows` names no list of the schema.
    """

    def __init__(self, schema: Schema, rows: str | None = None) -> None:
        self._document = Document(schema.source)
        self._rows = rows
        self._lists: list[str] = []
        self._columns: dict[str, _Column] = {}
        self._rows_path: tuple[str, ...] | None = None
        self._add(schema.source, (), "", of_element=False, base=0)
        if rows is not None and self._rows_path is None:
            known = ", ".join(pointer or '""' for pointer in self._lists) or "none"
            raise UsageError(f'--rows "{rows}": the schema {schema.name} has no list there; its lists are: {known}.')
        self.names = tuple(self._columns)

    def cells(self, data: Any) -> Iterator[list[Any]]:
        """One list of cells a row, as long as `names`: JSON scalars, JSON text for lists, None where there is nothing.

        Data without any element still has its row.
        """
        elements: Any = [_ABSENT]
        if self._rows_path is not None:
            found = _value_at(data, self._rows_path)
            if isinstance(found, list) and found:
                elements = found
        for element in elements:
            yield [_cell(element if column.of_element else data, column) for column in self._columns.values()]

    def _add(self, node: Node, path: tuple[Any, ...], pointer: str, *, of_element: bool, base: int) -> None:
        """base: how many steps of `path` lead to the element, whose own path begins there."""

        def column(steps: tuple[Any, ...], name: str, named: frozenset[str] = frozenset()) -> None:
            self._columns.setdefault(name or "/", _Column(name or "/", steps[base:], of_element, named))

        flat = {} if self._document.expands_without_end(node) else self._document.flat(node)
        if not isinstance(flat, dict):
            return
        options = [option for _, option in self._document.options(flat)]
        kinds = [{*types_of(option)} - {"null"} for option in options]
        for option, named_kinds in zip(options, kinds, strict=True):
            if not named_kinds and (option.get("type") or option.get("enum", [0]) == [None]) and len(options) > 1:
                continue  # an alternative that is null alone
            members = [*option.get("properties", {}), *option.get("required", ())]
            if "array" in named_kinds:
                self._add_list(option, path, pointer, of_element=of_element, column=column)
            if "object" in named_kinds and members:
                for name in dict.fromkeys(members):
                    child = option.get("properties", {}).get(name, {})
                    self._add(child, (*path, name), f"{pointer}/{escape(name)}", of_element=of_element, base=base)
                if option.get("additionalProperties", False) is not False or option.get("patternProperties"):
                    column((*path, _REST), f"{pointer}/*", frozenset(members))
            if named_kinds - {"array", "object"} or not named_kinds or ("object" in named_kinds and not members):
                column(path, pointer)

    def _add_list(
        self, option: Mapping[str, Any], path: tuple[Any, ...], pointer: str, *, of_element: bool, column: Any
    ) -> None:
        if not of_element:
            self._lists.append(pointer)
        if of_element or pointer != self._rows:
            column(path, pointer)
            return
        self._rows_path = path
        items = option.get("items", {})
        kinds = [*option.get("prefixItems", ()), *(items if isinstance(items, list) else [items])]
        for node in kinds:
            self._add(node, path, pointer, of_element=True, base=len(path))


def _value_at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return _ABSENT
        value = value[step]
    return value


def _cell(root: Any, column: _Column) -> Any:
    if column.path and column.path[-1] is _REST:
        value = _value_at(root, column.path[:-1])
        value = (
            {name: item for name, item in value.items() if name not in column.named} if isinstance(value, dict) else {}
        )
        return as_text(value) if value else None
    value = _value_at(root, column.path)
    if value is _ABSENT:
        return None
    return as_text(value) if isinstance(value, dict | list) else value


def as_text(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)
