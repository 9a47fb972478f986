"""Invoices: a head, the table of items and the totals, on one page or run over to a second."""

from __future__ import annotations

from random import Random
from typing import Any

from training import values
from training.blocks import Money, Table, draw_money, make_table_form, table, totals
from training.draft import MARGIN, NOT_PRINTED, DoesNotFit, Draft, Mark
from training.heads import HEADS, WIDTH, make_content
from training.leaf import Document
from training.style import Style, make_style
from training.values import verbatim

# 416, 608 or 800 pixels at 96 dots per inch: whole cells of the model.
HEIGHTS = (312.0, 456.0, 600.0)
FIELDS = (
    *("vendor", "customer", "invoice_number", "date", "due_date", "currency"),
    *("line_items", "subtotal", "tax", "total"),
)
CLOSINGS = (
    "Thank you for your business.",
    "Thank you!",
    "Payment within 30 days.",
    "Goods remain ours until paid.",
    "Please quote the invoice number.",
    "E. & O. E.",
    "Terms: 14 days net.",
    "Page 1 of 1",
)


def _close(random: Random, draft: Draft, style: Style, money: Money, y: float) -> dict[str, Mark]:
    """Totals at the right or left, and the currency's line if that is how this invoice states it."""
    width = WIDTH * random.uniform(0.36, 0.5)
    if random.random() < 0.75:
        x1 = WIDTH - MARGIN - random.uniform(2, 10)
        x0 = x1 - width
    else:
        x0 = MARGIN + random.uniform(0, 10)
        x1 = x0 + width
    marks, y = totals(random, draft, style, money, x0, x1, y)
    return marks


def _finish(draft: Draft, style: Style, marks: dict[str, Any], *, kind: str, layout: str, height: float) -> Document:
    sheet, drawn = draft.draw(height, paper=style.paper)
    truth = draft.leaves({field: marks.get(field, NOT_PRINTED) for field in FIELDS}, drawn)
    return Document(kind, layout, style.font, style.size, sheet, truth, "invoice")


def _currency_line(random: Random, draft: Draft, style: Style, marks: dict[str, Any], y: float) -> float:
    """The currency in a line of its own where neither the head nor the totals have shown it."""
    if style.currency_form != "line" or "currency" in marks:
        return y
    x0 = MARGIN + random.uniform(0, 8)
    if random.random() < 0.6:
        label = style.labels["currency"] + ":"
    else:
        label = random.choice(("All amounts in", "All prices in", "Amounts in"))
    run = draft.text(x0, y, label, style.body, grey=style.label_ink)
    marks["currency"] = draft.value(
        draft.right_end(run) + 0.3 * style.size + 1, y, verbatim(style.currency), style.body, grey=style.ink
    )
    return y + style.step


def draft_invoice(random: Random) -> Document:
    """One invoice on one page. Raises DoesNotFit where the lot drawn does not fit."""
    style = make_style(random)
    content = make_content(random, style)
    layout = random.choice(tuple(HEADS))
    money = draw_money(random, random.choice((1, 1, 2, 2, 3, 3, 4, 5)), style.labels["tax"])
    draft = Draft(WIDTH)
    top = MARGIN + 12 + random.uniform(0, 10) + random.choice((0, 0, random.uniform(0, 40)))
    head, y = HEADS[layout](random, draft, style, content, top)
    marks: dict[str, Any] = dict(head)
    currency_first = random.random() < 0.5
    y += random.uniform(4, 18) + random.choice((0, 0, 0, random.uniform(0, 40)))
    if currency_first:
        y = _currency_line(random, draft, style, marks, y)
    form = make_table_form(random, style)
    x0, x1 = MARGIN + random.uniform(0, 6), WIDTH - MARGIN - random.uniform(0, 6)
    marks["line_items"], y, cell_currency = table(draft, style, form, money.items, x0, x1, y)
    y += random.uniform(4, 16)
    y = _currency_line(random, draft, style, marks, y)
    found = _close(random, draft, style, money, y)
    _settle_currency(marks, found, cell_currency)
    height = _fit(random, draft.bottom)
    if random.random() < 0.35:
        _closing_line(random, draft, style, height)
    return _finish(draft, style, marks, kind="invoice", layout=layout, height=height)


def _settle_currency(marks: dict[str, Any], found: dict[str, Mark], cell: Mark) -> None:
    """Take over the totals' marks; the currency is read from its own line, the total or the last row."""
    currencies = [mark for mark in (marks.get("currency"), found.pop("currency"), cell) if mark and mark.run >= 0]
    marks |= found
    marks["currency"] = currencies[0] if currencies else NOT_PRINTED


def _fit(random: Random, bottom: float) -> float:
    heights = [height for height in HEIGHTS if height >= bottom + MARGIN]
    if not heights:
        raise DoesNotFit("page height")
    return heights[1] if len(heights) > 1 and random.random() < 0.12 else heights[0]


def _closing_line(random: Random, draft: Draft, style: Style, height: float) -> None:
    y = height - MARGIN - 3
    if y - 2.5 * style.size < draft.bottom:
        return
    x, align = random.choice(((WIDTH / 2, "centre"), (MARGIN + 4, "left")))
    if random.random() < 0.3:
        account = f"{values.letters(random, 2)}{values.digits(random, 2)} " + " ".join(
            values.digits(random, 4) for _ in range(3)
        )
        draft.text(x, y - style.small.size * 1.3, f"Account {account}", style.small, grey=style.ink, align=align)
    draft.text(x, y, random.choice(CLOSINGS), style.small, grey=style.ink, align=align)


def draft_two_pages(random: Random) -> Document:
    """An invoice whose table runs over to a second page, where the totals stand."""
    style = make_style(random, largest=11)
    content = make_content(random, style)
    layout = random.choice(tuple(HEADS))
    draft = Draft(WIDTH)
    head, y = HEADS[layout](random, draft, style, content, MARGIN + 12 + random.uniform(0, 10))
    marks: dict[str, Any] = dict(head)
    y = _currency_line(random, draft, style, marks, y + random.uniform(4, 12))
    form = make_table_form(random, style)
    numbered = random.random() < 0.5
    first, height = 0, 0.0
    for height in HEIGHTS[random.random() < 0.15 :]:
        floor = height - MARGIN - (style.size * 1.6 if numbered else 0)
        first = int((floor - y - form.row_step) // form.row_step)
        if first >= 2:
            break
    if not 2 <= first <= 8:
        raise DoesNotFit("first page")
    money = draw_money(random, first + random.choice((1, 1, 2, 2, 3) if first < 7 else (1, 1, 2)), style.labels["tax"])
    x0, x1 = MARGIN + random.uniform(0, 6), WIDTH - MARGIN - random.uniform(0, 6)
    drawn = Table(draft, style, form, money.items, x0, x1)
    y = drawn.header(y)
    rows, cell_currency = [], NOT_PRINTED
    for index in range(len(money.items)):
        if index == first:
            if numbered:
                draft.text(WIDTH / 2, height - MARGIN - 3, "Page 1 of 2", style.small, grey=style.ink, align="centre")
            draft.new_page()
            y = MARGIN + 12 + random.uniform(0, 8)
            if random.random() < 0.4:
                again = random.choice(("Continued", f"{content.title} (continued)", content.vendor.shown))
                draft.text(x0, y, again, style.small, grey=style.ink)
                y += style.step * 1.3
            if random.random() < 0.7:
                y = drawn.header(y)
        mark, y, cell_currency = drawn.row(index, y)
        rows.append(mark)
    marks["line_items"] = rows
    found = _close(random, draft, style, money, y + random.uniform(4, 16))
    _settle_currency(marks, found, cell_currency)
    if draft.bottom > height - MARGIN:
        raise DoesNotFit("second page")
    if numbered and draft.bottom < height - MARGIN - 2.6 * style.size:
        draft.text(WIDTH / 2, height - MARGIN - 3, "Page 2 of 2", style.small, grey=style.ink, align="centre")
    return _finish(draft, style, marks, kind="invoice_two_pages", layout=layout, height=height)
