"""Progress of long work in steps of unequal size, with the time left; on stderr, and only on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID


class StepBar:
    """`show` has the signature that the quantiser calls: work done, all work, what comes next."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
                # Steps of a large model take minutes; the estimate needs more than the last half minute.
                speed_estimate_period=3600,
            )
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.stop()

    def show(self, done: float, total: float, label: str) -> None:
        bar, task = self._bar, self._task
        if bar is not None and task is not None:
            bar.update(task, completed=done, total=total, description=label)
