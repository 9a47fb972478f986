"""A document before it is drawn: text and rules with their places, checked for collisions.

Drafting is plain arithmetic, so a draft that does not fit is dropped and tried again for next to nothing; the
page's height is chosen once the content's is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from training.canvas import Place, Sheet, Text, glyph_width, text_width
from training.leaf import Leaf
from training.values import ABSENT, Printed

MARGIN = 14.0
# Shares of the font size that glyphs reach above and below the baseline, and the free space beside every run.
ASCENT, DESCENT = 0.74, 0.22
CLEARANCE = 1.5


class DoesNotFit(Exception):
    """The values drawn by lot do not fit this layout: draw again."""


class Face(NamedTuple):
    """A font at a size (points)."""

    font: str
    size: float

    def width(self, text: str) -> float:
        return text_width(text, self.font, self.size)


class Mark(NamedTuple):
    """A value that stands in run `run` of the draft, its first shown character at `offset`."""

    printed: Printed
    run: int
    offset: int = 0


NOT_PRINTED = Mark(ABSENT, -1)


@dataclass(frozen=True)
class _Run:
    page: int
    x: float
    y: float
    text: str
    face: Face
    grey: float


class Draft:
    """Pages `width` points wide on which nothing may overlap or cross the margin.

    y runs downwards and is a text's baseline.
    """

    def __init__(self, width: float, *, margin: float = MARGIN) -> None:
        self.width = width
        self.margin = margin
        self.page = 0
        self.bottom = 0.0
        self.texts: list[_Run] = []
        self._operations: list[tuple[Any, ...]] = []
        self._boxes: list[tuple[float, float, float, float]] = []

    def text(self, x: float, y: float, text: str, face: Face, *, grey: float = 0.0, align: str = "left") -> int:
        """Place a run and return its number. `align`: x is its left end, its right end or its centre."""
        width = face.width(text)
        if align == "right":
            x -= width
        elif align == "centre":
            x -= width / 2
        if x < self.margin or x + width > self.width - self.margin:
            raise DoesNotFit(text)
        left, right = x - CLEARANCE, x + width + CLEARANCE
        top, bottom = y - ASCENT * face.size, y + DESCENT * face.size
        if top < self.margin - 4:
            raise DoesNotFit(text)
        for other_left, other_right, other_top, other_bottom in self._boxes:
            if left < other_right and other_left < right and top < other_bottom and other_top < bottom:
                raise DoesNotFit(text)
        self._boxes.append((left, right, top, bottom))
        self.bottom = max(self.bottom, bottom)
        self.texts.append(_Run(self.page, x, y, text, face, grey))
        self._operations.append(("text", len(self.texts) - 1))
        return len(self.texts) - 1

    def value(
        self, x: float, y: float, printed: Printed, face: Face, *, grey: float = 0.0, align: str = "left"
    ) -> Mark:
        return Mark(printed, self.text(x, y, printed.shown, face, grey=grey, align=align))

    def right_end(self, run: int) -> float:
        placed = self.texts[run]
        return placed.x + placed.face.width(placed.text)

    def line(self, x0: float, y0: float, x1: float, y1: float, *, width: float = 0.5, grey: float = 0.0) -> None:
        self._operations.append(("line", x0, y0, x1, y1, width, grey))
        self.bottom = max(self.bottom, y0, y1)

    def rectangle(self, x: float, y: float, width: float, height: float, *, grey: float) -> None:
        self._operations.append(("rectangle", x, y, width, height, grey))
        self.bottom = max(self.bottom, y + height)

    def new_page(self) -> None:
        self._operations.append(("page",))
        self.page += 1
        self.bottom = 0.0
        self._boxes = []

    def draw(self, height: float, *, paper: float) -> tuple[Sheet, list[Text]]:
        """The sheet, its pages `height` points high on `paper` (a grey), and its runs in draft order."""
        sheet = Sheet(self.width, height)
        sheet.rectangle(0, 0, self.width, height, grey=paper)
        drawn: list[Text] = []
        for operation in self._operations:
            match operation:
                case ("text", index):
                    run = self.texts[index]
                    face = run.face
                    drawn.append(sheet.text(run.x, run.y, run.text, font=face.font, size=face.size, grey=run.grey))
                case ("line", x0, y0, x1, y1, width, grey):
                    sheet.line(x0, y0, x1, y1, width=width, grey=grey)
                case ("rectangle", x, y, width, box_height, grey):
                    sheet.rectangle(x, y, width, box_height, grey=grey)
                case _:
                    sheet.new_page()
                    sheet.rectangle(0, 0, self.width, height, grey=paper)
        return sheet, drawn

    def leaves(self, marks: Any, drawn: Sequence[Text]) -> Any:
        """The same nested dicts and lists with every Mark turned into a Leaf."""
        if isinstance(marks, dict):
            return {name: self.leaves(mark, drawn) for name, mark in marks.items()}
        if isinstance(marks, list):
            return [self.leaves(mark, drawn) for mark in marks]
        printed, run, offset = marks
        if run < 0:
            return Leaf(printed.value, printed.text, (None,) * len(printed.sources))
        places = drawn[run].places
        *characters, end = printed.sources
        found = [None if source is None else places[source + offset] for source in characters]
        return Leaf(printed.value, printed.text, (*found, self._past(run, drawn[run], end, offset)))

    def _past(self, run: int, drawn: Text, end: int | None, offset: int) -> Place | None:
        if end is None:
            return None
        if end + offset == len(drawn.text):
            return drawn.end
        last = drawn.places[end + offset - 1]
        face = self.texts[run].face
        advance = glyph_width(drawn.text[end + offset - 1], face.font) * face.size
        return Place(last.page, last.x + advance / 2 + 0.25 * face.size, last.y)
