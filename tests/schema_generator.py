"""Random JSON Schemas: nested objects, arrays, enums, references, nullable parts, formats, names in any
script.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies

NAMES = [
    "vendor",
    "date",
    "total",
    "line_items",
    "amount",
    "currency",
    "IBAN",
    "tax-rate",
    "größe",
    "Straße",
    "naïve",
    "合計",
    "住所",
    "цена",
    "प्रकार",
    "سعر",
    "a",
    "b/c",
    "d~e",
    "😀",
    "with",
    "space",
    'quote"d',
    "back\\slash",
    "\xa0",
    "$ref",
]
WORDS = (
    "paid",
    "open",
    "überfällig",
    "未払い",
    "5 %",
    'say "hi"',
    "tab\there",
    "",
    "😀",
    "a/b",
    "-1",
    "null",
)
FORMATS = ("date", "date-time", "time", "email", "uuid", "ipv4", "uri")
PATTERNS = ("^[A-Z]{2}\\d{2}$", "^\\d+([.,]\\d{2})?$", "[äöü]+", "^(ja|nein)$", "^.{1,5}$")


def random_schema(rng: random.Random, *, depth: int = 3) -> dict[str, Any]:
    """An object schema for which some answer exists. depth: levels of nesting at most."""
    maker = _Maker(rng)
    schema = maker.object(depth)
    if maker.definitions:
        schema["$defs"] = maker.definitions
    return schema


def schemas() -> strategies.SearchStrategy[dict[str, Any]]:
    """The same for hypothesis, which shrinks the choices."""
    return strategies.randoms(use_true_random=False).map(random_schema)


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.definitions: dict[str, Any] = {}

    def node(self, depth: int) -> dict[str, Any]:
        kinds = ["string"] * 4 + [
            "number",
            "number",
            "integer",
            "boolean",
            "enum",
            "const",
            "format",
            "types",
        ]
        if depth > 0:
            kinds += [
                "object",
                "object",
                "array",
                "array",
                "array",
                "anyOf",
                "reference",
                "recursive",
                "allOf",
            ]
        schema: dict[str, Any] = getattr(self, self.rng.choice(kinds))(depth)
        if self.rng.random() < 0.2:
            schema = {**schema, "description": self.rng.choice(WORDS)}
        return schema

    def object(self, depth: int) -> dict[str, Any]:
        names = self.rng.sample(NAMES, self.rng.randint(1, 5))
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.node(depth - 1) for name in names},
        }
        if self.rng.random() < 0.6:
            schema["required"] = [name for name in names if self.rng.random() < 0.6]
        chance = self.rng.random()
        if chance < 0.3:
            schema["additionalProperties"] = False
        elif chance < 0.4:
            schema["additionalProperties"] = {"type": "integer"}
        return schema

    def array(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.node(depth - 1)}
        if self.rng.random() < 0.3:
            schema["minItems"] = self.rng.randint(0, 2)
        if self.rng.random() < 0.5:
            schema["maxItems"] = self.rng.randint(schema.get("minItems", 0), 4)
        return schema

    def anyOf(self, depth: int) -> dict[str, Any]:
        branches = [self.node(depth - 1) for _ in range(self.rng.randint(1, 2))]
        return {"anyOf": [*branches, {"type": "null"}]}

    def allOf(self, depth: int) -> dict[str, Any]:
        parts = [self.object(depth - 1), {"type": "object", "properties": {"extra": {"type": "string"}}}]
        for part in parts:
            part.pop("additionalProperties", None)  # a closed part would forbid the other's names
        return {"allOf": parts}

    def reference(self, depth: int) -> dict[str, Any]:
        if not self.definitions or self.rng.random() < 0.5:
            name = f"Teil{len(self.definitions)}"
            self.definitions[name] = {}
            self.definitions[name] = self.node(depth - 1)
        return {"$ref": f"#/$defs/{self.rng.choice(self._finished())}"}

    def recursive(self, depth: int) -> dict[str, Any]:
        name = f"Baum{len(self.definitions)}"
        branches = {"type": "array", "items": {"$ref": f"#/$defs/{name}"}, "maxItems": 2}
        child = self.rng.choice([branches, {"$ref": f"#/$defs/{name}"}])
        self.definitions[name] = {"type": "object", "properties": {"name": self.string(0), "child": child}}
        return {"$ref": f"#/$defs/{name}"}

    def string(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": ["string", "null"] if self.rng.random() < 0.3 else "string"}
        chance = self.rng.random()
        if chance < 0.2:
            schema["pattern"] = self.rng.choice(PATTERNS)
        elif chance < 0.4:
            schema["minLength"] = self.rng.randint(0, 3)
            schema["maxLength"] = self.rng.randint(3, 8)
        return schema

    def format(self, depth: int) -> dict[str, Any]:
        return {"type": "string", "format": self.rng.choice(FORMATS)}

    def number(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "number"}
        if self.rng.random() < 0.3:
            schema["minimum"] = self.rng.choice([0, -1.5, 3])
        if self.rng.random() < 0.3:
            schema["maximum"] = self.rng.choice([3.25, 1000])
        if self.rng.random() < 0.1:
            schema["nullable"] = True
        return schema

    def integer(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "integer"}
        if self.rng.random() < 0.3:
            schema["exclusiveMinimum"] = self.rng.choice([0, -5])
        return schema

    def boolean(self, depth: int) -> dict[str, Any]:
        return {"type": "boolean"}

    def enum(self, depth: int) -> dict[str, Any]:
        values: list[Any] = list(self.rng.sample(WORDS, self.rng.randint(1, 4)))
        if self.rng.random() < 0.3:
            return {"enum": [*values, 7, None, {"k": [1, "ö"]}]}
        return {"type": "string", "enum": values}

    def const(self, depth: int) -> dict[str, Any]:
        return {"const": self.rng.choice([*WORDS, 1, 2.5, True, None])}

    def types(self, depth: int) -> dict[str, Any]:
        return {"type": self.rng.sample(["string", "integer", "boolean", "null"], 2)}

    def _finished(self) -> list[str]:
        return [name for name, schema in self.definitions.items() if schema] or [self._simple()]

    def _simple(self) -> str:
        self.definitions["Wort"] = {"type": "string"}
        return "Wort"
