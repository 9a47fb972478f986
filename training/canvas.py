"""A sheet of paper that remembers where every glyph was drawn.

Text goes through reportlab into a real PDF and through pdfium into pixels, exactly as a user's file would; only the
fourteen fonts that every PDF reader has are used, so the pixels are the same on every machine.
"""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass, field

import numpy as np
import pypdfium2 as pdfium
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas as PdfCanvas

# (regular, bold) pairs; the symbol fonts are left out
FONT_FAMILIES: tuple[tuple[str, str], ...] = (
    ("Helvetica", "Helvetica-Bold"),
    ("Times-Roman", "Times-Bold"),
    ("Courier", "Courier-Bold"),
    ("Helvetica-Oblique", "Helvetica-BoldOblique"),
    ("Times-Italic", "Times-BoldItalic"),
    ("Courier-Oblique", "Courier-BoldOblique"),
)
# The optical middle of a line above its baseline, as a share of the font size: half the height of a capital.
MIDDLE = 0.34


@dataclass(frozen=True)
class Place:
    """The centre of a glyph: page index, x from the left and y from the top, in PDF points."""

    page: int
    x: float
    y: float


@functools.lru_cache(maxsize=8192)
def glyph_width(character: str, font: str) -> float:
    """Advance of one character at size 1."""
    return stringWidth(character, font, 1.0)


def text_width(text: str, font: str, size: float) -> float:
    return sum(glyph_width(character, font) for character in text) * size


@dataclass
class Text:
    """One drawn run: `places[i]` is the centre of character i; `end` lies just past the last one."""

    text: str
    places: list[Place]
    end: Place
    width: float


@dataclass
class Sheet:
    """One or more pages of equal size (points). y runs downwards from the top; `y` of text is its baseline."""

    width: float
    height: float
    runs: list[Text] = field(default_factory=list)
    page: int = 0

    def __post_init__(self) -> None:
        self._bytes = io.BytesIO()
        self._pdf = PdfCanvas(self._bytes, pagesize=(self.width, self.height), pageCompression=0, invariant=1)

    def text(
        self, x: float, y: float, text: str, *, font: str = "Helvetica", size: float = 10, grey: float = 0.0
    ) -> Text:
        """Draw `text` with its baseline at y, starting at x; grey 0 is black and 1 white."""
        self._pdf.setFont(font, size)
        self._pdf.setFillGray(grey)
        self._pdf.drawString(x, self.height - y, text)
        places = []
        position = x
        middle = y - MIDDLE * size
        for character in text:
            advance = glyph_width(character, font) * size
            places.append(Place(self.page, position + advance / 2, middle))
            position += advance
        run = Text(text, places, Place(self.page, position + 0.25 * size, middle), position - x)
        self.runs.append(run)
        return run

    def text_right(
        self, x: float, y: float, text: str, *, font: str = "Helvetica", size: float = 10, grey: float = 0.0
    ) -> Text:
        """Draw `text` so that it ends at x."""
        return self.text(x - text_width(text, font, size), y, text, font=font, size=size, grey=grey)

    def line(self, x0: float, y0: float, x1: float, y1: float, *, width: float = 0.5, grey: float = 0.0) -> None:
        self._pdf.setStrokeGray(grey)
        self._pdf.setLineWidth(width)
        self._pdf.line(x0, self.height - y0, x1, self.height - y1)

    def rectangle(self, x: float, y: float, width: float, height: float, *, grey: float) -> None:
        """Fill a box whose top left corner is (x, y)."""
        self._pdf.setFillGray(grey)
        self._pdf.rect(x, self.height - y - height, width, height, stroke=0, fill=1)

    def new_page(self) -> None:
        self._pdf.showPage()
        self.page += 1

    def pdf(self) -> bytes:
        """The finished document; nothing can be drawn afterwards."""
        if not self._bytes.getbuffer().nbytes:
            self._pdf.showPage()
            self._pdf.save()
        return self._bytes.getvalue()

    def render(self, dots_per_inch: float = 96) -> list[np.ndarray]:
        """Every page as uint8 grey [height, width], drawn by pdfium."""
        document = pdfium.PdfDocument(self.pdf())
        try:
            return [_grey(page, dots_per_inch) for page in document]
        finally:
            document.close()


def _grey(page: pdfium.PdfPage, dots_per_inch: float) -> np.ndarray:
    pixels = page.render(scale=dots_per_inch / 72, grayscale=True).to_numpy()
    return np.array(pixels[..., 0] if pixels.ndim == 3 else pixels)
