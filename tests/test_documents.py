"""Opening files, limits, and files that are damaged."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from forklift.documents import Document, Limits, PagePolicy
from forklift.errors import DocumentError, LimitError
from tests.fuzz_documents import damaged, mend_checksums, read, write_corpus
from tests.made_documents import NATURAL, half_black, png_of, write_pdf


def test_a_policy_that_means_nothing_is_refused() -> None:
    for settings in ({"dots_per_inch": 0}, {"shorter_side": -1}, {"max_pixels": 0}):
        with pytest.raises(ValueError, match="at least"):
            PagePolicy(**settings)


def test_a_closed_document_says_so(tmp_path: Path) -> None:
    Image.new("RGB", (50, 50)).save(tmp_path / "b.png")
    for path in (write_pdf(tmp_path / "a.pdf", 1), tmp_path / "b.png"):
        document = Document.open(path)
        document.close()
        document.close()
        with pytest.raises(DocumentError, match="closed"):
            document.pages[0].render()


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


def test_limits_name_their_numbers_and_the_option_that_raises_them(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 5)
    with pytest.raises(LimitError, match=r"5 pages are more than the limit of 4.*--max-pages"):
        Document.open(path, limits=Limits(max_pages=4))
    with Document.open(path, pages="2-", limits=Limits(max_pages=4)) as document:
        assert len(document) == 4
    with pytest.raises(LimitError, match=r"bytes are more than the limit of 100.*--max-file-size"):
        Document.open(path, limits=Limits(max_file_bytes=100))
    Image.new("1", (2000, 1000)).save(tmp_path / "b.png")
    with (
        Document.open(tmp_path / "b.png", limits=Limits(max_picture_pixels=1_000_000)) as document,
        pytest.raises(LimitError, match=r"2000 x 1000 = 2,000,000 pixels.*--max-pixels"),
    ):
        document.pages[0].render()


def test_a_long_document_is_refused_by_default_with_the_way_out(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 1000)
    with pytest.raises(LimitError, match=r'1000 pages are more than the limit of 100; select fewer .*"1-3,5"'):
        Document.open(path)
    with Document.open(path, pages="901-") as document:
        assert len(document) == 100


@pytest.mark.parametrize("limit", ["max_file_bytes", "max_pages", "max_picture_pixels"])
def test_a_limit_that_allows_nothing_is_refused(limit: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limits(**{limit: 0})


def test_a_decompression_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    Image.new("1", (20_000, 10_000)).save(tmp_path / "a.png")  # 200 million pixels in a few kilobytes
    with Document.open(tmp_path / "a.png") as document, pytest.raises(LimitError, match="20000 x 10000 = 200,000,000"):
        document.pages[0].render()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_documents_that_are_damaged_at_random_are_sound_before(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path)
    assert [path.name for path in corpus if read(path) != "read"] == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_case_of_the_fuzz_run_is_made_by_its_seed_alone(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path)
    cases = [damaged(seed, corpus) for seed in range(60)]
    assert cases == [damaged(seed, corpus) for seed in range(60)]
    assert sum((tmp_path / name).read_bytes() != content for name, content in cases) > 50
    path = tmp_path / "case"
    ends = set()
    for _, content in cases:
        path.write_bytes(content)
        ends.add(read(path))
    assert {"read", "DocumentError"} <= ends


def test_mended_checksums_are_right() -> None:
    whole = png_of((2, 2), 8, 0, bytes(4))
    spoiled = bytearray(whole)
    for place in (29, len(whole) - 1):  # the checksums of the first and of the last chunk
        spoiled[place] ^= 0xFF
    mend_checksums(spoiled)
    assert spoiled == whole
