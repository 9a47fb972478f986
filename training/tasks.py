"""What is asked of a document: a JSON Schema as a user would write it, and the true answer to it."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from training.leaf import Document, Leaf

CROPS = frozenset({"key_values", "table", "receipt_lines"})
_FOLDER = Path(__file__).parent.parent / "src" / "forklift" / "schemas"
NOT_THERE = Leaf(None, "null", (None,) * 5)


def bundled_schema(name: str) -> dict[str, Any]:
    """The schema that the package ships under this name ("statement" is the recipe's own); the caller owns the copy."""
    return copy.deepcopy(_SCHEMAS[name])


_SCHEMAS: dict[str, dict[str, Any]] = {
    name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    for name, folder in (("invoice", _FOLDER), ("receipt", _FOLDER), ("statement", Path(__file__).parent / "wide"))
}


@dataclass
class Task:
    """`answer` nests dicts and lists of Leaf: exactly the schema's properties, in the schema's order."""

    schema: dict[str, Any]
    answer: dict[str, Any]


def plain_task(document: Document) -> Task:
    """The bundled schema as it is; of a crop, the part of it that the crop shows."""
    schema = bundled_schema(document.schema)
    fields = [field for field in schema["properties"] if document.kind not in CROPS or field in document.truth]
    answer = _answer(document, fields, None)
    for field, true in answer.items():
        if isinstance(true, list):  # wide documents know more of a line than the schema asks for
            columns = schema["properties"][field]["items"]["properties"]
            answer[field] = [{column: item[column] for column in columns} for item in true]
    return Task(_narrowed(schema, fields), answer)


def make_task(random: Random, document: Document, *, difficulty: float = 1.0, vary: bool = True) -> Task:
    """Draw a task: some properties, mostly in the bundled order, with the bundled descriptions or none.

    difficulty from 0 to 1 is the share of the properties that may be asked for at once; at 1 the plain task
    comes up too, without `vary` nothing else does. A crop is asked for what it shows, now and then for one
    thing more. Documents of the profile `wide` are asked by schemas of `training.wide.schemas`.
    """
    if document.profile == "wide" and vary:
        from training.wide.schemas import draw_task

        return draw_task(random, document, difficulty=difficulty)
    if not vary or (difficulty >= 1 and random.random() < 0.35):
        return plain_task(document)
    schema = bundled_schema(document.schema)
    crop = document.kind in CROPS
    available = [field for field in schema["properties"] if not crop or field in document.truth]
    fields = _pick(random, available, difficulty, everything=0.5 if crop else 0.15)
    if not crop and random.random() < 0.08:
        fields = ["line_items"]
    missing = [field for field in schema["properties"] if field not in document.truth and field != "line_items"]
    if crop and missing and random.random() < 0.15:
        fields.append(random.choice(missing))
        fields.sort(key=list(schema["properties"]).index)
    if random.random() < 0.3:
        random.shuffle(fields)
    columns = None
    if "line_items" in fields and random.random() < 0.3:
        columns = _pick(random, list(_item_schema(schema)["properties"]), difficulty, everything=0.1)
        if random.random() < 0.3:
            random.shuffle(columns)
    schema = _narrowed(schema, fields, columns)
    if random.random() < 0.25:
        _drop_descriptions(schema)
    return Task(schema, _answer(document, fields, columns))


def answer_json(tree: Any) -> Any:
    """The plain JSON value of a tree of leaves."""
    if isinstance(tree, Leaf):
        return tree.value
    if isinstance(tree, list):
        return [answer_json(element) for element in tree]
    return {name: answer_json(element) for name, element in tree.items()}


def _pick(random: Random, names: list[str], difficulty: float, *, everything: float) -> list[str]:
    """Some of the names, in their order; as many as `difficulty` allows with probability `everything`."""
    most = max(1, round(min(difficulty, 1.0) * len(names)))
    number = most if random.random() < everything else random.randint(1, most)
    chosen = set(random.sample(names, number))
    return [name for name in names if name in chosen]


def _item_schema(schema: dict[str, Any]) -> dict[str, Any]:
    items: dict[str, Any] = schema["properties"]["line_items"]["items"]
    return items


def _narrowed(schema: dict[str, Any], fields: list[str], columns: list[str] | None = None) -> dict[str, Any]:
    """Only these properties, in this order, everywhere where the schema lists its properties."""
    if columns is not None:
        _keep(_item_schema(schema), columns)
    _keep(schema, fields)
    return schema


def _keep(schema: dict[str, Any], names: list[str]) -> None:
    schema["properties"] = {name: schema["properties"][name] for name in names}
    if "required" in schema:
        schema["required"] = [name for name in names if name in schema["required"]]


def _drop_descriptions(schema: dict[str, Any]) -> None:
    schema.pop("description", None)
    for child in schema.get("properties", {}).values():
        _drop_descriptions(child)
    if isinstance(schema.get("items"), dict):
        _drop_descriptions(schema["items"])


def _answer(document: Document, fields: list[str], columns: list[str] | None) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for field in fields:
        true = document.truth.get(field, NOT_THERE)
        if isinstance(true, list) and columns is not None:
            true = [{column: item[column] for column in columns} for item in true]
        answer[field] = true
    return answer
