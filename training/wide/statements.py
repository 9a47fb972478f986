"""Wide statements: simple account statements of banks and suppliers, one page."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from random import Random

from training import values
from training.draft import DoesNotFit
from training.leaf import Document
from training.wide import figures
from training.wide.content import draw_facts, proper_name
from training.wide.figures import Value
from training.wide.job import A4, A5, LETTER, Job
from training.wide.locales import draw_locale
from training.wide.look import Look, draw_look
from training.wide.paper import Mark
from training.wide.parts import Row, logo, pairs, strip
from training.wide.tables import Table, draw_table_form
from training.wide.totals import sign_mark

FIELDS = (
    *("document_type", "vendor", "vendor_address", "vendor_phone", "vendor_tax_id", "vendor_email", "bic"),
    *("customer", "customer_address", "account_number", "iban", "statement_number"),
    *("date", "period_start", "period_end", "currency", "opening_balance", "total_in", "total_out"),
    *("closing_balance", "transactions"),
)
TRANSACTION_FIELDS = ("date", "description", "reference", "amount", "balance")


class _Account:
    """Bookings that agree with the balances, in cents."""

    def __init__(self, random: Random, look: Look, count: int) -> None:
        locale = look.locale
        self.start = values.day(random)
        self.end = self.start + datetime.timedelta(days=random.choice((27, 28, 29, 30, 30, 89)))
        self.opening = values.price_cents(random, 3, 6)
        day, balance = self.start, self.opening
        self.bookings: list[tuple[datetime.date, Value, Value, int, int]] = []
        for _ in range(count):
            day = min(day + datetime.timedelta(days=random.randint(0, 6)), self.end)
            size = values.price_cents(random, 2, 5.3)
            amount = size if random.random() < 0.35 or size > balance else -size
            balance += amount
            words = random.choice(locale.words.labels["bookings"])
            if random.random() < 0.7:
                words += " " + proper_name(random, locale)
            if random.random() < 0.2:
                words += " " + values.code(random, 4)
            reference = values.document_number(random, ("R", "B", "T", "K"))
            self.bookings.append((day, figures.text(words), figures.text(reference), amount, balance))
        self.closing = balance
        self.total_in = sum(booking[3] for booking in self.bookings if booking[3] > 0)
        self.total_out = -sum(booking[3] for booking in self.bookings if booking[3] < 0)


def _rows(job: Job, account: _Account) -> list[Row]:
    look, facts, random = job.look, job.facts, job.random
    rows: list[Row] = []
    if facts.iban is not None and job.chance(0.5):
        rows.append(("iban", "IBAN", facts.iban))
    else:
        number = values.digits(random, random.choice((6, 8, 10)))
        rows.append(("account_number", look.label("account_number"), figures.text(number)))
    if job.chance(0.6):
        number = random.choice((str(random.randint(1, 12)), f"{random.randint(1, 12)}/{random.randint(2015, 2029)}"))
        rows.append(("statement_number", look.label("statement_number"), figures.text(number)))
    if job.chance(0.8):
        rows.append(("date", look.label("statement_date"), look.date(account.end + datetime.timedelta(days=1))))
    if look.money_form == "#" and job.chance(0.5):
        rows.append(("currency", look.label("currency"), figures.text(look.currency)))
    random.shuffle(rows)
    if job.chance(0.75):
        start, end = look.date(account.start), look.date(account.end)
        joint = random.choice((" - ", " – "))
        rows.append(("period", look.label("period"), figures.text(start.shown + joint + end.shown)))
    return rows


def _note_period(job: Job, account: _Account, mark: Mark | None) -> None:
    """The two days of a period that is printed as one text."""
    if mark is None:
        return
    run = mark.pieces[0][1]
    start, end = job.look.date(account.start), job.look.date(account.end)
    shift = len(mark.value.shown) - len(end.shown)
    job.mark("period_start", Mark(start, ((0, run, 0),)))
    job.mark("period_end", Mark(end, ((0, run, shift),)))


def _head_bank(job: Job, y: float, account: _Account) -> float:
    """Bank at the left, facts of the account at the right, holder below."""
    middle = job.x0 + job.width * job.random.uniform(0.48, 0.6)
    if job.chance(0.5):
        size = job.random.uniform(20, 36)
        logo(job.random, job.paper, job.look, job.x0, job.paper.margin + 3, size, job.facts.vendor.name.shown[0])
        y = max(y, job.paper.margin + size + 6 + job.look.heading_size)
    left = job.vendor(job.x0, y, width=middle - job.x0 - 8)
    right = job.title(job.x1, y + job.look.heading_size * 0.2, align="right", key="statement_title") + job.look.size
    right = job.pairs(middle, job.x1, right, _rows(job, account), form=job.random.choice(("columns", "right")))
    return max(job.customer(job.x0, left + job.look.size, middle - job.x0 - 8, label=None), right)


def _head_account(job: Job, y: float, account: _Account) -> float:
    """Title first, then who and which account in two columns."""
    look = job.look
    y = job.title(job.x0, y, key="statement_title") + look.size
    middle = job.x0 + job.width * job.random.uniform(0.45, 0.55)
    left = job.vendor(job.x0, y, width=middle - job.x0 - 8, face=look.strong)
    left = job.customer(job.x0, left + look.size, middle - job.x0 - 8)
    return max(left, job.pairs(middle, job.x1, y, _rows(job, account)))


def _head_list(job: Job, y: float, account: _Account) -> float:
    """Everything labelled, one below the other."""
    look, facts = job.look, job.facts
    y = job.vendor((job.x0 + job.x1) / 2, y, align="centre", width=job.width, lines=0)
    y = job.title((job.x0 + job.x1) / 2, y + look.heading_size * 0.9, align="centre", key="statement_title") + look.size
    rows: list[Row] = [("customer", look.label("account_holder"), facts.customer.name), *_rows(job, account)]
    return job.pairs(job.x0, job.x0 + job.width * 0.9, y, rows, form="columns")


def _head_passbook(job: Job, y: float, account: _Account) -> float:
    """A band with the title, and the facts of the account in a strip (held out from training)."""
    look, paper = job.look, job.paper
    high = look.heading_size * 2
    paper.box(job.x0, y - look.heading_size * 1.3, job.width, high, fill=look.shade(0.2), radius=6)
    y = job.title((job.x0 + job.x1) / 2, y, align="centre", key="statement_title") + look.heading_size
    middle = (job.x0 + job.x1) / 2
    left = job.customer(job.x0, y, middle - job.x0 - 8, label="inline")
    right = job.vendor(job.x1, y, align="right", width=middle - job.x0 - 8, face=look.strong)
    marks, y = strip(paper, look, job.x0, job.x1, max(left, right) + look.size, _rows(job, account), spread=1.0)
    job.note_all(marks)
    return y


HEADS: dict[str, Callable[[Job, float, _Account], float]] = {
    "bank": _head_bank,
    "account": _head_account,
    "list": _head_list,
    "passbook": _head_passbook,
}
FAMILIES = tuple(HEADS)


def _balances(job: Job, account: _Account, *, opening: bool, closing: bool, sums: bool) -> list[tuple[Row, int]]:
    look = job.look
    rows = []
    if opening:
        rows.append(("opening_balance", account.opening))
    if sums:
        rows += [("total_in", account.total_in), ("total_out", account.total_out)]
    if closing:
        rows.append(("closing_balance", account.closing))
    return [((field, look.label(field), look.signed(cents)[0]), cents) for field, cents in rows]


def _summary(job: Job, y: float, rows: list[tuple[Row, int]]) -> float:
    """Balances side by side or one below the other."""
    look = job.look
    only = [row for row, _ in rows]
    if job.chance(0.5) and len(only) > 1:
        marks, y = strip(job.paper, look, job.x0, job.x1, y, only, spread=job.random.random())
    else:
        width = job.width * job.random.uniform(0.45, 1)
        x0, x1 = (job.x0, job.x0 + width) if job.chance(0.5) else (job.x1 - width, job.x1)
        marks, y = pairs(job.paper, look, x0, x1, y, only, form="right")
    job.note_all(marks)
    for (field, _, _), cents in rows:
        job.amount_currency(cents, marks[field])
    return y


def draft_statement(random: Random, family: str, language: str | None = None) -> Document:
    """One statement of the family. Raises DoesNotFit where the lot drawn does not fit."""
    locale = draw_locale(random, language)
    if random.random() < 0.35:
        size, largest, margin, most = A5, 10.0, random.uniform(16, 28), 8
    else:
        size = LETTER if locale.letter else A4
        largest, margin, most = 12.0, random.uniform(28, 58), 18
    look = draw_look(random, locale, largest=largest)
    account = _Account(random, look, random.randint(2, most))
    job = Job(random, look, draw_facts(random, look, 1), size, margin=margin)
    job.plan_footer()
    y = HEADS[family](job, job.top + look.heading_size + random.uniform(0, 10), account)
    _note_period(job, account, job.marks.pop("period", None))
    y += random.uniform(1, 2.5) * look.size
    above = job.chance(0.6)
    sums = job.chance(0.5)
    if above:
        y = _summary(job, y, _balances(job, account, opening=True, closing=job.chance(0.5), sums=sums))
        y += random.uniform(0.8, 2) * look.size
    y = _bookings(job, y, account)
    left = [
        (row, cents)
        for row, cents in _balances(job, account, opening=not above, closing=True, sums=sums and not above)
        if job.marks.get(row[0]) is None
    ]
    if left:
        y = _summary(job, y + look.size * random.uniform(0.8, 1.5), left)
    job.mark("currency", job.marks.pop("cell_currency", None))
    y = job.currency_line(job.x0, y)
    if y > job.floor + look.size:
        raise DoesNotFit("floor")
    job.foot()
    return job.finish("statement", family, FIELDS, "statement")


def _bookings(job: Job, y: float, account: _Account) -> float:
    look, random = job.look, job.random
    columns = random.choice(
        (
            ("booking_date", "description", "booking_amount"),
            ("booking_date", "description", "booking_amount", "balance"),
            ("booking_date", "description", "reference", "booking_amount"),
            ("booking_date", "reference", "description", "booking_amount", "balance"),
            ("description", "booking_date", "booking_amount"),
        )
    )
    form = draw_table_form(random, look, columns=columns)
    form.header_money, form.unit_in_quantity = "", False
    headers = {column: look.label("booking_text" if column == "description" else column) for column in columns}
    cells = []
    for day, words, reference, amount, balance in account.bookings:
        cells.append(
            {
                "booking_date": look.date(day),
                "description": words,
                "reference": reference,
                "booking_amount": look.signed(amount)[0] if look.cell_signs else look.money(amount),
                "balance": look.money(balance),
            }
        )
    table = Table(job.paper, look, form, headers, cells, job.x0, job.x1)
    _, y = table.header(y)
    rows = []
    for index, booking in enumerate(account.bookings):
        if y + table.height(index) > job.floor:
            raise DoesNotFit("bookings")
        marks, y = table.row(index, y)
        rows.append(
            {
                "date": marks.get("booking_date"),
                "description": marks["description"],
                "reference": marks.get("reference"),
                "amount": marks["booking_amount"],
                "balance": marks.get("balance"),
            }
        )
        if look.cell_signs:
            job.marks["cell_currency"] = sign_mark(look, booking[3], marks["booking_amount"])
    job.marks["transactions"] = rows
    return y
