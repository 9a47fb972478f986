"""Documents whose content is in memory, as a server gets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklift.documents import Document, Limits
from forklift.errors import DocumentError, LimitError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.mark.parametrize("name", ["invoice_two_pages.pdf", "receipt.png"])
def test_pages_and_words_are_those_of_the_file(name: str) -> None:
    path = EXAMPLES / name
    with Document.open(path) as file, Document.from_bytes(path.read_bytes()) as content:
        assert content.kind == file.kind
        assert len(content) == len(file) > 0
        for page, expected in zip(content, file, strict=True):
            assert page.render().tobytes() == expected.render().tobytes()
            assert page.words() == expected.words()


def test_a_page_range_selects() -> None:
    content = (EXAMPLES / "invoice_two_pages.pdf").read_bytes()
    with Document.from_bytes(content, pages="2") as document:
        assert [page.number for page in document] == [2]


def test_a_closed_document_gives_no_pages() -> None:
    for name in ("invoice.pdf", "receipt.png"):
        document = Document.from_bytes((EXAMPLES / name).read_bytes())
        document.close()
        with pytest.raises(DocumentError, match="is closed"):
            document.pages[0].render()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "document: is no document that can be read: it is empty"),
        (b"%PDF-1.4 and nothing", "document: is a damaged PDF"),
        (b"\x89PNG\r\n\x1a\n and nothing", "document: .*PNG.* damaged"),
    ],
)
def test_content_that_cannot_be_read_is_named(content: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        Document.from_bytes(content)


def test_content_beyond_the_limit_is_refused() -> None:
    content = (EXAMPLES / "invoice.pdf").read_bytes()
    with pytest.raises(LimitError, match=r"upload\.pdf: [\d,]+ bytes are more than the limit of 100"):
        Document.from_bytes(content, name="upload.pdf", limits=Limits(max_file_bytes=100))
