"""`forklift generate` and the options of `forklift` itself."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

import forklift
from forklift.cli.main import build_app
from forklift.documents import PagePolicy
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.extract import Extractor
from forklift.results import Outcome

pipeline = importlib.import_module("forklift.extract")


def run(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), [str(argument) for argument in arguments])


def install(monkeypatch: pytest.MonkeyPatch, answer: str | Answer) -> ScriptedEngine:
    engine = ScriptedEngine(answer)
    monkeypatch.setattr(pipeline, "load", lambda model, *, dtype=None: Extractor(engine, PagePolicy(72, 0)))
    return engine


def test_the_answer_alone_goes_to_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = install(monkeypatch, "Größe: 12 €\n日本")
    Image.new("RGB", (50, 40), "white").save(tmp_path / "a.png")
    Image.new("RGB", (30, 20), "black").save(tmp_path / "b.png")
    result = run(
        "generate", "--image", tmp_path / "a.png", "--image", tmp_path / "b.png", "--prompt", "Wie groß?",
        "--max-tokens", 100,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout_bytes.decode() == "Größe: 12 €\n日本\n"
    assert result.stderr == ""
    (request,) = engine.requests
    assert [page.size for page in request.pages] == [(50, 40), (30, 20)]  # their own pixels
    assert (request.text, request.schema, request.max_new_tokens) == ("Wie groß?", None, 100)


def test_a_cut_answer_is_kept_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "one two three four")
    result = run("generate", "--prompt", "x", "--max-tokens", 3)
    assert result.exit_code == 0
    assert result.stdout == "one two\n"
    assert "cut after 3 tokens" in result.stderr


def test_pdf_pages_are_drawn_under_the_models_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reportlab.pdfgen.canvas import Canvas

    engine = install(monkeypatch, Answer("ok", outcome=Outcome.COMPLETE))
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(100, 200))
    for _ in range(2):
        canvas.drawString(10, 10, "x")
        canvas.showPage()
    canvas.save()
    assert run("generate", "-i", tmp_path / "a.pdf", "-p", "x").exit_code == 0
    assert [page.size for page in engine.requests[0].pages] == [(100, 200)] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["generate"], 2, "--prompt"),
        (["generate", "-p", "x", "-i", "none.png"], 1, "none.png: there is no such file"),
        (["generate", "-p", "x", "-m", "nonesuch"], 3, "nonesuch"),
        (["pull"], 2, "pull"),
    ],
)
def test_errors_have_a_message_and_the_exit_code_of_their_kind(arguments: list[str], code: int, says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert says in result.stderr
    assert result.stdout == ""


def test_the_version_is_the_packages() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"forklift {forklift.__version__}\n")


@pytest.mark.parametrize("command", [["extract"], ["generate"], []])
def test_help_names_every_option_of_a_command(command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    options = {
        "extract": ["--schema", "--model", "--pages", "--out", "--max-tokens", "--strict", "--allow-missing",
                    "--password", "--dtype", "--temperature", "--top-p", "--seed", "--meta", "INPUT",
                    "--recursive", "--format", "--rows", "--bom", "--force", "--annotate", "--quiet",
                    "--max-pages", "--max-file-size", "--max-pixels", "FORKLIFT_PDF_PASSWORD"],
        "generate": ["--model", "--image", "--prompt", "--max-tokens", "--dtype"],
        "": ["extract", "generate", "--version"],
    }  # fmt: skip
    for option in options["".join(command)]:
        assert option in result.stdout
