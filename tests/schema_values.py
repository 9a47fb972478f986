"""Random values for a schema: mostly valid ones, and the same spoilt at one place."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

from forklift.json_schema import Document, types_of
from tests.schema_generator import LOOKING_AROUND, PATTERNS, WORDS

_OF_FORMAT = {
    "date": ("2024-02-29", "1999-12-31"),
    "date-time": ("2024-02-29T12:30:00Z", "1999-12-31T23:59:59.25+02:00"),
    "time": ("12:30:00Z", "00:00:00-05:30"),
    "duration": ("P1Y2M", "PT36H", "P4W"),
    "email": ("a@example.com", "first.last@example.org"),
    "hostname": ("example.com", "a-1"),
    "ipv4": ("127.0.0.1", "255.255.255.0"),
    "ipv6": ("::1", "2001:db8::ff00:42:8329"),
    "uri": ("https://example.com/a?b=1#c", "urn:isbn:0451450523"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
    "json-pointer": ("", "/a/b~1c"),
}
_STRINGS = (*WORDS, "plain text", "größer 5 €", "a\nb", "x" * 30, "2024-13-45", "12:99:00Z", "a@b@c", "256.1.1.1")
_NUMBERS = (0, 1, -1, 2.5, 3, 3.25, 9, 12, 99, 100.01, -1.5, 0.25, 5, 1000, 19.99, 123456.789, -0.01, 15)


class ValueMaker:
    """Values of one schema document.

    full: as `extract` decodes: every property is there, and scalars may be null; else as the schema itself says.
    """

    def __init__(self, schema: Any, rng: random.Random, *, full: bool) -> None:
        self._document = Document(schema)
        self._schema = schema
        self._rng = rng
        self._full = full

    def value(self) -> Any:
        """Valid but for keywords that only the final check knows, and for names of the generator's own making."""
        return self._value(self._schema, 6)

    def _value(self, node: Any, depth: int) -> Any:
        flat = self._document.flat(node)
        assert isinstance(flat, dict)
        options = [option for _, option in self._document.options(flat)]
        if depth <= 0:  # out of a recursion
            options = [one for one in options if "object" not in types_of(one)] or options
        option = self._rng.choice(options)
        if option.get("nullable") is True and self._rng.random() < 0.3:
            return None
        if "enum" in option or "const" in option:
            return self._rng.choice([*option.get("enum", [option.get("const")]), *([None] if self._full else [])])
        kinds = types_of(option)
        if depth <= 0 and "null" in kinds:
            return None
        kind = self._rng.choice(kinds) if kinds else "anything"
        if kind == "object":
            return self._object(option, depth)
        if kind == "array":
            return self._array(option, depth)
        if self._full and self._rng.random() < 0.15:
            return None
        scalars = {"string": self._string, "number": self._number, "integer": self._integer}
        if kind in scalars:
            return scalars[kind](option)
        if kind == "anything":
            return self._rng.choice([None, 1, "x", [], {}, {"k": [1, {"l": None}]}, [True, "y"]])
        return None if kind == "null" else self._rng.choice([True, False])

    def _object(self, option: dict[str, Any], depth: int) -> dict[str, Any]:
        required = option.get("required", [])
        made: dict[str, Any] = {}
        for name, child in option.get("properties", {}).items():
            if self._full or name in required or (depth > 0 and self._rng.random() < 0.6):
                leads_back = isinstance(child, dict) and "$ref" in child
                made[name] = None if self._full and depth <= 0 and leads_back else self._value(child, depth - 1)
        for pattern, child in option.get("patternProperties", {}).items():
            assert pattern == "^x_"
            made |= {f"x_{i}": self._value(child, depth - 1) for i in range(self._rng.randint(0, 2))}
        others = option.get("additionalProperties", not made and not option.get("properties"))
        if others is not False and not option.get("patternProperties") and self._rng.random() < 0.5:
            made["ünlisted"] = self._value(others, depth - 1)
        return made

    def _array(self, option: dict[str, Any], depth: int) -> list[Any]:
        prefix = option.get("prefixItems", [])
        items = option.get("items", True)
        low = option.get("minItems", 0)
        high = min(option.get("maxItems", low + 3), len(prefix) if items is False else 10)
        length = low if depth <= 0 else self._rng.randint(low, max(low, high))
        children = [*prefix, *[items] * max(0, length - len(prefix))][:length]
        return [self._value(child, depth - 1) for child in children]

    def _string(self, option: dict[str, Any]) -> str:
        if "pattern" in option:
            return self._rng.choice((PATTERNS | LOOKING_AROUND)[option["pattern"]])
        candidates = list(_OF_FORMAT.get(option.get("format", ""), _STRINGS))
        low, high = option.get("minLength", 0), option.get("maxLength", 100)
        return self._rng.choice([one for one in candidates if low <= len(one) <= high] or ["abc"])

    def _number(self, option: dict[str, Any]) -> Any:
        step = option.get("multipleOf")
        fitting = [
            number
            for number in _NUMBERS
            if option.get("minimum", number) <= number <= option.get("maximum", number)
            and number < option.get("exclusiveMaximum", number + 1)
            and (step is None or (round(number * 100) % round(step * 100) == 0 and number * 100 % 1 == 0))
        ]
        return self._rng.choice(fitting)

    def _integer(self, option: dict[str, Any]) -> int:
        fitting = [
            number
            for number in (*_NUMBERS, -3, 6, 12)
            if isinstance(number, int)
            and option.get("exclusiveMinimum", number - 1) < number <= option.get("maximum", number)
            and number % option.get("multipleOf", 1) == 0
            and number >= option.get("minimum", number)
        ]
        return self._rng.choice(fitting)


def spoilt(value: Any, rng: random.Random) -> Any:
    """A copy changed at one place: another kind, another text or number, a member lost or gained, items repeated."""
    changed = copy.deepcopy(value)
    places = list(_places([changed]))
    holder, key = rng.choice(places)
    old = holder[key]
    options: list[Any] = [None, "text", "", 7, -3.5, 1e6, True, [], {}, [old, old], {"k": old}]
    if isinstance(old, str):
        options += [old + "!", old[:-1], old.upper(), re.sub(r"\d", "9", old)] * 3
    elif isinstance(old, int | float) and not isinstance(old, bool):
        options += [old + 1, old - 1, old * 100, old + 0.001] * 3
    elif isinstance(old, list):
        options += [[*old, *old[-1:]], old[:-1], [*old, "more"]] * 4
    elif isinstance(old, dict) and old:
        lost = rng.choice(list(old))
        options += [{name: one for name, one in old.items() if name != lost}, {**old, "zusätzlich": 1}] * 6
    holder[key] = rng.choice(options)
    return places[0][0][0]


def _places(holder: Any) -> Any:
    """(container, key) of every value below; the first is the outermost."""
    keys = range(len(holder)) if isinstance(holder, list) else list(holder)
    for key in keys:
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from _places(holder[key])
