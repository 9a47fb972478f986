"""Gold and answer as trees of leaves with ready keys, so that comparing two leaves is comparing two integers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from forklift.evaluate.equality import strict_key, tolerant_key

NULL_KEY = 0


@dataclass(slots=True)
class Leaf:
    """tolerant, strict: numbers of the value's keys, NULL_KEY for null. The others are as in `Record`."""

    value: Any
    tolerant: int
    strict: int
    values: int
    surplus: int
    structure: int
    leaves: int = 1


@dataclass(slots=True)
class Record:
    """An object.

    leaves: scalars in it at any depth; values: those that are not null. surplus: what it counts where gold has no
    place for it: its values, and one for each list element without any. structure: see `Trees`.
    """

    members: dict[str, Node]
    values: int
    surplus: int
    structure: int
    leaves: int


@dataclass(slots=True)
class Rows:
    """An array. values, surplus, structure, leaves: as in `Record`."""

    elements: list[Node]
    values: int
    surplus: int
    structure: int
    leaves: int


Node: TypeAlias = Leaf | Record | Rows


@dataclass
class Trees:
    """Makes the trees of one document. Keys are numbered as they come; the numbers mean nothing elsewhere.

    `structure` numbers whole subtrees: two are equal where the subtrees are strictly equal, in the order of their
    lists, with null the same as a missing member.
    """

    _keys: dict[Hashable, int] = field(default_factory=lambda: {None: NULL_KEY})
    _structures: dict[Hashable, int] = field(default_factory=dict)

    def grow(self, value: Any) -> Node:
        if isinstance(value, dict):
            members = {name: self.grow(child) for name, child in value.items()}
            present = sorted((name, node.structure) for name, node in members.items() if not is_blank(node))
            values = sum(node.values for node in members.values())
            surplus = sum(node.surplus for node in members.values())
            leaves = sum(node.leaves for node in members.values())
            return Record(members, values, surplus, self._structure(("record", tuple(present))), leaves)
        if isinstance(value, list):
            elements = [self.grow(child) for child in value]
            structure = self._structure(("rows", tuple(node.structure for node in elements)))
            values = sum(node.values for node in elements)
            surplus = sum(surplus_of(node) for node in elements)
            return Rows(elements, values, surplus, structure, sum(node.leaves for node in elements))
        tolerant = tolerant_key(value)
        tolerant_number = self._keys.setdefault(tolerant, len(self._keys)) if tolerant is not None else NULL_KEY
        strict = (
            self._keys.setdefault(("strict", strict_key(value)), len(self._keys)) if value is not None else NULL_KEY
        )
        given = int(tolerant_number != NULL_KEY)
        return Leaf(value, tolerant_number, strict, given, given, self._structure(strict))

    def _structure(self, content: Hashable) -> int:
        return self._structures.setdefault(content, len(self._structures))


NULL = Leaf(None, NULL_KEY, NULL_KEY, 0, 0, -1)


def surplus_of(element: Node) -> int:
    """What a list element counts that has no place in gold: at least one."""
    return max(1, element.surplus)


def is_blank(node: Node) -> bool:
    """Whether it says nothing: null, an empty list, an object of such."""
    if isinstance(node, Rows):
        return not node.elements
    if isinstance(node, Record):
        return all(is_blank(child) for child in node.members.values())
    return node.strict == NULL_KEY


def plain(node: Node) -> Any:
    """The JSON value that a node stands for."""
    if isinstance(node, Record):
        return {name: plain(child) for name, child in node.members.items()}
    if isinstance(node, Rows):
        return [plain(child) for child in node.elements]
    return node.value
