"""What must hold for any gold and any answer, whatever they look like."""

from __future__ import annotations

import copy
import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.evaluate.alignment import Agreement, agreement
from forklift.evaluate.anls import anls_star
from forklift.evaluate.score import FAILURE, Counts, FieldScore, Verdict, score
from forklift.evaluate.tree import NULL, Leaf, Node, Record, Rows, Trees, surplus_of

# Few values, so that wrong ones are often right elsewhere; some are equal only tolerantly.
VALUES = [None, "", "a", "A", "b", 1, "1", 2, 1.5, True, "2026-03-05", "5 March 2026"]
KEYS = "xyz"

quick = settings(max_examples=60, deadline=None)

leaves = st.sampled_from(VALUES)
records = st.dictionaries(st.sampled_from(KEYS), leaves, max_size=3)
tables = st.lists(st.fixed_dictionaries(dict.fromkeys(KEYS, leaves)), max_size=4)
trees = st.recursive(
    leaves | records | tables,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)
gold_answers = st.dictionaries(st.sampled_from(KEYS), tables | trees, min_size=1, max_size=3)
randoms = st.randoms(use_true_random=False)


def spoiled(value: Any, rng: random.Random, rate: float = 0.25) -> Any:
    """`value` with mistakes of every sort."""
    if rng.random() < rate / 6:
        return rng.choice([None, "b", [1, "a"], {"x": 1}, [], {}])
    if isinstance(value, dict):
        kept = {key: spoiled(child, rng, rate) for key, child in value.items() if rng.random() > rate / 2}
        if rng.random() < rate / 2:
            kept[rng.choice(KEYS + "w")] = rng.choice(VALUES)
        return kept
    if isinstance(value, list):
        rows = [spoiled(child, rng, rate) for child in value if rng.random() > rate / 2]
        if value and rng.random() < rate:
            rows.append(spoiled(rng.choice(value), rng, rate))
        if rng.random() < rate:
            rng.shuffle(rows)
        return rows
    return rng.choice(VALUES) if rng.random() < rate else value


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: shuffled(value[name], rng) for name in names}
    if isinstance(value, list):
        rows = [shuffled(child, rng) for child in value]
        rng.shuffle(rows)
        return rows
    return value


@quick
@given(gold_answers, randoms, st.booleans())
def test_a_perfect_answer_has_every_figure_at_one(gold: Any, rng: random.Random, ordered: bool) -> None:
    answer = copy.deepcopy(gold) if ordered else shuffled(gold, rng)
    counts = score(gold, answer, ordered=ordered).counts
    figures = (
        counts.accuracy,
        counts.strict_accuracy,
        counts.precision,
        counts.recall,
        counts.f1,
        counts.null_accuracy,
    )
    assert set(figures) <= {1.0, None}
    assert counts.whole == counts.strict_whole == 1
    assert anls_star(gold, answer) == pytest.approx(1.0)


@quick
@given(gold_answers, randoms)
def test_the_order_of_lists_and_keys_is_nothing(gold: Any, rng: random.Random) -> None:
    answer = spoiled(gold, rng)
    # Which kind of mistake it is may depend on the order, where several pairings are equally good.
    one, other = score(shuffled(gold, rng), shuffled(answer, rng)).counts, score(gold, answer).counts
    assert figures(one) == figures(other)
    assert (one.correct_nulls, one.surplus, one.null_accuracy) == (
        other.correct_nulls,
        other.surplus,
        other.null_accuracy,
    )


@quick
@given(gold_answers, randoms)
def test_figures_stay_between_zero_and_one_and_mistakes_add_up(gold: Any, rng: random.Random) -> None:
    answer = spoiled(gold, rng)
    counts = score(gold, answer).counts
    assert counts.correct + counts.omissions + counts.wrong + counts.inventions == counts.fields + counts.surplus
    assert 0 <= counts.strict <= counts.correct
    for figure in (counts.accuracy, counts.precision, counts.recall, counts.f1, counts.null_accuracy):
        assert figure is None or 0 <= figure <= 1
    assert 0 <= anls_star(gold, answer) <= 1 + 1e-12


@quick
@given(gold_answers, randoms)
def test_swapping_gold_and_answer_swaps_precision_and_recall(gold: Any, rng: random.Random) -> None:
    answer = spoiled(gold, rng)
    one, other = score(gold, answer).counts, score(answer, gold).counts
    assert one.correct - one.correct_nulls == other.correct - other.correct_nulls
    assert (one.precision, one.recall, one.f1) == (other.recall, other.precision, other.f1)


@quick
@given(gold_answers)
def test_a_failure_has_nothing_right(gold: Any) -> None:
    counts = score(gold, FAILURE).counts
    assert (counts.correct, counts.whole, counts.omissions) == (0, 0, counts.fields)


# Repairing a field


def put(tree: Any, pointer: str, value: Any) -> Any:
    """`tree` with `value` at `pointer`; objects on the way are made where they are missing or something else."""
    if not pointer:
        return value
    step, _, rest = pointer[1:].partition("/")
    rest = "/" + rest if rest else ""
    if isinstance(tree, list) and step.isdigit():
        return [put(child, rest, value) if str(index) == step else child for index, child in enumerate(tree)]
    members = dict(tree) if isinstance(tree, dict) else {}
    members[step] = put(members.get(step), rest, value)
    return members


def without(tree: Any, pointer: str) -> Any:
    step, _, rest = pointer[1:].partition("/")
    if isinstance(tree, list):
        if not rest:
            return [child for index, child in enumerate(tree) if str(index) != step]
        return [without(child, "/" + rest) if str(index) == step else child for index, child in enumerate(tree)]
    if not rest:
        return {name: child for name, child in tree.items() if name != step}
    return {name: without(child, "/" + rest) if name == step else child for name, child in tree.items()}


def repaired(answer: Any, one: FieldScore) -> Any:
    assert one.answer_pointer is not None
    if one.surplus and one.pointer.endswith("/-"):
        return without(answer, one.answer_pointer)
    return put(answer, one.answer_pointer, one.gold)


def figures(counts: Counts) -> tuple[float, ...]:
    shares = (counts.accuracy, counts.strict_accuracy, counts.precision, counts.recall, counts.f1)
    return (*(1.0 if share is None else share for share in shares), counts.whole, counts.strict_whole)


@quick
@given(gold_answers, randoms, st.booleans())
def test_repairing_a_field_never_lowers_a_figure(gold: Any, rng: random.Random, ordered: bool) -> None:
    answer = spoiled(gold, rng, 0.5)
    scored = score(gold, answer, ordered=ordered)
    wrong = [one for one in scored.fields if not one.strict and one.answer_pointer]
    for one in wrong[:12]:
        after = score(gold, repaired(answer, one), ordered=ordered).counts
        assert all(new >= old for new, old in zip(figures(after), figures(scored.counts), strict=True)), one
        if not one.surplus:
            assert after.strict > scored.counts.strict
            assert after.correct == scored.counts.correct + (one.verdict is not Verdict.CORRECT)


@quick
@given(tables.filter(bool), randoms)
def test_adding_a_missing_element_never_lowers_a_figure(gold: list[Any], rng: random.Random) -> None:
    answer = [spoiled(row, rng) for row in gold[1:]]
    scored = score(gold, answer)
    missing = {one.pointer.split("/")[1] for one in scored.fields if one.answer_pointer is None}
    assert len(missing) == len(gold) - len(answer)
    for index in missing:
        after = score(gold, [*answer, gold[int(index)]]).counts
        assert all(new >= old for new, old in zip(figures(after), figures(scored.counts), strict=True))


# The pairing of lists against all pairings


def by_hand(gold: Node, answer: Node, ordered: bool) -> Agreement:
    """The best agreement, found by trying every pairing."""
    if isinstance(gold, Leaf):
        if gold.tolerant == 0:
            blank = answer.values == 0
            exact = gold.strict == (answer.strict if isinstance(answer, Leaf) else 0)
            return (0, int(blank), int(blank and exact), 0)
        right = isinstance(answer, Leaf) and answer.tolerant == gold.tolerant
        return (int(right), 0, int(right and isinstance(answer, Leaf) and answer.strict == gold.strict), 0)
    if isinstance(gold, Record):
        members = answer.members if isinstance(answer, Record) else {}
        parts = [by_hand(child, members.get(name, NULL), ordered) for name, child in gold.members.items()]
        extra = sum(child.surplus for name, child in members.items() if name not in gold.members)
        return total([*parts, (0, 0, 0, extra if isinstance(answer, Record) else answer.surplus)])
    elements = answer.elements if isinstance(answer, Rows) else []
    misplaced = 0 if isinstance(answer, Rows) else answer.surplus
    best = None
    for size in range(min(len(gold.elements), len(elements)) + 1):
        for left in itertools.combinations(range(len(gold.elements)), size):
            for right in itertools.permutations(range(len(elements)), size):
                if ordered and list(right) != sorted(right):
                    continue
                pairs = zip(left, right, strict=True)
                parts = [by_hand(gold.elements[i], elements[j], ordered) for i, j in pairs]
                free = [element for j, element in enumerate(elements) if j not in right]
                found = total([*parts, (0, 0, 0, misplaced + sum(map(surplus_of, free)))])
                if best is None or rank(found) > rank(best):
                    best = found
    assert best is not None
    return best


def total(parts: list[Agreement]) -> Agreement:
    sums = [sum(part[place] for part in parts) for place in range(4)]
    return sums[0], sums[1], sums[2], sums[3]


def rank(one: Agreement) -> tuple[int, int, int, int]:
    return one[0], one[1], one[2], -one[3]


@quick
@given(st.lists(tables | st.lists(leaves | tables | records, max_size=3), max_size=2), randoms, st.booleans())
def test_the_agreement_is_the_best_of_all_pairings(gold: Any, rng: random.Random, ordered: bool) -> None:
    grown = Trees()
    tree, answer = grown.grow(gold), grown.grow(spoiled(gold, rng, 0.5))
    assert agreement(tree, answer, ordered=ordered) == by_hand(tree, answer, ordered)


@quick
@given(gold_answers, randoms, st.booleans())
def test_the_verdicts_count_what_the_pairing_was_chosen_for(gold: Any, rng: random.Random, ordered: bool) -> None:
    answer = spoiled(gold, rng, 0.4)
    grown = Trees()
    values, nulls, strict, surplus = agreement(grown.grow(gold), grown.grow(answer), ordered=ordered)
    counts = score(gold, answer, ordered=ordered).counts
    assert (counts.correct, counts.correct_nulls, counts.strict, counts.surplus) == (
        values + nulls,
        nulls,
        strict,
        surplus,
    )
