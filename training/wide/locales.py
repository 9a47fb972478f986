"""Locales: the forms that numbers, dates, currencies and addresses have there, and the language spoken."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from training.wide.vocabulary import VOCABULARIES, Vocabulary
from training.wide.wordings import LANGUAGES, Wordings


@dataclass(frozen=True)
class Locale:
    """One country in one language.

    dates: forms as `figures.date` takes them. currencies: (code, symbol or "") with repetition as weight.
    money_forms: how an amount stands with its currency: "S#" symbol before, "S #", "# S", "C #" code before, "# C".
    letter: its paper is US Letter. tax_rates in per cent, the usual one first.
    """

    name: str
    words: Wordings
    vocabulary: Vocabulary
    decimal: str
    thousands: tuple[str, ...]
    dates: tuple[str, ...]
    currencies: tuple[tuple[str, str], ...]
    money_forms: tuple[str, ...]
    tax_rates: tuple[float, ...]
    letter: bool
    town: str
    suffixes: tuple[str, ...]
    tax_id: str
    iban: str
    weight: float

    def label(self, random: Random, key: str) -> str:
        return random.choice(self.words.labels[key])


_EURO = (("EUR", "€"),)
_ENGLISH_DATES = ("{dd}/{mm}/{yyyy}", "{d} {month} {yyyy}", "{d} {mon} {yyyy}", "{dd}-{mon}-{yyyy}", "{yyyy}-{mm}-{dd}")


def _locale(name: str, **facts: object) -> Locale:
    language = name[:2]
    return Locale(name, LANGUAGES[language], VOCABULARIES[language], **facts)  # type: ignore[arg-type]


# In a town's form: # stands for a digit, A for a capital letter, * for the name.
LOCALES: tuple[Locale, ...] = (
    _locale(
        "en-US",
        decimal=".",
        thousands=(",", ",", ""),
        # The month stands first in the United States: such pages show dollars and Letter paper.
        dates=("{mm}/{dd}/{yyyy}", "{m}/{d}/{yyyy}", "{month} {d}, {yyyy}", "{mon} {d}, {yyyy}", "{yyyy}-{mm}-{dd}"),
        currencies=(("USD", "$"),),
        money_forms=("S#", "S#", "S#", "S #", "# C"),
        tax_rates=(8, 7, 6, 8.25, 7.5, 6.25, 9.5),
        letter=True,
        town="*, AA #####",
        suffixes=("Inc.", "LLC", "Corp.", "Co.", "Inc", "Company", "& Sons", "Group", "Industries"),
        tax_id="##-#######",
        iban="",
        weight=1.0,
    ),
    _locale(
        "en-GB",
        decimal=".",
        thousands=(",", ",", ""),
        dates=_ENGLISH_DATES,
        currencies=(("GBP", "£"), ("GBP", "£"), ("EUR", "€")),
        money_forms=("S#", "S#", "S#", "S #", "# C", "C #"),
        tax_rates=(20, 5, 0),
        letter=False,
        town="* AA# #AA",
        suffixes=("Ltd", "Ltd.", "plc", "LLP", "Limited", "& Co.", "Group", "Holdings"),
        tax_id="GB #########",
        iban="GB## AAAA #### #### #### ##",
        weight=0.9,
    ),
    _locale(
        "en-IE",
        decimal=".",
        thousands=(",", ""),
        dates=(*_ENGLISH_DATES, "{dd}.{mm}.{yyyy}"),
        currencies=(*_EURO, *_EURO, ("CHF", ""), ("SEK", ""), ("CAD", ""), ("AUD", ""), ("PLN", "")),
        money_forms=("S#", "# C", "C #", "S #"),
        tax_rates=(23, 13.5, 9, 25),
        letter=False,
        town="* #####",
        suffixes=("Ltd", "DAC", "AB", "Group", "Trading", "Oy", "International"),
        tax_id="IE#######AA",
        iban="IE## AAAA #### #### #### ##",
        weight=0.6,
    ),
    _locale(
        "de-DE",
        decimal=",",
        thousands=(".", ".", ""),
        dates=(
            "{dd}.{mm}.{yyyy}",
            "{dd}.{mm}.{yyyy}",
            "{d}. {month} {yyyy}",
            "{dd}.{mm}.{yy}",
            "{d}.{m}.{yyyy}",
            "{yyyy}-{mm}-{dd}",
        ),
        currencies=_EURO,
        money_forms=("# S", "# S", "# C", "C #", "S #"),
        tax_rates=(19, 7),
        letter=False,
        town="##### *",
        suffixes=("GmbH", "GmbH", "AG", "KG", "GmbH & Co. KG", "OHG", "e.K.", "UG", "SE"),
        tax_id="DE#########",
        iban="DE## #### #### #### #### ##",
        weight=1.0,
    ),
    _locale(
        "de-AT",
        decimal=",",
        thousands=(".", " ", ""),
        dates=("{dd}.{mm}.{yyyy}", "{d}. {month} {yyyy}", "{d}.{m}.{yyyy}"),
        currencies=_EURO,
        money_forms=("# S", "S #", "C #"),
        tax_rates=(20, 10, 13),
        letter=False,
        town="#### *",
        suffixes=("GmbH", "GesmbH", "AG", "KG", "e.U.", "OG"),
        tax_id="ATU########",
        iban="AT## #### #### #### ####",
        weight=0.4,
    ),
    _locale(
        "de-CH",
        decimal=".",
        thousands=("'", "'", ""),
        dates=("{dd}.{mm}.{yyyy}", "{d}. {month} {yyyy}", "{dd}.{mm}.{yy}"),
        currencies=(("CHF", ""),),
        money_forms=("C #", "# C", "C #"),
        tax_rates=(8.1, 2.6, 7.7),
        letter=False,
        town="#### *",
        suffixes=("AG", "GmbH", "AG", "Sàrl", "SA"),
        tax_id="CHE-###.###.###",
        iban="CH## #### #### #### #### #",
        weight=0.4,
    ),
    _locale(
        "fr-FR",
        decimal=",",
        thousands=(" ", " ", ""),
        dates=("{dd}/{mm}/{yyyy}", "{dd}/{mm}/{yyyy}", "{d} {month} {yyyy}", "{dd}/{mm}/{yy}", "{dd}-{mm}-{yyyy}"),
        currencies=_EURO,
        money_forms=("# S", "# S", "# C"),
        tax_rates=(20, 10, 5.5),
        letter=False,
        town="##### *",
        suffixes=("SARL", "SAS", "SA", "EURL", "et Fils", "SASU", "& Cie"),
        tax_id="FR## #########",
        iban="FR## #### #### #### #### #### ###",
        weight=1.0,
    ),
    _locale(
        "fr-BE",
        decimal=",",
        thousands=(".", " "),
        dates=("{dd}/{mm}/{yyyy}", "{dd}.{mm}.{yyyy}", "{d} {month} {yyyy}"),
        currencies=_EURO,
        money_forms=("# S", "S #", "C #"),
        tax_rates=(21, 6, 12),
        letter=False,
        town="#### *",
        suffixes=("SRL", "SA", "SPRL", "SC"),
        tax_id="BE ####.###.###",
        iban="BE## #### #### ####",
        weight=0.4,
    ),
    _locale(
        "es-ES",
        decimal=",",
        thousands=(".", ".", ""),
        dates=(
            "{dd}/{mm}/{yyyy}",
            "{dd}/{mm}/{yyyy}",
            "{d} de {month} de {yyyy}",
            "{dd}-{mm}-{yyyy}",
            "{dd}/{mm}/{yy}",
        ),
        currencies=_EURO,
        money_forms=("# S", "# S", "# C", "#S"),
        tax_rates=(21, 10, 4),
        letter=False,
        town="##### *",
        suffixes=("S.L.", "S.A.", "SL", "SA", "y Hijos", "S.L.U.", "S.Coop."),
        tax_id="B########",
        iban="ES## #### #### #### #### ####",
        weight=1.0,
    ),
    _locale(
        "es-MX",
        decimal=".",
        thousands=(",", ""),
        dates=("{dd}/{mm}/{yyyy}", "{d} de {month} de {yyyy}", "{dd}-{mon}-{yyyy}"),
        currencies=(("MXN", ""),),
        money_forms=("# C", "C #"),
        tax_rates=(16, 8),
        letter=True,
        town="*, C.P. #####",
        suffixes=("S.A. de C.V.", "S. de R.L.", "S.C.", "S.A."),
        tax_id="AAA######AA#",
        iban="",
        weight=0.3,
    ),
    _locale(
        "it-IT",
        decimal=",",
        thousands=(".", ".", ""),
        dates=("{dd}/{mm}/{yyyy}", "{dd}/{mm}/{yyyy}", "{d} {month} {yyyy}", "{dd}-{mm}-{yyyy}", "{dd}.{mm}.{yyyy}"),
        currencies=_EURO,
        money_forms=("# S", "S #", "# C", "S#"),
        tax_rates=(22, 10, 4),
        letter=False,
        town="##### * (AA)",
        suffixes=("S.r.l.", "S.p.A.", "Srl", "SpA", "S.n.c.", "& Figli", "S.a.s."),
        tax_id="IT###########",
        iban="IT## A#### #### #### #### #### ###",
        weight=1.0,
    ),
    _locale(
        "nl-NL",
        decimal=",",
        thousands=(".", ".", ""),
        dates=(
            "{dd}-{mm}-{yyyy}",
            "{dd}-{mm}-{yyyy}",
            "{d} {month} {yyyy}",
            "{d}-{m}-{yyyy}",
            "{dd}/{mm}/{yyyy}",
            "{d} {mon} {yyyy}",
        ),
        currencies=_EURO,
        money_forms=("S #", "S #", "S#", "# C"),
        tax_rates=(21, 9),
        letter=False,
        town="#### AA *",
        suffixes=("B.V.", "BV", "N.V.", "VOF", "& Zn.", "Groep"),
        tax_id="NL#########B##",
        iban="NL## AAAA #### #### ##",
        weight=1.0,
    ),
)
BY_NAME = {locale.name: locale for locale in LOCALES}


def draw_locale(random: Random, language: str | None = None) -> Locale:
    locales = [locale for locale in LOCALES if language in (None, locale.words.language)]
    return random.choices(locales, [locale.weight for locale in locales])[0]
