"""Guesses how an answer goes on: from what the document prints, and from how its lists have gone so far.

A guess that is right saves the passes of its tokens; one that is wrong costs a little more work in a pass that is
needed anyway. So guesses of a kind that comes true too rarely are no longer made, and where nothing comes true at all
drafting is tried more and more rarely.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from forklift.decoding.leaf_cursor import Awaits, Leaf, LeafCursor, Path
from forklift.decoding.printed_values import Printed, PrintedValues
from forklift.evidence.names import FieldNames

if TYPE_CHECKING:
    from forklift.decoding.constraint import Constraint, TokenizerView
    from forklift.evidence.word_index import PageWords
    from forklift.schema import Schema

MAX_DRAFT = 16  # tokens; more rows cost a packed product a second reading of its weights
_SHORTEST = 4  # after drafts that brought nothing
_WORTH = 0.15  # a token more in a pass costs about so much of the pass
_TRIES = 12  # guesses about one value that are held against the grammar
_PRIOR_WEIGHT = 4.0
_MEMORY = 24.0  # observations after which older ones fade
_RETRY = 24  # a kind of guess that is not worth it is tried again after so many times that it was not
_LONGEST_PAUSE = 64  # passes


class Guess(NamedTuple):
    """text: what comes next, the beginning of a value, a whole one or its end. cell: where it is printed."""

    text: str
    kind: str
    cell: int | None = None


@dataclass
class _Answer:
    """What is known of an answer: the one so far, or one that is being guessed."""

    cursor: LeafCursor
    texts: MutableMapping[Path, bytes] = field(default_factory=dict)
    cells: MutableMapping[Path, int] = field(default_factory=dict)
    last: Path | None = None  # the leaf that was found in the document last

    def branch(self) -> _Answer:
        return _Answer(self.cursor.copy(), ChainMap({}, self.texts), ChainMap({}, self.cells), self.last)


class _Record:
    """How often guesses of one kind came true."""

    __slots__ = ("skipped", "total", "true")

    def __init__(self, prior: float) -> None:
        self.true, self.total, self.skipped = prior * _PRIOR_WEIGHT, _PRIOR_WEIGHT, 0

    def note(self, came_true: bool) -> None:
        if self.total > _MEMORY:
            self.true, self.total = self.true * _MEMORY / self.total, _MEMORY
        self.true, self.total = self.true + came_true, self.total + 1

    @property
    def probability(self) -> float:
        return self.true / self.total


# Where a kind starts from, measured with true answers of made-up documents (`forklift bench passes`).
_PRIORS = {
    "row": 0.7,
    "label": 0.7,
    "right": 0.45,
    "after": 0.16,
    "first": 0.16,
    "prefix1": 0.2,
    "prefix2": 0.45,
    "prefix3": 0.6,
    "prefix4": 0.85,
    "more": 0.75,
    "last": 0.85,
    "open": 0.9,
    "end0": 0.2,  # an integer may go on
    "null": 0.3,
}


class DocumentDrafter:
    """Drafts for one answer. pages: the words of its document, may be none. schema: its titles help to find labels."""

    def __init__(self, pages: Iterable[PageWords], view: TokenizerView, schema: Schema | None = None) -> None:
        self._view = view
        self._printed = PrintedValues(pages)
        self._names = FieldNames(schema)
        self._answer = _Answer(LeafCursor())
        self._forecasts: dict[Path, list[tuple[int, str]]] = {}
        self._labelled: dict[tuple[str, ...], list[tuple[float, int]]] = {}
        self.records: dict[str, _Record] = {}
        self._text = b""  # of the last proposal
        self._token_ends: list[int] = []  # of its tokens
        self._parts: list[tuple[int, str]] = []  # its guesses: where each ends, and its kind
        self._observed = b""  # since the last proposal
        self._length = MAX_DRAFT
        self._pause = self._pausing = 0  # passes without a draft, after drafts that brought nothing

    def observe(self, token_id: int) -> None:
        """The answer went on by this token."""
        text = self._view.text(token_id)
        if self._text:
            self._observed += text
        self._follow(self._answer, text)

    def propose(self, constraint: Constraint, limit: int) -> list[int]:
        """At most `limit` tokens that may come next; see `decode.Drafter`."""
        self._judge()
        if self._pausing > 0:
            self._pausing -= 1
            return []
        limit = min(limit, self._length)
        text, parts = self._write(constraint.copy(), limit)
        if not parts:
            return []
        tokens = self._view.encode(text.decode())[:limit]
        tokens = tokens[: constraint.acceptable(tokens)]
        pieces = [self._view.text(token) for token in tokens]
        self._text, self._token_ends = b"".join(pieces), list(accumulate(map(len, pieces)))
        self._parts = parts
        return tokens

    def _judge(self) -> None:
        """See what has become of the last proposal."""
        if not self._text:
            return
        right = 0
        for ours, theirs in zip(self._text, self._observed, strict=False):
            if ours != theirs:
                break
            right += 1
        for end, kind in self._parts:
            if end > len(self._text) and right == len(self._text):
                break  # cut, and right as far as it went
            if kind:
                self._record(kind).note(end <= right)
            if end > right:
                break
        tokens_right = sum(end <= right for end in self._token_ends)
        if tokens_right >= max(1.0, _WORTH * len(self._token_ends)):
            self._pause //= 4
            self._length = MAX_DRAFT
        else:
            self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE)
            self._length = max(self._length // 2, _SHORTEST)
        self._pausing = self._pause
        self._text, self._parts, self._observed = b"", [], b""

    def _record(self, kind: str) -> _Record:
        if kind not in self.records:
            self.records[kind] = _Record(_PRIORS.get(kind, 0.5))
        return self.records[kind]

    def _write(self, constraint: Constraint, limit: int) -> tuple[bytes, list[tuple[int, str]]]:
        """The text of a draft and its guesses; what is forced after a guess belongs to the text."""
        answer = self._answer.branch()
        text, parts, length, probability = b"", [], 0, 1.0
        guessed = False
        while length < limit and not constraint.is_complete:
            piece, kind = constraint.forced_bytes(), ""
            if not piece:
                guess, tokens = self._choose(constraint, answer, probability)
                if guess is None:
                    break
                piece, kind, guessed = guess.text.encode(), guess.kind, True
                probability *= self._record(kind).probability
            else:
                try:
                    tokens = self._view.encode(piece.decode())
                except UnicodeDecodeError:
                    break
            constraint.accept(tokens)
            self._follow(answer, piece)
            text += piece
            length += len(tokens)
            parts.append((len(text), kind))
        return (text, parts) if guessed else (b"", [])

    def _choose(self, constraint: Constraint, answer: _Answer, probability: float) -> tuple[Guess | None, list[int]]:
        """The first guess that the grammar allows and that is worth its place."""
        tried = 0
        for guess in self._guesses(answer):
            tried += 1
            if tried > _TRIES:
                break
            tokens = self._view.encode(guess.text)
            if not tokens or constraint.acceptable(tokens) < len(tokens):
                continue
            record = self._record(guess.kind)
            if probability * record.probability < _WORTH:
                record.skipped += 1
                if record.skipped % _RETRY or probability < 1:
                    continue
            return guess, tokens
        return None, []

    def _guesses(self, answer: _Answer) -> Iterator[Guess]:
        cursor = answer.cursor
        try:
            begun = cursor.text.decode()
        except UnicodeDecodeError:
            return
        if cursor.awaits is Awaits.VALUE:
            yield from self._values(answer)
        elif cursor.awaits is Awaits.STRING:
            for value, kind in self._continuing(answer, begun, True):
                rest = value.text[len(begun) :] + ('"' if value.whole else "")
                if rest:
                    yield Guess(rest, kind)
        elif cursor.awaits is Awaits.SCALAR:
            for value, kind in self._continuing(answer, begun, False):
                for end in self._ends(answer):
                    yield Guess(value.text[len(begun) :] + end, kind)
            for end in self._ends(answer):
                yield Guess(end, "end" + str(min(len(begun.partition(".")[2]), 3)))
        elif cursor.awaits is Awaits.NEXT:
            for end in self._ends(answer):
                yield Guess(end, "more" if end == "," else "last")

    def _ends(self, answer: _Answer) -> tuple[str, ...]:
        """What may follow a complete value, the likelier first; the grammar knows which of them can."""
        path = answer.cursor.path
        if path and isinstance(path[-1], int) and not self._has_next(answer, path):
            return ("]", "\n", ",")
        return (",", "}", "\n", "]")

    def _values(self, answer: _Answer) -> Iterator[Guess]:
        """Whole values for the leaf that comes next."""
        path = answer.cursor.path
        before = answer.texts.get(_previous(path)) if _is_later(path) else None
        if before == b"null":
            yield Guess("null", "null again")
        for cell, kind in self._forecast(answer, path):
            for value in self._printed.of_cell(cell):
                text = f'"{value.text}"' if value.is_string else value.text
                if value.is_string:
                    yield Guess(text, kind, cell)
                else:
                    for end in self._ends(answer):
                        yield Guess(text + end, kind, cell)
        if before is not None and before != b"null":
            for text in (f'"{before.decode(errors="ignore")}"', before.decode(errors="ignore")):
                yield Guess(text, "repeat")
        yield Guess("{", "open")
        yield Guess("null", "null")

    def _continuing(self, answer: _Answer, begun: str, is_string: bool) -> Iterator[tuple[Printed, str]]:
        """Printed values that go on from what stands of a value, the likeliest first."""
        forecast = self._forecast(answer, answer.cursor.path)
        for cell, kind in forecast:
            for value in self._printed.of_cell(cell):
                if value.is_string == is_string and value.text.startswith(begun):
                    yield value, kind
        if not begun:
            return
        kind = f"prefix{min(len(begun), 4)}"
        found = self._printed.starting_with(begun, is_string)
        for value in sorted(found, key=lambda value: self._distance(answer, value))[:3]:
            yield value, kind
        if is_string and not found and " " in begun:
            words = begun.split(" ")
            for start in range(1, len(words)):
                tail = " ".join(words[start:])
                if tail:
                    for value in self._printed.starting_with(tail, True, 4):
                        yield value._replace(text=begun[: len(begun) - len(tail)] + value.text), "tail"

    def _distance(self, answer: _Answer, value: Printed) -> tuple[bool, int]:
        """How far a value stands from the last one that was found; those before it last, whole cells first."""
        place = self._printed.cell_of[value.first]
        last = -1 if answer.last is None else answer.cells[answer.last]
        return not value.whole, place - last if place > last else 10_000 + last - place

    def _forecast(self, answer: _Answer, path: Path) -> list[tuple[int, str]]:
        """Cells where the leaf at `path` may be printed, the likeliest first, with the kind of guess."""
        found = self._forecasts.get(path)
        if found is None:
            kinds: dict[int, str] = {}
            for cell, kind in self._places(answer, path):
                kinds.setdefault(cell, kind)
            found = list(kinds.items())[:8]
            self._forecasts = {path: found}
        return found

    def _places(self, answer: _Answer, path: Path) -> Iterator[tuple[int, str]]:
        printed = self._printed
        if _is_later(path):
            # A label would lead to the first element's place again.
            yield from ((cell, "row") for cell in self._next_in_column(answer, path))
        else:
            yield from self._labels(path)
        last = 0 if answer.last is None else answer.cells[answer.last] + 1
        if last < len(printed.cells):
            same = answer.last is not None and last in printed.line_cells(
                printed.index.line_of[printed.cells[last - 1][0]]
            )
            yield last, "right" if same else "after" if answer.last is not None else "first"

    def _labels(self, path: Path) -> Iterator[tuple[int, str]]:
        """Cells whose label says the leaf's name."""
        column = tuple("*" if isinstance(step, int) else step for step in path)
        if column not in self._labelled:
            self._labelled[column] = self._printed.labelled(self._names.names(path))
        for like, cell in self._labelled[column][:4]:
            yield cell, "label" if like > 0.8 else "perhaps"

    def _next_in_column(self, answer: _Answer, path: Path) -> Iterator[int]:
        """Where a list's leaf stands if its elements are the rows of a table."""
        above = answer.cells.get(_previous(path))
        if above is None:
            return
        printed = self._printed
        element = _element(path)
        anchor = answer.last
        if anchor is not None and anchor[: len(element)] == element and _previous(anchor) in answer.cells:
            line_of = printed.index.line_of
            lines = [
                line_of[printed.cells[cell][0]] for cell in (answer.cells[anchor], answer.cells[_previous(anchor)])
            ]
            target = line_of[printed.cells[above][0]] + lines[0] - lines[1]
            for line in (target, target + 1, target - 1):
                yield from (cell for cell in printed.line_cells(line) if printed.aligned(above, cell))
        else:
            for number, cell in enumerate(printed.below(above)):
                if number == 3:
                    break
                yield cell

    def _has_next(self, answer: _Answer, path: Path) -> bool:
        """Whether a row follows the list element `path` on the page."""
        first = next((leaf for leaf in _leaves_of(answer, path)), None)
        if first is None:
            return True
        printed = self._printed
        cell = answer.cells[first]
        line = printed.index.line_of[printed.cells[cell][0]]
        step = 3
        before = answer.cells.get(_previous(first)) if _is_later(first) else None
        if before is not None:
            step = max(1, line - printed.index.line_of[printed.cells[before][0]]) + 1
        following = next(printed.below(cell), None)
        if following is None or printed.index.line_of[printed.cells[following][0]] - line > step:
            return False
        ours = {value.is_string for value in printed.of_cell(cell)}
        theirs = {value.is_string for value in printed.of_cell(following)}
        return ours == theirs

    def _follow(self, answer: _Answer, text: bytes) -> None:
        for leaf in answer.cursor.feed(text):
            answer.texts[leaf.path] = leaf.text
            cell = self._find(answer, leaf)
            if cell is not None:
                answer.cells[leaf.path] = cell
                answer.last = leaf.path
            self._forecasts.clear()

    def _find(self, answer: _Answer, leaf: Leaf) -> int | None:
        """The cell that a complete leaf was most likely read from."""
        try:
            text = leaf.text.decode()
        except UnicodeDecodeError:
            return None
        if not text or text in ("null", "true", "false"):
            return None
        if not leaf.is_string and "." in text:
            text = text.rstrip("0").rstrip(".")
        for cell, _ in self._forecast(answer, leaf.path):
            if any(value.text == text and value.is_string == leaf.is_string for value in self._printed.of_cell(cell)):
                return cell
        found = [value for value in self._printed.starting_with(text, leaf.is_string) if value.text == text]
        if not found:
            return None
        return self._printed.cell_of[min(found, key=lambda value: self._distance(answer, value)).first]


def _last_index(path: Path) -> int:
    """Where the innermost place in a list stands in a path; -1 for none."""
    return max((place for place, step in enumerate(path) if isinstance(step, int)), default=-1)


def _element(path: Path) -> Path:
    return path[: _last_index(path) + 1]


def _is_later(path: Path) -> bool:
    """Whether it belongs to the second or a later element of a list."""
    place = _last_index(path)
    return place >= 0 and path[place] != 0


def _previous(path: Path) -> Path:
    """The same leaf of the list element before."""
    place = _last_index(path)
    step = path[place]
    assert isinstance(step, int)
    return (*path[:place], step - 1, *path[place + 1 :])


def _leaves_of(answer: _Answer, element: Path) -> Iterator[Path]:
    return (path for path in answer.cells if path[: len(element)] == element)
