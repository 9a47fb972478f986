"""The scalars of an answer as llguidance reads them: bodies of terminals, and its own JSON compiler for the rest.

Strings with a pattern or most formats and numbers with bounds go through that compiler; everything else is written
here, so that what is forced is exact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from forklift.json_schema import LARGEST_INTEGER, LARGEST_NUMBER
from forklift.schema_formats import PATTERNS

# Longer strings and arrays are beyond any answer, and beyond what llguidance counts to.
LARGEST_COUNT = 10**9

# Printable escapes only: no control character but line feed and tab, and no half of a surrogate pair.
_UNICODE_ESCAPE = (
    r"\\u(00[2-689a-fA-F][0-9a-fA-F]|007[0-9a-eA-E]|0[1-9a-fA-F][0-9a-fA-F]{2}|[1-9a-cefA-CEF][0-9a-fA-F]{3}"
    r"|[dD][0-7][0-9a-fA-F]{2}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_CHARACTER = rf'([^"\\\x00-\x1f\x7f]|\\["\\\/nt]|{_UNICODE_ESCAPE})'
# Of names that the schema does not list: one spelling each, so that a listed name cannot come back escaped.
NAME_CHARACTER = r'([^"\\\x00-\x1f\x7f]|\\["\\nt])'
_INTEGER = "(0|[1-9][0-9]{0,14}|[1-8][0-9]{15})"
_NUMBER = r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,10})?([eE][+-]?[0-9]{1,2})?"
_ESCAPES = {"x-guidance": {"json_allowed_escapes": 'nt\\"', "whitespace_flexible": False}}


def leaf_error(leaf: Mapping[str, Any]) -> str:
    """Why the grammar cannot hold a leaf of a decoded schema to all of its keywords; "" when it can."""
    return _leaf_error(json.dumps(leaf, ensure_ascii=False))


@lru_cache(maxsize=4096)
def _leaf_error(leaf: str) -> str:
    import llguidance

    try:
        body = leaf_body(json.loads(leaf))
        if not body.startswith("%json"):
            return ""
        return llguidance.LLMatcher.validate_grammar(f"start: {body}").strip()
    except ValueError as error:
        return str(error)


def leaf_body(node: Mapping[str, Any]) -> str:
    """The body of a terminal, or "%json ..." for what llguidance's own compiler writes better."""
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    kind = kinds[0]
    null = ' | "null"' if "null" in kinds[1:] else ""
    rest = {key: value for key, value in node.items() if key != "type"}
    if kind == "null":
        return '"null"'
    if kind == "boolean":
        return '"true" | "false"' + null
    if kind == "string":
        return _string_body(rest, null)
    body = _INTEGER if kind == "integer" else _NUMBER
    if not rest:
        return f"/-?{body}/{null}"
    if rest == {"minimum": 0}:
        return f"/{body}/{null}"
    return json_leaf({"type": kind, **_bounded(kind, rest)}, null)


def _string_body(keywords: dict[str, Any], null: str) -> str:
    ours = PATTERNS.get(keywords.get("format", ""))
    if ours is not None and len(keywords) == 1:
        return f'/"{ours}"/{null}'
    low, high = int(keywords.pop("minLength", 0)), keywords.pop("maxLength", None)
    high = None if high is None or high > LARGEST_COUNT else int(high)
    if not keywords:
        count = "*" if not low and high is None else f"{{{low},{'' if high is None else high}}}"
        return f'/"{_CHARACTER}{count}"/{null}'
    if ours is not None and "pattern" not in keywords:
        keywords = {"pattern": f"^({ours})$"}
    length = {"minLength": low} if low else {}
    return json_leaf({"type": "string", **keywords, **length, **({} if high is None else {"maxLength": high})}, null)


def json_leaf(schema: Mapping[str, Any], null: str) -> str:
    """llguidance's JSON compiler for `schema`, or null where `null` is not empty."""
    whole: dict[str, Any] = {"anyOf": [schema, {"type": "null"}]} if null else dict(schema)
    return "%json " + json.dumps({**whole, **_ESCAPES}, ensure_ascii=False)


def _bounded(kind: str, bounds: Mapping[str, Any]) -> dict[str, Any]:
    """The user's bounds, with the missing side and the decimals limited to what a double holds."""
    largest = LARGEST_INTEGER if kind == "integer" else LARGEST_NUMBER
    result = {
        key: value if key == "multipleOf" else min(max(value, -largest), largest) for key, value in bounds.items()
    }
    if "minimum" not in result and "exclusiveMinimum" not in result:
        result["minimum"] = -largest
    if "maximum" not in result and "exclusiveMaximum" not in result:
        result["maximum"] = largest
    if kind == "number" and "multipleOf" not in result:
        result["multipleOf"] = 1e-10
    return result
