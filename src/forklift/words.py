"""The words of a PDF page's text layer, with their boxes on the page as it is shown."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from forklift.results import Box, Word

# A character that starts further than this from the one before (in heights of a character) starts a new word.
_GAP = 0.6
# A page with fewer words than this that is mostly picture was scanned; the words are a stamp or a page number.
_FEW_WORDS = 30
_MOSTLY_PICTURE = 0.5
# From this share of characters without a meaning on, the text layer is not what one reads on the page.
_MOSTLY_UNREADABLE = 0.3
_HYPHENS = (0x02, 0xFFFE)  # what PDFium gives for a hyphen at the end of a line
_MAX_FORM_VALUE = 1 << 16  # bytes of UTF-16


def words_of(page: Any) -> tuple[Word, ...] | None:
    """The words of `page`, a loaded pypdfium2 page, in the order of the file; the caller holds PDFium's lock.

    Boxes are in points as the page is shown, after /Rotate and CropBox. Values of form fields and the texts of
    free-text annotations, which are no part of PDFium's text layer, come last, each with the box of its field.
    None where the page shows things that no words stand for: a picture, outlines, a font without a meaning.
    """
    place = _placement(page)
    width, height = page.get_size()
    if not (width > 0 and height > 0):
        return None
    spelled, unreadable = _spelled_words(page)
    words = [*spelled, *_annotation_words(page)]
    shown = []
    for text, left, bottom, right, top in words:
        box = place(left, bottom, right, top)
        middle_x, middle_y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        if 0 <= middle_x <= width and 0 <= middle_y <= height:
            inside = Box(max(box.left, 0.0), max(box.top, 0.0), min(box.right, width), min(box.bottom, height))
            shown.append(Word(text, inside))
    if unreadable > _MOSTLY_UNREADABLE * (sum(len(word.text) for word in shown) + unreadable):
        return None
    if not shown:
        return None if _objects(page) else ()
    if len(shown) < _FEW_WORDS and _picture_share(page) > _MOSTLY_PICTURE:
        return None
    return tuple(shown)


_Spelled = tuple[str, float, float, float, float]  # text; left, bottom, right, top in the PDF's own space


def _spelled_words(page: Any) -> tuple[list[_Spelled], int]:
    """The words of the text layer, and how many characters have no meaning."""
    from pypdfium2 import raw

    text_page = page.get_textpage()
    try:
        handle, rectangle = text_page.raw, raw.FS_RECTF()
        unicode_of, box_of = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
        words: list[_Spelled] = []
        unreadable = 0
        text: list[str] = []
        left = bottom = right = top = 0.0
        last: tuple[float, float, float, float] | None = None
        high_surrogate = 0

        def close() -> None:
            nonlocal last
            if text:
                words.append(("".join(text), left, bottom, right, top))
                text.clear()
            last = None

        for index in range(raw.FPDFText_CountChars(handle)):
            code = unicode_of(handle, index)
            if code in _HYPHENS:
                code = 0x2D
            if 0xD800 <= code < 0xDC00:
                high_surrogate = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high_surrogate - 0xD800) << 10) + (code - 0xDC00) if high_surrogate else 0
            high_surrogate = 0
            character = chr(code) if code < 0x110000 else "\ufffd"
            if character.isspace():
                close()
                continue
            if code < 0x20 or code == 0xFFFD or 0xE000 <= code < 0xF900:
                unreadable += 1
                close()
                continue
            if not box_of(handle, index, rectangle):
                continue
            box = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            if last is not None and _apart(last, box):
                close()
            if not text:
                left, bottom, right, top = box
            else:
                left, bottom = min(left, box[0]), min(bottom, box[1])
                right, top = max(right, box[2]), max(top, box[3])
            text.append(character)
            last = box
        close()
    finally:
        text_page.close()
    return words, unreadable


def _apart(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two characters that follow each other are too far apart to be of one word, in either direction."""
    height = min(max(one[2] - one[0], one[3] - one[1]), max(other[2] - other[0], other[3] - other[1]))
    return (
        max(one[0], other[0]) - min(one[2], other[2]) > _GAP * height
        or max(one[1], other[1]) - min(one[3], other[3]) > _GAP * height
    )


def _annotation_words(page: Any) -> Iterator[_Spelled]:
    """Values of form fields and free text, word by word; every word has the box of its annotation."""
    from pypdfium2 import raw

    form = page.formenv
    for index in range(raw.FPDFPage_GetAnnotCount(page.raw)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            if raw.FPDFAnnot_GetFlags(annotation) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW):
                continue
            if kind == raw.FPDF_ANNOT_WIDGET and form is not None:
                if raw.FPDFAnnot_GetFormFieldType(form.raw, annotation) not in _text_fields():
                    continue
                value = _wide_text(raw.FPDFAnnot_GetFormFieldValue, form.raw, annotation)
            elif kind == raw.FPDF_ANNOT_FREETEXT:
                value = _wide_text(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
            else:
                continue
            rectangle = raw.FS_RECTF()
            if value and raw.FPDFAnnot_GetRect(annotation, rectangle):
                for word in value.split():
                    yield word, rectangle.left, rectangle.bottom, rectangle.right, rectangle.top
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _text_fields() -> tuple[int, ...]:
    from pypdfium2 import raw

    return (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)


def _wide_text(read: Callable[..., int], *arguments: Any) -> str:
    """A string that PDFium hands out as UTF-16 into a buffer, once asked for its length in bytes."""
    from pypdfium2 import raw

    length = min(read(*arguments, None, 0), _MAX_FORM_VALUE)
    if length < 2:
        return ""
    buffer = ctypes.create_string_buffer(length)
    read(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), length)
    return buffer.raw[: length - 2].decode("utf-16-le", errors="ignore")


def _placement(page: Any) -> Callable[[float, float, float, float], Box]:
    """From a rectangle in the PDF's own space (y upwards) to a box on the page as it is shown."""
    x0, y0, x1, y1 = page.get_bbox()
    width, height = page.get_size()
    turns = page.get_rotation() // 90 % 4
    across, down = (x1 - x0, y1 - y0) if turns % 2 == 0 else (y1 - y0, x1 - x0)
    # One, unless the page states another unit than the point.
    scale_x, scale_y = width / across if across else 1.0, height / down if down else 1.0

    def place(left: float, bottom: float, right: float, top: float) -> Box:
        shown = {
            0: (left - x0, y1 - top, right - x0, y1 - bottom),
            1: (bottom - y0, left - x0, top - y0, right - x0),
            2: (x1 - right, bottom - y0, x1 - left, top - y0),
            3: (y1 - top, x1 - right, y1 - bottom, x1 - left),
        }[turns]
        return Box(shown[0] * scale_x, shown[1] * scale_y, shown[2] * scale_x, shown[3] * scale_y)

    return place


def _objects(page: Any) -> bool:
    from pypdfium2 import raw

    return bool(raw.FPDFPage_CountObjects(page.raw) > 0 or raw.FPDFPage_GetAnnotCount(page.raw) > 0)


def _picture_share(page: Any) -> float:
    """The share of the page that its pictures cover, overlaps counted twice."""
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    area = max((right - left) * (top - bottom), 1e-6)
    covered = 0.0
    for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        x0, y0, x1, y1 = picture.get_bounds()
        covered += max(0.0, min(x1, right) - max(x0, left)) * max(0.0, min(y1, top) - max(y0, bottom))
    return covered / area
