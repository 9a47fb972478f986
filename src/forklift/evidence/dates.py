"""Dates as they are printed: 2026-03-05 is 5 March 2026, 05/03/26, 3/5/2026 or 5. März 2026 on paper."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# January to December, as English, German, French, Spanish, Italian and Dutch spell them, without accents.
_MONTH_NAMES = """
january february march april may june july august september october november december
januar februar marz april mai juni juli august september oktober november dezember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
januari februari maart april mei juni juli augustus september oktober november december
"""
# Spellings that are no prefix of a name, and names of Austria and Latin America.
_OTHER_NAMES = {"mrt": 3, "mrz": 3, "maerz": 3, "janner": 1, "jaenner": 1, "setiembre": 9, "sept": 9}


def _months() -> dict[str, int]:
    """Every name, and every beginning of three letters or more that belongs to one month alone."""
    found: dict[str, int] = {}
    unclear = set()
    for line in _MONTH_NAMES.split("\n"):
        for number, name in enumerate(line.split(), 1):
            for length in range(3, len(name) + 1):
                if found.setdefault(name[:length], number) != number:
                    unclear.add(name[:length])
    whole = {name: n for line in _MONTH_NAMES.split("\n") for n, name in enumerate(line.split(), 1)}
    return {name: number for name, number in found.items() if name not in unclear} | whole | _OTHER_NAMES


MONTHS = _months()
_NAME = r"(?P<name>[a-z]{3,10})\.?"
_ORDINAL = r"(?:(?:st|nd|rd|th|er|ere|re|e|o)(?![a-z])|[º°ª.])?"
_OF = r"(?:\s*(?:(?:de|del|of|di)(?![a-z])|d'))?"
_YEAR = r"(?P<year>[0-9]{4}|'?[0-9]{2})(?![0-9])"
_MARKS = r"[\s.,/\-–'’]"
_APART = _MARKS + "*"
_START, _END = r"(?<![0-9a-z])", r"(?![0-9])"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # 2026-03-05, 2026/3/5, 2026. 03. 05., 2026年3月5日
        rf"{_START}(?P<year>[0-9]{{4}})\s?[-./年–]\s?(?P<month>[0-9]{{1,2}})\s?[-./月–]\s?(?P<day>[0-9]{{1,2}}){_END}",
        # 05/03/2026, 5.3.26, 05 - 03 - 2026: the day or the month first
        rf"{_START}(?P<one>[0-9]{{1,2}})\s?(?P<mark>[-./–])\s?(?P<two>[0-9]{{1,2}})\s?(?P=mark)\s?{_YEAR}",
        # 05 03 2026
        rf"{_START}(?P<one>[0-9]{{2}})\s(?P<two>[0-9]{{2}})\s(?P<year>[0-9]{{4}}){_END}",
        # 5 March 2026, 5. März 2026, 05-Mar-26, 5th of March, 2026, 5 de marzo de 2026
        rf"{_START}(?P<day>[0-9]{{1,2}}){_ORDINAL}{_OF}{_APART}{_NAME}{_OF}{_APART}{_YEAR}",
        # March 5, 2026, Mar. 5th 2026
        rf"(?<![a-z]){_NAME}{_APART}(?P<day>[0-9]{{1,2}}){_ORDINAL}{_MARKS}+{_YEAR}",
        # 2026 March 5, 2026-Mar-05
        rf"{_START}(?P<year>[0-9]{{4}}){_APART}{_NAME}{_APART}(?P<day>[0-9]{{1,2}}){_END}",
        # 20260305, 05032026
        rf"{_START}(?P<compact>[0-9]{{8}}){_END}",
        # March 2026, 03/2026, 2026-03
        rf"(?<![a-z]){_NAME}{_OF}{_APART}(?P<year>[0-9]{{4}}){_END}",
        rf"{_START}(?P<month>[0-9]{{1,2}})\s?[-./]\s?(?P<year>[0-9]{{4}}){_END}",
        rf"{_START}(?P<year>[0-9]{{4}})\s?[-./]\s?(?P<month>[0-9]{{1,2}}){_END}",
    )
)
# Without a year, as statements print them; and the first day of "5 - 7 March 2026".
_PARTIAL = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_START}(?P<day>[0-9]{{1,2}}){_ORDINAL}{_OF}{_APART}{_NAME}",
        rf"(?<![a-z]){_NAME}{_APART}(?P<day>[0-9]{{1,2}}){_ORDINAL}{_END}",
        rf"{_START}(?P<one>[0-9]{{1,2}})[/\-](?P<two>[0-9]{{1,2}})(?![0-9]|[-/.,][0-9])",
        rf"{_START}(?P<one>[0-9]{{2}})\.(?P<two>[0-9]{{2}})\.(?![0-9])",
        rf"{_START}(?P<day>[0-9]{{1,2}}){_ORDINAL}\s?[-–/]\s?[0-9]{{1,2}}{_ORDINAL}\s*{_NAME}",
    )
)
Date = tuple[int | None, int, int | None]  # year, month, day: without year or day where they are not printed


class PrintedDate(NamedTuple):
    date: Date
    start: int
    end: int


def without_accents(text: str) -> str:
    """Lower case, each accented letter as its plain one; the length stays the same."""
    plain = []
    for character in text:
        if character < "\x80":
            plain.append(character.lower())
        else:
            base = unicodedata.normalize("NFD", character)[0].lower()
            plain.append(base if len(base) == 1 else character)
    return "".join(plain)


def printed_dates(text: str, *, partial: bool = False) -> Iterator[PrintedDate]:
    """Every date in `text`, once a reading (05/03/2026 is both 5 March and May 3); `partial`: those without a year.

    start and end are places in `text`.
    """
    plain = without_accents(text)
    for pattern in _PARTIAL if partial else _PATTERNS:
        place = 0
        while match := pattern.search(plain, place):
            place = match.start() + 1  # a date may begin inside of what looked like one
            for date in _readings(match.groupdict()):
                yield PrintedDate(date, *match.span())


def _readings(part: dict[str, str | None]) -> list[Date]:
    compact = part.get("compact")
    if compact:
        orders = ((compact[:4], compact[4:6], compact[6:]), (compact[4:], compact[2:4], compact[:2]))
        return [(int(y), int(m), int(d)) for y, m, d in orders if _possible(int(m), int(d)) and 1900 <= int(y) <= 2100]
    years: list[int | None] = [None]
    year = part.get("year")
    if year:
        short = int(year.strip("'"))
        years = [short] if len(year) == 4 else [2000 + short, 1900 + short]
    one, two = part.get("one"), part.get("two")
    if one and two:
        pairs = {(int(two), int(one)), (int(one), int(two))}
        return [(y, month, day) for y in years for month, day in sorted(pairs) if _possible(month, day)]
    name, month, day_text = part.get("name"), part.get("month"), part.get("day")
    number = MONTHS.get(name) if name else int(month or 0)
    day = int(day_text) if day_text else None
    if number is None or not _possible(number, day if day is not None else 1):
        return []
    return [(y, number, day) for y in years]


def _possible(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


_ISO = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?")


def dates_of_text(text: str) -> tuple[tuple[Date, ...], str | None]:
    """What a string that is a date means, and the time (hh:mm) that stands behind an ISO date, unless midnight.

    No dates for a string that is none. A string in another order than ISO's may mean two.
    """
    text = text.strip()
    if len(text) > 32 or not any(character.isdigit() for character in text):
        return (), None
    iso = _ISO.fullmatch(text)
    if iso is not None:
        month, day = int(iso[2]), int(iso[3]) if iso[3] else None
        time = None if iso[4] in (None, "00:00") else iso[4]
        return (((int(iso[1]), month, day),), time) if _possible(month, day or 1) else ((), None)
    whole = {printed.date for printed in printed_dates(text) if printed.end - printed.start >= len(text) - 1}
    full = tuple(sorted((date for date in whole if date[2] is not None), key=str))
    return full or tuple(sorted(whole, key=str)), None
