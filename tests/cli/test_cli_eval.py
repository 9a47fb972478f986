"""`forklift eval` in process, over an engine that says what it is told."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from forklift.cli.main import build_app
from forklift.engines.scripted import ScriptedEngine
from forklift.errors import CheckpointError, DecodeError
from forklift.extract import Extractor

pipeline = importlib.import_module("forklift.extract")

SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}, "seller": {"type": "string"}}}
RIGHT = '{"total": 12.5, "seller": "Acme"}'
WRONG = '{"total": 12.0, "seller": "Acme"}'

Install = Callable[..., ScriptedEngine]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    for index, name in enumerate(("a", "b")):
        Image.new("RGB", (60, 40 + index), "white").save(folder / f"{name}.png")
        (folder / f"{name}.gold.json").write_text('{"total": 12.5, "seller": "Acme"}', encoding="utf-8")
    return folder


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a ScriptedEngine with these answers in the place of any model."""

    def install(*answers: Any) -> ScriptedEngine:
        engine = ScriptedEngine(list(answers))
        monkeypatch.setattr(pipeline, "load", lambda model, *, dtype=None: Extractor(engine))
        return engine

    return install


def run(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), ["eval", *map(str, arguments)])


def test_a_dataset_is_extracted_and_scored(dataset: Path, scripted: Install) -> None:
    engine = scripted(RIGHT, WRONG)
    result = run(dataset)
    assert result.exit_code == 0, result.output
    assert f"nano on {dataset}: 2 documents, 4 fields" in result.stdout.replace("\n", " ")
    assert "75.0 %" in result.stdout
    assert result.stderr == ""
    assert len(engine.requests) == 2


def test_score_is_the_command_that_needs_no_name(dataset: Path, scripted: Install) -> None:
    scripted(RIGHT)
    named, short = (re.sub("seconds.*", "", run(*words).stdout) for words in (("score", dataset), (dataset,)))
    assert named == short != ""
    assert {"score", "compare"} <= {word for line in run("--help").stdout.splitlines() for word in line.split()[:1]}


def test_the_run_and_its_page_are_written_and_answers_kept(dataset: Path, tmp_path: Path, scripted: Install) -> None:
    scripted(RIGHT, WRONG)
    result = run(dataset, "--json", tmp_path / "run.json", "--html", tmp_path / "run.html")
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert content["figures"]["field_accuracy"] == 3 / 4
    assert [document["pages"] for document in content["documents"]] == [1, 1]
    assert sorted(path.name for path in (tmp_path / "run.answers").iterdir()) == ["a.json", "b.json"]
    assert "<svg" in (tmp_path / "run.html").read_text(encoding="utf-8")
    engine = scripted(WRONG)
    assert run(dataset, "--json", tmp_path / "run.json").stdout == result.stdout
    assert engine.requests == []
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == content


def test_other_settings_are_another_run(dataset: Path, tmp_path: Path, scripted: Install) -> None:
    scripted(RIGHT)
    run(dataset, "--json", tmp_path / "run.json")
    engine = scripted(RIGHT)
    run(dataset, "--json", tmp_path / "run.json", "--max-tokens", 99)
    assert [request.max_new_tokens for request in engine.requests] == [99, 99]


def test_a_failure_counts_as_zero_is_listed_and_sets_the_exit_code(dataset: Path, scripted: Install) -> None:
    scripted(DecodeError("stuck"), RIGHT)
    result = run(dataset)
    assert result.exit_code == 1
    assert "50.0 %" in result.stdout
    assert result.stderr == "forklift: a: failed, counts as zero: stuck.\n"


def test_limit_workers_and_ordered(dataset: Path, tmp_path: Path, scripted: Install) -> None:
    engine = scripted(RIGHT)
    result = run(dataset, "--limit", 1, "--workers", 4, "--ordered", "--json", tmp_path / "run.json")
    assert result.exit_code == 0, result.output
    assert len(engine.requests) == 1
    content = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert (len(content["documents"]), content["ordered"]) == (1, True)


def test_answers_of_another_tool_are_scored_without_a_model(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(model: str, *, dtype: str | None = None) -> Extractor:
        raise AssertionError("no model is needed")

    monkeypatch.setattr(pipeline, "load", load)
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "a.json").write_text(WRONG, encoding="utf-8")
    result = run(dataset, "--predictions", folder)
    assert result.exit_code == 1
    assert "theirs on" in result.stdout
    assert "25.0 %" in result.stdout
    assert "b: failed, counts as zero: no answer: b.json is not in" in result.stderr


def test_two_runs_are_compared(dataset: Path, tmp_path: Path, scripted: Install) -> None:
    for name, answer in (("one", WRONG), ("two", RIGHT)):
        scripted(answer)
        assert run(dataset, "--json", tmp_path / f"{name}.json").exit_code == 0
    result = run("compare", tmp_path / "one.json", tmp_path / "two.json", "--html", tmp_path / "both.html")
    assert result.exit_code == 0, result.output
    assert re.search(r"fields right +50\.0 % +100\.0 % +\+50\.0 +\+50\.0 to \+50\.0", result.stdout)
    assert f"B: nano ({tmp_path / 'two.json'})" in result.stdout.replace("\n", "")
    assert "side by side" in (tmp_path / "both.html").read_text(encoding="utf-8")


def test_a_model_that_cannot_be_loaded_ends_the_run(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(model: str, *, dtype: str | None = None) -> Extractor:
        raise CheckpointError("damaged")

    monkeypatch.setattr(pipeline, "load", load)
    result = run(dataset)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "", "forklift: damaged\n")


def test_an_unknown_model_is_named(dataset: Path, tmp_path: Path) -> None:
    result = run(dataset, "--model", "mega", "--json", tmp_path / "run.json")
    assert result.exit_code == 3
    assert "mega" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--predictions", "DIR", "--model", "nano"], "exclude each other"),
        (["--json", "DIR/none/run.json"], "does not exist"),
        (["--html", "DIR"], "is a folder"),
        (["--predictions", "DIR/none"], "no such folder"),
    ],
)
def test_wrong_usage_is_said_before_any_work(
    dataset: Path, tmp_path: Path, scripted: Install, options: list[str], message: str
) -> None:
    engine = scripted(RIGHT)
    result = run(dataset, *(option.replace("DIR", str(tmp_path)) for option in options))
    assert result.exit_code == 2
    assert message in result.stderr
    assert engine.requests == []


@pytest.mark.parametrize("arguments", [["nowhere"], ["compare", "one.json", "two.json"]])
def test_what_is_not_there_is_named(tmp_path: Path, arguments: list[str]) -> None:
    result = run(*(tmp_path / word if word != "compare" else word for word in arguments))
    assert result.exit_code == 2
    assert str(tmp_path / arguments[-1 if len(arguments) == 1 else 1]) in result.stderr
