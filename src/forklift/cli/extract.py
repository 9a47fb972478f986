"""`forklift extract`: documents into JSON."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forklift.cli.console import ProgressBar, reported_errors
from forklift.cli.interrupt import run_interruptible
from forklift.errors import DiskFullError, ForkliftError, UsageError
from forklift.page_policy import Limits

if TYPE_CHECKING:
    from forklift.batch import Report, Results, Summary
    from forklift.cli.batch_messages import BatchMessages
    from forklift.inputs import Inputs
    from forklift.outputs.settings import Settings
    from forklift.schema import Schema

DTypeName = Literal["bfloat16", "float32"]
Format = Literal["json", "jsonl", "csv"]

_SIZE_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}


@dataclass(frozen=True)
class _Destination:
    """Where one command's results go."""

    out: Path | None
    format: Format
    rows: str | None
    bom: bool
    meta: bool
    annotate: Path | None

    def check(self, files: list[Path]) -> None:
        """Raises UsageError for options that do not go together."""
        if self.format != "csv" and (self.rows is not None or self.bom):
            raise UsageError(f"{'--rows' if self.rows is not None else '--bom'} is for --format csv.")
        if self.meta and self.format == "csv":
            raise UsageError("--meta is for JSON; --format jsonl has a place for it, CSV has not.")
        if self.meta and self.out is not None:
            raise UsageError(
                "--meta prints what --out writes anyway, beside the data (.meta.json, .meta.jsonl); leave one out."
            )
        if self.to_stdout_as_json:
            for path in files:
                if path.is_dir():
                    raise UsageError(f"{path}: is a folder; give --out DIR for its results, or --format jsonl or csv.")

    @property
    def to_stdout_as_json(self) -> bool:
        return self.out is None and self.format == "json"

    def open(self, inputs: Inputs, schema: Schema, progress: ProgressBar) -> Results:
        from forklift.cli.output import write_stdout
        from forklift.cli.printed_json import PrintedJson
        from forklift.outputs.folder import ResultFolder
        from forklift.outputs.table import Csv, JsonLines, TableFormat
        from forklift.outputs.table_file import StreamedTable, TableFile

        if self.to_stdout_as_json:
            return PrintedJson(details=self.meta, before=progress.stop)
        if self.format == "json":
            assert self.out is not None
            return ResultFolder(self.out, inputs.documents)
        table: TableFormat = JsonLines(details=self.meta)
        if self.format == "csv":
            table = Csv(schema, rows=self.rows, byte_order_mark=self.bom)
        if self.out is not None:
            return TableFile(self.out, table)
        if sys.stdout.isatty():
            progress.stop()  # lines of the table would run into the bar
        return StreamedTable(table, write_stdout)


def extract(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="INPUT...", help="PDFs, pictures, folders, or patterns.", show_default=False),
    ],
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
    model: Annotated[str, typer.Option("--model", "-m", help="nano, a checkpoint's folder, or openai:NAME.")] = "nano",
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", envvar="FORKLIFT_BASE_URL", help="The server of openai:NAME.")
    ] = None,
    pages: Annotated[str | None, typer.Option(metavar="RANGE", help='Pages to read, such as "1-3,5" or "5-".')] = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Read the folders in folders too.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="A folder for <name>.json; with jsonl or csv, a file.")
    ] = None,
    format: Annotated[Format, typer.Option(help="A JSON file each, or one table.")] = "json",
    rows: Annotated[
        str | None, typer.Option(metavar="POINTER", help='With csv: a row for each element, such as "/line_items".')
    ] = None,
    bom: Annotated[bool, typer.Option("--bom", help="With csv: begin with a byte order mark, for Excel.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Read finished documents again too.")] = False,
    annotate: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw each page with the places of its values.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Where an answer is cut.")] = 8192,
    strict: Annotated[
        bool, typer.Option("--strict", help="Decode the schema literally; values may be forced.")
    ] = False,
    text_layer: Annotated[
        bool,
        typer.Option("--text-layer/--no-text-layer", help="Let a PDF's own words help to spell values."),
    ] = True,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Required fields that are not there are no failure.")
    ] = False,
    password: Annotated[
        str | None, typer.Option(envvar="FORKLIFT_PDF_PASSWORD", help="Password of encrypted PDFs.")
    ] = None,
    max_pages: Annotated[int, typer.Option(min=1, help="Pages that a document may have.")] = Limits.max_pages,
    max_file_size: Annotated[str, typer.Option(metavar="SIZE", help="Bytes, or such as 50MB or 2GB.")] = "1GiB",
    max_pixels: Annotated[
        int, typer.Option(min=1, help="Width x height that a picture may have.")
    ] = Limits.max_picture_pixels,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type of unquantised weights.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 always takes the likeliest token.")] = 0.0,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0, help="With a temperature: nucleus size.")] = 1.0,
    seed: Annotated[int, typer.Option(help="With a temperature: of the random generator.")] = 0,
    meta: Annotated[
        bool, typer.Option("--meta", help="Print confidences, missing fields and timings beside the data.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what failed.")] = False,
) -> None:
    """Read documents into JSON that matches a schema."""
    with reported_errors():
        from forklift.engines.base import Sampling
        from forklift.inputs import find_inputs
        from forklift.outputs.settings import Settings
        from forklift.page_ranges import parse_page_ranges
        from forklift.schema import Schema

        destination = _Destination(out, format, rows, bom, meta, annotate)
        destination.check(files)
        limits = Limits(max_file_bytes=size_in_bytes(max_file_size), max_pages=max_pages, max_picture_pixels=max_pixels)
        if pages is not None:
            parse_page_ranges(pages)
        loaded_schema = Schema.load(schema)
        loaded_schema.decoded(strict)  # what cannot be decoded is said before the model is loaded
        if model.startswith("openai:"):
            from forklift.engines.remote_client import RemoteName

            model = str(RemoteName.parse(model, base_url))  # the server is part of what a record says of its model
        settings = Settings(
            schema=loaded_schema,
            model=model,
            dtype=dtype,
            pages=pages,
            password=password,
            max_new_tokens=max_tokens,
            strict=strict,
            text_layer=text_layer,
            sampling=Sampling(temperature, top_p, seed),
            limits=limits,
        )
        inputs = find_inputs(files, recursive=recursive, outside=[path for path in (out, annotate) if path is not None])
        if destination.to_stdout_as_json and len(inputs.documents) > 1:
            raise UsageError(
                f"{len(inputs.documents)} documents would be mixed on stdout; give a folder with --out DIR, "
                "or --format jsonl or csv for one table."
            )
        exit_code = _run(inputs, settings, destination, force=force, allow_missing=allow_missing, quiet=quiet)
    if exit_code:
        raise typer.Exit(exit_code)


def size_in_bytes(text: str) -> int:
    """ "1048576", "50MB", "1.5 GiB". Raises UsageError for anything else."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMG]I?)?B?\s*", text.upper())
    size = int(float(found[1]) * _SIZE_UNITS[found[2] or ""]) if found else 0
    if size < 1:
        raise UsageError(f'--max-file-size "{text}" is no size; give bytes, or such as 500KB, 50MB, 2GB, 1GiB.')
    return size


def _run(
    inputs: Inputs,
    settings: Settings,
    destination: _Destination,
    *,
    force: bool,
    allow_missing: bool,
    quiet: bool,
) -> int:
    """Returns the exit code; raises what ends the run."""
    from forklift.batch import extract_batch
    from forklift.cli.batch_messages import BatchMessages
    from forklift.outputs.annotated_pages import AnnotatedPages
    from forklift.outputs.files import remove_unfinished

    single = len(inputs.documents) + len(inputs.problems) == 1
    with ProgressBar(len(inputs.documents), hidden=quiet) as progress:
        results = destination.open(inputs, settings.schema, progress)
        annotated = AnnotatedPages(destination.annotate) if destination.annotate is not None else None
        messages = BatchMessages(
            progress,
            inputs=len(inputs.documents),
            schema=settings.schema.name,
            kept=None if destination.out is None else str(destination.out),
            allow_missing=allow_missing,
            quiet=quiet,
        )
        for problem in inputs.problems:
            progress.say(problem)
        failures: list[Exception] = []

        def on_report(report: Report) -> None:
            if single and report.error is not None and not isinstance(report.error, ForkliftError):
                raise report.error  # a fault of ours: with its traceback, for the report
            if single and report.error is not None:
                failures.append(report.error)
            messages.report(report)

        def work(cancel: threading.Event) -> Summary:
            return extract_batch(
                inputs.documents,
                settings,
                results,
                force=force,
                allow_missing=allow_missing,
                annotated=annotated,
                on_start=messages.start,
                on_token=lambda _: progress.count_token(),
                on_report=on_report,
                cancel=cancel,
            )

        def clean_up() -> None:
            remove_unfinished()
            progress.stop()

        summary = _interruptible(work, clean_up, messages)
        messages.summarise(summary, inputs.problems)
    if failures and isinstance(failures[0], ForkliftError):
        return failures[0].exit_code
    return 1 if summary.failed or summary.incomplete or inputs.problems else 0


def _interruptible(
    work: Callable[[threading.Event], Summary], clean_up: Callable[[], None], messages: BatchMessages
) -> Summary:
    try:
        return run_interruptible(work, clean_up=clean_up, last_words=messages.interrupted)
    except DiskFullError as error:
        raise type(error)(messages.stopped(error)) from None
