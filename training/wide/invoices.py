"""Wide invoices: families of heads and bodies, on one page or two."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from training.draft import DoesNotFit
from training.leaf import Document
from training.wide import figures
from training.wide.content import draw_facts
from training.wide.job import A4, A5, LETTER, Job
from training.wide.locales import draw_locale
from training.wide.look import draw_look
from training.wide.paper import Face, Mark
from training.wide.parts import (
    Row,
    Table,
    draw_table_form,
    item_cells,
    item_marks,
    logo,
    note,
    pair,
    sign_mark,
    stamp,
    strip,
    totals,
)

FIELDS = (
    *("document_type", "vendor", "vendor_address", "vendor_tax_id", "vendor_phone", "vendor_email"),
    *("customer", "customer_address", "customer_number", "invoice_number", "order_number"),
    *("date", "delivery_date", "due_date", "payment_terms", "currency", "line_items"),
    *("subtotal", "discount", "shipping", "taxes", "tax_rate", "tax", "total", "previous_balance", "iban", "bic"),
)


def _logo(job: Job, x: float, y: float, size: float) -> bool:
    if not job.chance(0.55):
        return False
    logo(job.random, job.paper, job.look, x, y, size, job.facts.vendor.name.shown[0])
    return True


def _with_logo(job: Job, y: float, side: str) -> tuple[float, float]:
    """A logo above a letterhead at the left or right: where the letterhead begins, and its width."""
    size = job.random.uniform(22, 46)
    x = job.x0 if side == "left" else job.x1 - size
    if _logo(job, x, job.paper.margin + 4, size):
        y = max(y, job.paper.margin + size + 6 + job.look.heading_size)
    return y, size


def head_classic(job: Job, y: float) -> float:
    """Letterhead at the left, title and labelled values at the right, customer below the letterhead."""
    middle = job.x0 + job.width * job.random.uniform(0.5, 0.62)
    top = y
    y, _ = _with_logo(job, y, "left")
    left = job.vendor(job.x0, y, width=middle - job.x0 - 8)
    right = job.title(job.x1, top, align="right") + job.look.size * 0.6
    right = job.pairs(middle, job.x1, right, job.rows())
    left = job.customer(job.x0, left + job.random.uniform(0.8, 3) * job.look.size, middle - job.x0 - 8)
    return max(left, right)


def head_mirrored(job: Job, y: float) -> float:
    """Title and labelled values at the left, letterhead at the right, customer below it."""
    middle = job.x0 + job.width * job.random.uniform(0.5, 0.58)
    top = y
    y, _ = _with_logo(job, y, "right")
    right = job.vendor(job.x1, y, align="right", width=job.x1 - middle)
    left = job.title(job.x0, top) + job.look.size * 0.6
    left = job.pairs(job.x0, middle - 10, left, job.rows())
    right = job.customer(middle, right + job.random.uniform(0.8, 2.5) * job.look.size, job.x1 - middle)
    return max(left, right)


def head_band(job: Job, y: float) -> float:
    """A dark band across the top with the vendor and the title in white."""
    look, paper = job.look, job.paper
    height = look.heading_size * job.random.uniform(2.2, 3.4)
    paper.box(0, 0, paper.width, height + paper.margin, fill=look.accent if look.coloured else 0.18)
    baseline = paper.margin + height * 0.62
    name = paper.value(job.x0, baseline, job.facts.vendor.name, look.heading, ink=1.0)
    job.mark("vendor", name)
    title = Face(look.heading_family.face(), look.heading_size * 0.9)
    words = look.label("invoice_title")
    run = paper.text(job.x1, baseline, words, title, ink=1.0, align="right")
    job.mark("document_type", Mark(figures.text(words, "invoice"), ((0, run, 0),)))
    y = paper.margin + height + look.size * 2
    middle = job.x0 + job.width * job.random.uniform(0.5, 0.6)
    left = job.customer(job.x0, y, middle - job.x0 - 8)
    return max(left, job.pairs(middle, job.x1, y, job.rows()))


def head_sidebar(job: Job, y: float) -> float:
    """A shaded column at the left holds the vendor and the labelled values; all else stands beside it."""
    look, paper = job.look, job.paper
    wide = job.width * job.random.uniform(0.26, 0.32)
    paper.box(0, 0, job.x0 + wide, paper.height, fill=look.shade(0.1))
    left = job.vendor(job.x0, y, width=wide - 8, face=look.strong, lines=0, contacts=False)
    rows = job.rows()
    left = job.pairs(job.x0, job.x0 + wide - 4, left + look.size * 1.5, rows, form="stacked")
    job.x0 += wide + 12
    right = job.title(job.x0, y) + look.size * 0.8
    right = job.customer(job.x0, right, job.width)
    return right


def head_window(job: Job, y: float) -> float:
    """A business letter for window envelopes: sender in one small line, address, information block, subject."""
    look, paper, facts = job.look, job.paper, job.facts
    top, _ = _with_logo(job, y, "right")
    if job.chance(0.5) and top == y:
        name = paper.value(job.x1, y, facts.vendor.name, look.heading, ink=look.accent_ink, align="right")
        job.mark("vendor", name)
    sender = figures.text(f"{facts.vendor.name.shown}, {facts.vendor.street}, {facts.vendor.town}")
    small = Face(look.family.face(), 7.0)
    y = max(y + look.heading_size * 1.4, top + 4)
    middle = job.x0 + job.width * job.random.uniform(0.54, 0.62)
    if small.width(sender.shown) > middle - job.x0 - 6:
        raise DoesNotFit("sender")
    run = paper.text(job.x0, y, sender.shown, small, ink=look.ink)
    job.mark("vendor", Mark(facts.vendor.name, ((0, run, 0),)))
    where = figures.text(f"{facts.vendor.street}, {facts.vendor.town}")
    job.mark("vendor_address", Mark(where, ((0, run, len(facts.vendor.name.shown) + 2),)))
    paper.rule(job.x0, y + 2.5, paper.right_end(run), y + 2.5, width=0.4, ink=0.4)
    rows = job.rows(number=False)
    left = job.customer(job.x0, y + look.size * 2, middle - job.x0 - 8, label=None, lines=2)
    right = job.pairs(middle, job.x1, y + look.size, rows, form=job.random.choice(("columns", "right")))
    y = max(left, right) + job.random.uniform(1.2, 3) * look.size
    words = look.label("invoice_title")
    run = paper.text(job.x0, y, words, look.title, ink=look.accent_ink)
    job.mark("document_type", Mark(figures.text(words, "invoice"), ((0, run, 0),)))
    joint = job.random.choice(("", "", "Nr. ", "no. ", "# ")) if look.locale.words.language in ("de", "en") else ""
    x = paper.right_end(run) + look.heading_size * 0.35
    job.mark("invoice_number", paper.value(x, y, facts.number.within(joint), look.title, ink=look.accent_ink))
    y += look.heading_size * 0.5 + look.size * 1.6
    if job.chance(0.6):
        paper.text(job.x0, y, look.label("salutation"), look.body, ink=look.ink)
        y += look.step * 1.3
        for _, line in look.body.wrap(look.label("opening"), job.width):
            paper.text(job.x0, y, line, look.body, ink=look.ink)
            y += look.step
    return y


def head_boxes(job: Job, y: float) -> float:
    """A form: every value in a box of its own, labels in the boxes' corners."""
    look, paper = job.look, job.paper
    title_x, align = job.random.choice(((job.x0, "left"), (job.x1, "right"), ((job.x0 + job.x1) / 2, "centre")))
    y = job.title(title_x, y, align=align) + look.size * 0.4
    middle = (job.x0 + job.x1) / 2
    pad = 0.5 * look.size
    y += look.size
    left = job.vendor(job.x0 + pad, y, width=middle - job.x0 - 2 * pad, face=look.strong, lines=2, contacts=False)
    right = job.customer(middle + pad, y, middle - job.x0 - 2 * pad, lines=2)
    bottom = max(left, right) - look.size * 0.5
    for x in (job.x0, middle):
        paper.box(x, y - look.size * 1.4, middle - job.x0, bottom - y + look.size * 1.4, edge=0.4)
    rows = job.rows()[:6]
    columns = 3 if len(rows) > 4 else max(2, min(len(rows), 4))
    wide, high = job.width / columns, look.size * 3.1
    y = bottom
    for index, (field, label, value) in enumerate(rows):
        x, top = job.x0 + index % columns * wide, y + index // columns * high
        paper.box(x, top, wide, high, edge=0.4)
        small = Face(look.label_face.font, max(7.0, look.size - 2))
        label_run = paper.text(x + pad, top + small.size * 1.1, label, small, ink=look.label_ink)
        mark = paper.value(x + pad, top + high - look.size * 0.55, value, look.body, ink=look.ink)
        if max(paper.right_end(mark.pieces[0][1]), paper.right_end(label_run)) > x + wide - 2:
            raise DoesNotFit("box")
        job.mark(field, mark)
    return y + -(-len(rows) // columns) * high + look.size * 1.6


def head_centred(job: Job, y: float) -> float:
    """Centred letterhead, a rule, the customer, then the labelled values side by side in a strip."""
    look, paper = job.look, job.paper
    centre = (job.x0 + job.x1) / 2
    y = job.vendor(centre, y, align="centre", width=job.width)
    paper.rule(job.x0, y - look.size * 0.4, job.x1, y - look.size * 0.4, width=1, ink=look.accent_ink)
    y += look.heading_size
    y = job.title(centre, y, align="centre") + look.size
    y = job.customer(job.x0, y, job.width * 0.7, label=job.random.choice(("stacked", "inline"))) + look.size
    rows = job.rows()
    if len(rows) > 5:
        rows = [row for row in rows if row[0] in ("invoice_number", "date", "due_date", "currency", "order_number")]
    if job.chance(0.4):
        paper.box(job.x0 - 2, y - look.size * 1.1, job.width + 4, look.size * 2.9, fill=look.shade(0.1))
    marks, y = strip(
        paper,
        look,
        job.x0 + 3,
        job.x1 - 3,
        y,
        rows,
        spread=job.random.random(),
        align=job.random.choice(("left", "centre")),
    )
    job.note_all(marks)
    return y


def head_minimal(job: Job, y: float) -> float:
    """White space and a few hairlines: a small vendor, a large title, light labels."""
    look, paper = job.look, job.paper
    job.vendor(job.x1, y, align="right", face=look.strong, lines=0, contacts=False, width=job.width * 0.6)
    y = job.title(job.x0, y + look.heading_size * job.random.uniform(0.8, 2.2)) + look.size * job.random.uniform(1, 3)
    third = job.width * job.random.uniform(0.4, 0.5)
    rows = job.rows()
    left = job.pairs(job.x0, job.x0 + third - 8, y, rows[:4], form="stacked" if job.chance(0.5) else "columns")
    right = job.customer(job.x0 + third, y, job.width - third)
    paper.rule(job.x0, max(left, right), job.x1, max(left, right), width=0.3, ink=0.5)
    return max(left, right) + look.size * 2


def head_split(job: Job, y: float) -> float:
    """Sender and receiver side by side, both labelled; the labelled values in a row or two columns below."""
    look = job.look
    x, align = job.random.choice(((job.x0, "left"), (job.x1, "right")))
    y = job.title(x, y, align=align) + look.size * job.random.uniform(0.8, 2)
    middle = job.x0 + job.width * job.random.uniform(0.48, 0.55)
    job.paper.text(job.x0, y, look.label("vendor") + look.colon, look.label_face, ink=look.label_ink)
    left = job.vendor(job.x0, y + look.size * 1.3, width=middle - job.x0 - 8, face=look.strong, lines=2)
    right = job.customer(middle, y, job.x1 - middle, lines=2)
    y = max(left, right) + look.size * job.random.uniform(0.8, 2)
    rows = job.rows()
    half = -(-len(rows) // 2)
    if job.chance(0.5):
        left = job.pairs(job.x0, middle - 8, y, rows[:half], form="columns")
        right = job.pairs(middle, job.x1, y, rows[half:], form="columns")
        return max(left, right)
    marks, y = strip(job.paper, look, job.x0, job.x1, y, rows[:5], spread=job.random.random())
    job.note_all(marks)
    return y


def head_form(job: Job, y: float) -> float:
    """Everything labelled in one list, the vendor and the customer too."""
    look, facts = job.look, job.facts
    x, align = job.random.choice(((job.x0, "left"), ((job.x0 + job.x1) / 2, "centre"), (job.x1, "right")))
    y = job.title(x, y, align=align) + look.size
    parties: list[Row] = [("vendor", look.label("vendor"), facts.vendor.name)]
    if job.chance(0.9):
        parties.append(("customer", look.label("customer"), facts.customer.name))
    rows = parties + job.rows() if job.chance(0.6) else job.rows() + parties
    form = job.random.choice(("columns", "columns", "right", "inline"))
    return job.pairs(job.x0, job.x0 + job.width * job.random.uniform(0.65, 1), y, rows, form=form)


def head_right(job: Job, y: float) -> float:
    """Everything about the sender in a column at the far right, as letters of small firms have it."""
    look = job.look
    column = job.x1 - job.width * job.random.uniform(0.3, 0.36)
    top, _ = _with_logo(job, y, "right")
    right = job.vendor(column, top, width=job.x1 - column, face=look.strong, lines=2, contacts=True)
    rows = job.rows()
    right = job.pairs(column, job.x1, right + look.size, rows, form="stacked")
    left = job.customer(job.x0, top + job.random.uniform(0, 40), column - job.x0 - 12, label=None, lines=2)
    left = job.title(job.x0, max(left + look.heading_size * 2, right - look.heading_size))
    return max(left, right) + look.size


def head_hero(job: Job, y: float) -> float:
    """The amount to pay stands large at the top of the page (held out from training)."""
    look, paper, facts = job.look, job.paper, job.facts
    middle = job.x0 + job.width * 0.55
    left = job.vendor(job.x0, y, width=middle - job.x0 - 8, lines=1 if job.chance(0.3) else 0)
    big = Face(look.heading_family.face(bold=True), look.heading_size * 1.3)
    label, _, at = look.label("total"), paper.page, y
    run = paper.text(job.x1, at, label, look.label_face, ink=look.label_ink, align="right")
    printed, _ = look.signed(facts.sums.total)
    mark = paper.value(job.x1, at + big.size * 1.1, printed, big, ink=look.accent_ink, align="right")
    if paper.runs[run].x < middle or paper.runs[mark.pieces[0][1]].x < middle:
        raise DoesNotFit("hero")
    job.mark("total", mark)
    job.mark("currency", sign_mark(look, facts.sums.total, mark))
    y = max(left, at + big.size * 1.1 + look.size) + look.heading_size
    y = job.title(job.x0, y) + look.size * 0.6
    marks, y = strip(paper, look, job.x0, job.x1, y, job.rows()[:4], spread=job.random.uniform(0.5, 1))
    job.note_all(marks)
    return job.customer(job.x0, y + look.size * 0.5, job.width)


def head_stub(job: Job, y: float) -> float:
    """A dashed line parts the head, whose values stand in a box at the right (held out from training)."""
    look, paper = job.look, job.paper
    box = job.x1 - job.width * job.random.uniform(0.4, 0.46)
    rows = job.rows()
    right = job.pairs(box + 6, job.x1 - 6, y + look.size, rows, form="right")
    paper.box(box, y - look.size * 0.4, job.x1 - box, right - y - look.size * 0.3, edge=look.accent_ink, radius=5)
    left = job.vendor(job.x0, y, width=box - job.x0 - 10, lines=2)
    left = job.customer(job.x0, left + look.size, box - job.x0 - 10, label="inline")
    y = max(left, right) + look.size
    paper.rule(job.x0, y, job.x1, y, width=0.7, ink=0.3, dash=(3, 3))
    return job.title((job.x0 + job.x1) / 2, y + look.heading_size * 1.3, align="centre") + look.size * 0.5


# Bodies


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
    "classic": (head_classic, body_table),
    "mirrored": (head_mirrored, body_table),
    "band": (head_band, body_table),
    "sidebar": (head_sidebar, body_table),
    "window": (head_window, body_table),
    "boxes": (head_boxes, body_table),
    "centred": (head_centred, body_table),
    "minimal": (head_minimal, body_table),
    "split": (head_split, body_table),
    "form": (head_form, body_table),
    "far_right": (head_right, body_table),
    "services": (head_classic, body_services),
    "letter_services": (head_window, body_services),
    "hero": (head_hero, body_table),
    "stub": (head_stub, body_table),
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
