"""Many documents, one after the other: what is done stays, what is finished is skipped, one failure stops nothing.

found = find_inputs(["scans"], recursive=True)
summary = extract_batch(found.documents, Settings(Schema.load("invoice")), ResultFolder("answers"))
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forklift.documents import Document
from forklift.errors import DiskFullError, ForkliftError, ModelError
from forklift.inputs import Input
from forklift.outputs.record import FileState, Record
from forklift.outputs.settings import Settings
from forklift.results import Outcome, Result

if TYPE_CHECKING:
    from forklift.engines.base import Token
    from forklift.extract import Extractor
    from forklift.outputs.annotated_pages import AnnotatedPages


class Results(Protocol):
    """Where results go, and what is known there of earlier runs: a folder, a table file, a stream."""

    def earlier(self, item: Input) -> Record | None:
        """The whole result of an earlier run for `item`, whether or not it still holds."""

    def write(self, item: Input, record: Record) -> None:
        """Keep a result for good. Raises OutputError when it cannot, DiskFullError when nothing can."""

    def keep(self, item: Input, record: Record) -> None:
        """An earlier result still holds."""

    def fail(self, item: Input, message: str, *, outdated: bool) -> None:
        """There is no result. outdated: an earlier one must not be taken for it."""

    def close(self) -> None:
        """The run has ended, by itself or not."""


class Status(StrEnum):
    """What became of one input."""

    EXTRACTED = "extracted"
    SKIPPED = "skipped"  # an earlier result still holds
    FAILED = "failed"  # no result


@dataclass(frozen=True)
class Report:
    """One input, done.

    record: its result, from this run or an earlier one (then without data); None when it failed.
    error: why it failed, or why its annotated pages could not be drawn.
    changes: in words, what made an earlier result outdated. seconds: that this run spent on it.
    """

    item: Input
    status: Status
    record: Record | None = None
    error: Exception | None = None
    changes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def message(self) -> str:
        """The error in words, without the input's name; empty without one."""
        if self.error is None:
            return ""
        if not isinstance(self.error, ForkliftError):
            return f"unexpected {type(self.error).__name__}: {self.error}; please report it."
        return str(self.error).removeprefix(f"{self.item.path}: ")


@dataclass
class Summary:
    """A batch, done. incomplete, failed: (input as it was named, reasons), in order."""

    inputs: int
    extracted: int = 0
    skipped: int = 0
    again: int = 0  # of those extracted: an earlier result was outdated
    incomplete: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    cancelled: bool = False

    @property
    def done(self) -> int:
        """Inputs that have been gone through."""
        return self.extracted + self.skipped + len(self.failed)


def extract_batch(
    inputs: Sequence[Input],
    settings: Settings,
    results: Results,
    *,
    extractor: Extractor | None = None,
    force: bool = False,
    allow_missing: bool = False,
    annotated: AnnotatedPages | None = None,
    on_start: Callable[[Input], None] | None = None,
    on_token: Callable[[Token], None] | None = None,
    on_report: Callable[[Report], None] | None = None,
    cancel: threading.Event | None = None,
) -> Summary:
    """Extract every input into `results`, in order. Memory does not grow with their number.

    extractor: an open model; without one, `settings.model` is loaded when the first document needs it, and closed.
    force: read finished inputs again too. allow_missing: a missing field makes no document incomplete.
    annotated: where the pages of every document are drawn. on_start, on_token, on_report: told as it goes.
    cancel: once set, the document being read is given up and the rest is not begun.
    An input that fails is reported and the rest goes on. Raises ModelError when the model cannot be used and
    DiskFullError when no result can be kept any more; whatever was written before stays. `results` is closed.
    """
    run = _Run(settings, results, extractor, force, annotated, on_token, cancel)
    summary = Summary(len(inputs))
    start = time.perf_counter()
    with ExitStack() as opened:
        opened.callback(results.close)
        opened.enter_context(run.models)
        for item in inputs:
            if cancel is not None and cancel.is_set():
                summary.cancelled = True
                break
            if on_start is not None:
                on_start(item)
            report = run.one(item)
            if report is None:
                summary.cancelled = True
                break
            _count(summary, report, allow_missing)
            if on_report is not None:
                on_report(report)
    summary.seconds = time.perf_counter() - start
    return summary


def shortcomings(result: Result, *, allow_missing: bool = False) -> tuple[str, ...]:
    """In words, why a result is less than was asked for, with the way out; empty when all is well."""
    if result.outcome is Outcome.TRUNCATED:
        return (
            f"the answer was cut after {result.timings.answer_tokens} tokens; what is complete is kept. "
            "Give more with --max-tokens, or fewer pages with --pages.",
        )
    found = []
    if result.missing and not allow_missing:
        count = len(result.missing)
        fields = "1 required field is" if count == 1 else f"{count} required fields are"
        places = ", ".join(pointer or "/" for pointer in result.missing)
        found.append(f"{fields} not in the document, null in the output: {places}. --allow-missing accepts that.")
    found += [f"does not match the schema: {problem}" for problem in result.problems]
    return tuple(found)


@dataclass
class _Run:
    """What every document of one batch shares."""

    settings: Settings
    results: Results
    extractor: Extractor | None
    force: bool
    annotated: AnnotatedPages | None
    on_token: Callable[[Token], None] | None
    cancel: threading.Event | None
    models: ExitStack = field(default_factory=ExitStack)

    def one(self, item: Input) -> Report | None:
        """What became of `item`; None when it was cancelled."""
        start = time.perf_counter()
        changes: tuple[str, ...] = ()
        try:
            earlier = self.results.earlier(item)
            if earlier is not None:
                changes = _changes(earlier, item.path, self.settings)
                if not changes and not self.force:
                    self.results.keep(item, earlier)
                    error = self._annotate_skipped(item, earlier)
                    return Report(item, Status.SKIPPED, earlier, error, (), time.perf_counter() - start)
            with self._opened(item) as document:
                record = self._extract(item, document, start)
                if record is None:
                    return None
                self.results.write(item, record)
                error = self._annotate(item, document, record)
            return Report(item, Status.EXTRACTED, record, error, changes, time.perf_counter() - start)
        except (ModelError, DiskFullError, BrokenPipeError):
            raise
        except Exception as error:
            report = Report(item, Status.FAILED, None, error, changes, time.perf_counter() - start)
            self.results.fail(item, report.message, outdated=bool(changes))
            return report

    def _opened(self, item: Input) -> Document:
        settings = self.settings
        return Document.open(item.path, pages=settings.pages, password=settings.password, limits=settings.limits)

    def _extract(self, item: Input, document: Document, start: float) -> Record | None:
        state = FileState.of(item.path)
        settings = self.settings
        result = self._loaded().extract(
            document,
            settings.schema,
            max_new_tokens=settings.max_new_tokens,
            strict=settings.strict,
            text_layer=settings.text_layer,
            sampling=settings.sampling,
            on_token=self.on_token,
            cancel=self.cancel,
        )
        if result.outcome is Outcome.CANCELLED:
            return None
        return Record.of(item.path, result, settings, state=state, seconds=time.perf_counter() - start)

    def _loaded(self) -> Extractor:
        if self.extractor is None:  # not for a file that cannot be read anyway
            from forklift.extract import load

            self.extractor = self.models.enter_context(load(self.settings.model, dtype=self.settings.dtype))
        return self.extractor

    def _annotate(self, item: Input, document: Document, record: Record) -> Exception | None:
        """The result stands whatever becomes of its pictures, so their error is handed back."""
        if self.annotated is None:
            return None
        try:
            self.annotated.write(item, document, record.result)
        except DiskFullError:
            raise
        except Exception as error:
            return error
        return None

    def _annotate_skipped(self, item: Input, record: Record) -> Exception | None:
        """Pages that an earlier run did not draw are drawn from its record, without the model."""
        if self.annotated is None or self.annotated.has(item, record.result):
            return None
        with self._opened(item) as document:
            return self._annotate(item, document, record)


def _changes(earlier: Record, path: Path, settings: Settings) -> tuple[str, ...]:
    try:
        return earlier.changes(path, settings)
    except OSError:
        return ("the file",)  # it has gone, or may no longer be read: opening it says so


def _count(summary: Summary, report: Report, allow_missing: bool) -> None:
    name = str(report.item.path)
    if report.status is Status.FAILED:
        summary.failed.append((name, report.message))
        return
    assert report.record is not None
    if report.status is Status.SKIPPED:
        summary.skipped += 1
    else:
        summary.extracted += 1
        summary.again += bool(report.changes)
    reasons = shortcomings(report.record.result, allow_missing=allow_missing)
    if report.error is not None:
        reasons = (*reasons, f"its pages could not be annotated: {report.message}")
    if reasons:
        summary.incomplete.append((name, " ".join(reasons)))
