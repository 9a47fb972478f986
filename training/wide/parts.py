"""The parts that wide documents are put together from: labelled values, addresses, tables, totals, logos, stamps.

Each takes the baseline of its first line and returns the baseline that the next line would have. What is printed is
marked; what no part marks is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from training.draft import DoesNotFit
from training.wide import figures
from training.wide.content import Facts, Item, Party, Sums, Tax
from training.wide.figures import Value
from training.wide.look import Look
from training.wide.paper import Face, Ink, Mark, Paper

Marks = dict[str, Any]
Row = tuple[str, str, Value]


def pair(
    paper: Paper,
    look: Look,
    x0: float,
    x1: float,
    y: float,
    label: str,
    value: Value,
    *,
    form: str,
    value_x: float | None = None,
    face: Face | None = None,
) -> tuple[Mark, float]:
    """One labelled value between x0 and x1: "inline", "columns" (values begin at value_x), "right" or "stacked"."""
    face = face or look.body
    label_face = look.label_face
    if form == "stacked":
        run = paper.text(x0, y, label, label_face, ink=look.label_ink)
        y += face.size * 1.2
        mark = paper.value(x0, y, value, face, ink=look.ink)
    elif form == "right":
        run = paper.text(x0, y, label + look.colon, label_face, ink=look.label_ink)
        mark = paper.value(x1, y, value, face, ink=look.ink, align="right")
    else:
        colon = look.colon or (":" if form == "inline" else "")
        run = paper.text(x0, y, label + colon, label_face, ink=look.label_ink)
        x = paper.right_end(run) + 0.35 * look.size + 1
        if form == "columns" and value_x is not None:
            x = max(x, value_x)
        mark = paper.value(x, y, value, face, ink=look.ink)
    if max(paper.right_end(run), paper.right_end(mark.pieces[0][1])) > x1 + 0.1:
        raise DoesNotFit(value.shown)
    return mark, y + look.step


def pairs(
    paper: Paper, look: Look, x0: float, x1: float, y: float, rows: Sequence[Row], *, form: str, gap: float = 8
) -> tuple[Marks, float]:
    """Rows of (field, label, value), one below the other."""
    value_x = x0 + max((look.label_face.width(label + look.colon) for _, label, _ in rows), default=0) + gap
    marks: Marks = {}
    for field, label, value in rows:
        mark, y = pair(paper, look, x0, x1, y, label, value, form=form, value_x=value_x)
        marks.setdefault(field, mark)
    return marks, y


def strip(
    paper: Paper, look: Look, x0: float, x1: float, y: float, rows: Sequence[Row], *, spread: float, align: str = "left"
) -> tuple[Marks, float]:
    """Labelled values side by side, each label above its value; spread 0-1 says how much of the width they take."""
    widths = [max(look.label_face.width(label), look.body.width(value.shown)) for _, label, value in rows]
    gap = (x1 - x0 - sum(widths)) / max(len(rows) - 1, 1)
    if gap < look.size:
        raise DoesNotFit("strip")
    gap = look.size + (gap - look.size) * spread
    marks: Marks = {}
    below = look.size * 1.3
    for (field, label, value), width in zip(rows, widths, strict=True):
        at = x0 if align == "left" else x0 + width / 2
        paper.text(at, y, label, look.label_face, ink=look.label_ink, align=align)
        marks[field] = paper.value(at, y + below, value, look.body, ink=look.ink, align=align)
        x0 += width + gap
    return marks, y + below + look.step


def address(
    paper: Paper,
    look: Look,
    x: float,
    y: float,
    party: Party,
    *,
    face: Face,
    name_ink: Ink | None = None,
    align: str = "left",
    width: float | None = None,
    lines: int = 2,
    small: Face | None = None,
) -> tuple[Mark, Mark | None, float]:
    """A party's name in `face` and `lines` lines of its address below: marks of both, and the next baseline.

    Two lines of address count as one value, "street, town".
    """
    ink = look.ink if name_ink is None else name_ink
    small = small or look.body
    if width is not None and face.width(party.name.shown) > width and align == "left":
        name, y = paper.paragraph(x, y, party.name, face, width, face.size * 1.15, ink=ink)
    else:
        if width is not None and face.width(party.name.shown) > width:
            raise DoesNotFit(party.name.shown)
        name = paper.value(x, y, party.name, face, ink=ink, align=align)
    y += max(face.size * 0.45 + small.size * 0.85, small.size * 1.25)
    where = None
    if lines == 2:
        first = paper.text(x, y, party.street, small, ink=look.ink, align=align)
        y += small.size * 1.25
        second = paper.text(x, y, party.town, small, ink=look.ink, align=align)
        whole = figures.text(f"{party.street}, {party.town}")
        where = Mark(whole, ((0, first, 0), (len(party.street) + 2, second, 0)))
        y += small.size * 1.25
    elif lines == 1:
        where = paper.value(x, y, figures.text(f"{party.street}, {party.town}"), small, ink=look.ink, align=align)
        y += small.size * 1.25
    return name, where, y


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


def sign_mark(look: Look, cents: int, mark: Mark) -> Mark | None:
    """The currency as the amount marked shows it."""
    _, sign = look.signed(cents)
    if sign is None:
        return None
    return Mark(look.currency_value(sign[0]), ((0, mark.pieces[0][1], sign[1]),))


def _tax_label(random: Random, look: Look, tax: Tax, form: str) -> tuple[str, Value | None]:
    """A tax line's label, and the rate that it names, placed in it."""
    name = look.label("tax")
    if form == "plain":
        return name, None
    rate = percent(random, look, tax.rate)
    if form == "before":
        value = rate.within("", f" {name}")
    elif form == "brackets":
        value = rate.within(f"{name} (", ")")
    elif form == "base":
        wording = look.locale.words.labels["tax_on"][0].replace("#", look.money(tax.base).shown)
        value = figures.inside(f"{name} {wording}", rate, "*")
    else:
        value = rate.within(f"{name} ")
    return value.shown, value


@dataclass
class TotalsForm:
    right: bool
    emphasis: str  # "plain", "strong", "shade", "dark", "rule" or "large"
    signs: str  # "all", "total" or "none"
    labels_right: bool
    tax_form: str
    total_label_money: str


def draw_totals_form(random: Random, look: Look) -> TotalsForm:
    money = ""
    if look.money_form == "#" and random.random() < 0.3:
        sign = random.choice((look.currency, look.sign or look.currency))
        money = random.choice((f" {sign}", f" ({sign})", f" in {sign}"))
    return TotalsForm(
        right=random.random() < 0.85,
        emphasis=random.choice(("plain", "strong", "strong", "strong", "shade", "dark", "rule", "large")),
        signs=random.choice(("all", "all", "total")),
        labels_right=random.random() < 0.2,
        tax_form=random.choice(("plain", "rate", "rate", "brackets", "before", "base")),
        total_label_money=money,
    )


def totals(
    random: Random,
    paper: Paper,
    look: Look,
    sums: Sums,
    x0: float,
    x1: float,
    y: float,
    *,
    retail: bool = False,
    form: TotalsForm | None = None,
    only_total: bool = False,
) -> tuple[Marks, float]:
    """Subtotal, discount, shipping, taxes and total between x0 and x1; the marks hold the currency where it shows."""
    form = form or draw_totals_form(random, look)
    tax_form = form.tax_form
    if len(sums.taxes) > 1 and tax_form == "plain":
        tax_form = "rate"
    rows: list[tuple[str, str, int, Value | None]] = []
    complete = random.random() < 0.9
    if not only_total:
        if complete and (not retail or random.random() < 0.5) and not (sums.tax_included and len(sums.taxes) > 1):
            # Tax that the prices hold is taken off for the subtotal.
            net = sums.subtotal - (sums.taxes[0].amount if sums.tax_included and sums.taxes else 0)
            rows.append(("subtotal", look.label("subtotal"), net, None))
        if sums.discount:
            rows.append(("discount", look.label("discount"), sums.discount, None))
        if sums.shipping:
            rows.append(("shipping", look.label("shipping"), sums.shipping, None))
        show_tax = bool(sums.taxes) and (not retail or random.random() < 0.85)
        if show_tax:
            for tax in sums.taxes:
                label, rate = _tax_label(random, look, tax, tax_form)
                rows.append(("tax", label, tax.amount, rate))
            if len(sums.taxes) > 1 and random.random() < 0.6:
                rows.append(("tax_total", look.label("tax_total"), sum(tax.amount for tax in sums.taxes), None))
    total_label = look.label("receipt_total" if retail else "total") + form.total_label_money
    total_row: tuple[str, str, int, Value | None] = ("total", total_label, sums.total, None)
    if sums.tax_included and random.random() < 0.5:
        rows = [row for row in rows if row[0] == "subtotal"] + [total_row] + [r for r in rows if r[0] != "subtotal"]
    else:
        rows.append(total_row)

    marks: Marks = {"taxes": []}
    colon = random.choice((look.colon, ""))
    wide = max(look.strong.width(label + colon) for _, label, _, _ in rows)
    column = x0 + wide + random.uniform(0.8, 2.5) * look.size
    for field, label, cents, rate in rows:
        emphatic = field == "total"
        face, ink = look.body, look.ink
        if emphatic:
            y += 0.25 * look.size
            if form.emphasis != "plain":
                face = look.strong
            if form.emphasis == "large":
                face = Face(face.font, look.size * 1.35)
                y += 0.35 * look.size
            pad = 0.4 * look.size
            if form.emphasis in ("shade", "dark"):
                y += 0.3 * look.size
                fill: Ink = look.shade(0.18) if form.emphasis == "shade" else (look.accent if look.coloured else 0.2)
                paper.box(x0 - pad, y - 1.15 * look.size, x1 - x0 + 2 * pad, 1.7 * look.size, fill=fill)
                ink = look.ink if form.emphasis == "shade" else 1.0
            elif form.emphasis == "rule":
                paper.rule(x0, y - 1.1 * face.size, x1, y - 1.1 * face.size, width=0.8, ink=look.accent_ink)
        printed = look.signed(cents)[0] if form.signs == "all" or emphatic else look.money(cents)
        signed = form.signs == "all" or emphatic
        if field == "discount":
            printed = printed.within("-") if look.minus != "after" else printed
        if form.right:
            label_x, align = (x1 - (column - x0), "right") if form.labels_right else (x0, "left")
            if form.labels_right:
                label_x = x1 - max(look.strong.width(look.signed(row[2])[0].shown) * 1.4 for row in rows) - look.size
            run = paper.text(label_x, y, label + colon, face, ink=ink, align=align)
            mark = paper.value(x1, y, printed, face, ink=ink, align="right")
        else:
            run = paper.text(x0, y, label + colon, face, ink=ink)
            mark = paper.value(max(column, paper.right_end(run) + 4), y, printed, face, ink=ink)
            if paper.right_end(mark.pieces[0][1]) > x1:
                raise DoesNotFit("totals")
        if field == "tax":
            rate_mark = Mark(rate, ((0, run, 0),)) if rate is not None else None
            marks["taxes"].append({"rate": rate_mark, "amount": mark})
            if len(sums.taxes) == 1:
                marks |= {"tax": mark, "tax_rate": rate_mark}
        elif field == "tax_total":
            marks["tax"] = mark
        else:
            marks[field] = mark
        if signed and field != "discount":
            found = sign_mark(look, cents, mark)
            if found is not None:
                marks["currency"] = found
        if emphatic and form.total_label_money:
            sign = form.total_label_money.strip(" ()").removeprefix("in ")
            marks["currency"] = Mark(look.currency_value(sign), ((0, run, (label + colon).rindex(sign)),))
        y += look.step * (1.15 if emphatic else 1)
    return marks, y


def logo(random: Random, paper: Paper, look: Look, x: float, y: float, size: float, initial: str) -> None:
    """A made-up mark in a square whose top left corner is (x, y); some hold the company's initial."""
    paper.reserve(x, y, x + size, y + size)
    ink: Ink = look.accent if look.coloured else random.uniform(0.15, 0.6)
    kind = random.randrange(6)
    if kind == 0:
        paper.shape([(x, y), (x + size, y + size)], ink)
    elif kind == 1:
        paper.shape([(x + size / 2, y), (x + size, y + size), (x, y + size)], ink)
    elif kind == 2:
        for index in range(3):
            left = x + index * size / 3
            paper.shape(
                [(left, y + size), (left + size / 4, y + size), (left + size / 2, y), (left + size / 4, y)], ink
            )
        return
    elif kind == 3:
        paper.shape([(x, y), (x + size, y + size)], ink)
        paper.shape([(x + size * 0.25, y + size * 0.25), (x + size * 0.75, y + size * 0.75)], 1.0)
        return
    elif kind == 4:
        half = size / 2
        paper.shape([(x + half, y), (x + size, y + half), (x + half, y + size), (x, y + half)], ink)
    else:
        paper.box(x, y, size, size, fill=ink, radius=size * 0.2)
    if kind in (0, 4, 5) and size > 22:
        face = Face(look.heading.font, size * 0.42)
        width = face.width(initial)
        paper.slanted(x + size / 2 - width / 2, y + size / 2 + 0.34 * face.size, initial, face, 0.0, 1.0)


def stamp(random: Random, paper: Paper, look: Look, top: float, bottom: float) -> None:
    """A slanted stamp in free space between two heights, if there is any."""
    words = look.locale.label(random, "paid_stamp")
    face = Face(look.strong.font, random.uniform(12, 20))
    angle = random.uniform(4, 16) * random.choice((1, -1))
    width = face.width(words) + 8
    high = width * abs(angle) / 57.3 + face.size * 1.4
    for _ in range(8):
        x = random.uniform(paper.margin, paper.width - paper.margin - width)
        y = random.uniform(top, max(top, bottom - high))
        if y + high < bottom and paper.free(x, y, x + width, y + high):
            paper.reserve(x, y, x + width, y + high)
            baseline = y + high - face.size * 0.3 if angle > 0 else y + face.size
            ink: Ink = random.choice(((0.7, 0.1, 0.1), (0.1, 0.2, 0.6), 0.45))
            paper.slanted(x + 4, baseline, words, face, angle, ink)
            return


def note(
    random: Random, paper: Paper, look: Look, x: float, y: float, words: str, *, align: str = "left", width: float
) -> float:
    """A sentence in small print, wrapped."""
    for _, line in look.note.wrap(words, width):
        paper.text(x, y, line, look.note, ink=look.ink, align=align)
        y += look.note.size * 1.25
    return y


def contact_rows(random: Random, facts: Facts) -> list[Row]:
    """What a letterhead or a footer says besides the address: some of tax number, phone, mail and bank."""
    label = facts.look.label
    rows: list[Row] = [
        ("vendor_tax_id", label("tax_id"), facts.tax_id),
        ("vendor_phone", label("phone"), facts.phone),
        ("vendor_email", label("email"), facts.email),
        ("bic", label("bic"), facts.bic),
    ]
    if facts.iban is not None:
        rows.append(("iban", label("iban"), facts.iban))
    return [row for row in rows if random.random() < 0.5]
