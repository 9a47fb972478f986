"""Training data from another process, so that drawing pages does not wait for arithmetic or the other way round."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any


def _produce(queue: Any, make: Callable[[int, float], Any], progress: Any, first: int, stride: int) -> None:
    os.nice(5)
    index = first
    while True:
        queue.put((index, make(index, progress.value)))
        index += stride


class Feed:
    """Calls make(index, progress) for index = first, first + stride, ... in another process, in this order.

    Start it before torch starts threads: the process is forked. `progress` (0-1) steers a curriculum.
    """

    def __init__(self, make: Callable[[int, float], Any], first: int, *, stride: int = 1, ahead: int = 8) -> None:
        context = multiprocessing.get_context("fork")
        self._queue = context.Queue(ahead)
        self._progress = context.Value("d", 0.0)
        self._process = context.Process(
            target=_produce, args=(self._queue, make, self._progress, first, stride), daemon=True
        )
        self._process.start()
        self._stride = stride
        self.next_index = first

    @property
    def waiting(self) -> bool:
        """Something is ready."""
        return not self._queue.empty()

    def get(self, progress: float) -> Any:
        self._progress.value = progress
        index, item = self._queue.get()
        self.next_index = index + self._stride
        return item

    def close(self) -> None:
        self._process.terminate()
