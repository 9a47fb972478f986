"""A run as JSON, as tables and as a page; and two of them held against each other."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from forklift.errors import DatasetError
from forklift.evaluate.answers import Answer, Place
from forklift.evaluate.comparison import compare
from forklift.evaluate.datasets import Example
from forklift.evaluate.html_report import comparison_page, run_page
from forklift.evaluate.report import Run, calibration_error, counts_of, evaluate
from forklift.evaluate.tables import comparison_tables, rendered, run_tables

RIGHT = {"total": 12.5, "seller": None, "lines": [{"what": "bolt"}, {"what": "nut"}]}


@pytest.fixture
def labelled(examples: list[Example]) -> list[Example]:
    kinds = ("slip", "bill", "slip")
    labels: dict[str, tuple[str, ...]] = {"/lines": ("exhaustive_list",), "/total": ("distractor",)}
    return [
        dataclasses.replace(example, kind=kind, labels=labels, near_misses={"/total": (99, 10)})
        for example, kind in zip(examples, kinds, strict=True)
    ]


@pytest.fixture
def answers() -> dict[str, Answer]:
    wrong = {"total": "10.00", "seller": "<b>Acme</b>", "lines": [{"what": "nut"}, {"what": "Bolt"}, {"what": "pin"}]}
    return {
        "a": Answer(RIGHT, truncated=False, seconds=2.0),
        "b": Answer(wrong, truncated=True, confidences={"/total": 0.95, "/lines/0/what": 0.45}, seconds=4.0),
    }


def evaluated(examples: list[Example], answers: dict[str, Answer], **options: Any) -> Run:
    return evaluate(examples, answers, dataset="set", model="m & co", **options)


def test_figures_over_all_by_kind_field_and_label(labelled: list[Example], answers: dict[str, Answer]) -> None:
    content = evaluated(labelled, answers).content
    # a: 4 of 4 fields. b: both lines of 4 fields, and a surplus line. c: no answer, 0 of 4.
    assert content["figures"]["field_accuracy"] == 6 / 13
    assert content["figures"]["field_accuracy_strict"] == 5 / 13
    assert content["figures"]["document_accuracy"] == 1 / 3
    assert content["figures"]["failed"] == 1 / 3
    assert content["figures"]["truncated"] == 1 / 2  # of those that say
    assert content["figures"]["schema_valid"] == 1 / 3  # b has text for a number
    assert content["figures"]["seconds_per_document"] == 3
    kinds = {row["kind"]: (row["figures"]["field_accuracy"], row["counts"]["documents"]) for row in content["kinds"]}
    assert kinds == {"slip": (4 / 8, 2), "bill": (2 / 5, 1)}
    fields = {(row["kind"], row["field"]): row["figures"]["field_accuracy"] for row in content["fields"]}
    assert fields[("bill", "/lines/*/what")] == 2 / 3
    assert fields[("slip", "/total")] == 1 / 2
    labels = {row["label"]: row["figures"]["field_accuracy"] for row in content["labels"]}
    assert labels == {"distractor": 1 / 3, "exhaustive_list": 4 / 7}
    low, high = content["intervals"]["field_accuracy"]
    assert 0 <= low <= 6 / 13 <= high <= 1


def test_every_mistake_is_listed_with_what_is_known_of_it(labelled: list[Example], answers: dict[str, Answer]) -> None:
    answers["b"] = dataclasses.replace(answers["b"], places={"/total": Place(1, (0.1, 0.2, 0.3, 0.4))})
    run = evaluated(labelled, answers)
    first, second, third = run.documents
    assert first["wrong"] == []
    by_pointer = {one["pointer"]: one for one in second["wrong"]}
    assert by_pointer["/total"] == {
        "pointer": "/total",
        "answer_pointer": "/total",
        "verdict": "wrong",
        "gold": 12.5,
        "answer": "10.00",
        "labels": ["distractor"],
        "near_miss": True,
        "confidence": 0.95,
        "page": 1,
        "box": [0.1, 0.2, 0.3, 0.4],
    }
    assert by_pointer["/seller"]["verdict"] == "invention"
    assert by_pointer["/lines/-/what"]["surplus"] is True
    assert [one["verdict"] for one in third["wrong"]] == ["omission"] * 4
    assert [one["id"] for one in run.failures] == ["c"]
    assert run.content["near_misses"] == 1


def test_confidences_are_held_against_what_was_right(labelled: list[Example], answers: dict[str, Answer]) -> None:
    bins = evaluated(labelled, answers).content["confidence"]
    assert bins == [
        {"from": 0.4, "values": 1, "correct": 1, "mean_confidence": 0.45},
        {"from": 0.9, "values": 1, "correct": 0, "mean_confidence": 0.95},
    ]
    assert calibration_error(bins) == pytest.approx((0.55 + 0.95) / 2)
    assert calibration_error([]) is None


def test_a_run_is_read_back_as_it_was_written(
    labelled: list[Example], answers: dict[str, Answer], tmp_path: Path
) -> None:
    run = evaluated(labelled, answers, page_count=lambda example: 1)
    (tmp_path / "run.json").write_bytes(run.as_json())
    assert Run.read(tmp_path / "run.json") == run
    (tmp_path / "other.json").write_text('{"total": 1}', encoding="utf-8")
    with pytest.raises(DatasetError, match="is no run"):
        Run.read(tmp_path / "other.json")


def test_the_tables_show_figures_kinds_labels_and_the_worst_fields(
    labelled: list[Example], answers: dict[str, Answer]
) -> None:
    text = rendered([run_tables(evaluated(labelled, answers))], width=120, colour=False)
    for words in ("m & co on set: 3 documents, 12 fields", "46.2 %", "33.3 %", "slip", "exhaustive_list"):
        assert words in text
    assert "4 omissions, 1 wrong values, 2 inventions (1 of them outside" in text
    assert re.search(r"bill /total +1 +0\.0 %", text)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_two_runs_are_compared_document_by_document(labelled: list[Example], answers: dict[str, Answer]) -> None:
    first = evaluated(labelled, answers)
    second = evaluated(labelled, {**answers, "c": Answer(RIGHT)})
    comparison = compare(first, second)
    difference = comparison.differences["field_accuracy"]
    assert difference is not None
    assert difference.value == pytest.approx(4 / 13)
    assert difference.low >= 0
    assert [one["id"] for one, _ in comparison.changed_documents()] == ["c"]
    text = rendered([comparison_tables(comparison)], width=120, colour=False)
    assert re.search(r"fields right +46\.2 % +76\.9 % +\+30\.8", text)
    assert "more fields right in B: 1; in A: 0" in text


def test_a_comparison_is_over_the_documents_that_both_have(labelled: list[Example], answers: dict[str, Answer]) -> None:
    comparison = compare(evaluated(labelled, answers), evaluated(labelled[:2], answers))
    assert comparison.left_out == ("c",)
    difference = comparison.differences["field_accuracy"]
    assert difference is not None
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)


def test_runs_that_cannot_be_compared_say_why(labelled: list[Example], answers: dict[str, Answer]) -> None:
    run = evaluated(labelled, answers)
    with pytest.raises(DatasetError, match="share no document"):
        compare(run, evaluated([dataclasses.replace(labelled[0], id="z")], answers))
    other_gold = [dataclasses.replace(labelled[0], gold={**RIGHT, "lines": []})]
    with pytest.raises(DatasetError, match="a: has 4 fields in one run and 2 in the other"):
        compare(run, evaluated(other_gold, answers))


# The page


class Page(HTMLParser):
    """Checks nesting, and gathers what a page shows and refers to."""

    EMPTY = frozenset({"meta", "img", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_stands_alone_and_shows_every_mistake(labelled: list[Example], answers: dict[str, Answer]) -> None:
    answers["b"] = dataclasses.replace(answers["b"], places={"/total": Place(1, (0.1, 0.2, 0.3, 0.4))})
    html = run_page(evaluated(labelled, answers, page_count=lambda example: 1), labelled)
    page = Page(html)
    assert "<script" not in html
    assert "@import" not in html
    assert "url(" not in html
    assert all(source.startswith("data:image/webp;base64,") for source in page.sources)
    # One crop for the total that has a place; the other mistakes of b, and c, show the page itself.
    assert len(page.sources) == 1 + 1 + 1
    assert page.tags.count("svg") == 4
    assert "prefers-color-scheme: dark" in html
    shown = " ".join(page.texts)
    for words in ("m & co", "<b>Acme</b>", "near miss", "confidence 0.95", "1 documents failed", "/lines/-/what"):
        assert words in shown


def test_a_value_that_was_overlooked_is_shown_where_it_stands(labelled: list[Example], tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(300, 400))
    canvas.drawString(40, 300, "bolt")
    canvas.drawString(40, 280, "nut")
    canvas.drawString(40, 250, "Total 12.50")
    canvas.save()
    example = dataclasses.replace(labelled[0], document=tmp_path / "a.pdf")
    html = run_page(evaluated([example], {"a": Answer({})}), [example])
    assert len(Page(html).sources) == 3  # the total and both lines, all found, so no page thumbnails
    assert "not located" not in html


def test_a_perfect_run_has_a_page_too(labelled: list[Example]) -> None:
    right = {example.id: Answer(RIGHT) for example in labelled}
    html = run_page(evaluated(labelled, right), labelled)
    assert "No mistakes." in " ".join(Page(html).texts)


def test_the_page_of_two_runs_draws_them_side_by_side(labelled: list[Example], answers: dict[str, Answer]) -> None:
    second = evaluated(labelled, {**answers, "c": Answer(RIGHT)})
    html = comparison_page(compare(evaluated(labelled, answers), second))
    page = Page(html)
    assert page.sources == []
    assert page.tags.count("svg") == 3
    assert html.count('class="series0"') == html.count('class="series1"') > 5
    assert "+30.8" in html


def test_counts_are_found_in_every_part_of_a_run(labelled: list[Example], answers: dict[str, Answer]) -> None:
    content = evaluated(labelled, answers).content
    whole = counts_of(content)
    for part in ("kinds", "documents"):
        assert sum(counts_of(row).correct for row in content[part]) == whole.correct
    assert sum(counts_of(row).fields for row in content["fields"]) == whole.fields
