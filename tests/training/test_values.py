"""How values are printed and spelled, and which printed character each answer character is read from."""

from __future__ import annotations

import datetime
from random import Random

import pytest

from training import values
from training.values import Printed, count, currency_sign, date, money, verbatim

DAY = datetime.date(2026, 3, 5)
LATE = datetime.date(2024, 11, 27)


def read(printed: Printed) -> str:
    """The printed characters that the answer's characters point at, "_" for none."""
    return "".join("_" if source is None else printed.shown[source] for source in printed.sources[:-1])


@pytest.mark.parametrize(
    ("printed", "text", "shown", "pointed"),
    [
        (date(DAY, "iso"), "2026-03-05", "2026-03-05", "2026-03-05"),
        (date(DAY, "slashes"), "2026-03-05", "05/03/2026", "2026_03_05"),
        (date(DAY, "dots"), "2026-03-05", "05.03.2026", "2026_03_05"),
        (date(DAY, "short"), "2026-03-05", "5 Mar 2026", "2026_Mr_55"),
        (date(LATE, "short"), "2024-11-27", "27 Nov 2024", "2024_Nv_27"),
        (date(DAY, "long"), "2026-03-05", "5 March 2026", "2026_Mr_55"),
        (date(LATE, "american"), "2024-11-27", "November 27, 2024", "2024_Nv_27"),
        (date(DAY, "american"), "2026-03-05", "March 5, 2026", "2026_Mr_55"),
        (date(DAY, "dashes"), "2026-03-05", "05-Mar-2026", "2026_Mr_05"),
        (money(123450), "1234.50", "1,234.50", "1234.50"),
        (money(123456789), "1234567.89", "1,234,567.89", "1234567.89"),
        (money(123450, ""), "1234.50", "1234.50", "1234.50"),
        (money(7), "0.07", "0.07", "0.07"),
        (money(123450).within("€", " net"), "1234.50", "€1,234.50 net", "1234.50"),
        (count(120), "120", "120", "120"),
        (verbatim("INV-0042").within("no. "), "INV-0042", "no. INV-0042", "INV-0042"),
        (currency_sign("EUR", "€"), "EUR", "€", "€€€"),
        (currency_sign("CHF", "CHF"), "CHF", "CHF", "CHF"),
    ],
)
def test_a_value_is_printed_spelled_and_pointed_at(printed: Printed, text: str, shown: str, pointed: str) -> None:
    assert printed.text == text
    assert printed.shown == shown
    assert read(printed) == pointed
    assert len(printed.sources) == len(text) + 1


def test_every_character_drawn_by_lot_is_printable_and_needs_no_escape_in_json() -> None:
    random = Random(0)
    for _ in range(500):
        for make in (values.company, values.shop, values.description, values.grocery, values.document_number):
            text = make(random)
            assert text == text.strip()
            assert text.isprintable()
            assert text.isascii()
            assert not set(text) & set('"\\')


def test_codes_have_no_letters_that_look_like_digits() -> None:
    random = Random(1)
    assert not set("".join(values.code(random, 8) for _ in range(500))) & set("OI01")
