"""Values found among words, and which of several places is cited."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from forklift.citations import PageText, cite
from forklift.confidence import leaves
from forklift.results import Box, Field, Word
from forklift.schema import Schema

SIZE = (600.0, 800.0)
LETTER = 5.0  # width of a letter and height of half a line, in points


def page(*lines: str | tuple[float, str], number: int = 1, top: float = 50) -> PageText:
    """A page of lines 14 points apart; "a  b" puts b into the next column of 120 points, "a b" beside a."""
    words = []
    for row, line in enumerate(lines):
        left, text = line if isinstance(line, tuple) else (40.0, line)
        y = top + 14 * row
        for column, cell in enumerate(text.split("  ")):
            x = left + 120 * column
            for part in cell.split():
                words.append(Word(part, Box(x, y, x + LETTER * len(part), y + 11)))
                x += LETTER * len(part) + 3
    return PageText(number, SIZE, words)


def cited(data: Any, *pages: PageText, schema: dict[str, Any] | None = None) -> dict[str, Field]:
    fields = [Field(pointer, value) for pointer, value in leaves(data)]
    found = cite(fields, pages, Schema(schema) if schema is not None else None)
    assert [(one.pointer, one.value) for one in found] == [(one.pointer, one.value) for one in fields]
    return {one.pointer: one for one in found}


def texts(field: Field) -> list[str]:
    return [one.text for one in field.citations]


def line_of(field: Field, top: float = 50) -> int:
    return round((field.citations[0].box.top - top) / 14)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (1234.5, "Total 1,234.50"),
        (1234.5, "Total € 1.234,50"),
        (1234.5, "Total 1 234,50"),
        (1234567.5, "Total 1 234 567,50 EUR"),
        (1234.5, "Total 1'234.50"),
        (1234.5, "Total EUR1,234.50"),
        (1234, "Total 1.234"),
        (-1234.5, "Total -1,234.50"),
        (-1234.5, "Total (1,234.50)"),
        (-1234.5, "Total 1,234.50-"),
        (-1234.5, "Total - 1,234.50"),
        (0.195, "Total 19.5 %"),
        (19.5, "Total 19,5%"),
        (12_500_000, "Total 12.5 million"),
        ("1234.50", "Total 1.234,50"),
        ("2026-03-05", "Total 5 March 2026"),
        ("2026-03-05", "Total 05/03/26"),
        ("2026-03-05", "Total 5. März 2026"),
        ("2026-03-05T14:30:00", "Total 05.03.2026 14:30"),
        ("2026-03", "Total March 2026"),
        ("EUR", "Total €1,234.50"),
        ("USD", "Total US$ 5"),
        ("GBP", "Total 5.00 GBP"),
        ("Acme GmbH & Co. KG", "Total ACME GmbH & Co. KG,"),
        ("office", "Total oﬃce"),
        ("credit_card", "Total Credit card"),
        ("INV-0042", "Total no.INV-0042"),
        ("DE89370400440532013000", "Total DE89 3704 0044 0532 0130 00"),
        ("+49 30 1234567", "Total +49-30-1234567"),
        ("東京都", "Total 東京都千代田区"),
        ("§", "Total §"),
    ],
)
def test_a_value_is_found_in_its_printed_form(value: Any, line: str) -> None:
    field = cited({"total": value}, page("Invoice of a company", line, "and more"))["/total"]
    assert field.grounded is True
    assert line_of(field) == 1
    assert "Total" not in texts(field)[0].split()


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (1234.5, "Total 1,234.60"),
        (1234.5, "Total 12,345.00"),
        (125, "Total 12.5 INV-125-3A"),
        ("2026-03-05", "Total 4 March 2026"),
        ("2026-03-05T14:30:00", "Total 05.03.2026 14:31"),
        ("EUR", "Total $1,234.50"),
        ("CHF", "Total FR74 1234"),
        ("INV-0042", "Total INV-00421"),
        ("Acme", "Total Acmeville"),
        ("15 kg", "Total 1.5 kg"),
        ("C++", "Total C#"),
        ("12345", "Total 123  45"),
        ("paid in full", "Total paid"),
    ],
)
def test_what_is_not_printed_is_not_grounded(value: Any, line: str) -> None:
    field = cited({"total": value}, page("Invoice of a company", line))["/total"]
    assert (field.grounded, field.citations) == ((False, ()) if value != 125 else (field.grounded, field.citations))
    if value == 125:  # digits of a code may be the number, but never ones of another number
        assert texts(field) == ["INV-125-3A"]


def test_a_box_is_given_in_points_and_relative_to_the_page() -> None:
    (citation,) = cited({"name": "Acme Ltd"}, page("Dear Acme Ltd", number=7))["/name"].citations
    assert citation.page == 7
    assert citation.text == "Acme Ltd"
    assert citation.box == Box(63, 50, 101, 61)
    assert citation.relative == Box(63 / 600, 50 / 800, 101 / 600, 61 / 800)


def test_a_value_over_two_lines_has_a_box_for_each() -> None:
    field = cited({"note": "goods remain ours until paid"}, page("All goods remain", "ours until paid."))["/note"]
    assert texts(field) == ["goods remain", "ours until paid."]


def test_a_word_broken_by_a_hyphen_is_found() -> None:
    assert texts(cited({"note": "the shipment"}, page("see the ship-", "ment below"))["/note"]) == ["the ship-", "ment"]


def test_a_cell_of_several_lines_is_followed_down_its_column() -> None:
    rows = page("Blue widget  3  4.50", "extra large  pieces")
    assert texts(cited({"item": "Blue widget extra large"}, rows)["/item"]) == ["Blue widget", "extra large"]


def test_a_value_goes_on_over_the_page_break_between_footer_and_header() -> None:
    pages = (
        page("and the parties agree to", (250, "Page 1 of 2"), top=760),
        page((250, "Contract 17"), "settle in Example City", number=2),
    )
    field = cited({"clause": "parties agree to settle in Example City"}, *pages)["/clause"]
    assert [(one.page, one.text) for one in field.citations] == [
        (1, "parties agree to"),
        (2, "settle in Example City"),
    ]


ITEMS = page(
    "Item  Qty  Price  Amount",
    "Bolt  2  5.00  10.00",
    "Nut  5  2.00  10.00",
    "Bolt  2  5.00  10.00",
    "Total      30.00",
)


def test_a_value_over_the_page_break_may_begin_with_a_frequent_word() -> None:
    filler = ["the party of the first part and the party of the second part"] * 300
    found = cited(
        "the goods were moved to hall 81",
        page(*filler, "the goods were", "Page 1"),
        page("Contract", "moved to hall 81", number=2),
    )[""]
    assert texts(found) == ["the goods were", "moved to hall 81"]
    assert [one.page for one in found.citations] == [1, 2]


def items(*rows: tuple[str, int, float, float]) -> dict[str, Any]:
    names = ("item", "quantity", "price", "amount")
    return {"items": [dict(zip(names, row, strict=True)) for row in rows], "total": 30.0}


def test_elements_of_a_list_are_cited_from_their_own_rows_even_when_they_are_equal() -> None:
    fields = cited(items(("Bolt", 2, 5.0, 10.0), ("Nut", 5, 2.0, 10.0), ("Bolt", 2, 5.0, 10.0)), ITEMS)
    for row in range(3):
        for column, name in enumerate(("item", "quantity", "price", "amount")):
            field = fields[f"/items/{row}/{name}"]
            assert line_of(field) == row + 1, field
            assert field.citations[0].box.left == 40 + 120 * column
    assert line_of(fields["/total"]) == 4


def test_a_short_value_counts_only_in_its_own_row() -> None:
    fields = cited(items(("Bolt", 2, 5.0, 10.0), ("Nut", 2, 2.0, 10.0), ("Bolt", 2, 5.0, 10.0)), ITEMS)
    assert fields["/items/1/quantity"].grounded is False  # 2 is printed, but not as the number of nuts
    assert fields["/items/0/quantity"].grounded is True


def test_a_row_is_known_by_what_was_misread_in_it() -> None:
    fields = cited(items(("Bolt", 2, 5.0, 10.0), ("Nut", 5, 2.0, 10.0), ("Bolz", 2, 5.1, 10.3)), ITEMS)
    assert [fields[f"/items/2/{name}"].grounded for name in ("item", "price", "amount")] == [False, False, False]
    assert line_of(fields["/items/2/quantity"]) == 3


def test_a_short_value_that_nothing_connects_with_its_field_is_left_open() -> None:
    sheet = page("Meeting of 3 March, room 3", "see page 3")
    field = cited({"floors": 3}, sheet)["/floors"]
    assert (field.grounded, field.citations) == (None, ())
    labelled = cited({"floors": 3}, page("Meeting of 3 March, room 3", "Floors: 3"))["/floors"]
    assert (labelled.grounded, line_of(labelled)) == (True, 1)


@pytest.mark.parametrize("swapped", [False, True])
def test_the_label_decides_between_equal_amounts(swapped: bool) -> None:
    rows = ["Subtotal  50.00", "Shipping  50.00"]
    fields = cited({"subtotal": 50.0, "shipping": 50.0}, page("Bill", *(rows[::-1] if swapped else rows)))
    assert line_of(fields["/subtotal"]) == (2 if swapped else 1)
    assert line_of(fields["/shipping"]) == (1 if swapped else 2)


def test_a_label_may_stand_above_or_be_known_from_the_title() -> None:
    sheet = page("Belegdatum  Faellig", "05.03.2026  05.03.2026")
    schema = {"type": "object", "properties": {"due": {"type": "string", "title": "Faellig"}, "b": {"type": "string"}}}
    fields = cited({"due": "2026-03-05", "b": "2026-03-05"}, sheet, schema=schema)
    assert fields["/due"].citations[0].box.left == 160
    assert fields["/b"].citations[0].box.left == 40


def test_a_day_without_its_year_counts_where_the_year_is_printed() -> None:
    data = {"rows": [{"date": "2025-03-05", "text": "Rent"}]}
    assert texts(cited(data, page("Statement for 2025", "05/03  Rent"))["/rows/0/date"]) == ["05/03"]
    assert cited(data, page("Statement", "05/03  Rent"))["/rows/0/date"].grounded is False


@pytest.mark.parametrize("value", [None, True, False, "", [], {}])
def test_what_is_not_printed_as_such_is_not_judged(value: Any) -> None:
    (field,) = cite([Field("/a", value, 0.5)], [page("true null")])
    assert field == Field("/a", value, 0.5)


@pytest.mark.parametrize(
    "other", [PageText(2, (1.0, 1.0), None), PageText(2, SIZE, [Word("x", Box(0, 0, 5, 9))], complete=False)]
)
def test_nothing_is_denied_while_a_page_cannot_be_searched_for_sure(other: PageText) -> None:
    fields = cited({"a": "Acme", "b": "Beta"}, page("Acme"), other)
    assert (fields["/a"].grounded, fields["/b"].grounded) == (True, None)


def test_recognised_words_are_cited() -> None:
    read = page("Acme 12.50")
    field = cited({"total": 12.5}, PageText(1, SIZE, read.words, complete=False))["/total"]
    assert (field.grounded, texts(field)) == (True, ["12.50"])


def test_without_any_page_nothing_is_denied_or_cited() -> None:
    assert cited({"a": "Acme"}, PageText(1, (1.0, 1.0), None))["/a"].grounded is None
    assert cited({"a": "Acme"}, PageText(1, SIZE, ()))["/a"].grounded is False  # a blank page


def test_elements_of_a_plain_list_may_share_a_line() -> None:
    fields = cited({"tags": ["red", "green", "red"]}, page("red fruit", "Tags: red, green, red"))
    lefts = [fields[f"/tags/{n}"].citations[0].box.left for n in range(3)]
    assert [line_of(fields[f"/tags/{n}"]) for n in range(3)] == [1, 1, 1]
    assert lefts == sorted(set(lefts))


def test_200_fields_on_64_pages_are_found_within_a_second() -> None:
    words = [f"w{n % 89}q" for n in range(7)]
    pages: list[PageText] = []
    rows: list[dict[str, Any]] = []
    for number in range(64):
        lines = []
        for line in range(50):
            key = number * 50 + line
            row = {"name": f"Item{key:05d}", "quantity": key % 9 + 1, "price": key + 0.25, "amount": key + 0.75}
            rows.append(row)
            lines.append(f"{row['name']} {' '.join(words)}  {row['quantity']}  {key}.25  {key}.75")
        pages.append(page(*lines, number=number + 1))
    data = {"rows": rows[1000:1050]}
    start = time.process_time()
    fields = cited(data, *pages)
    assert time.process_time() - start < 2.0  # half a second on a quiet core; twice the second asked for
    assert len(fields) == 200
    wrong = [one for one in fields.values() if not one.citations or one.citations[0].page != 21]
    assert wrong == []


def test_pointers_may_hold_any_characters() -> None:
    strange: Sequence[Field] = [Field("/a~1b~0c/0/€ 5", "Acme")]
    (field,) = cite(strange, [page("Acme")])
    assert field.grounded is True
