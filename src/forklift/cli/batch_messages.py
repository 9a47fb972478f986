"""What the user is told while a batch runs and when it ends."""

from __future__ import annotations

from collections.abc import Sequence

from forklift.batch import Report, Status, Summary, shortcomings
from forklift.cli.console import ProgressBar, duration
from forklift.errors import ForkliftError
from forklift.inputs import Input

_MOST_LISTED = 20  # in the summary; each was told when it happened


class BatchMessages:
    """Speaks through `progress`.

    inputs: how many. schema: its name, by which its own warnings are known. kept: where results of an interrupted
    run can be found again; None for stdout. quiet: only what failed is told.
    """

    def __init__(
        self,
        progress: ProgressBar,
        *,
        inputs: int,
        schema: str,
        kept: str | None,
        allow_missing: bool,
        quiet: bool,
    ) -> None:
        self._progress = progress
        self._inputs = inputs
        self._schema = schema
        self._kept = kept
        self._allow_missing = allow_missing
        self._quiet = quiet
        self._said: set[object] = set()
        self._done = 0

    def start(self, item: Input) -> None:
        self._progress.describe(str(item.path))

    def report(self, report: Report) -> None:
        """One input is done."""
        self._done += 1
        path = report.item.path
        if report.status is Status.FAILED:
            self._progress.say(f"{path}: {report.message}")
        elif report.error is not None:
            self._progress.say(f"{path}: its pages could not be annotated: {report.message}")
        if report.record is not None:
            self._tell_warnings(report)
            for shortcoming in shortcomings(report.record.result, allow_missing=self._allow_missing):
                self._progress.say(f"{path}: {shortcoming}")
        if report.changes and report.status is Status.EXTRACTED:
            changed = " and ".join(report.changes)
            self._once(f"{path}: was read again, for {changed} changed since; so is what else this concerns.", changed)
        if report.status is Status.EXTRACTED and self._inputs > 1 and not self._progress.shown and not self._quiet:
            self._progress.say(f"[{self._done}/{self._inputs}] {path}: {duration(report.seconds)}")
        if report.status is Status.SKIPPED and self._inputs == 1 and not self._quiet:
            self._progress.say(f"{path}: was finished before, and nothing changed since; --force reads it again.")
        self._progress.finish_file(report.seconds, worked=report.status is not Status.SKIPPED)

    def summarise(self, summary: Summary, problems: Sequence[str]) -> None:
        """The last words of a batch of several inputs. problems: of inputs that named no document."""
        if self._inputs + len(problems) < 2 or self._quiet:
            return
        parts = [f"{summary.extracted} extracted"]
        if summary.again:
            parts[0] += f" ({summary.again} again, being outdated)"
        if summary.skipped:
            parts.append(f"{summary.skipped} finished before (--force reads them again)")
        if summary.incomplete:
            parts.append(f"{len(summary.incomplete)} of them incomplete")
        failed = [f"{name}: {reason}" for name, reason in summary.failed] + list(problems)
        parts.append(f"{len(failed)} failed")
        self._progress.stop()
        self._progress.say(f"{self._inputs} documents in {duration(summary.seconds)}: {', '.join(parts)}.")
        self._list("incomplete", [f"{name}: {reason}" for name, reason in summary.incomplete])
        self._list("failed", failed)

    def interrupted(self) -> str:
        """The last words after Ctrl-C."""
        return f"interrupted{self._so_far()}"

    def stopped(self, error: ForkliftError) -> str:
        """What to say of an error that ended the run before its end."""
        return f"{error}{self._so_far()}"

    def _so_far(self) -> str:
        if self._inputs < 2:
            return ""
        if self._kept is None:
            return f" after {self._done} of {self._inputs} documents"
        return (
            f" after {self._done} of {self._inputs} documents, which are kept in {self._kept}; "
            "the same command goes on from there."
        )

    def _tell_warnings(self, report: Report) -> None:
        assert report.record is not None
        if self._quiet or report.status is Status.SKIPPED:
            return
        for warning in report.record.result.warnings:
            if self._inputs > 1 and warning.startswith(f"{self._schema}: "):
                self._once(f"{warning}.", warning)  # the same for every document
            else:
                self._progress.say(f"{report.item.path}: {warning}.")

    def _once(self, message: str, about: object) -> None:
        if about not in self._said and not self._quiet:
            self._said.add(about)
            self._progress.say(message)

    def _list(self, word: str, entries: Sequence[str]) -> None:
        for entry in entries[:_MOST_LISTED]:
            self._progress.say(f"{word}: {entry}")
        if len(entries) > _MOST_LISTED:
            self._progress.say(f"{word}: and {len(entries) - _MOST_LISTED} more, named above.")
