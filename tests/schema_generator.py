"""Random JSON Schemas of every supported keyword: nested objects, tuples, enums, references, recursion, nullable
parts, formats, patterns, bounds, open objects, names in any script; on request those that decoding cannot enforce.
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
FORMATS = ("date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "not-known")
# Pattern -> strings in which it is found.
PATTERNS = {
    "^[A-Z]{2}\\d{2}$": ("AB12", "ZZ00"),
    "^\\d+([.,]\\d{2})?$": ("7", "12,50", "0.99"),
    "[äöü]+": ("ä", "x ö y", "grün"),
    "^(ja|nein)$": ("ja", "nein"),
    "^.{1,5}$": ("a", "é – ü", "12345"),
}
LOOKING_AROUND = {"^(?=.*[0-9]).+$": ("1", "a 5"), "^(?!INV).*$": ("RE-1", "")}  # no grammar holds these


def random_schema(rng: random.Random, *, depth: int = 3, checked: bool = False) -> dict[str, Any]:
    """An object schema for which some answer exists. depth: levels of nesting at most.

    checked: also keywords that decoding cannot enforce; some answers that it allows are then not valid.
    """
    maker = _Maker(rng, checked)
    schema = maker.object(depth)
    if maker.definitions:
        schema[rng.choice(["$defs", "$defs", "definitions"])] = maker.definitions
        if "definitions" in schema:
            schema = _elsewhere(schema)
    return schema


def _elsewhere(node: Any) -> Any:
    """The references to $defs made references to definitions."""
    if isinstance(node, list):
        return [_elsewhere(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value.replace("#/$defs/", "#/definitions/")
        if key == "$ref" and isinstance(value, str)
        else _elsewhere(value)
        for key, value in node.items()
    }


def schemas() -> strategies.SearchStrategy[dict[str, Any]]:
    """The same for hypothesis, which shrinks the choices."""
    return strategies.randoms(use_true_random=False).map(random_schema)


class _Maker:
    def __init__(self, rng: random.Random, checked: bool) -> None:
        self.rng = rng
        self.checked = checked
        self.definitions: dict[str, Any] = {}

    def node(self, depth: int) -> Any:
        kinds = ["string"] * 4 + [
            "number",
            "number",
            "integer",
            "boolean",
            "enum",
            "const",
            "format",
            "types",
            "untyped",
        ]
        if depth > 0:
            kinds += ["object", "object", "array", "array", "array", "tuple", "anyOf", "oneOf", "reference"]
            kinds += ["recursive", "allOf", "open", "anything"]
        schema = getattr(self, self.rng.choice(kinds))(depth)
        if self.rng.random() < 0.2 and isinstance(schema, dict):
            schema = {**schema, "description": self.rng.choice(WORDS)}
        return schema

    def sometimes(self, chance: float) -> bool:
        return self.checked and self.rng.random() < chance

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
        elif chance < 0.45:
            schema["additionalProperties"] = True
        if self.sometimes(0.3):
            schema |= self.rng.choice(
                [
                    {"dependentRequired": {names[0]: [names[-1]]}},
                    {"minProperties": 1},
                    {"maxProperties": 3},
                    {"propertyNames": {"maxLength": 12}},
                    {"if": {"required": [names[0]]}, "then": {"required": [names[-1]]}, "else": {"maxProperties": 2}},
                    {"dependentSchemas": {names[0]: {"minProperties": 2}}},
                    {"unevaluatedProperties": False},
                    {"not": {"required": [names[0]]}},
                ]
            )
        return schema

    def open(self, depth: int) -> dict[str, Any]:
        child = self.node(depth - 1)
        return self.rng.choice(
            [
                {"type": "object", "additionalProperties": child},
                {"type": "object", "patternProperties": {"^x_": child}, "additionalProperties": False},
                {"type": "object", "patternProperties": {"^x_": child}, "properties": {"a": {"type": "string"}}},
            ]
        )

    def array(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.node(depth - 1)}
        if self.rng.random() < 0.3:
            schema["minItems"] = self.rng.randint(0, 2)
        if self.rng.random() < 0.5:
            schema["maxItems"] = self.rng.randint(schema.get("minItems", 0), 4)
        if self.sometimes(0.4):
            schema |= self.rng.choice(
                [{"uniqueItems": True}, {"contains": {"type": "string"}}, {"contains": {}, "maxContains": 1}]
            )
        return schema

    def tuple(self, depth: int) -> dict[str, Any]:
        prefix = [self.node(depth - 1) for _ in range(self.rng.randint(1, 3))]
        schema: dict[str, Any] = {"type": "array", "prefixItems": prefix}
        if self.rng.random() < 0.7:
            schema["items"] = self.rng.choice([False, {"type": "boolean"}])
        if self.rng.random() < 0.5:
            schema["minItems"] = self.rng.randint(1, len(prefix))
        return schema

    def oneOf(self, depth: int) -> dict[str, Any]:
        apart = [
            self.string(0),
            {"type": "integer"},
            {"type": "boolean"},
            {"type": "array", "items": {"type": "string"}},
        ]
        if self.sometimes(0.5):
            return {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "number", "maximum": 10}]}
        return {"oneOf": self.rng.sample(apart, 2)}

    def anything(self, depth: int) -> Any:
        return self.rng.choice([True, {}, {"type": "array"}, {"type": "object"}])

    def untyped(self, depth: int) -> dict[str, Any]:
        return self.rng.choice([{"maxLength": 4}, {"minimum": 2}, {"format": "date"}, {"exclusiveMaximum": 9}])

    def anyOf(self, depth: int) -> dict[str, Any]:
        branches = [self.node(depth - 1) for _ in range(self.rng.randint(1, 2))]
        return {"anyOf": [*branches, {"type": "null"}]}

    def allOf(self, depth: int) -> dict[str, Any]:
        parts = [self.object(depth - 1), {"type": "object", "properties": {"extra": {"type": "string"}}}]
        for part in parts:
            part.pop("additionalProperties", None)  # a closed part would forbid the other's names
            part.pop("unevaluatedProperties", None)
        return {"allOf": parts}

    def reference(self, depth: int) -> dict[str, Any]:
        if not self.definitions or self.rng.random() < 0.5:
            name = f"Teil{len(self.definitions)}"
            self.definitions[name] = {}
            made = self.node(depth - 1)
            self.definitions[name] = made if isinstance(made, dict) and made else {"type": "string"}
        schema = {"$ref": f"#/$defs/{self.rng.choice(self._finished())}"}
        return {**schema, "nullable": True} if self.rng.random() < 0.1 else schema

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
            schema["pattern"] = self.rng.choice(list(PATTERNS))
        elif chance < 0.4:
            schema["minLength"] = self.rng.randint(0, 3)
            schema["maxLength"] = self.rng.choice([3, 5, 8, 10**6])
        elif self.sometimes(0.3):
            schema |= self.rng.choice(
                [
                    {"pattern": self.rng.choice(list(LOOKING_AROUND))},
                    {"not": {"enum": ["paid", ""]}},
                    {"format": "json-pointer"},
                ]
            )
        return schema

    def format(self, depth: int) -> dict[str, Any]:
        schema = {"type": "string", "format": self.rng.choice(FORMATS)}
        return {**schema, "maxLength": 40} if self.rng.random() < 0.2 else schema

    def number(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "number"}
        if self.rng.random() < 0.3:
            schema["minimum"] = self.rng.choice([0, -1.5, 3])
        if self.rng.random() < 0.3:
            schema[self.rng.choice(["maximum", "exclusiveMaximum"])] = self.rng.choice([3.25, 1000, 1e18])
        if self.rng.random() < 0.2:
            schema["multipleOf"] = self.rng.choice([0.01, 0.25, 5])
        if self.rng.random() < 0.1:
            schema["nullable"] = True
        return schema

    def integer(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "integer"}
        if self.rng.random() < 0.3:
            schema["exclusiveMinimum"] = self.rng.choice([0, -5])
        if self.rng.random() < 0.2:
            schema["maximum"] = self.rng.choice([12, 99.5])
        if self.rng.random() < 0.1:
            schema["multipleOf"] = 3
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
