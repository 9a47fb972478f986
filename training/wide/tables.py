"""Tables of wide documents, and what a table of items holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from training.draft import DoesNotFit
from training.wide import figures
from training.wide.content import Item
from training.wide.figures import Value
from training.wide.look import Look
from training.wide.paper import Ink, Mark, Paper


@dataclass
class TableForm:
    """The look of a table; `columns` from left to right."""

    columns: tuple[str, ...]
    numbers: str  # "right", "centre" or "left": how columns of numbers are aligned
    header: str  # "plain", "rule", "double", "shade", "dark" or "none"
    rows: str  # "plain", "rules", "stripes", "grid" or "frame"
    row_step: float
    spread: float
    wrap_share: float  # the share of its room that the flexible column's text may take before it wraps
    header_money: str  # "", " (EUR)" or the like: what the amount's header says of the currency
    unit_in_quantity: bool


def draw_table_form(random: Random, look: Look, *, columns: tuple[str, ...] | None = None) -> TableForm:
    if columns is None:
        columns = random.choice(
            (
                *(("description", "quantity", "unit_price", "amount"),) * 4,
                *(("quantity", "description", "unit_price", "amount"),) * 2,
                ("description", "unit_price", "quantity", "amount"),
                ("description", "quantity", "amount"),
                ("description", "amount"),
                ("quantity", "description", "amount"),
                ("sku", "description", "quantity", "unit_price", "amount"),
                ("quantity", "sku", "description", "unit_price", "amount"),
                ("description", "quantity", "unit", "unit_price", "amount"),
                ("description", "quantity", "unit_price", "tax_rate", "amount"),
                ("description", "tax_rate", "quantity", "unit_price", "amount"),
            )
        )
        if random.random() < 0.25:
            columns = ("position", *columns)
    header_money = ""
    if look.money_form == "#" and random.random() < 0.3:
        sign = random.choice((look.currency, look.sign or look.currency))
        header_money = random.choice((f" ({sign})", f" {sign}", f" in {sign}"))
    return TableForm(
        columns=columns,
        numbers=random.choice(("right", "right", "right", "right", "centre", "left")),
        header=random.choice(("plain", "rule", "rule", "double", "shade", "shade", "dark")),
        rows=random.choice(("plain", "plain", "rules", "rules", "stripes", "grid", "frame")),
        row_step=look.size * random.uniform(1.35, 2.3),
        spread=random.uniform(0.2, 1.0),
        wrap_share=random.uniform(0.45, 0.8) if random.random() < 0.25 else 1.0,
        header_money=header_money,
        unit_in_quantity="unit" not in columns and random.random() < 0.12,
    )


NUMBERS = frozenset({"quantity", "unit_price", "amount", "tax_rate", "balance", "booking_amount"})


class Table:
    """Columns of cells between x0 and x1: their widths for these cells, then header and rows wherever asked for.

    cells: a row maps columns to a Value. `flexible` is the column that takes what the others leave, and wraps.
    """

    def __init__(
        self,
        paper: Paper,
        look: Look,
        form: TableForm,
        headers: dict[str, str],
        cells: Sequence[dict[str, Value]],
        x0: float,
        x1: float,
        *,
        flexible: str = "description",
    ) -> None:
        self.paper, self.look, self.form, self.x0, self.x1 = paper, look, form, x0, x1
        self.headers, self.cells, self.flexible = headers, cells, flexible
        self.header_face = look.strong if form.header in ("dark", "shade") or look.label_bold else look.body
        natural = {
            column: max(
                self.header_face.width(headers[column]),
                *(look.body.width(row[column].shown) for row in cells),
            )
            for column in form.columns
        }
        boxed = form.header in ("shade", "dark") or form.rows in ("stripes", "grid", "frame")
        pad = 0.45 * look.size if boxed else 0.0
        gaps = len(form.columns) - 1
        least = look.size * (1.1 if form.rows == "grid" else 0.9)
        others = sum(width for column, width in natural.items() if column != flexible)
        room = x1 - x0 - 2 * pad - others - least * gaps
        least_room = max(9 * look.size, self.header_face.width(headers[flexible]))
        if room < min(natural[flexible], least_room):
            raise DoesNotFit("table")
        self.wrap_width = min(room, max(room * form.wrap_share, least_room))
        taken = min(natural[flexible], room)
        slack = room - taken
        # The flexible column takes what the gaps leave, as it does in real tables.
        gap = least + slack / max(gaps, 1) * (1 - form.spread)
        natural[flexible] = taken + slack - (gap - least) * gaps
        self.span: dict[str, tuple[float, float]] = {}
        x = x0 + pad
        for column in form.columns:
            self.span[column] = (x, x + natural[column])
            x += natural[column] + gap
        ends = [self.span[column] for column in form.columns]
        self._verticals = [x0, *((ends[i][1] + ends[i + 1][0]) / 2 for i in range(gaps)), x1]

    def _align(self, column: str) -> tuple[float, str]:
        left, right = self.span[column]
        if column in NUMBERS:
            if self.form.numbers == "right":
                return right, "right"
            if self.form.numbers == "centre" and column in ("quantity", "tax_rate"):
                return (left + right) / 2, "centre"
            if self.form.numbers == "centre":
                return right, "right"
        return left, "left"

    def header(self, y: float) -> tuple[dict[str, int], float]:
        """The runs of the headers, by column, and the first row's baseline."""
        form, look, paper = self.form, self.look, self.paper
        top, height = y - 0.62 * look.size - 0.3 * form.row_step, 0.62 * look.size + 0.75 * form.row_step
        ink: Ink = look.label_ink
        if form.header == "shade":
            paper.box(self.x0, top, self.x1 - self.x0, height, fill=look.shade(0.15))
        elif form.header == "dark":
            paper.box(self.x0, top, self.x1 - self.x0, height, fill=look.accent if look.coloured else 0.2)
            ink = 1.0
        if form.rows == "grid":
            self._frame(top, top + height, above=True)
        elif form.rows == "frame":
            paper.box(self.x0, top, self.x1 - self.x0, height, edge=0.4)
        runs = {}
        for column in form.columns:
            x, align = self._align(column)
            runs[column] = paper.text(x, y, self.headers[column], self.header_face, ink=ink, align=align)
        if form.header in ("rule", "double"):
            paper.rule(self.x0, top + height, self.x1, top + height, width=0.9, ink=look.accent_ink)
        if form.header == "double":
            paper.rule(self.x0, top, self.x1, top, width=0.9, ink=look.accent_ink)
        return runs, top + height + self._rise

    @property
    def _rise(self) -> float:
        """From the top of a row to its first baseline."""
        return 0.5 * self.form.row_step + 0.34 * self.look.size

    def _frame(self, top: float, bottom: float, *, above: bool = False) -> None:
        for x in self._verticals:
            self.paper.rule(x, top, x, bottom, width=0.5, ink=0.4)
        for rule in (top, bottom) if above else (bottom,):
            self.paper.rule(self.x0, rule, self.x1, rule, width=0.5, ink=0.4)

    def height(self, index: int) -> float:
        lines = self.look.body.wrap(self.cells[index][self.flexible].shown, self.wrap_width)
        return self.form.row_step + (len(lines) - 1) * 1.18 * self.look.size

    def row(self, index: int, y: float) -> tuple[dict[str, Mark], float]:
        """Draw one row: its marks by column, and the next baseline."""
        form, look, paper = self.form, self.look, self.paper
        height = self.height(index)
        top = y - self._rise
        if form.rows == "stripes" and index % 2 == 0:
            paper.box(self.x0, top, self.x1 - self.x0, height, fill=look.shade(0.07))
        marks: dict[str, Mark] = {}
        for column in form.columns:
            value = self.cells[index][column]
            if column == self.flexible:
                left = self.span[column][0]
                marks[column], _ = paper.paragraph(
                    left, y, value, look.body, self.wrap_width, 1.18 * look.size, ink=look.ink
                )
            elif value.shown:
                x, align = self._align(column)
                marks[column] = paper.value(x, y, value, look.body, ink=look.ink, align=align)
        if form.rows == "grid":
            self._frame(top, top + height)
        elif form.rows == "rules":
            paper.rule(self.x0, top + height, self.x1, top + height, width=0.4, ink=0.6)
        elif form.rows == "frame":
            for x in (self.x0, self.x1):
                paper.rule(x, top, x, top + height, width=0.7, ink=0.4)
            if index == len(self.cells) - 1:
                paper.rule(self.x0, top + height, self.x1, top + height, width=0.7, ink=0.4)
        return marks, y + height


def percent(random: Random, look: Look, rate: float) -> Value:
    decimals = 0 if rate == int(rate) else (1 if round(rate * 10) == rate * 10 else 2)
    space = " " if look.locale.words.language != "en" or random.random() < 0.1 else ""
    return figures.number(rate, look.locale, decimals).within("", f"{space}%")


def item_cells(random: Random, look: Look, form: TableForm, items: Sequence[Item]) -> list[dict[str, Value]]:
    """What the table of items holds; amounts carry their currency where the look says so."""
    rates = {item.rate: percent(random, look, item.rate) for item in items}
    cells = []
    for number, item in enumerate(items, 1):
        price, amount = look.money(item.unit_price), look.money(item.amount)
        if look.cell_signs:
            price, amount = look.signed(item.unit_price)[0], look.signed(item.amount)[0]
        quantity = item.quantity.within("", " " + item.unit.shown) if form.unit_in_quantity else item.quantity
        cells.append(
            {
                "position": figures.text(str(number)),
                "sku": item.sku,
                "description": item.description,
                "quantity": quantity,
                "unit": item.unit,
                "unit_price": price,
                "tax_rate": rates[item.rate],
                "amount": amount,
            }
        )
    return cells


ITEM_FIELDS = ("sku", "description", "quantity", "unit", "unit_price", "tax_rate", "amount")


def item_marks(row: dict[str, Mark], form: TableForm, item: Item) -> dict[str, Mark | None]:
    """A row's marks under the names of an item's fields, null where the table has no such column."""
    marks: dict[str, Mark | None] = {name: row.get(name) for name in ITEM_FIELDS}
    quantity = row.get("quantity")
    if form.unit_in_quantity and quantity is not None:
        run = quantity.pieces[0][1]
        marks["unit"] = Mark(item.unit, ((0, run, len(item.quantity.shown) + 1),))
    return marks
