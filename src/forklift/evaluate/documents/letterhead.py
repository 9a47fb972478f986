"""What stands on every page around the text: letterhead, logo, running head, footer with the page's number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from forklift.evaluate.documents import names
from forklift.evaluate.documents.sheet import Colour, Sheet, text_width
from forklift.evaluate.documents.style import GREY, INK, WHITE, Style, lighten

_NUMBERING = ("Page {page} of {total}", "Page {page}/{total}", "{page} / {total}", "Sheet {page} of {total}")


@dataclass(frozen=True)
class Letterhead:
    """company: who the document is from. lines: its address and contact. title and reference: of the document, for
    the running head. first_top and later_top: where the text of the first page and of later ones begins, in points."""

    style: Style
    company: str
    lines: tuple[str, ...]
    title: str
    reference: str
    numbering: str
    remark: str = ""

    @property
    def first_top(self) -> float:
        return {"band": 100.0, "split": 112.0, "centred": 132.0, "sidebar": 104.0, "plain": 100.0}[
            self.style.letterhead
        ]

    @property
    def later_top(self) -> float:
        return 76.0

    @property
    def bottom(self) -> float:
        """Where the text of each page ends at the latest."""
        return self.style.paper[1] - (66.0 if self.style.footer == "columns" else 58.0)

    def draw(self, sheet: Sheet, page: int, total: int) -> None:
        """Draw it on page `page` of `total`."""
        sheet.page = page
        if self.style.letterhead == "sidebar":
            sheet.box(0, 0, 16, sheet.height, fill=self.style.accent)
        if page == 1:
            self._first(sheet)
        else:
            self._running_head(sheet)
        self._footer(sheet, self.numbering.format(page=page, total=total))

    def _first(self, sheet: Sheet) -> None:
        style = self.style
        left, right = style.margin, sheet.width - style.margin
        bold = style.heading[1]
        if style.letterhead == "band":
            sheet.box(0, 0, sheet.width, 76, fill=style.accent)
            draw_logo(sheet, style.logo, left + 19, 38, 19, WHITE, style.accent)
            sheet.text(left + 50, 44, self.company, bold, 16, WHITE)
            self._lines(sheet, right, 26, "right", lighten(style.accent, 0.85))
        elif style.letterhead == "split":
            draw_logo(sheet, style.logo, left + 22, 58, 22, style.accent, WHITE)
            sheet.text(left + 54, 56, self.company, bold, 15, INK)
            sheet.line(left + 54, 63, left + 54 + text_width(self.company, bold, 15), 63, 1.2, style.accent)
            self._lines(sheet, right, 42, "right", GREY)
            sheet.line(left, 92, right, 92, 0.6, GREY)
        elif style.letterhead == "centred":
            middle = sheet.width / 2
            draw_logo(sheet, style.logo, middle, 50, 19, style.accent, WHITE)
            sheet.text(middle, 88, self.company, bold, 15, style.accent, "centre")
            sheet.text(middle, 101, "  ·  ".join(self.lines[:3]), style.body[0], 7.5, GREY, "centre")
            sheet.line(left, 110, right, 110, 1.2, style.accent)
            sheet.line(left, 112.5, right, 112.5, 0.4, style.accent)
        elif style.letterhead == "sidebar":
            draw_logo(sheet, style.logo, right - 20, 52, 20, style.accent, WHITE)
            sheet.text(left, 50, self.company, bold, 17, style.accent)
            self._lines(sheet, left, 63, "left", GREY)
        else:
            sheet.text(left, 52, self.company.upper(), bold, 13, INK)
            self._lines(sheet, left, 65, "left", GREY)
            sheet.text(right, 56, self.title, style.heading[0], 18, style.accent, "right")
            sheet.line(left, 92, right, 92, 1.5, INK)

    def _lines(self, sheet: Sheet, x: float, y: float, align: str, colour: Colour) -> None:
        for index, line in enumerate(self.lines[:4]):
            sheet.text(
                x, y + 10.2 * index, line, self.style.body[0], 8, colour, "right" if align == "right" else "left"
            )

    def _running_head(self, sheet: Sheet) -> None:
        style = self.style
        left, right = style.margin, sheet.width - style.margin
        if style.running_head == "rule":
            draw_logo(sheet, style.logo, left + 7, 40, 7, style.accent, WHITE)
            sheet.text(left + 20, 43, self.company, style.heading[1], 9, INK)
            sheet.text(right, 43, f"{self.title}  {self.reference}", style.body[0], 8.5, GREY, "right")
            sheet.line(left, 52, right, 52, 0.8, style.accent)
        elif style.running_head == "tab":
            sheet.box(left, 30, right, 48, fill=style.tint)
            sheet.text(left + 6, 42, f"{self.title} {self.reference}", style.heading[1], 8.5, style.accent)
            sheet.text(right - 6, 42, self.company, style.body[0], 8.5, INK, "right")
        else:
            sheet.text(left, 43, self.company, style.body[2], 8.5, GREY)
            sheet.text(right, 43, self.reference, style.body[0], 8.5, GREY, "right")

    def _footer(self, sheet: Sheet, numbering: str) -> None:
        style = self.style
        left, right, y = style.margin, sheet.width - style.margin, sheet.height - 30
        font = style.body[0]
        remark = f"   {self.remark}" if self.remark else ""
        if style.footer == "rule":
            sheet.line(left, y - 11, right, y - 11, 0.4, GREY)
            sheet.text(left, y, f"{self.company}{remark}", font, 7.5, GREY)
            sheet.text(right, y, numbering, font, 7.5, GREY, "right")
        elif style.footer == "centred":
            sheet.text(sheet.width / 2, y, f"{numbering}{remark}", font, 8, GREY, "centre")
        else:
            sheet.line(left, y - 20, right, y - 20, 1.0, style.accent)
            width = (right - left) / 3
            for index, line in enumerate(self.lines[:3]):
                sheet.text(left + width * index, y - 9, line, font, 7, GREY)
            sheet.text(left, y + 3, f"{self.company}{remark}", font, 7, GREY)
            sheet.text(right, y + 3, numbering, style.body[1], 7.5, INK, "right")


def make_letterhead(
    random: Random, style: Style, company: str, address: tuple[str, str], title: str, reference: str, remark: str = ""
) -> Letterhead:
    lines = (*address, f"Tel. {names.phone(random)}", f"www.{names.site(company)}")
    return Letterhead(style, company, lines, title, reference, random.choice(_NUMBERING), remark)


def draw_logo(sheet: Sheet, kind: int, x: float, y: float, radius: float, colour: Colour, paper: Colour) -> None:
    """One of eight marks, centred at (x, y). paper: the colour of its gaps."""
    r = radius
    if kind == 0:  # a disc with a bar through it
        sheet.circle(x, y, r, colour)
        sheet.box(x - r, y - r * 0.14, x + r * 0.55, y + r * 0.14, fill=paper)
    elif kind == 1:  # rising bars
        for index, share in enumerate((0.55, 0.95, 1.4, 1.95)):
            left = x - r + index * r * 0.53
            sheet.box(left, y + r - r * share, left + r * 0.38, y + r, fill=colour)
    elif kind == 2:  # two peaks
        sheet.polygon(((x - r, y + r * 0.8), (x - r * 0.3, y - r * 0.9), (x + r * 0.4, y + r * 0.8)), colour)
        sheet.polygon(
            ((x - r * 0.02, y + r * 0.8), (x + r * 0.48, y - r * 0.25), (x + r, y + r * 0.8)), lighten(colour, 0.4)
        )
    elif kind == 3:  # rings
        sheet.circle(x - r * 0.3, y, r * 0.68, None, colour)
        sheet.circle(x + r * 0.3, y, r * 0.68, None, lighten(colour, 0.35))
    elif kind == 4:  # a hexagon with a hole
        points = [(x + r * math.cos(math.pi / 3 * k), y + r * math.sin(math.pi / 3 * k)) for k in range(6)]
        sheet.polygon([(round(px, 3), round(py, 3)) for px, py in points], colour)
        sheet.circle(x, y, r * 0.38, paper)
    elif kind == 5:  # a diamond in quarters
        sheet.polygon(((x, y - r), (x + r, y), (x, y + r), (x - r, y)), colour)
        sheet.line(x - r * 0.5, y - r * 0.5, x + r * 0.5, y + r * 0.5, r * 0.14, paper)
        sheet.line(x - r * 0.5, y + r * 0.5, x + r * 0.5, y - r * 0.5, r * 0.14, paper)
    elif kind == 6:  # stacked strips
        for index in range(4):
            top = y - r * 0.9 + index * r * 0.5
            sheet.box(x - r + index * r * 0.22, top, x + r * 0.4 + index * r * 0.2, top + r * 0.3, fill=colour)
    else:  # a tile with a rounded corner mark
        sheet.box(x - r, y - r, x + r, y + r, fill=colour, radius=r * 0.3)
        sheet.polygon(((x - r * 0.55, y + r * 0.5), (x, y - r * 0.6), (x + r * 0.55, y + r * 0.5)), paper)
