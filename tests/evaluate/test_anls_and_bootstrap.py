"""Partial points, and intervals, against values worked out by hand or by a slower way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.evaluate.anls import anls_star, levenshtein, similarity
from forklift.evaluate.bootstrap import difference_interval, ratio_interval
from forklift.evaluate.score import FAILURE


def table_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        above, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (left != right))
    return row[-1]


@settings(deadline=None)
@given(st.text("abc", max_size=12) | st.text(max_size=70), st.text("abc", max_size=12) | st.text(max_size=70))
def test_the_distance_is_that_of_the_plain_table(one: str, other: str) -> None:
    assert levenshtein(one, other) == table_distance(one, other)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("abcd", "abcd", 1),
        ("abcd", "abcx", 0.75),
        ("abcd", "abxy", 0.5),
        ("abcd", "axyz", 0),
        ("ab", "", 0),
        ("", "", 1),
    ],
)
def test_similarity_counts_from_a_half_on(one: str, other: str, share: float) -> None:
    assert similarity(one, other) == share


@pytest.mark.parametrize(
    ("gold", "answer", "points"),
    [
        ({"a": "Hello World"}, {"a": "hello  wrld"}, 10 / 11),
        ({"a": "x", "b": "y"}, {"a": "x"}, 1 / 2),
        ({"a": "x"}, {"a": "x", "b": "y"}, 1 / 2),
        ({"a": None, "b": "y"}, {"b": "y"}, 1),
        ({"a": None, "b": "y"}, {"a": "no", "b": "y"}, 1 / 2),
        (["abcd", "efgh"], ["efgx", "abcd"], 1.75 / 2),
        (["abcd", "efgh"], ["abcd"], 1 / 2),
        (["abcd"], ["abcd", "x", "y"], 1 / 3),
        ([{"k": "abcd", "v": 1}, {"k": "efgh", "v": 2}], [{"k": "efgx", "v": 2}], 1.75 / 4),
        ({"a": 1234.5}, {"a": "1,234.50"}, 1),
        ({}, {}, 1),
        ({"a": "x"}, FAILURE, 0),
    ],
)
def test_points_worked_by_hand(gold: Any, answer: Any, points: float) -> None:
    assert anls_star(gold, answer) == pytest.approx(points)


def test_a_list_too_long_for_its_own_assignment_is_paired_as_for_accuracy() -> None:
    rows = [{"key": index, "text": f"line number {index}"} for index in range(150)]
    answer = [{**row, "text": f"{row['text']}!"} for row in reversed(rows)]
    # The key is right, and of the text all but the mark at its end.
    points = sum(2 - 1 / len(f"line number {index}!") for index in range(150))
    assert anls_star(rows, answer) == pytest.approx(points / 300)


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    interval = ratio_interval([1.0] * 80 + [0.0] * 20, [1.0] * 100)
    assert interval is not None
    # Standard error sqrt(0.8 * 0.2 / 100) = 0.04; 95 % is 1.96 of it on either side.
    assert interval.value == 0.8
    assert interval.low == pytest.approx(0.8 - 1.96 * 0.04, abs=0.011)
    assert interval.high == pytest.approx(0.8 + 1.96 * 0.04, abs=0.011)


def test_pairing_takes_out_what_both_runs_share() -> None:
    # Documents differ wildly, but B is always one field of ten better.
    ours = [float(index % 9) for index in range(90)]
    theirs = [one + 1 for one in ours]
    wholes = [10.0] * 90
    interval = difference_interval(ours, wholes, theirs, wholes)
    assert interval is not None
    assert (interval.low, interval.value, interval.high) == pytest.approx((0.1, 0.1, 0.1))
    assert interval.share_not_above == 0
    alone = ratio_interval(ours, wholes)
    assert alone is not None
    assert alone.high - alone.low > 0.05


def test_a_difference_that_is_none_reaches_zero() -> None:
    ours, theirs = [1.0, 0.0] * 50, [0.0, 1.0] * 50
    interval = difference_interval(ours, [1.0] * 100, theirs, [1.0] * 100)
    assert interval is not None
    assert interval.low < 0 < interval.high
    assert interval == difference_interval(ours, [1.0] * 100, theirs, [1.0] * 100)  # the same each time


def test_nothing_to_count_has_no_interval() -> None:
    assert ratio_interval([], []) is None
    assert ratio_interval([0.0], [0.0]) is None
