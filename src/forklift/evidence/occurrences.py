"""Every place where a value may be printed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from forklift.evidence.currencies import currency_forms
from forklift.evidence.dates import Date, dates_of_text
from forklift.evidence.numbers import number_key, number_of_text, scaled_key
from forklift.evidence.word_index import WordIndex, plain_text, searchable

_MAX_PLACES = 1000  # of one value
_SYMBOLS = frozenset("+#&@%*=<>€$£¥")
# A value this short is printed in places that have nothing to do with it.
_SHORT = 2
_TELLING = 4  # letters of a word that tells something when another of its value is misread
_MAX_TRACES = 12
_LINES_OF_NEXT_PAGE = 8  # a value that is broken by the page goes on below at most so much of a header
_CODE_QUALITY = 0.4  # digits that are part of a code, which is no number

Span = tuple[tuple[int, ...], float]  # words, and how well they spell the value


@dataclass(frozen=True)
class Occurrence:
    """Words that may be a value. quality: 0-1, how well they spell it. line: that of the first word."""

    words: tuple[int, ...]
    quality: float
    line: int
    left: float
    right: float


@dataclass(frozen=True)
class Occurrences:
    """All places of one value, in reading order.

    weak: so little is printed that finding it proves nothing. kind: values of different kinds may share a word, as
    an amount and its currency do.
    """

    places: tuple[Occurrence, ...]
    weak: bool
    kind: str


class Finder:
    """Looks values up in the words of one document; the same value is looked up once."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._found: dict[tuple[type, Any], Occurrences] = {}

    def find(self, value: str | int | float) -> Occurrences:
        key = (type(value), value)
        if key not in self._found:
            self._found[key] = self._text(value) if isinstance(value, str) else self._number(value)
        return self._found[key]

    def traces(self, value: str | int | float) -> Occurrences:
        """Where a value that is printed nowhere may have been misread from: other than by one digit or letter a word.

        They say where its list element stands; they are no places of the value.
        """
        spans: list[Span] = []
        if isinstance(value, str):
            pieces = [piece for piece in (searchable(part)[0] for part in value.split()) if len(piece) >= _TELLING]
            for piece in pieces:
                words = self._index.words_like(piece)
                if len(words) <= _MAX_TRACES:
                    spans += [((word,), len(piece) / sum(map(len, pieces))) for word in words]
            return self._occurrences(spans, False, "trace")
        try:
            key = number_key(value)
        except ValueError:
            return Occurrences((), True, "trace")
        for index, digit in enumerate(key):
            if digit.isdigit():
                for other in "0123456789".replace(digit, ""):
                    hits = self._index.numbers.get(key[:index] + other + key[index + 1 :], ())
                    spans += [(tuple(range(hit.first, hit.last + 1)), 0.6) for hit in hits[:_MAX_TRACES] if hit.alone]
        return self._occurrences(spans, len(key.replace(".", "")) <= _SHORT + 1, "trace")

    def _number(self, value: int | float) -> Occurrences:
        try:
            key = number_key(value)
        except ValueError:
            return Occurrences((), True, "number")
        spans = list(self._number_spans(key, value < 0))
        if abs(value) <= 1 and value:
            # a share that is printed as a percentage
            spans += self._number_spans(scaled_key(key, 2), value < 0, percent_only=True)
        return self._occurrences(spans, len(key.replace(".", "")) <= _SHORT, "number")

    def _number_spans(self, key: str, negative: bool, *, percent_only: bool = False) -> Iterator[Span]:
        weak = len(key.replace(".", "")) <= _SHORT
        for hit in self._index.numbers.get(key, ()):
            if (percent_only and not hit.percent) or (weak and not hit.alone):
                continue
            quality = 1.0 if hit.alone else _CODE_QUALITY
            # Statements print what is paid out in a column of its own, without a minus.
            if hit.alone and hit.negative != negative:
                quality = 0.7
            yield tuple(range(hit.first, hit.last + 1)), quality

    def _text(self, value: str) -> Occurrences:
        wanted, _ = searchable(value)
        weak = len(wanted) <= _SHORT
        forms = currency_forms(value)
        if forms:
            exact = plain_text(value)
            spans: list[Span] = [
                ((word,), 1.0 if form == exact else 0.9)
                for form in sorted(forms)
                for word in self._index.currencies.get(form, ())
            ]
            if spans:
                return self._occurrences(spans, False, "currency")
        dates, time = dates_of_text(value)
        spans = list(self._spelled(value, wanted)) if wanted else list(self._symbols(value))
        if not spans and dates:
            spans = list(self._dates(dates, time))
        if not spans and wanted:
            spans = list(self._broken(value))
        if not spans and not dates:
            for key in number_of_text(unicodedata.normalize("NFKC", value)):
                weak = len(key.replace(".", "")) <= _SHORT
                spans += self._number_spans(key, any(minus in value for minus in "-−–("))
        return self._occurrences(spans, weak, "date" if dates else "text")

    def _spelled(self, value: str, wanted: str) -> Iterator[Span]:
        exact = plain_text(value)
        symbols = _SYMBOLS & set(exact)
        index = self._index
        for first, last in index.find(wanted):
            words = tuple(word for word in range(first, last + 1) if self._says_something(word, exact))
            printed = plain_text("".join(index.texts[word] for word in range(first, last + 1)))
            if not symbols <= set(printed) or self._scattered(words):
                continue
            if exact in printed:
                raw = " ".join(index.texts[word] for word in words)
                yield words, 1.0 if value in raw else 0.95
            elif len(wanted) > 4:
                yield words, 0.85

    def _says_something(self, word: int, exact: str) -> bool:
        return bool(self._index.spelling(word)) or plain_text(self._index.texts[word]) in exact

    def _scattered(self, words: tuple[int, ...]) -> bool:
        """Whether two digits that the value joins stand in different cells of a table."""
        index = self._index
        for one, other in pairwise(words):
            if (
                index.line_of[one] == index.line_of[other]
                and abs(index.gap(one, other)) > 1.0
                and index.texts[one][-1:].isdigit()
                and index.texts[other][:1].isdigit()
            ):
                return True
        return False

    def _symbols(self, value: str) -> Iterator[Span]:
        """A value without a letter or digit: words that are just that."""
        exact = plain_text(value)
        if exact:
            for word, text in enumerate(self._index.texts):
                if plain_text(text) == exact:
                    yield (word,), 1.0

    def _dates(self, dates: Iterable[Date], time: str | None) -> Iterator[Span]:
        index = self._index
        clocks = [(first, last) for first, last in index.find(time.replace(":", ""))] if time else []
        for date in dates:
            year, month, day = date
            spans = [(span, 1.0) for span in index.dates.get(date, ())]
            if day is None:
                spans += [
                    (span, 0.6)
                    for (y, m, d), found in index.dates.items()
                    if (y, m) == (year, month) and d is not None
                    for span in found
                ]
            elif not spans and year is not None and self._year_is_printed(year):
                spans = [(span, 0.7) for span in index.partial_dates.get((None, month, day), ())]
            for (first, last), quality in spans:
                words = tuple(range(first, last + 1))
                if time:
                    near = [clock for clock in clocks if abs(index.line_of[clock[0]] - index.line_of[first]) <= 1]
                    if not near:
                        continue
                    clock = min(near, key=lambda clock: abs(clock[0] - last))
                    words = tuple(dict.fromkeys((*words, *range(clock[0], clock[1] + 1))))
                yield words, quality

    def _year_is_printed(self, year: int) -> bool:
        return str(year) in self._index.numbers or any(date[0] == year for date in self._index.dates)

    def _broken(self, value: str) -> Iterator[Span]:
        """Values that run over the lines of a table's cell, or over a page break with print between."""
        pieces = [piece for piece in (searchable(part)[0] for part in value.split()) if piece]
        if len(pieces) < 2:
            return
        # Weighed before the limit: a value may begin with a word as frequent as "the".
        starts = (start for start in self._index.words_spelled(pieces[0]) if self._goes_on(start, pieces[1]))
        for start in islice(starts, _MAX_PLACES):
            words = self._follow(start, pieces)
            if words is not None:
                yield words, 0.9

    def _goes_on(self, word: int, piece: str) -> bool:
        """Whether `piece` comes next, or the line ends."""
        following = self._index.near(word, 1)
        return following is None or self._index.spelling(following) == piece

    def _follow(self, start: int, pieces: list[str]) -> tuple[int, ...] | None:
        """The words that spell `pieces` from `start` on: along the line, or in the cell's next line."""
        index = self._index
        words = [start]
        left, right = index.left[start], index.right[start]
        for piece in pieces[1:]:
            following = index.near(words[-1], 1)
            if following is not None:
                if index.spelling(following) != piece:
                    return None
            else:
                following = self._line_below(words[-1], left, right, piece)
                if following is None:
                    return None
            words.append(following)
            left, right = min(left, index.left[following]), max(right, index.right[following])
        return tuple(words)

    def _line_below(self, word: int, left: float, right: float, piece: str) -> int | None:
        """The first word of the cell's next line, if it is `piece`: right below, or high up on the next page."""
        index = self._index
        page, height = index.page_of[word], index.height(word)
        lines_of_next_page = 0
        for line in range(index.line_of[word] + 1, len(index.lines)):
            first = index.lines[line][0]
            if index.page_of[first] == page:
                if not height or index.top[first] - index.bottom[word] > 1.5 * height:
                    continue
            elif index.page_of[first] > page + 1 or lines_of_next_page >= _LINES_OF_NEXT_PAGE:
                return None
            else:
                lines_of_next_page += 1
            for other in index.lines[line]:
                aligned = index.left[other] < right and index.right[other] > left - height
                if aligned and index.near(other, -1) is None:
                    if index.spelling(other) == piece:
                        return other
                    if index.page_of[other] == page:
                        height = 0.0  # the cell's next line says something else: only the next page is left
        return None

    def _occurrences(self, spans: Iterable[Span], weak: bool, kind: str) -> Occurrences:
        index = self._index
        best: dict[tuple[int, ...], float] = {}
        for words, quality in spans:
            if words:
                best[words] = max(quality, best.get(words, 0.0))
        places = [
            Occurrence(
                words,
                quality,
                index.line_of[words[0]],
                min(index.left[word] for word in words),
                max(index.right[word] for word in words),
            )
            for words, quality in best.items()
        ]
        places.sort(key=lambda place: (place.line, place.left))
        return Occurrences(tuple(places[:_MAX_PLACES]), weak, kind)
