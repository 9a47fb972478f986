"""`forklift eval make` and `forklift eval check`: documents whose answers are known, and whether they are right."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forklift.cli import output
from forklift.cli.console import ProgressBar, duration, reported_errors, say
from forklift.cli.interrupt import run_interruptible

if TYPE_CHECKING:
    from forklift.evaluate.documents.benchmark import Entry

_SHOWN_FAULTS = 50


def make(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.", show_default=False)],
    documents: Annotated[int, typer.Option(metavar="N", min=1, help="How many documents.")] = 225,
    seed: Annotated[int, typer.Option(metavar="S", help="Another seed makes other documents.")] = 1,
    profile: Annotated[
        Literal["full", "short"], typer.Option(help="6 to 64 pages in six kinds, or 1 and 2 in three.")
    ] = "full",
    scanned: Annotated[bool, typer.Option("--scanned", help="Pages as noisy pictures, without a text layer.")] = False,
    difficulty: Annotated[
        float, typer.Option(metavar="X", min=0.0, max=1.0, help="How much is planted to mislead.")
    ] = 0.5,
) -> None:
    """Make documents with schemas and right answers; the same options give the same files."""
    with reported_errors():
        from forklift.evaluate.documents.benchmark import Plan, kind_table, make_benchmark

        plan = Plan(documents, seed, profile, scanned, difficulty)
        started = time.monotonic()
        with ProgressBar(documents) as bar:
            made: list[Entry] = []
            last = started

            def progress(entry: Entry) -> None:
                nonlocal last
                made.append(entry)
                now = time.monotonic()
                bar.describe(entry.name)
                bar.finish_file(now - last)
                last = now

            run_interruptible(
                lambda cancel: make_benchmark(folder, plan, cancel=cancel, progress=progress),
                clean_up=bar.stop,
                last_words=lambda: f"interrupted; {folder} holds {len(made)} of {documents} documents, empty it first",
            )
        output.write_stdout(kind_table(made).encode())
        say(f"{len(made)} documents in {folder}, made in {duration(time.monotonic() - started)}")


def check(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="A folder of documents, or a JSONL manifest.", show_default=False)
    ],
) -> None:
    """Look the right answers up in their documents, and hold them against schema and labels."""
    with reported_errors():
        from forklift.evaluate.gold_check import GoldReport, check_gold

        def work(cancel: threading.Event) -> GoldReport:
            return check_gold(dataset, cancel=cancel)

        report = run_interruptible(work, clean_up=lambda: None)
        for fault in report.faults[:_SHOWN_FAULTS]:
            sys.stdout.write(f"{fault}\n")
        if len(report.faults) > _SHOWN_FAULTS:
            sys.stdout.write(f"... and {len(report.faults) - _SHOWN_FAULTS} more\n")
        if report.unseen:
            say(
                f"{len(report.unseen)} of {report.documents} documents have no text layer to look in, such as "
                f"{report.unseen[0]}; their answers were held against schema and labels only."
            )
        say(
            f"{report.documents} documents, {report.values} values: {report.found} found in the text, {report.derived} "
            f"labelled derived, {len(report.faults)} faults."
        )
    if report.faults:
        raise typer.Exit(1)
