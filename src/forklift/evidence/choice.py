"""Which of its places a value is cited from: those on which all fields agree best.

Elements of a list are first given their lines, in reading order; then each field in turn takes the place that fits
best what the others hold, until nothing changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from forklift.evidence.labels import Labels
from forklift.evidence.occurrences import Occurrence, Occurrences
from forklift.evidence.word_index import WordIndex

_SWEEPS = 4
_ALIGNED = 3.0  # points between edges of one column
_REACH = 3  # lines between the parts of one element of a list
_FREQUENT = 60  # a value that is printed more often does not tell where an element stands
_CONSIDERED = 80  # places of one field that are compared; lines of one element
_NEARNESS = 0.004  # what a line of distance between two elements of a list costs
_BLOCK = 3  # lines between fields that stand together


@dataclass
class Leaf:
    """A value whose place is to be chosen.

    path: its steps from the root. names: the words of its name, of its title, and of its parent's.
    trace: the value is printed nowhere, and `found` is where it may have been misread from: it says where the other
        leaves of its list element stand, and is not cited.
    chosen: the outcome; None where no place is credible.
    """

    path: tuple[str | int, ...]
    names: tuple[frozenset[str], ...]
    found: Occurrences
    trace: bool = False
    chosen: Occurrence | None = None
    places: tuple[Occurrence, ...] = ()
    merits: list[float] = field(default_factory=list)

    @property
    def element(self) -> tuple[str | int, ...]:
        """The list element that it is part of; empty outside of lists."""
        for length in range(len(self.path), 0, -1):
            if isinstance(self.path[length - 1], int):
                return self.path[:length]
        return ()

    @property
    def column(self) -> tuple[str, ...]:
        return tuple("*" if isinstance(step, int) else step for step in self.path)


class Choice:
    """The joint choice over all leaves of one document; the result is in `Leaf.chosen`."""

    def __init__(self, index: WordIndex, leaves: Sequence[Leaf]) -> None:
        self._index = index
        self._labels = Labels(index)
        self._leaves = leaves
        self._elements: dict[tuple[str | int, ...], list[Leaf]] = {}
        self._columns: dict[tuple[str, ...], list[Leaf]] = {}
        for leaf in leaves:
            self._elements.setdefault(leaf.element, []).append(leaf)
            self._columns.setdefault(leaf.column, []).append(leaf)
        self._order = {id(leaf): number for number, leaf in enumerate(leaves)}
        self._row_in_column = {
            id(leaf): number for column in self._columns.values() for number, leaf in enumerate(column)
        }
        self._lines: dict[tuple[str | int, ...], int] = {}  # element -> the line that it stands on
        self._windows: dict[tuple[str | int, ...], tuple[int, int]] = {}  # element -> first and last possible line
        self._heads: dict[tuple[str, ...], list[tuple[float, float, float]]] = {}  # by column
        self._taken: Counter[tuple[int, str]] = Counter()

    def run(self) -> None:
        for elements in self._lists():
            self._lay_out(elements)
        for leaf in self._leaves:
            self._consider(leaf)
        # The fewer places, the surer: such leaves choose first.
        order = sorted(self._leaves, key=lambda leaf: len(leaf.places))
        for _ in range(_SWEEPS):
            changed = False
            for leaf in order:
                changed |= self._choose(leaf)
            if not changed:
                break
        for leaf in self._leaves:
            if leaf.chosen is not None and leaf.found.weak and not leaf.trace and not self._supported(leaf):
                self._take(leaf, None)

    def anchored(self, leaf: Leaf) -> bool:
        """Whether it is known where the list element of this leaf stands, without the leaf itself."""
        others = [one for one in self._elements[leaf.element] if one is not leaf and one.chosen is not None]
        return bool(leaf.element) and (any(not one.found.weak for one in others) or len(others) > 1)

    # Elements of lists to lines

    def _lists(self) -> Iterable[list[tuple[str | int, ...]]]:
        lists: dict[tuple[str | int, ...], list[tuple[str | int, ...]]] = {}
        for element in self._elements:
            if element:
                lists.setdefault(element[:-1], []).append(element)
        return lists.values()

    def _lay_out(self, elements: list[tuple[str | int, ...]]) -> None:
        """Give each element a line, the sum of what its leaves say at it highest, lines rising if possible."""
        scores = [self._line_scores(self._elements[element]) for element in elements]
        plain_values = all(leaf.path == element for element in elements for leaf in self._elements[element])
        path = _rising_path(scores, same_line=plain_values)
        known = [(number, line) for number, line in enumerate(path) if line is not None]
        for element, line in zip(elements, path, strict=True):
            if line is not None:
                self._lines[element] = line
        rising = all(one[1] < other[1] for one, other in pairwise(known))
        numbers = [number for number, _ in known]
        for number, element in enumerate(elements):
            at, line = bisect_left(numbers, number), path[number]
            before = known[at - 1][1] if at else -1
            following = at if line is None else at + 1
            after = known[following][1] if following < len(known) else len(self._index.lines)
            if line is not None:
                low, high = line - _REACH, line + _REACH
                self._windows[element] = (max(low, before + 1) if rising else low, min(high, after) if rising else high)
            elif rising and known:
                self._windows[element] = (before, after)

    def _line_scores(self, leaves: list[Leaf]) -> dict[int, float]:
        """How much of an element stands at and around each line."""
        total: dict[int, float] = {}
        telling = [leaf for leaf in leaves if 0 < len(leaf.found.places) <= _FREQUENT]
        telling = telling or [leaf for leaf in leaves if leaf.found.places]
        for leaf in telling:
            weight = (0.4 if leaf.found.weak or leaf.trace else 1.0) / (1 + 0.05 * len(leaf.found.places))
            best: dict[int, float] = {}
            for place in leaf.found.places[:_FREQUENT]:
                for offset, share in ((0, 1.0), (1, 0.7), (-1, 0.65), (2, 0.4)):
                    line = place.line - offset
                    score = weight * share * place.quality
                    if score > best.get(line, 0.0):
                        best[line] = score
            for line, score in best.items():
                total[line] = total.get(line, 0.0) + score
        if len(total) > _CONSIDERED:
            total = dict(sorted(total.items(), key=lambda item: -item[1])[:_CONSIDERED])
        return total

    # What each leaf brings along

    def _consider(self, leaf: Leaf) -> None:
        """Keep the places worth comparing, with what speaks for each of them by itself."""
        places = leaf.found.places
        window = self._windows.get(leaf.element)
        if window is not None:
            lines = [place.line for place in places]
            inside = places[bisect_left(lines, window[0]) : bisect_right(lines, window[1])]
            # A value of its own weight may stand elsewhere, as a date over several lines; one as short as "2" not.
            if inside or (leaf.found.weak and leaf.element in self._lines):
                places = inside
            elif leaf.element in self._lines:
                line = self._lines[leaf.element]
                places = tuple(sorted(places, key=lambda place: abs(place.line - line))[:_CONSIDERED])
        if len(places) > _CONSIDERED:
            labelled = sorted(
                range(len(places)), key=lambda number: (-self._labels.at(places[number], leaf.names), number)
            )
            places = tuple(places[number] for number in sorted(labelled[:_CONSIDERED]))
        leaf.places = places
        # In a table the heads of the columns are the labels, and what stands beside a cell is another cell.
        label_weight = 0.6 if leaf.element else 1.6
        # Where nothing is labelled, a currency is best seen at the sum below; anything else where it is said first.
        earlier = 0.002 if leaf.found.kind == "currency" else -0.002
        for number, place in enumerate(places):
            merit = 2.0 * place.quality + label_weight * self._labels.at(place, leaf.names) + earlier * number
            leaf.merits.append(merit + 0.8 * self._head(leaf, place))

    def _head(self, leaf: Leaf, place: Occurrence) -> float:
        """How well the head of the table column at `place` says the leaf's name, 0-1."""
        if leaf.element not in self._lines:
            return 0.0
        if leaf.column not in self._heads:
            rows = (one.element for one in self._columns[leaf.column])
            first = min(self._lines[row] for row in rows if row in self._lines)
            self._heads[leaf.column] = self._labels.heads(leaf.names, first)
        over = (like for like, left, right in self._heads[leaf.column] if place.left < right and place.right > left)
        return max(over, default=0.0)

    # The choice

    def _choose(self, leaf: Leaf) -> bool:
        """Take the best place as things stand; whether that is another one than before."""
        if not leaf.places or (leaf.chosen is not None and len(leaf.places) == 1):
            return False
        before = leaf.chosen
        self._take(leaf, None)
        context = self._listed if leaf.element else self._unlisted
        scores = context(leaf)
        for number, place in enumerate(leaf.places):
            if not leaf.trace and any(self._taken[word, leaf.found.kind] for word in place.words):
                scores[number] -= 1.5
        best = max(range(len(scores)), key=lambda number: leaf.merits[number] + scores[number])
        self._take(leaf, leaf.places[best])
        return leaf.chosen is not before

    def _take(self, leaf: Leaf, place: Occurrence | None) -> None:
        for step, held in ((-1, leaf.chosen), (1, place)) if not leaf.trace else ():
            for word in held.words if held is not None else ():
                self._taken[word, leaf.found.kind] += step
        leaf.chosen = place

    def _listed(self, leaf: Leaf) -> list[float]:
        """What the other leaves of its element, and of its column in other elements, say for each place."""
        siblings = [one for one in self._elements[leaf.element] if one is not leaf and one.chosen is not None][:8]
        weights = [0.4 if one.found.weak or one.trace else 1.0 for one in siblings]
        own_line = self._lines.get(leaf.element)
        column = self._column_neighbours(leaf)
        scores = []
        for place in leaf.places:
            score = 0.0
            if siblings:
                near = sum(
                    weight * _closeness(abs(place.line - one.chosen.line)) + 0.15 * self._in_order(leaf, place, one)
                    for one, weight in zip(siblings, weights, strict=True)
                    if one.chosen is not None
                )
                score += 2.0 * near / sum(weights)
            if own_line is not None:
                score += 0.5 * _closeness(abs(place.line - own_line))
            if column:
                fit = 0.0
                for other, other_line in column:
                    fit += 1.2 * _aligned(place, other)
                    if own_line is not None and other_line is not None:
                        fit += 0.6 * (place.line - own_line == other.line - other_line)
                score += fit / len(column)
            scores.append(score)
        return scores

    def _column_neighbours(self, leaf: Leaf) -> list[tuple[Occurrence, int | None]]:
        column, row = self._columns[leaf.column], self._row_in_column[id(leaf)]
        near = [*column[max(row - 3, 0) : row], *column[row + 1 : row + 4]]
        return [(one.chosen, self._lines.get(one.element)) for one in near if one.chosen is not None and not one.trace]

    def _unlisted(self, leaf: Leaf) -> list[float]:
        """What the fields beside it in the schema say for each place."""
        siblings = self._neighbours(leaf)
        scores = []
        for place in leaf.places:
            score = -0.6 * any(low <= place.line <= high for low, high in self._list_extents)
            for one in siblings:
                assert one.chosen is not None
                score += 0.2 * self._in_order(leaf, place, one)
                if abs(place.line - one.chosen.line) <= _BLOCK:
                    score += 0.1 + 0.2 * _aligned(place, one.chosen)
            scores.append(score)
        return scores

    def _neighbours(self, leaf: Leaf) -> list[Leaf]:
        """The last field before it and the first after it, of the same object, that are placed."""
        family = [one for one in self._elements[leaf.element] if one.path[:-1] == leaf.path[:-1]]
        at = next(number for number, one in enumerate(family) if one is leaf)
        before = next((one for one in reversed(family[:at]) if one.chosen is not None and not one.trace), None)
        after = next((one for one in family[at + 1 :] if one.chosen is not None and not one.trace), None)
        return [one for one in (before, after) if one is not None]

    @cached_property
    def _list_extents(self) -> list[tuple[int, int]]:
        extents = []
        for elements in self._lists():
            lines = [self._lines[element] for element in elements if element in self._lines]
            if len(lines) > 0 and any(len(self._elements[element]) > 1 for element in elements):
                extents.append((min(lines), max(lines)))
        return extents

    def _in_order(self, leaf: Leaf, place: Occurrence, other: Leaf) -> bool:
        """Whether the place comes before or after the other's as the two do in the answer."""
        assert other.chosen is not None
        mine, theirs = (place.line, place.left), (other.chosen.line, other.chosen.left)
        return (mine > theirs) == (self._order[id(leaf)] > self._order[id(other)])

    def _supported(self, leaf: Leaf) -> bool:
        """Whether more than its few characters says that a weak value stands where it was placed."""
        place = leaf.chosen
        assert place is not None
        if self._labels.at(place, leaf.names) >= 0.5:
            return True
        if any(self._taken[word, leaf.found.kind] > 1 for word in place.words):
            return False  # another field has better reasons
        if leaf.element:
            return self._supported_in_list(leaf, place)
        if len(leaf.found.places) == 1 and place.quality >= 0.9:
            return True
        return any(
            one.chosen is not None
            and not (one.found.weak or one.trace)
            and abs(one.chosen.line - place.line) <= _BLOCK
            and _aligned(place, one.chosen)
            for one in self._elements[leaf.element]
            if one is not leaf
        )

    def _supported_in_list(self, leaf: Leaf, place: Occurrence) -> bool:
        """As `_supported`: by its element's other leaves nearby, on lines that no other element holds."""
        plain = len(leaf.path) == len(leaf.element)  # a list of plain values: its other elements
        row = self._row_in_column[id(leaf)]
        family = self._columns[leaf.column][max(row - 9, 0) : row + 10] if plain else self._elements[leaf.element]
        near = [
            one
            for one in family
            if one is not leaf and one.chosen is not None and abs(one.chosen.line - place.line) <= _REACH
        ]
        own_lines = {one.chosen.line for one in near if one.chosen is not None}
        if place.line not in own_lines and not plain and place.line in self._lines_of_others(leaf):
            return False
        column = [other for other, _ in self._column_neighbours(leaf)]
        straight = [one for number, one in enumerate(column) for other in column[:number] if _aligned(one, other)]
        if 2 * len(straight) > len(column) * (len(column) - 1) / 2 and not any(
            _aligned(place, other) for other in column
        ):
            return False
        if any(not one.found.weak for one in near) or len(near) > 1:
            return True
        window = self._windows.get(leaf.element)
        between = window is not None and window[0] <= place.line <= window[1]
        return between and len(column) > 1 and all(_aligned(place, other) for other in column)

    def _lines_of_others(self, leaf: Leaf) -> set[int]:
        """Where the telling leaves of the other elements of its list stand."""
        assert isinstance(leaf.element[-1], int)
        lines = set()
        for number in (leaf.element[-1] - 1, leaf.element[-1] + 1):
            for one in self._elements.get((*leaf.element[:-1], number), ()):
                if one.chosen is not None and not one.found.weak:
                    lines.add(one.chosen.line)
        return lines


def _closeness(lines: int) -> float:
    """1 on the same line, less the more lines lie between."""
    return (1.0, 0.6, 0.35, 0.2, 0.1)[lines] if lines < 5 else -0.5


def _aligned(one: Occurrence, other: Occurrence) -> bool:
    """Whether two places share their left or right edge, or their middle, as the cells of a column do."""
    return (
        abs(one.left - other.left) < _ALIGNED
        or abs(one.right - other.right) < _ALIGNED
        or abs(one.left + one.right - other.left - other.right) < _ALIGNED
    )


def _rising_path(scores: Sequence[dict[int, float]], *, same_line: bool = False) -> list[int | None]:
    """A line for each element, None for one without any: high scores, and lines that rise.

    same_line: neighbours may share a line. An element may also stand higher than the one before it, at a price.
    """
    path: list[int | None] = [None] * len(scores)
    steps: list[tuple[int, list[int], list[float], list[int]]] = []  # element, lines, values, step before
    for number, score in enumerate(scores):
        if not score:
            continue
        lines = sorted(score)
        values, before = [], []
        if steps:
            _, old_lines, old_values, _ = steps[-1]
            anywhere = max(range(len(old_lines)), key=old_values.__getitem__)
            best_below: list[int] = []  # best of the old lines up to each one
            for at in range(len(old_lines)):
                weight = old_values[at] + _NEARNESS * old_lines[at]
                last = best_below[-1] if best_below else at
                best_below.append(at if weight > old_values[last] + _NEARNESS * old_lines[last] else last)
        for line in lines:
            value, link = score[line] - 1e-6 * line, -1
            if steps:
                link, reached = anywhere, old_values[anywhere] - 0.3
                at = (bisect_right if same_line else bisect_left)(old_lines, line) - 1
                if at >= 0:
                    low = best_below[at]
                    rising = old_values[low] + 0.5 - _NEARNESS * (line - old_lines[low])
                    if rising >= reached:
                        link, reached = low, rising
                value += reached
            values.append(value)
            before.append(link)
        steps.append((number, lines, values, before))
    at = max(range(len(steps[-1][1])), key=steps[-1][2].__getitem__) if steps else -1
    for number, lines, _, before in reversed(steps):
        path[number] = lines[at]
        at = before[at]
    return path
