"""What the schema calls a field: the words that its label may have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from forklift.evidence.labels import name_words
from forklift.json_schema import Document

if TYPE_CHECKING:
    from forklift.schema import Schema

Path = tuple[str | int, ...]


class FieldNames:
    """Names of fields by the steps to them; without a schema only the steps themselves are known."""

    def __init__(self, schema: Schema | None) -> None:
        self._document = Document(schema.source) if schema is not None else None
        self._known: dict[tuple[str, ...], tuple[frozenset[str], ...]] = {}

    def path(self, pointer: str) -> Path:
        """The steps of a JSON Pointer; steps of digits alone are places in a list."""
        steps = pointer.split("/")[1:]
        return tuple(
            int(step) if step.isascii() and step.isdigit() else step.replace("~1", "/").replace("~0", "~")
            for step in steps
        )

    def names(self, path: Path) -> tuple[frozenset[str], ...]:
        """The name of the last property, with its parent's words, and its title; each as a set of words."""
        column = tuple("*" if isinstance(step, int) else step for step in path)
        if column not in self._known:
            properties = [step for step in column if step != "*"]
            own, parent = properties[-1:], properties[-2:]
            sets = [name_words(" ".join(own)), name_words(" ".join(parent)), *map(name_words, self._titles(column))]
            self._known[column] = tuple(dict.fromkeys(words for words in sets if words))
        return self._known[column]

    def _titles(self, column: tuple[str, ...]) -> Iterator[str]:
        if self._document is None:
            return
        nodes: list[Any] = [self._document.root]
        for step in column:
            nodes = [child for node in nodes for child in self._children(node, step)]
        for node in nodes:
            flat = self._document.flat(node)
            if isinstance(flat, dict) and isinstance(flat.get("title"), str):
                yield flat["title"]

    def _children(self, node: Any, step: str) -> list[Any]:
        """The subschemas that an item ("*") or a property may have."""
        assert self._document is not None
        flat = self._document.flat(node)
        if not isinstance(flat, dict):
            return []
        found = []
        for _, option in self._document.options(flat):
            if step == "*":
                items = option.get("items")
                found += [*(option.get("prefixItems") or ()), *(items if isinstance(items, list) else (items,))]
            else:
                found.append((option.get("properties") or {}).get(step))
        return [child for child in found if isinstance(child, dict)]
