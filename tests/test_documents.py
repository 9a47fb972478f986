"""Documents of every kind that breaks others, each made here by code."""

from __future__ import annotations

import io
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from reportlab.lib.colors import black
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from forklift.documents import Document, Limits, PagePolicy
from forklift.errors import DocumentError, LimitError, PageRangeError, PasswordError

NATURAL = PagePolicy(shorter_side=0)


def write_pdf(
    path: Path,
    pages: int = 3,
    size: tuple[float, float] = (200, 300),
    draw: Callable[[Canvas], None] | None = None,
    encrypt: StandardEncryption | None = None,
) -> Path:
    """A PDF whose page n has a black square in its lower left corner and n as text."""
    canvas = Canvas(str(path), pagesize=size, encrypt=encrypt, invariant=True)
    for number in range(1, pages + 1):
        canvas.rect(0, 0, 20, 20, fill=1)
        canvas.drawString(60, 60, str(number))
        if draw is not None:
            draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def raw_pdf(page_entries: str, content: str = "0 0 20 20 re f", count: int = 1, extra: str = "") -> bytes:
    """A one-page PDF written by hand, for what reportlab does not write."""
    stream = f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
    kids = "3 0 R" if count else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {extra} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        f"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << >> {page_entries} >>",
        stream,
    ]
    body, offsets = b"%PDF-1.7\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode() + trailer.encode()


def only_page(path: Path, policy: PagePolicy | None = None, **options: str) -> Image.Image:
    with Document.open(path, **options) as document:  # type: ignore[arg-type]
        (page,) = document.pages
        return page.render(policy)


def dark_at(image: Image.Image, x: float, y: float) -> bool:
    """Whether the pixel at the relative place is dark."""
    pixel = image.getpixel((min(int(x * image.width), image.width - 1), min(int(y * image.height), image.height - 1)))
    assert isinstance(pixel, tuple)
    return sum(pixel) < 384


# --- page ranges -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pages", "numbers"),
    [
        (None, (1, 2, 3)),
        ("2", (2,)),
        ("1-2", (1, 2)),
        ("1,3", (1, 3)),
        ("2-", (2, 3)),
        ("1\u20132", (1, 2)),  # en dash
        (" 1 - 2 , 3 ", (1, 2, 3)),
        ("3,1,1-2", (1, 2, 3)),  # each once, in page order
    ],
)
def test_page_ranges_select(tmp_path: Path, pages: str | None, numbers: tuple[int, ...]) -> None:
    with Document.open(write_pdf(tmp_path / "a.pdf"), pages=pages) as document:
        assert tuple(page.number for page in document) == numbers
        assert len(document) == len(numbers)
        assert document.page_count == 3


@pytest.mark.parametrize(
    ("pages", "names"),
    [
        ("3-1", "3-1"),
        ("-1", "-1"),
        ("1,,2", "1,,2"),
        ("", '""'),
        ("0", "page 0"),
        ("0-2", "page 0"),
        ("a", '"a"'),
        ("1-2-3", "1-2-3"),
        ("1.5", "1.5"),
        ("٣", "٣"),  # digits of another script are no page numbers
        ("4", "has 3 pages"),
        ("2-4", "has 3 pages"),
        ("10-12", "has 3 pages"),
        ("4-", "has 3 pages"),
    ],
)
def test_bad_page_ranges_are_named_with_the_accepted_forms(tmp_path: Path, pages: str, names: str) -> None:
    path = write_pdf(tmp_path / "a.pdf")
    with pytest.raises(PageRangeError) as caught:
        Document.open(path, pages=pages)
    assert names in str(caught.value)
    assert '"1-3,5" or "5-"' in str(caught.value)
    assert caught.value.exit_code == 2


# --- sizes -----------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("size", "policy", "expected"),
    [
        ((400, 600), PagePolicy(), (692, 1038)),
        ((800, 1000), PagePolicy(), (800, 1000)),
        ((4000, 4000), PagePolicy(max_pixels=1_000_000), (1000, 1000)),
        ((400, 600), NATURAL, (400, 600)),
        ((3000, 3000), None, (3000, 3000)),
    ],
)
def test_a_picture_keeps_its_pixels_within_the_policy(
    tmp_path: Path, size: tuple[int, int], policy: PagePolicy | None, expected: tuple[int, int]
) -> None:
    Image.new("RGB", size, "white").save(tmp_path / "a.png")
    assert only_page(tmp_path / "a.png", policy).size == expected


@pytest.mark.parametrize("size", [(3, 3000), (3000, 3), (1, 1), (1, 20000)])
def test_a_strip_is_bounded_and_widened_on_white(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.new("RGB", size, "black").save(tmp_path / "a.png")
    image = only_page(tmp_path / "a.png", PagePolicy())
    assert image.width * image.height <= PagePolicy().max_pixels
    assert max(image.size) <= 101 * min(image.size)
    if size == (3, 3000):
        assert dark_at(image, 0.02, 0.5)
        assert not dark_at(image, 0.9, 0.5)


def test_a_policy_that_means_nothing_is_refused() -> None:
    for settings in ({"dots_per_inch": 0}, {"shorter_side": -1}, {"max_pixels": 0}):
        with pytest.raises(ValueError, match="at least"):
            PagePolicy(**settings)


# --- what PDFs hold --------------------------------------------------------------------------------------


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


def test_annotations_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    square = "/Annots [<< /Type /Annot /Subtype /Square /Rect [100 100 180 180] /C [0 0 0] /IC [0 0 0] /F 4 >>]"
    path.write_bytes(raw_pdf(f"/MediaBox [0 0 200 200] {square}"))
    assert dark_at(only_page(path, NATURAL), 0.7, 0.3)


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


def test_a_closed_document_says_so(tmp_path: Path) -> None:
    Image.new("RGB", (50, 50)).save(tmp_path / "b.png")
    for path in (write_pdf(tmp_path / "a.pdf", 1), tmp_path / "b.png"):
        document = Document.open(path)
        document.close()
        document.close()
        with pytest.raises(DocumentError, match="closed"):
            document.pages[0].render()


# --- what pictures hold ----------------------------------------------------------------------------------


def half_black(mode: str = "L", size: tuple[int, int] = (60, 40)) -> Image.Image:
    """Left half black, right half white."""
    image = Image.new("L", size, 255)
    ImageDraw.Draw(image).rectangle((0, 0, size[0] // 2 - 1, size[1]), fill=0)
    return image.convert(mode)


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a.png", "L"), ("a.png", "1"), ("a.png", "P"), ("a.png", "RGB"), ("a.png", "LA"),
        ("a.jpg", "L"),
        ("a.jpg", "CMYK"), ("a.tif", "CMYK"), ("a.tif", "P"), ("a.bmp", "RGB"), ("a.webp", "RGB"),
        ("a.gif", "P"), ("a.jp2", "RGB"),
    ],
)  # fmt: skip
def test_black_stays_black_and_white_white(tmp_path: Path, name: str, mode: str) -> None:
    half_black(mode).save(tmp_path / name)
    image = only_page(tmp_path / name)
    assert image.mode == "RGB"
    assert image.size == (60, 40)
    assert dark_at(image, 0.2, 0.5)
    pixel = image.getpixel((50, 20))
    assert isinstance(pixel, tuple)
    assert min(pixel) > 240


def test_a_palette_keeps_its_colours(tmp_path: Path) -> None:
    image = Image.new("RGB", (40, 20), (200, 30, 60))
    image.paste((10, 120, 240), (20, 0, 40, 20))
    image.quantize(4).save(tmp_path / "a.png")
    shown = only_page(tmp_path / "a.png")
    assert shown.getpixel((5, 5)) == (200, 30, 60)
    assert shown.getpixel((30, 5)) == (10, 120, 240)


@pytest.mark.parametrize("compression", ["group4", "group3", "tiff_lzw", None])
def test_a_fax_is_read(tmp_path: Path, compression: str | None) -> None:
    half_black("1").save(tmp_path / "a.tif", compression=compression)
    image = only_page(tmp_path / "a.tif")
    assert dark_at(image, 0.2, 0.5)
    assert not dark_at(image, 0.8, 0.5)


@pytest.mark.parametrize("top", [255, 1023, 4095, 65535])
@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_16_bit_grey_is_scaled_by_its_real_range(tmp_path: Path, top: int, name: str) -> None:
    ramp = np.linspace(0, top, 64 * 64).reshape(64, 64).astype(np.uint16)
    Image.fromarray(ramp).save(tmp_path / name)
    shown = np.asarray(only_page(tmp_path / name))[..., 0].astype(int)
    assert np.abs(shown - ramp * (255 / top)).max() <= 1


def test_a_blank_16_bit_page_stays_blank(tmp_path: Path) -> None:
    noisy = np.random.default_rng(0).integers(65_000, 65_535, (64, 64)).astype(np.uint16)
    Image.fromarray(noisy).save(tmp_path / "a.png")
    assert np.asarray(only_page(tmp_path / "a.png")).min() >= 250


def test_16_bit_grey_where_zero_is_white(tmp_path: Path) -> None:
    values = np.zeros((4, 4), np.uint16)
    values[:, :2] = 65535  # black, in this interpretation
    entries = [(256, 4), (257, 4), (258, 16), (259, 1), (262, 0), (273, 8), (277, 1), (278, 4), (279, 32)]
    directory = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in entries)
    head = b"II*\x00" + struct.pack("<I", 40) + values.tobytes()
    data = head + struct.pack("<H", len(entries)) + directory + struct.pack("<I", 0)
    (tmp_path / "a.tif").write_bytes(data)
    image = only_page(tmp_path / "a.tif")
    assert dark_at(image, 0.1, 0.5)
    assert not dark_at(image, 0.9, 0.5)


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.tif"])
def test_transparency_is_laid_on_white(tmp_path: Path, name: str) -> None:
    image = Image.new("RGBA", (60, 40), (0, 0, 0, 0))  # transparent black: solid black where alpha is dropped
    ImageDraw.Draw(image).rectangle((0, 0, 29, 40), fill=(0, 0, 0, 255))
    image.save(tmp_path / name, **({"lossless": True} if name.endswith("webp") else {}))
    shown = only_page(tmp_path / name)
    assert shown.getpixel((10, 20)) == (0, 0, 0)
    assert shown.getpixel((50, 20)) == (255, 255, 255)


def test_a_transparent_palette_entry_is_white(tmp_path: Path) -> None:
    half_black("P").save(tmp_path / "a.png", transparency=0)
    index = half_black("P").getpixel((5, 5))
    half_black("P").save(tmp_path / "a.png", transparency=index)
    assert only_page(tmp_path / "a.png").getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.webp"])
def test_exif_orientation_turns_the_picture_upright_once(tmp_path: Path, orientation: int, name: str) -> None:
    upright = Image.new("L", (64, 32), 255)
    ImageDraw.Draw(upright).rectangle((0, 0, 15, 15), fill=0)  # black in the upper left
    undo = {
        1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_270,
    }[orientation]  # fmt: skip
    stored = upright if undo is None else upright.transpose(undo)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.convert("RGB").save(tmp_path / name, exif=exif)
    shown = only_page(tmp_path / name)
    assert shown.size == (64, 32)
    assert dark_at(shown, 0.1, 0.2)
    assert not dark_at(shown, 0.9, 0.2)
    assert not dark_at(shown, 0.1, 0.8)


def test_tiff_frames_are_pages(tmp_path: Path) -> None:
    frames = [Image.new("L", (40 + index, 30), index * 100) for index in range(3)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    with Document.open(tmp_path / "a.tif", pages="2-3") as document:
        assert document.page_count == 3
        assert [page.number for page in document] == [2, 3]
        assert [page.render().getpixel((0, 0)) for page in document] == [(100,) * 3, (200,) * 3]
        assert [page.render().width for page in document] == [41, 42]
        assert document.notes == ()


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "a.png"])
def test_only_the_first_frame_of_an_animation_is_read_with_a_note(tmp_path: Path, name: str) -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("white", "black")]
    frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:], duration=100)
    with Document.open(tmp_path / name) as document:
        assert document.page_count == 1
        assert "animation of 2 frames" in document.notes[0]
        assert document.pages[0].render().getpixel((5, 5)) == (255, 255, 255)


def test_a_picture_is_known_by_its_content(tmp_path: Path) -> None:
    half_black("RGB").save(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / "scan.pdf")
    write_pdf(tmp_path / "b.pdf", 1).rename(tmp_path / "b.jpg")
    with Document.open(tmp_path / "scan.pdf") as picture, Document.open(tmp_path / "b.jpg") as pdf:
        assert (picture.kind, pdf.kind) == ("PNG", "PDF")


# --- what is no document ---------------------------------------------------------------------------------

HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + b"\x00" * 100


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty (0 bytes)"),
        (b"<!DOCTYPE html><html><body>Log in</body></html>", "an HTML page"),
        (b"\xef\xbb\xbf\n<html>", "an HTML page"),
        (b"Total: 12 EUR\n", "plain text"),
        ("Größe: 12 €\n".encode() * 400, "plain text"),
        ("Größe".encode("utf-16"), "plain text"),
        (b"BMW invoice 12\n", "plain text"),
        (b"<?xml version='1.0'?><a/>", "XML"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
        (b"PK\x03\x04rest", "ZIP archive or an Office document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office"),
        (b"%!PS-Adobe-3.0", "PostScript"),
        (b"\x00" * 5000, "zero bytes"),
        (bytes(range(256)), "binary data"),
        (b"\x00\x00\x00\x18ftypmp42", "video"),
        (b"x" * 2000 + b"%PDF-1.7", "plain text"),  # a header further in than 1024 bytes
    ],
)
def test_what_a_file_is_stands_in_the_error(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "bill.pdf"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        Document.open(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_heic_names_its_decoder(tmp_path: Path) -> None:
    # Without the optional decoder; with it, these few bytes are a damaged HEIC picture.
    (tmp_path / "photo.png").write_bytes(HEIC)
    with pytest.raises(DocumentError, match=r"HEIC|HEIF"):
        Document.open(tmp_path / "photo.png")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"nothing\.pdf: there is no such file"):
        Document.open(tmp_path / "nothing.pdf")
    with pytest.raises(DocumentError, match="is a folder"):
        Document.open(tmp_path)
    with pytest.raises(DocumentError, match="cannot be opened"):
        Document.open("a\0b.pdf")


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.webp", "a.gif"])
@pytest.mark.parametrize("kept", [20, 200, 1500])
def test_a_picture_that_is_cut_short_is_a_document_error(tmp_path: Path, name: str, kept: int) -> None:
    random = np.random.default_rng(0).integers(0, 256, (80, 80, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(random).save(buffer, {"jpg": "jpeg", "tif": "tiff"}.get(name[2:], name[2:]))
    (tmp_path / name).write_bytes(buffer.getvalue()[:kept])
    with pytest.raises(DocumentError), Document.open(tmp_path / name) as document:
        document.pages[0].render()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["a.pdf", "a.png", "a.jpg", "a.tif", "a.webp", "a.gif", "a.bmp"])
def test_damage_anywhere_is_read_or_a_document_error(tmp_path: Path, name: str) -> None:
    if name == "a.pdf":
        whole = write_pdf(tmp_path / name, 2).read_bytes()
    else:
        half_black("RGB").save(tmp_path / name)
        whole = (tmp_path / name).read_bytes()
    random = np.random.default_rng(len(name) + whole[0])
    refused = 0
    for _ in range(120):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), random.integers(1, 8)):
            damaged[place] = random.integers(0, 256)
        (tmp_path / name).write_bytes(damaged[: random.integers(len(whole) // 2, len(whole) + 1)])
        try:
            with Document.open(tmp_path / name) as document:
                for page in document:
                    assert page.render(NATURAL).width > 0
        except DocumentError:
            refused += 1
    assert refused > 0


def test_limits_name_their_numbers(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 5)
    with pytest.raises(LimitError, match="5 pages are more than the limit of 4"):
        Document.open(path, limits=Limits(max_pages=4))
    with Document.open(path, pages="1-4", limits=Limits(max_pages=4)) as document:
        assert len(document) == 4
    with pytest.raises(LimitError, match="bytes are more than the limit of 100"):
        Document.open(path, limits=Limits(max_file_bytes=100))
    Image.new("1", (2000, 1000)).save(tmp_path / "b.png")
    with pytest.raises(LimitError, match=r"2000 x 1000 = 2,000,000 pixels"):
        only_page_with(tmp_path / "b.png", Limits(max_picture_pixels=1_000_000))


def only_page_with(path: Path, limits: Limits) -> Image.Image:
    with Document.open(path, limits=limits) as document:
        return document.pages[0].render()


def test_a_decompression_bomb_is_a_limit_error(tmp_path: Path) -> None:
    Image.new("1", (20_000, 10_000)).save(tmp_path / "a.png")  # 200 million pixels in a few kilobytes
    with pytest.raises(LimitError):
        only_page(tmp_path / "a.png")
