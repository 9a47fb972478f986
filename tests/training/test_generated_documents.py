"""What the generator says about a document is what stands on its pages."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from random import Random

import jsonschema
import numpy as np
import pypdfium2 as pdfium
import pytest

from tests.training.leaf_walk import leaves
from training.draft import ASCENT, DESCENT
from training.layouts import KINDS, make_document
from training.leaf import Document
from training.tasks import answer_json, bundled_schema, plain_task

SEEDS = range(24)
# Fields whose answer is the printed characters themselves, but for separators that are not spelled.
REWRITTEN = {"date", "due_date", "currency"}


@pytest.fixture(scope="module", params=KINDS)
def documents(request: pytest.FixtureRequest) -> list[Document]:
    return [make_document(Random(seed), request.param) for seed in SEEDS]


def test_every_place_is_inside_its_page_and_answers_have_one_place_a_character(
    documents: list[Document],
) -> None:
    for document in documents:
        for name, leaf in leaves(document.truth):
            assert len(leaf.places) == len(leaf.text) + 1, name
            for place in leaf.places:
                if place is not None:
                    assert 0 < place.x < document.sheet.width, (name, leaf)
                    assert 0 < place.y < document.sheet.height, (name, leaf)
                    assert 0 <= place.page <= document.sheet.page, (name, leaf)


def test_a_verbatim_answer_is_spelled_by_the_glyphs_it_points_at(documents: list[Document]) -> None:
    checked = 0
    for document in documents:
        glyphs = {
            place: character
            for run in document.sheet.runs
            for character, place in zip(run.text, run.places, strict=True)
        }
        for name, leaf in leaves(document.truth):
            if leaf.value is None or name in REWRITTEN:
                continue
            assert "".join(glyphs[place] for place in leaf.places[:-1]) == leaf.text, name
            checked += 1
    assert checked > len(documents)


def test_a_verbatim_answer_ends_just_past_its_last_glyph_on_the_same_line(documents: list[Document]) -> None:
    for document in documents:
        for name, leaf in leaves(document.truth):
            if leaf.value is None or name in REWRITTEN:
                continue
            last, end = leaf.places[-2:]
            assert last is not None
            assert end is not None
            assert (end.page, end.y) == (last.page, last.y)
            # half of the widest glyph (a capital W of the heading face) and a quarter of the size
            assert 0 < end.x - last.x < 0.8 * 16, (name, leaf)


def test_a_date_reads_its_year_and_day_from_digits_and_its_month_from_digits_or_its_name(
    documents: list[Document],
) -> None:
    for document in documents:
        glyphs = {
            place: character
            for run in document.sheet.runs
            for character, place in zip(run.text, run.places, strict=True)
        }
        for name, leaf in leaves(document.truth):
            if leaf.value is None or name not in {"date", "due_date"}:
                continue
            for index in (0, 1, 2, 3, 8, 9):
                place = leaf.places[index]
                assert place is not None
                assert glyphs[place].isdigit()
                # a one-digit day has no printed zero
                assert glyphs[place] == leaf.text[index] or (index == 8 and leaf.text[8] == "0")
            months = [glyphs[place] for place in leaf.places[5:7] if place is not None]
            assert months == list(leaf.text[5:7]) or all(letter.isalpha() for letter in months)


def test_no_two_texts_of_a_page_touch(documents: list[Document]) -> None:
    # The smallest type is 9 points: texts whose baselines are closer than its height must stand side by side.
    height = 9 * (ASCENT + DESCENT) * 0.99
    for document in documents:
        for one, other in itertools.combinations(document.sheet.runs, 2):
            first, second = one.places[0], other.places[0]
            if first.page == second.page and abs(first.y - second.y) < height:
                assert one.places[-1].x < second.x or other.places[-1].x < first.x, (one.text, other.text)


def test_no_two_glyphs_share_a_centre(documents: list[Document]) -> None:
    for document in documents:
        places = [place for run in document.sheet.runs for place in run.places]
        rounded = {(place.page, round(place.x), round(place.y)) for place in places}
        # Neighbours may round to one point only where a glyph is narrower than a point, and none is.
        assert len(rounded) == len(places)


def test_the_pdf_holds_the_drawn_text_and_pages(documents: list[Document]) -> None:
    for document in documents[:8]:
        pdf = pdfium.PdfDocument(document.sheet.pdf())
        try:
            text = " ".join(" ".join(page.get_textpage().get_text_range() for page in pdf).split())
            pages = len(pdf)
        finally:
            pdf.close()
        assert pages == document.sheet.page + 1
        for _, leaf in leaves(document.truth):
            if isinstance(leaf.value, str) and None not in leaf.places:
                assert " ".join(leaf.text.split()) in text


def test_a_page_is_a_whole_number_of_cells_and_dark_only_inside_its_margin(documents: list[Document]) -> None:
    for document in documents:
        for page in document.sheet.render(96):
            assert page.shape[0] % 32 == page.shape[1] % 32 == 0
            ink = page < 128
            assert ink.any()
            assert not ink[:4].any()
            assert not ink[-4:].any()
            assert not ink[:, :4].any()
            assert not ink[:, -4:].any()


def test_there_is_ink_where_a_glyph_is_said_to_stand(documents: list[Document]) -> None:
    scale = 96 / 72
    for document in documents[:8]:
        pages = document.sheet.render(96)
        for run in document.sheet.runs:
            page = pages[run.end.page]
            for character, place in zip(run.text, run.places, strict=True):
                x, y = round(place.x * scale), round(place.y * scale)
                # a full stop stands on the baseline, a third of the size (5 of 16 pixels) below the middle
                around = page[y - 7 : y + 8, x - 2 : x + 3]
                assert character == " " or around.min() < 200, (run.text, character)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_always_draws_the_same_document(kind: str) -> None:
    one, other = make_document(Random(17), kind), make_document(Random(17), kind)
    assert one.truth == other.truth
    assert one.sheet.pdf() == other.sheet.pdf()
    assert one.sheet.pdf() != make_document(Random(18), kind).sheet.pdf()
    assert np.array_equal(one.sheet.render()[0], other.sheet.render()[0])


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_answer_satisfies_the_bundled_schema(kind: str) -> None:
    for seed in SEEDS:
        document = make_document(Random(seed), kind)
        answer = answer_json(plain_task(document).answer)
        jsonschema.validate(
            json.loads(json.dumps(answer)),
            bundled_schema(document.schema),
            format_checker=jsonschema.FormatChecker(["date"]),
        )


@pytest.mark.parametrize(("kind", "least"), [("invoice", 5), ("receipt", 4), ("invoice_two_pages", 5)])
def test_pages_come_in_several_families_and_fonts(kind: str, least: int) -> None:
    drawn = [make_document(Random(seed), kind) for seed in range(90)]
    layouts = Counter(document.layout for document in drawn)
    fonts = Counter(document.font for document in drawn)
    assert len(layouts) >= least
    assert min(layouts.values()) >= 3, layouts
    # Three upright families; each page sets headings, and some labels, in the family's bold.
    assert set(fonts) == {"Helvetica", "Times-Roman", "Courier"}, fonts


def test_sums_agree_and_optional_fields_are_sometimes_absent() -> None:
    absent: Counter[str] = Counter()
    for seed in range(120):
        document = make_document(Random(seed), "invoice")
        answer = answer_json(document.truth)
        absent.update(name for name, value in answer.items() if value is None)
        for item in answer["line_items"]:
            if item["quantity"] is not None and item["unit_price"] is not None:
                assert round(item["quantity"] * item["unit_price"], 2) == item["amount"]
        items = round(sum(item["amount"] for item in answer["line_items"]), 2)
        assert answer["subtotal"] in (None, items)
        assert answer["total"] >= items
        assert answer["due_date"] is None or answer["due_date"] > answer["date"]
    assert not {"vendor", "invoice_number", "date", "total", "line_items"} & set(absent)
    for field in ("customer", "due_date", "subtotal", "tax"):
        # shares from 0.08 to 0.19 of 120 are 10 to 23; standard deviations are 3 to 4.3
        assert 1 <= absent[field] <= 40, absent


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match=r"no document kind .letter.*invoice_two_pages"):
        make_document(Random(0), "letter")
