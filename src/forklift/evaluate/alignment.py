"""Which element of a list answers which element of gold: the assignment that is best for what is counted.

An agreement is a tuple of four counts over a pair of trees:

values   leaves that are not null in gold and tolerantly equal in the answer
nulls    leaves that are null in both
strict   those of the two above that are strictly equal too
surplus  leaves of the answer that have no place in gold

Lists are paired so that `values` is as high as can be; among such pairings `nulls`, then `strict`, and then the
surplus as low as can be. This order makes every figure of `score.py` monotone: a repaired leaf raises the agreement of
the pairing that stood before, and no other pairing can gain more than it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from forklift.errors import UsageError
from forklift.evaluate.tree import NULL, NULL_KEY, Leaf, Node, Record, Rows, surplus_of

if TYPE_CHECKING:
    import numpy as np

    Counts: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.int64]]"
    Weights: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"

Agreement: TypeAlias = tuple[int, int, int, int]
Pairs: TypeAlias = list[tuple[int, int]]

_NOTHING: Agreement = (0, 0, 0, 0)
_ABSENT = -1  # the key of a member that gold does not name
_MANY_PAIRS = 10_000  # beyond it, equal elements are paired before the rest is looked at
_EXACT = 2.0**52  # integers below are exact in the doubles that the solver computes with


def agreement(gold: Node, answer: Node, *, ordered: bool) -> Agreement:
    """The best agreement of two trees."""
    if gold.structure == answer.structure:
        return gold.values, gold.leaves - gold.values, gold.leaves, 0
    if isinstance(gold, Leaf):
        if gold.tolerant == NULL_KEY:
            blank = answer.values == 0
            return (0, 1, int(gold.strict == _strict(answer)), 0) if blank else _NOTHING
        if isinstance(answer, Leaf) and gold.tolerant == answer.tolerant:
            return 1, 0, int(gold.strict == answer.strict), 0
        return _NOTHING
    if isinstance(gold, Record):
        members, misplaced = members_of(answer)
        values, nulls, strict, surplus = 0, 0, 0, misplaced
        for name, child in gold.members.items():
            part = agreement(child, members.get(name, NULL), ordered=ordered)
            values, nulls, strict, surplus = values + part[0], nulls + part[1], strict + part[2], surplus + part[3]
        surplus += sum(child.surplus for name, child in members.items() if name not in gold.members)
        return values, nulls, strict, surplus
    elements, misplaced = elements_of(answer)
    values, nulls, strict, surplus = 0, 0, 0, misplaced
    pairs = pair(gold.elements, elements, ordered=ordered)
    for i, j in pairs:
        part = agreement(gold.elements[i], elements[j], ordered=ordered)
        values, nulls, strict, surplus = values + part[0], nulls + part[1], strict + part[2], surplus + part[3]
    paired = {j for _, j in pairs}
    surplus += sum(surplus_of(element) for j, element in enumerate(elements) if j not in paired)
    return values, nulls, strict, surplus


def members_of(answer: Node) -> tuple[dict[str, Node], int]:
    """The members of what stands where gold has an object, and the surplus if it is something else."""
    return (answer.members, 0) if isinstance(answer, Record) else ({}, answer.surplus)


def elements_of(answer: Node) -> tuple[list[Node], int]:
    """The elements of what stands where gold has an array, and the surplus if it is something else."""
    return (answer.elements, 0) if isinstance(answer, Rows) else ([], answer.surplus)


def _strict(answer: Node) -> int:
    return answer.strict if isinstance(answer, Leaf) else NULL_KEY


def pair(gold: Sequence[Node], answer: Sequence[Node], *, ordered: bool) -> Pairs:
    """(index in gold, index in answer) of elements that belong together, by rising index in gold.

    Order-free, as many pairs as the shorter list has elements. ordered: pairs may not cross each other, which may
    leave more elements without a partner.
    """
    if not gold or not answer:
        return []
    if len(gold) == len(answer) and all(g.structure == a.structure for g, a in zip(gold, answer, strict=True)):
        return [(index, index) for index in range(len(gold))]
    if len(gold) == len(answer) == 1:
        return [(0, 0)]
    if ordered:
        return _non_crossing(_weights(gold, answer, ordered=True))
    done: Pairs = []
    if len(gold) * len(answer) > _MANY_PAIRS or _is_table(gold):
        # For tables this loses nothing: equality of leaves is transitive, so whatever two elements share with two
        # equal ones, they share with each other.
        done = _equal_pairs(gold, answer)
    taken_gold, taken_answer = {i for i, _ in done}, {j for _, j in done}
    rest_gold = [i for i in range(len(gold)) if i not in taken_gold]
    rest_answer = [j for j in range(len(answer)) if j not in taken_answer]
    if rest_gold and rest_answer:
        weights = _weights([gold[i] for i in rest_gold], [answer[j] for j in rest_answer], ordered=False)
        done += [(rest_gold[i], rest_answer[j]) for i, j in assignment(weights)]
    return sorted(done)


def _is_table(gold: Sequence[Node]) -> bool:
    """Whether all elements are scalars, or objects of scalars under the same names."""
    if all(isinstance(element, Leaf) for element in gold):
        return True
    first = gold[0]
    return isinstance(first, Record) and all(
        isinstance(element, Record)
        and element.members.keys() == first.members.keys()
        and all(isinstance(child, Leaf) for child in element.members.values())
        for element in gold
    )


def _equal_pairs(gold: Sequence[Node], answer: Sequence[Node]) -> Pairs:
    waiting: dict[int, list[int]] = {}
    for j in range(len(answer) - 1, -1, -1):
        waiting.setdefault(answer[j].structure, []).append(j)
    return [(i, waiting[node.structure].pop()) for i, node in enumerate(gold) if waiting.get(node.structure)]


def assignment(weights: Weights | Sequence[Sequence[float]]) -> Pairs:
    """The pairs (row, column), as many as the shorter side has, whose weights sum to the most."""
    import numpy as np

    weights = np.asarray(weights, np.float64)
    if 1 in weights.shape:
        best = int(weights.argmax())
        return [(best, 0) if weights.shape[1] == 1 else (0, best)]
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise UsageError("scoring lists needs SciPy; install it with: pip install 'forklift[eval]'") from None
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _non_crossing(weights: Weights) -> Pairs:
    """The heaviest pairs (i, j) that rise in both; elements are paired rather than not where it makes no difference."""
    import numpy as np

    n, m = weights.shape
    best = np.zeros((n + 1, m + 1))
    for i in range(n):
        candidates = np.maximum(best[i, 1:], best[i, :-1] + weights[i])
        best[i + 1, 1:] = np.maximum.accumulate(candidates)
    pairs: Pairs = []
    i, j = n, m
    while i and j:
        if best[i, j] == best[i - 1, j - 1] + weights[i - 1, j - 1]:
            pairs.append((i - 1, j - 1))
            i, j = i - 1, j - 1
        elif best[i, j] == best[i - 1, j]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _weights(gold: Sequence[Node], answer: Sequence[Node], *, ordered: bool) -> Weights:
    """One number a pair that orders pairings as the four counts do: the counts as digits, most important first.

    Integers, as long as they stay exact; what is too small to be told apart then is left out, from the end.
    """
    import numpy as np

    shape = (len(gold), len(answer))
    counts: list[Counts] = [np.zeros(shape, np.int64) for _ in range(4)]
    _count(gold, answer, counts, ordered)
    values, nulls, strict, surplus = counts
    avoided = np.array([surplus_of(element) for element in answer])[None, :] - surplus
    weights = values.astype(np.float64)
    for digit in (nulls, strict, avoided):
        if not ordered and (digit == digit[0, 0]).all():
            continue  # the number of pairs is fixed, so it makes no difference
        base = 1.0 + float(digit.max(axis=1).sum())
        heavier = weights * base + digit
        if float(heavier.max()) * min(shape) >= _EXACT:
            break
        weights = heavier
    return weights


def _count(gold: Sequence[Node], answer: Sequence[Node], counts: list[Counts], ordered: bool) -> None:
    """Add to `counts` the agreement of each gold element with each answer element."""
    if all(isinstance(node, Leaf) for node in gold) and all(isinstance(node, Leaf) for node in answer):
        _count_leaves(gold, answer, counts)
    elif all(isinstance(node, Record) for node in gold) and all(_can_be_record(node) for node in answer):
        rows = [node.members for node in gold if isinstance(node, Record)]
        answers = [members_of(node)[0] for node in answer]
        for name in dict.fromkeys(name for members in (*rows, *answers) for name in members):
            _count_column(
                [members.get(name) for members in rows],
                [members.get(name, NULL) for members in answers],
                counts,
                ordered,
            )
    else:
        _count_pairs(gold, answer, counts, ordered)


def _can_be_record(node: Node) -> bool:
    return isinstance(node, Record) or node.surplus == 0


def _count_column(gold: Sequence[Node | None], answer: Sequence[Node], counts: list[Counts], ordered: bool) -> None:
    """As `_count`, for the members of one name; None where gold does not name it."""
    present = [node for node in gold if node is not None]
    if len(present) == len(gold):
        _count(present, answer, counts, ordered)
    elif all(isinstance(node, Leaf) for node in (*present, *answer)):
        _count_leaves(gold, answer, counts)
    else:
        _count_pairs(gold, answer, counts, ordered)


def _count_leaves(gold: Sequence[Any], answer: Sequence[Any], counts: list[Counts]) -> None:
    import numpy as np

    gold_key = np.array([_ABSENT if node is None else node.tolerant for node in gold])[:, None]
    gold_strict = np.array([_ABSENT if node is None else node.strict for node in gold])[:, None]
    answer_key = np.array([node.tolerant for node in answer])[None, :]
    answer_strict = np.array([node.strict for node in answer])[None, :]
    equal = gold_key == answer_key
    values, nulls, strict, surplus = counts
    values += equal & (gold_key > NULL_KEY)
    nulls += equal & (gold_key == NULL_KEY)
    strict += equal & (gold_strict == answer_strict)
    if gold_key.min() == _ABSENT:
        surplus += (gold_key == _ABSENT) & (answer_key != NULL_KEY)


def _count_pairs(gold: Sequence[Node | None], answer: Sequence[Node], counts: list[Counts], ordered: bool) -> None:
    for i, one in enumerate(gold):
        for j, other in enumerate(answer):
            if one is None:
                counts[3][i, j] += other.surplus
                continue
            part = agreement(one, other, ordered=ordered)
            for count, amount in zip(counts, part, strict=True):
                count[i, j] += amount
