"""What the user sees beside the data: messages and progress, all of it on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from forklift.errors import ForkliftError

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID


def say(message: str) -> None:
    """One message on stderr, as "forklift: ..."."""
    sys.stderr.write(f"forklift: {message}\n")
    sys.stderr.flush()


@contextmanager
def reported_errors() -> Iterator[None]:
    """End the command with a message and the error's exit code for whatever Forklift raises on purpose."""
    import typer

    from forklift.cli.interrupt import INTERRUPTED, Interrupted

    try:
        yield
    except ForkliftError as error:
        say(str(error))
        raise typer.Exit(error.exit_code) from None
    except Interrupted as interrupted:
        say(str(interrupted) or "interrupted")
        raise typer.Exit(INTERRUPTED) from None


def duration(seconds: float) -> str:
    """ "0.4 s", "12 s", "3 min 5 s", "2 h 10 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class ProgressBar:
    """Files done, tokens of the one being read, and an estimate.

    Shows nothing unless stderr is a terminal, nor when `hidden`.
    """

    def __init__(self, files: int, *, hidden: bool = False) -> None:
        self._hidden = hidden
        self._files = files
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._tokens = 0
        self._done = 0
        self._worked = 0  # files that took work, and how long: those skipped say nothing about the rest
        self._seconds = 0.0

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._hidden:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
            )

            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[tokens]} tokens"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,  # the data goes out as bytes, past rich
                redirect_stderr=False,
            )
            self._task = self._bar.add_task("", total=self._files, tokens=0, left="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def shown(self) -> bool:
        """Whether there is a bar, which makes a line for every file needless."""
        return self._bar is not None

    def stop(self) -> None:
        """Take the bar away; data or the last message may follow. Does nothing the second time."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.stop()

    def describe(self, text: str) -> None:
        if self._bar is not None and self._task is not None:
            self._tokens = 0
            short = text if len(text) <= 40 else f"…{text[-39:]}"  # the end of a path tells more
            self._bar.update(self._task, description=short, tokens=0)

    def count_token(self) -> None:
        self._tokens += 1
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, tokens=self._tokens)

    def finish_file(self, seconds: float = 0.0, *, worked: bool = True) -> None:
        """seconds: that the file took. worked: False when it was skipped."""
        self._done += 1
        self._worked += worked
        self._seconds += seconds * worked
        if self._bar is not None and self._task is not None:
            rest = self._files - self._done
            left = f"about {duration(self._seconds / self._worked * rest)} left" if self._worked and rest else ""
            self._bar.update(self._task, advance=1, left=left)

    def say(self, message: str) -> None:
        """A message above the bar."""
        if self._bar is not None:
            self._bar.console.print(f"forklift: {message}", markup=False, highlight=False, soft_wrap=True)
        else:
            say(message)
