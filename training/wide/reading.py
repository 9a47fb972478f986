"""Sheets full of text in every font, size and ink of wide documents, some of them worn, for dense reading."""

from __future__ import annotations

from random import Random

import numpy as np

from training.canvas import Text
from training.leaf import Document
from training.nano import CHARACTERS
from training.reading import random_text
from training.wide import content
from training.wide.fonts import FAMILIES
from training.wide.locales import draw_locale
from training.wide.look import ACCENTS, Look, draw_look
from training.wide.paper import Face, Ink, Printer, Run
from training.wide.wear import wear

SIZES = (7, 7.5, 8, 8, 8.5, 9, 9, 9.5, 10, 10, 10.5, 11, 12, 13, 14, 17, 22)
WORN_SHARE = 0.35


def wide_text(random: Random, looks: list[Look]) -> str:
    """A label, amount, date, address, product or random characters, as the looks' countries have them."""
    kind = random.random()
    if kind < 0.35:
        return random_text(random)
    look = random.choice(looks)
    locale = look.locale
    if kind < 0.5:
        return random.choice(random.choice(list(locale.words.labels.values())))
    if kind < 0.62:
        return content.description(random, locale)
    if kind < 0.7:
        return content.company(random, locale)
    if kind < 0.78:
        return content.party(random, locale, "x").town
    if kind < 0.97:
        if kind < 0.9:
            return look.signed(int(10 ** random.uniform(1, 7)))[0].shown
        return look.date(content.values.day(random)).shown
    return "".join(random.choices(CHARACTERS, k=random.randint(1, 6)))


def _face(random: Random, size: float) -> Face:
    family = random.choices(FAMILIES, [family.weight + 0.5 for family in FAMILIES])[0]
    return Face(family.face(bold=random.random() < 0.25, italic=random.random() < 0.08), size)


def make_wide_sheet(random: Random, side: float) -> tuple[list[np.ndarray], list[Text]]:
    """A square sheet of `side` points: its page image as a list of one, and the runs of text on it."""
    sheet = Printer(side, side)
    paper = random.choice((1.0, 1.0, 1.0, random.uniform(0.92, 1.0)))
    sheet.rectangle(0, 0, side, side, grey=paper)
    looks = [draw_look(random, draw_locale(random)) for _ in range(6)]
    size: float = random.choice(SIZES)
    y = random.uniform(4, 12)
    while y < side:
        x = random.uniform(-6, 40)
        ink: Ink = random.choice((0.0, 0.0, 0.0, random.uniform(0, 0.5), random.choice(ACCENTS)))
        ground = random.random()
        if ground < 0.06:
            sheet.box(0, y - size, side, 1.4 * size, random.choice((0.15, 0.25, random.choice(ACCENTS))), None, 0)
            ink = 1.0
        elif ground < 0.16:
            sheet.box(0, y - size, side, 1.4 * size, random.uniform(0.8, 0.95), None, 0)
        face = _face(random, size)
        while x < side - 10:
            text = wide_text(random, looks)
            sheet.run(Run(0, x, y, text, face, ink))
            right = x + face.width(text)
            if random.random() < 0.04:
                sheet.rule(right + 3, y - 1.2 * size, right + 3, y + 0.4 * size, 0.5, 0.4, ())
            x = right + random.choice((5, 8, 14, 24, 40))
            if random.random() < 0.3:
                face = _face(random, size)
        if random.random() < 0.1:
            sheet.rule(0, y + 0.45 * size, side, y + 0.45 * size, 0.6, random.choice((0.0, 0.3, 0.6)), ())
        following = random.choice(SIZES)
        y += max(size, following) * random.choice((1.15, 1.2, 1.3, 1.4, 1.6, 2.0)) + random.uniform(0, 2)
        size = following
    document = Document("sheet", "", "", size, sheet, {}, "invoice", "wide")
    if random.random() < WORN_SHARE:
        document = wear(document, random)
    return document.sheet.render(), document.sheet.runs
