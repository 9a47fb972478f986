"""ANLS*: partial points for values that are nearly right (Peer et al., 2024, arXiv:2402.03848).

A leaf earns its normalised Levenshtein similarity, or nothing below 0.5; objects and lists earn the sum of what is in
them, divided by the number of leaves that gold and answer have together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from forklift.evaluate.alignment import assignment, elements_of, members_of, pair
from forklift.evaluate.expected import ExpectedFields
from forklift.evaluate.score import Failure
from forklift.evaluate.tree import NULL, NULL_KEY, Leaf, Node, Record, Trees, surplus_of

THRESHOLD = 0.5
MAX_COMPARISONS = 20_000  # of leaves in one list; larger lists are paired as for field accuracy


def anls_star(gold: Any, answer: Any, schema: ExpectedFields | None = None) -> float:
    """0-1; 0 for FAILURE, and 1 where neither gold nor answer has anything. White space and case are set aside.

    Equal elements of a list are paired first, the others by optimal assignment.
    """
    if isinstance(answer, Failure):
        return 0.0
    trees = Trees()
    points, size = _points(trees.grow(gold if schema is None else schema.complete(gold)), trees.grow(answer))
    return points / size if size else 1.0


def _points(gold: Node, answer: Node) -> tuple[float, int]:
    """(points earned, points to earn)."""
    if gold.structure == answer.structure:
        return float(gold.leaves), gold.leaves
    if isinstance(gold, Leaf):
        if gold.tolerant == NULL_KEY:
            return (0.0, answer.values) if answer.values else (1.0, 1)
        return (_leaf_points(gold, answer), 1) if isinstance(answer, Leaf) else (0.0, max(1, answer.values))
    if isinstance(gold, Record):
        members, misplaced = members_of(answer)
        points, size = 0.0, misplaced
        for name, child in gold.members.items():
            earned, possible = _points(child, members.get(name, NULL))
            points, size = points + earned, size + possible
        size += sum(child.surplus for name, child in members.items() if name not in gold.members)
        return points, size
    elements, misplaced = elements_of(answer)
    pairs = _pair(gold.elements, elements)
    points, size = 0.0, misplaced
    for i, j in pairs:
        earned, possible = _points(gold.elements[i], elements[j])
        points, size = points + earned, size + possible
    paired_gold, paired_answer = {i for i, _ in pairs}, {j for _, j in pairs}
    size += sum(element.leaves for i, element in enumerate(gold.elements) if i not in paired_gold)
    size += sum(surplus_of(element) for j, element in enumerate(elements) if j not in paired_answer)
    return points, size


def _pair(gold: list[Node], answer: list[Node]) -> list[tuple[int, int]]:
    """The pairs that earn most."""
    if len(gold) == len(answer) == 1:
        return [(0, 0)]
    pairs: list[tuple[int, int]] = []
    waiting: dict[int, list[int]] = {}
    for j in range(len(answer) - 1, -1, -1):
        waiting.setdefault(answer[j].structure, []).append(j)
    rest_gold = []
    for i, element in enumerate(gold):
        if waiting.get(element.structure):
            pairs.append((i, waiting[element.structure].pop()))
        else:
            rest_gold.append(i)
    rest_answer = sorted(j for left in waiting.values() for j in left)
    if not rest_gold or not rest_answer:
        return pairs
    if len(rest_answer) * sum(gold[i].leaves for i in rest_gold) > MAX_COMPARISONS:
        by_fields = pair([gold[i] for i in rest_gold], [answer[j] for j in rest_answer], ordered=False)
    else:
        by_fields = assignment([[_points(gold[i], answer[j])[0] for j in rest_answer] for i in rest_gold])
    return pairs + [(rest_gold[i], rest_answer[j]) for i, j in by_fields]


def _leaf_points(gold: Leaf, answer: Leaf) -> float:
    if gold.tolerant == answer.tolerant:
        return 1.0
    if answer.tolerant == NULL_KEY:
        return 0.0
    return similarity(_text(gold.value), _text(answer.value))


def _text(value: Any) -> str:
    return " ".join(str(value).casefold().split())


@lru_cache(maxsize=1 << 16)
def similarity(one: str, other: str) -> float:
    """1 - Levenshtein distance / length of the longer text, or 0 where that is below the threshold."""
    longer = max(len(one), len(other))
    if longer == 0:
        return 1.0
    if abs(len(one) - len(other)) > (1 - THRESHOLD) * longer:
        return 0.0
    share = 1 - levenshtein(one, other) / longer
    return share if share >= THRESHOLD else 0.0


def levenshtein(one: str, other: str) -> int:
    """Insertions, deletions and substitutions of characters that turn `one` into `other`.

    A column of the distance table at a time, as two bit vectors of the steps up and down it (Myers 1999, in the form
    of Hyyrö 2003); Python's integers are as long as the text.
    """
    if not one:
        return len(other)
    mask = (1 << len(one)) - 1
    last = 1 << (len(one) - 1)
    positions: dict[str, int] = {}
    for index, character in enumerate(one):
        positions[character] = positions.get(character, 0) | 1 << index
    up, down, distance = mask, 0, len(one)
    for character in other:
        same = positions.get(character, 0)
        diagonal = (((same & up) + up) ^ up) | same | down
        right_up = down | (~(diagonal | up) & mask)
        right_down = up & diagonal
        distance += bool(right_up & last) - bool(right_down & last)
        right_up = (right_up << 1 | 1) & mask
        right_down = (right_down << 1) & mask
        up = right_down | (~(diagonal | right_up) & mask)
        down = right_up & diagonal
    return distance
