"""Pages as lists of drawing operations, written as PDF once the number of pages is known.

Base-14 fonts only, so that a document looks the same everywhere. y runs downwards from the top edge, in points.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from forklift.errors import UsageError

Colour = tuple[float, float, float]
Align = Literal["left", "right", "centre"]
BLACK: Colour = (0.0, 0.0, 0.0)


def require_reportlab() -> None:
    """Raises UsageError when reportlab, which only the generators need, is not installed."""
    try:
        import reportlab  # noqa: F401
    except ImportError:
        raise UsageError(
            "making documents needs the package reportlab, which is not installed: run `pip install forklift[eval]`."
        ) from None


@lru_cache(maxsize=1 << 16)
def text_width(text: str, font: str, size: float) -> float:
    """Width of `text` in points."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    return float(stringWidth(text, font, size))


def wrap(text: str, font: str, size: float, width: float) -> list[str]:
    """Lines of at most `width` points, broken at spaces; a longer word stands alone."""
    if text_width(text, font, size) <= width:
        return [text]
    space = text_width(" ", font, size)
    lines: list[str] = []
    line: list[str] = []
    used = 0.0
    for word in text.split(" "):
        word_width = text_width(word, font, size)
        if line and used + space + word_width > width:
            lines.append(" ".join(line))
            line, used = [], 0.0
        used += word_width + (space if line else 0.0)
        line.append(word)
    lines.append(" ".join(line))
    return lines


class Sheet:
    """A document's pages. `page` is the 1-based number of the page that operations go to."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.page = 0
        self._pages: list[list[tuple[str, tuple[Any, ...]]]] = []

    @property
    def page_count(self) -> int:
        return len(self._pages)

    def add_page(self) -> None:
        """Start a page after the last one."""
        self._pages.append([])
        self.page = len(self._pages)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        font: str,
        size: float,
        colour: Colour = BLACK,
        align: Align = "left",
        word_space: float = 0.0,
    ) -> None:
        """One line of text with its baseline at `y`; `x` is its left end, right end or middle."""
        if not text:
            return
        if align != "left":
            width = text_width(text, font, size)
            x -= width if align == "right" else width / 2
        self._add("text", x, y, text, font, size, colour, word_space)

    def line(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        width: float = 0.5,
        colour: Colour = BLACK,
        dashed: bool = False,
    ) -> None:
        self._add("line", x0, y0, x1, y1, width, colour, dashed)

    def box(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        fill: Colour | None = None,
        stroke: Colour | None = None,
        width: float = 0.5,
        radius: float = 0.0,
    ) -> None:
        self._add("box", x0, y0, x1, y1, fill, stroke, width, radius)

    def polygon(self, points: Sequence[tuple[float, float]], fill: Colour) -> None:
        self._add("polygon", tuple(points), fill)

    def circle(self, x: float, y: float, radius: float, fill: Colour | None, stroke: Colour | None = None) -> None:
        self._add("circle", x, y, radius, fill, stroke)

    def _add(self, operation: str, *arguments: Any) -> None:
        self._pages[self.page - 1].append((operation, arguments))

    def write(self, title: str) -> bytes:
        """The PDF. Its bytes depend on nothing but the operations and the title (and the versions of the libraries)."""
        require_reportlab()
        from reportlab.pdfgen.canvas import Canvas

        file = io.BytesIO()
        canvas = Canvas(file, pagesize=(self.width, self.height), pageCompression=1, invariant=1)
        canvas.setTitle(title)
        canvas.setAuthor("made-up document")
        canvas.setSubject("made by forklift eval make; nothing in it is real")
        painter = _Painter(canvas, self.height)
        for operations in self._pages:
            painter.start_page()
            for operation, arguments in operations:
                getattr(painter, operation)(*arguments)
            canvas.showPage()
        canvas.save()
        return file.getvalue()


class _Painter:
    """Replays a sheet's operations on a reportlab canvas, setting colours and fonts only where they change."""

    def __init__(self, canvas: Any, height: float) -> None:
        self._canvas = canvas
        self._height = height
        self.start_page()

    def start_page(self) -> None:
        self._fill: Colour | None = None
        self._stroke: Colour | None = None
        self._line_width = -1.0
        self._font: tuple[str, float] | None = None

    def _use(self, fill: Colour | None, stroke: Colour | None = None, width: float | None = None) -> None:
        if fill is not None and fill != self._fill:
            self._canvas.setFillColorRGB(*fill)
            self._fill = fill
        if stroke is not None and stroke != self._stroke:
            self._canvas.setStrokeColorRGB(*stroke)
            self._stroke = stroke
        if width is not None and width != self._line_width:
            self._canvas.setLineWidth(width)
            self._line_width = width

    def text(self, x: float, y: float, text: str, font: str, size: float, colour: Colour, word_space: float) -> None:
        self._use(colour)
        if self._font != (font, size):
            self._canvas.setFont(font, size)
            self._font = (font, size)
        if word_space:
            self._canvas.drawString(x, self._height - y, text, wordSpace=word_space)
        else:
            self._canvas.drawString(x, self._height - y, text)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float, colour: Colour, dashed: bool) -> None:
        self._use(None, colour, width)
        if dashed:
            self._canvas.setDash(3, 3)
        self._canvas.line(x0, self._height - y0, x1, self._height - y1)
        if dashed:
            self._canvas.setDash()

    def box(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        fill: Colour | None,
        stroke: Colour | None,
        width: float,
        radius: float,
    ) -> None:
        self._use(fill, stroke, width)
        place = (x0, self._height - y1, x1 - x0, y1 - y0)
        painted = {"fill": int(fill is not None), "stroke": int(stroke is not None)}
        if radius:
            self._canvas.roundRect(*place, radius, **painted)
        else:
            self._canvas.rect(*place, **painted)

    def polygon(self, points: Sequence[tuple[float, float]], fill: Colour) -> None:
        self._use(fill)
        path = self._canvas.beginPath()
        path.moveTo(points[0][0], self._height - points[0][1])
        for x, y in points[1:]:
            path.lineTo(x, self._height - y)
        path.close()
        self._canvas.drawPath(path, fill=1, stroke=0)

    def circle(self, x: float, y: float, radius: float, fill: Colour | None, stroke: Colour | None) -> None:
        self._use(fill, stroke, 1.5 if stroke else None)
        self._canvas.circle(x, self._height - y, radius, fill=int(fill is not None), stroke=int(stroke is not None))
