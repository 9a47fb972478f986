"""`forklift bench`: measurements, one command each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forklift.cli import output
from forklift.cli.calibrate import AnswersFrom, DocumentsFolder, SchemaName
from forklift.cli.console import reported_errors
from forklift.cli.extract import DTypeName
from forklift.cli.interrupt import Interrupted, run_interruptible
from forklift.cli.steps import StepBar

if TYPE_CHECKING:
    from forklift.bench.loss import LossReport

app = typer.Typer(no_args_is_help=True, help="Measure checkpoints.", rich_markup_mode=None)


@app.callback()
def measurements() -> None:
    """Measure checkpoints."""


@app.command()
def loss(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="The checkpoint to compare with.", show_default=False)
    ],
    others: Annotated[
        list[str], typer.Argument(metavar="OTHER...", help="Checkpoints made from it.", show_default=False)
    ],
    documents: DocumentsFolder = None,
    schema: SchemaName = None,
    samples: Annotated[int, typer.Option(min=1, help="Documents to measure on.")] = 32,
    first: Annotated[int, typer.Option(min=0, help="How many documents of DIR to leave out first.")] = 0,
    answers_from: AnswersFrom = None,
    fields: Annotated[
        bool, typer.Option("--fields", help="Extract too, and give the share of right fields; slower.")
    ] = False,
    card: Annotated[bool, typer.Option("--card", help="Write the figures into each OTHER's README.md.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the figures.")] = None,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type to compute in.")] = None,
) -> None:
    """How far other checkpoints' answers are from a reference's, token by token."""
    with reported_errors(), StepBar() as bar:

        def work(cancel: threading.Event) -> str:
            return _loss(
                reference,
                others,
                documents,
                schema,
                samples,
                first,
                answers_from,
                fields,
                card,
                json_file,
                dtype,
                bar,
                cancel,
            )

        text = run_interruptible(work, clean_up=bar.stop)
        bar.stop()
        output.write_stdout(text.encode())


def _loss(
    reference: str,
    others: list[str],
    documents: Path | None,
    schema: str | None,
    samples: int,
    first: int,
    answers_from: str | None,
    fields: bool,
    card: bool,
    json_file: Path | None,
    dtype: str | None,
    bar: StepBar,
    cancel: threading.Event,
) -> str:
    import dataclasses
    import tempfile

    from forklift.checkpoint.catalog import resolve_model

    folders = [resolve_model(name) for name in (reference, *others)]
    bar.show(0, 1, "loading")
    import torch

    from forklift.bench.loss import field_accuracies, measure_loss
    from forklift.engines.local import preferred_dtype
    from forklift.outputs.files import as_json, write_whole
    from forklift.quantize.answer_source import HELD_OUT_SEED, labelled_samples
    from forklift.quantize.model_card import add_measured_loss

    chosen = preferred_dtype(folders[0]) if dtype is None else getattr(torch, dtype)
    with tempfile.TemporaryDirectory(prefix="forklift-bench-") as scratch:
        labelled, answers, _ = labelled_samples(
            folders[0],
            documents,
            schema,
            samples,
            scratch=Path(scratch),
            first=first,
            seed=HELD_OUT_SEED,
            answers_from=None if answers_from is None else resolve_model(answers_from),
            on_answer=lambda done, total: bar.show(done, total, "the reference answers"),
        )
        on_sample = _counter(bar, cancel, len(labelled) * len(folders) * (1 + fields), "measuring")
        reports = measure_loss(folders[0], folders[1:], labelled, answers, chosen, on_sample)
        accuracies: list[float | None] = [None] * len(folders)
        if fields:
            accuracies = field_accuracies(folders, labelled, chosen, on_sample)
    if json_file is not None:
        figures = [
            {"model": name, **dataclasses.asdict(report), "field_accuracy": accuracy}
            for name, report, accuracy in zip(others, reports, accuracies[1:], strict=True)
        ]
        write_whole(
            json_file, as_json({"reference": reference, "reference_field_accuracy": accuracies[0], "others": figures})
        )
    if card:
        for folder, report, accuracy in zip(folders[1:], reports, accuracies[1:], strict=True):
            add_measured_loss(folder, _table([folder.name], [report], [None, accuracy], len(labelled)))
    return _table(others, reports, accuracies, len(labelled))


@app.command()
def passes(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Whose tokens to count.", show_default=False)],
    documents: DocumentsFolder = None,
    schema: SchemaName = None,
    samples: Annotated[int, typer.Option(min=1, help="Documents to count on.")] = 32,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the counts.")] = None,
) -> None:
    """How many forward passes an answer takes, with and without drafts."""
    with reported_errors(), StepBar() as bar:

        def work(cancel: threading.Event) -> str:
            return _passes(model, documents, schema, samples, json_file, bar, cancel)

        text = run_interruptible(work, clean_up=bar.stop)
        bar.stop()
        output.write_stdout(text.encode())


def _passes(
    model: str,
    documents: Path | None,
    schema: str | None,
    samples: int,
    json_file: Path | None,
    bar: StepBar,
    cancel: threading.Event,
) -> str:
    import dataclasses
    import tempfile

    from forklift.checkpoint.catalog import resolve_model

    folder = resolve_model(model)
    bar.show(0, 1, "loading")
    from forklift.bench.passes import measure_passes
    from forklift.decoding.constraint import TokenizerView
    from forklift.engines.local import answer_form, end_ids
    from forklift.outputs.files import as_json, write_whole
    from forklift.quantize.answer_source import HELD_OUT_SEED, labelled_samples

    reports = []
    with tempfile.TemporaryDirectory(prefix="forklift-bench-") as scratch:
        labelled, answers, prompter = labelled_samples(
            folder, documents, schema, samples, scratch=Path(scratch), seed=HELD_OUT_SEED
        )
        view = TokenizerView.cached(prompter.tokenizer.to_str(), end_ids(prompter))
        on_sample = _counter(bar, cancel, 2 * len(labelled), "counting")
        for drafts in (False, True):
            form = answer_form(folder)
            reports.append(measure_passes(labelled, answers, view, form, drafts=drafts, on_sample=on_sample))
    if json_file is not None:
        without, drafted = (dataclasses.asdict(report) for report in reports)
        write_whole(json_file, as_json({"forced_tokens_only": without, "with_drafts": drafted}))
    lines = [
        f"Forward passes for {reports[0].answer_tokens:,} tokens of {reports[0].documents} answers:",
        "",
        "| | passes | a token | drafted tokens | of those right |",
        "|---|---|---|---|---|",
    ]
    for name, report in zip(("forced tokens only", "with drafts"), reports, strict=True):
        right = report.accepted_draft_tokens / max(report.draft_tokens, 1)
        lines.append(f"| {name} | {report.passes:,} | {report.per_token:.3f} | {report.draft_tokens:,} | {right:.1%} |")
    return "\n".join(lines) + "\n"


def _table(names: list[str], reports: list[LossReport], accuracies: list[float | None], documents: int) -> str:
    """Markdown. accuracies: the reference's first."""
    tokens = reports[0].answer_tokens
    lines = [
        f"KL divergence in nats per answer token, {tokens:,} tokens of {documents} documents:",
        "",
        "| model | mean | median | 99 % | 99.9 % | same likeliest token | perplexity ratio | fields right |",
        "|---|---|---|---|---|---|---|---|",
    ]

    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.2%}"

    if accuracies[0] is not None:
        lines.append(f"| reference | 0 | 0 | 0 | 0 | 100% | 1 | {share(accuracies[0])} |")
    for name, report, accuracy in zip(names, reports, accuracies[1:], strict=True):
        lines.append(
            f"| {name} | {report.mean_kl:.2e} | {report.median_kl:.2e} | {report.kl_99:.2e} | {report.kl_999:.2e} | "
            f"{report.top1_agreement:.2%} | {report.perplexity_ratio:.4f} | {share(accuracy)} |"
        )
    return "\n".join(lines) + "\n"


def _counter(bar: StepBar, cancel: threading.Event, total: int, label: str) -> Callable[[], None]:
    """To be called after each step; shows it, and raises Interrupted once `cancel` is set."""
    done = 0

    def count() -> None:
        nonlocal done
        if cancel.is_set():
            raise Interrupted
        done += 1
        bar.show(done, total, label)

    return count
