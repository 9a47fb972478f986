"""One document while it is laid out: its paper, look and facts, what is marked so far, and how pages turn."""

from __future__ import annotations

from random import Random
from typing import Any

from training.draft import DoesNotFit
from training.leaf import Document
from training.wide import figures
from training.wide.content import Facts
from training.wide.figures import Value
from training.wide.look import Look
from training.wide.paper import Face, Mark, Paper
from training.wide.parts import Marks, Row, address, contact_rows, pairs
from training.wide.totals import sign_mark

# Points. On paper at 96 dots per inch: 794 x 1123, 816 x 1056 and 560 x 794 pixels.
A4, LETTER, A5 = (595.276, 841.89), (612.0, 792.0), (419.528, 595.276)


class Job:
    """Everything that the functions of a layout share. `pages` is how many the document must have."""

    def __init__(
        self, random: Random, look: Look, facts: Facts, size: tuple[float, float], *, margin: float, pages: int = 1
    ) -> None:
        self.random, self.look, self.facts, self.pages = random, look, facts, pages
        width, height = size
        self.paper = Paper(width, height, margin=min(margin, 9.0))
        self.x0, self.x1 = margin, width - margin
        self.top = margin + 6
        self.floor = height - margin
        self.marks: Marks = {}
        self._footer: list[tuple[float, list[Row]]] = []
        self._footer_form = "none"
        self._numbered = False

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def mark(self, field: str, mark: Mark | None) -> None:
        """Note where a field stands; what is printed twice counts where it was printed first."""
        if mark is not None and self.marks.get(field) is None:
            self.marks[field] = mark

    def note_all(self, marks: Marks) -> None:
        for field, mark in marks.items():
            if field == "taxes":
                self.marks["taxes"] = mark
            else:
                self.mark(field, mark)

    # what layouts place

    def rows(self, *, number: bool = True) -> list[Row]:
        """The labelled values that an invoice's head shows, some of them asked for by few schemas or none."""
        look, facts, chance = self.look, self.facts, self.chance
        label = look.label
        rows: list[Row] = []
        if number:
            rows.append(("invoice_number", label("invoice_number"), facts.number))
        rows.append(("date", label("date"), look.date(facts.date)))
        if chance(0.72):
            rows.append(("due_date", label("due_date"), look.date(facts.due_date)))
        if chance(0.25):
            self.random.shuffle(rows)
        if look.money_form == "#" and chance(0.3):
            rows.append(("currency", label("currency"), figures.text(look.currency)))
        more: list[tuple[float, str, str, Value]] = [
            (0.3, "order_number", "order_number", facts.order_number),
            (0.3, "customer_number", "customer_number", facts.customer_number),
            (0.18, "delivery_date", "delivery_date", look.date(facts.delivery_date)),
            (0.2, "payment_terms", "payment_terms", facts.terms),
        ]
        for share, field, key, value in more:
            if chance(share):
                rows.insert(self.random.randint(0, len(rows)), (field, label(key), value))
        if chance(0.06):
            rows.append(("previous_balance", label("previous_balance"), look.money(facts.previous_balance)))
        return rows

    def vendor(
        self,
        x: float,
        y: float,
        *,
        align: str = "left",
        width: float | None = None,
        face: Face | None = None,
        lines: int | None = None,
        ink: Any = None,
        contacts: bool | None = None,
    ) -> float:
        """The vendor's name, mostly with its address and some contacts below."""
        look = self.look
        face = face or self.random.choice((look.heading, look.heading, look.strong))
        name_ink = self.random.choice((look.ink, look.accent_ink)) if ink is None else ink
        lines = self.random.choice((0, 1, 2, 2, 2)) if lines is None else lines
        name, where, y = address(
            self.paper,
            look,
            x,
            y,
            self.facts.vendor,
            face=face,
            name_ink=name_ink,
            align=align,
            width=width,
            lines=lines,
            small=look.small,
        )
        self.mark("vendor", name)
        self.mark("vendor_address", where)
        if self.chance(0.35) if contacts is None else contacts:
            for field, label, value in contact_rows(self.random, self.facts)[:3]:
                label = label.rstrip(":")
                printed = value.within(f"{label}: " if self.chance(0.8) else f"{label} ")
                self.mark(field, self.paper.value(x, y, printed, look.small, ink=look.ink, align=align))
                y += look.small.size * 1.25
        return y

    def customer(
        self, x: float, y: float, width: float, *, label: str | None = "stacked", lines: int | None = None
    ) -> float:
        """Who is billed: labelled above ("stacked"), beside ("inline") or not at all (None)."""
        look = self.look
        if self.chance(0.06):
            return y
        lines = self.random.choice((0, 1, 2, 2, 2, 2)) if lines is None else lines
        face = self.random.choice((look.body, look.body, look.strong))
        if label == "stacked":
            self.paper.text(x, y, look.label("customer") + look.colon, look.label_face, ink=look.label_ink)
            y += look.size * 1.3
        elif label == "inline":
            run = self.paper.text(
                x, y, look.label("customer") + (look.colon or ":"), look.label_face, ink=look.label_ink
            )
            moved = self.paper.right_end(run) + 0.4 * look.size
            x, width = moved, width - (moved - x)
        name, where, y = address(
            self.paper, look, x, y, self.facts.customer, face=face, width=width, lines=lines, small=look.body
        )
        self.mark("customer", name)
        self.mark("customer_address", where)
        return y

    def pairs(self, x0: float, x1: float, y: float, rows: list[Row], *, form: str | None = None) -> float:
        form = form or self.look.pair_form
        marks, y = pairs(
            self.paper, self.look, x0, x1, y, rows, form=form, gap=self.random.uniform(0.6, 2.2) * self.look.size
        )
        self.note_all(marks)
        return y

    def title(self, x: float, y: float, *, align: str = "left", key: str = "invoice_title") -> float:
        look = self.look
        words = look.label(key)
        run = self.paper.text(x, y, words, look.title, ink=look.accent_ink, align=align)
        category = {"invoice_title": "invoice", "receipt_title": "receipt", "statement_title": "statement"}[key]
        self.mark("document_type", Mark(figures.text(words, category), ((0, run, 0),)))
        return y + look.heading_size * 1.1

    def currency_line(self, x: float, y: float) -> float:
        """One line that states the currency, where nothing has yet."""
        look = self.look
        if self.marks.get("currency") is not None or not self.chance(0.75):
            return y
        words = look.label("currency_line") if self.chance(0.6) else look.label("currency") + ": *"
        value = figures.inside(words, figures.text(look.currency), "*")
        self.mark("currency", self.paper.value(x, y, value, look.note, ink=look.ink))
        return y + look.step

    def amount_currency(self, cents: int, mark: Mark | None) -> None:
        if mark is not None:
            self.mark("currency", sign_mark(self.look, cents, mark))

    # pages

    def plan_footer(self, form: str | None = None) -> None:
        """Choose what stands at the foot of each page, and keep room for it."""
        look, random = self.look, self.random
        self._footer_form = form or random.choice(("none", "none", "line", "columns"))
        self._numbered = self.chance(0.6 if self.pages > 1 else 0.2)
        rows: list[Row] = []
        if self._footer_form != "none":
            rows = contact_rows(random, self.facts)
            if not rows:
                self._footer_form = "none"
        small = look.small.size
        height = {"none": 0.0, "line": 2.2 * small, "columns": 4.6 * small}[self._footer_form]
        self._footer = [(height, rows)]
        self.floor -= height + (1.8 * small if self._numbered else 0)

    def foot(self) -> None:
        """Draw the foot of the page that ends here."""
        look, paper = self.look, self.paper
        height, rows = self._footer[0] if self._footer else (0.0, [])
        small = look.small
        y = self.floor + small.size * 1.7
        if self._footer_form == "line":
            words = [(field, f"{label.rstrip(':')}: {value.shown}", label, value) for field, label, value in rows]
            separator = self.random.choice(("  ·  ", " | ", "   ", " - "))
            while words and small.width(separator.join(part[1] for part in words)) > self.width:
                words.pop()
            if words:
                text = separator.join(part[1] for part in words)
                x = (self.x0 + self.x1 - small.width(text)) / 2 if self.chance(0.5) else self.x0
                run = paper.text(x, y, text, small, ink=look.ink)
                at = 0
                for field, part, _, value in words:
                    self.mark(field, Mark(value, ((0, run, at + len(part) - len(value.shown)),)))
                    at += len(part) + len(separator)
        elif self._footer_form == "columns":
            paper.rule(self.x0, y - small.size * 1.1, self.x1, y - small.size * 1.1, width=0.5, ink=0.5)
            columns = 3 if self.width > 380 else 2
            step = self.width / columns
            for index, (field, label, value) in enumerate(rows):
                column, line = index % columns, index // columns
                label_width = small.width(label.rstrip(":") + ": ")
                x, below = self.x0 + column * step, y + line * small.size * 1.25
                if label_width + small.width(value.shown) > step - 4:
                    continue
                printed = value.within(label.rstrip(":") + ": ")
                self.mark(field, paper.value(x, below, printed, small, ink=look.ink))
        if self._numbered:
            words_of = look.label("page_of").replace("#", str(paper.page + 1)).replace("*", str(self.pages))
            x, align = self.random.choice((((self.x0 + self.x1) / 2, "centre"), (self.x1, "right")))
            paper.text(x, self.floor + height + small.size * 1.5, words_of, small, ink=look.ink, align=align)

    def turn(self) -> float:
        """End this page and begin the next: the first baseline there. Raises DoesNotFit after the last page."""
        if self.paper.page + 1 >= self.pages:
            raise DoesNotFit("pages")
        self.foot()
        self.paper.new_page()
        y = self.top + self.look.size
        if self.chance(0.4):
            words = self.random.choice((self.look.label("continued"), self.facts.vendor.name.shown))
            self.paper.text(self.x0, y, words, self.look.small, ink=self.look.ink)
            y += self.look.step * 1.5
        return y

    def finish(self, kind: str, layout: str, fields: tuple[str, ...], schema: str) -> Document:
        """Draw everything. Raises DoesNotFit unless all pages are used."""
        if self.paper.page + 1 != self.pages:
            raise DoesNotFit("pages")
        look = self.look
        sheet, drawn = self.paper.draw(paper=look.paper)
        truth = self.paper.leaves({field: self.marks.get(field) for field in fields}, drawn)
        for name in ("line_items", "transactions", "taxes"):
            if name in fields and not isinstance(truth[name], list):
                truth[name] = []
        return Document(
            kind, layout, look.family.name, look.size, sheet, truth, schema, "wide", look.locale.words.language
        )
