"""How a document prints amounts, whole numbers and dates."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

Negative = Literal["minus", "parentheses", "trailing", "credit"]
MONTHS = "January February March April May June July August September October November December".split()
SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "CHF": "CHF", "CAD": "CAD", "AUD": "AUD", "SEK": "SEK"}

# Currency -> (thousands, decimal) signs and date forms that documents in it use.
_POINT, _COMMA, _APOSTROPHE = (",", "."), (".", ","), ("'", ".")
_HABITS: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "USD": ((_POINT,), ("american", "american", "slashes", "iso")),
    "CAD": ((_POINT,), ("american", "short", "iso")),
    "GBP": ((_POINT,), ("short", "long", "dashes")),
    "AUD": ((_POINT,), ("short", "long", "dashes")),
    "EUR": ((_POINT, _COMMA), ("dots", "short", "long", "iso")),
    "CHF": ((_APOSTROPHE,), ("dots", "long")),
    "SEK": ((_POINT,), ("iso",)),
}


@dataclass(frozen=True)
class Notation:
    """Signs of one document. currency: ISO code. date_form: "iso", "dots", "short", "long", "dashes", "american", or
    "slashes" (month first; the document says so)."""

    currency: str
    thousands: str
    decimal: str
    negative: Negative
    date_form: str

    def amount(self, cents: int) -> str:
        """Two decimals, without a currency."""
        text = f"{abs(cents) // 100:,}".replace(",", self.thousands) + f"{self.decimal}{abs(cents) % 100:02d}"
        return self._signed(text, cents)

    def whole(self, number: int) -> str:
        return self._signed(f"{abs(number):,}".replace(",", self.thousands), number)

    def number(self, value: float, decimals: int) -> str:
        text = f"{abs(value):,.{decimals}f}"
        text = text.replace(",", "\0").replace(".", self.decimal).replace("\0", self.thousands)
        return self._signed(text, value)

    def money(self, cents: int) -> str:
        """An amount with its currency sign or code before it."""
        symbol = SYMBOLS[self.currency]
        gap = " " if symbol.isalpha() or self.decimal == "," else ""
        if cents >= 0:
            return f"{symbol}{gap}{self.amount(cents)}"
        plain = replace(self, negative="minus").amount(-cents)
        return self._signed(f"{symbol}{gap}{plain}", cents)

    def percent(self, value: float, decimals: int = 1) -> str:
        return f"{self.number(value, decimals)}%" if self.decimal == "." else f"{self.number(value, decimals)} %"

    def date(self, day: datetime.date) -> str:
        return write_date(day, self.date_form)

    @property
    def remark(self) -> str:
        """What the document has to say so that its dates are not ambiguous."""
        return "Dates: MM/DD/YYYY" if self.date_form == "slashes" else ""

    def _signed(self, text: str, value: float) -> str:
        if value >= 0:
            return text
        return {"minus": f"-{text}", "parentheses": f"({text})", "trailing": f"{text}-", "credit": f"{text} CR"}[
            self.negative
        ]


def write_date(day: datetime.date, form: str) -> str:
    month = MONTHS[day.month - 1]
    return {
        "iso": day.isoformat(),
        "dots": f"{day.day:02d}.{day.month:02d}.{day.year}",
        "slashes": f"{day.month:02d}/{day.day:02d}/{day.year}",
        "short": f"{day.day} {month[:3]} {day.year}",
        "long": f"{day.day} {month} {day.year}",
        "dashes": f"{day.day:02d}-{month[:3]}-{day.year}",
        "american": f"{month} {day.day}, {day.year}",
    }[form]


def make_notation(random: Random, *, negatives: tuple[Negative, ...] = ("minus", "parentheses")) -> Notation:
    currency = random.choice(("EUR", "EUR", "USD", "USD", "GBP", "CHF", "CAD", "AUD", "SEK"))
    signs, forms = _HABITS[currency]
    thousands, decimal = random.choice(signs)
    return Notation(currency, thousands, decimal, random.choice(negatives), random.choice(forms))


def any_day(random: Random, first_year: int = 2021, last_year: int = 2025) -> datetime.date:
    start = datetime.date(first_year, 1, 1)
    return start + datetime.timedelta(days=random.randrange((last_year - first_year + 1) * 365))


def days_after(day: datetime.date, days: int) -> datetime.date:
    return day + datetime.timedelta(days=days)


def month_end(day: datetime.date) -> datetime.date:
    following = (day.replace(day=28) + datetime.timedelta(days=4)).replace(day=1)
    return following - datetime.timedelta(days=1)
