"""Pages before and while they are drawn: text with its places, checked for collisions, rules, shades, logos, stamps.

Like `training.draft`, with colours, slanted stamps, values that run over several lines and fast collision checks.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from reportlab.pdfbase.pdfmetrics import stringWidth

from training.canvas import MIDDLE, Place, Sheet, Text
from training.draft import ASCENT, CLEARANCE, DESCENT, DoesNotFit
from training.leaf import Leaf
from training.wide.figures import Value
from training.wide.fonts import INVENTORY

Ink = float | tuple[float, float, float]
_BAND = 30.0
# Accents of capitals reach higher than the capitals.
_ACCENTED_ASCENT = 0.95
_ACCENTED = frozenset("ÀÂÄÈÉÊËÎÏÔÖÙÛÜÁÍÓÚÑÌÒ")


# Fonts that are not embedded are drawn in pdfium's own, whose advances differ here from the standard ones.
_PDFIUM_ADVANCES = {
    "Helvetica": {"€": 0.667},
    "Helvetica-Oblique": {"@": 1.116, "€": 0.667},
    "Helvetica-Bold": {"@": 1.072, "€": 0.722},
    "Helvetica-BoldOblique": {"5": 0.528, "@": 1.072, "€": 0.722},
    "Times-Roman": {"€": 0.722},
    "Times-Bold": {"€": 0.722},
    "Times-BoldItalic": {"€": 0.667},
}


@functools.cache
def advances(font: str) -> dict[str, float]:
    """The advance of each character at size 1, as pdfium draws it: in whole thousandths, and no pair is kerned."""
    stated = {character: stringWidth(character, font, 1000) for character in INVENTORY}
    whole = {character: math.floor(advance + 1e-6) / 1000 for character, advance in stated.items()}
    return whole | _PDFIUM_ADVANCES.get(font, {})


class Face(NamedTuple):
    """A loaded font at a size (points)."""

    font: str
    size: float

    def width(self, text: str) -> float:
        table = advances(self.font)
        return sum([table[character] for character in text]) * self.size

    def wrap(self, text: str, width: float) -> list[tuple[int, str]]:
        """The text in lines no wider than `width`, broken at spaces: (index of the first character, line)."""
        lines: list[tuple[int, str]] = []
        start = 0
        while self.width(text[start:]) > width:
            end = text.rfind(" ", start, len(text))
            while end > start and self.width(text[start:end]) > width:
                end = text.rfind(" ", start, end)
            if end <= start:
                raise DoesNotFit(text)
            lines.append((start, text[start:end]))
            start = end + 1
        return [*lines, (start, text[start:])]


class Mark(NamedTuple):
    """A value on the page. pieces: (index into its shown text, run, index into the run's text), ascending.

    Characters between the end of one piece's run and the next piece are not printed: a space at a line's end.
    """

    value: Value
    pieces: tuple[tuple[int, int, int], ...]


class Run(NamedTuple):
    page: int
    x: float
    y: float
    text: str
    face: Face
    ink: Ink
    angle: float = 0.0


class Printer(Sheet):
    """A sheet that takes colours and slanted text."""

    def run(self, run: Run) -> Text:
        pdf, (font, size) = self._pdf, run.face
        pdf.setFont(font, size)
        self._fill(run.ink)
        x, y = run.x, run.y
        table, page = advances(font), self.page
        places = []
        if run.angle:
            pdf.saveState()
            pdf.translate(x, self.height - y)
            pdf.rotate(run.angle)
            pdf.drawString(0, 0, run.text)
            pdf.restoreState()
            cosine, sine = math.cos(math.radians(run.angle)), math.sin(math.radians(run.angle))

            def at(along: float) -> Place:
                up = MIDDLE * size
                return Place(page, x + along * cosine - up * sine, y - along * sine - up * cosine)

        else:
            pdf.drawString(x, self.height - y, run.text)
            middle = y - MIDDLE * size

            def at(along: float) -> Place:
                return Place(page, x + along, middle)

        along = 0.0
        for character in run.text:
            advance = table[character] * size
            places.append(at(along + advance / 2))
            along += advance
        drawn = Text(run.text, places, at(along + 0.25 * size), along)
        self.runs.append(drawn)
        return drawn

    def _fill(self, ink: Ink) -> None:
        if isinstance(ink, tuple):
            self._pdf.setFillColorRGB(*ink)
        else:
            self._pdf.setFillGray(ink)

    def _stroke(self, ink: Ink) -> None:
        if isinstance(ink, tuple):
            self._pdf.setStrokeColorRGB(*ink)
        else:
            self._pdf.setStrokeGray(ink)

    def rule(self, x0: float, y0: float, x1: float, y1: float, width: float, ink: Ink, dash: tuple[float, ...]) -> None:
        self._stroke(ink)
        self._pdf.setLineWidth(width)
        self._pdf.setDash(list(dash))
        self._pdf.line(x0, self.height - y0, x1, self.height - y1)

    def box(
        self, x: float, y: float, width: float, height: float, fill: Ink | None, edge: Ink | None, radius: float
    ) -> None:
        pdf = self._pdf
        if fill is not None:
            self._fill(fill)
        if edge is not None:
            self._stroke(edge)
            pdf.setLineWidth(0.7)
            pdf.setDash([])
        draw, extra = (pdf.roundRect, (radius,)) if radius else (pdf.rect, ())
        draw(x, self.height - y - height, width, height, *extra, stroke=edge is not None, fill=fill is not None)

    def shape(self, points: Sequence[tuple[float, float]], ink: Ink) -> None:
        """A filled polygon; two points are the corners of an ellipse."""
        self._fill(ink)
        if len(points) == 2:
            (x0, y0), (x1, y1) = points
            self._pdf.ellipse(x0, self.height - y1, x1, self.height - y0, stroke=0, fill=1)
            return
        path = self._pdf.beginPath()
        path.moveTo(points[0][0], self.height - points[0][1])
        for x, y in points[1:]:
            path.lineTo(x, self.height - y)
        path.close()
        self._pdf.drawPath(path, stroke=0, fill=1)


class Paper:
    """Pages of one size (points) on which no two texts may touch. y runs downwards and is a text's baseline."""

    def __init__(self, width: float, height: float, *, margin: float) -> None:
        self.width, self.height, self.margin = width, height, margin
        self.page = 0
        self.bottom = 0.0
        self.runs: list[Run] = []
        self._operations: list[tuple[Any, ...]] = []
        self._bands: dict[int, list[tuple[float, float, float, float]]] = defaultdict(list)

    def text(self, x: float, y: float, text: str, face: Face, *, ink: Ink = 0.0, align: str = "left") -> int:
        """Place a run and return its number. `align`: x is its left end, its right end or its centre.

        Raises DoesNotFit where it would touch another or cross the margin.
        """
        width = face.width(text)
        if align == "right":
            x -= width
        elif align == "centre":
            x -= width / 2
        if not text.strip():
            raise DoesNotFit("empty text")
        ascent = ASCENT if _ACCENTED.isdisjoint(text) else _ACCENTED_ASCENT
        self.reserve(x, y - ascent * face.size, x + width, y + DESCENT * face.size, what=text)
        self.bottom = max(self.bottom, y + DESCENT * face.size)
        self.runs.append(Run(self.page, x, y, text, face, ink))
        self._operations.append(("run", len(self.runs) - 1))
        return len(self.runs) - 1

    def reserve(self, x0: float, y0: float, x1: float, y1: float, *, what: str = "shape") -> None:
        """Keep other texts out of this area. Raises DoesNotFit where one stands already, or outside the margin."""
        if x0 < self.margin or x1 > self.width - self.margin or y0 < self.margin or y1 > self.height - self.margin:
            raise DoesNotFit(what)
        if not self.free(x0, y0, x1, y1):
            raise DoesNotFit(what)
        box = (x0 - CLEARANCE / 2, x1 + CLEARANCE / 2, y0, y1)
        for band in range(int(y0 // _BAND), int(y1 // _BAND) + 1):
            self._bands[band].append(box)

    def free(self, x0: float, y0: float, x1: float, y1: float) -> bool:
        x0, x1 = x0 - CLEARANCE / 2, x1 + CLEARANCE / 2
        for band in range(int(y0 // _BAND), int(y1 // _BAND) + 1):
            for left, right, top, bottom in self._bands[band]:
                if x0 < right and left < x1 and y0 < bottom and top < y1:
                    return False
        return True

    def value(self, x: float, y: float, value: Value, face: Face, *, ink: Ink = 0.0, align: str = "left") -> Mark:
        return Mark(value, ((0, self.text(x, y, value.shown, face, ink=ink, align=align), 0),))

    def paragraph(
        self, x: float, y: float, value: Value, face: Face, width: float, step: float, *, ink: Ink = 0.0
    ) -> tuple[Mark, float]:
        """A value over as many lines as it needs; the mark and the baseline of its last line."""
        pieces = []
        for number, (start, line) in enumerate(face.wrap(value.shown, width)):
            y += step if number else 0
            pieces.append((start, self.text(x, y, line, face, ink=ink), 0))
        return Mark(value, tuple(pieces)), y

    def slanted(self, x: float, y: float, text: str, face: Face, angle: float, ink: Ink) -> None:
        """Text turned by `angle` degrees about its start; the caller has reserved its area."""
        self.runs.append(Run(self.page, x, y, text, face, ink, angle))
        self._operations.append(("run", len(self.runs) - 1))

    def right_end(self, run: int) -> float:
        placed = self.runs[run]
        return placed.x + placed.face.width(placed.text)

    def rule(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        *,
        width: float = 0.5,
        ink: Ink = 0.0,
        dash: tuple[float, ...] = (),
    ) -> None:
        self._operations.append(("rule", x0, y0, x1, y1, width, ink, dash))
        self.bottom = max(self.bottom, y0, y1)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: Ink | None = None,
        edge: Ink | None = None,
        radius: float = 0.0,
        first: bool = False,
    ) -> None:
        """A box whose top left corner is (x, y); `first` draws it below everything that this page has so far."""
        operation = ("box", x, y, width, height, fill, edge, radius)
        if first:
            pages = [index for index, operation in enumerate(self._operations) if operation[0] == "page"]
            self._operations.insert(pages[-1] + 1 if pages else 0, operation)
        else:
            self._operations.append(operation)

    def shape(self, points: Sequence[tuple[float, float]], ink: Ink) -> None:
        self._operations.append(("shape", tuple(points), ink))

    def new_page(self) -> None:
        self._operations.append(("page",))
        self.page += 1
        self.bottom = 0.0
        self._bands.clear()

    def draw(self, *, paper: float) -> tuple[Sheet, list[Text]]:
        """The sheet on `paper` (a grey) and its runs in the order of `runs`."""
        sheet = Printer(self.width, self.height)
        drawn: dict[int, Text] = {}

        def blank() -> None:
            if paper < 1:
                sheet.rectangle(0, 0, self.width, self.height, grey=paper)

        blank()
        for name, *arguments in self._operations:
            if name == "run":
                drawn[arguments[0]] = sheet.run(self.runs[arguments[0]])
            elif name == "page":
                sheet.new_page()
                blank()
            else:
                getattr(sheet, name)(*arguments)
        return sheet, [drawn[index] for index in range(len(self.runs))]

    def leaves(self, marks: Any, drawn: Sequence[Text]) -> Any:
        """The same nested dicts and lists with every Mark turned into a Leaf, and None into the leaf of null."""
        if isinstance(marks, dict):
            return {name: self.leaves(mark, drawn) for name, mark in marks.items()}
        if isinstance(marks, list):
            return [self.leaves(mark, drawn) for mark in marks]
        if marks is None:
            return Leaf(None, "null", (None,) * 5)
        value, pieces = marks

        def place(index: int) -> Place:
            start, run, offset = next(piece for piece in reversed(pieces) if piece[0] <= index)
            at = index - start + offset
            return drawn[run].places[at] if at < len(drawn[run].text) else drawn[run].end

        def past(index: int) -> Place:
            """Just past the character at `index`."""
            start, run, offset = next(piece for piece in reversed(pieces) if piece[0] <= index)
            at, text = index - start + offset, drawn[run]
            if at + 1 >= len(text.text):
                return text.end
            face = self.runs[run].face
            return Place(
                text.places[at].page,
                text.places[at].x + (advances(face.font)[text.text[at]] / 2 + 0.25) * face.size,
                text.places[at].y,
            )

        verbatim = Leaf(
            value.shown[value.start : value.stop],
            value.shown[value.start : value.stop],
            (*(place(index) for index in range(value.start, value.stop)), past(value.stop - 1)),
        )
        known = [source for source in value.sources if source is not None]
        in_order = value.sources[-1] is not None and known == sorted(known)
        places = tuple(None if source is None else place(source) for source in value.sources)
        return Leaf(
            value.value,
            value.text,
            (*places, past(value.sources[-1]) if in_order else None),
            verbatim,
            value.category,
        )
