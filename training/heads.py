"""Heads of invoices: who bills whom, the number and the dates, in families as of different senders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from training import values
from training.blocks import pair, pairs
from training.draft import MARGIN, NOT_PRINTED, DoesNotFit, Draft, Mark
from training.style import Style
from training.values import Printed, verbatim

# At 96 dots per inch a page is a whole number of the model's 32-pixel cells: 576 pixels wide.
WIDTH = 432.0
TITLES = ("INVOICE", "INVOICE", "Invoice", "Invoice", "TAX INVOICE", "Tax invoice", "Sales invoice")


@dataclass
class Content:
    """What an invoice says besides its items.

    `rows` are the labelled values (field, label, value), among them some that no schema asks for.
    """

    vendor: Printed
    customer: Printed | None
    rows: list[tuple[str, str, Printed]]
    vendor_lines: list[str]
    customer_lines: list[str]
    title: str


Head = Callable[[Random, Draft, Style, Content, float], tuple[dict[str, Mark], float]]


def make_content(random: Random, style: Style) -> Content:
    labels = style.labels
    issued, due = style.days(random)
    rows = [
        ("invoice_number", labels["invoice_number"], verbatim(values.document_number(random))),
        ("date", labels["date"], issued),
    ]
    if random.random() < 0.82:
        rows.append(("due_date", labels["due_date"], due))
    if random.random() < 0.2:
        random.shuffle(rows)
    if style.currency_form == "line" and random.random() < 0.6:
        rows.append(("currency", labels["currency"], verbatim(style.currency)))
    busy = random.random() < 0.4
    vendor_lines: list[str] = []
    customer_lines: list[str] = []
    if busy:
        if random.random() < 0.5:
            number = values.document_number(random, ("PO", "SO", "K", "LS", "B", "C"))
            rows.insert(random.randint(0, len(rows)), ("order", labels["order"], verbatim(number)))
        if random.random() < 0.25:
            rows.insert(random.randint(0, len(rows)), ("delivery", labels["delivery_date"], style.day(random)))
        vendor_lines = [values.street(random), values.town(random)][: random.randint(0, 2)]
        vendor_lines += random.choice(([], [], [_contact(random)]))
        customer_lines = [values.street(random), values.town(random)][: random.choice((0, 0, 1, 2))]
    elif random.random() < 0.5:
        vendor_lines = [values.street(random) + ", " + values.town(random)]
    return Content(
        vendor=verbatim(values.company(random)),
        customer=verbatim(values.company(random)) if random.random() < 0.85 else None,
        rows=rows,
        vendor_lines=vendor_lines,
        customer_lines=customer_lines,
        title=random.choice(TITLES),
    )


def _contact(random: Random) -> str:
    digits = values.digits
    return random.choice(
        (
            f"Tel. +00 {digits(random, 3)} {digits(random, 4)}",
            f"Phone 555-{digits(random, 4)}",
            f"{values.syllables(random, 2)}@{values.syllables(random, 2)}.example",
            f"VAT ID {values.letters(random, 2)}{digits(random, 9)}",
            f"Reg. no. {digits(random, 7)}",
            f"Account {values.letters(random, 2)}{digits(random, 2)} {digits(random, 4)} {digits(random, 4)}",
        )
    )


def _lines(draft: Draft, style: Style, x: float, y: float, lines: list[str], align: str = "left") -> float:
    for line in lines:
        draft.text(x, y, line, style.small, grey=style.ink, align=align)
        y += style.small.size * 1.3
    return y


def _vendor(draft: Draft, style: Style, content: Content, x: float, y: float, align: str) -> tuple[Mark, float]:
    """The vendor as a letterhead: its name in the heading face, its address below."""
    face = style.heading
    mark = draft.value(x, y, content.vendor, face, grey=style.ink, align=align)
    y = _lines(draft, style, x, y + max(face.size * 0.95, style.size * 1.35), content.vendor_lines, align)
    return mark, y


def _customer(
    random: Random, draft: Draft, style: Style, content: Content, x0: float, x1: float, y: float
) -> tuple[Mark, float]:
    if content.customer is None:
        return NOT_PRINTED, y
    form = random.choice(("stacked", "stacked", "inline"))
    mark, y = pair(draft, replace(style, pair_form=form), x0, x1, y, style.labels["customer"], content.customer)
    y -= style.step
    return mark, _lines(draft, style, draft.texts[mark.run].x, y + style.size * 1.3, content.customer_lines) + 2


def head_classic(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Letterhead at the left, title and labelled values at the right, customer below the letterhead."""
    x0, x1 = MARGIN + random.uniform(0, 8), WIDTH - MARGIN - random.uniform(0, 8)
    middle = WIDTH * random.uniform(0.5, 0.6)
    vendor, left_y = _vendor(draft, style, content, x0, y, "left")
    draft.text(x1, y, content.title, style.heading, grey=style.ink, align="right")
    marks, right_y = pairs(draft, style, middle, x1, y + style.heading_size * 1.4, content.rows, random.uniform(5, 16))
    left_y = max(left_y + random.uniform(2, 14), y + style.heading_size * 1.4)
    marks["vendor"] = vendor
    marks["customer"], left_y = _customer(random, draft, style, content, x0, middle - 6, left_y)
    return marks, max(left_y, right_y)


def head_mirrored(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Title and labelled values at the left, letterhead at the right, customer below it."""
    x0, x1 = MARGIN + random.uniform(0, 8), WIDTH - MARGIN - random.uniform(0, 8)
    middle = WIDTH * random.uniform(0.5, 0.58)
    draft.text(x0, y, content.title, style.heading, grey=style.ink)
    vendor, right_y = _vendor(draft, style, content, x1, y, "right")
    left_y = y + style.heading_size * 1.5
    marks, left_y = pairs(draft, style, x0, middle - 10, left_y, content.rows, random.uniform(5, 16))
    right_y = max(right_y + random.uniform(4, 14), y + style.heading_size * 1.5)
    marks["vendor"] = vendor
    marks["customer"], right_y = _customer(random, draft, style, content, middle, x1, right_y)
    return marks, max(left_y, right_y)


def head_strip(random: Random, draft: Draft, style: Style, content: Content, y: float) -> tuple[dict[str, Mark], float]:
    """Centred letterhead, a rule, the customer, then the labelled values side by side in a strip."""
    x0, x1 = MARGIN + random.uniform(0, 8), WIDTH - MARGIN - random.uniform(0, 8)
    vendor, y = _vendor(draft, style, content, WIDTH / 2, y, "centre")
    y += random.uniform(0, 4)
    draft.line(x0, y - style.size * 0.6, x1, y - style.size * 0.6, width=random.uniform(0.5, 1.2), grey=0.2)
    y += style.heading_size * 0.9
    if random.random() < 0.5:
        draft.text(x1, y, content.title, style.heading, grey=style.ink, align="right")
    else:
        draft.text(WIDTH / 2, y, content.title, style.heading, grey=style.ink, align="centre")
        y += style.heading_size * 1.3
    customer, y = _customer(random, draft, style, content, x0, WIDTH * 0.72, y)
    y = max(y, draft.bottom) + style.size * 1.2
    cells = content.rows
    widths = [max(style.label_face.width(label), style.body.width(printed.shown)) for _, label, printed in cells]
    gap = (x1 - x0 - sum(widths)) / max(len(cells) - 1, 1)
    if gap < 8:
        raise DoesNotFit("strip")
    gap = min(gap, random.uniform(20, 90))
    below = style.size * random.uniform(1.3, 1.5)
    if random.random() < 0.4:
        draft.rectangle(x0 - 3, y - style.size * 1.05, x1 - x0 + 6, style.size * 1.4, grey=random.uniform(0.86, 0.94))
    marks, x = {}, x0
    for (field, label, printed), width in zip(cells, widths, strict=True):
        draft.text(x, y, label, style.label_face, grey=style.label_ink)
        marks[field] = draft.value(x, y + below, printed, style.body, grey=style.ink)
        x += width + gap
    marks |= {"vendor": vendor, "customer": customer}
    return marks, y + below + style.step


def head_letter(
    random: Random, draft: Draft, style: Style, content: Content, y: float
) -> tuple[dict[str, Mark], float]:
    """Letterhead at one side, customer at the left as in a window envelope, title with the invoice number."""
    x0, x1 = MARGIN + random.uniform(0, 14), WIDTH - MARGIN - random.uniform(0, 10)
    side = random.choice(("right", "left"))
    vendor, y = _vendor(draft, style, content, x1 if side == "right" else x0, y, side)
    y += random.uniform(4, 16)
    customer, y = _customer(random, draft, style, content, x0, WIDTH * 0.75, y)
    y += random.uniform(6, 16)
    marks = {"vendor": vendor, "customer": customer}
    numbers = [row for row in content.rows if row[0] == "invoice_number"]
    rest = [row for row in content.rows if row[0] != "invoice_number"]
    title = random.choice(("Invoice ", "INVOICE ", "Invoice no. ", "Invoice: ", "Invoice # "))
    run = draft.text(x0, y, title.rstrip(), style.heading, grey=style.ink)
    x = draft.right_end(run) + 0.35 * style.heading_size + 1
    marks["invoice_number"] = draft.value(x, y, numbers[0][2], style.heading, grey=style.ink)
    y += style.heading_size * 0.4 + style.size * 1.2
    found, y = pairs(draft, style, x0, WIDTH * 0.7, y, rest, random.uniform(5, 16))
    return marks | found, y


def head_form(random: Random, draft: Draft, style: Style, content: Content, y: float) -> tuple[dict[str, Mark], float]:
    """Everything labelled, the vendor too, in one column or two."""
    x0, x1 = MARGIN + random.uniform(0, 10), WIDTH - MARGIN - random.uniform(0, 10)
    title_x, align = random.choice(((x0, "left"), (WIDTH / 2, "centre"), (x1, "right")))
    draft.text(title_x, y, content.title, style.heading, grey=style.ink, align=align)
    y += style.heading_size * 0.5 + style.size * 1.3
    parties = [("vendor", style.labels["vendor"], content.vendor)]
    if content.customer is not None:
        parties.append(("customer", style.labels["customer"], content.customer))
    gap = random.uniform(5, 16)
    if random.random() < 0.5:
        rows = parties + content.rows if random.random() < 0.6 else content.rows + parties
        form = "columns" if style.pair_form == "stacked" else style.pair_form
        return pairs(draft, replace(style, pair_form=form), x0, WIDTH * random.uniform(0.6, 0.9), y, rows, gap)
    middle = WIDTH * random.uniform(0.5, 0.56)
    if random.random() < 0.5:
        left, right = parties, content.rows
    else:
        left, right = content.rows, parties
    left_marks, left_y = pairs(draft, style, x0, middle - 8, y, left, gap)
    right_marks, right_y = pairs(draft, style, middle, x1, y, right, gap)
    return left_marks | right_marks, max(left_y, right_y)


HEADS: dict[str, Head] = {
    "classic": head_classic,
    "mirrored": head_mirrored,
    "strip": head_strip,
    "letter": head_letter,
    "form": head_form,
}
