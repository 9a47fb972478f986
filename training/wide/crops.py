"""Parts of wide documents alone on a small sheet: what is learned before whole pages."""

from __future__ import annotations

from random import Random

from training.draft import DoesNotFit
from training.leaf import Document
from training.wide import invoices, receipts
from training.wide.content import draw_facts
from training.wide.job import Job
from training.wide.locales import draw_locale
from training.wide.look import draw_look
from training.wide.parts import Row, strip
from training.wide.tables import Table, draw_table_form, item_cells, item_marks
from training.wide.totals import sign_mark, totals

# Points; 384 x 160, 576 x 192 and 288 x 192 pixels at 96 dots per inch.
ASKED_PLAINLY = frozenset("vendor customer invoice_number date due_date currency line_items subtotal tax total".split())
KEY_VALUES, TABLE, RECEIPT_LINES = (288.0, 120.0), (432.0, 144.0), (216.0, 144.0)


def _job(random: Random, size: tuple[float, float], count: int, language: str | None, *, retail: bool = False) -> Job:
    look = draw_look(random, draw_locale(random, language), largest=12)
    look.heading_size = min(look.heading_size, 14)
    return Job(random, look, draw_facts(random, look, count, retail=retail), size, margin=random.uniform(6, 14))


def _finish(job: Job, kind: str, layout: str, schema: str) -> Document:
    fields = tuple(field for field, mark in job.marks.items() if mark is not None and field != "taxes")
    if not ASKED_PLAINLY & set(fields):
        raise DoesNotFit("nothing that a bundled schema asks for")
    return job.finish(kind, layout, fields, schema)


def draft_key_values(random: Random, language: str | None = None) -> Document:
    """Two to six labelled values as they stand in the head of an invoice or below its table."""
    job = _job(random, KEY_VALUES, 1, language)
    job.paper.margin = 4.0
    look, facts = job.look, job.facts
    y = job.top + look.size
    if random.random() < 0.3:
        marks, y = totals(random, job.paper, look, facts.sums, job.x0 + 4, job.x1 - 4, y)
        job.note_all(marks)
        return _finish(job, "key_values", "totals", "invoice")
    rows: list[Row] = [
        ("vendor", look.label("vendor"), facts.vendor.name),
        ("customer", look.label("customer"), facts.customer.name),
        *job.rows(),
    ]
    for field, cents in (("subtotal", facts.sums.subtotal), ("total", facts.sums.total)):
        rows.append((field, look.label(field), look.signed(cents)[0]))
    if facts.iban is not None:
        rows.append(("iban", look.label("iban"), facts.iban))
    rows = random.sample(rows, min(len(rows), random.choice((2, 3, 3, 4, 4, 5, 6))))
    if random.random() < 0.15:
        marks, _ = strip(job.paper, look, job.x0, job.x1, y, rows[:3], spread=random.random())
        job.note_all(marks)
        layout = "strip"
    else:
        layout = look.pair_form
        job.pairs(job.x0, job.x1, y, rows)
    for field, cents in (("total", facts.sums.total), ("subtotal", facts.sums.subtotal)):
        job.amount_currency(cents, job.marks.get(field))
    return _finish(job, "key_values", layout, "invoice")


def draft_table(random: Random, language: str | None = None) -> Document:
    """The header and one to five rows of an invoice's table, or a list of services."""
    job = _job(random, TABLE, random.choice((1, 2, 2, 3, 3, 4, 5)), language)
    look, facts = job.look, job.facts
    y = job.top + look.size
    if random.random() < 0.15:
        invoices.body_services(job, y)
        layout = "services"
    else:
        form = draw_table_form(random, look)
        headers = {column: look.label(column) for column in form.columns}
        table = Table(job.paper, look, form, headers, item_cells(random, look, form, facts.items), job.x0, job.x1)
        form.header_money = ""
        _, y = table.header(y)
        rows = []
        for index, item in enumerate(facts.items):
            marks, y = table.row(index, y)
            rows.append(item_marks(marks, form, item))
            if look.cell_signs:
                job.marks["cell_currency"] = sign_mark(look, item.amount, marks["amount"])
        if y - form.row_step > job.floor:
            raise DoesNotFit("crop")
        job.marks["line_items"] = rows
        layout = "_".join(form.columns)
    job.mark("currency", job.marks.pop("cell_currency", None))
    return _finish(job, "table", layout, "invoice")


def draft_receipt_lines(random: Random, language: str | None = None) -> Document:
    """One to four lines of a receipt."""
    job = _job(random, RECEIPT_LINES, random.choice((1, 2, 2, 3, 4)), language, retail=True)
    form = random.choice(receipts.LINE_FORMS)
    y = job.top + job.look.size
    if form == "columns":
        receipts.body_columns(job, y)
    else:
        receipts.body_lines(job, y, form)
    job.mark("currency", job.marks.pop("cell_currency", None))
    return _finish(job, "receipt_lines", form, "receipt")
