"""Plain JSON Schema documents: their parts, `$ref`, `allOf`, and which keywords decoding can enforce."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from forklift.errors import SchemaError

MAX_NESTING = 200  # levels of objects and arrays in a schema

Node = Any  # a JSON Schema: a mapping, True or False

# fmt: off
_ONE = frozenset({
    "items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains",
    "propertyNames", "unevaluatedProperties", "unevaluatedItems",
})
# fmt: on
_LIST = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")

# fmt: off
ANNOTATIONS = frozenset({
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
    "$comment", "$schema", "$id", "$defs", "definitions", "discriminator", "example",
    "contentEncoding", "contentMediaType", "contentSchema",
})
ENFORCED = frozenset({
    "type", "enum", "const", "properties", "required", "additionalProperties", "patternProperties",
    "items", "prefixItems", "minItems", "maxItems", "anyOf", "oneOf", "allOf", "$ref", "pattern",
    "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "nullable",
})
CHECKED = frozenset({
    "not", "if", "then", "else", "uniqueItems", "dependentRequired", "dependentSchemas",
    "dependencies", "contains", "minContains", "maxContains", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems", "minProperties", "maxProperties", "additionalItems",
})
REFUSED = frozenset({
    "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
})
# fmt: on

# Which types a keyword says something about, for nodes without "type".
_IMPLIED = {
    "object": {"properties", "additionalProperties", "patternProperties", "required"},
    "array": {"items", "prefixItems", "minItems", "maxItems"},
    "string": {"pattern", "format", "minLength", "maxLength"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}


def escape(key: str) -> str:
    """One step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def walk(node: Node, pointer: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every subschema that is an object, with its JSON Pointer, outermost first."""
    if not isinstance(node, Mapping):
        return
    yield pointer, node
    for keyword, value in node.items():
        place = f"{pointer}/{escape(keyword)}"
        if keyword in _NAMED and isinstance(value, Mapping):
            for name, child in value.items():
                yield from walk(child, f"{place}/{escape(name)}")
        elif keyword in _LIST or (keyword == "items" and isinstance(value, list)):
            for index, child in enumerate(value):
                yield from walk(child, f"{place}/{index}")
        elif keyword in _ONE:
            yield from walk(value, place)


def types_of(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a node without `$ref`, `allOf`, `anyOf` names or implies; empty means any type."""
    named = node.get("type")
    if named is None:
        return tuple(kind for kind, keywords in _IMPLIED.items() if keywords & node.keys())
    return (named,) if isinstance(named, str) else tuple(named)


class Document:
    """One schema with its local references.

    `flat(node)` is the node with `$ref` and `allOf` merged in: what both decoding and the final check walk
    over.
    """

    def __init__(self, root: Node) -> None:
        self.root = root
        self._recursive: dict[str, bool] = {}

    def resolve(self, reference: str, pointer: str = "") -> Node:
        """The subschema that `reference` ("#", "#/...") names. Raises SchemaError for anything else."""
        if not reference.startswith("#") or (len(reference) > 1 and reference[1] != "/"):
            raise SchemaError(f"{pointer}/$ref: {reference!r} is not inside this schema; only '#/...' can be followed")
        node = self.root
        for step in reference[2:].split("/") if len(reference) > 2 else ():
            key = _unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            else:
                raise SchemaError(f"{pointer}/$ref: {reference!r} names nothing in this schema")
        if not isinstance(node, Mapping | bool):
            raise SchemaError(f"{pointer}/$ref: {reference!r} is not a schema")
        return node

    def is_recursive(self, reference: str) -> bool:
        """Whether following the references below `reference` comes back to it."""
        if reference not in self._recursive:
            seen: set[str] = set()
            waiting = [reference]
            while waiting:
                for _, node in walk(self.resolve(waiting.pop())):
                    target = node.get("$ref")
                    if isinstance(target, str) and target not in seen:
                        seen.add(target)
                        waiting.append(target)
            self._recursive[reference] = reference in seen
        return self._recursive[reference]

    def flat(self, node: Node, pointer: str = "", *, _following: tuple[str, ...] = ()) -> dict[str, Any] | bool:
        """`node` without `$ref` and `allOf` at its top. False means that nothing is valid."""
        if not isinstance(node, Mapping):
            return {} if node else False
        if "$ref" not in node and "allOf" not in node:
            return dict(node)
        merged: dict[str, Any] = {}
        # In the order of the keys, so that properties keep the order in which the schema names them.
        own: dict[str, Any] = {}
        for keyword, value in node.items():
            if keyword == "$ref":
                if value in _following:
                    raise SchemaError(f"{pointer}/$ref: {value!r} leads back to itself with nothing in between")
                target = self.resolve(value, pointer)
                part = self.flat(target, value.lstrip("#"), _following=(*_following, value))
                if part is False:
                    return False
                assert isinstance(part, dict)
                merged = merge(merged, part)
            elif keyword == "allOf":
                for index, child in enumerate(value):
                    part = self.flat(child, f"{pointer}/allOf/{index}", _following=_following)
                    if part is False:
                        return False
                    assert isinstance(part, dict)
                    merged = merge(merged, part)
            else:
                own[keyword] = value
        return merge(own, merged) if "properties" in own else merge(merged, own)

    def options(self, node: dict[str, Any], pointer: str = "") -> list[tuple[str, dict[str, Any]]]:
        """A flat node as its alternatives: each `anyOf` or `oneOf` branch merged with what is beside it."""
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                beside = {key: value for key, value in node.items() if key != keyword}
                alternatives: list[tuple[str, dict[str, Any]]] = []
                for index, branch in enumerate(node[keyword]):
                    place = f"{pointer}/{keyword}/{index}"
                    part = self.flat(branch, place)
                    if isinstance(part, dict):
                        alternatives += self.options(merge(beside, part), place)
                return alternatives
        return [(pointer, node)]

    def accepts_null(self, node: Node) -> bool:
        """Whether null is valid at this place by the user's own schema."""
        flat = self.flat(node)
        if not isinstance(flat, dict):
            return False
        return any(_option_accepts_null(option) for _, option in self.options(flat))


def _option_accepts_null(option: Mapping[str, Any]) -> bool:
    if option.get("nullable") is True:
        return True
    if "const" in option:
        return option["const"] is None
    if "enum" in option:
        return None in option["enum"]
    named = option.get("type")
    return named is None or named == "null" or "null" in (named if isinstance(named, list) else ())


def merge(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """One schema that means both, as far as one schema can; the final check sees the original."""
    result = dict(left)
    for keyword, value in right.items():
        if keyword not in result or keyword in ANNOTATIONS:
            result[keyword] = value
        elif keyword == "type":
            result[keyword] = _merge_types(result[keyword], value)
        elif keyword == "enum":
            result[keyword] = [item for item in result[keyword] if item in value]
        elif keyword in ("properties", "patternProperties"):
            both = dict(result[keyword])
            for name, child in value.items():
                both[name] = {"allOf": [both[name], child]} if name in both and both[name] != child else child
            result[keyword] = both
        elif keyword == "required":
            result[keyword] = [*result[keyword], *(name for name in value if name not in result[keyword])]
        elif keyword in ("items", "additionalProperties") and result[keyword] != value:
            result[keyword] = {"allOf": [result[keyword], value]}
        elif keyword in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
            result[keyword] = max(result[keyword], value)
        elif keyword in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
            result[keyword] = min(result[keyword], value)
    return result


def _merge_types(left: Any, right: Any) -> list[str]:
    first = [left] if isinstance(left, str) else list(left)
    second = [right] if isinstance(right, str) else list(right)
    both = [kind for kind in first if kind in second]
    if "integer" not in both and (
        ("integer" in first and "number" in second) or ("number" in first and "integer" in second)
    ):
        both.append("integer")
    return both


def _unquote(step: str) -> str:
    return re.sub(
        "(?:%[0-9A-Fa-f]{2})+",
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"),
        step,
    )
