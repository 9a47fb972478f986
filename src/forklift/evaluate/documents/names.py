"""Made-up names, addresses and codes. Nothing here exists: syllables, digits, and the country code ZZ."""

from __future__ import annotations

import string
from random import Random

_STARTS = (
    "Bren Cal Dov Elm Fal Gor Hul Ist Jun Kel Lum Mor Nes Orv Pel Quor Rin Sab Tol Ulm Ves Wix Yar Zem Dra Kro Ply Stu "
    "Tre Vlo".split()
)
_MIDDLES = "a e i o u ar en il on ur av ed ig om ut".split()
_ENDS = "dex bax mont vane lor dan pex rick sol tane vik gard nova lith mere zon quil beck stra phon".split()
_FORMS = (
    "Trading,Holding,Supply,Industries,Logistics,Services,Instruments,Textiles,Foods,Energy,Partners,Materials,Systems,"
    "Works,Retail,Packaging,Components,Software,Marine,Optics"
).split(",")
_LEGAL = "Ltd,Inc.,GmbH,AG,BV,SA,plc,LLC,Oy,AB".split(",")
_STREETS = "Street,Road,Lane,Avenue,Quay,Square,Way,Park,Row,Gate".split(",")
_PLACES = "burg ford stad ville holm port field haven".split()
_UNAMBIGUOUS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without I and O, which look like digits


def word(random: Random) -> str:
    """A made-up proper name."""
    middle = random.choice(_MIDDLES) if random.random() < 0.7 else ""
    return random.choice(_STARTS) + middle + random.choice(_ENDS)


def company(random: Random, *, form: str | None = None) -> str:
    kind = form or random.choice(_FORMS)
    return f"{word(random)} {kind} {random.choice(_LEGAL)}"


def town(random: Random) -> str:
    return random.choice(_STARTS) + random.choice(_MIDDLES) + random.choice(_PLACES)


def street(random: Random) -> str:
    return f"{random.randint(1, 290)} {word(random)} {random.choice(_STREETS)}"


def address(random: Random) -> tuple[str, str]:
    """Two lines: street, and town with its code."""
    return street(random), f"{digits(random, 5)} {town(random)}"


def distinct(random: Random, number: int, make: object) -> list[str]:
    """`number` different results of `make(random)`."""
    found: list[str] = []
    while len(found) < number:
        text = make(random)  # type: ignore[operator]
        if text not in found:
            found.append(text)
    return found


def digits(random: Random, number: int) -> str:
    """Digits without a leading zero."""
    return random.choice("123456789") + "".join(random.choices(string.digits, k=number - 1))


def letters(random: Random, number: int) -> str:
    return "".join(random.choices(_UNAMBIGUOUS, k=number))


def code(random: Random, prefix: str = "") -> str:
    """An identifier such as INV-204731, KD 4471-20 or 2024/00317."""
    prefix = prefix or letters(random, 2)
    return random.choice(
        (
            f"{prefix}-{digits(random, 6)}",
            f"{prefix}{digits(random, 7)}",
            f"{prefix}-{random.randint(2021, 2026)}-{digits(random, 4)}",
            f"{prefix}/{digits(random, 5)}",
            f"{prefix}-{letters(random, 1)}{digits(random, 5)}",
        )
    )


def like(random: Random, model: str) -> str:
    """Another code of the same form: each digit is drawn anew, letters stay."""
    while True:
        text = "".join(random.choice("123456789") if sign.isdigit() else sign for sign in model)
        if text != model:
            return text


def bank_account(random: Random) -> str:
    """Written like an IBAN, with a country code that no country has."""
    return f"ZZ{digits(random, 2)} " + " ".join(digits(random, 4) for _ in range(4))


def tax_number(random: Random) -> str:
    return f"ZZ{digits(random, 9)}"


def phone(random: Random) -> str:
    return f"+00 {digits(random, 3)} 555 {digits(random, 4)}"


def site(name: str) -> str:
    """A web address under the reserved domain `.example`."""
    return name.split()[0].lower() + ".example"
