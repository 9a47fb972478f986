"""Words of a PDF page, and where they stand on the page as it is shown."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from forklift.documents import Document, PagePolicy
from forklift.results import Word

SCALE = 2  # pixels a point, where a page is drawn to see the ink


def pdf(draw: Callable[[Canvas], None], size: tuple[float, float] = (300, 200)) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size, invariant=1)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def words_in(path: Path, content: bytes) -> tuple[Word, ...] | None:
    path.write_bytes(content)
    with Document.open(path) as document:
        return document.pages[0].words()


def two_words(canvas: Canvas) -> None:
    canvas.setFont("Helvetica", 12)
    canvas.drawString(40, 150, "Total 1,234.50")


def altered(content: bytes, alter: Callable[[pypdfium2.PdfPage], None]) -> bytes:
    document = pypdfium2.PdfDocument(content)
    alter(document[0])
    buffer = io.BytesIO()
    document.save(buffer)
    document.close()
    return buffer.getvalue()


def test_words_are_cut_at_spaces_and_stand_where_they_are_drawn(tmp_path: Path) -> None:
    words = words_in(tmp_path / "a.pdf", pdf(two_words))
    assert words is not None
    total, amount = words
    assert (total.text, amount.text) == ("Total", "1,234.50")
    assert total.box.left == pytest.approx(40, abs=1)
    # the baseline is 50 points below the top; a capital of 12 points is 8.6 high
    assert total.box.top < 50 - 8 < 50 < total.box.bottom < 60
    assert total.box.right < amount.box.left < amount.box.right < 130


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (20, 100, 280, 190)])
def test_the_ink_is_in_the_box_however_the_page_is_turned_and_cropped(
    tmp_path: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    def alter(page: pypdfium2.PdfPage) -> None:
        page.set_rotation(rotation)
        if crop is not None:
            page.set_cropbox(*crop)

    path = tmp_path / "a.pdf"
    path.write_bytes(altered(pdf(lambda canvas: canvas.drawString(40, 150, "Word")), alter))
    with Document.open(path) as document:
        page = document.pages[0]
        words = page.words()
        image = page.render(PagePolicy(dots_per_inch=72 * SCALE, shorter_side=0))
        assert image.size == tuple(round(side * SCALE) for side in page.size)
    assert words is not None
    (word,) = words
    rows, columns = np.nonzero(np.asarray(image.convert("L")) < 128)
    assert word.box.left - 1 <= columns.min() / SCALE <= columns.max() / SCALE <= word.box.right + 1
    assert word.box.top - 1 <= rows.min() / SCALE <= rows.max() / SCALE <= word.box.bottom + 1
    # and the box is no larger than a line of 12 points
    assert sorted((word.box.right - word.box.left, word.box.bottom - word.box.top))[0] < 18


def test_what_stands_off_the_page_is_no_word_of_it(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        two_words(canvas)
        canvas.drawString(400, 150, "outside")

    words = words_in(tmp_path / "a.pdf", pdf(draw))
    assert words is not None
    assert [word.text for word in words] == ["Total", "1,234.50"]


def test_cells_of_a_table_are_words_of_their_own(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for x, text in ((40, "2"), (90, "3.00"), (150, "6.00")):
            canvas.drawString(x, 100, text)

    words = words_in(tmp_path / "a.pdf", pdf(draw))
    assert words is not None
    assert [word.text for word in words] == ["2", "3.00", "6.00"]


def test_text_set_upright_is_one_word(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.drawString(40, -100, "Sideways")

    words = words_in(tmp_path / "a.pdf", pdf(draw))
    assert words is not None
    (word,) = words
    assert word.text == "Sideways"
    assert word.box.bottom - word.box.top > 2 * (word.box.right - word.box.left)


def test_values_of_form_fields_are_words(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(40, 150, "Name")
        canvas.acroForm.textfield(name="name", value="Ada Example", x=100, y=140, width=120, height=20)

    words = words_in(tmp_path / "a.pdf", pdf(draw))
    assert words is not None
    assert [word.text for word in words] == ["Name", "Ada", "Example"]
    box = words[1].box
    assert (box.left, box.top, box.right, box.bottom) == pytest.approx((100, 40, 220, 60), abs=2)


def test_a_blank_page_has_no_words_and_nothing_else_to_read(tmp_path: Path) -> None:
    assert words_in(tmp_path / "a.pdf", pdf(lambda canvas: None)) == ()


def test_a_page_of_outlines_has_none_that_could_be_looked_in(tmp_path: Path) -> None:
    assert words_in(tmp_path / "a.pdf", pdf(lambda canvas: canvas.line(10, 10, 200, 150))) is None


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_stamp_on_a_scan_is_no_text_layer(tmp_path: Path, share: float) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.new("RGB", (30, 20), "grey")), 0, 0, 300 * share, 200)
        two_words(canvas)

    words = words_in(tmp_path / "a.pdf", pdf(draw))
    assert (words is None) == (share > 0.5)


def test_a_picture_has_no_text_layer(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (60, 40), "white").save(path)
    with Document.open(path) as document:
        assert document.pages[0].words() is None
        assert document.pages[0].size == (60, 40)
