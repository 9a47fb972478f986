"""Small real documents of every troublesome kind, made by code."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from forklift.documents import Document, PagePolicy

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


def pdf_of(objects: Sequence[str | bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalog."""
    body, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        encoded = content.encode() if isinstance(content, str) else content
        body += f"{number} 0 obj\n".encode() + encoded + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return bytes(body) + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def stream_of(content: bytes, entries: str = "") -> bytes:
    """A stream object of a PDF."""
    return f"<< {entries} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def raw_pdf(
    page_entries: str,
    content: str = "0 0 20 20 re f",
    count: int = 1,
    catalog_entries: str = "",
    more_objects: Sequence[str | bytes] = (),
) -> bytes:
    """A one-page PDF written by hand, for what reportlab does not write; `more_objects` have numbers from 5 on."""
    return pdf_of(
        [
            f"<< /Type /Catalog /Pages 2 0 R {catalog_entries} >>",
            f"<< /Type /Pages /Kids [{'3 0 R' if count else ''}] /Count {count} >>",
            f"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << >> {page_entries} >>",
            stream_of(content.encode()),
            *more_objects,
        ]
    )


def png_of(size: tuple[int, int], depth: int, colour_type: int, rows: bytes) -> bytes:
    """A PNG written by hand, for depths that Pillow does not write. rows: the samples, without filter bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    width, height = size
    stride = len(rows) // height
    filtered = b"".join(b"\0" + rows[row * stride : (row + 1) * stride] for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(filtered))
        + chunk(b"IEND", b"")
    )  # fmt: skip


def tiff_of(entries: Sequence[tuple[int, int]], strip: bytes, order: str = "<") -> bytes:
    """An uncompressed one-strip TIFF written by hand. entries: (tag, value) of short integers, in order of the tags."""
    offset = 8 + len(strip)
    tags = sorted([*entries, (273, 8), (278, dict(entries)[257]), (279, len(strip))])
    # A short integer stands in the first two bytes of its four.
    directory = b"".join(struct.pack(order + "HHIHH", tag, 3, 1, value, 0) for tag, value in tags)
    mark = b"II" if order == "<" else b"MM"
    return (
        mark
        + struct.pack(order + "HI", 42, offset)
        + strip
        + struct.pack(order + "H", len(tags))
        + directory
        + bytes(4)
    )  # fmt: skip


def only_page(path: Path, policy: PagePolicy | None = None, **options: str) -> Image.Image:
    with Document.open(path, **options) as document:  # type: ignore[arg-type]
        (page,) = document.pages
        return page.render(policy)


def dark_at(image: Image.Image, x: float, y: float) -> bool:
    """Whether the pixel at the relative place is dark."""
    pixel = image.getpixel((min(int(x * image.width), image.width - 1), min(int(y * image.height), image.height - 1)))
    assert isinstance(pixel, tuple)
    return sum(pixel) < 384


def half_black(mode: str = "L", size: tuple[int, int] = (60, 40)) -> Image.Image:
    """Left half black, right half white."""
    image = Image.new("L", size, 255)
    ImageDraw.Draw(image).rectangle((0, 0, size[0] // 2 - 1, size[1]), fill=0)
    return image.convert(mode)
