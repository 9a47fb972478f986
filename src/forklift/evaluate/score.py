"""How right one answer is: a verdict for each field, and the counts of which all figures are made.

docs/evaluate.md defines every figure; alignment.py says which list element answers which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from forklift.evaluate.alignment import elements_of, members_of, pair
from forklift.evaluate.expected import ExpectedFields
from forklift.evaluate.tree import NULL, NULL_KEY, Leaf, Node, Record, Rows, Trees, plain
from forklift.json_schema import escape


class Verdict(StrEnum):
    """What became of one field."""

    CORRECT = "correct"  # tolerantly equal; a null that stayed null too
    OMISSION = "omission"  # gold has a value and the answer none, or the whole list element or answer is missing
    WRONG = "wrong"  # gold and answer have different values
    INVENTION = "invention"  # the answer has a value where gold has null, or no place at all


@dataclass(frozen=True, slots=True)
class FieldScore:
    """One field of gold, or one surplus value of the answer.

    pattern: its JSON Pointer with `*` for each index. pointer: in gold; of a surplus value, its place there, with
    `-` for the index of a surplus element. answer_pointer: where it stands in the answer, or ought to; None where the
    answer lacks the whole list element. answer: None where nothing is given. strict: whether it is strictly equal.
    surplus: no field of gold.
    """

    pattern: str
    pointer: str
    answer_pointer: str | None
    verdict: Verdict
    strict: bool
    gold: Any
    answer: Any
    surplus: bool = False


@dataclass
class Counts:
    """Sums over fields; of documents and of whole datasets alike.

    fields: of gold. nulls: those that are null. correct, strict, correct_nulls: fields that are tolerantly equal,
    strictly equal, equal and null. omissions, wrong, inventions: the others, and surplus values among the
    inventions. surplus: of the inventions, those outside the fields. answered: values of the answer that are not
    null. documents, whole, strict_whole: documents, and those with every field right and no surplus.
    """

    fields: int = 0
    nulls: int = 0
    correct: int = 0
    strict: int = 0
    correct_nulls: int = 0
    omissions: int = 0
    wrong: int = 0
    inventions: int = 0
    surplus: int = 0
    answered: int = 0
    documents: int = 0
    whole: int = 0
    strict_whole: int = 0

    def add(self, other: Counts) -> None:
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def accuracy(self) -> float | None:
        """Tolerantly correct fields of fields and surplus values, 0-1; None where there is nothing to count."""
        return _share(self.correct, self.fields + self.surplus)

    @property
    def strict_accuracy(self) -> float | None:
        return _share(self.strict, self.fields + self.surplus)

    @property
    def precision(self) -> float | None:
        """Correct values of the values that the answer gives."""
        return _share(self.correct - self.correct_nulls, self.answered)

    @property
    def recall(self) -> float | None:
        """Correct values of the values that gold has."""
        return _share(self.correct - self.correct_nulls, self.fields - self.nulls)

    @property
    def f1(self) -> float | None:
        return _share(2 * (self.correct - self.correct_nulls), self.answered + self.fields - self.nulls)

    @property
    def null_accuracy(self) -> float | None:
        """Of the fields that are null in gold, those that were left null."""
        return _share(self.correct_nulls, self.nulls)

    @property
    def whole_accuracy(self) -> float | None:
        """Documents with every field tolerantly right and nothing invented."""
        return _share(self.whole, self.documents)

    @property
    def strict_whole_accuracy(self) -> float | None:
        return _share(self.strict_whole, self.documents)


COUNTED = tuple(one.name for one in fields(Counts))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class DocumentScore:
    """counts: of this document alone. fields: in the order of gold, surplus after what it stands beside."""

    counts: Counts
    fields: tuple[FieldScore, ...]


class Failure:
    """Stands for the answer of a document that has none: every field counts as an omission."""


FAILURE = Failure()


def score(gold: Any, answer: Any, schema: ExpectedFields | None = None, *, ordered: bool = False) -> DocumentScore:
    """Score one answer.

    gold, answer: JSON values; answer may be FAILURE. schema: completes gold with the fields that it leaves out.
    ordered: the elements of lists must be in gold's order.
    """
    trees = Trees()
    tree = trees.grow(gold if schema is None else schema.complete(gold))
    if isinstance(answer, Failure):
        scored = tuple(_missing(tree, "", ""))
        answered = 0
    else:
        answer_tree = trees.grow(answer)
        scored = tuple(_compare(tree, answer_tree, _Place("", "", ""), ordered))
        answered = answer_tree.values
    counts = count(scored)
    counts.answered = answered
    counts.documents = 1
    answered_whole = not isinstance(answer, Failure)
    counts.whole = int(answered_whole and counts.correct == counts.fields and not counts.surplus)
    counts.strict_whole = int(answered_whole and counts.strict == counts.fields and not counts.surplus)
    return DocumentScore(counts, scored)


def count(scored: Iterable[FieldScore]) -> Counts:
    """The counts of some fields; `answered` is that of these fields, and the counts of documents stay 0."""
    counts = Counts()
    for one in scored:
        value = one.answer is not None
        counts.answered += value
        if one.surplus:
            counts.surplus += 1
            counts.inventions += 1
            continue
        null = _is_null(one.gold)
        counts.fields += 1
        counts.nulls += null
        counts.strict += one.strict
        if one.verdict is Verdict.CORRECT:
            counts.correct += 1
            counts.correct_nulls += null
        elif one.verdict is Verdict.OMISSION:
            counts.omissions += 1
        elif one.verdict is Verdict.WRONG:
            counts.wrong += 1
        else:
            counts.inventions += 1
    return counts


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


@dataclass(frozen=True, slots=True)
class _Place:
    pattern: str
    gold: str
    answer: str

    def member(self, name: str) -> _Place:
        step = "/" + escape(name)
        return _Place(self.pattern + step, self.gold + step, self.answer + step)


def _compare(gold: Node, answer: Node, place: _Place, ordered: bool) -> Iterator[FieldScore]:
    if isinstance(gold, Leaf):
        yield _compare_leaf(gold, answer, place)
    elif isinstance(gold, Record):
        members, misplaced = members_of(answer)
        if misplaced:
            yield from _surplus(answer, place.pattern, place.gold, place.answer)
        for name, child in gold.members.items():
            yield from _compare(child, members.get(name, NULL), place.member(name), ordered)
        for name, node in members.items():
            if name not in gold.members and node.surplus:
                inside = place.member(name)
                yield from _surplus(node, inside.pattern, inside.gold, inside.answer)
    else:
        elements, misplaced = elements_of(answer)
        if misplaced:
            yield from _surplus(answer, place.pattern, place.gold, place.answer)
        yield from _compare_rows(gold, elements, place, ordered)


def _compare_rows(gold: Rows, elements: list[Node], place: _Place, ordered: bool) -> Iterator[FieldScore]:
    partners = dict(pair(gold.elements, elements, ordered=ordered))
    pattern = place.pattern + "/*"
    for i, element in enumerate(gold.elements):
        pointer = f"{place.gold}/{i}"
        if i in partners:
            inside = _Place(pattern, pointer, f"{place.answer}/{partners[i]}")
            yield from _compare(element, elements[partners[i]], inside, ordered)
        else:
            yield from _missing(element, pattern, pointer)
    paired = set(partners.values())
    for j, element in enumerate(elements):
        if j not in paired:
            yield from _surplus(element, pattern, f"{place.gold}/-", f"{place.answer}/{j}")


def _compare_leaf(gold: Leaf, answer: Node, place: _Place) -> FieldScore:
    given = answer.values > 0
    strict = isinstance(answer, Leaf) and gold.strict == answer.strict
    if not given:
        strict = strict or (gold.strict == NULL_KEY and not isinstance(answer, Leaf))
        verdict = Verdict.CORRECT if gold.tolerant == NULL_KEY else Verdict.OMISSION
    elif gold.tolerant == NULL_KEY:
        verdict = Verdict.INVENTION
    elif isinstance(answer, Leaf) and gold.tolerant == answer.tolerant:
        verdict = Verdict.CORRECT
    else:
        verdict = Verdict.WRONG
    value = plain(answer) if given else None
    return FieldScore(place.pattern, place.gold, place.answer, verdict, strict, gold.value, value)


def _missing(gold: Node, pattern: str, pointer: str) -> Iterator[FieldScore]:
    """Every field of an element that the answer does not have."""
    if isinstance(gold, Record):
        for name, child in gold.members.items():
            step = "/" + escape(name)
            yield from _missing(child, pattern + step, pointer + step)
    elif isinstance(gold, Rows):
        for index, child in enumerate(gold.elements):
            yield from _missing(child, pattern + "/*", f"{pointer}/{index}")
    else:
        yield FieldScore(pattern, pointer, None, Verdict.OMISSION, False, gold.value, None)


def _surplus(node: Node, pattern: str, pointer: str, answer_pointer: str) -> Iterator[FieldScore]:
    """Every value of what has no place in gold, and every list element that holds none."""
    if node.surplus == 0 or isinstance(node, Leaf):
        yield FieldScore(pattern, pointer, answer_pointer, Verdict.INVENTION, False, None, plain(node), surplus=True)
    elif isinstance(node, Record):
        for name, child in node.members.items():
            if child.surplus:
                step = "/" + escape(name)
                yield from _surplus(child, pattern + step, pointer + step, answer_pointer + step)
    else:
        for index, child in enumerate(node.elements):
            yield from _surplus(child, pattern + "/*", pointer + "/-", f"{answer_pointer}/{index}")


def labels_of(pointer: str, labels: Mapping[str, Iterable[str]]) -> list[str]:
    """The labels of a field: its own, and those of every object and list around it."""
    found: dict[str, None] = {}
    end = len(pointer)
    while True:
        found.update(dict.fromkeys(labels.get(pointer[:end], ())))
        if end <= 0:
            return list(found)
        end = pointer.rfind("/", 0, end)
