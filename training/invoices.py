"""Invoices: families of page heads, then the table of items and the totals; one page, or run over to a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from training import values
from training.blocks import (
    Money,
    Table,
    draw_money,
    make_table_form,
    pair,
    pairs,
    table,
    totals,
)
from training.draft import MARGIN, NOT_PRINTED, DoesNotFit, Draft, Mark
from training.leaf import Document
from training.style import Style, make_style
from training.values import Printed, verbatim

# At 96 dots per inch a page is a whole number of the model's 32-pixel cells: 576 x 416, 608 or 800 pixels.
WIDTH = 432.0
HEIGHTS = (312.0, 456.0, 600.0)
FIELDS = (
    *("vendor", "customer", "invoice_number", "date", "due_date", "currency"),
    *("line_items", "subtotal", "tax", "total"),
)
TITLES = ("INVOICE", "INVOICE", "Invoice", "Invoice", "TAX INVOICE", "Tax invoice", "Sales invoice")
CLOSINGS = (
    *(
        "Thank you for your business.",
        "Thank you!",
        "Payment within 30 days.",
        "Goods remain ours until paid.",
    ),
    *("Please quote the invoice number.", "E. & O. E.", "All prices net.", "Page 1 of 1"),
)


@dataclass
class Content:
    """What an invoice says besides its items. `rows` are the labelled values (field, label, value), distractors too."""

    vendor: Printed
    customer: Printed | None
    rows: list[tuple[str, str, Printed]]
    vendor_lines: list[str]
    customer_lines: list[str]
    title: str


Head = Callable[[Random, Draft, Style, Content, float], tuple[dict[str, Mark], float]]


def make_content(random: Random, style: Style) -> Content:
    labels = style.labels
    issued, due = style.days(random)
    rows = [
        ("invoice_number", labels["invoice_number"], verbatim(values.document_number(random))),
        ("date", labels["date"], issued),
    ]
    if random.random() < 0.82:
        rows.append(("due_date", labels["due_date"], due))
    if random.random() < 0.2:
        random.shuffle(rows)
    if style.currency_form == "line" and random.random() < 0.6:
        rows.append(("currency", labels["currency"], verbatim(style.currency)))
    busy = random.random() < 0.4
    vendor_lines: list[str] = []
    customer_lines: list[str] = []
    if busy:
        if random.random() < 0.5:
            number = values.document_number(random, ("PO", "SO", "K", "LS", "B", "C"))
            rows.insert(random.randint(0, len(rows)), ("order", labels["order"], verbatim(number)))
        if random.random() < 0.25:
            rows.insert(
                random.randint(0, len(rows)), ("delivery", labels["delivery_date"], style.day(random))
            )
        vendor_lines = [values.street(random), values.town(random)][: random.randint(0, 2)]
        vendor_lines += random.choice(([], [], [_contact(random)]))
        customer_lines = [values.street(random), values.town(random)][: random.choice((0, 0, 1, 2))]
    elif random.random() < 0.5:
        vendor_lines = [values.street(random) + ", " + values.town(random)]
    return Content(
        vendor=verbatim(values.company(random)),
        customer=verbatim(values.company(random)) if random.random() < 0.85 else None,
        rows=rows,
        vendor_lines=vendor_lines,
        customer_lines=customer_lines,
        title=random.choice(TITLES),
    )


def _contact(random: Random) -> str:
    digits = values.digits
    return random.choice(
        (
            f"Tel. +00 {digits(random, 3)} {digits(random, 4)}",
            f"Phone 555-{digits(random, 4)}",
            f"{values.syllables(random, 2)}@{values.syllables(random, 2)}.example",
            f"VAT ID {values.letters(random, 2)}{digits(random, 9)}",
            f"Reg. no. {digits(random, 7)}",
            f"Account {values.letters(random, 2)}{digits(random, 2)} {digits(random, 4)} {digits(random, 4)}",
        )
    )


def _lines(draft: Draft, style: Style, x: float, y: float, lines: list[str], align: str = "left") -> float:
    for line in lines:
        draft.text(x, y, line, style.small, grey=style.ink, align=align)
        y += style.small.size * 1.3
    return y


def _vendor(
    draft: Draft, style: Style, content: Content, x: float, y: float, align: str
) -> tuple[Mark, float]:
    """The vendor as a letterhead: its name in the heading face, its address below."""
    face = style.heading
    mark = draft.value(x, y, content.vendor, face, grey=style.ink, align=align)
    y = _lines(draft, style, x, y + max(face.size * 0.95, style.size * 1.35), content.vendor_lines, align)
    return mark, y


def _customer(
    random: Random, draft: Draft, style: Style, content: Content, x0: float, x1: float, y: float
) -> tuple[Mark, float]:
    if content.customer is None:
        return NOT_PRINTED, y
    form = random.choice(("stacked", "stacked", "inline"))
    mark, y = pair(
        draft, replace(style, pair_form=form), x0, x1, y, style.labels["customer"], content.customer
    )
    y -= style.step
    return mark, _lines(
        draft, style, draft.texts[mark.run].x, y + style.size * 1.3, content.customer_lines
    ) + 2


def head_classic(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Letterhead at the left, title and labelled values at the right, customer below the letterhead."""
    x0, x1 = MARGIN + random.uniform(0, 8), WIDTH - MARGIN - random.uniform(0, 8)
    middle = WIDTH * random.uniform(0.5, 0.6)
    vendor, left_y = _vendor(draft, style, content, x0, y, "left")
    draft.text(x1, y, content.title, style.heading, grey=style.ink, align="right")
    marks, right_y = pairs(
        draft, style, middle, x1, y + style.heading_size * 1.4, content.rows, random.uniform(5, 16)
    )
    left_y = max(left_y + random.uniform(2, 14), y + style.heading_size * 1.4)
    marks["vendor"] = vendor
    marks["customer"], left_y = _customer(random, draft, style, content, x0, middle - 6, left_y)
    return marks, max(left_y, right_y)


def head_mirrored(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Title and labelled values at the left, letterhead at the right, customer below it."""
    x0, x1 = MARGIN + random.uniform(0, 8), WIDTH - MARGIN - random.uniform(0, 8)
    middle = WIDTH * random.uniform(0.5, 0.58)
    draft.text(x0, y, content.title, style.heading, grey=style.ink)
    vendor, right_y = _vendor(draft, style, content, x1, y, "right")
    left_y = y + style.heading_size * 1.5
    marks, left_y = pairs(draft, style, x0, middle - 10, left_y, content.rows, random.uniform(5, 16))
    right_y = max(right_y + random.uniform(4, 14), y + style.heading_size * 1.5)
    marks["vendor"] = vendor
    marks["customer"], right_y = _customer(random, draft, style, content, middle, x1, right_y)
    return marks, max(left_y, right_y)


def head_strip(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Centred letterhead, a rule, the customer, then the labelled values side by side in a strip."""
    x0, x1 = MARGIN + random.uniform(0, 8), WIDTH - MARGIN - random.uniform(0, 8)
    vendor, y = _vendor(draft, style, content, WIDTH / 2, y, "centre")
    y += random.uniform(0, 4)
    draft.line(x0, y - style.size * 0.6, x1, y - style.size * 0.6, width=random.uniform(0.5, 1.2), grey=0.2)
    y += style.heading_size * 0.9
    if random.random() < 0.5:
        draft.text(x1, y, content.title, style.heading, grey=style.ink, align="right")
    else:
        draft.text(WIDTH / 2, y, content.title, style.heading, grey=style.ink, align="centre")
        y += style.heading_size * 1.3
    customer, y = _customer(random, draft, style, content, x0, WIDTH * 0.72, y)
    y = max(y, draft.bottom) + style.size * 1.2
    cells = content.rows
    widths = [
        max(style.label_face.width(label), style.body.width(printed.shown)) for _, label, printed in cells
    ]
    gap = (x1 - x0 - sum(widths)) / max(len(cells) - 1, 1)
    if gap < 8:
        raise DoesNotFit("strip")
    gap = min(gap, random.uniform(20, 90))
    below = style.size * random.uniform(1.3, 1.5)
    if random.random() < 0.4:
        draft.rectangle(
            x0 - 3, y - style.size * 1.05, x1 - x0 + 6, style.size * 1.4, grey=random.uniform(0.86, 0.94)
        )
    marks, x = {}, x0
    for (field, label, printed), width in zip(cells, widths, strict=True):
        draft.text(x, y, label, style.label_face, grey=style.label_ink)
        marks[field] = draft.value(x, y + below, printed, style.body, grey=style.ink)
        x += width + gap
    marks |= {"vendor": vendor, "customer": customer}
    return marks, y + below + style.step


def head_letter(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Letterhead at the right, customer at the left as in a window envelope, the title with the invoice number."""
    x0, x1 = MARGIN + random.uniform(0, 14), WIDTH - MARGIN - random.uniform(0, 10)
    side = random.choice(("right", "left"))
    vendor, y = _vendor(draft, style, content, x1 if side == "right" else x0, y, side)
    y += random.uniform(4, 16)
    customer, y = _customer(random, draft, style, content, x0, WIDTH * 0.75, y)
    y += random.uniform(6, 16)
    marks = {"vendor": vendor, "customer": customer}
    numbers = [row for row in content.rows if row[0] == "invoice_number"]
    rest = [row for row in content.rows if row[0] != "invoice_number"]
    title = random.choice(("Invoice ", "INVOICE ", "Invoice no. ", "Invoice: ", "Invoice # "))
    run = draft.text(x0, y, title.rstrip(), style.heading, grey=style.ink)
    x = draft.right_end(run) + 0.35 * style.heading_size + 1
    marks["invoice_number"] = draft.value(x, y, numbers[0][2], style.heading, grey=style.ink)
    y += style.heading_size * 0.4 + style.size * 1.2
    found, y = pairs(draft, style, x0, WIDTH * 0.7, y, rest, random.uniform(5, 16))
    return marks | found, y


def head_form(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Everything labelled, the vendor too, in one column or two."""
    x0, x1 = MARGIN + random.uniform(0, 10), WIDTH - MARGIN - random.uniform(0, 10)
    title_x, align = random.choice(((x0, "left"), (WIDTH / 2, "centre"), (x1, "right")))
    draft.text(title_x, y, content.title, style.heading, grey=style.ink, align=align)
    y += style.heading_size * 0.5 + style.size * 1.3
    parties = [("vendor", style.labels["vendor"], content.vendor)]
    if content.customer is not None:
        parties.append(("customer", style.labels["customer"], content.customer))
    gap = random.uniform(5, 16)
    if random.random() < 0.5:
        rows = parties + content.rows if random.random() < 0.6 else content.rows + parties
        form = "columns" if style.pair_form == "stacked" else style.pair_form
        return pairs(
            draft, replace(style, pair_form=form), x0, WIDTH * random.uniform(0.6, 0.9), y, rows, gap
        )
    middle = WIDTH * random.uniform(0.5, 0.56)
    if random.random() < 0.5:
        left, right = parties, content.rows
    else:
        left, right = content.rows, parties
    left_marks, left_y = pairs(draft, style, x0, middle - 8, y, left, gap)
    right_marks, right_y = pairs(draft, style, middle, x1, y, right, gap)
    return left_marks | right_marks, max(left_y, right_y)


HEADS: dict[str, Head] = {
    "classic": head_classic,
    "mirrored": head_mirrored,
    "strip": head_strip,
    "letter": head_letter,
    "form": head_form,
}


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


def _finish(
    draft: Draft, style: Style, marks: dict[str, Any], *, kind: str, layout: str, height: float
) -> Document:
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
    marks: dict[str, Any]
    marks, y = HEADS[layout](random, draft, style, content, MARGIN + 12 + random.uniform(0, 10))
    currency_first = random.random() < 0.5
    y += random.uniform(4, 18)
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
    """Take over the totals' marks; the currency is read from its own line, else the total, else the last row."""
    currencies = [
        mark for mark in (marks.get("currency"), found.pop("currency"), cell) if mark and mark.run >= 0
    ]
    marks |= found
    marks["currency"] = currencies[0] if currencies else NOT_PRINTED


def _fit(random: Random, bottom: float) -> float:
    heights = [height for height in HEIGHTS if height >= bottom + MARGIN]
    if not heights:
        raise DoesNotFit("page height")
    return heights[1] if len(heights) > 1 and random.random() < 0.12 else heights[0]


def _closing_line(random: Random, draft: Draft, style: Style, height: float) -> None:
    y = height - MARGIN - 3
    if y - 1.2 * style.size < draft.bottom:
        return
    x, align = random.choice(((WIDTH / 2, "centre"), (MARGIN + 4, "left")))
    draft.text(x, y, random.choice(CLOSINGS), style.small, grey=style.ink, align=align)


def draft_two_pages(random: Random) -> Document:
    """An invoice whose table runs over to a second page, where the totals stand."""
    style = make_style(random, largest=11)
    content = make_content(random, style)
    layout = random.choice(tuple(HEADS))
    draft = Draft(WIDTH)
    marks: dict[str, Any]
    marks, y = HEADS[layout](random, draft, style, content, MARGIN + 12 + random.uniform(0, 10))
    y = _currency_line(random, draft, style, marks, y + random.uniform(4, 12))
    form = make_table_form(random, style)
    numbered = random.random() < 0.5
    first, height = 0, 0.0
    for height in HEIGHTS:
        floor = height - MARGIN - (style.size * 1.6 if numbered else 0)
        first = int((floor - y - form.row_step) // form.row_step)
        if first >= 2:
            break
    if not 2 <= first <= 8:
        raise DoesNotFit("first page")
    money = draw_money(
        random, first + random.choice((1, 1, 2, 2, 3) if first < 7 else (1, 1, 2)), style.labels["tax"]
    )
    x0, x1 = MARGIN + random.uniform(0, 6), WIDTH - MARGIN - random.uniform(0, 6)
    drawn = Table(draft, style, form, money.items, x0, x1)
    y = drawn.header(y)
    rows, cell_currency = [], NOT_PRINTED
    for index in range(len(money.items)):
        if index == first:
            if numbered:
                draft.text(
                    WIDTH / 2, height - MARGIN - 3, "Page 1 of 2", style.small, grey=style.ink, align="centre"
                )
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
