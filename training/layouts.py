"""Made-up documents by kind: `make_document` draws one whose every value's glyphs are known."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from training.crops import draft_key_values, draft_receipt_lines, draft_table
from training.draft import DoesNotFit
from training.invoices import draft_invoice, draft_two_pages
from training.leaf import Document, Leaf
from training.receipts import draft_receipt

__all__ = ["KINDS", "Document", "Leaf", "make_document"]

# profile -> kind -> a function that drafts one document or raises DoesNotFit
PROFILES: dict[str, dict[str, Callable[[Random], Document]]] = {
    "narrow": {
        "invoice": draft_invoice,
        "receipt": draft_receipt,
        "invoice_two_pages": draft_two_pages,
        "key_values": draft_key_values,
        "table": draft_table,
        "receipt_lines": draft_receipt_lines,
    }
}
KINDS = tuple(PROFILES["narrow"])
ATTEMPTS = 500


def make_document(random: Random, kind: str, *, profile: str = "narrow") -> Document:
    """Draw a document of `kind`; the same state of `random` gives the same document, byte for byte.

    Raises ValueError for a kind or profile that does not exist, RuntimeError (a bug) if no lot fits.
    """
    try:
        draft = PROFILES[profile][kind]
    except KeyError:
        raise ValueError(f"no document kind {kind!r} in profile {profile!r}; kinds: {', '.join(KINDS)}") from None
    for _ in range(ATTEMPTS):
        try:
            return draft(random)
        except DoesNotFit:
            continue
    raise RuntimeError(f"no {kind} fitted its page in {ATTEMPTS} attempts")
