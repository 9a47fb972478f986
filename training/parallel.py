"""Training in several processes of one thread each, every one on its share of the batch.

Two threads in one process leave a third of two cores idle: most operations of so small a model are too short to be
split. Two processes that meet once a step do not, docs/log.md.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn


class Peers:
    """The processes of one run; this one is number `rank` of `count`."""

    def __init__(self, rank: int = 0, count: int = 1, meeting: Path | None = None) -> None:
        self.rank = rank
        self.count = count
        if meeting is not None:
            import torch.distributed

            torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=count)

    def average_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the mean of all processes' gradients; no gradient counts as zero."""
        if self.count == 1:
            return
        import torch
        import torch.distributed

        parameters = list(parameters)
        pieces = [p.new_zeros(p.numel()) if p.grad is None else p.grad.flatten() for p in parameters]
        joined = torch.cat(pieces)
        torch.distributed.all_reduce(joined)
        joined /= self.count
        for parameter, piece in zip(parameters, joined.split([p.numel() for p in parameters]), strict=True):
            parameter.grad = piece.view_as(parameter)

    def agree(self, value: float) -> float:
        """The mean of a number over all processes, so that all take the same decision from it."""
        if self.count == 1:
            return value
        import torch
        import torch.distributed

        tensor = torch.tensor(value, dtype=torch.float64)
        torch.distributed.all_reduce(tensor)
        return tensor.item() / self.count


def run(count: int, work: Callable[[Peers], None]) -> None:
    """Call work(peers) in `count` processes: this one and forks of it. Call it before torch starts threads."""
    if count == 1:
        work(Peers())
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting = Path(folder) / "meeting"
        context = multiprocessing.get_context("fork")
        others = [
            context.Process(target=lambda rank: work(Peers(rank, count, meeting)), args=(rank,))
            for rank in range(1, count)
        ]
        for process in others:
            process.start()
        try:
            work(Peers(0, count, meeting))
        finally:
            for process in others:
                process.join(timeout=30)
                process.terminate()
