"""Collective invoices: hundreds of lines by delivery site, credits among them, and a summary that hides near misses."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from random import Random

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import any_day, days_after, make_notation
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.style import GREY, make_style
from forklift.evaluate.documents.tables import Row, Table, TableColumn, plain
from forklift.evaluate.documents.truth import Column, Truth

_THINGS = (
    "valve,gasket,bracket,pump seal,filter cartridge,cable gland,hose clamp,drive belt,control relay,bearing,"
    "pressure gauge,fuse link,mounting plate,terminal block,roller,hinge pin,nozzle,spring washer,sensor,coupling"
).split(",")
_SORTS = "stainless,brass,heavy duty,type B,M8,M12,DN25,DN40,24 V,230 V,reinforced,low profile,IP67,zinc plated".split(
    ","
)
_REASONS = "returned unused,damaged in transit,short delivery,price correction,wrong item delivered".split(",")
_UNITS = "pcs,box,set,m,roll".split(",")
_TITLES = ("Invoice", "Collective invoice", "Tax invoice", "Monthly invoice")


@dataclass(frozen=True)
class _Line:
    """price and amount: cents. rate: percent of tax."""

    number: int
    code: str
    description: str
    quantity: int
    unit: str
    price: int
    amount: int
    rate: int


@dataclass(frozen=True)
class _Site:
    reference: str
    name: str
    lines: tuple[_Line, ...]

    @property
    def subtotal(self) -> int:
        return sum(line.amount for line in self.lines)


def make_invoice(brief: Brief) -> MadeDocument:
    invoice = _Invoice(brief)
    invoice.draw()
    return MadeDocument(invoice.flow, invoice.truth(), f"{invoice.title} {invoice.number}")


class _Invoice:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.random = random = brief.random
        self.notation = make_notation(random)
        self.supplier, self.customer = names.distinct(random, 2, names.company)
        self.number = names.code(random, random.choice(("INV", "CI", "RE", "")))
        self.previous_number = names.like(random, self.number)
        self.issued = any_day(random)
        self.period_end = self.issued.replace(day=1) - datetime.timedelta(days=1)
        self.period_start = self.period_end.replace(day=1)
        self.quotation = names.code(random, "QT")
        self.order = None if brief.hard(0.2, 0.6) else names.code(random, "PO")
        self.net_days = random.choice((14, 21, 30, 45, 60))
        self.due = days_after(self.issued, self.net_days)
        self.due_in_words = brief.hard(0.0, 0.6)
        self.customer_number = names.digits(random, 6)
        self.account, self.old_account = names.bank_account(random), names.bank_account(random)
        self.supplier_tax = names.tax_number(random)
        self.customer_tax = None if brief.hard(0.1, 0.5) else names.tax_number(random)
        self.discount = None if brief.hard(0.3, 0.7) else random.choice((2, 3))
        self.discount_until = days_after(self.issued, 10) if self.discount else None
        self.title = random.choice(_TITLES)
        style = make_style(random)
        self.flow = Flow(
            make_letterhead(
                random, style, self.supplier, names.address(random), self.title, self.number, self.notation.remark
            )
        )
        self.sites = _make_sites(brief, style.size)
        self.lines = [line for site in self.sites for line in site.lines]
        self.net_total = sum(line.amount for line in self.lines)
        self.taxes: list[tuple[int, int, int]] = []
        for rate in sorted({line.rate for line in self.lines}, reverse=True):
            base = sum(line.amount for line in self.lines if line.rate == rate)
            self.taxes.append((rate, base, (base * rate + 50) // 100))
        self.tax_total = sum(tax for _, _, tax in self.taxes)
        self.total = self.net_total + self.tax_total
        self.previous = random.randint(40_000, 900_000)
        self.paid = self.previous - random.choice((0, random.randint(5_000, 30_000)))
        self.amount_due = self.total + self.previous - self.paid
        self.remark = remark(random, random.choice((5, 6, 7)))
        self.remark_crosses = False

    def draw(self) -> None:
        self._front()
        self._lines()
        self._closing()
        self.flow.finish()

    def _front(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        top = flow.y
        right = flow.page_left + flow.page_width
        tax = [f"Tax no. {self.customer_tax}"] if self.customer_tax else []
        flow.block([self.customer, *names.address(random), *tax], flow.left, top, heading="Bill to")
        flow.block(["Accounts payable", *names.address(random)], flow.left, top + 68, heading="Send to")
        period = f"{notation.date(self.period_start)} - {notation.date(self.period_end)}"
        meta = [
            (random.choice(("Invoice number", "Invoice no.", "Number")), self.number),
            (random.choice(("Invoice date", "Date of issue")), notation.date(self.issued)),
            ("Delivered", period),
            ("Customer no.", self.customer_number),
            ("Our quotation", self.quotation),
        ]
        if self.order:
            meta.append(("Your order no.", self.order))
        if not self.due_in_words:
            meta.append(("Payable by", notation.date(self.due)))
        bottom = flow.panel(meta, right - 262, top, 262, look=random.randrange(3))
        flow.y = max(bottom, top + 126) + 6
        flow.title(self.title, below=f"Deliveries to {len(self.sites)} sites. All amounts in {notation.currency}.")
        flow.heading("Account summary", level=2)
        Table(flow, (TableColumn("Item", wraps=True), TableColumn("Amount", "right"))).write(
            [
                plain(f"Balance of invoice {self.previous_number}", notation.amount(self.previous)),
                plain("Payments received, thank you", notation.amount(-self.paid)),
                plain(f"This invoice {self.number}, tax included", notation.amount(self.total)),
                Row(("Amount due", notation.amount(self.amount_due)), "total"),
            ]
        )
        if self.due_in_words:
            flow.paragraph(f"Payment terms: net {self.net_days} days from the date of invoice.")
        else:
            flow.paragraph(f"Please pay the amount due by {notation.date(self.due)}.")
        if self.discount and self.discount_until:
            flow.paragraph(
                f"A cash discount of {self.discount}% on this invoice is granted on payments received by "
                f"{notation.date(self.discount_until)}."
            )
        flow.note(
            f"Our bank details have changed. New account: {self.account}. "
            f"Please no longer use the old account {self.old_account}."
        )
        if not self.brief.hard(0.0, 0.8):
            flow.heading("Sites in this invoice", level=2)
            columns = (TableColumn("Reference"), TableColumn("Site", wraps=True), TableColumn("Net", "right"))
            Table(flow, columns).write(
                [plain(site.reference, site.name, notation.amount(site.subtotal)) for site in self.sites]
            )
        self._remittance_slip()

    def _remittance_slip(self) -> None:
        """The slip at the foot of the first page, where there is room for it."""
        flow, notation = self.flow, self.notation
        if flow.room < 110:
            return
        y = flow.frame.bottom - 86
        flow.sheet.line(flow.left, y, flow.right, y, 0.6, GREY, dashed=True)
        flow.block(
            [self.supplier, self.account], flow.left, y + 8, heading="Remittance slip: please return with payment"
        )
        entries = [
            (f"Invoice {self.number}", notation.money(self.amount_due)),
            ("Customer no.", self.customer_number),
            ("Amount paid", "................................"),
        ]
        flow.panel(entries, flow.right - 240, y + 12, 240, look=1)

    def _lines(self) -> None:
        flow, notation = self.flow, self.notation
        shows_unit, shows_rate = self.random.random() < 0.6, self.random.random() < 0.7
        columns = [
            TableColumn("No.", "right"),
            TableColumn("Item"),
            TableColumn("Description", wraps=True),
            TableColumn("Qty", "right"),
            *([TableColumn("Unit")] if shows_unit else []),
            TableColumn("Price", "right"),
            *([TableColumn("Tax", "right")] if shows_rate else []),
            TableColumn("Amount", "right"),
        ]
        carries = self.random.random() < 0.5
        flow.start_page()
        for index, site in enumerate(self.sites):
            rows, running, carried = [], 0, []
            for line in site.lines:
                running += line.amount
                cells = [str(line.number), line.code, line.description, notation.whole(line.quantity)]
                cells += [line.unit] if shows_unit else []
                cells += [notation.amount(line.price)]
                cells += [f"{line.rate}%"] if shows_rate else []
                rows.append(plain(*cells, notation.amount(line.amount)))
                carried.append(notation.amount(running))
            blanks = [""] * (len(columns) - 4)
            rows.append(
                Row(("", "", f"Subtotal {site.reference}", *blanks, notation.amount(site.subtotal)), "subtotal")
            )
            carried.append("")
            flow.heading(f"{index + 1}. {site.name} ({site.reference})", level=2, keep=80)
            Table(flow, columns, small=True).write(rows, carried=carried if carries else ())

    def _closing(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        prose = Prose(random, "invoice")
        flow.heading("Tax and totals", keep=130)
        columns = (
            *(TableColumn("Rate"), TableColumn("Net", "right")),
            *(TableColumn("Tax", "right"), TableColumn("Gross", "right")),
        )
        rows = [
            plain(f"{rate}%", notation.amount(base), notation.amount(tax), notation.amount(base + tax))
            for rate, base, tax in self.taxes
        ]
        total = (notation.amount(self.net_total), notation.amount(self.tax_total), notation.amount(self.total))
        Table(flow, columns).write([*rows, Row(("Total", *total), "total")])
        flow.paragraph(f"{len(self.lines)} lines in {len(self.sites)} sites.", italic=True)
        flow.paragraph(f"Our tax no. {self.supplier_tax}")
        flow.heading("Conditions", level=2)
        crossing = self.brief.hard(0.3, 0.9)
        span = flow.passage(
            "Remark on this invoice", self.remark, crossing=crossing, filler=lambda: prose.paragraph(2, 4)
        )
        self.remark_crosses = span.crosses
        flow.in_columns([prose.paragraph(2, 4) for _ in range(random.randint(5, 8))])

    def truth(self) -> Truth:
        truth = Truth("A collective invoice with deliveries to several sites")
        truth.put("invoice_number", "text", self.number, "Number of this invoice", near=(self.previous_number,))
        truth.put("invoice_date", "date", self.issued, "Date of this invoice", near=(self.period_end,))
        truth.put(
            *("due_date", "date", self.due),
            "Date by which the amount due is to be paid; computed from the payment terms if it is not printed",
            labels=("derived", "aggregated") if self.due_in_words else (),
            near=(self.discount_until,),
        )
        truth.put("delivery_period_start", "date", self.period_start, "First day of the period of deliveries")
        truth.put("delivery_period_end", "date", self.period_end, "Last day of the period", near=(self.issued,))
        truth.put("purchase_order_number", "text", self.order, "Order number of the customer", near=(self.quotation,))
        truth.put("customer_number", "text", self.customer_number, "The customer's number with the supplier")
        truth.put("currency", "text", self.notation.currency, "Three-letter ISO code of the currency")
        part = truth.part("supplier", "The company that sends the invoice")
        part.put("name", "text", self.supplier, "Company name", near=(self.customer,))
        part.put("bank_account", "text", self.account, "Bank account to pay to", near=(self.old_account,))
        part = truth.part("customer", "The company that is billed")
        part.put("name", "text", self.customer, "Company name", near=(self.supplier,))
        part.put("tax_number", "text", self.customer_tax, "Tax number of the customer", near=(self.supplier_tax,))
        truth.put(
            *("previous_balance", "amount", self.previous, "Balance of the previous invoice, before payments"),
            near=(self.amount_due,),
        )
        truth.put("net_total", "amount", self.net_total, "Sum of all lines before tax", near=(self.total,))
        truth.put("tax_total", "amount", self.tax_total, "Sum of all taxes", near=(self.taxes[0][2],))
        truth.put(
            *("invoice_total", "amount", self.total),
            "Total of this invoice with tax, without the previous balance",
            near=(self.amount_due, self.net_total),
        )
        truth.put(
            *("amount_due", "amount", self.amount_due, "What is to be paid now, with what the last invoice left open"),
            near=(self.total,),
        )
        truth.put("discount_percent", "number", self.discount, "Percent of cash discount for early payment")
        truth.put(
            "discount_until",
            "date",
            self.discount_until,
            "Last day of the cash discount",
            near=() if self.due_in_words else (self.due,),
        )
        truth.records(
            "tax_lines",
            "One entry for each rate of tax",
            (
                Column("rate_percent", "number", "Rate in percent"),
                Column("net_amount", "amount", "Net amount that is taxed at this rate"),
                Column("tax_amount", "amount", "Tax at this rate"),
            ),
            self.taxes,
        )
        truth.records(
            "sites",
            "Every delivery site, in the order of the invoice",
            (
                Column("reference", "text", "Reference of the site"),
                Column("name", "text", "Name of the site"),
                Column("subtotal", "amount", "Net subtotal of the site"),
            ),
            [(site.reference, site.name, site.subtotal) for site in self.sites],
            labels=("exhaustive_list", "aggregated"),
        )
        credits = [line for line in self.lines if line.amount < 0]
        truth.records(
            "credit_lines",
            "Every line with a negative amount, in the order of the invoice",
            (
                Column("line_number", "integer", "Number of the line"),
                Column("item_code", "text", "Code of the item"),
                Column("amount", "amount", "Net amount, negative"),
            ),
            [(line.number, line.code, line.amount) for line in credits],
            labels=("exhaustive_list", "aggregated"),
        )
        truth.put(
            *(
                "credits_total",
                "amount",
                sum(line.amount for line in credits),
                "Sum of the lines with a negative amount",
            ),
            labels=("derived", "aggregated"),
        )
        truth.put("line_count", "integer", len(self.lines), "Number of lines in the whole invoice")
        largest = max(self.lines, key=lambda line: line.amount)
        part = truth.part("largest_line", "The line with the largest net amount of the whole invoice")
        part.put("line_number", "integer", largest.number, "Number of the line", labels=("aggregated",))
        part.put("item_code", "text", largest.code, "Code of the item", labels=("aggregated",))
        part.put("amount", "amount", largest.amount, "Net amount", labels=("aggregated",))
        truth.put(
            *("remark", "text", self.remark, "The remark on this invoice in full, without its heading"),
            labels=("spans_pages",) if self.remark_crosses else (),
        )
        return truth


def _make_sites(brief: Brief, size: float) -> list[_Site]:
    random = brief.random
    row_height = (size - 1.5) * 1.25 + 5.2
    rows = max(60, int((brief.pages - 2.6) * 610.0 / row_height))
    number = brief.many(3, 5)
    rates = random.choice(((19, 7), (20, 5), (21, 9), (25, 12)))
    references = names.distinct(random, number, lambda r: f"DP-{names.digits(r, 4)}")
    towns = names.distinct(random, number, names.town)
    weights = [random.uniform(0.5, 1.5) for _ in range(number)]
    credits = set(random.sample(range(2, rows - 1), brief.many(2, 5)))
    sites: list[_Site] = []
    count = 0
    for index in range(number):
        upto = round(rows * sum(weights[: index + 1]) / sum(weights))
        lines = tuple(
            _make_line(random, line + 1, line in credits, random.choice(rates)) for line in range(count, upto)
        )
        sites.append(_Site(references[index], f"{towns[index]} {random.choice(('Depot', 'Works', 'Branch'))}", lines))
        count = upto
    return sites


def _make_line(random: Random, number: int, credit: bool, rate: int) -> _Line:
    first, second = random.sample(_SORTS, 2)
    description = f"{random.choice(_THINGS).capitalize()} {first}" + (f", {second}" if random.random() < 0.25 else "")
    quantity = random.choice((1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 20, 25, 50))
    price = int(10 ** random.uniform(2.2, 4.6))
    if credit:
        description = f"Credit: {description} ({random.choice(_REASONS)})"
        quantity = -random.randint(1, 6)
    code = f"{random.choice('ABDFHKLMPRT')}{names.digits(random, 2)}-{names.digits(random, 4)}"
    return _Line(number, code, description, quantity, random.choice(_UNITS), price, quantity * price, rate)
