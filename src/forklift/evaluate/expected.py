"""The fields that a document is scored on: its gold answer, completed by what the schema names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forklift.json_schema import Document, types_of

MAX_NULL_LEVELS = 16  # of objects inside one null; a schema that contains itself must end somewhere


class ExpectedFields:
    """Completes gold answers of one schema, so that a property left out counts as the null that it means.

    Objects get every property that the schema names; a null under an object becomes that object with null
    properties, a null under an array an empty array. Where the schema offers several kinds of object, or an object
    or something else, a null stays one field, and an object is left as it is.
    """

    def __init__(self, schema: Any) -> None:
        self._document = Document(schema)
        self._root = _Place(self._document, schema)

    def complete(self, gold: Any) -> Any:
        """A copy of `gold` with all expected fields."""
        return _complete(gold, self._root, ())


class _Place:
    """What the schema expects at one place; looked into only as deep as gold goes."""

    def __init__(self, document: Document, node: Any) -> None:
        self._document = document
        flat = document.flat(node)
        options = [option for _, option in document.options(flat)] if isinstance(flat, dict) else []
        kinds = [set(types_of(option)) - {"null"} for option in options]
        self._node = node  # kept, so that its id stays its own
        objects = [option for option, kind in zip(options, kinds, strict=True) if "object" in kind]
        arrays = [option for option, kind in zip(options, kinds, strict=True) if "array" in kind]
        every = {name for kind in kinds for name in kind}
        self.only_object = every == {"object"} and len(objects) == 1
        self.only_array = every == {"array"}
        self._object: Mapping[str, Any] = objects[0] if len(objects) == 1 else {}
        self._array: Mapping[str, Any] = arrays[0] if len(arrays) == 1 else {}
        self._properties: dict[str, _Place] | None = None
        self._items: dict[int, _Place] = {}

    @property
    def identity(self) -> int:
        return id(self._node)

    @property
    def properties(self) -> dict[str, _Place]:
        if self._properties is None:
            named = self._object.get("properties", {})
            self._properties = {name: _Place(self._document, child) for name, child in named.items()}
        return self._properties

    def item(self, index: int) -> _Place:
        items = self._array.get("items", True)
        prefix = items if isinstance(items, list) else self._array.get("prefixItems", [])
        index = min(index, len(prefix))
        if index not in self._items:
            rest = self._array.get("additionalItems", True) if isinstance(items, list) else items
            self._items[index] = _Place(self._document, prefix[index] if index < len(prefix) else rest)
        return self._items[index]


def _complete(value: Any, place: _Place, above: tuple[int, ...]) -> Any:
    """above: the places on the way that were null in gold."""
    if isinstance(value, dict):
        completed = {}
        for name, child in value.items():
            inside = place.properties.get(name)
            completed[name] = child if inside is None else _complete(child, inside, ())
        for name, inside in place.properties.items():
            if name not in completed:
                completed[name] = _complete(None, inside, (place.identity,))
        return completed
    if isinstance(value, list):
        return [_complete(child, place.item(index), ()) for index, child in enumerate(value)]
    if value is None and place.only_array:
        return []
    if value is None and place.only_object and place.identity not in above and len(above) < MAX_NULL_LEVELS:
        return {name: _complete(None, inside, (*above, place.identity)) for name, inside in place.properties.items()}
    return value
