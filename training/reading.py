"""Sheets full of random text, for learning to read before learning to answer."""

from __future__ import annotations

import random as random_module
import string

import numpy as np
from PIL import Image

from training.canvas import FONT_FAMILIES, Sheet, text_width
from training.labels import label_page, patchify
from training.nano import CHARACTERS

SHEET_POINTS = 768.0
SHEET_PIXELS = 1024
# width, height of the crops in pixels, and how many make a batch
CROPS: tuple[tuple[int, int, int], ...] = ((256, 128, 48), (512, 64, 48), (288, 384, 14))
_ACCENTED = "".join(character for character in CHARACTERS if ord(character) > 127)
_CONSONANTS = """
b c d f g h j k l m n p r s t v w z br ch cl cr dr fl gr kr pl pr sh sk sl sp st th tr qu x y
""".split()
_VOWELS = """
a e i o u a e i o ai ea ee ia io oa ou y
""".split()
_LABELS = """
Invoice No Invoice Number Invoice Date Due Date Bill To Customer Total Subtotal Tax VAT Amount Due Qty Quantity
Description Unit Price Amount Receipt Thank you Page Order Ref Payment Terms Cash Card Change Item Price Phone Email
From To Net Gross Balance Currency Sold Ship Vendor Supplier Seller Date Number Street Bank Account
""".split()


def _word(random: random_module.Random) -> str:
    word = "".join(random.choice(_CONSONANTS) + random.choice(_VOWELS) for _ in range(random.choice((1, 2, 2, 3))))
    word += random.choice(("", "", "n", "r", "s", "t", "l", "m", "x", "ck", "nd", "ng", "rt"))
    if random.random() < 0.03:
        index = random.randrange(len(word))
        word = word[:index] + random.choice(_ACCENTED) + word[index + 1 :]
    case = random.random()
    return word.capitalize() if case < 0.45 else word.upper() if case < 0.55 else word


def _money(random: random_module.Random) -> str:
    cents = int(10 ** random.uniform(1, 7))
    style = random.randrange(4)
    whole = f"{cents // 100:,}" if style < 2 else str(cents // 100)
    amount = f"{whole}.{cents % 100:02d}"
    if style == 3:
        amount = f"{cents // 100:,}".replace(",", ".") + f",{cents % 100:02d}"
    return random.choice(("", "", "$", "€", "£", "USD ", "EUR ")) + amount + random.choice(("", "", "", " EUR", " €"))


def random_text(random: random_module.Random) -> str:
    """A word, number, code, date, amount or label, as documents have them."""
    kind = random.randrange(14)
    if kind <= 2 or kind == 13:
        return " ".join(_word(random) for _ in range(random.randint(1, 3)))
    if kind == 3:
        return _money(random)
    if kind == 4:
        day, month, year = random.randint(1, 31), random.randint(1, 12), random.randint(1990, 2039)
        months = (
            "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec January February March April June July August September"
        )
        name = random.choice(months.split())
        return random.choice(
            (
                f"{year}-{month:02d}-{day:02d}",
                f"{day:02d}/{month:02d}/{year}",
                f"{day:02d}.{month:02d}.{year}",
                f"{day} {name} {year}",
                f"{name} {day}, {year}",
            )
        )
    if kind == 5:
        return "".join(random.choices(string.digits, k=random.randint(1, 9)))
    if kind == 6:
        return "".join(random.choices(string.ascii_uppercase + string.digits, k=random.randint(3, 9)))
    if kind == 7:
        code = "".join(random.choices(string.digits, k=random.randint(3, 6)))
        return random.choice(("INV-", "R", "A-", "#", "No. ", "2025/", "B", "RE-")) + code
    if kind == 8:
        return " ".join(random.choices(_LABELS, k=random.randint(1, 2))) + random.choice((":", "", "#", "."))
    if kind == 9:
        return "".join(random.choices(CHARACTERS[:94], k=random.randint(2, 9)))
    if kind == 10:
        return f"{random.randint(1, 40)} x {_money(random)}"
    if kind == 11:
        return "".join(random.choices(string.ascii_letters, k=random.randint(2, 9)))
    return "".join(random.choices(CHARACTERS, k=random.randint(1, 5)))


def _font(random: random_module.Random) -> str:
    return random.choice(random.choice(FONT_FAMILIES[:3] * 6 + FONT_FAMILIES[3:]))


def make_sheet(seed: int, profile: str = "narrow") -> tuple[np.ndarray, np.ndarray]:
    """A page of SHEET_PIXELS squared: uint8 grey pixels, and labels as `label_page` gives them."""
    random = random_module.Random(seed)
    if profile == "wide":
        from training.wide.reading import make_wide_sheet

        (pixels,), runs = make_wide_sheet(random, SHEET_POINTS)
        points = SHEET_PIXELS / SHEET_POINTS
        return pixels, label_page(runs, 0, SHEET_PIXELS, SHEET_PIXELS, points, points).labels.astype(np.int16)
    sheet = Sheet(SHEET_POINTS, SHEET_POINTS)
    sheet.rectangle(0, 0, SHEET_POINTS, SHEET_POINTS, grey=random.choice((1.0, 1.0, 1.0, 0.97, 0.95)))
    # What documents are set in; smaller and larger print is for a wider reader.
    sizes = (8.5, 9, 9.5, 10, 10, 10, 10.5, 11, 11, 11.5, 12, 12, 13, 15)
    size: float = random.choice(sizes)
    y = random.uniform(4, 12)
    while y < SHEET_POINTS:
        x = random.uniform(-6, 40)
        grey = random.choice((0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4))
        font = _font(random)
        while x < SHEET_POINTS - 10:
            text = random_text(random)
            sheet.text(x, y, text, font=font, size=size, grey=grey)
            x += text_width(text, font, size) + random.choice((4, 8, 14, 24, 40))
            if random.random() < 0.25:
                font = _font(random)
        if random.random() < 0.08:
            line_y = y + size * 0.45
            sheet.line(0, line_y, SHEET_POINTS, line_y, grey=random.choice((0, 0.3, 0.6)))
        next_size = random.choice(sizes)
        y += max(size, next_size) * random.choice((1.15, 1.2, 1.25, 1.3, 1.4, 1.6, 2.0)) + random.uniform(0, 2)
        size = next_size
    scale = random.choice((1.0, 1.0, random.uniform(0.95, 1.05)))  # pages are often resized before they are read
    pixels = sheet.render(96 / scale)[0]
    if pixels.shape != (SHEET_PIXELS, SHEET_PIXELS):
        pixels = np.asarray(Image.fromarray(pixels).resize((SHEET_PIXELS, SHEET_PIXELS), Image.Resampling.BICUBIC))
    labels = label_page(
        sheet.runs, 0, SHEET_PIXELS, SHEET_PIXELS, SHEET_PIXELS / SHEET_POINTS, SHEET_PIXELS / SHEET_POINTS
    ).labels
    return pixels, labels.astype(np.int16)


def cut(
    pixels: np.ndarray, labels: np.ndarray, width: int, height: int, random: random_module.Random
) -> tuple[np.ndarray, np.ndarray]:
    """A crop at whole image tokens: patches uint8 [n, 256] and labels [n / 4, 4 * SLOTS]."""
    row = random.randrange((SHEET_PIXELS - height) // 32 + 1)
    column = random.randrange((SHEET_PIXELS - width) // 32 + 1)
    crop = pixels[row * 32 : row * 32 + height, column * 32 : column * 32 + width]
    cells = labels[row : row + height // 32, column : column + width // 32]
    return patchify(crop), cells.reshape(-1, labels.shape[-1])
