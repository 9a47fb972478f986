"""Values of wide documents: what is true, how an answer spells it, how the page shows it, and from which characters.

Like `training.values.Printed`, but every value has a second spelling: verbatim, as the page shows it.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

from training.wide.locales import Locale


@dataclass(frozen=True)
class Value:
    """A value as it is drawn.

    text: its spelling in the answer, unquoted; shown: on the page. sources: for each character of `text` the index
    into `shown` that it is read from, or None. shown[start:stop] is the verbatim spelling (an amount without its
    currency). category: what a list of choices calls it.
    """

    value: str | int | float
    text: str
    shown: str
    sources: tuple[int | None, ...]
    start: int
    stop: int
    category: str | None = None

    def within(self, before: str = "", after: str = "") -> Value:
        """The same value printed with something before and after it."""
        shift = len(before)
        sources = tuple(None if source is None else source + shift for source in self.sources)
        return replace(
            self,
            shown=before + self.shown + after,
            sources=sources,
            start=self.start + shift,
            stop=self.stop + shift,
        )


def text(words: str, category: str | None = None) -> Value:
    """A string that the answer repeats as it is printed."""
    return Value(words, words, words, tuple(range(len(words))), 0, len(words), category)


def inside(words: str, value: Value, mark: str) -> Value:
    """`value` where `mark` stands in `words`."""
    before, _, after = words.partition(mark)
    return value.within(before, after)


def _number(shown: str, locale: Locale) -> tuple[str, tuple[int, ...]]:
    """The spelling of a printed number: digits and a decimal point; and the characters that it comes from."""
    kept = [i for i, character in enumerate(shown) if character.isdigit() or character == locale.decimal]
    return "".join("." if shown[i] == locale.decimal else shown[i] for i in kept), tuple(kept)


def amount(cents: int, locale: Locale, thousands: str, *, minus: str = "before") -> Value:
    """Money with two decimals, its groups of three digits parted by `thousands`.

    A negative amount is written as `minus` says: "before" (-5.00), "after" (5.00-) or "brackets" ((5.00)).
    """
    size = abs(cents)
    shown = f"{size // 100:,}".replace(",", thousands) + locale.decimal + f"{size % 100:02d}"
    spelled, kept = _number(shown, locale)
    plain = Value(size / 100, spelled, shown, kept, 0, len(shown))
    if cents >= 0:
        return plain
    before, after = {"before": ("-", ""), "after": ("", "-"), "brackets": ("(", ")")}[minus]
    printed = plain.within(before, after)
    sign = 0 if before else len(shown)
    return replace(
        printed,
        value=-size / 100,
        text="-" + spelled,
        sources=(sign, *printed.sources),
        start=0,
        stop=len(printed.shown),
    )


def number(units: float, locale: Locale, decimals: int) -> Value:
    """A quantity or a rate."""
    shown = f"{units:.{decimals}f}".replace(".", locale.decimal)
    spelled, kept = _number(shown, locale)
    return Value(float(spelled) if decimals else int(spelled), spelled, shown, kept, 0, len(shown))


def date(day: datetime.date, form: str, locale: Locale) -> Value:
    """A date that the answer spells as ISO (or verbatim), printed in a form such as "{d}. {month} {yyyy}".

    Parts: {dd} {d} {mm} {m} {month} {mon} {MON} {yyyy} {yy}.
    """
    names = locale.words.months
    month = names[day.month - 1]
    short = locale.words.short_months[day.month - 1]
    parts = {
        "dd": f"{day.day:02d}",
        "d": str(day.day),
        "mm": f"{day.month:02d}",
        "m": str(day.month),
        "month": month,
        "mon": short,
        "MON": short.upper(),
        "yyyy": str(day.year),
        "yy": f"{day.year % 100:02d}",
    }
    shown, spans = "", {}
    for piece in form.replace("}", "{").split("{"):
        if piece in parts:
            spans[piece] = (len(shown), len(shown) + len(parts[piece]))
            shown += parts[piece]
        else:
            shown += piece

    def two(names: tuple[str, ...]) -> tuple[int | None, int | None]:
        (name,) = (name for name in names if name in spans)
        first, end = spans[name]
        if name in ("month", "mon", "MON"):
            # The first letter says whether the month has a ten, the third helps with the rest.
            return first, min(first + 2, end - 1)
        return first, end - 1

    if "yyyy" in spans:
        start = spans["yyyy"][0]
        year: tuple[int | None, ...] = tuple(range(start, start + 4))
    else:
        start = spans["yy"][0]
        year = (None, None, start, start + 1)
    sources = (*year, None, *two(("mm", "m", "month", "mon", "MON")), None, *two(("dd", "d")))
    iso = day.isoformat()
    return Value(iso, iso, shown, sources, 0, len(shown))


def currency(code: str, sign: str) -> Value:
    """The currency by its symbol (every letter of the code is read from it) or by its code."""
    if sign == code:
        return text(code)
    return Value(code, code, sign, (0,) * len(code), 0, len(sign))
