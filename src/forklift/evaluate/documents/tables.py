"""Tables that run over pages, their header repeated on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from forklift.evaluate.documents.flow import Flow, Span
from forklift.evaluate.documents.sheet import Align, text_width, wrap
from forklift.evaluate.documents.style import GREY, INK, WHITE, lighten

RowKind = Literal["plain", "section", "subtotal", "total"]
_PADDING = 4.0


@dataclass(frozen=True)
class TableColumn:
    """wraps: its cells may be broken into lines, and the column takes what the others leave, by `share`."""

    title: str
    align: Align = "left"
    wraps: bool = False
    share: float = 1.0


@dataclass(frozen=True)
class Row:
    """cells: one a column. A section's first cell runs over the whole width."""

    cells: tuple[str, ...]
    kind: RowKind = "plain"


def plain(*cells: str) -> Row:
    return Row(cells)


class Table:
    """A table in a flow. carried: text of the last column that stands after each row, printed where a page ends
    ("carried forward") and where the next one begins; empty for none. split_rows: a row of several lines may run
    over a page's end."""

    def __init__(
        self,
        flow: Flow,
        columns: Sequence[TableColumn],
        *,
        small: bool = False,
        split_rows: bool = False,
        tight: bool = False,
    ) -> None:
        self._flow = flow
        self._columns = columns
        style = flow.style
        self._size = style.small if small else style.size
        self._leading = self._size * 1.25
        self._padding = 1.6 if tight else 2.6
        self._split_rows = split_rows
        self._widths: list[float] = []

    @property
    def row_height(self) -> float:
        """Of a row of one line."""
        return self._leading + 2 * self._padding

    def write(self, rows: Sequence[Row], *, carried: Sequence[str] = ()) -> list[Span]:
        """Write the rows; gives the pages of each."""
        self._widths = self._fit(rows)
        flow = self._flow
        flow.gap(3.0)
        flow.need(3.2 * self.row_height)
        self._header()
        spans: list[Span] = []
        striped = False
        for index, row in enumerate(rows):
            lines = self._wrapped(row)
            tallest = max(len(cell) for cell in lines)
            height = tallest * self._leading + 2 * self._padding
            reserve = self.row_height if carried else 0.0
            # A section's or subtotal's row does not stand alone.
            ahead = self.row_height if row.kind == "section" else 0.0
            can_split = self._split_rows and row.kind == "plain" and tallest >= 3
            if flow.room < height + reserve + ahead and not (
                can_split and flow.room >= 2 * self._leading + 2 * self._padding + reserve
            ):
                self._break(carried[index - 1] if carried and index else "")
                striped = False
            first = flow.page
            self._row(row, lines, striped, reserve)
            spans.append(Span(first, flow.page))
            striped = not striped if row.kind == "plain" else False
        self._close()
        return spans

    def _fit(self, rows: Sequence[Row]) -> list[float]:
        """Column widths: as wide as the widest cell, what is left shared among the columns that wrap."""
        body, bold = self._flow.style.body[0], self._flow.style.body[1]
        widths = [0.0] * len(self._columns)
        for column in range(len(self._columns)):
            widths[column] = text_width(self._columns[column].title, self._flow.style.heading[1], self._size)
            if self._columns[column].wraps:
                continue
            for row in rows:
                if row.kind != "section" and column < len(row.cells):
                    font = body if row.kind == "plain" else bold
                    widths[column] = max(widths[column], text_width(row.cells[column], font, self._size))
        taken = sum(
            width + 2 * _PADDING for width, column in zip(widths, self._columns, strict=True) if not column.wraps
        )
        shares = sum(column.share for column in self._columns if column.wraps)
        left = self._flow.width - taken
        if not shares:  # spread what is left evenly
            return [width + 2 * _PADDING + left / len(widths) for width in widths]
        return [
            left * column.share / shares if column.wraps else width + 2 * _PADDING
            for width, column in zip(widths, self._columns, strict=True)
        ]

    def _wrapped(self, row: Row) -> list[list[str]]:
        if row.kind == "section":
            return [[row.cells[0]]]
        font = self._flow.style.body[0 if row.kind == "plain" else 1]
        return [
            wrap(cell, font, self._size, width - 2 * _PADDING) if column.wraps else [cell]
            for cell, width, column in zip(row.cells, self._widths, self._columns, strict=True)
        ]

    def _header(self) -> None:
        flow, style = self._flow, self._flow.style
        titles = [
            wrap(column.title, style.heading[1], self._size, width - 2 * _PADDING)
            for column, width in zip(self._columns, self._widths, strict=True)
        ]
        height = max(len(title) for title in titles) * self._leading + 2 * self._padding + 1
        colour = INK
        if style.table == "filled":
            flow.sheet.box(flow.left, flow.y, flow.right, flow.y + height, fill=style.accent)
            colour = WHITE
        elif style.table in ("zebra", "grid"):
            flow.sheet.box(flow.left, flow.y, flow.right, flow.y + height, fill=lighten(style.accent, 0.78))
        self._cells(titles, style.heading[1], colour, flow.y + self._padding)
        if style.table == "grid":
            self._frame(flow.y, flow.y + height)
        flow.y += height
        if style.table in ("underlined", "minimal"):
            flow.sheet.line(flow.left, flow.y, flow.right, flow.y, 1.0 if style.table == "underlined" else 0.5, INK)

    def _row(self, row: Row, lines: list[list[str]], striped: bool, reserve: float) -> None:
        flow, style = self._flow, self._flow.style
        rest = lines
        while True:
            tallest = max(len(cell) for cell in rest)
            fitting = int((flow.room - reserve - 2 * self._padding + 0.01) / self._leading)
            part = [cell[:fitting] for cell in rest] if fitting < tallest else rest
            height = min(tallest, fitting) * self._leading + 2 * self._padding
            self._row_ground(row, striped, height)
            font = style.body[0 if row.kind == "plain" else 1]
            if row.kind == "section":
                flow.sheet.text(
                    flow.left + _PADDING,
                    flow.y + self._padding + self._size,
                    part[0][0],
                    font,
                    self._size,
                    style.accent,
                )
            else:
                self._cells(part, font, INK, flow.y + self._padding)
            if style.table == "grid" and row.kind != "section":
                self._frame(flow.y, flow.y + height)
            flow.y += height
            if style.table == "underlined":
                flow.sheet.line(flow.left, flow.y, flow.right, flow.y, 0.3, lighten(GREY, 0.5))
            if fitting >= tallest:
                return
            rest = [cell[fitting:] for cell in rest]
            self._break("")

    def _row_ground(self, row: Row, striped: bool, height: float) -> None:
        flow, style = self._flow, self._flow.style
        if row.kind == "section":
            flow.sheet.box(flow.left, flow.y, flow.right, flow.y + height, fill=style.tint)
        elif row.kind == "total":
            flow.sheet.box(flow.left, flow.y, flow.right, flow.y + height, fill=lighten(style.accent, 0.8))
            flow.sheet.line(flow.left, flow.y, flow.right, flow.y, 1.0, INK)
        elif row.kind == "subtotal":
            flow.sheet.line(flow.left, flow.y, flow.right, flow.y, 0.6, INK)
        elif striped and style.table == "zebra":
            flow.sheet.box(flow.left, flow.y, flow.right, flow.y + height, fill=style.tint)

    def _cells(self, cells: list[list[str]], font: str, colour: tuple[float, float, float], top: float) -> None:
        sheet = self._flow.sheet
        x = self._flow.left
        for lines, width, column in zip(cells, self._widths, self._columns, strict=True):
            place = {"left": x + _PADDING, "right": x + width - _PADDING, "centre": x + width / 2}[column.align]
            for index, line in enumerate(lines):
                y = top + index * self._leading + self._size
                sheet.text(place, y, line, font, self._size, colour, column.align)
            x += width

    def _frame(self, top: float, bottom: float) -> None:
        flow = self._flow
        flow.sheet.box(flow.left, top, flow.right, bottom, stroke=lighten(GREY, 0.35), width=0.4)
        x = flow.left
        for width in self._widths[:-1]:
            x += width
            flow.sheet.line(x, top, x, bottom, 0.4, lighten(GREY, 0.35))

    def _break(self, carried: str) -> None:
        flow, style = self._flow, self._flow.style
        if carried:
            self._carry("Carried forward", carried)
        elif style.table != "grid":
            flow.sheet.line(flow.left, flow.y, flow.right, flow.y, 0.4, GREY)
        flow.advance()
        self._header()
        if carried:
            self._carry("Brought forward", carried)

    def _carry(self, label: str, amount: str) -> None:
        flow, style = self._flow, self._flow.style
        y = flow.y + self._padding + self._size
        flow.sheet.text(flow.right - _PADDING, y, amount, style.body[2], self._size, INK, "right")
        before = flow.right - 2 * _PADDING - max(self._widths[-1], text_width(amount, style.body[2], self._size) + 8)
        flow.sheet.text(before, y, label, style.body[2], self._size, GREY, "right")
        flow.y += self.row_height

    def _close(self) -> None:
        flow = self._flow
        flow.sheet.line(flow.left, flow.y, flow.right, flow.y, 0.8, flow.style.accent)
        flow.y += 8
