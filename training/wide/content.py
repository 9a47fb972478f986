"""What a wide document says, before anything is laid out: companies, numbers, dates, items and sums."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from random import Random

from training import values
from training.wide import figures
from training.wide.figures import Value
from training.wide.locales import Locale
from training.wide.look import Look

NOTHING: tuple[str, ...] = ()


@dataclass
class Party:
    """A company: its name, and its address as the lines that it is printed in."""

    name: Value
    street: str
    town: str

    @property
    def lines(self) -> tuple[str, str]:
        return self.street, self.town


@dataclass
class Item:
    """One line. Amounts in cents; `rate` in per cent."""

    description: Value
    sku: Value
    quantity: Value
    unit: Value
    unit_price: int
    amount: int
    rate: float


@dataclass
class Tax:
    rate: float
    base: int
    amount: int


@dataclass
class Sums:
    """What is owed, in cents; None where it plays no part."""

    subtotal: int
    discount: int | None
    shipping: int | None
    taxes: list[Tax]
    total: int
    tax_included: bool = False


@dataclass
class Facts:
    """Everything that a document could say; a layout prints a part of it, and only what it prints is true of it."""

    look: Look
    vendor: Party
    customer: Party
    number: Value
    order_number: Value
    customer_number: Value
    date: datetime.date
    due_date: datetime.date
    delivery_date: datetime.date
    terms: Value
    tax_id: Value
    phone: Value
    email: Value
    iban: Value | None
    bic: Value
    items: list[Item]
    sums: Sums
    previous_balance: int
    extra: dict[str, Value] = field(default_factory=dict)


def pattern(random: Random, form: str, name: str = "") -> str:
    """# becomes a digit, A a capital letter, * the name."""
    made = []
    for character in form:
        if character == "#":
            made.append(random.choice("0123456789"))
        elif character == "A":
            made.append(random.choice("ABCDEFGHJKLMNPRSTUVWXYZ"))
        elif character == "*":
            made.append(name)
        else:
            made.append(character)
    return "".join(made)


_ACCENTS = {"de": "äöüß", "fr": "éèêç", "es": "áéíóúñ", "it": "àèìòù", "nl": "ëï", "en": ""}


def proper_name(random: Random, locale: Locale) -> str:
    """A made-up name, now and then with a letter of the language's own."""
    word = values.name(random)
    accents = _ACCENTS[locale.words.language]
    if accents and len(word) > 3 and random.random() < 0.2:
        index = random.randrange(1, len(word) - 1)
        word = word[:index] + random.choice(accents) + word[index + 1 :]
    return word


def company(random: Random, locale: Locale) -> str:
    name, suffix = proper_name(random, locale), random.choice(locale.suffixes)
    trade = random.choice(locale.vocabulary.trades)
    kind = random.random()
    if kind < 0.3:
        words = f"{name} {suffix}"
    elif kind < 0.62:
        words = f"{name} {trade} {suffix}"
    elif kind < 0.74:
        words = f"{name} {proper_name(random, locale)} {suffix}"
    elif kind < 0.82:
        words = f"{name} & {proper_name(random, locale)} {suffix}"
    elif kind < 0.9:
        words = f"{name}-{trade} {suffix}"
    elif kind < 0.95:
        words = f"{values.letters(random, 3)} {trade} {suffix}"
    else:
        words = f"{trade} {name}"
    return words.upper() if random.random() < 0.08 else words


def shop(random: Random, locale: Locale) -> str:
    name, kind = proper_name(random, locale), random.choice(locale.vocabulary.shops)
    form = random.random()
    if form < 0.45:
        words = f"{name} {kind}" if locale.words.language in ("en", "de", "nl") else f"{kind} {name}"
    elif form < 0.6:
        words = f"{kind} {name}"
    elif form < 0.7:
        words = f"{name} & {proper_name(random, locale)}"
    else:
        words = company(random, locale)
    return words.upper() if random.random() < 0.25 else words


def party(random: Random, locale: Locale, name: str) -> Party:
    street = random.choice(locale.vocabulary.streets)
    street = street.replace("#", str(random.randint(1, 240)), 1).replace("*", proper_name(random, locale))
    town = pattern(random, locale.town, proper_name(random, locale))
    return Party(figures.text(name), street, town)


def description(random: Random, locale: Locale) -> str:
    """A product or a service, from two words to what takes two lines."""
    words = locale.vocabulary
    adjective, goods, service = (random.choice(part) for part in (words.adjectives, words.goods, words.services))

    def upper(text: str) -> str:
        return text[:1].upper() + text[1:]

    thing = f"{goods} {adjective}" if words.adjective_last else f"{adjective} {goods}"
    kind = random.random()
    if kind < 0.22:
        text = thing
    elif kind < 0.34:
        text = f"{upper(goods)} {values.code(random, random.choice((2, 3, 4)))}"
    elif kind < 0.44:
        text = f"{upper(goods)} {random.randint(1, 900)} {random.choice(('mm', 'cm', 'm', 'kg', 'g', 'W', 'V', 'l'))}"
    elif kind < 0.54:
        text = f"{proper_name(random, locale)} {goods}"
    elif kind < 0.66:
        text = f"{upper(service)} {goods.lower() if words.adjective_last else goods}"
    elif kind < 0.74:
        text = upper(service)
    elif kind < 0.82:
        text = f"{upper(service)} {proper_name(random, locale)}"
    elif kind < 0.9:
        text = f"{upper(service)}, {thing.lower() if words.adjective_last else thing} {values.code(random, 3)}"
    else:
        other = random.choice(words.goods)
        text = f"{thing}, {other} {values.code(random, 3)}, {random.choice(words.services)}"
    return text


def grocery(random: Random, locale: Locale) -> str:
    food = random.choice(locale.vocabulary.foods)
    kind = random.random()
    if kind < 0.45:
        text = food
    elif kind < 0.65:
        text = (
            f"{food} {random.choice(('1 kg', '2 kg', '500 g', '250 g', '250 ml', '0,5 l', '1 l', '6x', 'XL', 'Bio'))}"
        )
    elif kind < 0.85:
        name = proper_name(random, locale)
        text = f"{food} {name}" if locale.vocabulary.adjective_last else f"{name} {food}"
    else:
        text = description(random, locale)
    return text.upper() if random.random() < 0.2 else text


def draw_items(random: Random, look: Look, count: int, *, retail: bool = False) -> list[Item]:
    locale = look.locale
    rates = locale.tax_rates
    usual = rates[0] if random.random() < 0.7 else random.choice(rates)
    # A sales tax has one rate; a value-added tax may have two on one document.
    mixed = (usual,)
    if len(rates) > 1 and locale.name != "en-US" and random.random() < (0.35 if retail else 0.15):
        mixed = (usual, random.choice([rate for rate in rates if rate != usual]))
    prefix = random.choice(("", "", values.letters(random, 2) + "-", values.letters(random, 1)))
    digits = random.choice((3, 4, 5, 6))
    whole = random.random() < 0.75
    items = []
    for _ in range(count):
        price = values.price_cents(random, 1.8, 3.8) if retail else values.price_cents(random, 2.0, 4.8)
        if retail:
            units: float = random.choice((1, 1, 1, 1, 2, 2, 3, 4, 6))
            decimals = 0
        elif whole or random.random() < 0.5:
            units, decimals = values.quantity(random), 0
        else:
            decimals = random.choice((1, 2))
            units = round(random.uniform(0.25, 40), decimals)
        wording = grocery(random, locale) if retail else description(random, locale)
        items.append(
            Item(
                description=figures.text(wording),
                sku=figures.text(prefix + values.digits(random, digits)),
                quantity=figures.number(units, locale, decimals),
                unit=figures.text(look.locale.label(random, "units")),
                unit_price=price,
                amount=round(price * units),
                rate=random.choice(mixed),
            )
        )
    return items


def draw_sums(random: Random, look: Look, items: list[Item], *, retail: bool = False) -> Sums:
    """Sums that agree with the items; retail prices outside the United States hold their tax."""
    subtotal = sum(item.amount for item in items)
    rates = sorted({item.rate for item in items}, reverse=True)
    if retail and not look.locale.letter:
        taxes = []
        for rate in rates:
            gross = sum(item.amount for item in items if item.rate == rate)
            tax = round(gross * rate / (100 + rate))
            taxes.append(Tax(rate, gross - tax, tax))
        return Sums(subtotal, None, None, taxes, subtotal, tax_included=True)
    discount = shipping = None
    if not retail and len(rates) == 1:
        if random.random() < 0.15:
            discount = round(subtotal * random.choice((2, 3, 5, 10, 15)) / 100) or None
        if random.random() < 0.2:
            shipping = random.randint(6, 120) * 50
    taxes = []
    for rate in rates:
        base = sum(item.amount for item in items if item.rate == rate)
        if len(rates) == 1:
            base += (shipping or 0) - (discount or 0)
        taxes.append(Tax(rate, base, round(base * rate / 100)))
    if random.random() < 0.08 or rates == [0]:
        taxes = []
    total = subtotal - (discount or 0) + (shipping or 0) + sum(tax.amount for tax in taxes)
    return Sums(subtotal, discount, shipping, taxes, total)


_PREFIXES = {
    "en": ("INV", "IN", "R", "A", "SI"),
    "de": ("RE", "RG", "R", "AR", "RNR"),
    "fr": ("FA", "F", "FAC", "FC", "FV"),
    "es": ("F", "FAC", "FV", "A", "FR"),
    "it": ("FT", "F", "FE", "FV", "A"),
    "nl": ("F", "VF", "FACT", "FA", "VK"),
}


def document_number(random: Random, locale: Locale) -> str:
    prefixes = _PREFIXES[locale.words.language]
    kind = random.random()
    if kind < 0.7:
        return values.document_number(random, prefixes)
    if kind < 0.8:
        return f"{random.choice(prefixes)} {values.digits(random, 3)} {values.digits(random, 3)}"
    if kind < 0.9:
        return values.digits(random, random.choice((8, 9, 10)))
    return f"{random.randint(2016, 2029)}.{values.digits(random, random.choice((3, 5)))}"


def draw_facts(random: Random, look: Look, count: int, *, retail: bool = False) -> Facts:
    """Facts of a document with `count` items."""
    locale = look.locale
    day = values.day(random)
    vendor = shop(random, locale) if retail else company(random, locale)
    items = draw_items(random, look, count, retail=retail)
    domain = "".join(
        character for character in vendor.split()[0].lower() if character.isascii() and character.isalnum()
    )
    phone = random.choice(
        ("0## ### ## ##", "+## ## #######", "(###) 555-####", "0### / ######", "0##-### ####", "555 ####")
    )
    return Facts(
        look=look,
        vendor=party(random, locale, vendor),
        customer=party(random, locale, company(random, locale)),
        number=figures.text(document_number(random, locale)),
        order_number=figures.text(values.document_number(random, ("PO", "SO", "K", "B", "C", "AB"))),
        customer_number=figures.text(values.digits(random, random.choice((4, 5, 6, 7)))),
        date=day,
        due_date=day + datetime.timedelta(days=random.choice((7, 10, 14, 14, 21, 30, 30, 30, 45, 60, 90))),
        delivery_date=day - datetime.timedelta(days=random.randint(0, 20)),
        terms=figures.text(locale.label(random, "terms_value")),
        tax_id=figures.text(pattern(random, locale.tax_id)),
        phone=figures.text(pattern(random, phone)),
        email=figures.text(f"{random.choice(('info', 'office', 'mail', 'contact'))}@{domain or 'firm'}.example"),
        iban=figures.text(pattern(random, locale.iban)) if locale.iban else None,
        bic=figures.text(pattern(random, random.choice(("AAAAAA#A", "AAAAAAAAAAA", "AAAAAA##AAA")))),
        items=items,
        sums=draw_sums(random, look, items, retail=retail),
        previous_balance=values.price_cents(random, 2.5, 5),
    )
