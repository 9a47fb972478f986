"""Till receipts."""

from __future__ import annotations

from dataclasses import replace

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.notation import any_day
from forklift.evaluate.documents.short_pages import (
    RECEIPT_WIDTH,
    Margins,
    bundled_schema,
    draw_items,
    json_amount,
    line_items,
    page_style,
    plain_notation,
)
from forklift.evaluate.documents.truth import Truth

_FOODS = (
    "Pear,Plum cake,Rye bread,Goat cheese,Fig jam,Green tea,Oat milk,Bean soup,Lime soda,Corn chips,Egg salad,Mint tea,"
    "Nut bar,Rice pudding,Beet juice,Pea soup,Kale chips,Apple pie,Malt drink,Leek quiche"
).split(",")
_PAYMENTS = ("Cash", "Card", "Credit card", "Debit card", "Voucher")


def make_short_receipt(brief: Brief) -> MadeDocument:
    random = brief.random
    notation = replace(plain_notation(random), thousands="")
    shop = f"{names.word(random)} {random.choice(('Bakery', 'Deli', 'Cafe', 'Market', 'Kiosk'))}"
    items = draw_items(random, random.randint(1, 6), _FOODS, 3.4)
    size = random.choice((10.0, 10.0, 10.5))
    style = page_style(random, RECEIPT_WIDTH, 210.0 + len(items) * size * 2.7, size, receipt=True)
    flow = Flow(Margins(style))
    sheet, body, bold = flow.sheet, style.body[0], style.body[1]
    number = names.digits(random, random.choice((3, 4, 5)))
    issued = any_day(random, 2018, 2026)
    rate = random.choice((5, 7, 10, 20))
    subtotal = sum(item.amount for item in items)
    tax = (subtotal * rate + 50) // 100
    total = subtotal + tax
    payment = random.choice(_PAYMENTS)
    step = size * 1.35
    y = 30.0

    def pair(label: str, value: str, font: str = body) -> None:
        nonlocal y
        sheet.text(flow.left, y, label, font, size)
        sheet.text(flow.right, y, value, font, size, align="right")
        y += step

    sheet.text(sheet.width / 2, y, shop, bold, size + 1, align="centre")
    y += step
    sheet.text(sheet.width / 2, y, names.street(random), body, size, align="centre")
    y += step * 1.5
    has_number = not brief.hard(0.0, 0.4)
    if has_number:
        pair("Receipt", number)
    pair("Date", notation.date(issued))
    sheet.line(flow.left, y - size * 0.6, flow.right, y - size * 0.6, 0.6, dashed=True)
    y += step * 0.4
    counted = random.random() < 0.6
    for item in items:
        if not counted:
            pair(item.description, notation.amount(item.amount))
        else:
            sheet.text(flow.left, y, item.description, body, size)
            y += step
            pair(f"  {item.quantity} x {notation.amount(item.price)}", notation.amount(item.amount))
    sheet.line(flow.left, y - size * 0.6, flow.right, y - size * 0.6, 0.6, dashed=True)
    y += step * 0.4
    pair("Subtotal", notation.amount(subtotal))
    pair(f"Tax {rate}%", notation.amount(tax))
    pair("TOTAL", f"{notation.currency} {notation.amount(total)}", bold)
    given = total + random.randint(1, 900) if payment == "Cash" and brief.hard(0.0, 1.0) else None
    pair(payment, notation.amount(given or total))
    if given:
        pair("Change", notation.amount(given - total))
    flow.finish()
    truth = Truth.of_schema(
        bundled_schema("receipt"),
        {
            "vendor": shop,
            "receipt_number": number if has_number else None,
            "date": issued.isoformat(),
            "currency": notation.currency,
            "line_items": line_items(items, counted=counted),
            **{
                "subtotal": json_amount(subtotal),
                "tax": json_amount(tax),
                "total": json_amount(total),
                "payment_method": payment,
            },
        },
    )
    truth.add_near_misses("/total", json_amount(given) if given else None, json_amount(subtotal))
    return MadeDocument(flow, truth, f"Receipt {number}")
