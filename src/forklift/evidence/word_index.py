"""All words of a document, prepared for finding values among them."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from forklift.evidence.currencies import signs_in
from forklift.evidence.dates import Date, printed_dates
from forklift.evidence.numbers import printed_numbers
from forklift.results import Word

# Gaps between words of one line, in heights of a word: up to _NEAR they belong together, as in a phrase.
_NEAR = 0.6
_FAR = 2.0
_LIKE_FROM, _LIKE_TO = 4, 24  # letters of words that are also looked up with one of them misread
_MAX_HITS = 5000  # of one value; one that is printed more often says nothing
_MINUS = frozenset("-−–‒")
_THOUSANDS_HEAD = re.compile(r"[^0-9]*[0-9]{1,3}")
_THOUSANDS = re.compile(r"[0-9]{3}(?:[.,][0-9]+)?[^0-9]*")


def plain_text(text: str) -> str:
    """Compatibility forms and ligatures resolved, lower case, without white space."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def searchable(text: str) -> tuple[str, bytearray]:
    """What a text is searched by: its letters and digits, and the mark of decimals between two digits as ".".

    Also, for each of them, whether a match may begin there: after white space, punctuation or a change between
    letters and digits, and anywhere in scripts that put no spaces between words.
    """
    kept: list[str] = []
    edges = bytearray()
    plain = unicodedata.normalize("NFKC", text).casefold()
    edge, before = 1, ""
    for index, character in enumerate(plain):
        if character.isalnum():
            kind = "digit" if character.isdigit() else "letter"
            edges.append(1 if edge or (before and kind != before) or character > "\u2e80" else 0)
            kept.append(character)
            edge, before = 0, kind
        elif character in ".," and before == "digit" and plain[index + 1 : index + 2].isdigit() and not edge:
            edges.append(0)
            kept.append(".")
            before = ""
        elif character != "\u00ad":
            edge = 1
    return "".join(kept), edges


def _masks(spelling: str) -> Iterator[str]:
    return (f"{spelling[:index]}\0{spelling[index + 1 :]}" for index in range(len(spelling)))


class NumberHit(NamedTuple):
    """A printed number. first, last: its words. alone: it is no part of a code or date."""

    first: int
    last: int
    negative: bool
    percent: bool
    alone: bool


class PageWords(NamedTuple):
    """The words of one page. number: 1-based in the file. size: width and height in the unit of the boxes."""

    number: int
    size: tuple[float, float]
    words: Sequence[Word]


class WordIndex:
    """Words are numbered through the document, page after page, in the order of the file; so are visual lines.

    texts[i]: word i. page_of[i]: index into `pages`. line_of[i]: its line; `lines[line]`: the line's words from left
    to right. left, top, right, bottom: boxes.
    """

    def __init__(self, pages: Iterable[PageWords]) -> None:
        self.pages: list[tuple[int, tuple[float, float]]] = []
        self.texts: list[str] = []
        self.page_of = array("l")
        self.left, self.top, self.right, self.bottom = array("f"), array("f"), array("f"), array("f")
        self.lines: list[list[int]] = []
        self.line_of = array("l")
        stream: list[str] = []
        self._edges = bytearray()
        self._starts = array("l")
        for page in pages:
            self._add(page, stream)
        self._stream = "".join(stream)
        self._edges.append(1)

    def _add(self, page: PageWords, stream: list[str]) -> None:
        first = len(self.texts)
        for word in page.words:
            kept, edges = searchable(word.text)
            if edges:
                edges[0] = 1
            self._starts.append(len(self._edges))
            self._edges += edges
            stream.append(kept)
            self.texts.append(word.text)
            self.page_of.append(len(self.pages))
            self.line_of.append(-1)
            self.left.append(word.box.left)
            self.top.append(word.box.top)
            self.right.append(word.box.right)
            self.bottom.append(word.box.bottom)
        self.pages.append((page.number, page.size))
        for line in self._lines_of(range(first, len(self.texts))):
            line.sort(key=self.left.__getitem__)
            for word_id in line:
                self.line_of[word_id] = len(self.lines)
            self.lines.append(line)

    def _lines_of(self, words: Sequence[int]) -> list[list[int]]:
        """The words of a page by visual line, from top to bottom; a word set upright is a line of its own."""
        lines: list[list[int]] = []
        middle = height = 0.0
        joined = False
        for word in sorted(words, key=lambda one: self.top[one] + self.bottom[one]):
            tall = self.height(word)
            centre = (self.top[word] + self.bottom[word]) / 2
            upright = tall > 2 * (self.right[word] - self.left[word]) and len(self.texts[word]) > 2
            if joined and not upright and centre - middle <= 0.5 * min(height, tall):
                lines[-1].append(word)
                middle += (centre - middle) / len(lines[-1])
                height = max(height, tall)
            else:
                lines.append([word])
                middle, height, joined = centre, tall, not upright
        return lines

    def height(self, word: int) -> float:
        return max(self.bottom[word] - self.top[word], 1e-3)

    @cached_property
    def _place_in_line(self) -> array[int]:
        places = array("l", bytes(self.line_of.itemsize * len(self.line_of)))
        for line in self.lines:
            for place, word in enumerate(line):
                places[word] = place
        return places

    def neighbour(self, word: int, step: int) -> int | None:
        """The word to the right (step 1) or left (-1) on the same line."""
        line = self.lines[self.line_of[word]]
        place = self._place_in_line[word] + step
        return line[place] if 0 <= place < len(line) else None

    def gap(self, one: int, other: int) -> float:
        """The room between two words of one line, in heights of a word."""
        room = max(self.left[one], self.left[other]) - min(self.right[one], self.right[other])
        return room / min(self.height(one), self.height(other))

    def near(self, word: int, step: int) -> int | None:
        """As `neighbour`, if it belongs to the same phrase."""
        other = self.neighbour(word, step)
        return other if other is not None and self.gap(word, other) <= _NEAR else None

    def find(self, wanted: str) -> Iterator[tuple[int, int]]:
        """The first and last word of each place that spells `wanted` (see `searchable`), whole words only."""
        position = self._stream.find(wanted)
        hits = 0
        while position >= 0 and hits < _MAX_HITS:
            end = position + len(wanted)
            if self._edges[position] and self._edges[end]:
                hits += 1
                yield self._word_at(position), self._word_at(end - 1)
            position = self._stream.find(wanted, position + 1)

    def _word_at(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def words_spelled(self, wanted: str) -> Sequence[int]:
        """The words that spell exactly `wanted`."""
        return self._by_spelling.get(wanted, ())

    def spelling(self, word: int) -> str:
        end = self._starts[word + 1] if word + 1 < len(self._starts) else len(self._stream)
        return self._stream[self._starts[word] : end]

    @cached_property
    def _by_spelling(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for word in range(len(self.texts)):
            found.setdefault(self.spelling(word), []).append(word)
        return found

    def words_like(self, wanted: str) -> Sequence[int]:
        """The words that spell `wanted` but for one letter that was read as another; exact ones too."""
        found: list[int] = []
        for mask in _masks(wanted):
            for spelling in self._by_mask.get(mask, ()):
                found += self._by_spelling[spelling]
        return sorted(set(found))

    @cached_property
    def _by_mask(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for spelling in self._by_spelling:
            if _LIKE_FROM <= len(spelling) <= _LIKE_TO:
                for mask in _masks(spelling):
                    found.setdefault(mask, []).append(spelling)
        return found

    @cached_property
    def numbers(self) -> dict[str, list[NumberHit]]:
        """Every printed number by its key, see `numbers.number_key`."""
        found: dict[str, list[NumberHit]] = {}
        for word, text in enumerate(self.texts):
            if not any(character.isdigit() for character in text):
                continue
            previous, following = self.near(word, -1), self.near(word, 1)
            before = self.texts[previous] if previous is not None else ""
            after = self.texts[following] if following is not None else ""
            joined = unicodedata.normalize("NFKC", text)
            for number in printed_numbers(joined):
                alone = number.alone and before[-1:] != "/" and after[:1] != "/"
                negative = number.negative or before in _MINUS or after in _MINUS
                percent = number.percent or after.startswith("%")
                hits = found.setdefault(number.key, [])
                if len(hits) < _MAX_HITS:
                    hits.append(NumberHit(word, word, negative, percent, alone))
            if _THOUSANDS_HEAD.fullmatch(joined) and following is not None and _THOUSANDS.fullmatch(after):
                self._spaced_number(word, joined, before in _MINUS, found)
            if after and after.strip(".,").isalpha():
                for number in printed_numbers(joined + after):
                    found.setdefault(number.key, []).append(
                        NumberHit(word, following or word, number.negative, False, number.alone)
                    )
        return found

    def _spaced_number(self, word: int, text: str, negative: bool, found: dict[str, list[NumberHit]]) -> None:
        """Numbers whose thousands are set apart by spaces: 1 234 567,50."""
        last, joined = word, text
        while (following := self.near(last, 1)) is not None and _THOUSANDS.fullmatch(self.texts[following]):
            last, joined = following, joined + "_" + self.texts[following]
            for number in printed_numbers(joined):
                found.setdefault(number.key, []).append(
                    NumberHit(word, last, number.negative or negative, number.percent, number.alone)
                )
            if not self.texts[following].isdigit():
                return

    @cached_property
    def dates(self) -> dict[Date, list[tuple[int, int]]]:
        """The first and last word of every printed date; an unclear one (05/03/2026) stands under each meaning."""
        return self._dates(partial=False)

    @cached_property
    def partial_dates(self) -> dict[Date, list[tuple[int, int]]]:
        """Dates that are printed without their year."""
        return self._dates(partial=True)

    def _dates(self, *, partial: bool) -> dict[Date, list[tuple[int, int]]]:
        pieces: list[str] = []
        starts = array("l")
        length = 0
        for word, text in enumerate(self.texts):
            apart = " "
            if word and self.line_of[word] == self.line_of[word - 1] and self.gap(word, word - 1) > _FAR:
                apart = " | "
            plain = unicodedata.normalize("NFKC", text)
            starts.append(length + len(apart))
            pieces += (apart, plain)
            length += len(apart) + len(plain)
        found: dict[Date, list[tuple[int, int]]] = {}
        for printed in printed_dates("".join(pieces), partial=partial):
            span = bisect_right(starts, printed.start) - 1, bisect_right(starts, printed.end - 1) - 1
            places = found.setdefault(printed.date, [])
            if span not in places[-8:]:
                places.append(span)
        return found

    @cached_property
    def currencies(self) -> dict[str, list[int]]:
        """The words that show a currency, by the form that they show: "€", "eur", "us$"."""
        found: dict[str, list[int]] = {}
        for word, text in enumerate(self.texts):
            if len(text) <= 24:
                for form in signs_in(text):
                    found.setdefault(form, []).append(word)
        return found
