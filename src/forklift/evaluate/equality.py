"""When two leaf values are equal: strictly, as JSON; tolerantly, as a reader of the document would say.

Both are equivalence relations, written as keys: two values are equal if and only if their keys are. An equality that
is not transitive ("within one per cent") could make the score fall when a field is repaired.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

# Of a number with a fraction, under tolerance: forgives the noise of binary arithmetic, not rounding.
SIGNIFICANT_DIGITS = 12
DECIMALS_OF_LARGE = 3  # from a thousand million on, where 12 digits would eat into the cents

# fmt: off
_MONTHS = {
    name: number
    for number, names in enumerate((
        ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
        ("july", "jul"), ("august", "aug"), ("september", "sep", "sept"), ("october", "oct"), ("november", "nov"),
        ("december", "dec"),
    ), start=1)
    for name in names
}
_SAME_CHARACTER = str.maketrans({
    **dict.fromkeys("‐‑‒–—―−﹣-", "-"), **dict.fromkeys("‘’‚‛′`´", "'"), **dict.fromkeys("“”„‟″«»", '"'),
    "\u00ad": None, "\u200b": None, "\u200c": None, "\u200d": None, "\u2060": None, "\ufeff": None,
})
# fmt: on
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day,? |(?:mon|tue|wed|thu|fri|sat|sun)\.?,? ")
_TIME = r"(?:[t ](\d\d):(\d\d)(?::(\d\d)(?:\.0+)?)?(z|[+-]00:?00)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d\d?)\2(\d\d?){_TIME}")
_YEAR_LAST = re.compile(r"(\d\d?)([-/.])(\d\d?)\2(\d{4})")
_DAY_MONTH = re.compile(r"(\d\d?)(?:st|nd|rd|th|\.)?[ -]([a-z]+)\.?,?[ -](\d{4})")
_MONTH_DAY = re.compile(r"([a-z]+)\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})")

_SIGNED = re.compile(r"(?:\+|(-))? ?(\d.*)")
_PLAIN = re.compile(r"(?:0|[1-9]\d*)(?:\.\d+)?")
_COMMA_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_SPACE_GROUPS = re.compile(r"[1-9]\d{0,2}(?:[ ']\d{3})+(?:[.,]\d+)?")
_POINT_GROUPS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}")
_DECIMAL_COMMA = re.compile(r"(?:0|[1-9]\d*),(?:\d{1,2}|\d{4,})|0,\d+")


def strict_key(value: Any) -> Hashable:
    """The key under JSON equality: numbers by value, strings by code points, true is not 1. None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", value)  # 1 and 1.0 hash alike
    return ("text", value)


def tolerant_key(value: Any) -> Hashable:
    """The key under tolerant equality; None for null and for strings without a visible character.

    Integers agree exactly, other numbers at 12 significant digits, whether written as number or as text. Dates agree
    in any unambiguous form. Other text agrees after Unicode compatibility folding, with white space, case and the
    kind of dash and quotation mark set aside. Values that are strictly equal are tolerantly equal.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", _rounded(value))
    return _text_key(value)


@lru_cache(maxsize=1 << 16)
def _text_key(text: str) -> Hashable:
    folded = _folded(text)
    if not folded:
        return None
    if folded in ("true", "false"):
        return ("bool", folded == "true")
    if any(character.isdigit() for character in folded):
        number = read_number(folded)
        if number is not None:
            return ("number", _rounded(number))
        moment = read_date(folded)
        if moment is not None:
            return ("date", moment)
    return ("text", folded)


def _folded(text: str) -> str:
    if text.isascii():
        return " ".join(text.translate(_SAME_CHARACTER).casefold().split())
    # Marks go before compatibility folding, which turns an acute accent into a space and an accent, and again after
    # it and after casefold, which both may bring forth new ones: the key of a key is itself.
    text = unicodedata.normalize("NFKC", text.translate(_SAME_CHARACTER)).casefold()
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SAME_CHARACTER).split())


def _rounded(number: float) -> str:
    """Integers exactly, for long identifiers are integers too; fractions without their noise."""
    if isinstance(number, float):
        if not math.isfinite(number):
            return str(number)
        if not number.is_integer():
            large = abs(number) >= 1e9
            number = round(number, DECIMALS_OF_LARGE) if large else float(f"{number:.{SIGNIFICANT_DIGITS}g}")
    return str(int(number)) if number == int(number) else repr(number)


def read_number(text: str) -> float | int | None:
    """The number that a whole text writes, or None.

    A currency sign may stand at either end, a sign before or after it, or brackets around for negative. Groups of
    three are set off by comma, space or apostrophe, decimals by a point; a comma is a decimal comma where it cannot
    be a group (12,5 but not 1,234), points are groups where they cannot be a decimal point (1.234,50). Percentages,
    units, exponents and leading zeros (007) make it no number: they belong to the value.
    """
    text = text.strip()
    negative = text.startswith("(") and text.endswith(")")
    if negative:
        text = text[1:-1].strip()
    text, minus = _without_currency(text)
    signed = _SIGNED.fullmatch(text)
    if signed is None or (negative and (minus or signed[1])) or (minus and signed[1]):
        return None
    negative = negative or minus or bool(signed[1])
    digits = signed[2]
    if not digits.isascii():
        return None
    if _PLAIN.fullmatch(digits):
        plain = digits
    elif _COMMA_GROUPS.fullmatch(digits):
        plain = digits.replace(",", "")
    elif _SPACE_GROUPS.fullmatch(digits):
        plain = digits.replace(" ", "").replace("'", "").replace(",", ".")
    elif _POINT_GROUPS.fullmatch(digits):
        plain = digits.replace(".", "").replace(",", ".")
    elif _DECIMAL_COMMA.fullmatch(digits):
        plain = digits.replace(",", ".")
    else:
        return None
    number: float | int = float(plain) if "." in plain else int(plain) if len(plain) < 300 else float(plain)
    return -number if negative else number


def _without_currency(text: str) -> tuple[str, bool]:
    """`text` without one currency sign at an end; and whether a minus stood outside of it."""
    if len(text) > 1 and unicodedata.category(text[0]) == "Sc":
        return text[1:].strip(), False
    if len(text) > 2 and text[0] == "-" and unicodedata.category(text[1]) == "Sc":
        return text[2:].strip(), True
    if len(text) > 1 and unicodedata.category(text[-1]) == "Sc":
        return text[:-1].strip(), False
    return text, False


def read_date(text: str) -> str | None:
    """The ISO form of a date, or date and time, that a whole text (folded, lower case) writes; or None.

    Year first; day, month name and year in either order, in English; day and month as numbers before the year where
    they are told apart by a point (day first) or by one of them being above 12. "3/4/2024" stays text: it is the
    third of April or the fourth of March. A weekday before the date is passed over.
    """
    text = _WEEKDAY.sub("", text, count=1) if not text[0].isdigit() else text
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, hour, minute, second, zone = found.groups()
        date = _iso(int(year), int(month), int(day))
        if date is None or hour is None:
            return date
        if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59:
            return None
        return f"{date}T{hour}:{minute}:{second or '00'}{'Z' if zone else ''}"
    if found := _YEAR_LAST.fullmatch(text):
        first, mark, second, year = int(found[1]), found[2], int(found[3]), int(found[4])
        if mark == "." or first > 12 or first == second:
            return _iso(year, second, first)
        return _iso(year, first, second) if second > 12 else None
    if (found := _DAY_MONTH.fullmatch(text)) and found[2] in _MONTHS:
        return _iso(int(found[3]), _MONTHS[found[2]], int(found[1]))
    if (found := _MONTH_DAY.fullmatch(text)) and found[1] in _MONTHS:
        return _iso(int(found[3]), _MONTHS[found[1]], int(found[2]))
    return None


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None
