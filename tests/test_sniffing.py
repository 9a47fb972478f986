"""What a file is, told by its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklift.documents import Document
from forklift.errors import DocumentError


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
