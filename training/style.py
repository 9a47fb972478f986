"""How one document looks: fonts, greys, spacing, label wording, how money is written; drawn by lot."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from random import Random

from training.canvas import FONT_FAMILIES
from training.draft import Face
from training.values import CURRENCIES, DATE_FORMS, SYMBOLS, Printed, date, money
from training.values import day as random_day

# Every wording of a label; no wording may name two fields of one document.
LABELS: dict[str, tuple[str, ...]] = {
    "vendor": ("From", "Vendor", "Seller", "Supplier", "Issued by", "Company"),
    "customer": ("Bill to", "Billed to", "Customer", "Client", "Sold to", "Invoice to", "To", "Buyer"),
    "invoice_number": (
        *(
            "Invoice no.",
            "Invoice number",
            "Invoice #",
            "Invoice No",
            "Inv. no.",
            "Document no.",
            "Invoice ID",
        ),
        *("Invoice", "Number", "No."),
    ),
    "date": ("Date", "Invoice date", "Date of issue", "Issued", "Issue date", "Date issued"),
    "due_date": ("Due date", "Payment due", "Due", "Pay by", "Due by", "Payable by", "Date due"),
    "currency": ("Currency", "Currency", "Curr."),
    "description": ("Description", "Item", "Product", "Details", "Article", "Service"),
    "quantity": ("Qty", "Quantity", "Qty.", "Pcs", "Units", "Count"),
    "unit_price": ("Price", "Unit price", "Rate", "Unit cost", "Price each", "Each"),
    "amount": ("Amount", "Total", "Line total", "Sum", "Net", "Value"),
    "subtotal": ("Subtotal", "Sub-total", "Net amount", "Net total", "Sub total", "Total net"),
    "tax": ("Tax", "VAT", "Sales tax", "GST", "Tax amount"),
    "total": (
        "Total",
        "Total due",
        "Amount due",
        "Grand total",
        "Invoice total",
        "Balance due",
        "Total amount",
    ),
    "receipt_number": (
        "Receipt no.",
        "Receipt #",
        "Receipt",
        "Ticket no.",
        "Trans. no.",
        "Bill no.",
        "Receipt number",
    ),
    "payment_method": ("Payment", "Paid by", "Payment method", "Method", "Paid with", "Tender"),
    # distractors: what stands on real pages beside the fields asked for
    "order": (
        "Order no.",
        "PO number",
        "Order ref.",
        "Your order",
        "Customer no.",
        "Delivery note",
        "Project",
    ),
    "delivery_date": ("Delivery date", "Order date", "Delivered", "Shipped"),
    "position": ("Pos", "No.", "#"),
}
RECEIPT_TOTALS = ("Total", "TOTAL", "Amount due", "Grand total", "To pay", "Sum", "Total due", "Balance")
# Upright faces only: slanted ones and print below 10 points are the next profile's, once reading is better.
FONT_WEIGHTS = (6, 5, 4, 0, 0, 0)
SIZES = (10, 10.5, 11, 11, 11.5, 12)


@dataclass
class Style:
    """Sizes in points, greys from 0 (black) to 1 (white)."""

    font: str
    bold: str
    size: float
    heading_size: float
    leading: float
    ink: float
    label_ink: float
    paper: float
    labels: dict[str, str]
    pair_form: str
    colon: str
    label_bold: bool
    currency: str
    currency_form: str
    thousands: str
    date_form: str
    cell_signs: bool

    @property
    def body(self) -> Face:
        return Face(self.font, self.size)

    @property
    def strong(self) -> Face:
        return Face(self.bold, self.size)

    @property
    def label_face(self) -> Face:
        return self.strong if self.label_bold else self.body

    @property
    def heading(self) -> Face:
        return Face(self.bold, self.heading_size)

    @property
    def small(self) -> Face:
        return Face(self.font, max(9.0, self.size - 1))

    @property
    def step(self) -> float:
        """Distance between the baselines of two lines."""
        return self.size * self.leading

    def day(self, random: Random) -> Printed:
        return date(random_day(random), self.date_form)

    def days(self, random: Random) -> tuple[Printed, Printed]:
        """A day and a later one, as of an invoice and its due date."""
        first = random_day(random)
        later = first + datetime.timedelta(days=random.choice((7, 10, 14, 14, 21, 30, 30, 30, 45, 60, 90)))
        return date(first, self.date_form), date(later, self.date_form)

    def money(self, cents: int) -> Printed:
        return money(cents, self.thousands)

    def signed(self, cents: int) -> tuple[Printed, str, int]:
        """An amount with its currency as this style writes it; the sign ("" without) and the sign's index."""
        amount = self.money(cents)
        sign = self.sign
        match self.currency_form:
            case "symbol":
                return amount.within(sign), sign, 0
            case "symbol_space" | "code_before":
                return amount.within(sign + " "), sign, 0
            case "code_after" | "symbol_after":
                return amount.within("", " " + sign), sign, len(amount.shown) + 1
        return amount, "", 0

    @property
    def sign(self) -> str:
        return SYMBOLS[self.currency] if self.currency_form.startswith("symbol") else self.currency


def _title_case(wording: str) -> str:
    return " ".join(word if word.isupper() or word == "of" else word.capitalize() for word in wording.split())


def _labels(random: Random, receipt: bool) -> dict[str, str]:
    labels = {field: random.choice(wordings) for field, wordings in LABELS.items()}
    if receipt:
        labels["total"] = random.choice(RECEIPT_TOTALS)
        labels["date"] = random.choice(("Date", "Date", "Issued", "Date of sale"))
    if labels["position"] == labels["invoice_number"]:
        labels["position"] = "#"
    if random.random() < 0.12:
        labels = {field: wording.upper() for field, wording in labels.items()}
    elif random.random() < 0.25:
        labels = {field: _title_case(wording) for field, wording in labels.items()}
    return labels


def make_style(random: Random, *, receipt: bool = False, largest: float = 12) -> Style:
    """Draw a style; `largest` bounds the body size where space is short."""
    font, bold = random.choices(FONT_FAMILIES, FONT_WEIGHTS)[0]
    size = random.choice([size for size in SIZES if size <= largest])
    ink = random.choice((0.0, 0.0, 0.0, random.uniform(0, 0.3)))
    currency = random.choice(CURRENCIES)
    forms = ["code_after", "code_before", "line", "line"]
    if currency in SYMBOLS:
        forms += ["symbol"] * 7 + ["symbol_space", "symbol_after"]
    if random.random() < 0.06:
        forms = ["unstated"]
    return Style(
        font=font,
        bold=bold,
        size=size,
        heading_size=random.choice((12, 13, 14, 15, 16)),
        leading=random.uniform(1.38, 1.75),
        ink=ink,
        label_ink=random.choice((ink, ink, random.uniform(0, 0.3))),
        paper=random.choice((1.0, 1.0, random.uniform(0.96, 1.0))),
        labels=_labels(random, receipt),
        pair_form=random.choice(("inline", "inline", "columns", "columns", "right", "stacked")),
        colon=random.choice((":", ":", "")),
        label_bold=random.random() < 0.4,
        currency=currency,
        currency_form=random.choice(forms),
        thousands=random.choice((",", ",", "")),
        date_form=random.choice(DATE_FORMS),
        cell_signs=random.random() < 0.3,
    )
