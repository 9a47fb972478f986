"""Training data from a second process, so that drawing pages does not wait for arithmetic or the other way round."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any


def _produce(
    queue: Any, make: Callable[[int, float], Any], progress: Any, first: int, stride: int, cores: set[int]
) -> None:
    os.nice(5)
    if cores:
        os.sched_setaffinity(0, cores)
    index = first
    while True:
        queue.put((index, make(index, progress.value)))
        index += stride


class Feed:
    """Calls make(index, progress) for index = first, first + 1, ... in other processes, in order per process.

    Start it before torch starts threads: the processes are forked. `progress` (0-1) steers a curriculum.
    """

    def __init__(
        self,
        make: Callable[[int, float], Any],
        first: int,
        *,
        processes: int = 1,
        ahead: int = 8,
        cores: set[int] = frozenset(),  # type: ignore[assignment]
    ) -> None:
        context = multiprocessing.get_context("fork")
        self._queue = context.Queue(ahead)
        self._progress = context.Value("d", 0.0)
        self._processes = [
            context.Process(
                target=_produce,
                args=(self._queue, make, self._progress, first + offset, processes, set(cores)),
                daemon=True,
            )
            for offset in range(processes)
        ]
        for process in self._processes:
            process.start()
        self.next_index = first

    @property
    def waiting(self) -> bool:
        """Something is ready."""
        return not self._queue.empty()

    def get(self, progress: float) -> Any:
        self._progress.value = progress
        index, item = self._queue.get()
        self.next_index = max(self.next_index, index + 1)
        return item

    def close(self) -> None:
        for process in self._processes:
            process.terminate()
