"""The made-up documents of the open benchmark: their pages, their answers, and that both are the same every time."""

from __future__ import annotations

import datetime
import json
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdfium2 import raw

from forklift.documents import Document
from forklift.errors import UsageError
from forklift.evaluate.datasets import read_dataset
from forklift.evaluate.documents import names
from forklift.evaluate.documents.benchmark import Entry, Plan, kind_table, make_benchmark, make_document
from forklift.evaluate.documents.brief import Brief
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.kinds import KINDS, PAGES, Profile
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import MONTHS, Notation, make_notation, write_date
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.scans import scanned
from forklift.evaluate.documents.sheet import Sheet, text_width, wrap
from forklift.evaluate.documents.style import make_style
from forklift.evaluate.documents.truth import LABELS, Truth, count_leaves
from forklift.results import Word

FULL = Plan(documents=6, seed=294)  # one of a kind, each of few pages
SHORT = Plan(documents=9, seed=5, profile="short")
PROFILES: tuple[Profile, ...] = ("full", "short")
Made = dict[Plan, tuple[Path, list[Entry]]]
Pages = list[tuple[Entry, list[tuple[tuple[float, float], list[Word]]]]]
EVERY_KIND = [(profile, kind) for profile in PROFILES for kind in KINDS[profile]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folders = {}
    for plan in (FULL, SHORT):
        folder = tmp_path_factory.mktemp("benchmark") / plan.profile
        folders[plan] = folder, make_benchmark(folder, plan)
    return folders


@pytest.fixture(scope="module")
def pages(made: Made) -> Pages:
    """Size and words of each page of each document."""
    read = []
    for folder, entries in made.values():
        for entry in entries:
            with Document.open(folder / entry.kind / f"{entry.name}.pdf") as document:
                read.append((entry, [(page.size, list(page.words() or ())) for page in document]))
    return read


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def golds(plan: Plan, kind: str, number: int = 4) -> list[dict[str, Any]]:
    """Answers of the first `number` documents of one kind."""
    step, first = len(KINDS[plan.profile]), tuple(KINDS[plan.profile]).index(kind)
    return [make_document(plan, first + step * index)[1].truth.gold for index in range(number)]


def cents(value: float) -> int:
    return round(Fraction(str(value)) * 100)


def total(records: list[dict[str, Any]], name: str) -> int:
    return sum(cents(record[name]) for record in records)


# The same plan, the same files


def test_the_same_plan_writes_the_same_bytes(made: Made, tmp_path: Path) -> None:
    for plan, (folder, _) in made.items():
        make_benchmark(tmp_path / plan.profile, plan)
        assert files(tmp_path / plan.profile) == files(folder)


def test_a_document_does_not_depend_on_how_many_are_made(made: Made, tmp_path: Path) -> None:
    make_benchmark(tmp_path / "four", Plan(documents=4, seed=SHORT.seed, profile="short"))
    of_nine = files(made[SHORT][0])
    of_four = {name: content for name, content in files(tmp_path / "four").items() if "/" in name}
    assert len(of_four) == 4 * 3 + 3
    assert all(of_nine[name] == content for name, content in of_four.items())


@pytest.mark.parametrize("index", range(9))
def test_another_seed_makes_another_document(index: int) -> None:
    one, other = (make_document(Plan(9, seed, "short"), index)[1] for seed in (1, 2))
    assert one.truth.gold != other.truth.gold
    assert one.flow.sheet.write("") != other.flow.sheet.write("")


# Pages


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_long_documents_have_6_to_64_pages_and_short_ones_at_most_2(seed: int) -> None:
    for profile in PROFILES:
        counts = [make_document(Plan(1, seed, profile), index)[1].flow.sheet.page_count for index in range(12)]
        assert min(counts) >= PAGES[profile][0]
        assert max(counts) <= PAGES[profile][1]
        assert len(set(counts)) > (1 if profile == "full" else 0)


@pytest.mark.parametrize("kind", KINDS["full"])
def test_a_kind_comes_near_the_pages_that_it_is_asked_for(kind: str) -> None:
    for pages in (8, 60):
        drawn = KINDS["full"][kind](Brief(Random(f"{kind} {pages}"), pages, 0.5))
        assert 0.75 * pages - 1 <= drawn.flow.sheet.page_count <= 1.25 * pages + 2


@pytest.mark.parametrize(("profile", "kind"), EVERY_KIND)
def test_several_documents_of_a_kind_differ_in_look(profile: Profile, kind: str) -> None:
    styles = [KINDS[profile][kind](Brief(Random(seed), 8, 0.5)).flow.style for seed in range(8)]
    assert len({(style.table, style.body, style.accent) for style in styles}) >= 5
    if profile == "full":
        assert len({style.letterhead for style in styles}) >= 3


def test_every_page_of_a_long_document_says_which_of_how_many_it_is(pages: Pages) -> None:
    for entry, drawn in pages:
        assert len(drawn) == entry.pages
        for number, (_, words) in enumerate(drawn, start=1):
            text = " ".join(word.text for word in words).replace(" of ", "/").replace(" / ", "/")
            assert f"{number}/{entry.pages}" in text or entry.pages == 1


def test_the_header_of_a_long_table_is_repeated(pages: Pages) -> None:
    entry, drawn = next((entry, drawn) for entry, drawn in pages if entry.kind == "invoice")
    texts = [{word.text for word in words} for _, words in drawn]
    with_header = [number for number, words in enumerate(texts, start=1) if {"Item", "Qty"} <= words]
    assert set(range(2, entry.pages - 2)) <= set(with_header)
    assert len(with_header) >= 3


def test_nothing_is_written_outside_of_the_margins(pages: Pages) -> None:
    for entry, drawn in pages:
        for number, ((width, height), words) in enumerate(drawn, start=1):
            for word in words:
                assert 8 <= word.box.left <= word.box.right <= width - 8, (entry.name, number, word)
                assert 8 <= word.box.top <= word.box.bottom <= height - 5, (entry.name, number, word)


def test_short_documents_are_small_pages_in_10_points_or_more(
    made: Made,
) -> None:
    folder, entries = made[SHORT]
    for entry in entries:
        document = pypdfium2.PdfDocument(folder / entry.kind / f"{entry.name}.pdf")
        for page in document:
            pixels = page.get_width() * 96 / 72
            assert pixels == (288 if entry.kind == "short-receipt" else 576)
            text = page.get_textpage()
            sizes = {round(raw.FPDFText_GetFontSize(text.raw, index), 2) for index in range(text.count_chars())}
            # What PDFium adds for the end of a line has the size 1.
            assert {size for size in sizes if size != 1.0} <= {10.0, 10.5, 11.0, 11.5, 12.0}
            text.close()
            page.close()
        document.close()


# Answers


def test_the_dataset_reader_reads_what_is_written(made: Made) -> None:
    for folder, entries in made.values():
        examples = {example.id: example for example in read_dataset(folder)}
        assert set(examples) == {f"{entry.kind}__{entry.name}" for entry in entries}
        for entry in entries:
            example = examples[f"{entry.kind}__{entry.name}"]
            assert example.kind == entry.kind
            assert example.document == folder / entry.kind / f"{entry.name}.pdf"
            assert count_leaves(example.gold) == entry.fields
            assert Counter(label for labels in example.labels.values() for label in labels) == entry.labels


def test_every_field_of_a_schema_is_described_and_answered(made: Made) -> None:
    def compare(schema: dict[str, Any], gold: Any) -> None:
        assert schema["description"] or schema["type"] == "object"
        if isinstance(gold, dict):
            assert list(gold) == list(schema["properties"])
            for name, child in gold.items():
                compare(schema["properties"][name], child)
        elif isinstance(gold, list):
            for item in gold:
                assert list(item) == list(schema["items"]["properties"])

    for folder, entries in made.values():
        for entry in entries:
            schema = json.loads((folder / entry.kind / "schema.json").read_text())
            compare(
                {"description": "the root"} | schema,
                json.loads((folder / entry.kind / f"{entry.name}.gold.json").read_text()),
            )


@pytest.mark.parametrize(("profile", "kind"), EVERY_KIND)
def test_documents_of_a_kind_share_one_schema(profile: Profile, kind: str) -> None:
    make = KINDS[profile][kind]
    schemas = [make(Brief(Random(seed), 7, seed % 3 / 2)).truth.schema for seed in range(6)]
    assert all(schema == schemas[0] for schema in schemas)


def test_every_label_is_planted_and_more_of_them_where_it_is_harder() -> None:
    easy, hard = Counter[str](), Counter[str]()
    for counts, difficulty in ((easy, 0.0), (hard, 1.0)):
        for index in range(12):
            truth = make_document(Plan(12, 390, "full", False, difficulty), index)[1].truth
            counts.update(label for labels in truth.labels.values() for label in labels)
    assert set(hard) == set(LABELS)
    for label in ("derived", "must_be_null", "spans_pages"):
        assert hard[label] > easy[label], label


def test_the_amounts_of_an_invoice_add_up() -> None:
    for gold in golds(FULL, "invoice"):
        assert total(gold["sites"], "subtotal") == cents(gold["net_total"])
        assert total(gold["tax_lines"], "net_amount") == cents(gold["net_total"])
        assert total(gold["tax_lines"], "tax_amount") == cents(gold["tax_total"])
        assert cents(gold["net_total"]) + cents(gold["tax_total"]) == cents(gold["invoice_total"])
        assert cents(gold["invoice_total"]) <= cents(gold["amount_due"])
        assert total(gold["credit_lines"], "amount") == cents(gold["credits_total"]) < 0
        assert gold["line_count"] > max(line["line_number"] for line in gold["credit_lines"])


def test_the_balances_of_a_statement_add_up() -> None:
    for gold in golds(FULL, "bank-statement"):
        for account in gold["accounts"]:
            change = cents(account["total_credits"]) - cents(account["total_debits"])
            assert cents(account["opening_balance"]) + change == cents(account["closing_balance"])
        assert total(gold["fees"], "amount") == cents(gold["fees_total"]) > 0
        assert gold["largest_credit"]["account_number"] in {account["number"] for account in gold["accounts"]}
        assert gold["period_start"] < gold["period_end"] < gold["issue_date"]


def test_the_figures_of_a_financial_report_add_up() -> None:
    for gold in golds(FULL, "financial-report"):
        assert sum(segment["revenue"] for segment in gold["segments"]) == gold["revenue"]
        assert sum(segment["operating_profit"] for segment in gold["segments"]) == gold["operating_profit"]
        assert sum(one["carrying_amount"] for one in gold["borrowings"]) == gold["total_borrowings"]
        assert gold["gross_profit"] > gold["operating_profit"] > gold["profit_for_the_year"] > 0


def test_a_contract_says_what_applies_after_its_amendments() -> None:
    changed = 0
    for index in range(2, 60, 6):
        truth = make_document(FULL, index)[1].truth
        gold = truth.gold
        assert total(gold["fees"], "annual_fee") == cents(gold["fees_total"])
        start, end = (datetime.date.fromisoformat(gold[name]) for name in ("effective_date", "expiry_date"))
        after = end + datetime.timedelta(days=1)
        assert (after.year - start.year) * 12 + after.month - start.month == gold["initial_term_months"]
        assert after.day == start.day == 1
        for name in ("notice_period_days", "payment_days", "liability_cap"):
            if "aggregated" in truth.labels.get(f"/{name}", ()):
                changed += 1
                assert gold["amendments"]
    assert changed


def test_counts_of_a_laboratory_report_are_those_of_its_lists() -> None:
    for gold in golds(FULL, "laboratory-report"):
        assert gold["critical_count"] == len(gold["critical_results"])
        assert gold["first_collection_date"] <= gold["last_collection_date"] <= gold["report_date"]
        for correction in gold["corrections"]:
            assert correction["reported_value"] != correction["corrected_value"]


def test_the_sums_of_a_purchase_history_add_up() -> None:
    for gold in golds(FULL, "purchase-history"):
        assert total(gold["returned_items"], "refund") == cents(gold["refund_total"])
        assert gold["order_count"] > len(gold["cancelled_orders"]) > 0
        cancelled = {order["order_number"] for order in gold["cancelled_orders"]}
        assert gold["largest_order"]["order_number"] not in cancelled
        assert gold["period_start"] <= gold["last_order"]["date"] <= gold["period_end"]


def test_the_amounts_of_short_documents_add_up() -> None:
    for kind in ("short-invoice", "short-receipt"):
        for gold in golds(SHORT, kind, 8):
            assert total(gold["line_items"], "amount") == cents(gold["subtotal"])
            assert cents(gold["subtotal"]) + cents(gold["tax"]) == cents(gold["total"])
            for item in gold["line_items"]:
                if item["quantity"] is not None:
                    assert item["quantity"] * cents(item["unit_price"]) == cents(item["amount"])
    for gold in golds(SHORT, "short-statement", 8):
        assert total(gold["line_items"], "amount") + cents(gold["previous_balance"] or 0) == cents(gold["total"])


def test_a_null_is_labelled_and_a_right_value_is_no_near_miss() -> None:
    truth = Truth("made here")
    truth.put("total", "amount", 1250, "total", near=(1250, 1200, None))
    truth.put("note", "text", None, "note")
    truth.put("day", "date", datetime.date(2024, 2, 29), "day")
    assert truth.gold == {"total": 12.5, "note": None, "day": "2024-02-29"}
    assert truth.labels == {"/total": ["distractor"], "/note": ["must_be_null"]}
    assert truth.near_misses == {"/total": [12]}


# The folder


def test_manifest_and_readme_count_what_is_there(made: Made) -> None:
    for plan, (folder, entries) in made.items():
        manifest = json.loads((folder / "manifest.json").read_text())
        pdfs = list(folder.rglob("*.pdf"))
        assert manifest["totals"]["documents"] == len(pdfs) == plan.documents
        assert manifest["totals"]["pages"] == sum(len(pypdfium2.PdfDocument(path)) for path in pdfs)
        answers = [json.loads(path.read_text()) for path in folder.rglob("*.gold.json")]
        assert manifest["totals"]["fields"] == sum(count_leaves(answer) for answer in answers)
        assert manifest["plan"]["seed"] == plan.seed
        assert kind_table(entries) in (folder / "README.md").read_text()


def test_a_folder_in_use_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        make_benchmark(tmp_path, SHORT)
    assert files(tmp_path) == {"mine.txt": b"mine"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"documents": 0}, "at least 1"),
        ({"difficulty": 1.5}, "outside of 0 to 1"),
        ({"difficulty": float("nan")}, "outside of 0 to 1"),
        ({"profile": "medium"}, "one of full, short"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Plan(**changes)


def test_without_reportlab_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "reportlab", None)
    with pytest.raises(UsageError, match=r"pip install forklift\[eval\]"):
        make_benchmark(tmp_path / "new", SHORT)
    assert not (tmp_path / "new").exists()


# Scans


def test_a_scan_has_the_same_pages_but_no_words(tmp_path: Path) -> None:
    plan = Plan(3, 5, "short", scanned=True)
    make_benchmark(tmp_path / "scans", plan)
    for index in range(3):
        kind, clean = make_document(plan, index)
        name = f"{kind}-{index + 1:04d}"
        assert json.loads((tmp_path / "scans" / kind / f"{name}.gold.json").read_text()) == clean.truth.gold
        with Document.open(tmp_path / "scans" / kind / f"{name}.pdf") as document:
            assert len(document) == clean.flow.sheet.page_count
            for page in document:
                assert page.words() is None
                assert page.size == pytest.approx(clean.flow.style.paper)
                darkest, lightest = page.render().convert("L").getextrema()
                assert darkest < 110  # there is ink
                assert lightest > 225  # on paper


def test_a_scan_is_the_same_every_time_and_slanted_by_its_seed() -> None:
    pdf = make_document(SHORT, 1)[1].flow.sheet.write("receipt")
    one, again, other = (scanned(pdf, Random(seed)) for seed in (1, 1, 2))
    assert one == again
    assert one != other


# Text


@pytest.mark.parametrize(
    ("signs", "negative", "value", "printed"),
    [
        ((",", "."), "minus", 123456789, "1,234,567.89"),
        ((",", "."), "minus", -5, "-0.05"),
        ((".", ","), "parentheses", -123456, "(1.234,56)"),
        (("'", "."), "trailing", -100000, "1'000.00-"),
        (("", "."), "credit", -99, "0.99 CR"),
        ((",", "."), "minus", 0, "0.00"),
    ],
)
def test_amounts_are_printed_as_their_notation_says(
    signs: tuple[str, str], negative: Any, value: int, printed: str
) -> None:
    assert Notation("EUR", *signs, negative, "iso").amount(value) == printed


@pytest.mark.parametrize(
    ("currency", "decimal", "value", "printed"),
    [
        ("EUR", ".", 1250, "€12.50"),
        ("EUR", ",", 1250, "€ 12,50"),
        ("CHF", ".", 1250, "CHF 12.50"),
        ("USD", ".", -1250, "($12.50)"),
    ],
)
def test_money_carries_its_currency(currency: str, decimal: str, value: int, printed: str) -> None:
    assert Notation(currency, "", decimal, "parentheses", "iso").money(value) == printed


def test_dates_of_every_form_name_the_same_day() -> None:
    day = datetime.date(2024, 3, 7)
    forms = {
        "iso": "2024-03-07",
        "dots": "07.03.2024",
        "slashes": "03/07/2024",
        "short": "7 Mar 2024",
        "long": "7 March 2024",
        "dashes": "07-Mar-2024",
        "american": "March 7, 2024",
    }
    assert {form: write_date(day, form) for form in forms} == forms
    assert len(MONTHS) == 12


def test_documents_say_how_to_read_their_dates_where_it_is_not_plain() -> None:
    notations = [make_notation(Random(seed)) for seed in range(300)]
    ambiguous = [notation for notation in notations if notation.date_form == "slashes"]
    assert ambiguous
    assert all("MM/DD/YYYY" in notation.remark and notation.currency == "USD" for notation in ambiguous)


@given(
    st.lists(st.text("abcdefgh.,-", min_size=1, max_size=12), min_size=1, max_size=40),
    st.floats(20, 300),
)
@settings(max_examples=60, deadline=None)
def test_wrapping_keeps_the_words_and_the_width(words: list[str], width: float) -> None:
    lines = wrap(" ".join(words), "Helvetica", 9.0, width)
    assert " ".join(lines) == " ".join(words)
    assert all(text_width(line, "Helvetica", 9.0) <= width + 1e-6 or " " not in line for line in lines)


@pytest.mark.parametrize("crossing", [True, False])
@given(st.integers(0, 10_000), st.integers(5, 8), st.floats(0, 600))
@settings(max_examples=40, deadline=None)
def test_a_passage_crosses_the_page_end_exactly_when_it_shall(
    crossing: bool, seed: int, parts: int, used: float
) -> None:
    random = Random(seed)
    letterhead = make_letterhead(random, make_style(random), "Example Ltd", ("1 Way", "Town"), "Title", "1")
    flow = Flow(letterhead)
    flow.gap(used)
    text = remark(random, parts)
    span = flow.passage("Remark", text, crossing=crossing, filler=Prose(random, "bank").paragraph)
    assert span.crosses == crossing
    lines = flow.line_count(text)
    if crossing:  # what stands on the second page is above the place where the next text begins
        on_second = round((flow.y - 5.0 - letterhead.later_top) / flow.style.leading)
        assert 2 <= on_second <= lines - 2


def test_names_are_of_nobody(made: Made) -> None:
    random = Random(1)
    assert all(names.bank_account(random).startswith("ZZ") for _ in range(20))
    assert names.site("Anything Ltd") == "anything.example"
    code = "AB-1234/7"
    other = names.like(random, code)
    assert other != code
    assert [sign for sign in other if not sign.isdigit()] == [sign for sign in code if not sign.isdigit()]


def test_a_sheet_is_a_pdf_whose_bytes_say_nothing_of_the_day() -> None:
    sheet = Sheet(200, 100)
    sheet.add_page()
    sheet.text(10, 20, "Total 12.50", "Helvetica", 10)
    pdf = sheet.write("a title")
    assert pdf == sheet.write("a title")
    assert str(datetime.datetime.now(datetime.UTC).year).encode() not in pdf
    document = pypdfium2.PdfDocument(pdf)
    page = document[0]
    text = page.get_textpage()
    assert text.get_text_bounded() == "Total 12.50"
    text.close()
    page.close()
    document.close()
