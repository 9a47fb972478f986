"""Bank statements of several accounts: hundreds of bookings, the fees and returned payments scattered among them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from random import Random

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import any_day, days_after, make_notation, month_end
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.style import make_style
from forklift.evaluate.documents.tables import Row, Table, TableColumn, plain
from forklift.evaluate.documents.truth import Column, Truth

_ACCOUNTS = ("Current account", "Savings account", "Business account", "Deposit account", "Project account")
_FEES = (
    "Account maintenance fee,Card replacement fee,Foreign payment fee,Cash handling fee,Statement copy fee,"
    "Urgent transfer fee,Paper booking fee"
).split(",")
_OUT = (
    "Card payment {shop}",
    "Direct debit {shop}",
    "Transfer to {shop}",
    "Standing order {shop}",
    "Cash withdrawal {town}",
)
_IN = ("Transfer from {shop}", "Credit note {shop}", "Cash deposit {town}", "Refund {shop}")


@dataclass(frozen=True)
class _Booking:
    """amount and balance (after it): cents."""

    day: datetime.date
    text: str
    reference: str
    amount: int
    balance: int
    sort: str  # "fee", "returned", "" for the others


@dataclass
class _Account:
    number: str
    name: str
    opening: int
    bookings: list[_Booking] = field(default_factory=list)

    @property
    def closing(self) -> int:
        return self.bookings[-1].balance if self.bookings else self.opening

    @property
    def credits(self) -> int:
        return sum(booking.amount for booking in self.bookings if booking.amount > 0)

    @property
    def debits(self) -> int:
        return -sum(booking.amount for booking in self.bookings if booking.amount < 0)


def make_bank_statement(brief: Brief) -> MadeDocument:
    statement = _Statement(brief)
    statement.draw()
    return MadeDocument(statement.flow, statement.truth(), f"{statement.title} {statement.number}")


class _Statement:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.random = random = brief.random
        self.notation = make_notation(random, negatives=("minus", "parentheses", "trailing"))
        self.bank = f"{names.word(random)} {random.choice(('Bank', 'Savings Bank', 'Credit Union'))}"
        self.other_bank = f"{names.word(random)} Bank"
        self.holder = f"Example Holding {random.randint(11, 99)}"
        self.holder_number = names.digits(random, 8)
        first = any_day(random, 2021, 2025).replace(day=1)
        months = random.choice((1, 3, 3)) if brief.pages < 30 else random.choice((3, 6))
        self.start, self.end = first, first
        for _ in range(months):
            self.end = month_end(days_after(self.end, 1) if self.end != first else first)
        self.issued = days_after(self.end, random.randint(1, 6))
        self.previous_end = days_after(self.start, -1)
        sequence = random.randint(2, 28)
        self.number = random.choice((f"{self.end.year}/{sequence:03d}", f"{sequence}-{self.end.year}"))
        self.previous_number = self.number.replace(f"{sequence:03d}", f"{sequence - 1:03d}").replace(
            f"{sequence}-", f"{sequence - 1}-"
        )
        self.overdraft = None if brief.hard(0.3, 0.7) else random.randint(5, 90) * 100_000
        self.adviser = (
            None if brief.hard(0.3, 0.7) else f"Team {random.choice(('North', 'South', 'Harbour', 'Centre'))}"
        )
        self.card_number = names.digits(random, 4)
        self.title = random.choice(("Statement of accounts", "Account statement", "Consolidated statement"))
        style = make_style(random)
        self.flow = Flow(
            make_letterhead(
                random, style, self.bank, names.address(random), self.title, self.number, self.notation.remark
            )
        )
        self.prints_fees_total = not brief.hard(0.2, 0.9)
        self.accounts = self._make_accounts((style.size - 1.5) * 1.25 + 5.2)
        self.old_account = names.bank_account(random)
        self.remark = remark(random, random.choice((5, 6, 7)))
        self.remark_crosses = False

    def _make_accounts(self, row_height: float) -> list[_Account]:
        random = self.random
        number = random.randint(2, 3) if self.brief.pages < 12 else random.randint(2, 4)
        rows = max(60, int((self.brief.pages - 2.4) * 625.0 / row_height))
        kinds = random.sample(_ACCOUNTS, number)
        accounts = [_Account(names.bank_account(random), kind, random.randint(20_000, 6_000_000)) for kind in kinds]
        weights = [random.uniform(0.4, 1.5) for _ in accounts]
        fees = self.brief.many(3, 7)
        returned = self.brief.many(1, 4)
        special = random.sample(range(rows), fees + returned)
        sorts = dict.fromkeys(special[:fees], "fee") | dict.fromkeys(special[fees:], "returned")
        partners = names.distinct(random, 24, names.company)
        count = 0
        for index, account in enumerate(accounts):
            upto = round(rows * sum(weights[: index + 1]) / sum(weights))
            days = sorted(random.randrange((self.end - self.start).days + 1) for _ in range(count, upto))
            balance = account.opening
            for row, day in zip(range(count, upto), days, strict=True):
                sort = sorts.get(row, "")
                text, amount = _draw_booking(random, sort, balance, partners)
                balance += amount
                reference = names.digits(random, 9)
                account.bookings.append(_Booking(days_after(self.start, day), text, reference, amount, balance, sort))
            count = upto
        return accounts

    @property
    def bookings(self) -> list[tuple[_Account, _Booking]]:
        return [(account, booking) for account in self.accounts for booking in account.bookings]

    @property
    def fees_total(self) -> int:
        return -sum(booking.amount for _, booking in self.bookings if booking.sort == "fee")

    def draw(self) -> None:
        self._front()
        for account in self.accounts:
            self._account(account)
        self._closing()
        self.flow.finish()

    def _front(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        top, right = flow.y, flow.page_left + flow.page_width
        flow.block([self.holder, *names.address(random)], flow.left, top + 8, heading="Account holder")
        meta = [
            ("Statement no.", self.number),
            ("Period", f"{notation.date(self.start)} to {notation.date(self.end)}"),
            ("Date of issue", notation.date(self.issued)),
            ("Holder no.", self.holder_number),
            ("Last statement", f"{self.previous_number} of {notation.date(self.previous_end)}"),
        ]
        if self.adviser:
            meta.append(("Your adviser", self.adviser))
        flow.y = max(flow.panel(meta, right - 262, top, 262, look=random.randrange(3)), top + 80) + 8
        flow.title(self.title, below=f"All amounts in {notation.currency}")
        flow.heading("Overview", level=2)
        columns = (
            *(TableColumn("Account", wraps=True), TableColumn("Number"), TableColumn("Opening", "right")),
            *(TableColumn("Credits", "right"), TableColumn("Debits", "right"), TableColumn("Closing", "right")),
        )
        rows = [
            plain(
                account.name,
                account.number,
                *(
                    notation.amount(value)
                    for value in (account.opening, account.credits, account.debits, account.closing)
                ),
            )
            for account in self.accounts
        ]
        sums = [
            notation.amount(sum(values))
            for values in zip(*((a.opening, a.credits, a.debits, a.closing) for a in self.accounts), strict=True)
        ]
        Table(flow, columns, small=True).write([*rows, Row(("All accounts", "", *sums), "total")])
        if self.overdraft:
            flow.paragraph(
                f"The arranged overdraft of your {self.accounts[0].name.lower()} is {notation.money(self.overdraft)}."
            )
        if self.prints_fees_total:
            flow.paragraph(f"Fees charged in this period: {notation.money(self.fees_total)} in all.")
        flow.note(
            f"Card ending {self.card_number}: settled through account {self.old_account} at {self.other_bank}, which "
            "is not part of this statement."
        )
        prose = Prose(random, "bank")
        for _ in range(2):
            flow.paragraph(prose.paragraph(2, 4))
        flow.start_page()

    def _account(self, account: _Account) -> None:
        flow, notation = self.flow, self.notation
        flow.heading(f"{account.name}  {account.number}", keep=90)
        signed = self.random.random() < 0.5
        columns = [TableColumn("Date"), TableColumn("Text", wraps=True), TableColumn("Reference")]
        if signed:
            columns += [TableColumn("Amount", "right")]
        else:
            columns += [TableColumn("Debit", "right"), TableColumn("Credit", "right")]
        columns += [TableColumn("Balance", "right")]
        blanks = [""] * (len(columns) - 3)
        opening = Row(("", f"Opening balance {notation.date(self.start)}", *blanks, notation.amount(account.opening)))
        rows, carried = [opening], [notation.amount(account.opening)]
        for booking in account.bookings:
            if signed:
                amounts = [notation.amount(booking.amount)]
            elif booking.amount < 0:
                amounts = [notation.amount(-booking.amount), ""]
            else:
                amounts = ["", notation.amount(booking.amount)]
            balance = notation.amount(booking.balance)
            rows.append(plain(notation.date(booking.day), booking.text, booking.reference, *amounts, balance))
            carried.append(balance)
        closing = ("", f"Closing balance {notation.date(self.end)}", *blanks, notation.amount(account.closing))
        rows.append(Row(closing, "total"))
        Table(flow, columns, small=True).write(rows, carried=[*carried, ""] if self.random.random() < 0.6 else ())

    def _closing(self) -> None:
        flow, random = self.flow, self.random
        prose = Prose(random, "bank")
        flow.heading("Information for our customers")
        crossing = self.brief.hard(0.3, 0.9)
        span = flow.passage(
            "Notice about this statement", self.remark, crossing=crossing, filler=lambda: prose.paragraph(2, 4)
        )
        self.remark_crosses = span.crosses
        flow.in_columns([prose.paragraph(2, 4) for _ in range(random.randint(4, 8))])

    def truth(self) -> Truth:
        truth = Truth("A bank's statement of one holder's accounts")
        truth.put("bank", "text", self.bank, "Name of the bank", near=(self.other_bank,))
        truth.put("account_holder", "text", self.holder, "Name of the account holder")
        truth.put("holder_number", "text", self.holder_number, "Number of the account holder with the bank")
        truth.put("statement_number", "text", self.number, "Number of this statement", near=(self.previous_number,))
        truth.put("period_start", "date", self.start, "First day of the period", near=(self.previous_end,))
        truth.put("period_end", "date", self.end, "Last day of the period", near=(self.issued, self.previous_end))
        truth.put("issue_date", "date", self.issued, "Date on which the statement was issued", near=(self.end,))
        truth.put("currency", "text", self.notation.currency, "Three-letter ISO code of the currency")
        truth.put("overdraft_limit", "amount", self.overdraft, "Limit of the arranged overdraft")
        truth.put("adviser", "text", self.adviser, "The adviser or team in charge of the holder")
        truth.put("joint_holder", "text", None, "Name of a second account holder")
        truth.records(
            "accounts",
            "Every account of the statement, in its order",
            (
                Column("number", "text", "Account number as printed"),
                Column("name", "text", "Kind of account as printed"),
                Column("opening_balance", "amount", "Balance at the start of the period"),
                Column("total_credits", "amount", "Sum of all credits"),
                Column("total_debits", "amount", "Sum of all debits, as a positive number"),
                Column("closing_balance", "amount", "Balance at the end of the period"),
            ),
            [(a.number, a.name, a.opening, a.credits, a.debits, a.closing) for a in self.accounts],
            labels=("exhaustive_list",),
        )
        columns = (
            Column("date", "date", "Date of the booking"),
            Column("description", "text", "Text of the booking"),
            Column("amount", "amount", "Amount that was charged, as a positive number"),
        )
        fees = [(b.day, b.text, -b.amount) for _, b in self.bookings if b.sort == "fee"]
        truth.records(
            "fees",
            "Every booking of all accounts that is a fee charged by the bank, in the order of the statement",
            columns,
            fees,
            labels=("exhaustive_list", "aggregated"),
        )
        truth.put(
            *("fees_total", "amount", self.fees_total, "Sum of all fees of all accounts"),
            labels=("aggregated",) if self.prints_fees_total else ("derived", "aggregated"),
            near=(fees[0][2],),
        )
        truth.records(
            "returned_payments",
            "Every returned direct debit of all accounts, in the order of the statement",
            (
                Column("date", "date", "Date of the booking"),
                Column("reference", "text", "Reference of the booking"),
                Column("amount", "amount", "Amount that was credited back"),
            ),
            [(b.day, b.reference, b.amount) for _, b in self.bookings if b.sort == "returned"],
            labels=("exhaustive_list", "aggregated"),
        )
        account, largest = max(self.bookings, key=lambda entry: entry[1].amount)
        part = truth.part("largest_credit", "The largest single credit of all accounts")
        part.put(
            "account_number",
            "text",
            account.number,
            "Number of the account",
            labels=("aggregated",),
            near=(self.old_account,),
        )
        part.put("date", "date", largest.day, "Date of the booking", labels=("aggregated",))
        part.put("reference", "text", largest.reference, "Reference of the booking", labels=("aggregated",))
        part.put("amount", "amount", largest.amount, "Amount", labels=("aggregated",))
        truth.put(
            *("notice", "text", self.remark, "The notice about this statement in full, without its heading"),
            labels=("spans_pages",) if self.remark_crosses else (),
        )
        return truth


def _draw_booking(random: Random, sort: str, balance: int, partners: list[str]) -> tuple[str, int]:
    if sort == "fee":
        return random.choice(_FEES), -random.randint(150, 9_500)
    if sort == "returned":
        return f"Returned direct debit {random.choice(partners)}", random.randint(2_000, 90_000)
    amount = int(10 ** random.uniform(2.6, 5.4))
    if random.random() < 0.33 or balance < amount:
        return random.choice(_IN).format(shop=random.choice(partners), town=names.town(random)), 2 * amount
    return random.choice(_OUT).format(shop=random.choice(partners), town=names.town(random)), -amount
