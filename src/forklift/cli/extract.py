"""`forklift extract`: documents into JSON."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from forklift.cli import output
from forklift.cli.console import ProgressBar, reported_errors
from forklift.cli.interrupt import run_interruptible
from forklift.errors import ForkliftError, ModelError, UsageError
from forklift.results import Outcome, Result

if TYPE_CHECKING:
    from forklift.engines.base import Sampling
    from forklift.extract import Extractor
    from forklift.schema import Schema

DTypeName = Literal["bfloat16", "float32"]


@dataclass(frozen=True)
class _Job:
    """What every document of one command is extracted with."""

    schema: Schema
    model: str
    dtype: str | None
    pages: str | None
    password: str | None
    max_new_tokens: int
    strict: bool
    allow_missing: bool
    sampling: Sampling
    meta: bool
    outputs: dict[Path, Path] | None  # None: to stdout


def extract(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="PDFs or pictures.", show_default=False)],
    schema: Annotated[
        str,
        typer.Option(
            "--schema",
            "-s",
            metavar="SCHEMA",
            help="JSON Schema: a file, JSON text, or a bundled name (invoice, receipt).",
            show_default=False,
        ),
    ],
    model: Annotated[str, typer.Option("--model", "-m", help="nano, or a checkpoint's folder.")] = "nano",
    pages: Annotated[str | None, typer.Option(metavar="RANGE", help='Pages to read, such as "1-3,5" or "5-".')] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write DIR/<name>.json instead of printing.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Where an answer is cut.")] = 8192,
    strict: Annotated[
        bool, typer.Option("--strict", help="Decode the schema literally; values may be forced.")
    ] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Required fields that are not there are no failure.")
    ] = False,
    password: Annotated[str | None, typer.Option(help="Password of an encrypted PDF.")] = None,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type of unquantised weights.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 always takes the likeliest token.")] = 0.0,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0, help="With a temperature: nucleus size.")] = 1.0,
    seed: Annotated[int, typer.Option(help="With a temperature: of the random generator.")] = 0,
    meta: Annotated[
        bool, typer.Option("--meta", help="Give confidences, missing fields and timings beside the data.")
    ] = False,
) -> None:
    """Read documents into JSON that matches a schema."""
    with reported_errors():
        from forklift.engines.base import Sampling
        from forklift.page_ranges import parse_page_ranges
        from forklift.schema import Schema

        inputs = _unique(files)
        if out is None and len(inputs) > 1:
            raise UsageError(
                f"{len(inputs)} files would be mixed on stdout; give a folder with --out DIR, or one file at a time."
            )
        if pages is not None:
            parse_page_ranges(pages)
        loaded_schema = Schema.load(schema)
        loaded_schema.decoded(strict)  # what cannot be decoded is said before the model is loaded
        job = _Job(
            schema=loaded_schema,
            model=model,
            dtype=dtype,
            pages=pages,
            password=password,
            max_new_tokens=max_tokens,
            strict=strict,
            allow_missing=allow_missing,
            sampling=Sampling(temperature, top_p, seed),
            meta=meta,
            outputs=output.plan_outputs(inputs, out) if out is not None else None,
        )
        if out is not None:
            output.make_folder(out)
        with ProgressBar(len(inputs)) as progress:

            def clean_up() -> None:
                output.remove_unfinished()
                progress.stop()

            exit_code = run_interruptible(lambda cancel: _extract_all(inputs, job, progress, cancel), clean_up=clean_up)
    if exit_code:
        raise typer.Exit(exit_code)


def _unique(files: list[Path]) -> list[Path]:
    """The files in order, each once however it was spelled."""
    kept: dict[str, Path] = {}
    for path in files:
        place = str(path) if "\0" in str(path) else os.path.normcase(path.resolve())
        kept.setdefault(place, path)
    return list(kept.values())


def _extract_all(inputs: list[Path], job: _Job, progress: ProgressBar, cancel: threading.Event) -> int:
    """Extract one file after the other; a bad one never stops the rest. Returns the exit code.

    Raises ModelError, which would meet every file.
    """
    worst = 0
    with ExitStack() as opened:
        extractor: Extractor | None = None
        for path in inputs:
            if cancel.is_set():
                break
            progress.describe(path.name)
            try:
                from forklift.documents import Document

                with Document.open(path, pages=job.pages, password=job.password) as document:
                    if extractor is None:  # not for a file that cannot be read anyway
                        extractor = opened.enter_context(_load(job))
                    result = extractor.extract(
                        document,
                        job.schema,
                        max_new_tokens=job.max_new_tokens,
                        strict=job.strict,
                        sampling=job.sampling,
                        on_token=lambda _: progress.count_token(),
                        cancel=cancel,
                    )
                if result.outcome is Outcome.CANCELLED:
                    break
                _deliver(path, result, job, progress)
                code = _report(path, result, job, progress)
            except ModelError:
                raise
            except ForkliftError as error:
                message = str(error)
                progress.say(message if message.startswith(str(path)) else f"{path}: {message}")
                code = error.exit_code if len(inputs) == 1 else 1
            except BrokenPipeError:
                raise
            except Exception as error:
                if len(inputs) == 1:
                    raise  # a fault of ours: with its traceback, for the report
                progress.say(f"{path}: unexpected {type(error).__name__}: {error}; please report it.")
                code = 1
            worst = max(worst, code)
            progress.finish_file()
    return worst


def _load(job: _Job) -> Extractor:
    from forklift.extract import load

    return load(job.model, dtype=job.dtype)


def _deliver(path: Path, result: Result, job: _Job, progress: ProgressBar) -> None:
    """Print or write the data, unless there is none at all."""
    value: Any = output.with_details(result) if job.meta else result.data
    if result.data is None and result.outcome is not Outcome.COMPLETE and not job.meta:
        return
    if job.outputs is not None:
        output.write_whole(job.outputs[path], output.as_json(value))
    else:
        progress.stop()
        output.write_stdout(output.as_json(value))


def _report(path: Path, result: Result, job: _Job, progress: ProgressBar) -> int:
    """Say what is wrong with a result; returns its exit code."""
    code = 0
    for warning in result.warnings:
        progress.say(f"{path}: {warning}.")
    if result.outcome is Outcome.TRUNCATED:
        progress.say(
            f"{path}: the answer was cut after {result.timings.answer_tokens} tokens; "
            "what is complete is kept. Give more with --max-tokens, or fewer pages with --pages."
        )
        return 1
    if result.missing and not job.allow_missing:
        count = len(result.missing)
        fields = "1 required field is" if count == 1 else f"{count} required fields are"
        places = ", ".join(pointer or "/" for pointer in result.missing)
        progress.say(
            f"{path}: {fields} not in the document, null in the output: {places}. --allow-missing accepts that."
        )
        code = 1
    for problem in result.problems:
        progress.say(f"{path}: does not match the schema: {problem}")
        code = 1
    return code
