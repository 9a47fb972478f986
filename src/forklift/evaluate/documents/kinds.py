"""Every kind of document that can be made, by profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from forklift.evaluate.documents.bank_statements import make_bank_statement
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.contracts import make_contract
from forklift.evaluate.documents.financial_reports import make_financial_report
from forklift.evaluate.documents.invoices import make_invoice
from forklift.evaluate.documents.laboratory_reports import make_laboratory_report
from forklift.evaluate.documents.purchase_histories import make_purchase_history
from forklift.evaluate.documents.short_invoices import make_short_invoice
from forklift.evaluate.documents.short_receipts import make_short_receipt
from forklift.evaluate.documents.short_statements import make_short_statement

Profile = Literal["full", "short"]
Maker = Callable[[Brief], MadeDocument]

# Documents take the kinds of their profile in turn.
KINDS: Mapping[Profile, Mapping[str, Maker]] = {
    "full": {
        "invoice": make_invoice,
        "bank-statement": make_bank_statement,
        "contract": make_contract,
        "financial-report": make_financial_report,
        "laboratory-report": make_laboratory_report,
        "purchase-history": make_purchase_history,
    },
    "short": {
        "short-invoice": make_short_invoice,
        "short-receipt": make_short_receipt,
        "short-statement": make_short_statement,
    },
}
# Fewest and most pages of a document.
PAGES: Mapping[Profile, tuple[int, int]] = {"full": (6, 64), "short": (1, 2)}
