"""Pictures of every kind, as the model gets to see them."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageColor, ImageDraw

from forklift import pictures
from forklift.documents import Document, PagePolicy
from forklift.errors import DocumentError
from tests.made_documents import NATURAL, dark_at, half_black, only_page, png_of, tiff_of, write_pdf


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


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a.png", "L"), ("a.png", "1"), ("a.png", "P"), ("a.png", "RGB"), ("a.png", "LA"),
        ("a.jpg", "L"),
        ("a.jpg", "CMYK"), ("a.tif", "CMYK"), ("a.tif", "P"), ("a.bmp", "RGB"), ("a.webp", "RGB"),
        ("a.gif", "P"), ("a.jp2", "RGB"), ("a.avif", "RGB"),
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


def stored_as(upright: Image.Image, orientation: int) -> Image.Image:
    """The picture that this EXIF orientation turns upright."""
    undo = {
        1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_270,
    }[orientation]  # fmt: skip
    return upright if undo is None else upright.transpose(undo)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.webp"])
def test_exif_orientation_turns_the_picture_upright_once(tmp_path: Path, orientation: int, name: str) -> None:
    upright = Image.new("L", (64, 32), 255)
    ImageDraw.Draw(upright).rectangle((0, 0, 15, 15), fill=0)  # black in the upper left
    stored = stored_as(upright, orientation)
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


@pytest.mark.parametrize("name", ["a.jpg", "a.tif"])
def test_cmyk_keeps_its_colours(tmp_path: Path, name: str) -> None:
    inks = {(255, 0, 0, 0): "cyan", (0, 255, 0, 0): "magenta", (0, 0, 255, 0): "yellow", (0, 255, 255, 0): "red"}
    image = Image.new("CMYK", (4 * 32, 32))
    for place, ink in enumerate(inks):
        image.paste(ink, (place * 32, 0, place * 32 + 32, 32))
    image.save(tmp_path / name, **({"quality": 95} if name == "a.jpg" else {}))
    shown = np.asarray(only_page(tmp_path / name)).astype(int)
    for place, colour in enumerate(inks.values()):
        expected = np.array(ImageColor.getrgb(colour))
        assert np.abs(shown[16, place * 32 + 16] - expected).max() < 60, colour


def test_a_lab_tiff_keeps_its_colours(tmp_path: Path) -> None:
    rgb = Image.new("RGB", (20, 10), (200, 30, 60))
    profiles = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    lab = ImageCms.profileToProfile(rgb, *profiles, outputMode="LAB")
    assert lab is not None
    lab.save(tmp_path / "a.tif")
    pixel = np.asarray(only_page(tmp_path / "a.tif"))[5, 5].astype(int)
    assert np.abs(pixel - (200, 30, 60)).max() <= 4


@pytest.mark.parametrize(("photometric", "left"), [(0, 0xFF), (1, 0x00)])  # WhiteIsZero, BlackIsZero
@pytest.mark.parametrize("fill_order", [1, 2])
def test_a_1_bit_tiff_is_black_where_it_says_black(
    tmp_path: Path, photometric: int, left: int, fill_order: int
) -> None:
    row = bytes([left, left ^ 0xFF])
    entries = [(256, 16), (257, 8), (258, 1), (259, 1), (262, photometric), (266, fill_order), (277, 1)]
    (tmp_path / "a.tif").write_bytes(tiff_of(entries, row * 8))
    image = only_page(tmp_path / "a.tif")
    assert image.getpixel((3, 4)) == (0, 0, 0)
    assert image.getpixel((12, 4)) == (255, 255, 255)


@pytest.mark.parametrize("compression", ["group3", "group4"])
@pytest.mark.parametrize(
    ("resolution", "size"),
    [
        ((204, 98), (60, 83)),
        ((204, 196), (60, 42)),
        ((100, 200), (120, 40)),
        ((203, 200), (60, 40)),  # only rounded
        ((72, 1), (60, 40)),  # out of reason
        ((0, 0), (60, 40)),
    ],
)
def test_the_lines_of_a_coarse_fax_are_made_square(
    tmp_path: Path, resolution: tuple[int, int], size: tuple[int, int], compression: str
) -> None:
    half_black("1").save(
        tmp_path / "a.tif", compression=compression, x_resolution=resolution[0], y_resolution=resolution[1]
    )
    image = only_page(tmp_path / "a.tif")
    assert image.size == size
    assert dark_at(image, 0.2, 0.5)
    assert not dark_at(image, 0.8, 0.5)


def test_a_fax_on_its_side_is_turned_and_made_square(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise
    half_black("L").save(tmp_path / "a.tif", exif=exif, x_resolution=200, y_resolution=100)
    image = only_page(tmp_path / "a.tif")
    assert image.size == (80, 60)  # 60 x 80, turned
    assert dark_at(image, 0.5, 0.2)
    assert not dark_at(image, 0.5, 0.8)


@pytest.mark.parametrize(
    ("colour_type", "samples", "expected"),
    [
        (0, (0x8080,), (128, 128, 128)),
        (2, (0xFFFF, 0x8080, 0x0000), (255, 128, 0)),
        (4, (0x0000, 0xFFFF), (0, 0, 0)),
        (4, (0x0000, 0x0000), (255, 255, 255)),
        (6, (0xFFFF, 0x0000, 0x0000, 0xFFFF), (255, 0, 0)),
        (6, (0x0000, 0x0000, 0x0000, 0x0000), (255, 255, 255)),
    ],
)
def test_16_bit_pngs_of_every_colour_type_are_read(
    tmp_path: Path, colour_type: int, samples: tuple[int, ...], expected: tuple[int, int, int]
) -> None:
    white = (0xFFFF,) * len(samples)  # so that the range of grey is the whole one
    rows = (struct.pack(f">{len(samples)}H", *samples) + struct.pack(f">{len(samples)}H", *white)) * 2
    (tmp_path / "a.png").write_bytes(png_of((2, 2), 16, colour_type, rows))
    assert only_page(tmp_path / "a.png").getpixel((0, 0)) == expected


@pytest.mark.parametrize(("order", "mark", "photometric"), [("<", "<u2", 0), ("<", "<u2", 1), (">", ">u2", 1)])
def test_16_bit_tiffs_of_both_byte_orders_and_meanings(tmp_path: Path, order: str, mark: str, photometric: int) -> None:
    ramp = np.linspace(0, 65535, 64).astype(mark)
    entries = [(256, 64), (257, 1), (258, 16), (259, 1), (262, photometric), (277, 1)]
    (tmp_path / "a.tif").write_bytes(tiff_of(entries, ramp.tobytes(), order))
    shown = np.asarray(only_page(tmp_path / "a.tif"))[0, :, 0].astype(int)
    expected = ramp.astype(float) / 257
    assert np.abs(shown - (expected if photometric else 255 - expected)).max() <= 1


def test_a_tiff_that_pillow_cannot_decode_is_not_only_called_damaged(tmp_path: Path) -> None:
    entries = [(256, 4), (257, 1), (258, 16), (259, 1), (262, 0), (277, 1)]  # 16 bits, zero is white, big-endian
    (tmp_path / "a.tif").write_bytes(tiff_of(entries, bytes(8), ">"))
    with pytest.raises(DocumentError, match=r"or of a rare kind.*as PNG"):
        Document.open(tmp_path / "a.tif")


def test_deep_grey_is_scaled_alike_in_all_bands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = np.linspace(0, 4000, 50 * 30).reshape(50, 30).astype(np.uint16)
    Image.fromarray(ramp).save(tmp_path / "a.png")
    at_once = only_page(tmp_path / "a.png").tobytes()
    monkeypatch.setattr(pictures, "_BAND_PIXELS", 7 * 30)
    assert only_page(tmp_path / "a.png").tobytes() == at_once


def test_floating_point_grey_is_read(tmp_path: Path) -> None:
    values = np.linspace(0, 1, 64).reshape(8, 8).astype(np.float32)
    values[0, 0] = np.nan
    Image.fromarray(values).save(tmp_path / "a.tif")
    shown = np.asarray(only_page(tmp_path / "a.tif"))[..., 0].astype(int)
    assert np.abs(shown - np.nan_to_num(values) * 255).max() <= 1


def test_a_photo_with_a_second_picture_inside_is_one_page(tmp_path: Path) -> None:
    front, back = Image.new("RGB", (40, 30), "white"), Image.new("RGB", (20, 15), "black")
    front.save(tmp_path / "a.jpg", format="MPO", save_all=True, append_images=[back])
    with Document.open(tmp_path / "a.jpg") as document:
        assert (document.kind, document.page_count, document.notes) == ("JPEG", 1, ())
        assert document.pages[0].render().getpixel((5, 5)) == (255, 255, 255)


def test_a_damaged_frame_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    frames = [Image.new("L", (64, 64), 200)] * 3
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:], compression="tiff_lzw")
    with Image.open(tmp_path / "a.tif") as image:
        image.seek(1)
        strip = image.tag_v2[273][0]  # type: ignore[attr-defined]
    damaged = bytearray((tmp_path / "a.tif").read_bytes())
    damaged[strip : strip + 40] = b"\xff" * 40
    (tmp_path / "a.tif").write_bytes(damaged)
    with Document.open(tmp_path / "a.tif") as document:
        assert document.pages[0].render().getpixel((5, 5)) == (200, 200, 200)
        assert document.pages[2].render().getpixel((5, 5)) == (200, 200, 200)
        with pytest.raises(DocumentError, match="page 2 is a TIFF picture that is damaged"):
            document.pages[1].render()


def test_a_limit_above_pillows_own_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [Image.new("L", (100, 100), 255)] * 2
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    Image.new("L", (100, 100), 255).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)  # above it a warning, above twice as much an error
    for name in ("a.png", "a.tif"):
        with Document.open(tmp_path / name) as document:
            assert [page.render().size for page in document] == [(100, 100)] * document.page_count
    assert Image.MAX_IMAGE_PIXELS == 1000


# --- HEIC ------------------------------------------------------------------------------------------------


def write_heic(path: Path, pictures: list[Image.Image], **options: object) -> Path:
    heif = pytest.importorskip("pillow_heif")
    file = heif.HeifFile()
    for picture in pictures:
        file.add_from_pillow(picture)
    file.save(str(path), quality=100, **options)
    return path


def test_heic_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = write_heic(tmp_path / "photo.png", [half_black("RGB", (128, 64))])
    with Document.open(path) as document:
        assert (document.kind, document.page_count, document.notes) == ("HEIF", 1, ())
        shown = document.pages[0].render()
    assert shown.size == (128, 64)
    assert dark_at(shown, 0.2, 0.5)
    assert not dark_at(shown, 0.8, 0.5)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_heic_is_turned_upright_once(tmp_path: Path, orientation: int) -> None:
    heif = pytest.importorskip("pillow_heif")
    heif.register_heif_opener()
    upright = Image.new("RGB", (128, 64), "white")
    ImageDraw.Draw(upright).rectangle((0, 0, 31, 31), fill="black")
    stored = stored_as(upright, orientation)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / "a.heic", exif=exif.tobytes(), quality=100)  # bytes: the encoder writes `irot` from them
    shown = only_page(tmp_path / "a.heic")
    assert shown.size == (128, 64)
    assert dark_at(shown, 0.1, 0.2)
    assert not dark_at(shown, 0.9, 0.2)
    assert not dark_at(shown, 0.1, 0.8)


def test_of_several_heic_pictures_the_main_one_is_read_with_a_note(tmp_path: Path) -> None:
    pictures = [Image.new("RGB", (64, 64), colour) for colour in ("black", "white", "black")]
    path = write_heic(tmp_path / "a.heic", pictures, primary_index=1)
    with Document.open(path) as document:
        assert document.page_count == 1
        assert "3 pictures" in document.notes[0]
        assert not dark_at(document.pages[0].render(), 0.5, 0.5)


def test_transparent_heic_is_laid_on_white(tmp_path: Path) -> None:
    path = write_heic(tmp_path / "a.heic", [Image.new("RGBA", (64, 64), (0, 0, 0, 0))])
    assert not dark_at(only_page(path), 0.5, 0.5)


def test_without_its_decoder_heic_is_named_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)  # as if it were not installed
    (tmp_path / "photo.png").write_bytes(b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(100))
    with pytest.raises(DocumentError, match=r"HEIC picture.*pip install 'forklift\[heic\]'"):
        Document.open(tmp_path / "photo.png")


def test_damaged_heic_is_a_document_error(tmp_path: Path) -> None:
    path = write_heic(tmp_path / "a.heic", [half_black("RGB", (128, 64))])
    whole = path.read_bytes()
    for kept in (60, 300, len(whole) - 40):
        path.write_bytes(whole[:kept])
        with pytest.raises(DocumentError), Document.open(path) as document:
            document.pages[0].render()
