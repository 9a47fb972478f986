"""Words of pages without a text layer, through the real recogniser where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from forklift import ocr
from forklift.citations import cite
from forklift.documents import Document
from forklift.page_texts import page_texts, with_recognised
from forklift.results import Field

installed = pytest.mark.skipif(
    ocr.find_spec("rapidocr") is None or ocr.find_spec("onnxruntime") is None, reason="the extra ocr is not installed"
)


def picture(path: Path) -> Path:
    image = Image.new("RGB", (420, 120), "white")
    draw = ImageDraw.Draw(image)
    draw.text((20, 20), "Invoice INV-0042", "black", ImageFont.load_default(24))
    draw.text((20, 70), "Total 1,234.50", "black", ImageFont.load_default(24))
    image.save(path)
    return path


@pytest.fixture(scope="module")
def recogniser() -> ocr.Recogniser:
    return ocr.Recogniser()


@installed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the recogniser's own dependencies
@pytest.mark.parametrize("name", ["scan.png", "scan.pdf"])
def test_values_of_a_scan_are_cited_but_never_denied(tmp_path: Path, name: str, recogniser: ocr.Recogniser) -> None:
    path = picture(tmp_path / name)  # Pillow saves a picture as the page of a PDF, 72 pixels an inch
    fields = [Field("/number", "INV-0042"), Field("/total", 1234.5), Field("/vendor", "Acme")]
    with Document.open(path) as document:
        assert document.pages[0].size == pytest.approx((420, 120))
        number, total, vendor = cite(fields, with_recognised(document, page_texts(document), recogniser))
    assert (number.grounded, total.grounded, vendor.grounded) == (True, True, None)
    (citation,) = total.citations
    assert citation.text == "1,234.50"
    middle = (citation.box.top + citation.box.bottom) / 2
    assert 70 < middle < 105  # the second line of print
    assert 60 < citation.box.left < 120 < citation.box.right < 220


def test_without_a_recogniser_a_scan_has_no_citations(tmp_path: Path) -> None:
    with Document.open(picture(tmp_path / "scan.png")) as document:
        (text,) = page_texts(document)
    assert text.words is None
    assert cite([Field("/total", 1234.5)], [text]) == (Field("/total", 1234.5),)


@pytest.mark.parametrize("off", ["0", "off", "No"])
def test_an_environment_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    monkeypatch.setattr(ocr, "find_spec", lambda name: object())
    monkeypatch.setenv("FORKLIFT_OCR", off)
    assert not ocr.is_available()
    monkeypatch.delenv("FORKLIFT_OCR")
    assert ocr.is_available()
    monkeypatch.setattr(ocr, "find_spec", lambda name: None)
    assert not ocr.is_available()
