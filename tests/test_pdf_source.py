"""What PDFs hold, and how it is drawn."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from reportlab.lib.colors import black
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from forklift import pdf_source
from forklift.documents import Document, PagePolicy
from forklift.errors import DocumentError, PasswordError
from tests.made_documents import NATURAL, dark_at, only_page, pdf_of, raw_pdf, stream_of, write_pdf


@pytest.mark.parametrize(
    ("points", "policy", "expected"),
    [
        ((600, 800), PagePolicy(96, 0), (800, 1067)),  # 96 dpi; PDFium rounds up
        ((300, 600), PagePolicy(96, 692), (692, 1384)),  # 400 wide at 96 dpi: up to the minimum
        ((1440, 1440), PagePolicy(96, 692, 1_000_000), (1000, 1000)),  # 1920 at 96 dpi: down to the maximum
        ((72, 72), PagePolicy(300, 0), (300, 300)),
    ],
)
def test_a_pdf_page_is_drawn_under_the_policy(
    tmp_path: Path, points: tuple[float, float], policy: PagePolicy, expected: tuple[int, int]
) -> None:
    image = only_page(write_pdf(tmp_path / "a.pdf", 1, points), policy)
    assert image.mode == "RGB"
    assert abs(image.width - expected[0]) <= 1
    assert abs(image.height - expected[1]) <= 1
    assert image.width * image.height <= policy.max_pixels


@pytest.mark.parametrize("points", [(14400, 14400), (14400, 30), (3, 3000), (612, 792), (1, 1)])
@pytest.mark.parametrize("policy", [PagePolicy(), NATURAL, PagePolicy(max_pixels=5000), None])
def test_no_pdf_page_exceeds_the_area(tmp_path: Path, points: tuple[float, float], policy: PagePolicy | None) -> None:
    image = only_page(write_pdf(tmp_path / "a.pdf", 1, points), policy)
    assert image.width * image.height <= (policy or NATURAL).max_pixels
    assert max(image.size) <= 101 * min(image.size)


def test_rotation_is_honoured(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(raw_pdf("/MediaBox [0 0 200 100] /Rotate 90"))
    image = only_page(path, NATURAL)
    assert image.width < image.height
    assert dark_at(image, 0.05, 0.02)  # lower left has turned to upper left
    assert not dark_at(image, 0.05, 0.98)


def test_the_crop_box_is_what_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(raw_pdf("/MediaBox [0 0 400 400] /CropBox [0 0 40 80]"))
    image = only_page(path, PagePolicy(72, 0))
    assert image.size == (40, 80)
    assert dark_at(image, 0.25, 0.9)
    assert not dark_at(image, 0.9, 0.9)


def test_form_values_are_drawn(tmp_path: Path) -> None:
    def field(canvas: Canvas) -> None:
        canvas.acroForm.textfield(
            name="total", value="IIIIIIIIIIII", x=100, y=200, width=90, height=40, fontSize=30,
            borderWidth=0, fillColor=None, textColor=black, borderColor=None,
        )  # fmt: skip

    with_value = np.asarray(only_page(write_pdf(tmp_path / "a.pdf", 1, draw=field), NATURAL))
    without = np.asarray(only_page(write_pdf(tmp_path / "b.pdf", 1), NATURAL))
    assert with_value.shape == without.shape
    changed = (with_value != without).any(axis=2)
    height, width = changed.shape
    assert changed[: height // 2, width // 2 :].sum() > 50  # where the field stands


def test_junk_before_the_header_is_accepted(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 1)
    path.write_bytes(b"\r\nHTTP junk\r\n" * 20 + path.read_bytes())
    assert dark_at(only_page(path, NATURAL), 0.02, 0.98)


def test_a_user_password_is_asked_for_and_used(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 1, encrypt=StandardEncryption("öpen", "owner", strength=128))
    with pytest.raises(PasswordError, match="encrypted; give its password"):
        Document.open(path)
    with pytest.raises(PasswordError, match="does not open"):
        Document.open(path, password="wrong")
    assert dark_at(only_page(path, NATURAL, password="öpen"), 0.02, 0.98)


def test_an_owner_password_alone_needs_none(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 1, encrypt=StandardEncryption("", "owner", strength=128))
    assert dark_at(only_page(path, NATURAL), 0.02, 0.98)


def test_a_pdf_without_pages_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(raw_pdf("", count=0))
    with pytest.raises(DocumentError, match="no pages"):
        Document.open(path)


def test_a_damaged_pdf_is_no_password_error(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n" + b"garbage" * 100)
    with pytest.raises(DocumentError, match="damaged PDF") as caught:
        Document.open(path)
    assert not isinstance(caught.value, PasswordError)


def test_pages_are_rendered_from_many_threads(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 6)
    with Document.open(path) as document:
        alone = [page.render(NATURAL).tobytes() for page in document]
        together: dict[int, bytes] = {}

        def render(index: int) -> None:
            together[index] = document.pages[index % 6].render(NATURAL).tobytes()

        threads = [threading.Thread(target=render, args=(index,)) for index in range(18)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [together[index] for index in range(18)] == alone * 3


# A text field, a choice and a button without an appearance of their own: what they hold stands in /V alone.
FIELDS = {
    "text": "/FT /Tx /V (IIIIIII) /DA (/Helv 20 Tf 0 g)",
    "choice": "/FT /Ch /Ff 131072 /V (IIIIIII) /Opt [(IIIIIII) (B)] /DA (/Helv 20 Tf 0 g)",
    "text of its parent": "/Parent 7 0 R",
}


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize("need_appearances", ["true", "false"])
def test_values_of_fields_without_an_appearance_are_drawn(tmp_path: Path, field: str, need_appearances: str) -> None:
    def write(entries: str) -> Path:
        path = tmp_path / "a.pdf"
        path.write_bytes(
            raw_pdf(
                "/MediaBox [0 0 200 200] /Annots [5 0 R]",
                content="",
                catalog_entries=f"/AcroForm << /Fields [5 0 R] /NeedAppearances {need_appearances} "
                "/DR << /Font << /Helv 6 0 R >> >> /DA (/Helv 20 Tf 0 g) >>",
                more_objects=[
                    f"<< /Type /Annot /Subtype /Widget /T (a) /Rect [20 100 180 140] /F 4 {entries} >>",
                    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
                    "<< /T (p) /FT /Tx /V (IIIIIII) /DA (/Helv 20 Tf 0 g) /Kids [5 0 R] >>",
                ],
            )
        )
        return path

    with_value = np.asarray(only_page(write(field), NATURAL)).min(axis=2)
    empty = np.asarray(only_page(write("/FT /Tx /DA (/Helv 20 Tf 0 g)"), NATURAL)).min(axis=2)
    assert (with_value < 128).sum() > 150  # seven capital I, some 14 points high
    assert (empty < 128).sum() == 0


@pytest.mark.parametrize(
    ("annotation", "visible"),
    [
        ("/Subtype /Square /C [0 0 0] /IC [0 0 0] /F 4", True),
        ("/Subtype /Square /C [0 0 0] /IC [0 0 0] /F 2", False),  # hidden
        ("/Subtype /Highlight /C [0 0 0] /QuadPoints [20 140 180 140 20 100 180 100] /F 4", True),
        ("/Subtype /FreeText /Contents (IIIII) /DA (/Helv 30 Tf 0 g) /F 4", True),
        ("/Subtype /Stamp /AP << /N 6 0 R >> /F 4", True),
    ],
)
def test_annotations_are_drawn_unless_hidden(tmp_path: Path, annotation: str, visible: bool) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(
        raw_pdf(
            "/MediaBox [0 0 200 200] /Annots [5 0 R]",
            content="",
            more_objects=[
                f"<< /Type /Annot /Rect [20 100 180 140] {annotation} >>",
                stream_of(b"0 0 160 40 re f", "/Type /XObject /Subtype /Form /BBox [0 0 160 40]"),
            ],
        )
    )
    assert (np.asarray(only_page(path, NATURAL)).min(axis=2) < 128).any() == visible


def test_an_xfa_form_is_read_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    form = "/NeedsRendering true /AcroForm << /Fields [] /XFA [(template) 5 0 R] >>"
    path.write_bytes(raw_pdf("/MediaBox [0 0 200 200]", catalog_entries=form, more_objects=[stream_of(b"<template/>")]))
    with Document.open(path) as document:
        assert "XFA form" in document.notes[0]
        assert dark_at(document.pages[0].render(NATURAL), 0.02, 0.98)


@pytest.mark.parametrize(
    ("entries", "size"),
    [
        ("/MediaBox [0 0 200 100] /Rotate -90", (134, 267)),
        ("/MediaBox [0 0 200 100] /Rotate 450", (134, 267)),
        ("/MediaBox [0 0 200 100] /Rotate 180", (267, 134)),
        ("/MediaBox [0 0 200 100] /Rotate 45", (267, 134)),  # no quarter turn: not turned
        ("/MediaBox [200 100 0 0]", (267, 134)),  # corners the other way round
        ("/MediaBox [-100 -50 100 50]", (267, 134)),
        ("/MediaBox [0 0 200 100] /CropBox [50 0 300 100]", (200, 134)),  # the part of it that is on the page
        ("/MediaBox [0 0 200 100] /CropBox [500 500 600 600]", (267, 134)),  # off the page: all of it
        ("/MediaBox [0 0 200 100] /CropBox [500 500 600 600] /Rotate 90", (134, 267)),
        ("/MediaBox [0 0 0 0]", (816, 1056)),  # nothing that can be drawn: a letter page, as other readers do
        ("/MediaBox [0 0 200]", (816, 1056)),
        ("", (816, 1056)),
        ("/MediaBox [0 0 1e38 1e38]", (816, 1056)),
        ("/MediaBox [0 0 14400 14400]", (1237, 1237)),  # 200 inches; 19200 pixels at 96 dpi
        ("/MediaBox [0 0 140000 140000]", (1237, 1237)),
        ("/MediaBox [0 0 200 100] /UserUnit 1000", (267, 134)),
        ("/MediaBox [0 0 0.0001 0.0001]", (1, 1)),
    ],
)
def test_page_boxes_of_every_kind_are_drawn_within_the_area(
    tmp_path: Path, entries: str, size: tuple[int, int]
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(raw_pdf(entries))
    shown = only_page(path, NATURAL)
    assert max(abs(a - b) for a, b in zip(shown.size, size, strict=True)) <= 1
    assert shown.width * shown.height <= NATURAL.max_pixels


def test_a_page_that_is_not_there_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(raw_pdf("/MediaBox [0 0 50 50]").replace(b"[3 0 R] /Count 1", b"[3 0 R 9 0 R] /Count 2"))
    with Document.open(path) as document:
        assert dark_at(document.pages[0].render(NATURAL), 0.1, 0.9)
        with pytest.raises(DocumentError, match="page 2 is damaged"):
            document.pages[1].render(NATURAL)


def test_a_password_where_none_is_needed_does_no_harm(tmp_path: Path) -> None:
    assert dark_at(only_page(write_pdf(tmp_path / "a.pdf", 1), NATURAL, password="any"), 0.02, 0.98)


@pytest.mark.parametrize("name", ["Rechnung März.pdf", "~draft.pdf", "~", "領収書", "a b%20#1.pdf"])
def test_any_file_name_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_pdf(tmp_path / "a", 1).rename(name)
    assert dark_at(only_page(Path(name), NATURAL), 0.02, 0.98)


def test_the_streams_of_a_long_scan_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "a.pdf", 5)
    monkeypatch.setattr(pdf_source, "_MAX_BYTES_READ", path.stat().st_size / 5)
    source = pdf_source.PdfSource(path, "a.pdf", None)
    alone = [source.render(index, NATURAL).tobytes() for index in range(5)]
    opened = source._pdf
    with source.opened_page(0) as outer:
        now_open = source._pdf
        for index in range(5):  # as long as a page is in use, its document stays
            assert source.render(index, NATURAL).tobytes() == alone[index]
        assert source._pdf is now_open
        assert outer.get_size() == (200, 300)
    assert source.render(4, NATURAL).tobytes() == alone[4]
    assert source._pdf not in (opened, now_open)
    source.close()


READ_A_DOCUMENT = """
import sys
from forklift.documents import Document, Limits, PagePolicy

def resident_peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024

with Document.open(sys.argv[1], sys.argv[2], limits=Limits(max_pages=1000)) as document:
    document.pages[0].render(PagePolicy())
    before = resident_peak()
    for page in document:
        page.render(PagePolicy(max_pixels=int(sys.argv[3])))
    print(len(document), resident_peak() - before)
"""


def peak_growth(path: Path, pages: str, max_pixels: int) -> tuple[int, int]:
    """How many pages were drawn, and by how many bytes a process of its own grew after the first."""
    words = [sys.executable, "-c", READ_A_DOCUMENT, str(path), pages, str(max_pixels)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    page_count, growth = done.stdout.split()
    return int(page_count), int(growth)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_a_thousand_pages_take_the_memory_of_a_few(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 1000, (595, 842), lambda canvas: canvas.drawString(60, 700, "Total 12.50"))
    # All of them small, for time; a hundred at full size, 2.7 MB each.
    page_count, growth = peak_growth(path, "1-", 20_000)
    assert page_count == 1000
    assert growth < 30e6
    page_count, growth = peak_growth(path, "901-", 1088 * 1408)
    assert page_count == 100
    assert growth < 30e6


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_a_scan_of_150_megabytes_is_not_kept_in_memory(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, 1000 * 1250 * 3, dtype=np.uint8).tobytes()
    picture = "/Type /XObject /Subtype /Image /Width 1000 /Height 1250 /ColorSpace /DeviceRGB /BitsPerComponent 8"
    objects: list[str | bytes] = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count 40 /Kids [{' '.join(f'{3 + 3 * page} 0 R' for page in range(40))}] >>",
    ]
    for page in range(40):
        resources = f"/Contents {4 + 3 * page} 0 R /Resources << /XObject << /I {5 + 3 * page} 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 750] {resources} >>",
            stream_of(b"600 0 0 750 0 0 cm /I Do"),
            stream_of(pixels, picture),
        ]
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_of(objects))
    page_count, growth = peak_growth(path, "1-", 10_000)
    path.unlink()
    assert page_count == 40
    assert growth < 100e6


def test_the_last_pages_of_a_thousand_are_reached_at_once(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 1000, (595, 842))
    start = time.perf_counter()
    with Document.open(path, pages="990-") as document:
        assert document.pages[0].number == 990
        document.pages[0].render()
    assert time.perf_counter() - start < 3
