"""Service agreements: numbered clauses, schedules, and amendments that replace what the clauses say."""

from __future__ import annotations

import datetime

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import any_day, days_after, make_notation
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.style import HELVETICA, TIMES, make_style
from forklift.evaluate.documents.tables import Row, Table, TableColumn, plain
from forklift.evaluate.documents.truth import Column, Kind, Label, Truth

_SERVICES = (
    "Service desk,Network operation,Backup and restore,Application care,Workplace support,Data centre housing,"
    "Security monitoring,Licence management,Print service,Telephony,Interface operation,Training of users"
).split(",")
_DELIVERABLES = (
    "Operating manual,Transition plan,Test report,Inventory of assets,Security concept,Training material,"
    "Migration plan,Acceptance protocol,Backup concept,Interface description,Capacity plan,Exit plan,Data model,"
    "Risk register"
).split(",")
_TOPICS = (
    "Definitions,Scope of the Services,Cooperation of the Client,Staff and key roles,Quality,Changes,Acceptance,"
    "Fees and invoicing,Confidentiality,Data protection,Rights in materials,Liability,Insurance,Term and termination,"
    "Consequences of termination,Subcontracting,Audit,Force majeure,Governing law and disputes,General"
).split(",")
_AREAS = "network,storage,directory,mail,archive,portal,reporting,terminal,identity,printing,backup,gateway".split(",")
_DUTIES = (
    "The {area} component shall be monitored around the clock",
    "Changes to the {area} component shall be logged and kept for two years",
    "The {area} component shall be restored within {hours} hours after a failure",
    "Access to the {area} component shall need a second factor",
    "The {area} component shall be updated within {hours} days after a release",
    "A standby of the {area} component shall be held at a second site",
)


def make_contract(brief: Brief) -> MadeDocument:
    contract = _Contract(brief)
    contract.draw()
    return MadeDocument(contract.flow, contract.truth(), f"{contract.title} {contract.number}")


class _Contract:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.random = random = brief.random
        self.notation = notation = make_notation(random)
        self.client, self.provider, self.third = names.distinct(random, 3, names.company)
        self.client_register, self.provider_register = (f"HR {names.digits(random, 6)}" for _ in range(2))
        self.number = names.code(random, random.choice(("AGR", "SC", "MSA")))
        self.earlier_number = names.like(random, self.number)
        self.effective = any_day(random, 2021, 2024).replace(day=1)
        self.signed = days_after(self.effective, -random.randint(5, 40))
        self.term = random.choice((12, 24, 36, 48, 60))
        self.renewal = random.choice((6, 12))
        self.law = names.town(random)
        self.notice_days, self.new_notice_days = random.sample((30, 45, 60, 90, 120, 180), 2)
        self.payment_days, self.new_payment_days = random.sample((14, 20, 28, 35, 50), 2)
        self.cap, self.new_cap = (amount * 1_000_000 for amount in random.sample(range(5, 95, 5), 2))
        self.insured = random.choice((3, 4, 6)) * 100_000_000
        self.interest, self.credit_share = random.sample((3, 4, 5, 6, 7, 8, 9), 2)
        self.arbitration = None if brief.hard(0.3, 0.7) else names.town(random)
        self.guarantor = None if brief.hard(0.4, 0.8) else self.third
        amended = [name for name in ("notice", "payment", "cap") if brief.hard(0.2, 0.8)]
        self.amended = tuple(amended)
        self.amendment_days = sorted(
            days_after(self.effective, random.randint(60, 300) + 200 * index) for index in range(len(amended))
        )
        self.fees = [
            (service, random.randint(20, 900) * 10_000) for service in random.sample(_SERVICES, brief.many(3, 7))
        ]
        self.added_fee = (
            (next(s for s in _SERVICES if s not in dict(self.fees)), random.randint(20, 400) * 10_000)
            if amended
            else None
        )
        self.prints_total = not brief.hard(0.2, 0.9)
        self.deliverables = [
            (f"D{index + 1:02d}", name, days_after(self.effective, random.randint(20, 360)))
            for index, name in enumerate(random.sample(_DELIVERABLES, brief.many(3, 8)))
        ]
        self.title = random.choice(("Service Agreement", "Master Services Agreement", "Framework Agreement"))
        self.clause = remark(random, random.choice((6, 7, 8)))
        self.clause_crosses = False
        style = make_style(random, fonts=(TIMES, TIMES, HELVETICA))
        self.head = make_letterhead(
            random, style, self.provider, names.address(random), self.title, self.number, notation.remark
        )
        self.flow = Flow(self.head)
        self.prose = Prose(random, "contract")

    def draw(self) -> None:
        self._front()
        self._clauses()
        self._schedules()
        for index, day in enumerate(self.amendment_days):
            self._amendment(index, day)
        self.flow.finish()

    def _front(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        flow.gap(30)
        flow.title(self.title, size=22, below=f"No. {self.number}")
        flow.paragraph("between", italic=True)
        flow.y = flow.block(
            [self.client, *names.address(random), f"Register no. {self.client_register}", '(the "Client")'],
            flow.left,
            flow.y,
        )
        flow.paragraph("and", italic=True)
        flow.y = flow.block(
            [self.provider, *self.head.lines[:2], f"Register no. {self.provider_register}", '(the "Provider")'],
            flow.left,
            flow.y,
        )
        flow.gap(10)
        flow.paragraph(
            f"This Agreement replaces agreement {self.earlier_number} between the parties. It was signed on "
            f"{notation.date(self.signed)} and takes effect on {notation.date(self.effective)} "
            '(the "Effective Date").'
        )
        if self.guarantor:
            flow.paragraph(f'{self.guarantor} guarantees the obligations of the Provider (the "Guarantor").')
        else:
            flow.paragraph(f"{self.third} is an affiliate of the Client and may order under this Agreement.")
        flow.heading("Contents", level=2)
        flow.pairs([(f"{index + 1}", topic) for index, topic in enumerate(_TOPICS)], columns=2, label_width=24)
        flow.heading("Signatures", level=2, keep=90)
        y = flow.y + 46
        for x, party in ((flow.left, "Client"), (flow.left + flow.width / 2 + 10, "Provider")):
            flow.sheet.line(x, y, x + flow.width / 2 - 30, y, 0.6)
            flow.block([f"For the {party}", f"Authorised officer, code {names.letters(random, 2)}"], x, y)
        flow.start_page()

    def _clauses(self) -> None:
        """About 45 % of the pages; each topic says its fact once, among other sentences."""
        flow, random = self.flow, self.random
        lines = max(1, int((self.brief.pages * 0.45 - 1) * 52 / len(_TOPICS)))
        for number, topic in enumerate(_TOPICS, start=1):
            flow.heading(f"{number}. {topic}")
            facts = self._facts(topic)
            written, sub = 0, 0
            crosses = topic == "Consequences of termination"
            first = random.randrange(max(1, lines // 5))
            places = {first + index: fact for index, fact in enumerate(facts)}
            while written < lines or sub <= max(places, default=0):
                sub += 1
                text = self.prose.paragraph(2, 4)
                if sub - 1 in places:
                    text = f"{self.prose.sentence()} {places[sub - 1]} {self.prose.sentence()}"
                written += flow.line_count(text, indent=28)
                flow.paragraph(text, label=f"{number}.{sub}", indent=28)
            if crosses:
                heading = f"{number}.{sub + 1} Transitional provision"
                crossing = self.brief.hard(0.4, 1.0)
                span = flow.passage(heading, self.clause, crossing=crossing, filler=self.prose.paragraph)
                self.clause_crosses = span.crosses

    def _facts(self, topic: str) -> list[str]:
        notation = self.notation
        facts = {
            "Fees and invoicing": [
                f"Invoices are payable within {self.payment_days} days after receipt.",
                f"Sums that are overdue bear interest of {self.interest}% a year.",
                f"Fees are stated in {notation.currency} and in Schedule 1.",
            ],
            "Quality": [f"Service credits are limited to {self.credit_share}% of the monthly fee."],
            "Liability": [
                f"The total liability of the Provider in a contract year is limited to {notation.money(self.cap)}."
            ],
            "Insurance": [
                "The Provider shall hold a liability insurance that covers at least "
                f"{notation.money(self.insured)} a year."
            ],
            "Term and termination": [
                f"This Agreement has an initial term of {self.term} months from the Effective Date.",
                f"It is then renewed by {self.renewal} months at a time unless a party objects.",
                f"Either party may terminate for convenience by written notice of {self.notice_days} days.",
            ],
            "Governing law and disputes": [f"This Agreement is governed by the laws of {self.law}."]
            + (
                [f"Disputes are decided by arbitration; the seat of arbitration is {self.arbitration}."]
                if self.arbitration
                else [f"The courts at the Provider's seat in {self.head.lines[1][6:]} decide all disputes."]
            ),
        }
        return facts.get(topic, [])

    def _schedules(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        flow.start_page()
        flow.heading("Schedule 1: Services and fees")
        columns = (TableColumn("No."), TableColumn("Service", wraps=True), TableColumn("Annual fee", "right"))
        rows = [plain(f"S{i + 1}", name, notation.amount(fee)) for i, (name, fee) in enumerate(self.fees)]
        if self.prints_total:
            rows.append(Row(("", "Total of this Schedule", notation.amount(sum(fee for _, fee in self.fees))), "total"))
        Table(flow, columns).write(rows)
        flow.paragraph(f"All fees in {notation.currency} a year, without tax.")
        flow.heading("Schedule 2: Deliverables")
        columns = (TableColumn("Code"), TableColumn("Deliverable", wraps=True), TableColumn("Due", "right"))
        Table(flow, columns).write([plain(code, name, notation.date(day)) for code, name, day in self.deliverables])
        flow.heading("Schedule 3: Requirements")
        flow.paragraph(self.prose.paragraph(3, 5))
        left = self.brief.pages - flow.page - 1.0 * len(self.amendment_days)
        row_height = flow.style.leading + 5.2
        rows = []
        for number in range(max(12, int(left * 560 / (row_height * 1.25)))):
            area = random.choice(_AREAS)
            duty = random.choice(_DUTIES).format(area=area, hours=random.choice((2, 4, 8, 12, 24)))
            if random.random() < 0.4:
                duty += f", as reported by desk {names.digits(random, 3)} in {names.town(random)}"
            rows.append(plain(f"R{number + 1:04d}", area, f"{duty}.", random.choice(("must", "must", "should"))))
        text = TableColumn("Requirement", wraps=True)
        requirements = (TableColumn("Id"), TableColumn("Area"), text, TableColumn("Degree"))
        Table(flow, requirements, split_rows=True).write(rows)

    def _amendment(self, index: int, day: datetime.date) -> None:
        flow, notation = self.flow, self.notation
        flow.start_page()
        flow.heading(f"Amendment No. {index + 1}")
        flow.paragraph(
            f"The parties to agreement {self.number} amend it as follows with effect from {notation.date(day)}. "
            "All other provisions remain as they are."
        )
        change = {
            "notice": f"In the clause on termination for convenience, the notice of {self.notice_days} days is "
            f"replaced by a notice of {self.new_notice_days} days.",
            "payment": f"Invoices that are issued after this date are payable within {self.new_payment_days} days "
            f"instead of {self.payment_days} days after receipt.",
            "cap": f"The limit of the Provider's total liability in a contract year becomes "
            f"{notation.money(self.new_cap)}.",
        }[self.amended[index]]
        flow.paragraph(change, label="A.", indent=28)
        if index == 0 and self.added_fee:
            name, fee = self.added_fee
            flow.paragraph(
                f"Schedule 1 is extended by the service {name} at an annual fee of {notation.money(fee)}.",
                label="B.",
                indent=28,
            )
        flow.paragraph(self.prose.paragraph(2, 4), label="C." if index == 0 else "B.", indent=28)
        flow.note(f"Signed for both parties by their authorised officers. File {names.code(self.random)}.")

    def truth(self) -> Truth:
        truth = Truth("A service agreement with its schedules and amendments; give what applies after all amendments")
        truth.put("agreement_number", "text", self.number, "Number of this agreement", near=(self.earlier_number,))
        truth.put(
            "effective_date",
            "date",
            self.effective,
            "Date on which the agreement takes effect",
            near=(self.signed, *self.amendment_days),
        )
        truth.put(
            "signature_date", "date", self.signed, "Date on which the agreement was signed", near=(self.effective,)
        )
        for role, company, register, other in (
            ("client", self.client, self.client_register, self.provider_register),
            ("provider", self.provider, self.provider_register, self.client_register),
        ):
            part = truth.part(role, f"The {role}")
            part.put("name", "text", company, "Company name", near=(self.third,))
            part.put("register_number", "text", register, "Number in the commercial register", near=(other,))
        truth.put(
            "guarantor",
            "text",
            self.guarantor,
            "Company that guarantees the provider's obligations",
            near=(self.third,),
        )
        truth.put("initial_term_months", "integer", self.term, "Initial term in months", near=(self.renewal,))
        truth.put(
            "expiry_date",
            "date",
            _last_day(self.effective, self.term),
            "Last day of the initial term",
            labels=("derived", "aggregated"),
        )
        truth.put("renewal_months", "integer", self.renewal, "Months by which the term is renewed", near=(self.term,))
        truth.put("governing_law", "text", self.law, "Place whose laws govern the agreement, the name only")
        truth.put(
            "arbitration_seat",
            "text",
            self.arbitration,
            "Seat of arbitration, if arbitration was agreed",
            near=() if self.arbitration else (self.law,),
        )
        truth.put("exclusive_territory", "text", None, "Territory for which exclusivity was granted", near=(self.law,))
        self._amended_truth(truth)
        truth.put(
            "insurance_minimum",
            "amount",
            self.insured,
            "Least yearly cover of the liability insurance",
            near=(self.cap,),
        )
        truth.put(
            "late_interest_percent",
            "number",
            self.interest,
            "Yearly interest on overdue sums, in percent",
            near=(self.credit_share,),
        )
        truth.put("currency", "text", self.notation.currency, "Three-letter ISO code of the currency of the fees")
        fees = [*self.fees, *([self.added_fee] if self.added_fee else [])]
        truth.records(
            "fees",
            "Every service with its annual fee: those of Schedule 1 and those that amendments add",
            (Column("service", "text", "Name of the service"), Column("annual_fee", "amount", "Fee a year")),
            fees,
            labels=("exhaustive_list", "aggregated") if self.added_fee else ("exhaustive_list",),
        )
        old_total = sum(fee for _, fee in self.fees)
        total = sum(fee for _, fee in fees)
        printed = self.prints_total and not self.added_fee
        truth.put(
            "fees_total",
            "amount",
            total,
            "Sum of all annual fees, those added by amendments included",
            labels=("aggregated",) if printed else ("aggregated", "derived"),
            near=(old_total,) if self.prints_total else (),
        )
        truth.records(
            "deliverables",
            "Every deliverable, in the order of its schedule",
            (
                Column("code", "text", "Code"),
                Column("name", "text", "Name"),
                Column("due_date", "date", "Date on which it is due"),
            ),
            self.deliverables,
            labels=("exhaustive_list",),
        )
        truth.records(
            "amendments",
            "Every amendment, in order",
            (
                Column("number", "integer", "Its number"),
                Column("effective_date", "date", "Date on which it takes effect"),
            ),
            [(index + 1, day) for index, day in enumerate(self.amendment_days)],
            labels=("exhaustive_list",),
        )
        truth.put(
            "transitional_provision",
            "text",
            self.clause,
            "Text of the transitional provision, without its heading",
            labels=("spans_pages",) if self.clause_crosses else (),
        )
        return truth

    def _amended_truth(self, truth: Truth) -> None:
        """The three terms that an amendment may have replaced."""

        def term(key: str, name: str, kind: Kind, old: int, new: int, other: int, description: str) -> None:
            changed = key in self.amended
            labels: tuple[Label, ...] = ("aggregated",) if changed else ()
            near = (old, other) if changed else (other,)
            truth.put(name, kind, new if changed else old, f"{description}, as amended", labels=labels, near=near)

        notice = "Days of notice for termination for convenience"
        term(
            "notice", "notice_period_days", "integer", self.notice_days, self.new_notice_days, self.payment_days, notice
        )
        payment = "Days within which invoices are payable"
        term("payment", "payment_days", "integer", self.payment_days, self.new_payment_days, self.notice_days, payment)
        cap = "Limit of the provider's total liability in a contract year"
        term("cap", "liability_cap", "amount", self.cap, self.new_cap, self.insured, cap)


def _last_day(start: datetime.date, months: int) -> datetime.date:
    """Of a term of `months` months that begins on the first day of a month."""
    month = start.month - 1 + months
    return datetime.date(start.year + month // 12, month % 12 + 1, 1) - datetime.timedelta(days=1)
