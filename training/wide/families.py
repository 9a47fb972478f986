"""Every kind and family of wide documents, and which families are held out from training."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from training.leaf import Document
from training.wide import crops, invoices, receipts, statements

# Never drawn for training: what a model reads of them is what it makes of layouts that it has not seen.
HELD_OUT_FAMILIES = frozenset({"hero", "stub", "kiosk", "passbook"})
CROPS: dict[str, Callable[[Random, str | None], Document]] = {
    "key_values": crops.draft_key_values,
    "table": crops.draft_table,
    "receipt_lines": crops.draft_receipt_lines,
}
FAMILIES: dict[str, tuple[str, ...]] = {
    "invoice": tuple(invoices.FAMILIES),
    "receipt": tuple(receipts.FAMILIES),
    "statement": statements.FAMILIES,
    "invoice_two_pages": tuple(invoices.FAMILIES),
}
KINDS = (*FAMILIES, *CROPS)


def families(kind: str, *, held_out: bool) -> tuple[str, ...]:
    """The families of a kind that training uses, or those that it never sees."""
    return tuple(family for family in FAMILIES[kind] if (family in HELD_OUT_FAMILIES) == held_out)


def draft(random: Random, kind: str, family: str, language: str | None) -> Document:
    """One attempt at a document. Raises DoesNotFit where the lot drawn does not fit."""
    if kind in CROPS:
        return CROPS[kind](random, language)
    if kind == "receipt":
        return receipts.draft_receipt(random, family, language)
    if kind == "statement":
        return statements.draft_statement(random, family, language)
    return invoices.draft_invoice(random, family, language, pages=1 if kind == "invoice" else 2)
