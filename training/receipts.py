"""Receipts: narrow slips with a shop's name, lines in several forms, totals and how it was paid."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from training import values
from training.blocks import COLUMNS, Item, TableForm, draw_money, pair, table, totals
from training.draft import NOT_PRINTED, DoesNotFit, Draft, Face, Mark
from training.leaf import Document
from training.style import Style, make_style
from training.values import Printed, count, currency_sign, verbatim

# 288 x 384, 512 or 640 pixels at 96 dots per inch: whole 32-pixel cells.
WIDTH = 216.0
HEIGHTS = (288.0, 384.0, 480.0)
MARGIN = 9.0
FIELDS = (
    "vendor",
    "date",
    "receipt_number",
    "currency",
    "line_items",
    "subtotal",
    "tax",
    "total",
    "payment_method",
)
LINE_FORMS = ("two_lines", "two_lines", "one_line", "counted", "counted_price", "columns", "amount_only")
CLOSINGS = ("Thank you!", "Thank you", "THANK YOU", "Please come again", "See you soon", "Have a nice day")


def lines(
    random: Random,
    draft: Draft,
    style: Style,
    form: str,
    items: tuple[Item, ...],
    x0: float,
    x1: float,
    y: float,
) -> tuple[list[dict[str, Mark]], float, Mark]:
    """The items in one of LINE_FORMS: marks, the next baseline, the currency as the last line shows it."""
    if form == "columns":
        columns = random.choice((("quantity", "description", "amount"), ("description", "quantity", "amount"), COLUMNS))
        spacing = style.size * random.uniform(1.4, 1.6)
        rule = random.random() < 0.6
        look = TableForm(columns, True, rule, False, None, None, spacing, random.uniform(0.5, 1))
        return table(draft, style, look, items, x0, x1, y)
    times = random.choice((" x ", " x ", " @ ", "x "))
    indent = random.choice((0, 8, 14))
    rows, currency = [], NOT_PRINTED
    for item in items:
        marks, y, currency = _line(draft, style, form, item, x0, x1, y, times, indent)
        rows.append(marks)
    return rows, y, currency


def _line(
    draft: Draft,
    style: Style,
    form: str,
    item: Item,
    x0: float,
    x1: float,
    y: float,
    times: str,
    indent: float,
) -> tuple[dict[str, Mark], float, Mark]:
    face, ink = style.body, style.ink
    description, price = verbatim(item.description), style.money(item.unit_price)
    amount, sign, at = style.signed(item.amount) if style.cell_signs else (style.money(item.amount), "", 0)
    marks = dict.fromkeys(COLUMNS, NOT_PRINTED)

    def multiplied(x: float, baseline: float) -> None:
        number = count(item.quantity)
        run = draft.text(x, baseline, number.shown + times + price.shown, face, grey=ink)
        marks["quantity"] = Mark(number, run)
        marks["unit_price"] = Mark(price, run, len(number.shown) + len(times))

    if form == "two_lines":
        marks["description"] = draft.value(x0, y, description, face, grey=ink)
        y += style.size * 1.3
        multiplied(x0 + indent, y)
    elif form == "one_line":
        marks["description"] = draft.value(x0, y, description, face, grey=ink)
        multiplied(draft.right_end(marks["description"].run) + 0.8 * style.size, y)
    elif form == "amount_only":
        marks["description"] = draft.value(x0, y, description, face, grey=ink)
    else:
        number = count(item.quantity)
        after = " x" if times == " x " else ("x" if times == "x " else "")
        marks["quantity"] = draft.value(x0, y, number.within("", after), face, grey=ink)
        left = x0 + face.width("100" + after) + 0.4 * style.size
        if draft.right_end(marks["quantity"].run) > left - 2:
            raise DoesNotFit("quantity")
        marks["description"] = draft.value(left, y, description, face, grey=ink)
        if form == "counted_price":
            y += style.size * 1.3
            marks["unit_price"] = draft.value(
                left, y, price.within("@ " if times == " @ " else "each "), face, grey=ink
            )
    mark = draft.value(x1, y, amount, face, grey=ink, align="right")
    marks["amount"] = mark
    currency = Mark(currency_sign(style.currency, sign), mark.run, at) if sign else NOT_PRINTED
    return marks, y + style.step, currency


def _payment(
    random: Random, draft: Draft, style: Style, total: int, x0: float, x1: float, y: float
) -> tuple[Mark, float]:
    """How it was paid: labelled, or as the label of what was given, with the change below if it was cash."""
    method = verbatim(random.choice(values.PAYMENT_METHODS))
    if random.random() < 0.5:
        form = random.choice(("inline", "right"))
        return pair(draft, replace(style, pair_form=form), x0, x1, y, style.labels["payment_method"], method)
    cash = method.text.lower() == "cash"
    given = -(-total // 500) * 500 if cash else total
    mark = draft.value(x0, y, method, style.body, grey=style.ink)
    draft.text(x1, y, style.money(given).shown, style.body, grey=style.ink, align="right")
    y += style.step
    if cash:
        draft.text(x0, y, "Change", style.body, grey=style.ink)
        draft.text(x1, y, style.money(given - total).shown, style.body, grey=style.ink, align="right")
        y += style.step
    return mark, y


def _heading(
    random: Random, draft: Draft, style: Style, vendor: Printed, align: str, x: float, y: float
) -> tuple[Mark, float]:
    face = style.heading
    while face.width(vendor.shown) > WIDTH - 2 * MARGIN - 4:
        if face.size <= style.size:
            raise DoesNotFit(vendor.shown)
        face = Face(face.font, face.size - 1)
    mark = draft.value(x, y, vendor, face, grey=style.ink, align=align)
    y += max(face.size, style.size) * 1.3
    for line in [values.street(random), values.town(random), f"Tel. 555-{values.digits(random, 4)}"][
        : random.choice((0, 0, 1, 2, 3))
    ]:
        draft.text(x, y, line, style.small, grey=style.ink, align=align)
        y += style.small.size * 1.3
    return mark, y + random.uniform(2, 8)


def _facts(
    random: Random, draft: Draft, style: Style, form: str, x0: float, x1: float, y: float
) -> tuple[dict[str, Mark], float]:
    """Date, number and what else a till prints about the sale."""
    day = style.day(random)
    if random.random() < 0.4:
        day = day.within("", f" {random.randint(8, 21)}:{random.randint(0, 59):02d}")
    labelled = random.random() < 0.75
    rows: list[tuple[str, str, Printed]] = [("date", style.labels["date"], day)]
    if random.random() < 0.82:
        number = values.document_number(random, ("R", "T", "B", "RC", "TX"))
        rows.append(("receipt_number", style.labels["receipt_number"], verbatim(number)))
    if random.random() < 0.2:
        rows.append(("till", random.choice(("Till", "Terminal", "Table", "Store")), count(random.randint(1, 40))))
    if style.currency_form == "line":
        rows.append(("currency", style.labels["currency"], verbatim(style.currency)))
    random.shuffle(rows)
    marks: dict[str, Mark] = {}
    for field, label, printed in rows:
        if field == "date" and not labelled:
            marks[field] = draft.value(x0, y, printed, style.body, grey=style.ink)
            y += style.step
        else:
            marks[field], y = pair(draft, replace(style, pair_form=form), x0, x1, y, label, printed, value_x=x0 + 62)
    return marks, y


LAYOUTS = {
    # layout: alignment of the heading, form of the labelled facts, whether the facts stand below the items
    "till": ("centre", "right", False),
    "slip": ("left", "inline", False),
    "ticket": ("centre", "inline", False),
    "facts_last": ("centre", "columns", True),
}


def draft_receipt(random: Random) -> Document:
    """One receipt. Raises DoesNotFit where the lot drawn does not fit."""
    style = make_style(random, receipt=True, largest=11)
    layout = random.choice(tuple(LAYOUTS))
    align, facts_form, facts_last = LAYOUTS[layout]
    draft = Draft(WIDTH, margin=MARGIN)
    x0, x1 = MARGIN + random.uniform(0, 6), WIDTH - MARGIN - random.uniform(0, 6)
    y = MARGIN + 12 + random.uniform(0, 8)
    marks: dict[str, Any] = {}
    x = WIDTH / 2 if align == "centre" else x0
    marks["vendor"], y = _heading(random, draft, style, verbatim(values.shop(random)), align, x, y)
    if random.random() < 0.25:
        draft.text(
            x,
            y,
            random.choice(("RECEIPT", "Receipt", "Sales receipt", "CASH SALE")),
            style.strong,
            align=align,
        )
        y += style.step
    if not facts_last:
        found, y = _facts(random, draft, style, facts_form, x0, x1, y)
        marks |= found
        y += random.uniform(2, 8)
    money = draw_money(random, random.choice((1, 2, 2, 3, 3, 4)), style.labels["tax"], shop=True)
    dashed = random.random() < 0.5

    def rule(at: float) -> float:
        if dashed:
            dash = style.body.width("-")
            text = "-" * int((x1 - x0) / dash)
            draft.text(x0, at, text, style.body, grey=style.ink)
            return at + style.step
        draft.line(x0, at - style.size * 0.6, x1, at - style.size * 0.6, width=0.6, grey=0.2)
        return at + style.size * 0.5

    y = rule(y)
    form = random.choice(LINE_FORMS)
    marks["line_items"], y, cell_currency = lines(random, draft, style, form, money.items, x0, x1, y)
    y = rule(y)
    found, y = totals(random, draft, style, money, x0, x1, y)
    currencies = [
        mark for mark in (marks.get("currency"), found.pop("currency"), cell_currency) if mark and mark.run >= 0
    ]
    marks |= found
    if random.random() < 0.84:
        marks["payment_method"], y = _payment(random, draft, style, money.total, x0, x1, y + random.uniform(0, 5))
    if facts_last:
        found, y = _facts(random, draft, style, facts_form, x0, x1, y + random.uniform(2, 8))
        marks |= found
        currencies = [mark for mark in (found.get("currency"), *currencies) if mark]
    marks["currency"] = currencies[0] if currencies else NOT_PRINTED
    if random.random() < 0.4:
        draft.text(WIDTH / 2, y + random.uniform(4, 10), random.choice(CLOSINGS), style.body, align="centre")
    heights = [height for height in HEIGHTS if height >= draft.bottom + MARGIN]
    if not heights:
        raise DoesNotFit("page height")
    sheet, drawn = draft.draw(heights[0], paper=style.paper)
    truth = draft.leaves({field: marks.get(field, NOT_PRINTED) for field in FIELDS}, drawn)
    return Document("receipt", layout, style.font, style.size, sheet, truth, "receipt")
