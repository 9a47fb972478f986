"""Running a model over a dataset: failures, resuming, workers, cancelling; and answers made elsewhere."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from forklift.engines.scripted import Answer as Scripted
from forklift.engines.scripted import ScriptedEngine
from forklift.errors import DatasetError, DecodeError, ModelError, OutputError
from forklift.evaluate.answers import Answer, AnswerStore, read_predictions
from forklift.evaluate.datasets import Example
from forklift.evaluate.runner import Progress, extract_all
from forklift.extract import Extractor
from forklift.results import Outcome

RIGHT = '{"total": 12.5, "seller": null, "lines": [{"what": "bolt"}, {"what": "nut"}]}'
DATA = {"total": 12.5, "seller": None, "lines": [{"what": "bolt"}, {"what": "nut"}]}


def run(examples: list[Example], *answers: Any, **options: Any) -> tuple[dict[str, Answer], ScriptedEngine]:
    engine = ScriptedEngine(list(answers))
    return extract_all(examples, lambda: Extractor(engine), **options), engine


def test_each_document_is_answered(examples: list[Example]) -> None:
    answers, engine = run(examples, RIGHT, workers=2)
    assert {name: answer.data for name, answer in answers.items()} == dict.fromkeys("abc", DATA)
    assert all(answer.truncated is False and answer.error is None for answer in answers.values())
    assert 0 < answers["a"].confidences["/lines/1/what"] < 1
    assert answers["a"].model == "scripted"
    assert engine.closed


@pytest.mark.parametrize("fault", [DecodeError("stuck"), ZeroDivisionError("a bug")])
def test_a_failing_document_is_listed_and_stops_no_other(examples: list[Example], fault: Exception) -> None:
    answers, _ = run(examples, fault, RIGHT)
    assert answers["a"].data is None
    assert str(fault) in (answers["a"].error or "")
    assert answers["b"].data == answers["c"].data == DATA


def test_a_document_that_is_missing_or_damaged_is_a_failure(examples: list[Example]) -> None:
    assert examples[0].document is not None
    examples[0].document.write_text("no picture", encoding="utf-8")
    examples[1] = dataclasses.replace(examples[1], document=None)
    answers, _ = run(examples, RIGHT)
    assert "a.png" in (answers["a"].error or "")
    assert "no document" in (answers["b"].error or "")
    assert answers["c"].error is None


def test_a_cut_answer_says_so_and_one_with_nothing_in_it_is_a_failure(examples: list[Example]) -> None:
    cut = Scripted('{"total": 12.5, "sel', outcome=Outcome.TRUNCATED)
    answers, _ = run(examples, cut, Scripted("", outcome=Outcome.TRUNCATED), RIGHT)
    assert (answers["a"].data, answers["a"].truncated, answers["a"].error) == ({"total": 12.5}, True, None)
    assert "cut before" in (answers["b"].error or "")


@pytest.mark.parametrize("error", [ModelError("no weights"), OutputError("no room")])
def test_what_meets_every_document_ends_the_run(examples: list[Example], error: Exception) -> None:
    def open_extractor() -> Extractor:
        raise error

    with pytest.raises(type(error), match=str(error)):
        extract_all(examples, open_extractor, workers=3)


def test_a_run_goes_on_where_it_stopped_and_tries_failures_again(examples: list[Example], tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "kept", {"model": "m"})
    first, _ = run(examples, RIGHT, DecodeError("stuck"), RIGHT, store=store)
    assert first["b"].error is not None
    again, engine = run(examples, RIGHT, store=store)
    assert len(engine.requests) == 1
    assert again["a"] == first["a"]
    assert again["b"].data == DATA


@pytest.mark.parametrize("change", ["model", "document", "schema", "cut file"])
def test_an_answer_is_not_taken_up_when_what_it_rests_on_has_changed(
    examples: list[Example], tmp_path: Path, change: str
) -> None:
    run(examples, RIGHT, store=AnswerStore(tmp_path / "kept", {"model": "m"}))
    settings = {"model": "other" if change == "model" else "m"}
    if change == "document":
        assert examples[0].document is not None
        examples[0].document.write_bytes(examples[1].document.read_bytes())  # type: ignore[union-attr]
    if change == "schema":
        from forklift.schema import Schema

        examples[0] = dataclasses.replace(examples[0], schema=Schema.load({"type": "object"}))
    if change == "cut file":
        (tmp_path / "kept" / "a.json").write_text('{"format"', encoding="utf-8")
    _, engine = run(examples, RIGHT, store=AnswerStore(tmp_path / "kept", settings))
    assert len(engine.requests) == (3 if change == "model" else 1)


def test_cancelling_keeps_what_is_finished(examples: list[Example], tmp_path: Path) -> None:
    cancel = threading.Event()

    class StopAfterOne(Progress):
        def finished(self, example: Example, answer: Answer) -> None:
            cancel.set()

    store = AnswerStore(tmp_path / "kept", {})
    answers, engine = run(examples, RIGHT, store=store, cancel=cancel, progress=StopAfterOne())
    assert list(answers) == ["a"]
    assert len(engine.requests) == 1
    _, engine = run(examples, RIGHT, store=store)
    assert len(engine.requests) == 2


def test_a_store_that_cannot_be_written_to_ends_the_run(examples: list[Example], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be kept"):
        run(examples, RIGHT, store=AnswerStore(tmp_path / "file", {}))


# Answers made elsewhere


def test_predictions_are_found_by_id_or_by_the_names_that_extract_gives(
    examples: list[Example], tmp_path: Path
) -> None:
    examples = [dataclasses.replace(one, id=f"deep__{one.id}") for one in examples]
    folder = tmp_path / "answers"
    folder.mkdir()
    for name, total in (("deep__a", 1), ("b.png", 2), ("c", 3)):
        (folder / f"{name}.json").write_text(json.dumps({"total": total}), encoding="utf-8")
    answers = read_predictions(folder, examples)
    assert [answers[one.id].data for one in examples] == [{"total": 1}, {"total": 2}, {"total": 3}]
    assert answers["deep__a"].truncated is None


def test_what_extract_writes_with_meta_is_read_whole(examples: list[Example], tmp_path: Path) -> None:
    engine = ScriptedEngine(Scripted('{"total": 12.5, "sel', outcome=Outcome.TRUNCATED))
    assert examples[0].document is not None
    result = Extractor(engine).extract(examples[0].document, examples[0].schema)
    details = {**dataclasses.asdict(result), "outcome": result.outcome.value}
    box = {"left": 1, "top": 2, "right": 3, "bottom": 4}
    place = {"page": 2, "box": box, "relative": {name: edge / 10 for name, edge in box.items()}, "text": "12.50"}
    details["fields"] = [{**field, "citations": [place]} for field in details["fields"]]
    (tmp_path / "a.json").write_text(json.dumps(details), encoding="utf-8")
    answer = read_predictions(tmp_path, examples)["a"]
    assert (answer.data, answer.truncated) == ({"total": 12.5}, True)
    assert (answer.places["/total"].page, answer.places["/total"].box) == (2, (0.1, 0.2, 0.3, 0.4))
    assert "/total" in answer.confidences


def test_kept_answers_are_predictions_too(examples: list[Example], tmp_path: Path) -> None:
    made, _ = run(examples, RIGHT, DecodeError("stuck"), RIGHT, store=AnswerStore(tmp_path / "kept", {}))
    read = read_predictions(tmp_path / "kept", examples)
    assert read["a"] == made["a"]
    assert read["b"].error == "stuck"


def test_a_prediction_that_is_missing_null_or_no_json_is_a_failure(examples: list[Example], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("null", encoding="utf-8")
    (tmp_path / "b.json").write_text("I could not read it", encoding="utf-8")
    answers = read_predictions(tmp_path, examples)
    assert answers["a"].error == "the answer is null"
    assert "not JSON" in (answers["b"].error or "")
    assert "c.json is not in" in (answers["c"].error or "")


def test_predictions_for_no_document_at_all_are_a_mistake(examples: list[Example], tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none of the 3 documents; the first should be called a\.json"):
        read_predictions(tmp_path, examples)
    with pytest.raises(DatasetError, match="no such folder"):
        read_predictions(tmp_path / "nowhere", examples)


def test_scoring_needs_neither_torch_nor_scipy_until_lists_differ() -> None:
    import subprocess
    import sys

    code = """
import sys, forklift.evaluate.report, forklift.cli.eval
from forklift.evaluate.score import score
score({"l": [1, 2]}, {"l": [1, 2]})
assert not {"torch", "scipy", "jsonschema"} & set(sys.modules), sys.modules.keys()
score({"l": [1, 2]}, {"l": [3, 4]})
assert "scipy" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
