"""Annual reports: statements with the year before beside them, segments, notes, long lists of subsidiaries."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import days_after, make_notation
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.style import HELVETICA, TIMES, make_style
from forklift.evaluate.documents.tables import Row, Table, TableColumn, plain
from forklift.evaluate.documents.truth import Column, Truth

_SEGMENTS = "Pumps,Valves,Service,Automation,Spare parts,Rental,Coatings,Instruments,Logistics,Software".split(",")
_NOTES = (
    "Basis of preparation,Accounting policies,Judgements and estimates,Financial risk,Capital management,Leases,"
    "Inventories,Trade receivables,Provisions,Employee benefits,Income taxes,Related parties,Events after the period,"
    "Government grants,Intangible assets,Contract balances"
).split(",")
_CHAPTERS = "Markets,Operations,Procurement,People,Research,Environment,Investment,Risks,Quality,Customers".split(",")
_REGIONS = ("North", "South", "East", "West", "Overseas")


@dataclass(frozen=True)
class _Year:
    """Whole currency units in thousands."""

    revenue: int
    cost_of_sales: int
    selling: int
    administration: int
    interest: int
    tax: int
    fixed_assets: int
    inventories: int
    receivables: int
    cash: int
    debt: int
    payables: int

    @property
    def gross_profit(self) -> int:
        return self.revenue - self.cost_of_sales

    @property
    def operating_profit(self) -> int:
        return self.gross_profit - self.selling - self.administration

    @property
    def profit(self) -> int:
        return self.operating_profit - self.interest - self.tax

    @property
    def total_assets(self) -> int:
        return self.fixed_assets + self.inventories + self.receivables + self.cash

    @property
    def equity(self) -> int:
        return self.total_assets - self.debt - self.payables


def make_financial_report(brief: Brief) -> MadeDocument:
    report = _Report(brief)
    report.draw()
    return MadeDocument(report.flow, report.truth(), f"{report.company} {report.title}")


class _Report:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.random = random = brief.random
        self.notation = make_notation(random, negatives=("parentheses", "minus"))
        self.company = names.company(random)
        self.parent = names.company(random)
        self.auditor = f"{names.word(random)} Audit {random.choice(('LLP', 'GmbH', 'SA'))}"
        self.former_auditor = f"{names.word(random)} Audit {random.choice(('LLP', 'GmbH', 'SA'))}"
        self.register = f"HR {names.digits(random, 6)}"
        self.year = random.randint(2021, 2025)
        month = random.choice((3, 6, 9, 12, 12))
        self.end = datetime.date(self.year, month, {3: 31, 6: 30, 9: 30, 12: 31}[month])
        self.opinion = days_after(self.end, random.randint(50, 110))
        self.approved = days_after(self.opinion, random.randint(1, 14))
        revenue = random.randint(80_000, 2_000_000)
        self.now = _make_year(random, revenue)
        self.before = _make_year(random, int(revenue * random.uniform(0.8, 1.1)))
        self.budget = int(revenue * random.uniform(0.93, 1.07))
        self.shares = random.randint(10, 90) * 1_000  # thousands
        self.earnings_per_share = round(self.now.profit / self.shares, 2)
        self.dividend = None if brief.hard(0.3, 0.7) else random.randint(5, 190)  # cents a share
        self.former_dividend = random.randint(5, 190)
        self.employees, self.employees_before, self.apprentices = (
            random.randint(400, 9_000),
            random.randint(400, 9_000),
            random.randint(12, 300),
        )
        shares = [random.uniform(0.5, 1.5) for _ in range(brief.many(3, 5))]
        self.segments: list[tuple[str, int, int]] = []
        for index, name in enumerate(random.sample(_SEGMENTS, len(shares))):
            share = shares[index] / sum(shares)
            last = index == len(shares) - 1
            sales = self.now.revenue - sum(s[1] for s in self.segments) if last else int(self.now.revenue * share)
            profit = (
                self.now.operating_profit - sum(s[2] for s in self.segments)
                if last
                else int(self.now.operating_profit * share)
            )
            self.segments.append((name, sales, profit))
        self.restated_revenue = self.before.revenue - random.randint(300, 5_000) if brief.hard(0.2, 0.7) else None
        parts = sorted(random.sample(range(1, 20), 3))
        cuts = [0, *parts, 20]
        amounts = [self.now.debt * (b - a) // 20 for a, b in pairwise(cuts)]
        amounts[-1] = self.now.debt - sum(amounts[:-1])
        self.borrowings = [
            (f"{kind} {self.year + years}", self.year + years, amount)
            for kind, years, amount in zip(
                ("Bank loan", "Bond", "Promissory note", "Bank loan"),
                (random.randint(1, 2), 3, random.randint(4, 6), random.randint(7, 10)),
                amounts,
                strict=True,
            )
        ]
        self.subsidiaries = [
            (name, names.town(random), random.choice((51, 60, 66, 75, 80, 100, 100, 100)))
            for name in names.distinct(random, brief.many(3, 7), names.company)
        ]
        self.associates = [
            (name, names.town(random), random.choice((20, 25, 30, 40)))
            for name in names.distinct(random, 3, names.company)
        ]
        self.title = random.choice(("Annual Report", "Consolidated Financial Statements", "Report and Accounts"))
        self.prints_debt = not brief.hard(0.2, 0.9)
        self.outlook = remark(random, random.choice((5, 6, 7)))
        self.outlook_crosses = False
        style = make_style(random, fonts=(HELVETICA, TIMES, TIMES))
        self.flow = Flow(
            make_letterhead(
                random, style, self.company, names.address(random), self.title, str(self.year), self.notation.remark
            )
        )
        self.prose = Prose(random, "finance")
        self.columns = (
            TableColumn(f"In {self.notation.currency} thousand", wraps=True),
            TableColumn("Note", "centre"),
            TableColumn(str(self.year), "right"),
            TableColumn(str(self.year - 1), "right"),
        )

    def draw(self) -> None:
        self._front()
        self._review()
        self._statements()
        self._notes()
        self._lists()
        self._audit()
        self.flow.finish()

    def _front(self) -> None:
        flow, notation = self.flow, self.notation
        flow.gap(50)
        flow.title(f"{self.title} {self.year}", size=24, below=f"for the year ended {notation.date(self.end)}")
        top = flow.y
        width = flow.width / 2 - 8
        flow.panel(
            [
                ("Register no.", self.register),
                ("Reporting currency", notation.currency),
                ("Ultimate parent", self.parent),
                ("Approved by the board", notation.date(self.approved)),
            ],
            *(flow.left, top, flow.width),
            look=self.random.randrange(3),
        )
        flow.y = top + 96
        self._bars(flow.left, flow.y, width)
        flow.y += 190
        flow.paragraph(self.prose.paragraph(3, 5))
        flow.start_page()

    def _bars(self, left: float, top: float, width: float) -> None:
        """A bar chart of five years; the years before the last two are decoration without numbers."""
        flow = self.flow
        values = [self.before.revenue * share for share in (0.7, 0.82, 0.9)] + [self.before.revenue, self.now.revenue]
        flow.sheet.text(left, top + 10, "Revenue", flow.style.heading[1], 10)
        for index, value in enumerate(values):
            x = left + 10 + index * width / 5.4
            height = 130 * value / max(values)
            colour = flow.style.accent if index == 4 else flow.style.tint
            flow.sheet.box(x, top + 160 - height, x + width / 8, top + 160, fill=colour, stroke=flow.style.accent)
            year = str(self.year - 4 + index)
            flow.sheet.text(x + width / 16, top + 172, year, flow.style.body[0], 8, align="centre")
        flow.sheet.line(left, top + 160, left + width, top + 160, 0.8)

    def _review(self) -> None:
        flow, notation, prose = self.flow, self.notation, self.prose
        flow.heading("Review of the year")
        flow.paragraph(
            f"Revenue of {notation.whole(self.now.revenue)} thousand compares with a budget of "
            f"{notation.whole(self.budget)} thousand. {prose.paragraph(2, 3)}"
        )
        average = "The group employed on average"
        flow.paragraph(
            f"{average} {notation.whole(self.employees)} people (year before: {notation.whole(self.employees_before)}) "
            f"and {self.apprentices} apprentices. {prose.sentence()}"
        )
        cent = notation.money
        if self.dividend:
            flow.paragraph(
                f"The board proposes a dividend of {cent(self.dividend)} a share. {prose.sentence()} For the year "
                f"before, {cent(self.former_dividend)} a share was paid."
            )
        else:
            flow.paragraph(
                f"For the year before, a dividend of {cent(self.former_dividend)} a share was paid. {prose.sentence()}"
            )
        pages = max(1, round((self.brief.pages - 7) * 0.3))
        start = flow.page
        chapters = 0
        while flow.page < start + pages - 1 or flow.room > 240:
            flow.heading(_CHAPTERS[chapters % len(_CHAPTERS)], level=2)
            chapters += 1
            flow.in_columns([prose.paragraph(3, 6) for _ in range(self.random.randint(3, 6))], small=False)
        crossing = self.brief.hard(0.3, 0.9)
        span = flow.passage("Outlook", self.outlook, crossing=crossing, filler=lambda: prose.paragraph(2, 3))
        self.outlook_crosses = span.crosses

    def _line(self, name: str, note: str, now: int, before: int, kind: str = "plain") -> Row:
        whole = self.notation.whole
        return Row((name, note, whole(now), whole(before)), kind)  # type: ignore[arg-type]

    def _statements(self) -> None:
        flow, now, before, line = self.flow, self.now, self.before, self._line
        flow.start_page()
        flow.heading("Consolidated income statement")
        Table(flow, self.columns).write(
            [
                line("Revenue", "4", now.revenue, before.revenue),
                line("Cost of sales", "5", -now.cost_of_sales, -before.cost_of_sales),
                line("Gross profit", "", now.gross_profit, before.gross_profit, "subtotal"),
                line("Selling expenses", "6", -now.selling, -before.selling),
                line("Administrative expenses", "6", -now.administration, -before.administration),
                line("Operating profit", "", now.operating_profit, before.operating_profit, "subtotal"),
                line("Interest expense", "7", -now.interest, -before.interest),
                line("Income tax", "8", -now.tax, -before.tax),
                line("Profit for the year", "", now.profit, before.profit, "total"),
            ]
        )
        per_share = self.notation.number(self.earnings_per_share, 2)
        earlier = self.notation.number(self.before.profit / self.shares, 2)
        flow.paragraph(
            f"Earnings per share: {per_share} {self.notation.currency} (year before: {earlier}), on "
            f"{self.notation.whole(self.shares)} thousand shares."
        )
        flow.heading("Consolidated balance sheet", keep=260)
        Table(flow, self.columns).write(
            [
                Row(("Assets",), "section"),
                line("Property, plant and equipment", "9", now.fixed_assets, before.fixed_assets),
                line("Inventories", "10", now.inventories, before.inventories),
                line("Trade receivables", "11", now.receivables, before.receivables),
                line("Cash and cash equivalents", "12", now.cash, before.cash),
                line("Total assets", "", now.total_assets, before.total_assets, "total"),
                Row(("Equity and liabilities",), "section"),
                line("Equity", "13", now.equity, before.equity),
                line("Borrowings", "14", now.debt, before.debt)
                if self.prints_debt
                else line("Borrowings and payables", "14", now.debt + now.payables, before.debt + before.payables),
                *([line("Trade payables", "15", now.payables, before.payables)] if self.prints_debt else []),
                line("Total equity and liabilities", "", now.total_assets, before.total_assets, "total"),
            ]
        )
        if self.restated_revenue:
            flow.note(
                f"Revenue of {self.year - 1} was reported as {self.notation.whole(self.before.revenue)} thousand. "
                f"After the correction of an error it is restated to {self.notation.whole(self.restated_revenue)} "
                "thousand; the statements above show the figure as first reported."
            )

    def _notes(self) -> None:
        flow, notation, prose = self.flow, self.notation, self.prose
        flow.start_page()
        flow.heading("Notes to the financial statements")
        flow.heading("Segments", level=2)
        columns = (
            TableColumn("Segment", wraps=True),
            *(TableColumn("Revenue", "right"), TableColumn("Operating profit", "right")),
        )
        rows = [plain(name, notation.whole(sales), notation.whole(profit)) for name, sales, profit in self.segments]
        total = (notation.whole(self.now.revenue), notation.whole(self.now.operating_profit))
        Table(flow, columns).write([*rows, Row(("Group", *total), "total")])
        flow.heading("Borrowings", level=2)
        columns = (
            *(TableColumn("Instrument", wraps=True), TableColumn("Matures", "right")),
            TableColumn("Carrying amount", "right"),
        )
        rows = [plain(name, str(year), notation.whole(amount)) for name, year, amount in self.borrowings]
        Table(flow, columns).write(rows)
        flow.paragraph(prose.paragraph(2, 4))
        tail = 1 + len(self.subsidiaries) // 14
        target = self.brief.pages - 1 - tail
        number = 0
        while flow.page < target:
            topic = _NOTES[number % len(_NOTES)]
            number += 1
            flow.heading(f"{number}. {topic}" + (" (continued)" if number > len(_NOTES) else ""), level=2)
            for _ in range(self.random.randint(1, 3)):
                flow.paragraph(prose.paragraph(3, 6))
            if self.random.random() < 0.6:
                self._note_table(topic)

    def _note_table(self, topic: str) -> None:
        """Figures by region that nothing else refers to."""
        whole, random = self.notation.whole, self.random
        rows, sums = [], [0, 0]
        for region in _REGIONS:
            values = [random.randint(50, 9_000) for _ in range(2)]
            sums = [total + value for total, value in zip(sums, values, strict=True)]
            rows.append(plain(f"{topic}, {region}", "", whole(values[0]), whole(values[1])))
        Table(self.flow, self.columns, small=True).write(
            [*rows, Row(("Sum", "", whole(sums[0]), whole(sums[1])), "total")]
        )

    def _lists(self) -> None:
        flow = self.flow
        flow.heading("Companies of the group", keep=110)
        columns = (TableColumn("Company", wraps=True), TableColumn("Seat"), TableColumn("Share in %", "right"))
        rows = [Row(("Subsidiaries, consolidated in full",), "section")]
        rows += [plain(name, seat, str(share)) for name, seat, share in self.subsidiaries]
        rows += [Row(("Associates, not consolidated",), "section")]
        rows += [plain(name, seat, str(share)) for name, seat, share in self.associates]
        Table(flow, columns).write(rows)

    def _audit(self) -> None:
        flow, notation, prose = self.flow, self.notation, self.prose
        flow.heading("Report of the auditor", keep=140)
        flow.paragraph(
            f"We have audited the statements of {self.company} for the year ended {notation.date(self.end)}. "
            f"The statements of the year before were audited by {self.former_auditor}. "
            "In our opinion they give a true and fair view."
        )
        flow.paragraph(prose.paragraph(2, 3))
        flow.paragraph(f"{names.town(self.random)}, {notation.date(self.opinion)}")
        flow.paragraph(self.auditor, bold=True)

    def truth(self) -> Truth:
        now, before = self.now, self.before
        truth = Truth("An annual report; amounts in thousands of the reporting currency, as printed")
        truth.put("company", "text", self.company, "Name of the reporting company", near=(self.parent,))
        truth.put("register_number", "text", self.register, "Number in the commercial register")
        truth.put("ultimate_parent", "text", self.parent, "Name of the ultimate parent company", near=(self.company,))
        truth.put("period_end", "date", self.end, "Last day of the reporting year", near=(self.approved, self.opinion))
        truth.put("board_approval_date", "date", self.approved, "Date of the board's approval", near=(self.opinion,))
        truth.put("currency", "text", self.notation.currency, "Three-letter ISO code of the reporting currency")

        def figure(name: str, value: int | None, description: str, *near: int) -> None:
            truth.put(name, "integer", value, f"{description}, in thousands", near=near)

        figure("revenue", now.revenue, "Revenue of the reporting year", before.revenue, self.budget)
        figure(
            "revenue_prior_year",
            before.revenue,
            "Revenue of the year before as first reported",
            now.revenue,
            *([self.restated_revenue] if self.restated_revenue else []),
        )
        figure(
            "revenue_prior_year_restated",
            self.restated_revenue,
            "Revenue of the year before after a restatement",
            before.revenue,
        )
        figure("revenue_budget", self.budget, "Budgeted revenue of the reporting year", now.revenue)
        figure("gross_profit", now.gross_profit, "Gross profit", before.gross_profit)
        figure("operating_profit", now.operating_profit, "Operating profit", before.operating_profit, now.gross_profit)
        figure("income_tax", now.tax, "Income tax expense, as a positive number", before.tax)
        figure("profit_for_the_year", now.profit, "Profit for the year", before.profit, now.operating_profit)
        figure("total_assets", now.total_assets, "Total assets", before.total_assets)
        figure("inventories", now.inventories, "Inventories", before.inventories)
        figure("cash", now.cash, "Cash and cash equivalents at the end of the year", before.cash)
        figure("equity", now.equity, "Equity", before.equity)
        truth.put(
            *("total_borrowings", "integer", now.debt, "Sum of the carrying amounts of all borrowings, in thousands"),
            labels=("aggregated",) if self.prints_debt else ("aggregated", "derived"),
            near=(before.debt,) if self.prints_debt else (now.debt + now.payables,),
        )
        truth.put("goodwill_impairment", "integer", None, "Impairment of goodwill, in thousands")
        truth.put(
            "earnings_per_share",
            "number",
            self.earnings_per_share,
            "Earnings per share of the reporting year",
            near=(round(before.profit / self.shares, 2),),
        )
        truth.put(
            "dividend_per_share",
            "amount",
            self.dividend,
            "Dividend a share proposed for the reporting year",
            near=(self.former_dividend,),
        )
        truth.put(
            "average_employees",
            "integer",
            self.employees,
            "Average number of employees, without apprentices",
            near=(self.employees_before, self.apprentices),
        )
        truth.put("auditor", "text", self.auditor, "Firm that audited the reporting year", near=(self.former_auditor,))
        truth.put("audit_opinion_date", "date", self.opinion, "Date of the auditor's report", near=(self.approved,))
        truth.records(
            "segments",
            "Every segment, in the order of the report, amounts in thousands",
            (
                Column("name", "text", "Name of the segment"),
                Column("revenue", "integer", "Revenue"),
                Column("operating_profit", "integer", "Operating profit"),
            ),
            self.segments,
            labels=("exhaustive_list",),
        )
        truth.records(
            "borrowings",
            "Every borrowing, in the order of the note",
            (
                Column("instrument", "text", "Instrument as printed"),
                Column("carrying_amount", "integer", "Carrying amount in thousands"),
            ),
            [(name, amount) for name, _, amount in self.borrowings],
            labels=("exhaustive_list",),
        )
        truth.records(
            "subsidiaries",
            "Every subsidiary that is consolidated in full; no associates",
            (
                Column("name", "text", "Company name"),
                Column("seat", "text", "Place of its seat"),
                Column("share_percent", "number", "Share held in percent"),
            ),
            self.subsidiaries,
            labels=("exhaustive_list",),
        )
        truth.put(
            "outlook",
            "text",
            self.outlook,
            "Text of the outlook in full, without its heading",
            labels=("spans_pages",) if self.outlook_crosses else (),
        )
        return truth


def _make_year(random: Random, revenue: int) -> _Year:
    share = random.uniform
    gross = revenue * share(0.3, 0.5)
    cost = revenue - int(gross)
    selling, administration = int(gross * share(0.2, 0.35)), int(gross * share(0.15, 0.3))
    operating = revenue - cost - selling - administration
    interest = int(operating * share(0.04, 0.12))
    tax = int((operating - interest) * share(0.2, 0.3))
    return _Year(
        *(revenue, cost, selling, administration, interest, tax),
        fixed_assets=int(revenue * share(0.3, 0.6)),
        inventories=int(revenue * share(0.08, 0.2)),
        receivables=int(revenue * share(0.1, 0.2)),
        cash=int(revenue * share(0.03, 0.12)),
        debt=int(revenue * share(0.1, 0.25)),
        payables=int(revenue * share(0.05, 0.12)),
    )
