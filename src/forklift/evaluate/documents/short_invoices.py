"""Invoices of one page, some of two."""

from __future__ import annotations

from random import Random

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import draw_logo
from forklift.evaluate.documents.notation import any_day, days_after
from forklift.evaluate.documents.short_pages import (
    INVOICE_WIDTH,
    Margins,
    bundled_schema,
    draw_items,
    json_amount,
    line_items,
    page_style,
    plain_notation,
)
from forklift.evaluate.documents.style import GREY, INK, WHITE
from forklift.evaluate.documents.tables import Table, TableColumn, plain
from forklift.evaluate.documents.truth import Truth

_GOODS = (
    "Oak shelf,Tin box,Wool blanket,Clay jug,Wax candle,Reed mat,Iron hook,Cork board,Felt bag,Silk scarf,Glass bowl,"
    "Linen towel,Maple tray,Slate coaster,Canvas tent,Leather strap,Brass lantern,Straw hat,Stone mortar,Bamboo rack"
).split(",")
_WORKS = (
    "Roof check,Lawn care,Window wash,Chimney sweep,Tyre change,Key copy,Sofa move,Boiler check,Web page,Tax advice"
)


def make_short_invoice(brief: Brief) -> MadeDocument:
    random = brief.random
    notation = plain_notation(random)
    words = _GOODS if random.random() < 0.7 else _WORKS.split(",")
    two_pages = random.random() < 0.15
    items = draw_items(
        random, random.randint(7, 9) if two_pages and words is _GOODS else random.randint(1, 5), words, 4.4
    )
    size = random.choice((10.0, 10.0, 10.5, 11.0))
    style = page_style(random, INVOICE_WIDTH, 330.0 if two_pages else random.choice((456.0, 520.0, 600.0)), size)
    flow = Flow(Margins(style))
    vendor = f"{names.word(random)} {random.choice(('Ltd', 'GmbH', 'Inc.', 'Works', 'Studio', 'Trading'))}"
    customer = f"{names.word(random)} {random.choice(('AG', 'Group', 'Foods', 'Systems', 'BV'))}"
    number = f"{random.choice(('INV-', 'R', 'F-', ''))}{names.digits(random, random.choice((4, 5, 6)))}"
    issued = any_day(random, 2018, 2026)
    due = None if brief.hard(0.1, 0.6) else days_after(issued, random.choice((7, 14, 30)))
    order = names.digits(random, 6) if brief.hard(0.0, 0.8) else None
    details = [("Invoice no.", number), ("Date", notation.date(issued))]
    details += [("Due date", notation.date(due))] if due else []
    details += [("Your order", order)] if order else []
    _invoice_head(random, flow, vendor, customer, details)
    shows_code = random.random() < 0.6
    columns = (
        *(TableColumn("Description", wraps=True), TableColumn("Qty", "right")),
        *(TableColumn("Price", "right"), TableColumn("Amount", "right")),
    )
    Table(flow, columns).write(
        [
            plain(item.description, str(item.quantity), notation.amount(item.price), notation.amount(item.amount))
            for item in items
        ]
    )
    subtotal = sum(item.amount for item in items)
    rate = random.choice((5, 10, 19, 20))
    tax = (subtotal * rate + 50) // 100
    show = notation.amount if shows_code else notation.money
    total = f"{notation.currency} {notation.amount(subtotal + tax)}" if shows_code else notation.money(subtotal + tax)
    flow.need(5 * style.size * 1.6)
    flow.y = flow.panel(
        [("Subtotal", show(subtotal)), (f"VAT {rate}%", show(tax)), ("Total", total)],
        *(flow.right - 190, flow.y + 4, 190),
        look=random.randrange(3),
    )
    flow.finish()
    truth = Truth.of_schema(
        bundled_schema("invoice"),
        {
            "vendor": vendor,
            "customer": customer,
            "invoice_number": number,
            "date": issued.isoformat(),
            "due_date": due.isoformat() if due else None,
            "currency": notation.currency,
            "line_items": line_items(items),
            **{"subtotal": json_amount(subtotal), "tax": json_amount(tax), "total": json_amount(subtotal + tax)},
        },
    )
    truth.add_near_misses("/invoice_number", order)
    return MadeDocument(flow, truth, f"Invoice {number}")


def _invoice_head(random: Random, flow: Flow, vendor: str, customer: str, details: list[tuple[str, str]]) -> None:
    style, sheet = flow.style, flow.sheet
    look = random.randrange(3)
    bold, size = style.heading[1], style.size
    if look == 0:  # a mark and the vendor, details in a panel on the right
        draw_logo(sheet, style.logo, flow.left + 14, 40, 13, style.accent, WHITE)
        sheet.text(flow.left + 36, 45, vendor, bold, 12, INK)
        bottom = flow.panel(details, flow.right - 180, 28, 180, look=random.randrange(3))
        y = flow.block([customer, names.street(random)], flow.left, 62, heading="")
        flow.y = max(bottom, y) + 10
        sheet.text(flow.left, flow.y + 10, "Invoice", bold, 12, style.accent)
        flow.y += 18
    elif look == 1:  # a strip of labels above values
        sheet.text(sheet.width / 2, 42, vendor, bold, 12, INK, "centre")
        sheet.line(flow.left, 52, flow.right, 52, 1.0, style.accent)
        sheet.text(flow.left, 72, f"Invoice to {customer}", style.body[0], size, INK)
        width = flow.width / len(details)
        sheet.box(flow.left, 82, flow.right, 82 + 2.9 * size, fill=style.tint)
        for index, (label, value) in enumerate(details):
            x = flow.left + 5 + index * width
            sheet.text(x, 83 + 1.15 * size, label, style.body[0], size, GREY)
            sheet.text(x, 83 + 2.4 * size, value, style.body[0], size, INK)
        flow.y = 82 + 2.9 * size + 12
    else:  # two blocks side by side
        sheet.text(flow.left, 42, "INVOICE", bold, 12, style.accent)
        y = flow.block([vendor, names.street(random)], flow.right, 26, align="right")
        flow.block(["Bill to", customer], flow.left, 50)
        flow.y = max(y, 92)
        flow.pairs(details, columns=1, label_width=90)
        flow.y += 6
