"""The parts that wide documents are put together from: labelled values, addresses, logos, stamps, notes.

Each takes the baseline of its first line and returns the baseline that the next line would have. What is printed is
marked; what no part marks is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from training.draft import DoesNotFit
from training.wide import figures
from training.wide.content import Facts, Party
from training.wide.figures import Value
from training.wide.look import Look
from training.wide.paper import Face, Ink, Mark, Paper

Marks = dict[str, Any]
Row = tuple[str, str, Value]


def pair(
    paper: Paper,
    look: Look,
    x0: float,
    x1: float,
    y: float,
    label: str,
    value: Value,
    *,
    form: str,
    value_x: float | None = None,
    face: Face | None = None,
) -> tuple[Mark, float]:
    """One labelled value between x0 and x1: "inline", "columns" (values begin at value_x), "right" or "stacked"."""
    face = face or look.body
    label_face = look.label_face
    if form == "stacked":
        run = paper.text(x0, y, label, label_face, ink=look.label_ink)
        y += face.size * 1.2
        mark = paper.value(x0, y, value, face, ink=look.ink)
    elif form == "right":
        run = paper.text(x0, y, label + look.colon, label_face, ink=look.label_ink)
        mark = paper.value(x1, y, value, face, ink=look.ink, align="right")
    else:
        colon = look.colon or (":" if form == "inline" else "")
        run = paper.text(x0, y, label + colon, label_face, ink=look.label_ink)
        x = paper.right_end(run) + 0.35 * look.size + 1
        if form == "columns" and value_x is not None:
            x = max(x, value_x)
        mark = paper.value(x, y, value, face, ink=look.ink)
    if max(paper.right_end(run), paper.right_end(mark.pieces[0][1])) > x1 + 0.1:
        raise DoesNotFit(value.shown)
    return mark, y + look.step


def pairs(
    paper: Paper, look: Look, x0: float, x1: float, y: float, rows: Sequence[Row], *, form: str, gap: float = 8
) -> tuple[Marks, float]:
    """Rows of (field, label, value), one below the other."""
    value_x = x0 + max((look.label_face.width(label + look.colon) for _, label, _ in rows), default=0) + gap
    marks: Marks = {}
    for field, label, value in rows:
        mark, y = pair(paper, look, x0, x1, y, label, value, form=form, value_x=value_x)
        marks.setdefault(field, mark)
    return marks, y


def strip(
    paper: Paper, look: Look, x0: float, x1: float, y: float, rows: Sequence[Row], *, spread: float, align: str = "left"
) -> tuple[Marks, float]:
    """Labelled values side by side, each label above its value; spread 0-1 says how much of the width they take."""
    widths = [max(look.label_face.width(label), look.body.width(value.shown)) for _, label, value in rows]
    gap = (x1 - x0 - sum(widths)) / max(len(rows) - 1, 1)
    if gap < look.size:
        raise DoesNotFit("strip")
    gap = look.size + (gap - look.size) * spread
    marks: Marks = {}
    below = look.size * 1.3
    for (field, label, value), width in zip(rows, widths, strict=True):
        at = x0 if align == "left" else x0 + width / 2
        paper.text(at, y, label, look.label_face, ink=look.label_ink, align=align)
        marks[field] = paper.value(at, y + below, value, look.body, ink=look.ink, align=align)
        x0 += width + gap
    return marks, y + below + look.step


def address(
    paper: Paper,
    look: Look,
    x: float,
    y: float,
    party: Party,
    *,
    face: Face,
    name_ink: Ink | None = None,
    align: str = "left",
    width: float | None = None,
    lines: int = 2,
    small: Face | None = None,
) -> tuple[Mark, Mark | None, float]:
    """A party's name in `face` and `lines` lines of its address below: marks of both, and the next baseline.

    Two lines of address count as one value, "street, town".
    """
    ink = look.ink if name_ink is None else name_ink
    small = small or look.body
    if width is not None and face.width(party.name.shown) > width and align == "left":
        name, y = paper.paragraph(x, y, party.name, face, width, face.size * 1.15, ink=ink)
    else:
        if width is not None and face.width(party.name.shown) > width:
            raise DoesNotFit(party.name.shown)
        name = paper.value(x, y, party.name, face, ink=ink, align=align)
    y += max(face.size * 0.45 + small.size * 0.85, small.size * 1.25)
    where = None
    if lines == 2:
        first = paper.text(x, y, party.street, small, ink=look.ink, align=align)
        y += small.size * 1.25
        second = paper.text(x, y, party.town, small, ink=look.ink, align=align)
        whole = figures.text(f"{party.street}, {party.town}")
        where = Mark(whole, ((0, first, 0), (len(party.street) + 2, second, 0)))
        y += small.size * 1.25
    elif lines == 1:
        where = paper.value(x, y, figures.text(f"{party.street}, {party.town}"), small, ink=look.ink, align=align)
        y += small.size * 1.25
    return name, where, y


def logo(random: Random, paper: Paper, look: Look, x: float, y: float, size: float, initial: str) -> None:
    """A made-up mark in a square whose top left corner is (x, y); some hold the company's initial."""
    paper.reserve(x, y, x + size, y + size)
    ink: Ink = look.accent if look.coloured else random.uniform(0.15, 0.6)
    kind = random.randrange(6)
    if kind == 0:
        paper.shape([(x, y), (x + size, y + size)], ink)
    elif kind == 1:
        paper.shape([(x + size / 2, y), (x + size, y + size), (x, y + size)], ink)
    elif kind == 2:
        for index in range(3):
            left = x + index * size / 3
            paper.shape(
                [(left, y + size), (left + size / 4, y + size), (left + size / 2, y), (left + size / 4, y)], ink
            )
        return
    elif kind == 3:
        paper.shape([(x, y), (x + size, y + size)], ink)
        paper.shape([(x + size * 0.25, y + size * 0.25), (x + size * 0.75, y + size * 0.75)], 1.0)
        return
    elif kind == 4:
        half = size / 2
        paper.shape([(x + half, y), (x + size, y + half), (x + half, y + size), (x, y + half)], ink)
    else:
        paper.box(x, y, size, size, fill=ink, radius=size * 0.2)
    if kind in (0, 4, 5) and size > 22:
        face = Face(look.heading.font, size * 0.42)
        width = face.width(initial)
        paper.slanted(x + size / 2 - width / 2, y + size / 2 + 0.34 * face.size, initial, face, 0.0, 1.0)


def stamp(random: Random, paper: Paper, look: Look, top: float, bottom: float) -> None:
    """A slanted stamp in free space between two heights, if there is any."""
    words = look.locale.label(random, "paid_stamp")
    face = Face(look.strong.font, random.uniform(12, 20))
    angle = random.uniform(4, 16) * random.choice((1, -1))
    width = face.width(words) + 8
    high = width * abs(angle) / 57.3 + face.size * 1.4
    for _ in range(8):
        x = random.uniform(paper.margin, paper.width - paper.margin - width)
        y = random.uniform(top, max(top, bottom - high))
        if y + high < bottom and paper.free(x, y, x + width, y + high):
            paper.reserve(x, y, x + width, y + high)
            baseline = y + high - face.size * 0.3 if angle > 0 else y + face.size
            ink: Ink = random.choice(((0.7, 0.1, 0.1), (0.1, 0.2, 0.6), 0.45))
            paper.slanted(x + 4, baseline, words, face, angle, ink)
            return


def note(
    random: Random, paper: Paper, look: Look, x: float, y: float, words: str, *, align: str = "left", width: float
) -> float:
    """A sentence in small print, wrapped."""
    for _, line in look.note.wrap(words, width):
        paper.text(x, y, line, look.note, ink=look.ink, align=align)
        y += look.note.size * 1.25
    return y


def contact_rows(random: Random, facts: Facts) -> list[Row]:
    """What a letterhead or a footer says besides the address: some of tax number, phone, mail and bank."""
    label = facts.look.label
    rows: list[Row] = [
        ("vendor_tax_id", label("tax_id"), facts.tax_id),
        ("vendor_phone", label("phone"), facts.phone),
        ("vendor_email", label("email"), facts.email),
        ("bic", label("bic"), facts.bic),
    ]
    if facts.iban is not None:
        rows.append(("iban", label("iban"), facts.iban))
    return [row for row in rows if random.random() < 0.5]
