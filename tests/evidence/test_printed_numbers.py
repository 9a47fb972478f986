"""Numbers in every printed form."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.evidence.numbers import number_key, number_of_text, printed_numbers, readings, scaled_key


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (1234.5, "1234.5"),
        (-1234.50, "1234.5"),
        (0, "0"),
        (0.5, "0.5"),
        (100, "100"),
        (1e-7, "0.0000001"),
        (1e3, "1000"),
    ],
)
def test_a_key_is_the_absolute_value_in_plain_digits(value: float, key: str) -> None:
    assert number_key(value) == key


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_what_cannot_be_printed_has_no_key(value: float) -> None:
    with pytest.raises(ValueError, match="no number"):
        number_key(value)


@pytest.mark.parametrize(
    "printed", ["1234.5", "1,234.50", "1.234,50", "1'234.50", "1’234,5", "1234,50", "1_234.5", "01234.50"]
)
def test_every_common_spelling_reads_as_the_number(printed: str) -> None:
    assert "1234.5" in readings(printed)


@pytest.mark.parametrize(
    ("printed", "keys"),
    [
        ("1.234", {"1.234", "1234"}),  # three digits behind one mark: either
        ("1.2345", {"1.2345"}),
        ("0.125", {"0.125"}),  # no number has a group that is 0
        ("1,234,567", {"1234567"}),
        ("12,34,567.00", {"1234567"}),  # lakhs
        (".50", {"0.5"}),
        ("12.05.2024", set()),  # a date
        ("1,23,4", set()),
        ("1'234", {"1234"}),
    ],
)
def test_marks_are_read_where_they_can_stand(printed: str, keys: set[str]) -> None:
    assert set(readings(printed)) == keys


@settings(max_examples=50)
@given(st.decimals(min_value=0, max_value=Decimal("1e12"), places=2), st.sampled_from([",.", ".,", "'.", " ,", "_."]))
def test_what_is_printed_with_two_decimals_is_found(value: Decimal, marks: str) -> None:
    thousands, point = marks
    printed = f"{value:,.2f}".replace(",", "T").replace(".", point).replace("T", thousands)
    if thousands == " ":
        assert number_key(value) in number_of_text(printed)
    else:
        assert number_key(value) in readings(printed)


@pytest.mark.parametrize(
    ("word", "negative", "percent"),
    [
        ("5.00", False, False),
        ("-5.00", True, False),
        ("−$5.00", True, False),
        ("€-5.00", True, False),
        ("5.00-", True, False),
        ("(5.00)", True, False),
        ("($5.00)", True, False),
        ("5%", False, True),
        ("5.00€", False, False),
    ],
)
def test_signs_stand_before_behind_or_around(word: str, negative: bool, percent: bool) -> None:
    (number,) = printed_numbers(word)
    assert (number.key, number.negative, number.percent, number.alone) == ("5", negative, percent, True)


@pytest.mark.parametrize(
    ("word", "alone"),
    [
        ("INV-0042", False), ("A42", False), ("2026-03-42", False), ("42kg", True), ("EUR42", True), ("#42", True),
        ("42x", True),
    ],
)  # fmt: skip
def test_digits_of_a_code_are_told_from_a_number(word: str, alone: bool) -> None:
    (number,) = [one for one in printed_numbers(word) if one.key == "42"]
    assert number.alone is alone


def test_both_numbers_of_a_product_are_seen() -> None:
    assert [(one.key, one.alone) for one in printed_numbers("2x4.50")] == [("2", True), ("4.5", True)]


def test_millions_are_written_out() -> None:
    assert {one.key for one in printed_numbers("12.5m")} == {"12.5", "12500000"}
    assert scaled_key("0.19", 2) == "19"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("€ 1,234.50", ("1234.5",)),
        ("1 234,50 EUR", ("1234.5",)),
        ("19 %", ("19",)),
        ("INV-42", ()),
        ("5 kg", ()),
        ("12.05.2024", ()),
        ("none", ()),
    ],
)
def test_a_string_is_a_number_only_as_a_whole(text: str, keys: tuple[str, ...]) -> None:
    assert number_of_text(text) == keys
