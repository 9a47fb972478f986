"""What the wide generator says about a document is what stands on its pages, in every font, worn or not."""

from __future__ import annotations

import ctypes
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pytest

from tests.training.leaf_walk import leaves
from training.canvas import Sheet
from training.draft import DoesNotFit
from training.layouts import PROFILES, make_document
from training.leaf import Document
from training.tasks import answer_json
from training.wide import fonts
from training.wide.families import CROPS, FAMILIES, HELD_OUT_FAMILIES, draft, families
from training.wide.fonts import INVENTORY
from training.wide.locales import LOCALES
from training.wide.paper import Face, Paper, Printer, Run, advances
from training.wide.reading import make_wide_sheet
from training.wide.vocabulary import VOCABULARIES
from training.wide.wear import wear
from training.wide.wordings import LANGUAGES

BOTH = (False, True)
DATES = {"date", "delivery_date", "due_date", "period_start", "period_end"}


@pytest.fixture(scope="module", params=PROFILES["wide"])
def documents(request: pytest.FixtureRequest) -> list[Document]:
    return [make_document(Random(seed), request.param, profile="wide") for seed in range(12)]


def glyphs_of(document: Document) -> dict[Any, str]:
    return {
        place: character for run in document.sheet.runs for character, place in zip(run.text, run.places, strict=True)
    }


def test_every_value_is_spelled_by_the_glyphs_it_points_at(documents: list[Document]) -> None:
    verbatim = 0
    for document in documents:
        glyphs = glyphs_of(document)
        for name, leaf in leaves(document.truth):
            assert len(leaf.places) == len(leaf.text) + 1, name
            if leaf.value is None:
                assert leaf.verbatim is None
                continue
            assert leaf.verbatim is not None
            for character, place in zip(leaf.verbatim.text, leaf.verbatim.places[:-1], strict=True):
                # Between two lines of one value a space and the comma of an address are not printed.
                assert glyphs.get(place, character if character in " ," else "") == character, (name, leaf)
                verbatim += 1
            if name in DATES or name == "currency":
                continue
            for character, place in zip(leaf.text, leaf.places[:-1], strict=True):
                printed = glyphs.get(place)
                decimal = character == "." and printed == ","
                minus = character == "-" and printed == "("
                assert printed == character or decimal or minus or (printed is None and character in " ,"), (name, leaf)
    assert verbatim > 20 * len(documents)


def test_an_iso_date_is_read_from_its_own_digits_or_the_month_s_name(documents: list[Document]) -> None:
    for document in documents:
        glyphs = glyphs_of(document)
        for name, leaf in leaves(document.truth):
            if name not in DATES or leaf.value is None:
                continue
            read = [None if place is None else glyphs[place] for place in leaf.places[:-1]]
            for index in (2, 3, 9):  # a year may show two digits, a day one
                assert read[index] == leaf.text[index]
            assert all(read[index] in (None, leaf.text[index]) for index in (0, 1))
            assert read[8] == leaf.text[8] or (leaf.text[8] == "0" and read[8] == leaf.text[9])
            month = read[5:7]
            numeric = all(character is not None and character.isdigit() for character in month)
            assert not numeric or month == list(leaf.text[5:7]) or (leaf.text[5] == "0" and month[1] == leaf.text[6])


def _local_contrast(pages: list[np.ndarray], sheet: Sheet, place: Any, reach_x: int, reach_y: int) -> int:
    page = pages[place.page]
    x = round(place.x * page.shape[1] / sheet.width)
    y = round(place.y * page.shape[0] / sheet.height)
    around = page[max(0, y - reach_y) : y + reach_y + 1, max(0, x - reach_x) : x + reach_x + 1]
    return int(around.max()) - int(around.min())


def test_there_is_ink_where_a_glyph_is_said_to_stand(documents: list[Document]) -> None:
    for document in documents[:8]:
        pages = document.sheet.render()
        for run in document.sheet.runs:
            for character, place in zip(run.text, run.places, strict=True):
                if character != " ":
                    # the widest glyphs have their stems four pixels from the middle, a full stop stands on the baseline
                    contrast = _local_contrast(pages, document.sheet, place, 4, 9)
                    assert contrast > 25, (run.text, character, document.font)


@pytest.mark.parametrize("strong", [False, True])
def test_a_worn_page_takes_every_place_along(strong: bool) -> None:
    turned = 0
    for seed in range(12):
        random = Random(seed)
        plain = make_document(random, "receipt", profile="wide")
        worn = wear(plain, random, strong=strong)
        assert worn.noise == ("strong" if strong else "light")
        assert answer_json(worn.truth) == answer_json(plain.truth)
        before, after = plain.sheet.render(), worn.sheet.render()
        assert [page.shape for page in after] == [page.shape for page in before]
        moved = {place for run in worn.sheet.runs for place in run.places}
        turned += moved.isdisjoint({place for run in plain.sheet.runs for place in run.places})
        values = [leaf for _, leaf in leaves(worn.truth) if leaf.verbatim is not None]
        printed = [place for leaf in values for place in leaf.verbatim.places[:-1] if place in moved]  # type: ignore[union-attr]
        assert len(printed) > 20
        # A worn glyph is as dark against its ground, up to the contrast that the scanner leaves, as it was before.
        old, new = plain.sheet.runs, worn.sheet.runs
        pairs = [
            (one, other)
            for first, second in zip(old, new, strict=True)
            for character, one, other in zip(first.text, first.places, second.places, strict=True)
            if character.isalnum()
        ]
        kept = [
            _local_contrast(after, worn.sheet, other, 2, 5) / _local_contrast(before, plain.sheet, one, 2, 5)
            for one, other in pairs[::5]
            if _local_contrast(before, plain.sheet, one, 2, 5) > 60
        ]
        assert np.median(kept) > 0.35
    assert turned >= 3  # each is turned with probability 0.6: fewer of 12 happens once in 300


def test_the_sums_agree() -> None:
    for seed in range(40):
        truth = answer_json(make_document(Random(seed), "invoice", profile="wide").truth)
        items = round(sum(item["amount"] for item in truth["line_items"]), 2)
        assert truth["subtotal"] in (None, items)
        if truth["subtotal"] is not None and len(truth["taxes"]) <= 1 and truth["tax"] is not None:
            total = items - (truth["discount"] or 0) + (truth["shipping"] or 0) + truth["tax"]
            assert round(total, 2) == truth["total"]
        for item in truth["line_items"]:
            if item["quantity"] is not None and item["unit_price"] is not None:
                assert abs(item["quantity"] * item["unit_price"] - item["amount"]) < 0.0051
    for seed in range(15):
        truth = answer_json(make_document(Random(seed), "statement", profile="wide").truth)
        if truth["opening_balance"] is not None and truth["closing_balance"] is not None:
            moved = sum(row["amount"] for row in truth["transactions"])
            assert round(truth["opening_balance"] + moved, 2) == truth["closing_balance"]


def test_a_seed_always_draws_the_same_document() -> None:
    for kind in ("invoice", "receipt", "statement"):
        one, other = (make_document(Random(5), kind, profile="wide") for _ in range(2))
        assert one.truth == other.truth
        assert one.sheet.pdf() == other.sheet.pdf()
        assert one.sheet.pdf() != make_document(Random(6), kind, profile="wide").sheet.pdf()
        first, second = (wear(document, Random(1)).sheet.render()[0] for document in (one, other))
        assert np.array_equal(first, second)


def test_training_never_draws_a_held_out_family_and_covers_the_others() -> None:
    everything = {family for members in FAMILIES.values() for family in members}
    assert len(everything - HELD_OUT_FAMILIES) >= 12
    assert len(HELD_OUT_FAMILIES) >= 3
    assert everything >= HELD_OUT_FAMILIES
    seen: Counter[str] = Counter()
    for seed in range(120):
        for kind in ("invoice", "receipt", "statement"):
            random = Random(seed)
            seen[random.choice(families(kind, held_out=False))] += 1  # the draw that make_document begins with
    assert not HELD_OUT_FAMILIES & set(seen)
    assert set(seen) == everything - HELD_OUT_FAMILIES
    for kind in ("invoice", "receipt", "statement"):
        assert make_document(Random(1), kind, profile="wide", held_out=True).layout in HELD_OUT_FAMILIES
        assert make_document(Random(1), kind, profile="wide").layout not in HELD_OUT_FAMILIES


@pytest.mark.parametrize("kind", ["invoice", "receipt", "statement"])
def test_every_family_fits_its_page_more_often_than_not(kind: str) -> None:
    for family in FAMILIES[kind]:
        fitted = 0
        for seed in range(10):
            try:
                document = draft(Random(100 + seed), kind, family, None)
            except DoesNotFit:
                continue
            fitted += 1
            assert document.layout == family
        assert fitted >= 4, family


def test_languages_are_drawn_from_their_own_countries_and_alike_often() -> None:
    languages = Counter(make_document(Random(seed), "key_values", profile="wide").language for seed in range(180))
    assert set(languages) == set(LANGUAGES)
    assert min(languages.values()) >= 10, languages
    assert make_document(Random(3), "receipt", profile="wide", language="nl").language == "nl"
    with pytest.raises(ValueError, match="narrow profile is English"):
        make_document(Random(3), "receipt", language="nl")


def test_pages_come_in_few_sizes() -> None:
    sizes = set()
    for kind in PROFILES["wide"]:
        for seed in range(14):
            sheet = make_document(Random(seed), kind, profile="wide").sheet
            sizes.add((round(sheet.width), round(sheet.height)))
            assert sheet.page == (1 if kind == "invoice_two_pages" else 0)
    pages = {(595, 842), (612, 792), (420, 595)}
    slips = {(216, 384), (216, 576), (216, 768), (288, 480), (288, 720)}
    crops = {(288, 120), (432, 144), (216, 144)}
    assert sizes <= pages | slips | crops
    assert sizes >= pages | crops


def test_there_are_many_fonts_and_each_can_print_every_character() -> None:
    faces = set()
    for family in fonts.FAMILIES:
        for bold in (False, True):
            for italic in (False, True):
                faces.add(family.face(bold=bold, italic=italic))
    assert len(faces) >= 30
    assert len(fonts.FAMILIES) >= 20
    from reportlab.pdfbase.pdfmetrics import getFont

    for name in faces:
        font = getFont(name)
        if hasattr(font.face, "charToGlyph"):
            assert not {character for character in INVENTORY if ord(character) not in font.face.charToGlyph}, name


def test_a_font_that_is_not_installed_is_named_with_its_package() -> None:
    family = fonts.Family("None", "sans", 1, ("A", "B", "C", "D"), "no_such_fonts", ("a", "b", "c", "d"))
    with pytest.raises(ImportError, match=r"font B comes from the package no-such-fonts.*pip install no-such-fonts"):
        family.face(bold=True)


@pytest.mark.parametrize("family", fonts.FAMILIES, ids=lambda family: family.name)
def test_advances_are_those_that_pdfium_draws_with(family: fonts.Family) -> None:
    """Every character of every face, measured by where the letter after it begins in the finished PDF."""
    characters = INVENTORY.strip()
    for name in sorted({family.face(bold=bold, italic=italic) for bold in BOTH for italic in BOTH}):
        sheet = Printer(400, 20 * len(characters) + 40)
        for index, character in enumerate(characters):
            sheet.run(Run(0, 20, 20 + 20 * index, character + "H", Face(name, 10), 0.0))
        pdf = pdfium.PdfDocument(sheet.pdf())
        try:
            text = pdf[0].get_textpage()
            begins = []
            for index in range(text.count_chars()):
                x, y = ctypes.c_double(), ctypes.c_double()
                assert pdfium.raw.FPDFText_GetCharOrigin(text, index, ctypes.byref(x), ctypes.byref(y))
                if chr(pdfium.raw.FPDFText_GetUnicode(text, index)) not in " \r\n":
                    begins.append((chr(pdfium.raw.FPDFText_GetUnicode(text, index)), x.value))
        finally:
            pdf.close()
        assert [character for character, _ in begins[::2]] == list(characters)
        for (character, begin), (_, following) in zip(begins[::2], begins[1::2], strict=True):
            # a tenth of a thousandth, and the 24 bits of pdfium's coordinates
            assert abs(following - begin - 10 * advances(name)[character]) < 0.001 + 1e-4, (name, character)


def test_texts_may_not_touch_nor_leave_the_page() -> None:
    paper = Paper(200, 100, margin=10)
    face = Face("Helvetica", 10)
    paper.text(20, 30, "taken", face)
    for x, y, text in (
        (30, 33, "over it"),
        (20, 39, "ÀÉ accents reach it"),
        (180, 60, "leaves the page"),
        (20, 8, "too high"),
    ):
        with pytest.raises(DoesNotFit):
            paper.text(x, y, text, face)
    paper.text(20, 41, "below it", face)
    with pytest.raises(DoesNotFit):
        face.wrap("unbreakable", 20)
    assert face.wrap("one two three", face.width("one two") + 0.1) == [(0, "one two"), (8, "three")]


def test_every_table_of_words_has_the_same_keys_and_can_be_printed() -> None:
    keys = set(LANGUAGES["en"].labels)
    for language, words in LANGUAGES.items():
        assert set(words.labels) == keys, language
        assert len(words.months) == len(words.short_months) == 12
        everything = [
            *words.months,
            *words.short_months,
            *(wording for row in words.labels.values() for wording in row),
        ]
        vocabulary = VOCABULARIES[language]
        everything += [*vocabulary.goods, *vocabulary.services, *vocabulary.foods, *vocabulary.adjectives]
        everything += [*vocabulary.trades, *vocabulary.shops, *(printed for printed, _ in vocabulary.methods)]
        for wording in everything:
            assert wording
            assert set(wording) <= set(INVENTORY), wording
        assert {"cash", "card", "transfer"} <= {category for _, category in vocabulary.methods}
    assert {locale.words.language for locale in LOCALES} == set(LANGUAGES)


def test_a_sheet_for_reading_is_full_of_text_in_many_inks() -> None:
    for seed in range(2):
        (pixels,), runs = make_wide_sheet(Random(seed), 768.0)
        assert pixels.shape == (1024, 1024)
        assert sum(len(run.text) for run in runs) > 1500
        assert pixels.std() > 10


def test_crops_are_no_family() -> None:
    with pytest.raises(ValueError, match="table is a crop"):
        make_document(Random(0), "table", profile="wide", held_out=True)
    assert set(CROPS) < set(PROFILES["wide"])
