"""Seeded values of made-up documents: the true value, its spelling in the answer and its look on the page."""

from __future__ import annotations

import datetime
import string
from dataclasses import dataclass
from random import Random

from training import words

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£"}
# A dollar sign stands for USD and no other dollar, so that a page decides the currency; others show codes.
CURRENCIES = ("EUR",) * 6 + ("USD",) * 6 + ("GBP",) * 4 + ("CHF",) * 3 + ("SEK", "CAD", "AUD", "PLN", "DKK", "NOK")
DATE_FORMS = ("iso", "iso", "slashes", "dots", "short", "short", "long", "american", "dashes")
PAYMENT_METHODS = (
    *(
        "Cash",
        "Cash",
        "Card",
        "Card",
        "Credit card",
        "Debit card",
        "Visa",
        "Mastercard",
        "VISA",
        "Contactless",
    ),
    *("Gift card", "Bank transfer", "Voucher", "CARD", "CASH"),
)


@dataclass(frozen=True)
class Printed:
    """A value, its spelling in the answer (`text`, unquoted) and on the page (`shown`).

    `sources` has len(text) + 1 entries: for each answer character the index into `shown` that it is read
    from, then the index just past the value's last character (None: nothing on the page says it).
    """

    value: str | int | float | None
    text: str
    shown: str
    sources: tuple[int | None, ...]

    def within(self, before: str = "", after: str = "") -> Printed:
        """The same value printed with something before and after it."""
        shift = len(before)
        sources = tuple(None if source is None else source + shift for source in self.sources)
        return Printed(self.value, self.text, before + self.shown + after, sources)


ABSENT = Printed(None, "null", "", (None,) * 5)


def verbatim(text: str) -> Printed:
    """A string that the answer repeats as it is printed."""
    return Printed(text, text, text, tuple(range(len(text) + 1)))


def count(number: int) -> Printed:
    text = str(number)
    return Printed(number, text, text, tuple(range(len(text) + 1)))


def money(cents: int, thousands: str = ",") -> Printed:
    """An amount with two decimals; `thousands` stands between groups of three digits on the page only."""
    text = f"{cents // 100}.{cents % 100:02d}"
    shown = f"{cents // 100:,}.{cents % 100:02d}".replace(",", thousands)
    sources = [index for index, character in enumerate(shown) if character.isdigit() or character == "."]
    return Printed(cents / 100, text, shown, (*sources, len(shown)))


def date(day: datetime.date, form: str) -> Printed:
    """A date that the answer spells as ISO and the page in `form`. With slashes the day stands first."""
    iso = day.isoformat()
    month = words.MONTHS[day.month - 1]
    if form == "iso":
        return verbatim(iso)
    if form in ("slashes", "dots"):
        shown = day.strftime("%d/%m/%Y" if form == "slashes" else "%d.%m.%Y")
        return Printed(iso, iso, shown, (6, 7, 8, 9, None, 3, 4, None, 0, 1, None))
    shown = {
        "short": f"{day.day} {month[:3]} {day.year}",
        "long": f"{day.day} {month} {day.year}",
        "american": f"{month} {day.day}, {day.year}",
        "dashes": f"{day.day:02d}-{month[:3]}-{day.year}",
    }[form]
    year = len(shown) - 4
    # The first letter says whether the month has a ten (October to December), the third helps with the rest.
    letter = shown.index(month[:3])
    first_day = len(month) + 1 if form == "american" else 0
    last_day = first_day + (1 if form == "dashes" or day.day > 9 else 0)
    sources = (*range(year, year + 4), None, letter, letter + 2, None, first_day, last_day, None)
    return Printed(iso, iso, shown, sources)


def currency_sign(code: str, sign: str) -> Printed:
    """The currency as a symbol (every letter of the code is read from it) or as its code."""
    if sign == code:
        return verbatim(code)
    return Printed(code, code, sign, (0, 0, 0, None))


def syllables(random: Random, number: int) -> str:
    word = "".join(random.choice(words.ONSETS) + random.choice(words.VOWELS) for _ in range(number))
    return word + random.choice(words.CODAS)


def name(random: Random) -> str:
    return syllables(random, random.choice((1, 2, 2, 2, 3))).capitalize()


def company(random: Random) -> str:
    kind = random.random()
    if kind < 0.62:
        return f"{name(random)} {random.choice(words.COMPANY_SUFFIXES)}"
    if kind < 0.82:
        return f"{name(random)} {name(random)} {random.choice(words.COMPANY_SUFFIXES)}"
    if kind < 0.9:
        return f"{name(random)} & {name(random)}"
    return f"{name(random)}-{name(random)} {random.choice(words.COMPANY_SUFFIXES)}"


def shop(random: Random) -> str:
    kind = random.random()
    if kind < 0.6:
        text = f"{name(random)} {random.choice(words.SHOP_SUFFIXES)}"
    elif kind < 0.7:
        text = f"The {name(random)} {random.choice(words.SHOP_SUFFIXES)}"
    else:
        text = company(random)
    return text.upper() if random.random() < 0.2 else text


def digits(random: Random, number: int) -> str:
    return "".join(random.choices(string.digits, k=number))


def letters(random: Random, number: int) -> str:
    return "".join(random.choices(string.ascii_uppercase, k=number))


def code(random: Random, number: int) -> str:
    """Letters and digits without the pairs that look alike in print: O and 0, I and 1."""
    return "".join(random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=number))


def document_number(random: Random, prefixes: tuple[str, ...] = ("INV", "RE", "R", "F", "A", "IN")) -> str:
    kind = random.randrange(9)
    if kind <= 1:
        return f"{prefixes[0]}-{digits(random, random.choice((4, 4, 5, 6)))}"
    if kind == 2:
        return str(random.randint(1, 9)) + digits(random, random.choice((4, 5, 6, 7)))
    if kind == 3:
        return f"{letters(random, 2)}-{digits(random, 5)}"
    if kind == 4:
        return f"{random.randint(2018, 2029)}/{digits(random, 4)}"
    if kind == 5:
        return f"{random.choice(prefixes)}{digits(random, 6)}"
    if kind == 6:
        return f"{random.choice(prefixes)}-{random.randint(2018, 2029)}-{digits(random, random.choice((3, 4)))}"
    if kind == 7:
        return f"{random.randint(18, 29)}-{digits(random, random.choice((4, 5)))}"
    return code(random, random.choice((6, 7, 8)))


def day(random: Random) -> datetime.date:
    return datetime.date(2015, 1, 1) + datetime.timedelta(days=random.randrange(5400))


def description(random: Random) -> str:
    kind = random.random()
    if kind < 0.25:
        text = f"{random.choice(words.ADJECTIVES)} {random.choice(words.GOODS)}"
    elif kind < 0.38:
        text = f"{random.choice(words.GOODS).capitalize()} {random.choice(words.SIZES)}"
    elif kind < 0.5:
        text = f"{random.choice(words.GOODS).capitalize()} {code(random, random.choice((2, 3, 4)))}"
    elif kind < 0.62:
        text = f"{name(random)} {random.choice(words.GOODS)}"
    elif kind < 0.74:
        text = f"{random.choice(words.ADJECTIVES)} {random.choice(words.SERVICES)}"
    elif kind < 0.84:
        text = f"{random.choice(words.GOODS).capitalize()} {random.choice(words.SERVICES)}"
    elif kind < 0.93:
        text = f"{name(random)} {syllables(random, 2)}"
    else:
        text = f"{random.choice(words.ADJECTIVES)} {random.choice(words.GOODS)} {random.choice(words.GOODS)}"
    return text


def grocery(random: Random) -> str:
    kind = random.random()
    if kind < 0.4:
        text = random.choice(words.FOODS + words.SHOP_GOODS)
    elif kind < 0.6:
        text = f"{random.choice(words.FOODS)} {random.choice(words.FOOD_SIZES)}"
    elif kind < 0.8:
        text = f"{name(random)} {random.choice(words.FOODS + words.SHOP_GOODS).lower()}"
    else:
        text = description(random)
    return text.upper() if random.random() < 0.12 else text


def price_cents(random: Random, low: float = 1.9, high: float = 4.7) -> int:
    """Log-uniform between 10**low and 10**high cents; every third price is a round one."""
    cents = int(10 ** random.uniform(low, high))
    kind = random.random()
    if kind < 0.2:
        return max(cents // 100 * 100, 50)
    if kind < 0.35:
        return max(cents // 50 * 50, 50)
    return cents


def quantity(random: Random) -> int:
    return random.choice((1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 25, 30, 40, 48, 50, 100, 120))


def street(random: Random) -> str:
    return f"{random.randint(1, 240)} {name(random)} {random.choice(words.STREETS)}"


def town(random: Random) -> str:
    return random.choice((f"{digits(random, 5)} {name(random)}", f"{name(random)} {digits(random, 4)}", name(random)))
