"""How values of six languages are printed, spelled and read."""

from __future__ import annotations

import datetime

import pytest

from training.wide.figures import Value, amount, currency, date, inside, number, text
from training.wide.locales import BY_NAME

DAY = datetime.date(2026, 3, 5)
LATE = datetime.date(2024, 11, 27)
DE, US, FR, CH, ES = (BY_NAME[name] for name in ("de-DE", "en-US", "fr-FR", "de-CH", "es-ES"))


@pytest.mark.parametrize(
    ("value", "spelled", "shown", "read", "verbatim"),
    [
        (date(DAY, "{dd}.{mm}.{yyyy}", DE), "2026-03-05", "05.03.2026", "2026_03_05", "05.03.2026"),
        (date(DAY, "{mm}/{dd}/{yyyy}", US), "2026-03-05", "03/05/2026", "2026_03_05", "03/05/2026"),
        (date(DAY, "{m}/{d}/{yyyy}", US), "2026-03-05", "3/5/2026", "2026_33_55", "3/5/2026"),
        (date(DAY, "{d}. {month} {yyyy}", DE), "2026-03-05", "5. März 2026", "2026_Mr_55", "5. März 2026"),
        (date(LATE, "{dd}.{mm}.{yy}", DE), "2024-11-27", "27.11.24", "__24_11_27", "27.11.24"),
        (date(LATE, "{mon} {d}, {yyyy}", US), "2024-11-27", "Nov 27, 2024", "2024_Nv_27", "Nov 27, 2024"),
        (date(DAY, "{d} de {month} {yyyy}", ES), "2026-03-05", "5 de marzo 2026", "2026_mr_55", "5 de marzo 2026"),
        (date(DAY, "{yyyy}-{mm}-{dd}", US), "2026-03-05", "2026-03-05", "2026_03_05", "2026-03-05"),
        (amount(123450, DE, "."), "1234.50", "1.234,50", "1234,50", "1.234,50"),
        (amount(123450, US, ","), "1234.50", "1,234.50", "1234.50", "1,234.50"),
        (amount(123450, FR, " "), "1234.50", "1 234,50", "1234,50", "1 234,50"),
        (amount(123450, CH, "'").within("CHF "), "1234.50", "CHF 1'234.50", "1234.50", "1'234.50"),
        (amount(-123450, DE, "."), "-1234.50", "-1.234,50", "-1234,50", "-1.234,50"),
        (amount(-500, DE, "", minus="after"), "-5.00", "5,00-", "-5,00", "5,00-"),
        (amount(-500, US, "", minus="brackets"), "-5.00", "(5.00)", "(5.00", "(5.00)"),
        (number(2.5, DE, 1), "2.5", "2,5", "2,5", "2,5"),
        (number(12, DE, 0).within("", " Stk."), "12", "12 Stk.", "12", "12"),
        (inside("VAT * of 3", number(19, US, 0).within("", "%"), "*"), "19", "VAT 19% of 3", "19", "19"),
        (text("INV-0042").within("no. "), "INV-0042", "no. INV-0042", "INV-0042", "INV-0042"),
        (currency("EUR", "€"), "EUR", "€", "€€€", "€"),
        (currency("CHF", "CHF"), "CHF", "CHF", "CHF", "CHF"),
    ],
)
def test_a_value_is_printed_spelled_and_pointed_at(
    value: Value, spelled: str, shown: str, read: str, verbatim: str
) -> None:
    assert value.text == spelled
    assert value.shown == shown
    assert "".join("_" if source is None else shown[source] for source in value.sources) == read
    assert value.shown[value.start : value.stop] == verbatim
    assert len(value.sources) == len(spelled)


def test_numbers_have_the_values_that_they_show() -> None:
    assert amount(-123450, DE, ".").value == -1234.5
    assert number(2.5, DE, 1).value == 2.5
    whole = number(12, DE, 0).value
    assert whole == 12
    assert isinstance(whole, int)
