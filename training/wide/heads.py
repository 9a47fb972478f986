"""Heads of wide invoices: who bills whom, the number and the dates, in families as of different senders.

Each takes the first baseline and returns the one that follows. Two of them (hero, stub) are held out from training.
"""

from __future__ import annotations

from training.draft import DoesNotFit
from training.wide import figures
from training.wide.job import Job
from training.wide.paper import Face, Mark
from training.wide.parts import Row, logo, strip
from training.wide.totals import sign_mark


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
