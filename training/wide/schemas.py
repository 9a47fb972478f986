"""Schemas as users write them: renamed, reordered, partial and nested, with and without descriptions, of many types.

Two rules say which spelling is the true one. A date is asked for as ISO by `format: date`, or by a description that
says so; otherwise it is asked for as it is printed. A number is asked for by its type: as "string" it is what the page
shows, without the currency.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from training.leaf import Document, Leaf
from training.tasks import NOT_THERE, Task, bundled_schema, plain_task
from training.wide.families import CROPS
from training.wide.fields import CHOICES, GROUPS, ITEMS, LISTS, SCALARS, Field

KINDS = ("plain", "reordered", "partial", "renamed", "varied")
_ISO = ("as YYYY-MM-DD", "in ISO form", "(YYYY-MM-DD)", "ISO date", "written year-month-day")
_PRINTED = ("as printed", "as written", "exactly as on the document", "as shown", "verbatim")


@dataclass
class _Style:
    """How one schema is written."""

    names: str  # "snake", "camel", "title" or "lower"
    renamed: float
    described: float
    nullable: str  # "list", "plain" or "any_of"
    titles: bool
    required: bool
    closed: bool
    date: str  # "format", "described", "printed" or "mixed"
    strings: float  # share of the numbers that are asked for as strings

    def name(self, random: Random, field: Field) -> str:
        name = random.choice(field.names) if random.random() < self.renamed else field.names[0]
        return styled(name, self.names)


def styled(name: str, style: str) -> str:
    words = name.split("_")
    if style == "camel":
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if style == "title":
        return " ".join(
            word.upper() if word in ("iban", "bic", "vat", "id", "sku") else word.capitalize() for word in words
        )
    if style == "lower":
        return " ".join(words)
    return name


def _draw_style(random: Random) -> _Style:
    return _Style(
        names=random.choices(("snake", "camel", "title", "lower"), (6, 2.2, 1, 0.5))[0],
        renamed=random.choice((0.0, 0.5, 0.8, 1.0)),
        described=random.choice((0.0, 0.0, 0.4, 1.0, 1.0)),
        nullable=random.choices(("list", "plain", "any_of"), (4, 5, 0.7))[0],
        titles=random.random() < 0.06,
        required=random.random() < 0.25,
        closed=random.random() < 0.12,
        date=random.choice(("format", "format", "described", "printed", "mixed")),
        strings=random.choice((0.0, 0.0, 0.0, 0.2, 1.0)),
    )


def draw_task(random: Random, document: Document, *, difficulty: float = 1.0) -> Task:
    """A task for training: mostly varied schemas, now and then the bundled one or a part of it."""
    kind = random.choices(KINDS, (0.18 if difficulty >= 1 else 0, 0.08, 0.14, 0.12, 0.48))[0]
    return variant(random, document, kind, difficulty=difficulty)


def variant(random: Random, document: Document, kind: str, *, difficulty: float = 1.0) -> Task:
    """A task of one of KINDS. difficulty 0-1 bounds the share of the properties asked for at once."""
    if kind == "plain":
        return plain_task(document)
    if kind == "varied":
        return _varied(random, document, difficulty)
    plain = plain_task(document)
    schema, names = plain.schema, list(plain.schema["properties"])
    if kind == "partial" or difficulty < 1:
        names = _pick(random, names, difficulty)
    elif kind == "reordered":
        random.shuffle(names)
    properties, answer = {}, {}
    for name in names:
        asked, true = schema["properties"][name], plain.answer[name]
        new = _renamed(random, document.schema, name) if kind == "renamed" else name
        if new in properties:
            new = name
        if isinstance(true, list):
            asked, true = _columns(random, asked, true, name, kind)
        properties[new], answer[new] = asked, true
    changed = {**schema, "properties": properties}
    if "required" in changed:
        changed["required"] = list(properties)
    return Task(changed, answer)


def _renamed(random: Random, schema: str, name: str) -> str:
    fields = {**SCALARS[schema], **LISTS}
    return random.choice(fields[name].names[1:])


def _columns(
    random: Random, asked: dict[str, Any], true: list[Any], name: str, kind: str
) -> tuple[dict[str, Any], list[Any]]:
    """The same change for the properties of a list's elements."""
    asked = copy.deepcopy(asked)
    columns = list(asked["items"]["properties"])
    if kind == "partial":
        columns = _pick(random, columns, 1.0)
    elif kind == "reordered":
        random.shuffle(columns)
    new = {column: column for column in columns}
    if kind == "renamed":
        for column in columns:
            other = random.choice(ITEMS[name][column].names[1:])
            if other not in new.values():
                new[column] = other
    asked["items"]["properties"] = {new[column]: asked["items"]["properties"][column] for column in columns}
    return asked, [{new[column]: row[column] for column in columns} for row in true]


def _pick(random: Random, names: list[str], difficulty: float, *, everything: float = 0.1) -> list[str]:
    most = max(1, round(min(difficulty, 1.0) * len(names)))
    number = most if random.random() < everything else random.randint(1, most)
    chosen = set(random.sample(names, number))
    return [name for name in names if name in chosen]


def _varied(random: Random, document: Document, difficulty: float) -> Task:
    style = _draw_style(random)
    scalars = SCALARS[document.schema]
    known = [*scalars, *LISTS]
    crop = document.kind in CROPS
    available = [name for name in known if name in document.truth]
    bundled = set(bundled_schema(document.schema)["properties"])
    # What most users ask for comes up more often than the rest.
    weights = [8 if name in ("line_items", "transactions") else 3 if name in bundled else 1 for name in available]
    most = max(1, round(min(difficulty, 1.0) * min(len(available), 14)))
    number = most if random.random() < (0.4 if crop else 0.1) else random.randint(1, most)
    fields: list[str] = []
    while len(fields) < min(number, len(available)):
        (name,) = random.choices(available, weights)
        if name not in fields:
            fields.append(name)
    if crop and random.random() < 0.2:
        fields.append(random.choice([name for name in scalars if name not in fields] or fields[:1]))
    fields = list(dict.fromkeys(fields))
    if random.random() < 0.6:
        fields.sort(key=known.index)
    grouped = _groups(random, fields) if not crop and random.random() < 0.3 else {}

    properties: dict[str, Any] = {}
    answer: dict[str, Any] = {}
    for name in fields:
        group = grouped.get(name)
        if group is not None:
            outer, inner = group
            outer = styled(outer, style.names)
            if outer not in properties:
                properties[outer] = {"type": "object", "properties": {}}
                answer[outer] = {}
            if not isinstance(answer[outer], dict):
                continue
            target, into, key = properties[outer]["properties"], answer[outer], styled(inner, style.names)
        else:
            field = LISTS.get(name) or scalars[name]
            target, into, key = properties, answer, style.name(random, field)
            if key in properties:
                key = styled(name, style.names)
            if key in properties:
                continue
        true = document.truth.get(name, NOT_THERE)
        if name in LISTS:
            target[key], into[key] = _list(random, style, name, true if isinstance(true, list) else [])
        else:
            target[key], (into[key],) = _scalar(random, style, name, scalars[name], [true], key)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if random.random() < 0.15:
        schema = {"title": document.schema.capitalize(), **schema}
    _finish(random, style, schema)
    return Task(schema, answer)


def _groups(random: Random, fields: list[str]) -> dict[str, tuple[str, str]]:
    """field -> (its group's name, its name inside), for some groups that hold two of the fields or more."""
    found = {}
    for names, members in GROUPS.values():
        inside = [field for field in fields if field in members]
        if len(inside) > 1 and random.random() < 0.7:
            outer = random.choice(names)
            found |= {field: (outer, members[field]) for field in inside}
    return found


def _finish(random: Random, style: _Style, schema: dict[str, Any]) -> None:
    """What stands after an object's properties: required names, and whether it is closed."""
    for child in schema["properties"].values():
        if child.get("type") == "object":
            _finish(random, style, child)
        elif isinstance(child.get("items"), dict) and child["items"].get("type") == "object":
            _finish(random, style, child["items"])
    names = list(schema["properties"])
    if style.required:
        share = random.choice((0.3, 1.0, 1.0))
        schema["required"] = [name for name in names if random.random() < share]
    if style.closed:
        schema["additionalProperties"] = False


def _nullable(style: _Style, kind: str) -> dict[str, Any]:
    if style.nullable == "list":
        return {"type": [kind, "null"]}
    if style.nullable == "any_of":
        return {"anyOf": [{"type": kind}, {"type": "null"}]}
    return {"type": kind}


def _list(random: Random, style: _Style, name: str, rows: list[dict[str, Leaf]]) -> tuple[dict[str, Any], list[Any]]:
    """An array of objects with some of the columns, or of one column's values alone."""
    fields = ITEMS[name]
    asked: dict[str, Any] = {"type": "array"}
    if random.random() < style.described:
        asked["description"] = random.choice(LISTS[name].descriptions)
    columns = [column for column in fields if not rows or rows[0][column].value is not None or random.random() < 0.15]
    usual = [
        column for column in columns if column in ("description", "quantity", "unit_price", "amount", "date", "rate")
    ]
    if random.random() < 0.45 and usual:
        columns = usual
    elif random.random() < 0.7:
        columns = _pick(random, columns, 1.0, everything=0.3)
    if not columns:
        columns = [next(iter(fields))]
    if random.random() < 0.35:
        random.shuffle(columns)
    if random.random() < 0.08 and name != "taxes":
        column = random.choice(columns)
        values, leaves = _scalar(random, style, column, fields[column], [row[column] for row in rows], column)
        if all(leaf.value is not None for leaf in leaves):
            values.pop("description", None)
            asked["items"] = values
            asked["description"] = f"The {fields[column].descriptions[-1].lower()} of each line"
            return asked, leaves
    properties: dict[str, Any] = {}
    made: list[dict[str, Leaf]] = [{} for _ in rows]
    for column in columns:
        key = style.name(random, fields[column])
        if key in properties:
            key = styled(column, style.names)
        if key in properties:
            continue
        properties[key], leaves = _scalar(random, style, column, fields[column], [row[column] for row in rows], key)
        for row, leaf in zip(made, leaves, strict=True):
            row[key] = leaf
    asked["items"] = {"type": "object", "properties": properties}
    return asked, made


def _scalar(
    random: Random, style: _Style, name: str, field: Field, leaves: list[Leaf], key: str
) -> tuple[dict[str, Any], list[Leaf]]:
    """The subschema of one field, and its leaves in the spelling that this asks for."""
    words = random.choice(field.descriptions) if random.random() < style.described else ""
    change: Callable[[Leaf], Leaf] = _as_it_is
    extra: dict[str, Any] = {}
    kind = "string"
    if field.kind == "date":
        form = random.choice(("format", "described", "printed")) if style.date == "mixed" else style.date
        if form == "format":
            extra["format"] = "date"
        elif form == "described":
            words = f"{words or random.choice(field.descriptions)} {random.choice(_ISO)}"
        else:
            change = _verbatim
            if random.random() < 0.5:
                words = f"{words or random.choice(field.descriptions)} {random.choice(_PRINTED)}"
    elif field.kind in ("money", "count", "rate"):
        whole = all(leaf.value is None or isinstance(leaf.value, int) for leaf in leaves)
        if random.random() < style.strings:
            change = _verbatim
            if random.random() < 0.5:
                words = f"{words or random.choice(field.descriptions)} {random.choice(_PRINTED)}"
        elif field.kind == "count" and whole and random.random() < 0.5:
            kind = "integer"
        else:
            kind = "number"
    elif field.kind == "choice":
        choices = _choices(random, name, leaves)
        if choices is not None:
            asked, table = choices
            nullable = style.nullable != "plain"
            extra["enum"] = [*asked, None] if nullable else asked
            leaves = [_chosen(leaf, table) for leaf in leaves]
        elif name != "currency":
            change = _verbatim
    if style.nullable == "any_of" and not extra:
        schema = _nullable(style, kind)
    else:
        schema = {"type": [kind, "null"] if style.nullable != "plain" else kind, **extra}
    if words:
        schema["description"] = words
    if style.titles:
        schema["title"] = styled(key, "title") if style.names == "snake" else key
    return schema, [change(leaf) for leaf in leaves]


def _choices(random: Random, name: str, leaves: list[Leaf]) -> tuple[list[str], dict[str, str]] | None:
    """The values to choose from and what each means, if this field becomes a choice."""
    if random.random() < (0.55 if name == "currency" else 0.25):
        return None
    needed = {str(leaf.value if name == "currency" else leaf.category) for leaf in leaves if leaf.value is not None}
    options = [
        option for option in CHOICES[name] if option in needed or random.random() < 0.6 or name == "payment_method"
    ]
    options += [option for option in needed if option not in options]
    if len(options) < 2:
        return None
    if random.random() < 0.3:
        random.shuffle(options)
    case = "as_is" if name == "currency" else random.choice(("as_is", "as_is", "upper", "capital"))
    spell = {"as_is": str, "upper": str.upper, "capital": str.capitalize}[case]
    return [spell(option) for option in options], {option: spell(option) for option in options}


def _chosen(leaf: Leaf, table: dict[str, str]) -> Leaf:
    """The choice that a printed value means; every letter of it is read from the first glyph."""
    if leaf.value is None:
        return leaf
    if leaf.category is None:
        return leaf  # a currency, spelled as its code already
    text = table[leaf.category]
    first = next((place for place in leaf.places if place is not None), None)
    return Leaf(text, text, (*(first for _ in text), None))


def _as_it_is(leaf: Leaf) -> Leaf:
    return leaf


def _verbatim(leaf: Leaf) -> Leaf:
    return leaf if leaf.verbatim is None or leaf.value is None else leaf.verbatim
