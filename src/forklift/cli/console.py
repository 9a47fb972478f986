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
    except Interrupted:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None


class ProgressBar:
    """Files done, and tokens of the one being read; shows nothing unless stderr is a terminal."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._tokens = 0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
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
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,  # the data goes out as bytes, past rich
                redirect_stderr=False,
            )
            self._task = self._bar.add_task("", total=self._files, tokens=0)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away; data or the last message may follow. Does nothing the second time."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.stop()

    def describe(self, text: str) -> None:
        if self._bar is not None and self._task is not None:
            self._tokens = 0
            self._bar.update(self._task, description=text, tokens=0)

    def count_token(self) -> None:
        self._tokens += 1
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, tokens=self._tokens)

    def finish_file(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)

    def say(self, message: str) -> None:
        """A message above the bar."""
        if self._bar is not None:
            self._bar.console.print(f"forklift: {message}", markup=False, highlight=False, soft_wrap=True)
        else:
            say(message)
