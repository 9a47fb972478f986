"""Currencies as they are printed: EUR is a euro sign, GBP a pound sign, on paper."""

from __future__ import annotations

_PRINTED = {
    "EUR": "€ euro euros",
    "USD": "$ us$ $us dollar dollars",
    "GBP": "£ pound pounds sterling",
    "JPY": "¥ 円 yen",
    "CNY": "¥ 元 rmb yuan",
    "CHF": "fr fr. sfr sfr. franken francs",
    "CAD": "$ ca$ c$ can$",
    "AUD": "$ a$ au$",
    "NZD": "$ nz$",
    "SGD": "$ s$ sg$",
    "HKD": "$ hk$",
    "MXN": "$ mx$ mex$",
    "BRL": "r$ reais real",
    "INR": "₹ rs rs. rupees",
    "KRW": "₩ won",
    "TRY": "₺ tl lira",
    "RUB": "₽ руб руб.",
    "UAH": "₴ грн",
    "ILS": "₪ nis",
    "THB": "฿ baht",
    "VND": "₫",
    "PHP": "₱",
    "NGN": "₦",
    "SEK": "kr kr. kronor",
    "NOK": "kr kr. kroner",
    "DKK": "kr kr. kroner",
    "ISK": "kr kr. krónur",
    "PLN": "zł zl złoty",
    "CZK": "kč kc",
    "HUF": "ft forint",
    "RON": "lei leu",
    "BGN": "лв лв.",
    "ZAR": "r rand",
    "AED": "dh dhs د.إ",
    "SAR": "sr ﷼",
}
SIGNS = frozenset("€$£¥₹₩₺₽₴₪฿₫₱₦円元")
_FORMS = {code: frozenset((code.casefold(), *printed.split())) for code, printed in _PRINTED.items()}
_CODES: dict[str, str] = {}
for _code, _forms in _FORMS.items():
    for _form in _forms:
        _CODES.setdefault(_form, _code)


def currency_forms(text: str) -> frozenset[str]:
    """How a currency may be printed, casefolded; `text` is its code, its sign or its name. Empty for anything else."""
    plain = text.strip().casefold()
    code = text.strip().upper() if text.strip().upper() in _FORMS else _CODES.get(plain, "")
    return _FORMS.get(code, frozenset()) | ({plain} if code else frozenset())


def signs_in(word: str) -> tuple[str, ...]:
    """The currency forms that a word may show besides being one itself: "US$1,234.50" shows us$ and $."""
    plain = word.casefold()
    letters = "".join(character for character in plain if not character.isdigit()).strip(".,:;()[]'’-−–+*/ ")
    found = [plain.strip("()[]:;,")]
    # Beside digits two letters are rather the head of a code than a currency: FR74 is no franc.
    if len(letters.rstrip(".")) > 2 or letters == found[0] or not letters.isalpha():
        found += [letters, letters.rstrip(".")]
        found += [part for part in letters.replace(".", ",").split(",") if len(part) > 2]
    found += [character for character in plain if character in SIGNS]
    return tuple(dict.fromkeys(form for form in found if form))


def codes_in(word: str) -> tuple[str, ...]:
    """The codes of every currency that a word may show: "$12.50" may be in any kind of dollar."""
    shown = set(signs_in(word))
    return tuple(code for code, forms in _FORMS.items() if shown & forms)
