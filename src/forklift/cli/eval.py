"""`forklift eval`: how well a model, or any other tool, extracts a dataset whose answers are known."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from forklift.cli import output
from forklift.cli.console import ProgressBar, reported_errors, say
from forklift.cli.eval_make import check, make
from forklift.cli.extract import DTypeName
from forklift.cli.interrupt import Interrupted, run_interruptible
from forklift.errors import ForkliftError, ModelNotFoundError, UsageError
from forklift.outputs.files import remove_unfinished, write_whole

if TYPE_CHECKING:
    from forklift.evaluate.answers import Answer, AnswerStore
    from forklift.evaluate.datasets import Example
    from forklift.evaluate.report import Run
    from forklift.extract import Extractor

WIDTH_OF_FILES = 120  # columns where stdout is no terminal


class _ScoresByDefault(TyperGroup):
    """`forklift eval DATASET` is `forklift eval score DATASET`; the other commands go by their names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["score", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ScoresByDefault,
    no_args_is_help=True,
    help="Measure extraction on documents whose answers are known; `forklift eval DATASET` is short for score.",
    rich_markup_mode=None,
)
HtmlFile = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page to read in a browser.")]


@app.command()
def score(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="A folder of documents, or a JSONL manifest.", show_default=False)
    ],
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="nano, or a checkpoint's folder; nano if not given.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Score the answers in DIR instead of extracting.")
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Documents at once; each loads the model.")] = 1,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N documents.")] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="Elements of lists must be in gold's order.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the run; answers are kept beside it.")
    ] = None,
    html: HtmlFile = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Where an answer is cut.")] = 8192,
    text_layer: Annotated[
        bool,
        typer.Option("--text-layer/--no-text-layer", help="Let a PDF's own words help to spell values."),
    ] = True,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type of unquantised weights.")] = None,
) -> None:
    """Extract a dataset and score the answers."""
    with reported_errors():
        from forklift.evaluate.datasets import read_dataset

        if predictions is not None and model is not None:
            raise UsageError("--model and --predictions exclude each other: answers come from one or the other.")
        for path in (json_file, html):
            _check_writable(path)
        examples = read_dataset(dataset, limit=limit)
        answers_folder = _beside(json_file or html)
        with ProgressBar(len(examples)) as bar:

            def work(cancel: threading.Event) -> Run:
                if predictions is not None:
                    from forklift.evaluate.answers import read_predictions

                    answers, name = read_predictions(predictions, examples), predictions.resolve().name
                else:
                    name = model or "nano"
                    answers = _extract(
                        examples,
                        name,
                        answers_folder,
                        bar,
                        cancel,
                        workers=workers,
                        max_tokens=max_tokens,
                        text_layer=text_layer,
                        dtype=dtype,
                    )
                run = _evaluate(examples, answers, str(dataset), name, ordered, cancel)
                if json_file is not None:
                    write_whole(json_file, run.as_json())
                if html is not None:
                    from forklift.evaluate.html_report import run_page

                    write_whole(html, run_page(run, examples).encode("utf-8", "surrogatepass"))
                return run

            def clean_up() -> None:
                remove_unfinished()
                bar.stop()

            run = run_interruptible(work, clean_up=clean_up, last_words=lambda: _last_words(answers_folder))
            bar.stop()
        _show_run(run)
    if run.failures:
        raise typer.Exit(1)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.json", help="A run of forklift eval --json.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B.json", help="Another, of that dataset.", show_default=False)],
    html: HtmlFile = None,
) -> None:
    """Hold two runs of one dataset against each other: B - A, with paired bootstrap intervals."""
    with reported_errors():
        from forklift.evaluate.comparison import compare as compare_runs
        from forklift.evaluate.report import Run
        from forklift.evaluate.tables import comparison_tables

        _check_writable(html)
        comparison = compare_runs(Run.read(first), Run.read(second))
        _print(comparison_tables(comparison))
        if html is not None:
            from forklift.evaluate.html_report import comparison_page

            write_whole(html, comparison_page(comparison).encode("utf-8", "surrogatepass"))


def _check_writable(path: Path | None) -> None:
    """Raises UsageError: better before an hour of work than after."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file in it.")
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(f"{path}: the folder {folder} does not exist; make it first.")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{path}: {folder} may not be written to; choose another folder.")


def _beside(path: Path | None) -> Path | None:
    """Where answers are kept: run.json has them in run.answers."""
    return path.with_name(path.stem + ".answers") if path is not None else None


def _last_words(folder: Path | None) -> str:
    kept = len(list(folder.glob("*.json"))) if folder is not None and folder.is_dir() else 0
    return f"interrupted; {kept} answers are kept in {folder}, the same command goes on" if kept else "interrupted"


def _extract(
    examples: list[Example],
    model: str,
    answers_folder: Path | None,
    bar: ProgressBar,
    cancel: threading.Event,
    *,
    workers: int,
    max_tokens: int,
    text_layer: bool,
    dtype: str | None,
) -> dict[str, Answer]:
    from forklift.evaluate.runner import Progress, extract_all

    class _Bar(Progress):
        def started(self, example: Example) -> None:
            bar.describe(example.id)

        def token(self) -> None:
            bar.count_token()

        def finished(self, example: Example, answer: Answer) -> None:
            bar.finish_file(answer.seconds or 0.0)

    def open_extractor() -> Extractor:
        from forklift.extract import load

        return load(model, dtype=dtype)

    return extract_all(
        examples,
        open_extractor,
        store=_store(answers_folder, model, max_tokens, text_layer, dtype),
        workers=workers,
        max_new_tokens=max_tokens,
        text_layer=text_layer,
        progress=_Bar(),
        cancel=cancel,
    )


def _store(folder: Path | None, model: str, max_tokens: int, text_layer: bool, dtype: str | None) -> AnswerStore | None:
    from forklift.checkpoint.catalog import resolve_model
    from forklift.evaluate.answers import AnswerStore, model_files

    if folder is None:
        return None
    try:
        files = model_files(resolve_model(model))
    except ModelNotFoundError:
        files = None  # loading it says what is wrong
    settings = {"max_new_tokens": max_tokens, "text_layer": text_layer, "dtype": dtype}
    return AnswerStore(folder, {"model": model, "files": files, **settings})


def _failure(example_id: str, error: str) -> str:
    return f"{example_id}: failed, counts as zero: {error.rstrip('.')}."


def _evaluate(
    examples: list[Example],
    answers: dict[str, Answer],
    dataset: str,
    model: str,
    ordered: bool,
    cancel: threading.Event,
) -> Run:
    from forklift.documents import Document
    from forklift.evaluate.report import evaluate

    def page_count(example: Example) -> int | None:
        if cancel.is_set():
            raise Interrupted
        try:
            with Document.open(example.document or "", pages="1") as document:
                return document.page_count
        except ForkliftError:
            return None

    return evaluate(examples, answers, dataset=dataset, model=model, ordered=ordered, page_count=page_count)


def _show_run(run: Run) -> None:
    from forklift.evaluate.tables import run_tables

    for document in run.failures:
        say(_failure(document["id"], document["error"]))
    _print(run_tables(run))


def _print(part: Any) -> None:
    from forklift.evaluate.tables import rendered

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else WIDTH_OF_FILES
    output.write_stdout(rendered([part], width=width, colour=terminal).encode("utf-8", "replace"))


app.command()(make)
app.command()(check)
