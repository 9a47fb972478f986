"""The schema that decoding enforces, made from the user's.

It uses a small part of JSON Schema, which `decoding.grammar` writes out as a grammar: {} (anything),
{"enum": [...]}, {"anyOf": [...]}, {"$ref": "#/$defs/..."}, and nodes of one type, a leaf's being "string" or
["string", "null"]. Objects list every property, say which are required, and are closed by
"additionalProperties": false unless the user's schema opens them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from forklift.decoding.leaves import leaf_error
from forklift.errors import SchemaError
from forklift.json_schema import (
    ANNOTATIONS,
    LARGEST_INTEGER,
    LARGEST_NUMBER,
    Document,
    Node,
    escape,
    matches,
    same,
    types_of,
)
from forklift.schema_formats import ENFORCED_FORMATS

_NULL = {"type": "null"}
# What a leaf gives up first when the grammar cannot hold all of it.
_DISPENSABLE = ("format", "multipleOf", "pattern", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum")
_LEAF_KEYWORDS = {
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
}
_LEAF_KEYWORDS["integer"] = _LEAF_KEYWORDS["number"]


class DecodedSchema:
    """Builds the decoded form of one document.

    strict: the schema literally (optional properties stay optional, nothing becomes nullable).
    relaxed: (JSON Pointer, keyword) that the grammar cannot hold an answer to, after `build`.
    impossible: (JSON Pointer, reason) of parts that allow no value; where such a part is optional it is left out.
    Raises SchemaError where no value is possible at all.
    """

    def __init__(self, document: Document, *, strict: bool) -> None:
        self._document = document
        self._strict = strict
        self.relaxed: list[tuple[str, str]] = []
        self.impossible: list[tuple[str, str]] = []
        self._names: dict[str, str] = {}
        self._definitions: dict[str, Any] = {}

    def build(self) -> dict[str, Any]:
        root = self._node(self._document.root, "")
        if root is False:
            because = "; ".join(f"{pointer or '/'}: {reason}" for pointer, reason in self.impossible[:3])
            raise SchemaError(f"/: no value is possible{because and ': '}{because}")
        assert isinstance(root, dict)
        self._check_finite(root)
        return {**root, "$defs": self._definitions} if self._definitions else root

    def _check_finite(self, root: dict[str, Any]) -> None:
        """Raises SchemaError where a definition always contains itself: a grammar for it would never end."""
        finite: set[str] = set()

        def ends(node: Any) -> bool:
            if node is False or "$ref" in node:
                return node is not False and node["$ref"].rsplit("/", 1)[-1] in finite
            if "anyOf" in node:
                return any(ends(branch) for branch in node["anyOf"])
            if node.get("type") == "object":
                return all(ends(node["properties"][name]) for name in node["required"])
            if node.get("type") == "array":
                wanted = [*node.get("prefixItems", ()), node["items"]][: node.get("minItems", 0)]
                return all(ends(item) for item in wanted)
            return True

        before = -1
        while before < len(finite):
            before = len(finite)
            finite |= {name for name, definition in self._definitions.items() if ends(definition)}
        for name, definition in [*self._definitions.items(), ("", root)]:
            if not ends(definition):
                raise SchemaError(f"/{name and '$defs/' + name}: always contains itself, so no answer can end")

    def _node(self, node: Node, pointer: str) -> dict[str, Any] | bool:
        """The decoded node, or False when no value is possible."""
        if isinstance(node, Mapping) and "$ref" in node:
            beside = node.keys() - ANNOTATIONS - {"$ref"}
            if beside <= {"nullable"}:
                referenced = self._defined(node["$ref"], self._document.resolve(node["$ref"], pointer), pointer)
                return self._union([referenced, _NULL]) if node.get("nullable") is True else referenced
            if self._document.is_recursive(node["$ref"]):
                return self._defined(json.dumps(node), node, pointer, inline=True)
        elif isinstance(node, Mapping) and "allOf" in node and self._document.expands_without_end(node):
            return self._defined(json.dumps(node), node, pointer, inline=True)
        return self._inline(node, pointer)

    def _inline(self, node: Node, pointer: str) -> dict[str, Any] | bool:
        conflicts: list[str] = []
        flat = self._document.flat(node, pointer, conflicts=conflicts)
        if not isinstance(flat, dict):
            return False
        built: list[dict[str, Any]] = []
        for place, option in self._document.options(flat, pointer, conflicts=conflicts):
            built += [part for part in self._option(option, place) if part not in built]
        self.relaxed += [(pointer, keyword) for keyword in conflicts]
        return self._union(built)

    def _defined(self, key: str, node: Node, pointer: str, *, inline: bool = False) -> dict[str, Any]:
        """A reference to `node`, which is built once under a name of its own."""
        if key not in self._names:
            name = re.sub(r"\W", "_", key.rsplit("/", 1)[-1])[:40] or "root"
            while name in self._names.values():
                name += "_"
            self._names[key] = name
            place = pointer if inline else key.lstrip("#")
            if not inline:
                self._document.flat(node, place, _following=(key,))  # refuses a reference that leads to itself
            definition = self._inline(node, place) if inline else self._node(node, place)
            if not isinstance(definition, dict):
                raise SchemaError(f"{pointer}: allows no value")
            self._definitions[name] = definition
        return {"$ref": f"#/$defs/{self._names[key]}"}

    def _union(self, built: list[dict[str, Any]]) -> dict[str, Any] | bool:
        """One node for the alternatives; null joins the type of a single leaf."""
        flat: list[dict[str, Any]] = []
        for part in built:
            flat += [one for one in part.get("anyOf", [part]) if one not in flat]
        if {} in flat:
            return {}
        others = [part for part in flat if part != _NULL]
        if len(others) < len(flat) and any(_has_null(part) for part in others):
            flat = others
        if len(flat) == 2 and _NULL in flat and len(others) == 1:
            other = others[0]
            if "enum" in other:
                return {"enum": [*other["enum"], None]}
            if other.get("type") in ("string", "number", "integer", "boolean"):
                return {**other, "type": [other["type"], "null"]}
        if not flat:
            return False
        return flat[0] if len(flat) == 1 else {"anyOf": flat}

    def _option(self, option: dict[str, Any], pointer: str) -> list[dict[str, Any]]:
        """A node without `$ref`, `allOf`, `anyOf`, `oneOf`: one decoded node a type."""
        kinds = types_of(option)
        if "enum" in option or "const" in option:
            values = option.get("enum", [option.get("const")])
            if "const" in option:
                values = [value for value in values if same(value, option["const"])]
            if "type" in option:
                values = [value for value in values if any(_is_of(value, kind) for kind in kinds)]
            values = list(values)
            if values and (option.get("nullable") is True or not self._strict) and None not in values:
                values.append(None)
            if not values:
                self.impossible.append((pointer, "no value of its enum or const is allowed"))
            return [{"enum": values}] if values else []
        if not kinds:
            return [] if "type" in option else [{}]
        parts: list[dict[str, Any]] = []
        for kind in kinds:
            if kind == "object":
                made: dict[str, Any] | None = self._object(option, pointer)
            elif kind == "array":
                made = self._array(option, pointer)
            else:
                made = self._leaf(kind, option, pointer)
            if made is not None:
                parts.append(made)
        has_leaf = any(kind not in ("object", "array") for kind in kinds)
        if (has_leaf and not self._strict and parts) or option.get("nullable") is True:
            parts.append(_NULL)
        return [part for index, part in enumerate(parts) if part not in parts[:index]]

    def _leaf(self, kind: str, option: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
        leaf: dict[str, Any] = {"type": kind}
        for keyword in _LEAF_KEYWORDS.get(kind, ()):
            # An unknown format is only told to the model.
            if keyword in option and (keyword != "format" or option[keyword] in ENFORCED_FORMATS):
                leaf[keyword] = option[keyword]
        low = max((leaf[k] for k in ("minimum", "exclusiveMinimum") if k in leaf), default=None)
        high = min((leaf[k] for k in ("maximum", "exclusiveMaximum") if k in leaf), default=None)
        if low is not None and high is not None and low > high:
            return self._none(pointer, f"at least {low} and at most {high}")
        largest = LARGEST_INTEGER if kind == "integer" else LARGEST_NUMBER
        if (low is not None and low > largest) or (high is not None and high < -largest):
            if kind == "integer":
                return self._none(pointer, f"integers beyond {largest} are not held exactly by JSON readers")
            leaf = {"type": kind}  # numbers with exponents; the final check sees to the bounds
            self.relaxed += [(pointer, keyword) for keyword in _LEAF_KEYWORDS["number"] if keyword in option]
        if "minLength" in leaf and leaf["minLength"] > leaf.get("maxLength", leaf["minLength"]):
            return self._none(pointer, f"at least {leaf['minLength']} and at most {leaf['maxLength']} characters")
        if kind == "number" and "multipleOf" in leaf:
            step = Decimal(str(leaf["multipleOf"])).normalize()
            digits, exponent = step.as_tuple().digits, int(step.as_tuple().exponent)
            if exponent < -1 and digits != (1,):
                # llguidance would take multiples of 0.25 with two decimals only: 1.50, but not 1.5.
                leaf["multipleOf"] = float(Decimal(1).scaleb(exponent))
                self.relaxed.append((pointer, "multipleOf"))
        waiting = [*_DISPENSABLE, "minimum", "maximum"]
        while error := leaf_error(leaf):
            if "Unsatisfiable" in error:
                return self._none(pointer, "its " + ", ".join(k for k in leaf if k != "type") + " exclude each other")
            given_up = next((keyword for keyword in waiting if keyword in leaf and self._helps(leaf, keyword)), None)
            given_up = given_up or next(keyword for keyword in waiting if keyword in leaf)
            self.relaxed.append((pointer, given_up))
            del leaf[given_up]
        return leaf

    @staticmethod
    def _helps(leaf: Mapping[str, Any], keyword: str) -> bool:
        return not leaf_error({key: value for key, value in leaf.items() if key != keyword})

    def _none(self, pointer: str, reason: str) -> dict[str, Any] | None:
        self.impossible.append((pointer, reason))
        return None

    def _object(self, option: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
        required = list(option.get("required", ()))
        named = dict(option.get("properties", {}))
        patterns = option.get("patternProperties", {})
        rest = option.get("additionalProperties", True)
        for name in [*named, *(name for name in required if name not in named)]:
            also = [child for pattern, child in patterns.items() if matches(pattern, name)]
            if also:
                named[name] = {"allOf": [*([named[name]] if name in named else []), *also]}
            elif name not in named:
                named[name] = rest
        properties: dict[str, Any] = {}
        for name, subschema in named.items():
            place = f"{pointer}/properties/{escape(name)}"
            child = self._node(subschema, place)
            if child is False:
                self.impossible.append((place, "no value is possible here"))
                if name in required:
                    return None
                continue
            assert isinstance(child, dict)
            if not self._strict and self._document.expands_without_end(subschema):
                ended = self._union([child, _NULL])  # a way out of the recursion
                assert isinstance(ended, dict)
                child = ended
            properties[name] = child
        node: dict[str, Any] = {"type": "object", "properties": properties}
        node["required"] = [name for name in properties if name in required or not self._strict]
        by_pattern, unheld = self._by_pattern(patterns, pointer)
        if by_pattern:
            node["patternProperties"] = by_pattern
        # An object that names no property at all can only mean an open one.
        opened = option.get("additionalProperties", not (named or by_pattern))
        if unheld:
            opened = {"anyOf": unheld} if opened is False else True
        if unheld or (by_pattern and (opened is not False or len(by_pattern) > 1)):
            self.relaxed += [(pointer, keyword) for keyword in ("patternProperties", "additionalProperties")]
        elif any(matches(pattern, name) for pattern in by_pattern for name in properties):
            self.relaxed.append((pointer, "patternProperties"))
        node["additionalProperties"] = self._node(opened, f"{pointer}/additionalProperties")
        return node

    def _by_pattern(self, patterns: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], list[Any]]:
        """The nodes by the patterns that the grammar can hold names to; the subschemas of the other patterns."""
        held: dict[str, Any] = {}
        unheld: list[Any] = []
        for pattern, child in patterns.items():
            if leaf_error({"type": "string", "pattern": pattern}):
                unheld.append(child)
            elif (built := self._node(child, f"{pointer}/patternProperties/{escape(pattern)}")) is not False:
                held[pattern] = built
        return held, unheld

    def _array(self, option: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
        prefix: list[Any] = []
        items = option.get("items", True)
        if isinstance(items, list):  # before draft 2020-12
            listed, items = items, option.get("additionalItems", True)
        else:
            listed = option.get("prefixItems", [])
        minimum, maximum = option.get("minItems", 0), option.get("maxItems")
        for index, child in enumerate(listed):
            built = self._node(child, f"{pointer}/prefixItems/{index}")
            if built is False:
                maximum, items = min(index, maximum if maximum is not None else index), False
                break
            prefix.append(built)
        rest = self._node(items, f"{pointer}/items")
        if rest is False:
            maximum = min(len(prefix), maximum if maximum is not None else len(prefix))
        if maximum is not None and minimum > maximum:
            return None
        node: dict[str, Any] = {"type": "array", "items": rest}
        if prefix:
            node["prefixItems"] = prefix
        if minimum:
            node["minItems"] = int(minimum)
        if maximum is not None:
            node["maxItems"] = int(maximum)
        return node


def _has_null(part: Mapping[str, Any]) -> bool:
    if "enum" in part:
        return None in part["enum"]
    return part == {} or (isinstance(part.get("type"), list) and "null" in part["type"])


def _is_of(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value % 1 == 0))
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "object": dict, "array": list}[kind])
