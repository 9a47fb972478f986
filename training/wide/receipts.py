"""Wide receipts: slips of tills, shops and restaurants."""

from __future__ import annotations

from random import Random

from training import values
from training.draft import DoesNotFit
from training.leaf import Document
from training.wide import figures
from training.wide.content import Item, draw_facts
from training.wide.job import Job
from training.wide.locales import draw_locale
from training.wide.look import draw_look
from training.wide.paper import Face, Mark
from training.wide.parts import Row, address
from training.wide.tables import Table, draw_table_form, item_cells, item_marks, percent
from training.wide.totals import sign_mark, totals

FIELDS = (
    *("document_type", "vendor", "vendor_address", "vendor_tax_id", "vendor_phone", "receipt_number", "date"),
    *("currency", "line_items", "subtotal", "taxes", "tax_rate", "tax", "total", "payment_method", "given", "change"),
)
# Points; 288 x {512, 768, 1024} and 384 x {640, 960} pixels at 96 dots per inch: whole cells of the model.
SIZES = ((216.0, 384.0), (216.0, 576.0), (216.0, 768.0), (288.0, 480.0), (288.0, 720.0))
LINE_FORMS = ("two_lines", "two_lines", "one_line", "counted", "counted", "counted_price", "columns", "amount_only")
# family -> where its heading stands, the form of its labelled facts, and whether these stand below the items
FAMILIES: dict[str, tuple[str, str, bool]] = {
    "till": ("centre", "right", False),
    "slip": ("left", "inline", False),
    "ticket": ("centre", "inline", False),
    "facts_last": ("centre", "columns", True),
    "restaurant": ("centre", "strip", False),
    "kiosk": ("box", "right", True),
}


def _rule(job: Job, y: float, form: str) -> float:
    """A rule drawn or typed; the next baseline."""
    look, paper = job.look, job.paper
    if form == "none":
        return y + look.size * 0.5
    if form in "-=*._":
        text = form * int(job.width / look.body.width(form))
        paper.text(job.x0, y, text, look.body, ink=look.ink)
        return y + look.step
    middle = y - look.size * 0.5
    dash = (2.0, 2.0) if form == "dashed" else ()
    paper.rule(job.x0, middle, job.x1, middle, width=0.7, ink=0.2, dash=dash)
    return y + look.size * 0.6


def _heading(job: Job, align: str) -> float:
    look, paper, facts = job.look, job.paper, job.facts
    face = look.heading
    while face.width(facts.vendor.name.shown) > job.width - 10:
        if face.size <= look.size:
            raise DoesNotFit("heading")
        face = Face(face.font, face.size - 1)
    y = job.top + face.size
    if align == "box":
        high = face.size * 2.2
        paper.box(job.x0, y - face.size * 1.3, job.width, high, fill=look.accent if look.coloured else 0.2, radius=4)
        name = paper.value(
            (job.x0 + job.x1) / 2, y + 0.15 * face.size, facts.vendor.name, face, ink=1.0, align="centre"
        )
        job.mark("vendor", name)
        return y + high * 0.5 + look.step
    x = (job.x0 + job.x1) / 2 if align == "centre" else job.x0
    lines = job.random.choice((0, 1, 2, 2))
    name, where, y = address(
        paper, look, x, y, facts.vendor, face=face, align=align, width=job.width, lines=lines, small=look.small
    )
    job.mark("vendor", name)
    job.mark("vendor_address", where)
    contacts: list[Row] = [
        ("vendor_phone", look.label("phone"), facts.phone),
        ("vendor_tax_id", look.label("tax_id"), facts.tax_id),
    ]
    for field, label, value in contacts:
        if job.chance(0.4):
            printed = value.within(f"{label.rstrip(':')}: ")
            job.mark(field, paper.value(x, y, printed, look.small, ink=look.ink, align=align))
            y += look.small.size * 1.25
    y += job.random.uniform(0.2, 0.8) * look.size
    if job.chance(0.35):
        words = look.label("receipt_title")
        run = paper.text(x, y, words, look.strong, ink=look.ink, align=align)
        job.mark("document_type", Mark(figures.text(words, "receipt"), ((0, run, 0),)))
        y += look.step
    return y


def _facts(job: Job, y: float, form: str) -> float:
    look, facts, random = job.look, job.facts, job.random
    day = look.date(facts.date)
    if job.chance(0.45):
        day = day.within(
            "", random.choice((" ", "  ", " - ")) + f"{random.randint(7, 22):02d}:{random.randint(0, 59):02d}"
        )
    rows: list[Row] = [("date", look.label("receipt_date"), day)]
    if job.chance(0.82):
        rows.append(("receipt_number", look.label("receipt_number"), facts.number))
    if job.chance(0.3):
        rows.append(("till", look.label("till"), figures.text(str(random.randint(1, 40)))))
    if look.money_form == "#" and job.chance(0.3):
        rows.append(("currency", look.label("currency"), figures.text(look.currency)))
    random.shuffle(rows)
    if form == "strip":
        form = "inline"
    if job.chance(0.25) and rows[0][0] == "date":
        job.mark("date", job.paper.value(job.x0, y, rows.pop(0)[2], look.body, ink=look.ink))
        y += look.step
    return job.pairs(job.x0, job.x1, y, rows, form=form) if rows else y


def _items(job: Job, y: float) -> float:
    form = job.random.choice(LINE_FORMS)
    return body_columns(job, y) if form == "columns" else body_lines(job, y, form)


def body_columns(job: Job, y: float) -> float:
    look, facts = job.look, job.facts
    columns = job.random.choice(
        (
            ("quantity", "description", "amount"),
            ("description", "quantity", "amount"),
            ("description", "quantity", "unit_price", "amount"),
            ("description", "amount"),
        )
    )
    form = draw_table_form(job.random, look, columns=columns)
    form.header = job.random.choice(("plain", "rule"))
    form.rows, form.header_money, form.row_step = "plain", "", look.size * job.random.uniform(1.25, 1.6)
    headers = {column: look.label(column) for column in columns}
    table = Table(job.paper, look, form, headers, item_cells(job.random, look, form, facts.items), job.x0, job.x1)
    _, y = table.header(y)
    rows = []
    for index, item in enumerate(facts.items):
        marks, y = table.row(index, y)
        rows.append(item_marks(marks, form, item))
    job.marks["line_items"] = rows
    return y


def body_lines(job: Job, y: float, form: str) -> float:
    """Lines as tills print them; see LINE_FORMS."""
    look, paper, random = job.look, job.paper, job.random
    face, ink = look.body, look.ink
    times = random.choice((" x ", " x ", " @ ", "x ", " X ", " × ", " à "))
    indent = random.choice((0, 8, 14))
    codes = random.choice(("", "", "", "letter", "rate"))
    code_of = {
        item.rate: " " + "ABC"[index]
        for index, item in enumerate({item.rate: item for item in job.facts.items}.values())
    }
    rows = []

    def multiplied(item: Item, marks: dict[str, Mark | None], x: float, baseline: float) -> None:
        price = look.money(item.unit_price)
        run = paper.text(x, baseline, item.quantity.shown + times + price.shown, face, ink=ink)
        marks["quantity"] = Mark(item.quantity, ((0, run, 0),))
        marks["unit_price"] = Mark(price, ((0, run, len(item.quantity.shown) + len(times)),))

    for item in job.facts.items:
        marks: dict[str, Mark | None] = dict.fromkeys(
            ("sku", "description", "quantity", "unit", "unit_price", "tax_rate", "amount")
        )
        amount = look.signed(item.amount)[0] if look.cell_signs else look.money(item.amount)
        if codes == "letter":
            amount = amount.within("", code_of[item.rate])
        right = paper.text(
            job.x1, y if form != "two_lines" else y + look.size * 1.25, amount.shown, face, ink=ink, align="right"
        )
        marks["amount"] = Mark(amount, ((0, right, 0),))
        room = paper.runs[right].x - job.x0 - look.size
        if form == "two_lines":
            marks["description"], end = paper.paragraph(
                job.x0, y, item.description, face, job.width, look.size * 1.2, ink=ink
            )
            if end > y:
                raise DoesNotFit("description")
            y += look.size * 1.25
            multiplied(item, marks, job.x0 + indent, y)
        elif form == "one_line":
            mark = paper.value(job.x0, y, item.description, face, ink=ink)
            marks["description"] = mark
            multiplied(item, marks, paper.right_end(mark.pieces[0][1]) + 0.9 * look.size, y)
        elif form == "amount_only":
            marks["description"], y = paper.paragraph(job.x0, y, item.description, face, room, look.size * 1.2, ink=ink)
        else:
            after = {" x ": " x", "x ": "x"}.get(times, "")
            quantity = paper.value(job.x0, y, item.quantity.within("", after), face, ink=ink)
            marks["quantity"] = quantity
            left = job.x0 + face.width("00" + after) + 0.5 * look.size
            if paper.right_end(quantity.pieces[0][1]) > left - 2:
                raise DoesNotFit("quantity")
            marks["description"], y = paper.paragraph(
                left, y, item.description, face, room - (left - job.x0), look.size * 1.2, ink=ink
            )
            if form == "counted_price":
                y += look.size * 1.25
                price = look.money(item.unit_price)
                marks["unit_price"] = paper.value(
                    left, y, price.within("@ " if times == " @ " else "à "), face, ink=ink
                )
        if codes == "rate" and form == "two_lines":
            rate = percent(random, look, item.rate)
            last = paper.right_end(len(paper.runs) - 1) + look.size
            if last + face.width(rate.shown) < paper.runs[right].x - look.size:
                marks["tax_rate"] = paper.value(last, y, rate, face, ink=ink)
        rows.append(marks)
        y += look.step
    job.marks["line_items"] = rows
    if look.cell_signs:
        mark = rows[-1]["amount"]
        assert mark is not None
        job.marks["cell_currency"] = sign_mark(look, job.facts.items[-1].amount, mark)
    return y


def _payment(job: Job, y: float) -> float:
    """How it was paid: labelled, or as the label of what was given, with the change below if it was cash."""
    look, paper, facts, random = job.look, job.paper, job.facts, job.random
    printed, category = random.choice(look.locale.vocabulary.methods)
    method = figures.text(printed, category)
    total = facts.sums.total
    given = -(-total // 500) * 500 if category == "cash" else total
    if job.chance(0.5):
        form = random.choice(("inline", "right"))
        y = job.pairs(job.x0, job.x1, y, [("payment_method", look.label("payment_method"), method)], form=form)
        if category == "cash" and job.chance(0.6):
            rows: list[Row] = [
                ("given", look.label("given"), look.money(given)),
                ("change", look.label("change"), look.money(given - total)),
            ]
            y = job.pairs(job.x0, job.x1, y, rows, form="right")
        return y
    run = paper.text(job.x0, y, printed, look.body, ink=look.ink)
    job.mark("payment_method", Mark(method, ((0, run, 0),)))
    job.mark("given", paper.value(job.x1, y, look.money(given), look.body, ink=look.ink, align="right"))
    y += look.step
    if category == "cash":
        paper.text(job.x0, y, look.label("change"), look.body, ink=look.ink)
        job.mark("change", paper.value(job.x1, y, look.money(given - total), look.body, ink=look.ink, align="right"))
        y += look.step
    return y


def draft_receipt(random: Random, family: str, language: str | None = None) -> Document:
    """One receipt of the family. Raises DoesNotFit where the lot drawn does not fit."""
    align, facts_form, facts_last = FAMILIES[family]
    locale = draw_locale(random, language)
    width = random.choice((216.0, 216.0, 288.0))
    look = draw_look(random, locale, largest=11 if width < 250 else 13, smallest=7.5)
    look.heading_size = min(look.heading_size, 18)
    look.coloured &= random.random() < 0.3
    count = random.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12))
    facts = draw_facts(random, look, count, retail=True)
    facts.number = figures.text(
        values.document_number(random, ("R", "T", "B", "RC", "TX"))
        if random.random() < 0.7
        else values.digits(random, 6)
    )
    # Drawn on the longest paper; what is drawn settles the length.
    job = Job(random, look, facts, (width, 780.0), margin=random.uniform(9, 16))
    rule = random.choice(("-", "-", "=", "*", "_", "line", "line", "dashed", "none"))
    y = _heading(job, align)
    if not facts_last:
        y = _facts(job, y, facts_form) + random.uniform(0.2, 0.8) * look.size
    y = _rule(job, y, rule)
    y = _items(job, y)
    y = _rule(job, y, rule)
    marks, y = totals(random, job.paper, look, facts.sums, job.x0 + 4, job.x1 - 4, y, retail=True)
    job.note_all(marks)
    if job.chance(0.84):
        y = _payment(job, y + random.uniform(0.1, 0.6) * look.size)
    if facts_last:
        y = _rule(job, y, rule)
        y = _facts(job, y, facts_form)
    job.mark("currency", job.marks.pop("cell_currency", None))
    y = job.currency_line(job.x0, y) if look.money_form == "#" else y
    if job.chance(0.55):
        words = look.label("receipt_thanks")
        centre = (job.x0 + job.x1) / 2
        job.paper.text(centre, y + look.size * random.uniform(0.3, 1), words, look.body, ink=look.ink, align="centre")
    heights = [height for wide, height in SIZES if wide == width and height >= job.paper.bottom + 9]
    if not heights:
        raise DoesNotFit("paper")
    job.paper.height = heights[0]
    return job.finish("receipt", family, FIELDS, "receipt")
