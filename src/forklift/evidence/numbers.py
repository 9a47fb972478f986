"""Numbers as they are printed: 1234.5 is 1,234.50 or 1.234,50 or 1 234,5 or 1'234.50 on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from forklift.evidence.currencies import currency_forms

# Digits with at most one mark between two of them; a decimal may start with its mark.
_LEXEME = re.compile(r"(?<![0-9.,])[.,]?[0-9]+(?:[.,'’·_][0-9]+)*")
_MINUS = "-−–‒﹣－"
_GROUPING_ONLY = "'’_"
# Millions and thousands are written out, or as a suffix to the digits.
_SCALES = {
    **dict.fromkeys(("k", "thousand", "tsd", "mille", "mila", "mil", "duizend", "tausend"), 3),
    **dict.fromkeys(("m", "mn", "mm", "mio", "million", "millions", "millionen", "milioni", "millones", "miljoen"), 6),
    **dict.fromkeys(
        ("b", "bn", "billion", "billions", "mrd", "mia", "milliard", "milliards", "miliardi", "miljard"), 9
    ),
}
_AMOUNT_SIGNS = frozenset("€$£¥₹₽₩₺₫₴₪฿₱₦¢%‰()[]{}<>:;,.*#=@~+/|!?\"'" + _MINUS)


class PrintedNumber(NamedTuple):
    """One way to read digits on a page.

    key: the absolute value in the spelling of `number_key`. start, end: place in the text that was read.
    negative: a minus, or parentheses, stand at it. percent: a per cent sign follows.
    alone: nothing but signs, currencies and units stand around it, so it is no part of a code or date.
    """

    key: str
    start: int
    end: int
    negative: bool
    percent: bool
    alone: bool


def number_key(value: int | float | Decimal) -> str:
    """The absolute value as plain digits, without zeros that say nothing: -1234.50 -> "1234.5".

    Raises ValueError for infinity and NaN.
    """
    try:
        number = abs(Decimal(str(value)))
        if not number.is_finite() or abs(number.adjusted()) > 40:
            raise ValueError(f"{value!r} is no number that could be printed")
    except InvalidOperation:
        raise ValueError(f"{value!r} is no number") from None
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.lstrip("0") if text[:2] != "0." and text != "0" else text


def scaled_key(key: str, exponent: int) -> str:
    """`key` times ten to the power of `exponent`."""
    return number_key(Decimal(key).scaleb(exponent))


def readings(lexeme: str) -> tuple[str, ...]:
    """The keys of every number that digits with marks may mean: "1.234" is 1.234 or 1234."""
    if not lexeme[0].isdigit():
        return (number_key(Decimal("0." + lexeme[1:])),) if lexeme[1:].isdigit() else ()
    parts = re.split(r"([^0-9])", lexeme)
    groups, marks = parts[::2], parts[1::2]
    if len(lexeme) > 40:
        return ()
    if not marks:
        return (number_key(Decimal(lexeme)),)
    found = []
    last = marks[-1]
    if last not in _GROUPING_ONLY and marks.count(last) == 1 and _grouped(groups[:-1], marks[:-1]):
        found.append(number_key(Decimal("".join(groups[:-1]) + "." + groups[-1])))
    if last != "·" and _grouped(groups, marks):
        found.append(number_key(Decimal("".join(groups))))
    return tuple(dict.fromkeys(found))


def _grouped(groups: list[str], marks: list[str]) -> bool:
    """Whether the marks stand where they separate thousands (or, in India, lakhs)."""
    if not marks:
        return True
    if len(set(marks)) > 1 or not 1 <= len(groups[0]) <= 3 or groups[0][0] == "0":
        return False
    return len(groups[-1]) == 3 and (
        all(len(group) == 3 for group in groups[1:])
        or (len(groups[0]) <= 2 and all(len(group) == 2 for group in groups[1:-1]))
    )


def printed_numbers(text: str) -> Iterator[PrintedNumber]:
    """Every number in `text`, a word (or the few words of a number that holds spaces), once a reading."""
    for match in _LEXEME.finditer(text):
        start, end = match.span()
        before, after = text[:start], text[end:]
        signs = before.rstrip("€$£¥₹₽₩₺₫₴₪฿₱₦¢ ")
        negative = signs[-1:] in _MINUS if signs else False
        if not negative and after:
            tail = after.lstrip("€$£¥₹₽₩₺₫₴₪฿₱₦¢% ")
            negative = (tail in tuple(_MINUS)) or ("(" in before and tail.startswith(")"))
        scale = _SCALES.get(after.strip("., ").casefold())
        percent = after.lstrip().startswith(("%", "‰"))
        alone = _is_sign(before) and _is_unit(after)
        for key in readings(match[0]):
            yield PrintedNumber(key, start, end, negative, percent, alone)
            if scale is not None:
                yield PrintedNumber(scaled_key(key, scale), start, end, negative, percent, alone)


def _is_sign(before: str) -> bool:
    """Whether what stands before digits in their word leaves them a number of their own: "€", "(", "EUR", "2x"."""
    if before[-1:] in ("x", "×", "@"):
        return True
    rest = "".join(character for character in before if character not in _AMOUNT_SIGNS)
    return not rest or rest.casefold() in ("no", "nr", "qty") or bool(currency_forms(rest))


def _is_unit(after: str) -> bool:
    """Whether what stands behind digits in their word leaves them a number of their own: "%", ")", "kg", "x4"."""
    if after[:1] in ("x", "×", "@"):
        return True
    rest = "".join(character for character in after if character not in _AMOUNT_SIGNS)
    return len(rest) <= 3 and not any(character.isdigit() for character in rest)


_NUMBER_IN_TEXT = re.compile(
    r"(?P<before>[^0-9]{0,6}?)(?P<number>[.,]?[0-9][0-9.,'’ \u00a0\u202f_]*)(?P<after>[^0-9]{0,8})"
)


def number_of_text(text: str) -> tuple[str, ...]:
    """The keys of a string that is one number with at most signs and a currency: "€ 1,234.50"; else nothing."""
    match = _NUMBER_IN_TEXT.fullmatch(text.strip())
    if match is None:
        return ()
    for beside in (match["before"], match["after"]):
        rest = "".join(character for character in beside if character not in _AMOUNT_SIGNS and character != " ")
        if rest and not currency_forms(rest):
            return ()
    return readings(re.sub(r"\s", "", match["number"]).rstrip(".,'’_"))
