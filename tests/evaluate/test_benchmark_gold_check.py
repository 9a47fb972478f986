"""The check of right answers: silent on the benchmark, loud on every fault that is put into one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from forklift.cli.main import build_app
from forklift.evaluate.documents.benchmark import Plan, make_benchmark
from forklift.evaluate.documents.sheet import Sheet
from forklift.evaluate.gold_check import check_gold

SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": ["string", "null"]},
        "date": {"type": ["string", "null"], "format": "date"},
        "total": {"type": ["number", "null"]},
        "note": {"type": ["string", "null"]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
}
GOLD: dict[str, Any] = {
    "number": "INV-204731",
    "date": "2024-03-14",
    "total": 1234.5,
    "note": "the sealed crates were moved to the northern hall",
    "rows": [{"name": "valve"}, {"name": "gasket"}],
}
LABELS: dict[str, Any] = {
    "kind": "invoice",
    "labels": {"/total": ["distractor"], "/note": ["spans_pages"], "/rows": ["exhaustive_list"]},
    "near_misses": {"/total": [999.99]},
}

Write = Callable[[dict[str, Any], dict[str, Any]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write one document of two pages with gold and labels."""

    def build(gold: dict[str, Any], labels: dict[str, Any]) -> Path:
        sheet = Sheet(300, 200)
        for lines in (
            ("Invoice INV-204731", "14 Mar 2024", "valve", "gasket", "last total 999.99", "the sealed crates were"),
            ("moved to the northern hall", "Total 1,234.50"),
        ):
            sheet.add_page()
            for index, line in enumerate(lines):
                sheet.text(20, 30 + 25 * index, line, "Helvetica", 10)
        (tmp_path / "one.pdf").write_bytes(sheet.write("one"))
        for ending, content in (("schema", SCHEMA), ("gold", gold), ("labels", labels)):
            (tmp_path / f"one.{ending}.json").write_text(json.dumps(content))
        return tmp_path

    return build


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
def test_the_benchmark_has_no_fault(tmp_path: Path, difficulty: float) -> None:
    make_benchmark(tmp_path / "full", Plan(6, 294, "full", False, difficulty))
    make_benchmark(tmp_path / "short", Plan(6, 294, "short", False, difficulty))
    for profile in ("full", "short"):
        report = check_gold(tmp_path / profile)
        assert [str(fault) for fault in report.faults] == []
        assert report.documents == 6
        assert report.unseen == ()
        # Nulls aside, what is not labelled derived is found.
        assert report.found + report.derived > 0.85 * report.values


def test_a_right_answer_has_no_fault(write: Write) -> None:
    report = check_gold(write(GOLD, LABELS))
    assert [str(fault) for fault in report.faults] == []
    assert (report.documents, report.values, report.found, report.derived) == (1, 6, 6, 0)


def labels_with(pointer: str, *labels: str, near: list[Any] | None = None) -> dict[str, Any]:
    changed = LABELS["labels"] | {pointer: list(labels)}
    return LABELS | {"labels": changed, "near_misses": LABELS["near_misses"] | ({pointer: near} if near else {})}


@pytest.mark.parametrize(
    ("gold", "labels", "pointer", "message"),
    [
        (GOLD | {"number": "INV-204732"}, LABELS, "/number", "does not stand in the document"),
        (GOLD | {"total": 1234.51}, LABELS, "/total", "does not stand in the document"),
        (GOLD | {"date": "2024-03-15"}, LABELS, "/date", "does not stand in the document"),
        (GOLD | {"rows": [{"name": "valve"}, {"name": "roller"}]}, LABELS, "/rows/1/name", "does not stand"),
        (GOLD | {"date": "tomorrow"}, labels_with("/date", "derived"), "/date", "does not fit the schema"),
        (GOLD | {"total": "1234.50"}, LABELS, "/total", "does not fit the schema"),
        (GOLD | {"number": None}, LABELS, "/number", "without the label must_be_null"),
        (GOLD, labels_with("/number", "must_be_null"), "/number", "is labelled must_be_null, but is"),
        (GOLD, labels_with("/number", "spans_pages"), "/number", "stands on one page"),
        (GOLD, labels_with("/number", "exhaustive_list"), "/number", "is no list"),
        (GOLD, labels_with("/number", "hard"), "/number", 'the unknown label "hard"'),
        (GOLD, labels_with("/rows/2", "derived"), "/rows/2", "gold has no such field"),
        (GOLD, labels_with("/number", "distractor"), "/number", "no near miss is given"),
        (GOLD, labels_with("/total", "distractor", near=[1234.5]), "/total", "the right value is given"),
        (GOLD, labels_with("/total", "distractor", near=[77.25]), "/total", "the near miss 77.25 does not stand"),
    ],
)
def test_each_fault_is_found_where_it_is(
    write: Write, gold: dict[str, Any], labels: dict[str, Any], pointer: str, message: str
) -> None:
    faults = check_gold(write(gold, labels)).faults
    assert {fault.pointer for fault in faults} == {pointer}
    assert any(message in fault.message for fault in faults), faults


def test_a_derived_value_needs_no_place(write: Write) -> None:
    report = check_gold(write(GOLD | {"total": 4321.99}, labels_with("/total", "derived")))
    assert report.faults == ()
    assert report.derived == 1


def test_without_labels_a_null_is_no_fault(write: Write) -> None:
    assert check_gold(write(GOLD | {"number": None}, {"labels": {}})).faults == ()


def test_a_document_without_words_is_named_and_its_labels_are_checked_all_the_same(write: Write) -> None:
    folder = write(GOLD, labels_with("/number", "must_be_null"))
    (folder / "one.pdf").unlink()
    report = check_gold(folder)
    assert report.unseen == ("one",)
    assert [fault.pointer for fault in report.faults] == ["/number"]


# The commands


def run(*arguments: str) -> Any:
    return CliRunner().invoke(build_app(), ["eval", *arguments])


def test_make_writes_a_folder_and_shows_its_table(tmp_path: Path) -> None:
    done = run("make", str(tmp_path / "new"), "--documents", "3", "--profile", "short", "--seed", "4")
    assert done.exit_code == 0, done.output
    assert "| short-receipt | 1 |" in done.stdout
    assert "3 documents in" in done.stderr
    assert len(list((tmp_path / "new").rglob("*.pdf"))) == 3
    again = run("make", str(tmp_path / "new"), "--documents", "3", "--profile", "short", "--seed", "4")
    assert again.exit_code == 2
    assert "is not empty" in again.stderr


@pytest.mark.parametrize("option", [("--documents", "0"), ("--profile", "long"), ("--difficulty", "1.1")])
def test_make_refuses_options_out_of_range(tmp_path: Path, option: tuple[str, str]) -> None:
    assert run("make", str(tmp_path / "new"), *option).exit_code == 2
    assert not (tmp_path / "new").exists()


def test_check_is_silent_on_stdout_and_0_when_all_is_right(write: Write) -> None:
    done = run("check", str(write(GOLD, LABELS)))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "6 found in the text" in done.stderr


def test_check_lists_faults_and_ends_with_1(write: Write) -> None:
    done = run("check", str(write(GOLD | {"number": "INV-1"}, LABELS)))
    assert done.exit_code == 1
    assert done.stdout == "one: /number: 'INV-1' does not stand in the document; label it derived\n"


def test_check_of_a_folder_without_answers_is_wrong_usage(tmp_path: Path) -> None:
    assert run("check", str(tmp_path)).exit_code == 2
