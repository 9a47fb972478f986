"""Text that fills pages from top to bottom: headings, paragraphs, pairs of label and value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from forklift.evaluate.documents.sheet import Align, Colour, Sheet, text_width, wrap
from forklift.evaluate.documents.style import GREY, INK, Style

_GUTTER = 20.0  # points between two columns


class Span(NamedTuple):
    """The pages, 1-based, on which something begins and ends."""

    first: int
    last: int

    @property
    def crosses(self) -> bool:
        return self.last > self.first


class Frame(Protocol):
    """What stands around the text: where the text of the first page and of later ones begins, where it ends."""

    @property
    def style(self) -> Style: ...
    @property
    def title(self) -> str: ...
    @property
    def first_top(self) -> float: ...
    @property
    def later_top(self) -> float: ...
    @property
    def bottom(self) -> float: ...
    def draw(self, sheet: Sheet, page: int, total: int) -> None: ...


class Flow:
    """A place (page, column, y) that moves on as content is written; pages are added as they are needed."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.style = frame.style
        self.sheet = Sheet(*self.style.paper)
        self._columns = 1
        self._column = 0
        self._column_top = 0.0
        self._column_bottom = frame.bottom
        self.y = 0.0
        self.start_page()

    # Where text goes

    @property
    def page(self) -> int:
        return self.sheet.page

    @property
    def page_left(self) -> float:
        return self.style.margin

    @property
    def page_width(self) -> float:
        return self.sheet.width - 2 * self.style.margin

    @property
    def width(self) -> float:
        """Of the column."""
        return (self.page_width - _GUTTER * (self._columns - 1)) / self._columns

    @property
    def left(self) -> float:
        return self.page_left + self._column * (self.width + _GUTTER)

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def room(self) -> float:
        """Points that are left in this column."""
        return min(self.frame.bottom, self._column_bottom) - self.y

    def start_page(self) -> None:
        self.sheet.add_page()
        self._column = 0
        self.y = self.frame.first_top if self.sheet.page == 1 else self.frame.later_top
        self._column_top = self.y
        self._column_bottom = self.frame.bottom

    def advance(self) -> None:
        """Go on at the top of the next column, or of a new page."""
        if self._column + 1 < self._columns:
            self._column += 1
            self.y = self._column_top
        else:
            self.start_page()

    def need(self, height: float) -> None:
        """Go on elsewhere unless `height` points are left here."""
        if self.room < height:
            self.advance()

    def gap(self, height: float) -> None:
        self.y += height

    def in_columns(self, paragraphs: Sequence[str], *, small: bool = True) -> None:
        """Write paragraphs in two columns of like height; what does not fit goes on in the same way overleaf."""
        size = self.style.small if small else self.style.size
        left = list(paragraphs)
        while left:
            fitting, height, half = 0, 0.0, 0.0
            for text in left:
                lines = len(wrap(text, self.style.body[0], size, (self.page_width - _GUTTER) / 2))
                height += lines * size * 1.32 + 5.0
                if fitting and height / 2 + lines * size * 0.7 > self.room - 10.0:
                    break
                half = height / 2 + lines * size * 0.7
                fitting += 1
            if half > self.room:
                self.start_page()
                continue
            self._columns, self._column, self._column_top = 2, 0, self.y
            self._column_bottom = self.y + half
            for text in left[:fitting]:
                self.paragraph(text, small=small)
            if self._column:  # the first column ran to its end
                self.y = self._column_bottom
            self._columns, self._column, self._column_bottom = 1, 0, self.frame.bottom
            left = left[fitting:]

    def finish(self) -> None:
        """Draw letterhead and footer on every page."""
        for page in range(1, self.sheet.page_count + 1):
            self.frame.draw(self.sheet, page, self.sheet.page_count)

    # Text

    def title(self, text: str, *, size: float = 18, below: str = "") -> None:
        """The document's title; `below` is a line under it. The plain letterhead has shown the title itself."""
        if self.style.letterhead != "plain":
            self.sheet.text(
                self.left,
                self.y + size,
                text.upper() if self.style.capitals else text,
                self.style.heading[1],
                size,
                INK,
            )
            self.y += size + 8
        if below:
            self.sheet.text(self.left, self.y + 9, below, self.style.body[0], 9.5, GREY)
            self.y += 18
        self.y += 6

    def heading(self, text: str, *, level: int = 1, keep: float = 48) -> None:
        """A heading that stays with at least `keep` points of what follows."""
        style = self.style
        size = {1: style.size + 3.0, 2: style.size + 1.0, 3: style.size}[level]
        before = {1: 12.0, 2: 8.0, 3: 5.0}[level]
        self.need(before + size + keep)
        self.y += before + size
        shown = text.upper() if style.capitals and level == 1 else text
        font = style.heading[1] if level < 3 else style.body[1]
        for index, line in enumerate(wrap(shown, font, size, self.width)):
            if index:
                self.y += size * 1.2
            self.sheet.text(self.left, self.y, line, font, size, style.accent if level == 1 else INK)
        self.y += 4
        if level == 1:
            self.sheet.line(self.left, self.y, self.right, self.y, 0.6, style.accent)
            self.y += 3

    def paragraph(
        self,
        text: str,
        *,
        bold: bool = False,
        italic: bool = False,
        small: bool = False,
        indent: float = 0.0,
        label: str = "",
        after: float = 5.0,
        colour: Colour = INK,
    ) -> Span:
        """Write `text` line by line, over a page's end where it must. label: hangs to the left of the first line."""
        style = self.style
        size = style.small if small else style.size
        leading = size * 1.32
        font = style.body[1] if bold else style.body[2] if italic else style.body[0]
        width = self.width - indent
        lines = wrap(text, font, size, width)
        first = 0
        for index, line in enumerate(lines):
            self.need(leading)
            self.y += leading
            if not index:
                first = self.page
                if label:
                    self.sheet.text(self.left, self.y, label, style.body[0], size, colour)
            stretch = 0.0
            if style.justified and index < len(lines) - 1:
                blank = width - text_width(line, font, size)
                spaces = line.count(" ")
                stretch = round(blank / spaces, 3) if spaces and blank / spaces < size * 0.3 else 0.0
            self.sheet.text(self.left + indent, self.y, line, font, size, colour, word_space=max(stretch, 0.0))
        self.y += after
        return Span(first, self.page)

    def line_count(self, text: str, *, indent: float = 0.0) -> int:
        return len(wrap(text, self.style.body[0], self.style.size, self.width - indent))

    def passage(self, heading: str, text: str, *, crossing: bool, filler: Callable[[], str]) -> Span:
        """A heading of one line and a paragraph that crosses the page's end, or is kept on one page.

        To cross with at least two lines on either side, paragraphs of `filler` are written before it.
        """
        above = self.style.size + 9.0  # what the heading takes
        lines = self.line_count(text)
        if crossing:
            self._straddle(lines, filler, above)
        else:
            self.need(above + (lines + 0.5) * self.style.leading)
        self.heading(heading, level=3, keep=2 * self.style.leading)
        return self.paragraph(text)

    def _straddle(self, lines: int, filler: Callable[[], str], above: float) -> None:
        """Fill this page until only about half of `lines` fit on it, below a heading of the height `above`."""
        assert lines >= 4, "a paragraph this short cannot cross a page's end well"
        kept = above + min(lines // 2 + 1, lines - 2) * self.style.leading + 0.5
        if self.room < kept:
            self.advance()
        while (spare := self.room - kept) >= self.style.leading:
            text = filler()
            if self.line_count(text) * self.style.leading + 5.0 > spare:
                self.y += spare
                return
            self.paragraph(text)

    def pairs(
        self, entries: Sequence[tuple[str, str]], *, columns: int = 1, label_width: float = 120.0, leading: float = 0.0
    ) -> None:
        """Labels and values side by side, filled column by column; a column may be narrower than its share."""
        style = self.style
        rows = -(-len(entries) // columns)
        leading = leading or style.size * 1.5
        self.need(rows * leading)
        share = self.width / columns
        top = self.y
        for index, (label, value) in enumerate(entries):
            x = self.left + share * (index // rows)
            y = top + leading * (index % rows + 1)
            self.sheet.text(x, y, label, style.body[0], style.size, GREY)
            self.sheet.text(x + label_width, y, value, style.body[0], style.size, INK)
        self.y = top + rows * leading + 4

    def panel(
        self, entries: Sequence[tuple[str, str]], x: float, y: float, width: float, *, look: int = 0, heading: str = ""
    ) -> float:
        """A box of labels and right-aligned values anywhere on the page; gives the y below it."""
        style = self.style
        step = style.size * 1.6
        height = step * (len(entries) + bool(heading)) + 8
        if look == 0:
            self.sheet.box(x, y, x + width, y + height, fill=style.tint)
        elif look == 1:
            self.sheet.box(x, y, x + width, y + height, stroke=style.accent, width=0.8, radius=3)
        else:
            self.sheet.line(x, y, x + width, y, 1.2, style.accent)
            self.sheet.line(x, y + height, x + width, y + height, 0.5, style.accent)
        line = y + 2
        if heading:
            line += step
            self.sheet.text(x + 7, line, heading, style.heading[1], style.size, style.accent)
        for label, value in entries:
            line += step
            self.sheet.text(x + 7, line, label, style.body[0], style.size, GREY)
            self.sheet.text(x + width - 7, line, value, style.body[1], style.size, INK, "right")
        return y + height

    def block(self, lines: Sequence[str], x: float, y: float, *, heading: str = "", align: Align = "left") -> float:
        """An address or the like: a small heading and lines, the first one bold; gives the y below it."""
        style = self.style
        if heading:
            y += style.small * 1.4
            self.sheet.text(
                x, y, heading.upper() if style.capitals else heading, style.body[0], style.small, GREY, align
            )
        for index, line in enumerate(lines):
            y += style.leading
            self.sheet.text(x, y, line, style.body[0 if index else 1], style.size, INK, align)
        return y + 5

    def note(self, text: str) -> None:
        """A shaded note across the column."""
        style = self.style
        lines = wrap(text, style.body[0], style.size, self.width - 20)
        height = len(lines) * style.leading + 10
        self.need(height + 4)
        self.sheet.box(self.left, self.y, self.right, self.y + height, fill=style.tint)
        self.sheet.box(self.left, self.y, self.left + 3, self.y + height, fill=style.accent)
        y = self.y + 3
        for line in lines:
            y += style.leading
            self.sheet.text(self.left + 11, y, line, style.body[0], style.size, INK)
        self.y += height + 6
