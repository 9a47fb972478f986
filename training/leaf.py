"""The truth of a document: every value with the glyphs that it is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from training.canvas import Place, Sheet


@dataclass(frozen=True)
class Leaf:
    """One value and where its printed characters stand.

    `text` is the answer's spelling without quotes ("INV-0042", "1234.50", "2026-03-01", "3", "null").
    `places` has len(text) + 1 entries: for each answer character the glyph it is read from, or None where
    it is not printed; the last is the place just past the value's last glyph, or None.
    `verbatim` is the same value as the page shows it, where that is known; `category` what a list of choices calls it.
    """

    value: str | int | float | None
    text: str
    places: tuple[Place | None, ...]
    verbatim: Leaf | None = None
    category: str | None = None


@dataclass
class Document:
    """A drawn document; `truth` nests dicts and lists of Leaf by the names of the bundled schema `schema`.

    Documents of the profile `wide` hold more than that schema asks for, and say their language and wear.
    """

    kind: str
    layout: str
    font: str
    size: float
    sheet: Sheet
    truth: dict[str, Any]
    schema: str
    profile: str = "narrow"
    language: str = "en"
    noise: str = "clean"
