"""The fonts of wide documents: the base fonts of every PDF reader and free TrueType fonts, embedded.

The TrueType files come from packages of the development environment (requirements.lock), so that a seed draws the same
document everywhere; a package that is missing is an error, never another font.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.pdfbase.pdfmetrics import getRegisteredFontNames, registerFont
from reportlab.pdfbase.ttfonts import TTFont, TTFontFace

from training.nano import CHARACTERS

# Every embedded font holds these characters and no others: its subset is made once a process, not once a document.
INVENTORY = " " + CHARACTERS + "•"


@dataclass(frozen=True)
class Family:
    """Four faces (regular, bold, italic, bold italic) by their names in reportlab, and how wide they run.

    kind: "sans", "serif" or "mono"; weight: how often it is drawn; faces may repeat where a family lacks one.
    """

    name: str
    kind: str
    weight: float
    faces: tuple[str, str, str, str]
    package: str | None = None
    files: tuple[str, str, str, str] | None = None

    def face(self, *, bold: bool = False, italic: bool = False) -> str:
        """The face's name in reportlab, loaded if it was not. Raises ImportError, naming the package to install."""
        index = bold + 2 * italic
        name = self.faces[index]
        if self.package is not None and self.files is not None:
            _load(name, self.package, self.files[index])
        return name


def _styles(name: str, kind: str, weight: float, package: str, pattern: str, words: str = "") -> Family:
    """A family whose four files differ in one word of their names."""
    regular, bold, italic, bold_italic = (words or "Regular Bold Italic BoldItalic").split()
    compact = name.replace(" ", "")
    files = tuple(pattern.replace("*", word) for word in (regular, bold, italic, bold_italic))
    faces = tuple(f"{compact}-{word}" for word in (regular, bold, italic, bold_italic))
    return Family(name, kind, weight, faces, package, files)  # type: ignore[arg-type]


def _shared(name: str, kind: str, weight: float, words: str = "") -> Family:
    return _styles(name, kind, weight, "rendercv_fonts", f"{name}/{name.replace(' ', '')}-*.ttf", words)


FAMILIES: tuple[Family, ...] = (
    Family("Helvetica", "sans", 5, ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique", "Helvetica-BoldOblique")),
    Family("Times", "serif", 2.5, ("Times-Roman", "Times-Bold", "Times-Italic", "Times-BoldItalic")),
    Family("Courier", "mono", 1, ("Courier", "Courier-Bold", "Courier-Oblique", "Courier-BoldOblique")),
    _styles("Vera", "sans", 1, "reportlab", "fonts/Vera*.ttf", "- Bd It BI"),
    _styles("Caladea", "serif", 1, "font_caladea", "files/Caladea-*.ttf"),
    _shared("EB Garamond", "serif", 0.7),
    _shared("Gentium Book Plus", "serif", 0.8),
    _shared("Lato", "sans", 1.2),
    _shared("Mukta", "sans", 0.6, "Regular Bold Regular Bold"),
    _shared("Noto Sans", "sans", 1.2),
    _shared("Open Sans", "sans", 1.5),
    _shared("Open Sauce Sans", "sans", 0.7),
    _shared("Poppins", "sans", 0.8),
    _shared("Raleway", "sans", 0.6),
    _shared("Roboto", "sans", 1.5),
    _shared("Source Sans 3", "sans", 1.2),
    _shared("Ubuntu", "sans", 0.8),
    _styles("FiraGO", "sans", 1, "pymupdf_fonts", "FiraGO_*"),
    _styles("Cascadia Mono", "mono", 0.6, "pymupdf_fonts", "CascadiaMono_*"),
    _styles("Space Mono", "mono", 0.4, "pymupdf_fonts", "SpaceMono_*"),
    _styles("Ubuntu Mono", "mono", 0.8, "pymupdf_fonts", "UbuntuMono_*"),
)


class _Face(TTFontFace):
    """Makes each subset once: the subsets of all documents are the same."""

    def makeSubset(self, subset: list[int]) -> bytes:
        made: dict[tuple[int, ...], bytes] = self.__dict__.setdefault("_made", {})
        key = tuple(subset)
        if key not in made:
            made[key] = super().makeSubset(subset)
        return made[key]


class _EmbeddedFont(TTFont):
    def __init__(self, name: str, file: str | io.BytesIO) -> None:
        super().__init__(name, file, asciiReadable=True)
        if isinstance(file, io.BytesIO):
            file.seek(0)
        self.face = _Face(file)

    def splitString(self, text: str, doc: Any, encoding: str = "utf-8") -> list[tuple[int, bytes]]:
        if doc not in self.state:
            self._assignState(doc)
            super().splitString(INVENTORY, doc, encoding)
        return super().splitString(text, doc, encoding)


@functools.cache
def _load(name: str, package: str, file: str) -> None:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        distribution = package.replace("_", "-")
        raise ImportError(
            f"the font {name} comes from the package {distribution}, not installed: pip install {distribution}, "
            "or make setup; without it a seed would draw another document"
        )
    if name in getRegisteredFontNames():
        return
    if package == "pymupdf_fonts":
        module = importlib.import_module(f"{package}.{file}")
        source: str | io.BytesIO = io.BytesIO(module.fontbuffer)
    else:
        source = str(Path(found.origin).parent / file.replace("Vera-", "Vera"))
    registerFont(_EmbeddedFont(name, source))
