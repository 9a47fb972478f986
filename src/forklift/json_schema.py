"""Plain JSON Schema documents: their parts, `$ref`, `allOf`, and which keywords decoding can enforce."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from forklift.errors import SchemaError

MAX_NESTING = 200  # levels of objects and arrays in a schema
MAX_COMBINATIONS = 64  # alternatives that two `anyOf` beside each other may multiply to
LARGEST_INTEGER = 2**53 - 1  # what every JSON reader holds exactly
LARGEST_NUMBER = 10**15 - 1

Node = Any  # a JSON Schema: a mapping, True or False

# Keywords whose value is a subschema, a list of them, or a mapping of names to them.
# fmt: off
SINGLE_SUBSCHEMAS = frozenset({
    "items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains",
    "propertyNames", "unevaluatedProperties", "unevaluatedItems",
})
# fmt: on
LISTED_SUBSCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED_SUBSCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")

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

# Which types a keyword says something about: also what a node without "type" means.
# fmt: off
KEYWORDS_OF_TYPE = {
    "object": frozenset({
        "properties", "additionalProperties", "patternProperties", "required", "propertyNames", "minProperties",
        "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    }),
    "array": frozenset({
        "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains",
        "maxContains", "unevaluatedItems",
    }),
    "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}
# fmt: on


def escape(key: str) -> str:
    """One step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def children(node: Mapping[str, Any], pointer: str = "") -> Iterator[tuple[str, str, Node]]:
    """(keyword, JSON Pointer, subschema) of every subschema that stands directly in `node`."""
    for keyword, value in node.items():
        place = f"{pointer}/{escape(keyword)}"
        if keyword in NAMED_SUBSCHEMAS and isinstance(value, Mapping):
            for name, child in value.items():
                if isinstance(child, Mapping | bool):
                    yield keyword, f"{place}/{escape(name)}", child
        elif (keyword in LISTED_SUBSCHEMAS or keyword == "items") and isinstance(value, list):
            for index, child in enumerate(value):
                yield keyword, f"{place}/{index}", child
        elif keyword in SINGLE_SUBSCHEMAS:
            yield keyword, place, value


def walk(node: Node, pointer: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every subschema that is an object, with its JSON Pointer, outermost first."""
    if isinstance(node, Mapping):
        yield pointer, node
        for _, place, child in children(node, pointer):
            yield from walk(child, place)


def types_of(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a node without `$ref`, `allOf`, `anyOf` names or implies; empty means any type."""
    named = node.get("type")
    if named is None:
        return tuple(kind for kind, keywords in KEYWORDS_OF_TYPE.items() if keywords & node.keys())
    return (named,) if isinstance(named, str) else tuple(named)


def same(left: Any, right: Any) -> bool:
    """Equal as JSON: true is not 1, but 1.0 is."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`; False for a pattern that Python cannot read."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


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

    @staticmethod
    def pointer_of(reference: str) -> str:
        """The JSON Pointer that a reference ("#/...") spells."""
        return _unquote(reference[1:])

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

    def expands_without_end(self, node: Any) -> bool:
        """Whether `node`, with what it refers to and its alternatives put in its place, comes back to itself."""
        if not isinstance(node, Mapping):
            return False
        if isinstance(node.get("$ref"), str) and self.is_recursive(node["$ref"]):
            return True
        return any(self.expands_without_end(one) for key in ("anyOf", "oneOf", "allOf") for one in node.get(key, ()))

    def flat(
        self,
        node: Node,
        pointer: str = "",
        *,
        conflicts: list[str] | None = None,
        _following: tuple[str, ...] = (),
    ) -> dict[str, Any] | bool:
        """`node` without `$ref` and `allOf` at its top. False means that nothing is valid.

        conflicts: takes the keywords of which only one of several could be kept.
        """
        if not isinstance(node, Mapping):
            return {} if node else False
        if "$ref" not in node and "allOf" not in node:
            return _with_numeric_bounds(node)
        merged: dict[str, Any] = {}
        # In the order of the keys, so that properties keep the order in which the schema names them.
        own: dict[str, Any] = {}
        for keyword, value in node.items():
            if keyword == "$ref":
                if value in _following:
                    raise SchemaError(f"{pointer}/$ref: {value!r} leads back to itself with nothing in between")
                target = self.resolve(value, pointer)
                following = (*_following, value)
                part = self.flat(target, value.lstrip("#"), conflicts=conflicts, _following=following)
                if not isinstance(part, dict):
                    return False
                merged = merge(merged, part, conflicts)
            elif keyword == "allOf":
                for index, child in enumerate(value):
                    part = self.flat(child, f"{pointer}/allOf/{index}", conflicts=conflicts, _following=_following)
                    if not isinstance(part, dict):
                        return False
                    merged = merge(merged, part, conflicts)
            else:
                own[keyword] = value
        own = _with_numeric_bounds(own)
        return merge(own, merged, conflicts) if "properties" in own else merge(merged, own, conflicts)

    def options(
        self, node: dict[str, Any], pointer: str = "", *, conflicts: list[str] | None = None
    ) -> list[tuple[str, dict[str, Any]]]:
        """A flat node as its alternatives: each `anyOf` or `oneOf` branch merged with what is beside it."""
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                beside = {key: value for key, value in node.items() if key != keyword}
                alternatives: list[tuple[str, dict[str, Any]]] = []
                for index, branch in enumerate(node[keyword]):
                    place = f"{pointer}/{keyword}/{index}"
                    part = self.flat(branch, place, conflicts=conflicts)
                    if isinstance(part, dict):
                        alternatives += self.options(merge(beside, part, conflicts), place, conflicts=conflicts)
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


def _with_numeric_bounds(node: Mapping[str, Any]) -> dict[str, Any]:
    """Draft 4 (and OpenAPI 3.0) writes an open bound as `exclusiveMinimum: true` beside `minimum`."""
    result = dict(node)
    for open_bound, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(result.get(open_bound), bool) and result.pop(open_bound) and bound in result:
            result[open_bound] = result.pop(bound)
    return result


def merge(left: Mapping[str, Any], right: Mapping[str, Any], conflicts: list[str] | None = None) -> dict[str, Any]:
    """One schema that means both, as far as one schema can; the final check sees the original.

    conflicts: takes the keywords that could not be joined, so that only the left one is kept.
    """
    result = dict(left)
    for keyword, value in right.items():
        kept: Any = result.get(keyword)
        if keyword in ANNOTATIONS or keyword not in result:
            result[keyword] = value
        elif keyword == "type":
            result[keyword] = _merge_types(kept, value)
        elif keyword == "enum":
            result[keyword] = [item for item in kept if any(same(item, other) for other in value)]
        elif keyword in ("properties", "patternProperties"):
            both = dict(kept)
            for name, child in value.items():
                both[name] = {"allOf": [both[name], child]} if name in both and both[name] != child else child
            result[keyword] = both
        elif keyword == "required":
            result[keyword] = [*kept, *(name for name in value if name not in kept)]
        elif keyword == "nullable":
            result[keyword] = kept or value
        elif keyword in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
            result[keyword] = max(kept, value)
        elif keyword in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
            result[keyword] = min(kept, value)
        elif same(kept, value):
            pass
        elif keyword == "const":
            result["enum"] = []
        elif keyword == "additionalProperties" or (keyword == "items" and not isinstance(kept, list)):
            result[keyword] = {"allOf": [kept, value]}
        elif keyword in ("anyOf", "oneOf") and len(kept) * len(value) <= MAX_COMBINATIONS:
            result[keyword] = [{"allOf": [one, other]} for one in kept for other in value]
        elif conflicts is not None:
            conflicts.append(keyword)
    for one, other in ((left, right), (right, left)):
        _close(result, one, other)
    return result


def _close(result: dict[str, Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """What `one` says of properties that it does not list holds for those that only `other` lists."""
    rest = one.get("additionalProperties", True)
    if rest is True or rest == {}:
        return
    for name, child in other.get("properties", {}).items():
        listed = name in one.get("properties", {})
        if not listed and not any(matches(pattern, name) for pattern in one.get("patternProperties", {})):
            closed = False if rest is False else {"allOf": [child, rest]}
            result["properties"] = {**result["properties"], name: closed}


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
