"""Wide invoices: a head, the items as a table or as paragraphs, and the totals, on one page or two."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from training.draft import DoesNotFit
from training.leaf import Document
from training.wide import heads
from training.wide.content import draw_facts
from training.wide.job import A4, A5, LETTER, Job
from training.wide.locales import draw_locale
from training.wide.look import draw_look
from training.wide.paper import Mark
from training.wide.parts import Row, note, pair, stamp
from training.wide.tables import Table, draw_table_form, item_cells, item_marks
from training.wide.totals import sign_mark, totals

FIELDS = (
    *("document_type", "vendor", "vendor_address", "vendor_tax_id", "vendor_phone", "vendor_email"),
    *("customer", "customer_address", "customer_number", "invoice_number", "order_number"),
    *("date", "delivery_date", "due_date", "payment_terms", "currency", "line_items"),
    *("subtotal", "discount", "shipping", "taxes", "tax_rate", "tax", "total", "previous_balance", "iban", "bic"),
)


def _headers(job: Job, columns: tuple[str, ...]) -> dict[str, str]:
    return {column: job.look.label(column) for column in columns}


def body_table(job: Job, y: float) -> float:
    """The items in a table, over as many pages as they take."""
    look, facts = job.look, job.facts
    form = draw_table_form(job.random, look)
    headers = _headers(job, form.columns)
    headers["amount"] += form.header_money
    cells = item_cells(job.random, look, form, facts.items)
    table = Table(job.paper, look, form, headers, cells, job.x0, job.x1)

    def header(y: float) -> float:
        runs, y = table.header(y)
        if form.header_money:
            sign = form.header_money.strip(" ()").removeprefix("in ")
            at = headers["amount"].rindex(sign)
            job.mark("currency", Mark(look.currency_value(sign), ((0, runs["amount"], at),)))
        return y

    y = header(y)
    again = job.chance(0.7)
    rows, last = [], None
    for index, item in enumerate(facts.items):
        if y + table.height(index) - form.row_step * 0.5 > job.floor:
            y = job.turn()
            if again:
                y = header(y)
        marks, y = table.row(index, y)
        rows.append(item_marks(marks, form, item))
        last = marks["amount"]
    job.marks["line_items"] = rows
    if look.cell_signs and last is not None:
        job.marks["cell_currency"] = sign_mark(look, facts.items[-1].amount, last)
    return y


def body_services(job: Job, y: float) -> float:
    """No table: paragraphs with an amount at the right, some with hours and rate in a line below."""
    look, facts, paper = job.look, job.facts, job.paper
    if job.chance(0.7):
        paper.text(job.x0, y, look.label("service_line") + ":", look.strong, ink=look.ink)
        y += look.step * 1.3
    leaders, detailed = job.chance(0.3), job.chance(0.5)
    times = job.random.choice((" x ", " × ", " @ ", " à "))
    indent = job.random.choice((0, 10, 18))
    column = job.x1 - job.random.uniform(0, 0.15) * job.width
    rows, last = [], None
    for item in facts.items:
        if y + 2.5 * look.step > job.floor:
            y = job.turn()
        amount, _ = look.signed(item.amount)
        room = column - look.body.width(amount.shown) - 2 * look.size - job.x0
        description, end = paper.paragraph(job.x0, y, item.description, look.body, room, look.size * 1.25, ink=look.ink)
        mark = paper.value(column, end, amount, look.body, ink=look.ink, align="right")
        if leaders:
            left = paper.right_end(description.pieces[-1][1]) + 4
            right = paper.runs[mark.pieces[0][1]].x - 4
            if right - left > 12:
                paper.rule(left, end, right, end, width=0.7, ink=0.5, dash=(1, 3))
        marks = dict.fromkeys(("sku", "description", "quantity", "unit", "unit_price", "tax_rate", "amount"))
        marks |= {"description": description, "amount": mark}
        y = end
        if detailed:
            y += look.size * 1.25
            price = look.money(item.unit_price)
            words = f"{item.quantity.shown} {item.unit.shown}{times}{price.shown}"
            run = paper.text(job.x0 + indent, y, words, look.note, ink=look.ink)
            marks["quantity"] = Mark(item.quantity, ((0, run, 0),))
            marks["unit"] = Mark(item.unit, ((0, run, len(item.quantity.shown) + 1),))
            marks["unit_price"] = Mark(price, ((0, run, len(words) - len(price.shown)),))
        y += look.step * job.random.uniform(1.05, 1.3)
        rows.append(marks)
        last = mark
    job.marks["line_items"] = rows
    if last is not None:
        job.marks["cell_currency"] = sign_mark(look, facts.items[-1].amount, last)
    paper.rule(job.x0, y - look.size * 0.6, job.x1, y - look.size * 0.6, width=0.6, ink=0.3)
    return y + look.size * 0.6


def close(job: Job, y: float) -> float:
    """The totals, how to pay, and a friendly word."""
    look, paper, facts, random = job.look, job.paper, job.facts, job.random
    rows_high = (
        3 + len(facts.sums.taxes) + (facts.sums.discount is not None) + (facts.sums.shipping is not None)
    ) * look.step
    y += random.uniform(0.6, 2) * look.size
    if y + rows_high > job.floor:
        y = job.turn()
    wide = min(job.width, max(random.uniform(0.36, 0.52) * job.width, 15 * look.size))
    if random.random() < 0.82:
        x0, x1 = job.x1 - wide - 0.0, job.x1 - (0.4 * look.size)
    else:
        x0, x1 = job.x0 + 0.5 * look.size, job.x0 + wide
    start = y
    marks, y = totals(random, paper, look, facts.sums, x0, x1, y)
    job.note_all(marks)
    left_room = x0 - job.x0 - 2 * look.size
    side = start
    rows: list[Row] = []
    if facts.iban is not None and job.chance(0.3):
        rows.append(("iban", look.label("iban"), facts.iban))
        if job.chance(0.6):
            rows.append(("bic", look.label("bic"), facts.bic))
    if rows and left_room > 12 * look.size and job.chance(0.5):
        try:
            side = job.pairs(job.x0, x0 - look.size, start, rows, form="inline") + look.size
            rows = []
        except DoesNotFit:
            return _again()
    y = max(y, side) + random.uniform(0.3, 1.5) * look.size
    y = job.currency_line(job.x0, y) if job.marks.get("cell_currency") is None else y
    for row in rows:
        if y + look.step > job.floor:
            break
        mark, y = pair(paper, look, job.x0, job.x1, y, row[1], row[2], form="inline")
        job.mark(row[0], mark)
    if job.chance(0.5) and y + 3 * look.step < job.floor:
        y = note(random, paper, look, job.x0, y + look.size * 0.5, look.label("thanks"), width=job.width)
    return y


def _again() -> float:
    raise DoesNotFit("side by side")


FAMILIES: dict[str, tuple[Callable[[Job, float], float], Callable[[Job, float], float]]] = {
    "classic": (heads.head_classic, body_table),
    "mirrored": (heads.head_mirrored, body_table),
    "band": (heads.head_band, body_table),
    "sidebar": (heads.head_sidebar, body_table),
    "window": (heads.head_window, body_table),
    "boxes": (heads.head_boxes, body_table),
    "centred": (heads.head_centred, body_table),
    "minimal": (heads.head_minimal, body_table),
    "split": (heads.head_split, body_table),
    "form": (heads.head_form, body_table),
    "far_right": (heads.head_right, body_table),
    "services": (heads.head_classic, body_services),
    "letter_services": (heads.head_window, body_services),
    "hero": (heads.head_hero, body_table),
    "stub": (heads.head_stub, body_table),
}
COUNTS = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20)


def draft_invoice(random: Random, family: str, language: str | None = None, *, pages: int = 1) -> Document:
    """One invoice of the family. Raises DoesNotFit where the lot drawn does not fit."""
    locale = draw_locale(random, language)
    if random.random() < (0.6 if pages > 1 else 0.3):
        size, largest, margin = A5, 10.0, random.uniform(16, 30)
    else:
        size = LETTER if locale.letter or random.random() < 0.08 else A4
        largest, margin = 14.0, random.uniform(24, 60)
    look = draw_look(random, locale, largest=largest)
    counts = COUNTS if size != A5 else tuple(count for count in COUNTS if count <= 8)
    count = random.choice(counts) if pages == 1 else random.randint(8 if size == A5 else 14, 20)
    facts = draw_facts(random, look, count)
    job = Job(random, look, facts, size, margin=margin, pages=pages)
    if pages > 1 and size != A5:
        look.leading = max(look.leading, 1.5)
    job.plan_footer()
    head, body = FAMILIES[family]
    y = head(job, job.top + look.heading_size + random.uniform(0, 12))
    y += random.uniform(0.8, 3) * look.size
    y = body(job, y)
    y = close(job, y)
    job.mark("currency", job.marks.pop("cell_currency", None))
    if y > job.floor + look.size:
        raise DoesNotFit("floor")
    if random.random() < 0.08:
        stamp(random, job.paper, look, job.top, job.floor)
    job.foot()
    kind = "invoice" if pages == 1 else "invoice_two_pages"
    return job.finish(kind, family, FIELDS, "invoice")
