"""Statements of what a customer owes a supplier, of one page."""

from __future__ import annotations

import datetime

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import draw_logo
from forklift.evaluate.documents.notation import any_day, days_after
from forklift.evaluate.documents.short_pages import INVOICE_WIDTH, Margins, page_style, plain_notation
from forklift.evaluate.documents.style import WHITE
from forklift.evaluate.documents.tables import Row, Table, TableColumn, plain
from forklift.evaluate.documents.truth import Column, Truth


def make_short_statement(brief: Brief) -> MadeDocument:
    random = brief.random
    notation = plain_notation(random)
    size = random.choice((10.0, 10.5))
    style = page_style(random, INVOICE_WIDTH, random.choice((456.0, 600.0)), size)
    flow = Flow(Margins(style))
    vendor, customer = (
        f"{word} {random.choice(('Ltd', 'AG', 'Supply'))}" for word in names.distinct(random, 2, names.word)
    )
    day = any_day(random, 2018, 2026)
    opening = random.randint(10_000, 300_000) if brief.hard(0.3, 0.9) else 0
    rows: list[tuple[datetime.date, str, int]] = []
    for _ in range(random.randint(2, 6)):
        day = days_after(day, random.randint(1, 9))
        paid = random.random() < 0.3
        text = "Payment received" if paid else f"Invoice {names.digits(random, 5)}"
        amount = int(10 ** random.uniform(3.2, 5.0))
        rows.append((day, text, -amount if paid else amount))
    issued = days_after(day, random.randint(1, 10))
    total = opening + sum(amount for _, _, amount in rows)
    draw_logo(flow.sheet, style.logo, flow.right - 14, 40, 13, style.accent, WHITE)
    flow.y = flow.block([vendor, names.street(random)], flow.left, 26)
    flow.title("Statement", size=12)
    flow.pairs(
        [("Customer", customer), ("Date", notation.date(issued)), ("Currency", notation.currency)], label_width=80
    )
    if opening:
        flow.paragraph(f"Balance of the last statement: {notation.amount(opening)}")
    columns = (TableColumn("Date"), TableColumn("Description", wraps=True), TableColumn("Amount", "right"))
    table = [plain(notation.date(when), text, notation.amount(amount)) for when, text, amount in rows]
    Table(flow, columns).write([*table, Row(("", "Balance due", notation.amount(total)), "total")])
    flow.finish()
    truth = Truth("A supplier's statement of what a customer owes")
    truth.put("vendor", "text", vendor, "Name of the company that sends the statement", near=(customer,))
    truth.put("customer", "text", customer, "Name of the company that owes", near=(vendor,))
    truth.put("date", "date", issued, "Date of the statement", near=(day,))
    truth.put("currency", "text", notation.currency, "Three-letter ISO code of the currency")
    truth.put("previous_balance", "amount", opening or None, "Balance of the statement before", near=(total,))
    truth.records(
        "line_items",
        "One entry a line, in order",
        (
            Column("date", "date", "Date of the line"),
            Column("description", "text", "Text of the line"),
            Column("amount", "amount", "Amount; negative for payments"),
        ),
        rows,
        labels=("exhaustive_list",),
    )
    truth.put("total", "amount", total, "Balance to pay", near=(opening,) if opening else ())
    return MadeDocument(flow, truth, f"Statement {issued.isoformat()}")
