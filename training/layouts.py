"""Made-up documents by kind: `make_document` draws one whose every value's glyphs are known."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from training.crops import draft_key_values, draft_receipt_lines, draft_table
from training.draft import DoesNotFit
from training.invoices import draft_invoice, draft_two_pages
from training.leaf import Document, Leaf
from training.receipts import draft_receipt

__all__ = ["KINDS", "PROFILES", "Document", "Leaf", "make_document"]

NARROW: dict[str, Callable[[Random], Document]] = {
    "invoice": draft_invoice,
    "receipt": draft_receipt,
    "invoice_two_pages": draft_two_pages,
    "key_values": draft_key_values,
    "table": draft_table,
    "receipt_lines": draft_receipt_lines,
}
KINDS = tuple(NARROW)
# profile -> its kinds of documents
PROFILES: dict[str, tuple[str, ...]] = {"narrow": KINDS, "wide": (*KINDS, "statement")}
ATTEMPTS = 500


def make_document(
    random: Random,
    kind: str,
    *,
    profile: str = "narrow",
    held_out: bool = False,
    language: str | None = None,
) -> Document:
    """Draw a document of `kind`; the same state of `random` gives the same document, byte for byte.

    Of the profile "wide" alone: `held_out` draws from the families that training never uses, `language` (en, de, fr,
    es, it, nl) from that language's countries.
    Raises ValueError for a kind or profile that does not exist, ImportError for fonts that are not installed,
    RuntimeError (a bug) if no lot fits.
    """
    if kind not in PROFILES.get(profile, ()):
        kinds = ", ".join(PROFILES.get(profile, KINDS))
        raise ValueError(f"no document kind {kind!r} in profile {profile!r}; kinds: {kinds}")
    if profile == "wide":
        return _make_wide(random, kind, held_out, language)
    if held_out or language not in (None, "en"):
        raise ValueError("the narrow profile is English and has no held-out families; use the profile wide")
    for _ in range(ATTEMPTS):
        try:
            return NARROW[kind](random)
        except DoesNotFit:
            continue
    raise RuntimeError(f"no {kind} fitted its page in {ATTEMPTS} attempts")


def _make_wide(random: Random, kind: str, held_out: bool, language: str | None) -> Document:
    # Only here, so that the narrow profile needs no fonts.
    from training.wide.families import CROPS, draft, families

    if held_out and kind in CROPS:
        raise ValueError(f"{kind} is a crop; held-out families are whole pages")
    # Drawn once: a family whose lots fit less often is no rarer for it.
    family = kind if kind in CROPS else random.choice(families(kind, held_out=held_out))
    for _ in range(ATTEMPTS):
        try:
            return draft(random, kind, family, language)
        except DoesNotFit:
            continue
    raise RuntimeError(f"no {kind} of the family {family} fitted its page in {ATTEMPTS} attempts")
