"""What a document prints, as an answer would spell it, and where."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from forklift.evidence.dates import printed_dates
from forklift.evidence.labels import Labels
from forklift.evidence.numbers import printed_numbers
from forklift.evidence.occurrences import Occurrence
from forklift.evidence.word_index import PageWords, WordIndex

_CELL_GAP = 1.2  # in heights of a word; words further apart stand in different cells
_LONGEST = 120  # characters of a value that is proposed
_MOST_WORDS = 50_000
_LABELLED = 800  # cells whose label is read for a field; reading one costs some 10 microseconds
_AFTER_SIGNS = ":#(/"  # inside a word, a value may begin behind these
_NOT_AT_END = ",;:"


class Printed(NamedTuple):
    """A value. text: in JSON, without quotes. first, last: its words. whole: it fills its cell."""

    text: str
    is_string: bool
    first: int
    last: int
    whole: bool


class PrintedValues:
    """The values of a document: cells of words, numbers in plain digits, dates as YYYY-MM-DD."""

    def __init__(self, pages: Iterable[PageWords]) -> None:
        self.index = WordIndex(pages)
        self.labels = Labels(self.index)
        self.cells: list[list[int]] = []  # the words of each, from left to right; line by line
        self.cell_of = [0] * len(self.index.texts)
        for line in self.index.lines:
            start = 0
            for place in range(1, len(line) + 1):
                if place == len(line) or self.index.gap(line[place - 1], line[place]) > _CELL_GAP:
                    for word in line[start:place]:
                        self.cell_of[word] = len(self.cells)
                    self.cells.append(line[start:place])
                    start = place
        self._of_cell: dict[int, list[Printed]] = {}

    @cached_property
    def _line_starts(self) -> list[int]:
        """The first cell of each line, and one past the last cell."""
        starts: list[int] = []
        for cell, words in enumerate(self.cells):
            if self.index.line_of[words[0]] == len(starts):
                starts.append(cell)
        return [*starts, len(self.cells)]

    def of_cell(self, cell: int) -> list[Printed]:
        """What a cell may be read as: dates, numbers, its whole text, its text behind a label's colon."""
        if cell not in self._of_cell:
            self._of_cell[cell] = list(self._readings(self.cells[cell]))
        return self._of_cell[cell]

    def line_cells(self, line: int) -> range:
        """The cells of a visual line."""
        if not 0 <= line < len(self._line_starts) - 1:
            return range(0)
        return range(self._line_starts[line], self._line_starts[line + 1])

    def starting_with(self, begun: str, is_string: bool, most: int = 64) -> list[Printed]:
        """Values that go on from what is begun, at most `most` of them."""
        keys, values = self._strings if is_string else self._numbers
        place = bisect_left(keys, begun)
        found: list[Printed] = []
        while place < len(keys) and keys[place].startswith(begun) and len(found) < most:
            found.append(values[place])
            place += 1
        return found

    def labelled(self, names: Sequence[frozenset[str]]) -> list[tuple[float, int]]:
        """Cells by how well their label says one of the names, the best first: (0-1, cell)."""
        found = []
        for cell, words in enumerate(self.cells[:_LABELLED]):
            like = self.labels.at(Occurrence(tuple(words), 1.0, self.index.line_of[words[0]], 0.0, 0.0), names)
            if like > 0.4:
                found.append((-like, cell))
        return [(-like, cell) for like, cell in sorted(found)]

    def below(self, cell: int) -> Iterator[int]:
        """Cells under this one that line up with it, from the nearest on; on the next page too."""
        line = self.index.line_of[self.cells[cell][0]]
        for further in range(line + 1, min(line + 40, len(self.index.lines))):
            yield from (other for other in self.line_cells(further) if self.aligned(cell, other))

    def aligned(self, cell: int, other: int) -> bool:
        """Whether two cells stand in one column: left or right edges, or middles, agree within half a height."""
        index = self.index
        (a, *_, b), (c, *_, d) = (
            (words[0], words[-1]) if len(words) > 1 else (words[0], words[0])
            for words in (self.cells[cell], self.cells[other])
        )
        left, right = index.left[a] - index.left[c], index.right[b] - index.right[d]
        return min(abs(left), abs(right), abs(left + right) / 2) < 0.5 * index.height(a)

    def _readings(self, words: list[int]) -> Iterator[Printed]:
        texts = [self.index.texts[word] for word in words]
        text = " ".join(texts)
        first, last = words[0], words[-1]
        if any(character.isdigit() for character in text):
            for date in printed_dates(text):
                year, month, day = date.date
                if year and month and day:
                    yield Printed(f"{year:04d}-{month:02d}-{day:02d}", True, first, last, True)
            joined = "".join(texts) if len(words) <= 4 else ""
            for number in printed_numbers(joined):
                if number.alone:
                    yield Printed(("-" if number.negative else "") + number.key, False, first, last, True)
        for start in (0, *_openings(text)):
            kept = text[start:].rstrip(_NOT_AT_END)
            if kept and len(kept) <= _LONGEST:
                yield Printed(_escaped(kept), True, words[text[:start].count(" ")], last, True)

    @cached_property
    def _strings(self) -> tuple[list[str], list[Printed]]:
        return _by_text(
            value
            for cell, words in enumerate(self.cells)
            for value in (*self.of_cell(cell), *self._rests(words))
            if value.is_string
        )

    @cached_property
    def _numbers(self) -> tuple[list[str], list[Printed]]:
        return _by_text(
            value
            for cell, words in enumerate(self.cells)
            for value in (*self.of_cell(cell), *self._words(words))
            if not value.is_string
        )

    def _words(self, words: list[int]) -> Iterator[Printed]:
        """The numbers of single words among others."""
        for word in words if len(words) > 1 else ():
            for number in printed_numbers(self.index.texts[word]):
                yield Printed(("-" if number.negative else "") + number.key, False, word, word, False)

    def _rests(self, words: list[int]) -> Iterator[Printed]:
        """The texts that begin with the second and later words of a cell."""
        for start in range(1, len(words)):
            text = " ".join(self.index.texts[word] for word in words[start:])
            whole = len(text) <= _LONGEST
            yield Printed(_escaped(text[:_LONGEST].rstrip(_NOT_AT_END)), True, words[start], words[-1], whole)


def _by_text(values: Iterable[Printed]) -> tuple[list[str], list[Printed]]:
    ordered = sorted(dict.fromkeys(values), key=lambda value: (value.text, value.first))[:_MOST_WORDS]
    return [value.text for value in ordered], ordered


def _openings(text: str) -> list[int]:
    """Where inside a cell a value may begin: behind a label's colon or a number sign."""
    places = []
    for place, character in enumerate(text[:-1]):
        if character in _AFTER_SIGNS:
            places.append(place + 1 + (text[place + 1] == " "))
    return places[:4]


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
