"""A page with the places of its values drawn in, so that a person can check an answer at a glance.

Every cited box is outlined in the colour of the value's confidence. A value's name stands beside its box where the
page is blank, else in the right margin at the same height, with a line to the box; nothing is ever written over the
page's own print. The values of one list element share one line in the margin. Values without a place, and fields
without a value, are listed below the first page.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklift.page_drawing import Drawing, Segment, page_fonts
from forklift.page_space import FreeSpace, Rectangle
from forklift.results import Field, Result

if TYPE_CHECKING:
    from PIL import Image

_SURE, _DOUBTFUL = 0.9, 0.6
_GREEN, _AMBER, _RED, _BLUE, _GREY = (21, 128, 61), (194, 93, 0), (190, 24, 36), (29, 78, 216), (90, 100, 115)
_INK = (15, 23, 42)
_LEGEND = (
    Segment("sure of 90 % or more", _GREEN),
    Segment("60 to 90 %", _AMBER),
    Segment("below 60 %", _RED),
    Segment("no figure", _BLUE),
)
_MOST_LISTED = 200  # fields in one list below the page


@dataclass(frozen=True)
class _Mark:
    """A value on this page. boxes: in pixels of the page image, one a line of its print."""

    field: Field
    name: str
    boxes: tuple[Rectangle, ...]

    @property
    def colour(self) -> tuple[int, int, int]:
        return confidence_colour(self.field.confidence)

    @property
    def segment(self) -> Segment:
        return Segment(self.name + _percent(self.field), self.colour)


def annotate_page(image: Image.Image, result: Result, page: int, title: str) -> Image.Image:
    """`image` (RGB, the page numbered `page`, as shown) with the fields of `result` drawn in, and strips around it.

    title: stands above the page, such as the file's name. The lists of what has no place come below the first page
    of the result.
    """
    names = short_names([field.pointer for field in result.fields])
    marks = []
    for field in result.fields:
        boxes = tuple(
            Rectangle(
                citation.relative.left * image.width,
                citation.relative.top * image.height,
                citation.relative.right * image.width,
                citation.relative.bottom * image.height,
            ).grown(2)
            for citation in field.citations
            if citation.page == page
        )
        if boxes:
            marks.append(_Mark(field, names[field.pointer], boxes))
    fonts = page_fonts(image.width)
    drawing = Drawing(image, fonts)
    space = FreeSpace(image, [box for mark in marks for box in mark.boxes])
    for mark in marks:
        for box in mark.boxes:
            drawing.box(box, mark.colour)
    elements: dict[str, list[_Mark]] = {}
    for mark in marks:
        parent = _element(mark.field.pointer)
        if parent is not None:
            elements.setdefault(parent, []).append(mark)
            continue
        place = space.beside(mark.boxes[0], *drawing.tag_size(mark.segment.text))
        if place is None:
            drawing.callout(mark.boxes[0], [mark.segment])
        else:
            drawing.tag(place, mark.segment)
    for parent, parts in elements.items():
        for line in _lines(parts, fonts.height):
            last = max((mark.boxes[0] for mark in line), key=lambda box: box.right)
            head = [Segment(_plain(parent) + ":", _INK)]
            drawing.callout(last, head + [_in_element(mark, parent) for mark in line])
    where = f"page {page}" if len(result.pages) < 2 else f"page {page} (of {_spelled(result.pages)})"
    lists = _lists(result) if page == result.pages[0] else []
    return drawing.finished(f"{title} · {where}", _LEGEND, lists)


def _lines(marks: list[_Mark], height: int) -> list[list[_Mark]]:
    """Those that stand beside each other, from left to right, line by line."""
    lines: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda mark: mark.boxes[0].middle):
        if lines and mark.boxes[0].middle - lines[-1][0].boxes[0].middle < height:
            lines[-1].append(mark)
        else:
            lines.append([mark])
    return [sorted(line, key=lambda mark: mark.boxes[0].left) for line in lines]


def confidence_colour(confidence: float | None) -> tuple[int, int, int]:
    """Green from 0.9, amber from 0.6, red below; blue where there is no figure."""
    if confidence is None:
        return _BLUE
    return _GREEN if confidence >= _SURE else _AMBER if confidence >= _DOUBTFUL else _RED


def short_names(pointers: Sequence[str]) -> dict[str, str]:
    """For each JSON Pointer the fewest of its last steps that no other of them ends with: "total", "seller/name"."""
    steps = {pointer: pointer.strip("/").split("/") for pointer in pointers}
    endings = Counter("/".join(parts[-length:]) for parts in steps.values() for length in range(1, len(parts) + 1))
    names = {}
    for pointer, parts in steps.items():
        tails = ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]
        tail = next((tail for tail in tails if endings[tail] == 1 and not tail.isdigit()), tails[-1])
        names[pointer] = _plain(tail)
    return names


def _lists(result: Result) -> list[tuple[str, list[Segment]]]:
    """What a page cannot show, under a heading each."""
    missing = [Segment(_plain(pointer), _RED) for pointer in result.missing]
    not_found: list[Segment] = []
    unplaced: list[Segment] = []
    empty: list[Segment] = []
    for field in result.fields:
        if field.value is None or field.value in ([], {}):
            if field.pointer not in result.missing:
                empty.append(Segment(_plain(field.pointer), _GREY))
        elif not field.citations:
            text = f"{_plain(field.pointer)} = {_value(field)}{_percent(field)}"
            (not_found if field.grounded is False else unplaced).append(
                Segment(text, _RED if field.grounded is False else confidence_colour(field.confidence))
            )
    lists = [
        ("Missing: required, and not in the document", missing),
        ("Not found in the document's text: check these first", not_found),
        ("Place not known: the document has no text that can be searched", unplaced),
        ("Empty: the document does not say", empty),
    ]
    return [(head, _at_most(entries)) for head, entries in lists if entries]


def _at_most(entries: list[Segment]) -> list[Segment]:
    if len(entries) <= _MOST_LISTED:
        return entries
    return [*entries[:_MOST_LISTED], Segment(f"and {len(entries) - _MOST_LISTED} more", _GREY)]


def _element(pointer: str) -> str | None:
    """The list element that a value is part of: "/line_items/2" of "/line_items/2/amount"."""
    found = re.match(r"(.*/[0-9]+)(?:/|$)", pointer)
    return found[1] if found and found[1] != pointer else None


def _in_element(mark: _Mark, parent: str) -> Segment:
    name = _plain(mark.field.pointer[len(parent) :])
    return Segment(name + _percent(mark.field, unless_sure=True), mark.colour)


def _plain(pointer: str) -> str:
    """A JSON Pointer, or the end of one, for people."""
    return pointer.lstrip("/").replace("~1", "/").replace("~0", "~") or "the whole answer"


def _percent(field: Field, *, unless_sure: bool = False) -> str:
    if field.confidence is None or (unless_sure and field.confidence >= _SURE):
        return ""
    return f" {min(99, int(field.confidence * 100)) if field.confidence < 1 else 100} %"


def _value(field: Field) -> str:
    text = field.value if isinstance(field.value, str) else json.dumps(field.value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _spelled(pages: Sequence[int]) -> str:
    if list(pages) == list(range(pages[0], pages[-1] + 1)):
        return f"{pages[0]}-{pages[-1]}"
    return ", ".join(map(str, pages[:8])) + (", …" if len(pages) > 8 else "")
