"""`forklift calibrate`: what a model's errors cost, measured once."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from forklift.cli.console import reported_errors, say
from forklift.cli.extract import DTypeName
from forklift.cli.interrupt import Interrupted, run_interruptible
from forklift.cli.steps import StepBar
from forklift.errors import UsageError

DeviceName = Literal["cpu", "cuda"]

DocumentsFolder = Annotated[
    Path | None,
    typer.Option("--documents", "-d", metavar="DIR", help="Documents of your own; made-up ones if not given."),
]
SchemaName = Annotated[
    str | None, typer.Option("--schema", "-s", metavar="SCHEMA", help="JSON Schema of your documents.")
]
AnswersFrom = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="Who answers where no gold answer stands beside a document; MODEL if not given."
    ),
]
Device = Annotated[DeviceName | None, typer.Option(help="Where to compute; a GPU if there is one.")]


@dataclass(frozen=True)
class CalibrationJob:
    """Options of a calibration, whoever asks for it."""

    documents: Path | None = None
    schema: str | None = None
    samples: int = 32
    answers_from: str | None = None
    seed: int = 0
    dtype: str | None = None
    device: str | None = None
    scratch: str = "20GiB"


def calibrate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="nano, or a checkpoint's folder.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The calibration to write.", show_default=False)
    ],
    documents: DocumentsFolder = None,
    schema: SchemaName = None,
    samples: Annotated[int, typer.Option(min=1, help="Documents to calibrate on.")] = 32,
    answers_from: AnswersFrom = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random directions that gradients start from.")] = 0,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type to compute in.")] = None,
    device: Device = None,
    scratch: Annotated[str, typer.Option(metavar="SIZE", help="Disk space between the layers, beside FILE.")] = "20GiB",
) -> None:
    """Measure once how much each matrix matters; `forklift quantize` uses it for every size.

    Interrupted, the same command goes on where it stood.
    """
    with reported_errors():
        job = CalibrationJob(documents, schema, samples, answers_from, seed, dtype, device, scratch)
        with StepBar() as bar:
            interruptible(lambda cancel: run_calibration(model, output, job, bar, cancel), bar)
        say(f"{output} is complete")


def interruptible(work: Any, bar: StepBar) -> Any:
    """Run with Ctrl-C; what is finished stays, and the same command goes on."""

    def clean_up() -> None:
        bar.stop()
        say("what is finished is kept; the same command goes on from here")

    try:
        return run_interruptible(work, clean_up=clean_up)
    except Interrupted:
        clean_up()
        raise


def run_calibration(model: str, output: Path, job: CalibrationJob, bar: StepBar, cancel: threading.Event) -> None:
    from forklift.checkpoint.catalog import resolve_model
    from forklift.quantize.levels import parse_size

    folder = resolve_model(model)
    answers_from = None if job.answers_from is None else resolve_model(job.answers_from)
    scratch_bytes = parse_size(job.scratch)
    if not output.parent.is_dir():
        raise UsageError(f"{output}: the folder {output.parent} does not exist; make it first")
    bar.show(0, 1, "loading")
    import torch

    from forklift.checkpoint.config_reader import read_config
    from forklift.checkpoint.tensors import TensorReader
    from forklift.engines.local import preferred_dtype
    from forklift.quantize.answer_source import labelled_samples
    from forklift.quantize.calibrate import CalibrationSettings, calibrate

    reader = TensorReader(folder, read_config(folder))
    scratch = output.with_name(f"{output.name}.partial")
    samples, answers, prompter = labelled_samples(
        folder,
        job.documents,
        job.schema,
        job.samples,
        scratch=scratch / "documents",
        answers_from=answers_from,
        on_answer=lambda done, total: bar.show(done, total, "the model answers"),
    )
    settings = CalibrationSettings(
        seed=job.seed,
        dtype=preferred_dtype(folder) if job.dtype is None else getattr(torch, job.dtype),
        device=chosen_device(job.device),
        scratch_bytes=scratch_bytes,
        source="made-up short documents" if job.documents is None else "own documents",
    )

    def on_step(done: float, total: float, label: str) -> None:
        if cancel.is_set():
            raise Interrupted
        bar.show(done, total, label)

    calibrate(reader, prompter, samples, answers, output, settings, on_step)


def chosen_device(name: str | None) -> str:
    """Raises UsageError for a GPU that is not there."""
    import torch

    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise UsageError("--device cuda: PyTorch sees no such GPU here; leave the option out to compute on the CPU")
    return name or ("cuda" if there else "cpu")
