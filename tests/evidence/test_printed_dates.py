"""Dates in every printed form."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.evidence.dates import MONTHS, dates_of_text, printed_dates

NAMES = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
}


def read(text: str, *, partial: bool = False) -> set[object]:
    return {printed.date for printed in printed_dates(text, partial=partial)}


@pytest.mark.parametrize(
    "printed",
    [
        "2026-03-05", "2026/3/5", "2026.03.05", "05/03/2026", "5.3.2026", "05.03.26", "03/05/2026", "3/5/26",
        "05-03-2026", "5 - 3 - 2026", "20260305", "05032026", "5 March 2026", "5 Mar 2026", "5th March 2026",
        "5th of March, 2026", "March 5, 2026", "Mar. 5th 2026", "MARCH 05 2026", "05-Mar-26", "5Mar2026",
        "5. März 2026", "5. Maerz 2026", "5 mars 2026", "le 5 mars 2026", "5 de marzo de 2026", "5 marzo 2026",
        "5 maart 2026", "5 mrt. 2026", "2026年3月5日", "2026 March 5", "Thursday, March 5, 2026",
    ],
)  # fmt: skip
def test_one_day_in_many_forms(printed: str) -> None:
    assert (2026, 3, 5) in read(printed)


@pytest.mark.parametrize("language", NAMES)
@settings(max_examples=25)
@given(day=st.dates(datetime.date(1990, 1, 1), datetime.date(2060, 12, 31)))
def test_months_are_read_in_six_languages(language: str, day: datetime.date) -> None:
    name = NAMES[language].split()[day.month - 1]
    for spelled in (name, name.upper(), name[:4]):
        assert (day.year, day.month, day.day) in read(f"Datum: {day.day}. {spelled} {day.year}")


@pytest.mark.parametrize(
    ("printed", "wrong"),
    [
        ("5 March 2026", (2026, 3, 20)),  # not March 20, '26
        ("27 December 2021", (2021, 12, 2)),
        ("27 December 2021", (2021, 12, 7)),
        ("05/03/2026", (2026, 3, 4)),
        ("13/05/2026", (2026, 13, 5)),
        ("1 October 2024", (2024, 10, 20)),
    ],
)
def test_no_other_day_is_read_into_it(printed: str, wrong: tuple[int, int, int]) -> None:
    assert wrong not in read(printed)


@pytest.mark.parametrize("text", ["", "12.50", "2026", "Maya 12", "31/31/2026", "1234567", "999-99-9999", "Marchand 5"])
def test_other_text_is_no_date(text: str) -> None:
    assert not {date for date in read(text) if date[2] is not None}  # type: ignore[index]


def test_abbreviations_belong_to_one_month_or_to_none() -> None:
    assert MONTHS["mar"] == MONTHS["mrt"] == 3
    assert "jui" not in MONTHS  # juin and juillet
    assert MONTHS["juin"] == 6
    assert MONTHS["juil"] == 7


def test_days_without_a_year_are_read_apart() -> None:
    assert (None, 3, 5) in read("05/03", partial=True)
    assert (None, 3, 5) in read("5 Mar", partial=True)
    assert (None, 3, 5) in read("05.03.", partial=True)
    assert (None, 3, 5) in read("5 - 7 March 2026", partial=True)
    assert not read("05/03")
    assert not read("5.03", partial=True)


@pytest.mark.parametrize(
    ("text", "dates", "time"),
    [
        ("2026-03-05", {(2026, 3, 5)}, None),
        ("2026-03-05T14:30:00Z", {(2026, 3, 5)}, "14:30"),
        ("2026-03-05T00:00:00", {(2026, 3, 5)}, None),
        ("2026-03", {(2026, 3, None)}, None),
        ("5 March 2026", {(2026, 3, 5)}, None),
        ("05/03/2026", {(2026, 3, 5), (2026, 5, 3)}, None),
        ("2026-13-05", set(), None),
        ("INV-2026-03-05", set(), None),
        ("paid on 5 March 2026", set(), None),
    ],
)
def test_what_a_value_that_is_a_date_means(text: str, dates: set[object], time: str | None) -> None:
    assert (set(dates_of_text(text)[0]), dates_of_text(text)[1]) == (dates, time)
