"""How one wide document looks: fonts, sizes, colours, spacing, wording, how money and dates are written; by lot."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from random import Random

from training.wide import figures
from training.wide.figures import Value
from training.wide.fonts import FAMILIES, Family
from training.wide.locales import Locale
from training.wide.paper import Face, Ink

# Points; print of 7 points is 9 pixels high at 96 dots per inch.
SIZES = {7: 0.5, 7.5: 0.6, 8: 1.2, 8.5: 1.2, 9: 2, 9.5: 1.5, 10: 2.5, 10.5: 1.5, 11: 1.6, 12: 0.9, 13: 0.35, 14: 0.3}
ACCENTS: tuple[tuple[float, float, float], ...] = (
    (0.08, 0.22, 0.45),
    (0.0, 0.35, 0.35),
    (0.45, 0.08, 0.1),
    (0.1, 0.35, 0.12),
    (0.2, 0.2, 0.24),
    (0.35, 0.12, 0.4),
    (0.6, 0.3, 0.0),
    (0.0, 0.3, 0.6),
    (0.15, 0.15, 0.15),
)


def _tint(colour: tuple[float, float, float], share: float) -> tuple[float, float, float]:
    """`share` of the colour on white."""
    red, green, blue = (1 - share * (1 - part) for part in colour)
    return red, green, blue


@dataclass
class Look:
    """Sizes in points; inks are greys from 0 (black) to 1 (white) or colours."""

    locale: Locale
    family: Family
    heading_family: Family
    size: float
    heading_size: float
    leading: float
    ink: Ink
    label_ink: Ink
    accent: tuple[float, float, float]
    coloured: bool
    paper: float
    labels: dict[str, str]
    pair_form: str
    colon: str
    label_bold: bool
    label_small: bool
    currency: str
    sign: str
    money_form: str
    thousands: str
    date_form: str
    minus: str
    cell_signs: bool
    italic_notes: bool

    @property
    def body(self) -> Face:
        return Face(self.family.face(), self.size)

    @property
    def strong(self) -> Face:
        return Face(self.family.face(bold=True), self.size)

    @property
    def label_face(self) -> Face:
        size = max(7.0, self.size - 1.5) if self.label_small else self.size
        return Face(self.family.face(bold=self.label_bold), size)

    @property
    def heading(self) -> Face:
        return Face(self.heading_family.face(bold=True), self.heading_size)

    @property
    def title(self) -> Face:
        return Face(self.heading_family.face(bold=self.label_bold), self.heading_size)

    @property
    def small(self) -> Face:
        return Face(self.family.face(italic=False), max(7.0, self.size - 1.5))

    @property
    def note(self) -> Face:
        return Face(self.family.face(italic=self.italic_notes), max(7.0, self.size - 1))

    @property
    def step(self) -> float:
        """Distance between the baselines of two lines."""
        return self.size * self.leading

    @property
    def accent_ink(self) -> Ink:
        return self.accent if self.coloured else self.ink

    def shade(self, share: float) -> Ink:
        """A light fill: the accent's or a grey."""
        return _tint(self.accent, share) if self.coloured else 1 - 0.75 * share

    def date(self, day: datetime.date) -> Value:
        return figures.date(day, self.date_form, self.locale)

    def money(self, cents: int) -> Value:
        return figures.amount(cents, self.locale, self.thousands, minus=self.minus)

    def signed(self, cents: int) -> tuple[Value, tuple[str, int] | None]:
        """An amount with its currency as this look writes it; the currency's sign and its index in what is shown."""
        amount = self.money(cents)
        sign = self.sign if "S" in self.money_form else self.currency
        before, _, after = self.money_form.partition("#")
        if not before and not after:
            return amount, None
        before, after = (part.replace("S", sign).replace("C", sign) for part in (before, after))
        printed = amount.within(before, after)
        return printed, (sign, printed.shown.index(sign))

    def currency_value(self, sign: str) -> Value:
        return figures.currency(self.currency, sign)

    def label(self, key: str) -> str:
        return self.labels[key]


def draw_look(random: Random, locale: Locale, *, largest: float = 14, smallest: float = 7) -> Look:
    """Draw a look; the body size lies between `smallest` and `largest`."""
    weights = [family.weight for family in FAMILIES]
    family = random.choices(FAMILIES, weights)[0]
    heading_family = family if random.random() < 0.75 else random.choices(FAMILIES, weights)[0]
    sizes = {size: weight for size, weight in SIZES.items() if smallest <= size <= largest}
    size: float = random.choices(list(sizes), list(sizes.values()))[0]
    if family.kind == "mono" or family.name in ("Poppins", "Vera", "Open Sauce Sans", "Mukta"):  # they run wide
        size = max(smallest, size - 1)
    ink: Ink = random.choice((0.0, 0.0, 0.0, 0.1, random.uniform(0, 0.35)))
    accent = random.choice(ACCENTS)
    coloured = random.random() < 0.5
    label_ink = random.choice((ink, ink, ink, random.uniform(0.1, 0.5), accent if coloured else ink))
    code, sign = random.choice(locale.currencies)
    forms = [form for form in locale.money_forms if sign or "S" not in form]
    return Look(
        locale=locale,
        family=family,
        heading_family=heading_family,
        size=size,
        heading_size=min(28.0, max(size + 2, size * random.uniform(1.25, 2.4))),
        leading=random.uniform(1.22, 1.65),
        ink=ink,
        label_ink=label_ink,
        accent=accent,
        coloured=coloured,
        paper=random.choice((1.0, 1.0, 1.0, random.uniform(0.95, 1.0))),
        labels=_labels(random, locale),
        pair_form=random.choice(("inline", "inline", "columns", "columns", "columns", "right", "stacked")),
        colon=random.choice((":", ":", "", " :" if locale.words.language == "fr" else ":")),
        label_bold=random.random() < 0.4,
        label_small=random.random() < 0.2,
        currency=code,
        sign=sign,
        money_form=random.choice(("#", "#", "#", *forms * 2)),
        thousands=random.choice(locale.thousands),
        date_form=random.choice(locale.dates),
        minus=random.choice(("before", "before", "before", "after", "brackets")),
        cell_signs=random.random() < 0.25,
        italic_notes=random.random() < 0.3,
    )


def _labels(random: Random, locale: Locale) -> dict[str, str]:
    labels = {key: random.choice(wordings) for key, wordings in locale.words.labels.items()}
    while labels["tax_rate"] == labels["tax"] and len(locale.words.labels["tax_rate"]) > 1:
        labels["tax_rate"] = random.choice(locale.words.labels["tax_rate"])
    if labels["position"] == labels["invoice_number"]:
        labels["position"] = "#"
    if random.random() < 0.12:
        kept = {"units", "terms_value", "bookings", "page_of", "currency_line", "tax_on"}
        labels = {
            key: wording if key in kept else wording.upper().replace("SS", "SS") for key, wording in labels.items()
        }
        labels = {key: "".join(c if c != "ẞ" else "SS" for c in wording) for key, wording in labels.items()}
    return labels
