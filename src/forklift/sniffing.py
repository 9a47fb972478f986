"""What a file is, told by its first bytes and never by its name."""

from __future__ import annotations

SNIFF_BYTES = 4096  # enough for every signature, and for a PDF header after up to 1024 bytes of junk

READABLE = "Forklift reads PDF, PNG, JPEG, TIFF, WebP, GIF, BMP, JPEG 2000 and AVIF"

# Formats that Pillow decodes, by the name that Pillow gives them.
_PICTURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG2000"),
    (b"\xff\x4f\xff\x51", "JPEG2000"),
)
_BMP_HEADER_SIZES = {12, 40, 52, 56, 64, 108, 124}  # "BM" alone also starts ordinary text
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_AVIF_BRANDS = {b"avif", b"avis"}

# Files that people do hand in, and the way out for each.
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive or an Office document; unpack it, or export the document to PDF"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document; export it to PDF"),
    (b"{\\rtf", "an RTF document; export it to PDF"),
    (b"%!PS", "PostScript; convert it to PDF, for instance with ps2pdf"),
    (b"\x1f\x8b", "gzip-compressed; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
    (b"8BPS", "a Photoshop document; export it to PNG or PDF"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"SQLite format 3", "an SQLite database"),
)


def sniff(head: bytes) -> str | None:
    """The format of a file whose first bytes are `head` (`SNIFF_BYTES` of them are enough).

    Returns "PDF", "HEIF", or a Pillow format name; None for anything that is not read.
    """
    for signature, name in _PICTURES:
        if head.startswith(signature):
            return name
    if b"%PDF-" in head[:1024]:  # readers accept junk in front of the header up to here
        return "PDF"
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADER_SIZES:
        return "BMP"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp":
        brands = {head[8:12], *(head[at : at + 4] for at in range(16, min(len(head), 64), 4))}
        if brands & _AVIF_BRANDS:
            return "AVIF"
        if brands & _HEIF_BRANDS:
            return "HEIF"
    return None


def describe_unreadable(head: bytes) -> str:
    """Says in words what a file is that `sniff` does not know, and the way out: completes "it is ..."."""
    if not head:
        return "empty (0 bytes); it may not have been downloaded or copied completely"
    for signature, words in _OTHERS:
        if head.startswith(signature):
            return f"{words}. {READABLE}"
    if head[4:8] == b"ftyp":
        return f"a video or another media file. {READABLE}"
    if not head.strip(b"\x00"):
        return f"nothing but zero bytes; it may not have been copied completely. {READABLE}"
    text = _as_text(head)
    if text is None:
        return f"binary data of a kind that Forklift does not know. {READABLE}"
    start = text.lstrip("\ufeff \t\r\n").lower()
    if start.startswith(("<!doctype html", "<html", "<head", "<body")):
        return (
            "an HTML page, perhaps an error or log-in page saved in place of the document; "
            f"download it again, or print the page to PDF. {READABLE}"
        )
    if start.startswith("<svg") or ("<svg" in start and start.startswith("<?xml")):
        return f"an SVG drawing; export it to PDF or PNG. {READABLE}"
    if start.startswith("<?xml"):
        return f"XML text, not a document to look at. {READABLE}"
    return f"plain text, not a document to look at; print it to PDF to read it. {READABLE}"


def _as_text(head: bytes) -> str | None:
    """`head` as text when it reads as UTF-8 or UTF-16 without control characters, else None."""
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    # The head may end inside a character, so the last few bytes do not count.
    for cut in range(4):
        try:
            text = head[: len(head) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
        return text if not any(ord(char) < 32 and char not in "\t\r\n\f\x1b" for char in text) else None
    return None
