"""A schema inferred from example answers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forklift.errors import SchemaError
from forklift.json_schema import MAX_NESTING, escape
from forklift.schema_formats import format_checker

_DATED = {"date": re.compile(r"\d{4}-\d\d-\d\d"), "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt].+")}


@dataclass
class _Seen:
    """Everything that stood at one place of the examples."""

    count: int = 0
    nulls: int = 0
    booleans: int = 0
    integers: int = 0
    floats: int = 0
    strings: list[str] = field(default_factory=list)
    objects: int = 0
    members: dict[str, _Seen] = field(default_factory=dict)
    arrays: int = 0
    items: _Seen | None = None

    def add(self, value: Any, depth: int = 0) -> None:
        if depth > MAX_NESTING // 4:
            raise SchemaError(f"the example is nested more than {MAX_NESTING // 4} levels deep; flatten it")
        self.count += 1
        if value is None:
            self.nulls += 1
        elif isinstance(value, bool):
            self.booleans += 1
        elif isinstance(value, int):
            self.integers += 1
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise SchemaError("the example has a number that is beyond what JSON readers hold")
            self.floats += 1
        elif isinstance(value, str):
            self.strings.append(value)
        elif isinstance(value, list):
            self.arrays += 1
            self.items = self.items or _Seen()
            for item in value:
                self.items.add(item, depth + 1)
        else:
            self.objects += 1
            before = -1  # a name that is new comes after the one that it stands behind here
            for name, member in value.items():
                if name not in self.members:
                    names = list(self.members)
                    names.insert(before + 1, name)
                    self.members = {one: self.members.get(one) or _Seen() for one in names}
                before = list(self.members).index(name)
                self.members[name].add(member, depth + 1)


def infer(examples: Sequence[Any], *, required: bool = False) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A JSON Schema that takes every example; and notes on what the examples leave open, by JSON Pointer.

    Scalars may be null, for a document may lack what the examples have. required: a property that stands in
    every example, never null, is required and may not be null.
    Arrays are merged over their elements, names keep the order of the examples. Strings that are all dates, or
    all times with a date, get that format.
    Raises SchemaError when there is no example, or one that is not an object or an array.
    """
    seen = _Seen()
    for example in examples:
        if not isinstance(example, dict | list):
            raise SchemaError(f"an example is a whole answer, an object or an array, not {type(example).__name__}")
        seen.add(example)
    if not seen.count:
        raise SchemaError("no example; give at least one")
    writer = _Writer(required)
    return writer.schema(seen, "", nullable=False), tuple(writer.notes)


class _Writer:
    def __init__(self, required: bool) -> None:
        self._required = required
        self.notes: list[str] = []

    def schema(self, seen: _Seen, pointer: str, *, nullable: bool) -> dict[str, Any]:
        """nullable: whether a scalar may be null although no example is."""
        kinds = [
            kind
            for kind, count in (
                ("string", len(seen.strings)),
                ("number", seen.floats),
                ("integer", 0 if seen.floats else seen.integers),
                ("boolean", seen.booleans),
            )
            if count
        ]
        has_container = bool(seen.objects or seen.arrays)
        null = bool(seen.nulls) or (nullable and not has_container)
        if not kinds and not has_container:
            self.notes.append(f"{pointer or '/'}: null in every example; taken for text")
            return {"type": ["string", "null"]}
        if "integer" in kinds:
            self.notes.append(f'{pointer or "/"}: whole in every example, so "integer"; "number" allows decimals')
        parts: list[dict[str, Any]] = []
        if kinds:
            named: Any = [*kinds, "null"] if null and not has_container else kinds
            scalar: dict[str, Any] = {"type": named[0] if len(named) == 1 else named}
            if found := _format_of(seen.strings):
                scalar["format"] = found
            parts.append(scalar)
        if seen.objects:
            parts.append(self._object(seen, pointer, null=null and len(kinds) + bool(seen.arrays) == 0))
        if seen.arrays:
            parts.append(self._array(seen, pointer, null=null and len(kinds) + bool(seen.objects) == 0))
        if len(parts) == 1:
            return parts[0]
        self.notes.append(f"{pointer or '/'}: of several kinds in the examples; each is allowed")
        return {"anyOf": [*parts, *([{"type": "null"}] if null else [])]}

    def _object(self, seen: _Seen, pointer: str, *, null: bool) -> dict[str, Any]:
        always = [name for name, one in seen.members.items() if one.count == seen.objects and not one.nulls]
        required = always if self._required else []
        node: dict[str, Any] = {"type": ["object", "null"] if null else "object"}
        node["properties"] = {
            name: self.schema(one, f"{pointer}/{escape(name)}", nullable=name not in required)
            for name, one in seen.members.items()
        }
        if not seen.members:
            self.notes.append(f"{pointer or '/'}: empty in every example; any object is allowed")
            del node["properties"]
        if required:
            node["required"] = required
        return node

    def _array(self, seen: _Seen, pointer: str, *, null: bool) -> dict[str, Any]:
        node: dict[str, Any] = {"type": ["array", "null"] if null else "array"}
        if seen.items is None or not seen.items.count:
            self.notes.append(f"{pointer or '/'}: empty in every example; any items are allowed")
            return node
        return {**node, "items": self.schema(seen.items, f"{pointer}/*", nullable=False)}


def _format_of(strings: Sequence[str]) -> str | None:
    for name, pattern in _DATED.items():
        if strings and all(pattern.fullmatch(one) and format_checker().conforms(one, name) for one in strings):
            return name
    return None
