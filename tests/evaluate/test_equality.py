"""Keys of values: which are equal strictly, which tolerantly."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.evaluate.equality import read_date, read_number, strict_key, tolerant_key

NUMBERS = [
    ("1234.50", 1234.5), ("1,234.50", 1234.5), ("1 234,50", 1234.5), ("1'234.50", 1234.5), ("1.234,50", 1234.5),
    ("12,5", 12.5), ("0,125", 0.125), ("1,234", 1234), ("1.234", 1.234), ("1.234.567", 1234567), ("12,3456", 12.3456),
    ("$5", 5), ("5 €", 5), ("-$5", -5), ("$-5", -5), ("(5)", -5), ("+5", 5), ("- 5", -5), ("0", 0),
]  # fmt: skip
NO_NUMBERS = [
    "", "-", "$", "007", "5%", "5 kg", "1e5", "1.2.3", "1,23,456", "12,34,567", "--5", "(-5)", "-$-5", "1,234,5", "٣",
    "½", "EUR 5", "12 34", "5-",
]  # fmt: skip
DATES = [
    ("2026-03-05", "2026-03-05"), ("2026/3/5", "2026-03-05"), ("2026.03.05", "2026-03-05"),
    ("5 march 2026", "2026-03-05"), ("5th mar. 2026", "2026-03-05"), ("05-mar-2026", "2026-03-05"),
    ("march 5, 2026", "2026-03-05"), ("sept 5 2026", "2026-09-05"), ("thursday, 5 march 2026", "2026-03-05"),
    ("thu 5 march 2026", "2026-03-05"),
    ("5.3.2026", "2026-03-05"), ("13/3/2026", "2026-03-13"), ("3/13/2026", "2026-03-13"), ("4/4/2026", "2026-04-04"),
    ("2026-03-05t10:30", "2026-03-05T10:30:00"), ("2026-03-05 10:30:00z", "2026-03-05T10:30:00Z"),
    ("2026-03-05t10:30:00+00:00", "2026-03-05T10:30:00Z"),
]  # fmt: skip
NO_DATES = [
    "3/4/2026", "2026-13-01", "2026-02-30", "31 february 2026", "5 marsch 2026", "march 2026", "5/3/26", "2026-03/05",
    "2026-03-05t25:00", "may", "12",
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_a_text_that_is_a_number(text: str, number: float) -> None:
    assert read_number(text) == number
    assert tolerant_key(text) == tolerant_key(number)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_text_that_is_no_number(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(("text", "date"), DATES)
def test_a_text_that_is_a_date(text: str, date: str) -> None:
    assert read_date(text) == date
    assert tolerant_key(text.upper()) == tolerant_key(text) == ("date", date)


@pytest.mark.parametrize("text", NO_DATES)
def test_a_text_that_is_no_date(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (0, -0.0), (10**20, 1e20), ("a", "a"), (None, None), (True, True)],
)
def test_what_is_strictly_equal(one: Any, other: Any) -> None:
    assert strict_key(one) == strict_key(other)
    assert tolerant_key(one) == tolerant_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), (1, "1"), ("a", "A"), ("", None), ("null", None), ("a", "a "), (0, None)],
)
def test_what_is_not_strictly_equal(one: Any, other: Any) -> None:
    assert strict_key(one) != strict_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2), (1, True), (0, None), (0, ""), ("a", "b"), ("n/a", None), (10**15, 10**15 + 1),
        (1e9 + 0.01, 1e9 + 0.02),
        (1.000000001, 1), ("10:30", "10.30"), ("a b", "ab"), ("1/2", "½ cup"), (float("inf"), 1), ("C#", "C"),
    ],
)  # fmt: skip
def test_what_is_not_tolerantly_equal(one: Any, other: Any) -> None:
    assert tolerant_key(one) != tolerant_key(other)


values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)


@settings(deadline=None)
@given(values)
def test_a_key_is_the_same_for_what_json_makes_of_the_value(value: Any) -> None:
    import json

    again = json.loads(json.dumps(value))
    assert strict_key(again) == strict_key(value)
    assert tolerant_key(again) == tolerant_key(value)


@settings(deadline=None)
@given(st.text())
def test_spacing_and_case_never_matter(text: str) -> None:
    assert tolerant_key(f"  {text}\n\t") == tolerant_key(text)
    assert tolerant_key(text.casefold()) == tolerant_key(text)


def test_every_pair_of_forms_of_one_date_is_equal() -> None:
    forms = [text for text, date in DATES if date == "2026-03-05"]
    assert len(forms) > 5
    assert all(tolerant_key(one) == tolerant_key(other) for one, other in itertools.combinations(forms, 2))
