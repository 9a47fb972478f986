"""What the short documents share: small pages without a letterhead, text of 10 points or more, plain notations."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.resources import files
from random import Random
from typing import Any

from forklift.evaluate.documents.notation import Notation
from forklift.evaluate.documents.sheet import Sheet
from forklift.evaluate.documents.style import COURIER, GREY, HELVETICA, TIMES, Style, make_style

INVOICE_WIDTH = 432.0  # points: 576 pixels at 96 dots per inch
RECEIPT_WIDTH = 216.0


@dataclass(frozen=True)
class Margins:
    """A page without a letterhead; only the page's number, on documents of several pages."""

    style: Style
    title: str = ""
    first_top: float = 26.0
    later_top: float = 30.0

    @property
    def bottom(self) -> float:
        return self.style.paper[1] - 34.0

    def draw(self, sheet: Sheet, page: int, total: int) -> None:
        if total > 1:
            sheet.page = page
            x, y = sheet.width - self.style.margin, sheet.height - 18
            sheet.text(x, y, f"Page {page} of {total}", self.style.body[0], 10, GREY, "right")


@dataclass(frozen=True)
class Item:
    description: str
    quantity: int
    price: int  # cents

    @property
    def amount(self) -> int:
        return self.quantity * self.price


def bundled_schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(
        files("forklift").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    )
    return schema


def plain_notation(random: Random) -> Notation:
    currency = random.choice(("EUR", "USD", "GBP", "CHF"))
    thousands = "'" if currency == "CHF" else random.choice((",", ",", ""))
    return Notation(
        currency, thousands, ".", "minus", random.choice(("iso", "short", "long", "dots", "american", "dashes"))
    )


def page_style(random: Random, width: float, height: float, size: float, *, receipt: bool = False) -> Style:
    fonts = (COURIER, COURIER, HELVETICA) if receipt else (HELVETICA, HELVETICA, TIMES)
    style = make_style(random, fonts=fonts)
    return replace(
        style,
        paper=(width, height),
        margin=12.0 if receipt else 26.0,
        heading=style.body if receipt else style.heading,
        size=size,
        letterhead="split",
        table="minimal" if receipt else style.table,
        justified=False,
    )


def draw_items(random: Random, number: int, words: list[str], highest: float) -> list[Item]:
    return [
        Item(description, random.choice((1, 1, 2, 3, 4, 5, 10)), int(10 ** random.uniform(2.2, highest)))
        for description in random.sample(words, number)
    ]


def line_items(items: list[Item], *, counted: bool = True) -> list[dict[str, Any]]:
    return [
        {
            "description": item.description,
            "quantity": item.quantity if counted else None,
            "unit_price": json_amount(item.price) if counted else None,
            "amount": json_amount(item.amount),
        }
        for item in items
    ]


def json_amount(cents: int) -> int | float:
    return cents // 100 if cents % 100 == 0 else cents / 100
