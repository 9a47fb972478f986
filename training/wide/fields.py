"""What users call the fields of a document in their schemas, how they describe them, and of which types they make them.

Names are in snake_case here; `schemas.py` writes them in the style of each schema.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """kind: "text", "date", "money", "count", "rate" or "choice"; the first name is that of the truth."""

    kind: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...]


def _field(kind: str, names: str, descriptions: str) -> Field:
    return Field(kind, tuple(names.split()), tuple(part.strip() for part in descriptions.split("|")))


_COMPANY = {
    "vendor_address": _field(
        "text",
        "vendor_address seller_address supplier_address company_address sender_address merchant_address",
        "Address of the seller, on one line|Street and city of the company that sends it|Seller's address",
    ),
    "vendor_tax_id": _field(
        "text",
        "vendor_tax_id seller_tax_id tax_number vat_number vat_id tax_id company_tax_id supplier_vat_number",
        "Tax number of the seller|VAT number of the company|Seller's tax id",
    ),
    "vendor_phone": _field(
        "text",
        "vendor_phone phone phone_number seller_phone telephone company_phone",
        "Phone number of the seller|Telephone",
    ),
    "vendor_email": _field(
        "text", "vendor_email email seller_email contact_email", "Email of the seller|Email address"
    ),
    "document_type": _field(
        "choice", "document_type type kind document_kind", "What document this is|Type of the document|Kind of document"
    ),
    "currency": _field(
        "choice",
        "currency currency_code iso_currency",
        "Three-letter ISO code of the currency|Currency code|ISO code, such as EUR|Currency of all amounts",
    ),
}
_ITEM = {
    "sku": _field(
        "text",
        "sku code item_number product_code item_code article reference",
        "Item number|Product code|Code of the product",
    ),
    "description": _field(
        "text",
        "description item name product text title service label item_description product_name details",
        "Product or service|What was sold|Name of the item|Text of the line|Description of the item",
    ),
    "quantity": _field(
        "count",
        "quantity count units number amount_ordered quantity_sold item_count",
        "Number of units|How many|Quantity|Units sold",
    ),
    "unit": _field("text", "unit measure unit_name unit_of_measure", "Unit of the quantity|What is counted"),
    "unit_price": _field(
        "money",
        "unit_price price rate unit_cost price_each item_price price_per_unit cost",
        "Price of one unit|Unit price|Price each",
    ),
    "tax_rate": _field(
        "rate", "tax_rate vat_rate tax_percent vat_percent rate", "Tax rate of the line in percent|VAT rate in %"
    ),
    "amount": _field(
        "money",
        "amount total line_total sum value price total_price line_amount item_total net",
        "Total of the line|Line total|Amount of the line",
    ),
}
ITEMS = {
    "line_items": _ITEM,
    "taxes": {
        "rate": _field("rate", "rate tax_rate percent percentage vat_rate", "Tax rate in percent|Rate"),
        "amount": _field("money", "amount tax tax_amount value sum", "Amount of tax|Tax at this rate"),
    },
    "transactions": {
        "date": _field("date", "date day transaction_date value_date", "Date of the transaction|Day"),
        "description": _field(
            "text",
            "description text details purpose label name title",
            "Text of the transaction|What it was for|Description",
        ),
        "reference": _field(
            "text", "reference number transaction_number code id", "Reference|Number of the transaction"
        ),
        "amount": _field(
            "money", "amount value sum total", "Amount, negative when paid out|Amount|Value, minus for debits"
        ),
        "balance": _field(
            "money", "balance total account_balance balance_after", "Balance after the transaction|Balance"
        ),
    },
}
LISTS = {
    "line_items": _field(
        "list",
        "line_items items lines products positions rows entries articles services item_list",
        "One entry a line, in order|All items|Lines of the document|Products or services, in order",
    ),
    "taxes": _field("list", "taxes tax_lines vat tax_rates tax_amounts", "One entry a tax rate|All taxes|Tax lines"),
    "transactions": _field(
        "list",
        "transactions entries lines rows items payments",
        "One entry a line, in order|All transactions|Lines of the statement",
    ),
}
INVOICE = {
    "vendor": _field(
        "text",
        "vendor seller supplier company vendor_name seller_name supplier_name company_name issuer sender from biller",
        "Name of the company that sends the invoice|Who sends the invoice|Seller|Name of the seller|Issuing company",
    ),
    "customer": _field(
        "text",
        "customer buyer client customer_name buyer_name client_name recipient bill_to billed_to payer",
        "Name of the company or person billed|Who has to pay|Buyer|Name of the customer|Who is billed",
    ),
    "customer_address": _field(
        "text",
        "customer_address buyer_address client_address billing_address recipient_address",
        "Address of the customer, on one line|Where the customer is|Billing address",
    ),
    "customer_number": _field(
        "text", "customer_number customer_id client_number customer_code", "Customer number|Number of the customer"
    ),
    "invoice_number": _field(
        "text",
        "invoice_number number invoice_id invoice_no document_number bill_number invoice_code id invoice reference",
        "Invoice number|Number of the invoice|Identifier of the invoice|Document number",
    ),
    "order_number": _field(
        "text",
        "order_number purchase_order order_id po_number order order_reference",
        "Order number|Purchase order|Number of the order",
    ),
    "date": _field(
        "date",
        "date invoice_date issue_date date_issued document_date billing_date issued issued_on",
        "Invoice date|When the invoice was issued|Date of issue|Date of the document",
    ),
    "delivery_date": _field(
        "date", "delivery_date service_date delivered order_date", "Date of delivery|Day of delivery or order"
    ),
    "due_date": _field(
        "date",
        "due_date payment_due due date_due pay_by payment_date due_on",
        "Date by which to pay|Due date|When payment is due|Last day to pay",
    ),
    "payment_terms": _field(
        "text", "payment_terms terms payment_conditions", "Terms of payment|How long until payment"
    ),
    "subtotal": _field(
        "money",
        "subtotal net_amount net net_total total_net amount_before_tax sum_before_tax total_before_tax",
        "Sum before tax|Net amount|Total without tax|Subtotal",
    ),
    "discount": _field("money", "discount discount_amount", "Discount, a positive amount|Amount of the discount"),
    "shipping": _field("money", "shipping delivery_cost shipping_cost freight", "Cost of delivery|Shipping"),
    "tax_rate": _field("rate", "tax_rate vat_rate tax_percent vat_percent", "Tax rate in percent|VAT rate"),
    "tax": _field(
        "money",
        "tax vat tax_amount vat_amount total_tax sales_tax tax_total",
        "Amount of tax|VAT amount|Tax|Sum of all taxes",
    ),
    "total": _field(
        "money",
        "total amount_due total_amount grand_total invoice_total total_due amount gross_total balance_due gross_amount",
        "Amount to pay|Total with tax|Grand total|Sum to pay|Total amount",
    ),
    "previous_balance": _field(
        "money", "previous_balance opening_balance last_balance", "Balance of before, if stated|Previous balance"
    ),
    "iban": _field(
        "text", "iban account bank_account account_number", "IBAN of the seller|IBAN|Bank account to pay to"
    ),
    "bic": _field("text", "bic bank_code bic_code", "BIC of the bank|BIC"),
    **_COMPANY,
}
RECEIPT = {
    **{name: INVOICE[name] for name in ("date", "subtotal", "tax_rate", "tax")},
    "vendor": _field(
        "text",
        "vendor shop store merchant seller company store_name shop_name merchant_name name",
        "Name of the shop|Where it was bought|Shop|Name of the store|Merchant",
    ),
    "receipt_number": _field(
        "text",
        "receipt_number number receipt_id receipt_no document_number transaction_id bill_number",
        "Receipt number|Number of the receipt",
    ),
    "date": _field(
        "date",
        "date receipt_date purchase_date date_of_purchase transaction_date sold_on",
        "Date of purchase|Day of the sale|Receipt date",
    ),
    "total": _field(
        "money",
        "total amount_paid total_amount grand_total sum amount total_paid",
        "Amount paid|Total|Sum|Total with tax",
    ),
    "payment_method": _field(
        "choice",
        "payment_method method payment paid_by paid_with payment_type",
        "How it was paid, such as cash or card|Means of payment",
    ),
    "given": _field("money", "given cash_given amount_given paid", "Cash handed over|Amount given"),
    "change": _field("money", "change change_due change_given", "Change given back|Change"),
    **{
        name: _COMPANY[name]
        for name in ("vendor_address", "vendor_tax_id", "vendor_phone", "document_type", "currency")
    },
}
STATEMENT = {
    "vendor": _field(
        "text",
        "vendor bank issuer bank_name company sender institution",
        "Name of the bank or company that sends the statement|Bank|Issuer",
    ),
    "customer": _field(
        "text",
        "customer account_holder holder client owner name account_name",
        "Name of the account's holder|Whose account it is",
    ),
    "account_number": _field(
        "text", "account_number account account_id number", "Account number|Number of the account"
    ),
    "iban": _field("text", "iban account_iban", "IBAN of the account|IBAN"),
    "statement_number": _field(
        "text", "statement_number number statement_id document_number", "Statement number|Number of the statement"
    ),
    "date": _field("date", "date statement_date issue_date issued", "Statement date|Day of issue"),
    "period_start": _field(
        "date", "period_start start_date from_date begin period_from", "First day of the period|Start"
    ),
    "period_end": _field("date", "period_end end_date to_date end period_to", "Last day of the period|End"),
    "opening_balance": _field(
        "money",
        "opening_balance previous_balance starting_balance balance_before",
        "Balance before the first transaction|Opening balance",
    ),
    "closing_balance": _field(
        "money",
        "closing_balance balance ending_balance new_balance balance_after final_balance",
        "Balance after the last transaction|New balance",
    ),
    "total_in": _field("money", "total_in total_credit credits deposits", "Sum of all money received|Total of credits"),
    "total_out": _field("money", "total_out total_debit debits payments", "Sum of all money paid out|Total of debits"),
    **_COMPANY,
    "bic": INVOICE["bic"],
    "customer_address": INVOICE["customer_address"],
}
SCALARS = {"invoice": INVOICE, "receipt": RECEIPT, "statement": STATEMENT}
# How fields that belong together are nested: group -> (names of the group, field -> its name inside)
GROUPS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "vendor": (
        ("vendor", "seller", "supplier", "company", "merchant"),
        {
            "vendor": "name",
            "vendor_address": "address",
            "vendor_tax_id": "tax_id",
            "vendor_phone": "phone",
            "vendor_email": "email",
        },
    ),
    "customer": (
        ("customer", "buyer", "client", "recipient"),
        {"customer": "name", "customer_address": "address", "customer_number": "number"},
    ),
    "totals": (
        ("totals", "amounts", "summary", "total"),
        {
            "subtotal": "subtotal",
            "discount": "discount",
            "shipping": "shipping",
            "tax": "tax",
            "total": "total",
            "currency": "currency",
        },
    ),
    "payment": (
        ("payment", "bank", "payment_details"),
        {"iban": "iban", "bic": "bic", "payment_terms": "terms", "due_date": "due_date", "payment_method": "method"},
    ),
    "period": (("period", "statement_period"), {"period_start": "start", "period_end": "end"}),
}
CHOICES = {
    "document_type": ("invoice", "receipt", "statement", "order", "letter", "contract"),
    "currency": ("EUR", "USD", "GBP", "CHF", "MXN", "SEK", "CAD", "AUD", "PLN", "JPY"),
    "payment_method": ("cash", "card", "transfer", "other"),
}
