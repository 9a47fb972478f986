"""The parts that documents are put together from: label and value pairs, the table of items, the totals.

Each takes the baseline of its first line and returns the baseline that the next line would have.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from training import values
from training.draft import NOT_PRINTED, DoesNotFit, Draft, Mark
from training.style import Style
from training.values import Printed, currency_sign

COLUMNS: tuple[str, ...] = ("description", "quantity", "unit_price", "amount")


@dataclass(frozen=True)
class Item:
    description: str
    quantity: int
    unit_price: int
    amount: int


@dataclass(frozen=True)
class Money:
    """What is bought and owed, in cents; None where the document does not say it."""

    items: tuple[Item, ...]
    subtotal: int | None
    tax: int | None
    total: int
    tax_label: str
    shipping: tuple[str, int] | None = None


def draw_money(random: Random, number: int, tax_label: str, *, shop: bool = False) -> Money:
    """Draw `number` items and their sums. Line amounts, subtotal, tax and total agree with each other."""
    items = []
    for _ in range(number):
        price = values.price_cents(random, 1.8, 3.8) if shop else values.price_cents(random)
        quantity = random.choice((1, 1, 1, 2, 2, 3, 4, 5, 6, 10)) if shop else values.quantity(random)
        text = values.grocery(random) if shop else values.description(random)
        items.append(Item(text, quantity, price, quantity * price))
    subtotal = sum(item.amount for item in items)
    rate = random.choice((5, 7, 8, 10, 19, 20, 21, 25))
    tax = (subtotal * rate + 50) // 100
    if random.random() < 0.45:
        tax_label = random.choice((f"{tax_label} {rate}%", f"{tax_label} ({rate}%)", f"{tax_label} {rate} %"))
    shown_subtotal: int | None = subtotal
    shown_tax: int | None = tax
    kind = random.random()
    if kind < 0.1:
        shown_tax, tax = None, 0
    elif kind < 0.17:
        shown_subtotal = None
    if shown_tax is None and random.random() < 0.6:
        shown_subtotal = None
    shipping = None
    if not shop and shown_subtotal is not None and random.random() < 0.08:
        shipping = (
            random.choice(("Shipping", "Delivery", "Postage", "Handling")),
            random.randint(4, 60) * 50,
        )
    total = subtotal + tax + (shipping[1] if shipping else 0)
    return Money(tuple(items), shown_subtotal, shown_tax, total, tax_label, shipping)


def pair(
    draft: Draft,
    style: Style,
    x0: float,
    x1: float,
    y: float,
    label: str,
    printed: Printed,
    *,
    value_x: float | None = None,
) -> tuple[Mark, float]:
    """One labelled value between x0 and x1 in the style's form; `value_x` is the values' common left end."""
    face, label_face = style.body, style.label_face
    text = label + style.colon
    form = style.pair_form
    if form == "stacked":
        run = draft.text(x0, y, text, label_face, grey=style.label_ink)
        mark = draft.value(x0, y + style.size * 1.25, printed, face, grey=style.ink)
        y += style.size * 1.25
    elif form == "right":
        run = draft.text(x0, y, text, label_face, grey=style.label_ink)
        mark = draft.value(x1, y, printed, face, grey=style.ink, align="right")
    else:
        if form == "inline" and not style.colon:
            text = label + ":"
        run = draft.text(x0, y, text, label_face, grey=style.label_ink)
        x = draft.right_end(run) + 0.3 * style.size + 1
        if form == "columns" and value_x is not None:
            x = max(x, value_x)
        mark = draft.value(x, y, printed, face, grey=style.ink)
    if max(draft.right_end(run), draft.right_end(mark.run)) > x1 + 0.1:
        raise DoesNotFit(printed.shown)
    return mark, y + style.step


def pairs(
    draft: Draft,
    style: Style,
    x0: float,
    x1: float,
    y: float,
    rows: Sequence[tuple[str, str, Printed]],
    gap: float = 8,
) -> tuple[dict[str, Mark], float]:
    """Rows of (field, label, value), one below the other."""
    value_x = x0 + max((style.label_face.width(label + style.colon) for _, label, _ in rows), default=0) + gap
    marks = {}
    for field, label, printed in rows:
        marks[field], y = pair(draft, style, x0, x1, y, label, printed, value_x=value_x)
    return marks, y


@dataclass
class TableForm:
    """The look of a table: columns in order (a "position" column counts the rows), alignment and rules."""

    columns: tuple[str, ...]
    numbers_right: bool
    header_rule: bool
    row_rules: bool
    header_shade: float | None
    stripes: float | None
    row_step: float
    spread: float
    grid: bool = False


def make_table_form(random: Random, style: Style, *, plain: bool = False) -> TableForm:
    columns = random.choice(
        (
            *(COLUMNS, COLUMNS, COLUMNS, COLUMNS),
            ("quantity", "description", "unit_price", "amount"),
            ("description", "unit_price", "quantity", "amount"),
        )
    )
    if random.random() < 0.08:
        missing = random.choice(("quantity", "unit_price"))
        columns = tuple(column for column in columns if column != missing)
    if random.random() < 0.12:
        columns = ("position", *columns)
    look = random.choice(("plain",) if plain else ("plain", "rule", "rule", "rules", "shade", "stripes", "grid"))
    return TableForm(
        columns=columns,
        numbers_right=random.random() < 0.8,
        header_rule=look in ("rule", "rules", "stripes"),
        row_rules=look == "rules",
        header_shade=random.uniform(0.8, 0.93) if look == "shade" else None,
        stripes=random.uniform(0.92, 0.97) if look == "stripes" else None,
        row_step=style.size * random.uniform(1.45, 1.9),
        spread=random.uniform(0.3, 1.0),
        grid=look == "grid",
    )


class Table:
    """The columns' places for given items, then header and rows drawn where the caller wants them."""

    def __init__(
        self, draft: Draft, style: Style, form: TableForm, items: Sequence[Item], x0: float, x1: float
    ) -> None:
        self.draft, self.style, self.form, self.x0, self.x1 = draft, style, form, x0, x1
        self.cells = [self._cells(number, item) for number, item in enumerate(items, 1)]
        body, strong = style.body, style.strong
        widths = [
            max(strong.width(style.labels[column]), *(body.width(row[column][0].shown) for row in self.cells))
            for column in form.columns
        ]
        pad = 3 if form.header_shade is not None or form.stripes is not None or form.grid else 1
        left = x1 - x0 - 2 * pad - sum(widths)
        least = 0.8 * style.size
        gaps = len(widths) - 1
        if left < least * gaps:
            raise DoesNotFit("table")
        # The description takes what the gaps leave, as it does in real tables.
        gap = least + (left / gaps - least) * (1 - form.spread)
        self.span: dict[str, tuple[float, float]] = {}
        x = x0 + pad
        for column, width in zip(form.columns, widths, strict=True):
            if column == "description":
                width += left - gap * gaps
            self.span[column] = (x, x + width)
            x += width + gap
        ends = list(self.span.values())
        self._verticals = [x0, *((a[1] + b[0]) / 2 for a, b in itertools.pairwise(ends)), x1]

    def _cells(self, number: int, item: Item) -> dict[str, tuple[Printed, str, int]]:
        style = self.style
        amounts = style.signed if style.cell_signs else lambda cents: (style.money(cents), "", 0)
        return {
            "position": (values.count(number), "", 0),
            "description": (values.verbatim(item.description), "", 0),
            "quantity": (values.count(item.quantity), "", 0),
            "unit_price": amounts(item.unit_price),
            "amount": amounts(item.amount),
        }

    def _align(self, column: str) -> tuple[float, str]:
        left, right = self.span[column]
        if column in ("quantity", "unit_price", "amount") and self.form.numbers_right:
            return right, "right"
        return left, "left"

    def header(self, y: float) -> float:
        form, style, draft = self.form, self.style, self.draft
        if form.header_shade is not None:
            draft.rectangle(self.x0, y - style.size, self.x1 - self.x0, style.size * 1.4, grey=form.header_shade)
        if form.grid:
            self._frame(y, above=True)
        for column in form.columns:
            x, align = self._align(column)
            draft.text(x, y, style.labels[column], style.strong, grey=style.label_ink, align=align)
        if form.header_rule:
            draft.line(self.x0, y + 0.4 * style.size, self.x1, y + 0.4 * style.size, width=0.8, grey=0.2)
        return y + form.row_step

    def _frame(self, y: float, *, above: bool = False) -> None:
        """Box the cells of the row whose baseline is y."""
        top = y - 0.5 * self.form.row_step - 0.34 * self.style.size
        bottom = top + self.form.row_step
        for x in self._verticals:
            self.draft.line(x, top, x, bottom, width=0.5, grey=0.4)
        for rule in (top, bottom) if above else (bottom,):
            self.draft.line(self.x0, rule, self.x1, rule, width=0.5, grey=0.4)

    def row(self, index: int, y: float) -> tuple[dict[str, Mark], float, Mark]:
        """Draw one row: its marks by field, the next baseline, and the currency as the amount shows it."""
        form, style, draft = self.form, self.style, self.draft
        if form.stripes is not None and index % 2 == 0:
            top = y - 0.5 * form.row_step - 0.34 * style.size
            draft.rectangle(self.x0, top, self.x1 - self.x0, form.row_step, grey=form.stripes)
        marks = dict.fromkeys(COLUMNS, NOT_PRINTED)
        currency = NOT_PRINTED
        for column in form.columns:
            x, align = self._align(column)
            printed, sign, offset = self.cells[index][column]
            mark = draft.value(x, y, printed, style.body, grey=style.ink, align=align)
            if column in marks:
                marks[column] = mark
            if sign:
                currency = Mark(currency_sign(style.currency, sign), mark.run, offset)
        if form.grid:
            self._frame(y)
        if form.row_rules:
            rule = y + 0.5 * form.row_step - 0.34 * style.size
            draft.line(self.x0, rule, self.x1, rule, width=0.4, grey=0.6)
        return marks, y + form.row_step, currency


def table(
    draft: Draft, style: Style, form: TableForm, items: Sequence[Item], x0: float, x1: float, y: float
) -> tuple[list[dict[str, Mark]], float, Mark]:
    """Header and all rows; also the currency as the last row shows it."""
    drawn = Table(draft, style, form, items, x0, x1)
    y = drawn.header(y)
    rows, currency = [], NOT_PRINTED
    for index in range(len(items)):
        marks, y, currency = drawn.row(index, y)
        rows.append(marks)
    return rows, y, currency


def totals(
    random: Random, draft: Draft, style: Style, money: Money, x0: float, x1: float, y: float
) -> tuple[dict[str, Mark], float]:
    """Subtotal, tax and total between x0 and x1, amounts right-aligned at x1 or in a column of their own.

    The marks hold the currency too where the total shows it.
    """
    rows: list[tuple[str, str, int]] = []
    if money.subtotal is not None:
        rows.append(("subtotal", style.labels["subtotal"], money.subtotal))
    if money.tax is not None:
        rows.append(("tax", money.tax_label, money.tax))
    if money.shipping is not None:
        rows.insert(random.choice((1, len(rows))), ("shipping", *money.shipping))
    rows.append(("total", style.labels["total"], money.total))
    marks: dict[str, Any] = {"subtotal": NOT_PRINTED, "tax": NOT_PRINTED, "currency": NOT_PRINTED}
    right = random.random() < 0.8
    colon = random.choice((style.colon, ""))
    strong_total = random.random() < 0.7
    sign_everywhere = random.random() < 0.6
    shade = random.uniform(0.82, 0.94) if random.random() < 0.2 else None
    column = x0 + max(style.strong.width(label + colon) for _, label, _ in rows) + random.uniform(6, 20)
    for field, label, cents in rows:
        emphatic = field == "total"
        face = style.strong if emphatic and strong_total else style.body
        if emphatic and shade is not None:
            y += 0.15 * style.size
            draft.rectangle(x0 - 3, y - 1.05 * style.size, x1 - x0 + 6, 1.45 * style.size, grey=shade)
        elif emphatic and len(rows) > 1 and random.random() < 0.5:
            draft.line(x0, y - 1.05 * style.size, x1, y - 1.05 * style.size, width=0.6, grey=0.3)
            y += 0.25 * style.size
        printed, sign, offset = style.signed(cents)
        if not emphatic and not sign_everywhere:
            printed, sign = style.money(cents), ""
        draft.text(x0, y, label + colon, face, grey=style.ink)
        if right:
            mark = draft.value(x1, y, printed, face, grey=style.ink, align="right")
        else:
            mark = draft.value(column, y, printed, face, grey=style.ink)
            if draft.right_end(mark.run) > x1:
                raise DoesNotFit("totals")
        if field != "shipping":
            marks[field] = mark
        if sign:
            marks["currency"] = Mark(currency_sign(style.currency, sign), mark.run, offset)
        y += style.step
    return marks, y
