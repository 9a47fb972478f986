"""The look of one document: paper, fonts, colours, and which forms its letterhead, tables and footer have."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from forklift.evaluate.documents.sheet import Colour

TableLook = Literal["filled", "underlined", "grid", "zebra", "minimal"]
A4 = (595.0, 842.0)
LETTER = (612.0, 792.0)

HELVETICA = ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique")
TIMES = ("Times-Roman", "Times-Bold", "Times-Italic")
COURIER = ("Courier", "Courier-Bold", "Courier-Oblique")

INK: Colour = (0.11, 0.11, 0.13)
GREY: Colour = (0.42, 0.43, 0.46)
WHITE: Colour = (1.0, 1.0, 1.0)
_ACCENTS: tuple[Colour, ...] = (
    (0.10, 0.22, 0.43),
    (0.00, 0.36, 0.38),
    (0.47, 0.11, 0.16),
    (0.13, 0.34, 0.20),
    (0.25, 0.29, 0.34),
    (0.33, 0.17, 0.42),
    (0.62, 0.29, 0.05),
    (0.05, 0.05, 0.06),
    (0.08, 0.40, 0.62),
)


@dataclass(frozen=True)
class Style:
    """paper: points. body and heading: (regular, bold, italic) font names. size: points of body text.
    tint: a light shade of `accent`."""

    paper: tuple[float, float]
    margin: float
    body: tuple[str, str, str]
    heading: tuple[str, str, str]
    size: float
    accent: Colour
    tint: Colour
    table: TableLook
    letterhead: Literal["band", "split", "centred", "sidebar", "plain"]
    running_head: Literal["rule", "tab", "bare"]
    footer: Literal["rule", "centred", "columns"]
    logo: int
    capitals: bool
    justified: bool

    @property
    def leading(self) -> float:
        return self.size * 1.32

    @property
    def small(self) -> float:
        return max(6.5, self.size - 1.5)


def lighten(colour: Colour, share: float) -> Colour:
    """`colour` mixed with white; share 1 is white."""
    red, green, blue = (round(channel + (1.0 - channel) * share, 3) for channel in colour)
    return red, green, blue


def make_style(random: Random, *, fonts: tuple[tuple[str, str, str], ...] = (HELVETICA, HELVETICA, TIMES)) -> Style:
    body = random.choice(fonts)
    accent = random.choice(_ACCENTS)
    return Style(
        paper=random.choice((A4, A4, LETTER)),
        margin=random.choice((46.0, 52.0, 58.0)),
        body=body,
        heading=random.choice((HELVETICA, body)),
        size=random.choice((8.5, 9.0, 9.0, 9.5)) + (0.7 if body is TIMES else 0.0),
        accent=accent,
        tint=lighten(accent, 0.88),
        table=random.choice(("filled", "underlined", "grid", "zebra", "minimal")),
        letterhead=random.choice(("band", "split", "centred", "sidebar", "plain")),
        running_head=random.choice(("rule", "tab", "bare")),
        footer=random.choice(("rule", "centred", "columns")),
        logo=random.randrange(8),
        capitals=random.random() < 0.3,
        justified=random.random() < 0.5,
    )
