"""Parts of documents alone on a small sheet: what a reader learns before whole pages."""

from __future__ import annotations

from random import Random
from typing import Any

from training import receipts, values
from training.blocks import draw_money, make_table_form, pairs, table
from training.draft import NOT_PRINTED, DoesNotFit, Draft, Mark
from training.leaf import Document
from training.style import RECEIPT_TOTALS, Style, make_style
from training.values import Printed, currency_sign, verbatim

MARGIN = 6.0
# Points; 256 x 128, 448 x 96 or 160 and 288 x 128 pixels at 96 dots per inch.
KEY_VALUES = (192.0, 96.0)
TABLE_WIDTH, TABLE_HEIGHTS = 336.0, (72.0, 120.0)
RECEIPT_LINES = (216.0, 96.0)


def _amount(random: Random, style: Style) -> tuple[Printed, str, int]:
    return style.signed(values.price_cents(random, 2, 5.8))


def draft_key_values(random: Random) -> Document:
    """Two to five labelled values as they stand in invoices and, more rarely, receipts."""
    receipt = random.random() < 0.2
    style = make_style(random, receipt=receipt, largest=11)
    labels = style.labels
    signed: dict[str, tuple[Printed, str, int]] = {}
    for field in ("subtotal", "tax", "total"):
        signed[field] = _amount(random, style)
    if receipt:
        labels["total"] = random.choice(RECEIPT_TOTALS)
        shown = {
            "vendor": verbatim(values.shop(random)),
            "date": style.day(random),
            "receipt_number": verbatim(values.document_number(random, ("R", "T", "B"))),
            "payment_method": verbatim(random.choice(values.PAYMENT_METHODS)),
        }
    else:
        issued, due = style.days(random)
        shown = {
            "vendor": verbatim(values.company(random)),
            "customer": verbatim(values.company(random)),
            "invoice_number": verbatim(values.document_number(random)),
            "date": issued,
            "due_date": due,
        }
    shown |= {field: printed for field, (printed, _, _) in signed.items()}
    if style.currency_form == "line":
        shown["currency"] = verbatim(style.currency)
    fields = random.sample(list(shown), min(random.choice((2, 3, 3, 4, 4, 5)), len(shown)))
    rows = [(field, labels[field], shown[field]) for field in fields]
    if random.random() < 0.15:
        number = values.document_number(random, ("PO", "SO", "K"))
        rows[random.randrange(len(rows))] = ("order", labels["order"], verbatim(number))
    width, height = KEY_VALUES
    draft = Draft(width, margin=MARGIN)
    x0 = MARGIN + random.choice((0, random.uniform(0, 18)))
    marks: dict[str, Mark]
    marks, _ = pairs(
        draft,
        style,
        x0,
        width - MARGIN,
        MARGIN + style.size + random.uniform(0, 10),
        rows,
        random.uniform(5, 14),
    )
    if draft.bottom > height - MARGIN + 2:
        raise DoesNotFit("crop")
    for field in ("total", "tax", "subtotal"):
        if field in marks and "currency" not in marks and signed[field][1]:
            _, sign, offset = signed[field]
            marks["currency"] = Mark(currency_sign(style.currency, sign), marks[field].run, offset)
    marks = {field: mark for field, mark in marks.items() if field != "order"}
    return _finish(draft, style, marks, "key_values", style.pair_form, height, "receipt" if receipt else "invoice")


def draft_table(random: Random) -> Document:
    """The header and one to three rows of an invoice's table."""
    style = make_style(random, largest=11)
    height = random.choice(TABLE_HEIGHTS)
    money = draw_money(random, random.choice((1, 2) if height < 100 else (2, 3, 3)), style.labels["tax"])
    draft = Draft(TABLE_WIDTH, margin=MARGIN)
    form = make_table_form(random, style)
    x0, x1 = MARGIN + random.uniform(0, 8), TABLE_WIDTH - MARGIN - random.uniform(0, 8)
    rows, _, currency = table(draft, style, form, money.items, x0, x1, MARGIN + style.size + random.uniform(0, 10))
    if draft.bottom > height - MARGIN + 2:
        raise DoesNotFit("crop")
    marks: dict[str, Any] = {"line_items": rows}
    if currency.run >= 0:
        marks["currency"] = currency
    return _finish(draft, style, marks, "table", "_".join(form.columns), height, "invoice")


def draft_receipt_lines(random: Random) -> Document:
    """One to three lines of a receipt."""
    style = make_style(random, receipt=True, largest=11)
    width, height = RECEIPT_LINES
    money = draw_money(random, random.choice((1, 2, 2, 3)), style.labels["tax"], shop=True)
    draft = Draft(width, margin=MARGIN)
    form = random.choice(receipts.LINE_FORMS)
    x0, x1 = MARGIN + random.uniform(0, 8), width - MARGIN - random.uniform(0, 8)
    y = MARGIN + style.size + random.uniform(0, 10)
    rows, _, currency = receipts.lines(random, draft, style, form, money.items, x0, x1, y)
    if draft.bottom > height - MARGIN + 2:
        raise DoesNotFit("crop")
    marks: dict[str, Any] = {"line_items": rows}
    if currency.run >= 0:
        marks["currency"] = currency
    return _finish(draft, style, marks, "receipt_lines", form, height, "receipt")


def _finish(
    draft: Draft, style: Style, marks: dict[str, Any], kind: str, layout: str, height: float, schema: str
) -> Document:
    sheet, drawn = draft.draw(height, paper=style.paper)
    truth = draft.leaves({field: mark for field, mark in marks.items() if mark is not NOT_PRINTED}, drawn)
    return Document(kind, layout, style.font, style.size, sheet, truth, schema)
