"""How many bits each matrix gets: the choice of least expected loss whose bytes fit, found exactly. Without torch.

Each matrix has one loss and one size for every width, the sizes must fit a budget together: a multiple-choice
knapsack. All sizes are multiples of a common unit (a matrix of n weights grows by n / 8 bytes a bit), so dynamic
programming over units is exact and takes seconds for a 9B model. A budget of too many units is rounded to coarser
ones, sizes upwards; what that leaves over is then spent by exchanges of one or two matrices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forklift.checkpoint.config import QUANTIZATION_BITS
from forklift.errors import CheckpointError, UsageError
from forklift.quantize.levels import Matrix

WIDTHS = QUANTIZATION_BITS
# Cells of one dynamic programming row: 250 rows of these take 125 MB and a few seconds.
_MAX_UNITS = 500_000


@dataclass(frozen=True)
class PlannedMatrix:
    """losses: expected loss in nats per answer token at each of WIDTHS; None where nothing was measured."""

    matrix: Matrix
    bits: int
    losses: tuple[float, ...] | None

    @property
    def stored_bytes(self) -> int:
        return self.matrix.stored_bytes(self.bits)

    @property
    def loss(self) -> float | None:
        return None if self.losses is None else self.losses[WIDTHS.index(self.bits)]


@dataclass(frozen=True)
class Plan:
    """Widths of all matrices, with what they were chosen under. `fixed_bytes` is what the rest of the tensors takes.

    level: its name, or "" for a budget without one. method: "calibrated" or "uniform".
    calibration: id of the calibration artifact, or "".
    """

    matrices: tuple[PlannedMatrix, ...]
    budget_bytes: int
    fixed_bytes: int
    level: str = ""
    method: str = "calibrated"
    calibration: str = ""
    vision_bits: int | None = None

    @property
    def stored_bytes(self) -> int:
        return sum(planned.stored_bytes for planned in self.matrices)

    @property
    def total_bytes(self) -> int:
        return self.stored_bytes + self.fixed_bytes

    @property
    def bits_per_weight(self) -> float:
        """Of the quantised matrices, scales and biases included."""
        return 8 * self.stored_bytes / sum(planned.matrix.weights for planned in self.matrices)

    @property
    def loss(self) -> float | None:
        """Expected mean KL divergence in nats per answer token; None without a calibration."""
        losses = [planned.loss for planned in self.matrices]
        return None if None in losses else math.fsum(loss for loss in losses if loss is not None)

    @property
    def bits(self) -> dict[str, int]:
        return {planned.matrix.path: planned.bits for planned in self.matrices}

    @property
    def base_bits(self) -> int:
        """The width that most matrices have; config.json names the others."""
        counts = {bits: sum(planned.bits == bits for planned in self.matrices) for bits in WIDTHS}
        return max(counts, key=lambda bits: (counts[bits], bits))

    def uniform(self, bits: int) -> tuple[int, float | None]:
        """Bytes of the matrices, and their expected loss, if all had the same width (rounded by the same method)."""
        index = WIDTHS.index(bits)
        losses = [planned.losses[index] for planned in self.matrices if planned.losses is not None]
        whole = len(losses) == len(self.matrices)
        return (
            sum(planned.matrix.stored_bytes(bits) for planned in self.matrices),
            math.fsum(losses) if whole else None,
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, and the same budget spent uniformly, for people and for `read_plan`."""
        return {
            "level": self.level,
            "method": self.method,
            "calibration": self.calibration,
            "vision_bits": self.vision_bits,
            "budget_bytes": self.budget_bytes,
            "fixed_bytes": self.fixed_bytes,
            "stored_bytes": self.stored_bytes,
            "total_bytes": self.total_bytes,
            "bits_per_weight": self.bits_per_weight,
            "expected_loss": self.loss,
            "uniform": [
                {"bits": bits, "stored_bytes": self.uniform(bits)[0], "expected_loss": self.uniform(bits)[1]}
                for bits in WIDTHS
            ],
            "matrices": [
                {
                    "path": planned.matrix.path,
                    "shape": [planned.matrix.rows, planned.matrix.columns],
                    "bits": planned.bits,
                    "stored_bytes": planned.stored_bytes,
                    "expected_loss": planned.loss,
                    "losses": None
                    if planned.losses is None
                    else dict(zip(map(str, WIDTHS), planned.losses, strict=True)),
                }
                for planned in self.matrices
            ],
        }


def write_plan(plan: Plan, path: Path) -> None:
    """Raises UsageError where the file cannot be written."""
    try:
        path.write_text(json.dumps(plan.to_json(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def make_plan(
    matrices: Sequence[Matrix],
    losses: Mapping[str, Sequence[float]],
    budget_bytes: int,
    *,
    fixed_bytes: int = 0,
    level: str = "",
    calibration: str = "",
    vision_bits: int | None = None,
) -> Plan:
    """The widths of least total loss whose codes, scales and biases take at most `budget_bytes` together.

    losses: by module path, one for each of WIDTHS.
    Raises UsageError where even the smallest widths do not fit, CheckpointError, naming the matrix, where a loss is
    missing or no finite number.
    """
    _check(matrices, losses, budget_bytes)
    table = np.array([losses[matrix.path] for matrix in matrices], dtype=np.float64)
    sizes = np.array([[matrix.stored_bytes(bits) for bits in WIDTHS] for matrix in matrices], dtype=np.int64)
    chosen = choose_widths(table, sizes, budget_bytes)
    return Plan(
        tuple(
            PlannedMatrix(matrix, WIDTHS[index], tuple(map(float, losses[matrix.path])))
            for matrix, index in zip(matrices, chosen, strict=True)
        ),
        budget_bytes,
        fixed_bytes,
        level=level,
        calibration=calibration,
        vision_bits=vision_bits,
    )


def uniform_plan(
    matrices: Sequence[Matrix],
    budget_bytes: int,
    *,
    fixed_bytes: int = 0,
    level: str = "",
    vision_bits: int | None = None,
) -> Plan:
    """The largest width that fits when all matrices have the same. Raises UsageError where none does."""
    fitting = [bits for bits in WIDTHS if sum(matrix.stored_bytes(bits) for matrix in matrices) <= budget_bytes]
    if not fitting:
        raise UsageError(_too_small(matrices, budget_bytes))
    planned = tuple(PlannedMatrix(matrix, fitting[-1], None) for matrix in matrices)
    return Plan(planned, budget_bytes, fixed_bytes, level=level, method="uniform", vision_bits=vision_bits)


def _check(matrices: Sequence[Matrix], losses: Mapping[str, Sequence[float]], budget_bytes: int) -> None:
    for matrix in matrices:
        of_matrix = losses.get(matrix.path)
        if of_matrix is None or len(of_matrix) != len(WIDTHS):
            raise CheckpointError(f"the calibration has no losses for {matrix.path}; calibrate again")
        if not all(math.isfinite(loss) and loss >= 0 for loss in of_matrix):
            raise CheckpointError(f"the calibration's losses of {matrix.path} are no finite numbers: {list(of_matrix)}")
    if sum(matrix.stored_bytes(WIDTHS[0]) for matrix in matrices) > budget_bytes:
        raise UsageError(_too_small(matrices, budget_bytes))


def _too_small(matrices: Sequence[Matrix], budget_bytes: int) -> str:
    smallest = sum(matrix.stored_bytes(WIDTHS[0]) for matrix in matrices)
    return (
        f"{budget_bytes:,} bytes for {len(matrices)} matrices are too few: at {WIDTHS[0]} bits they take {smallest:,}; "
        "give a larger budget"
    )


def choose_widths(losses: np.ndarray, sizes: np.ndarray, budget: int, max_units: int = _MAX_UNITS) -> list[int]:
    """One column for each row, so that the chosen sizes add up to at most `budget` and the losses are least.

    losses: float [matrices, widths]. sizes: int [matrices, widths], ascending in each row; the first column fits.
    Exact while the budget has at most `max_units` units; otherwise within what the last exchanges find.
    """
    if sizes[:, -1].sum() <= budget and bool((losses[:, -1:] <= losses).all()):
        return [losses.shape[1] - 1] * len(losses)
    extra = sizes - sizes[:, :1]
    room = int(min(budget - sizes[:, 0].sum(), extra[:, -1].sum()))
    unit = math.gcd(*map(int, extra.ravel())) or 1
    exact = room // unit <= max_units
    if not exact:
        unit = -(-room // max_units)
    steps = -(-extra // unit)
    chosen = _solve(losses, steps, room // unit)
    if not exact:
        _exchange(losses, sizes, chosen, budget)
    return chosen


def _solve(losses: np.ndarray, steps: np.ndarray, capacity: int) -> list[int]:
    """The knapsack in whole units: best[c] is the least loss of the matrices so far with at most c units."""
    count, widths = losses.shape
    best = np.zeros(capacity + 1)
    picks = np.zeros((count, capacity + 1), dtype=np.uint8)
    for row in range(count):
        total = best + losses[row, 0]
        for width in range(1, widths):
            step = int(steps[row, width])
            if step > capacity:
                break
            candidate = best[: capacity + 1 - step] + losses[row, width]
            better = candidate < total[step:]
            total[step:][better] = candidate[better]
            picks[row, step:][better] = width
        best = total
    chosen = [0] * count
    left = capacity
    for row in reversed(range(count)):
        chosen[row] = int(picks[row, left])
        left -= int(steps[row, chosen[row]])
    return chosen


def _exchange(losses: np.ndarray, sizes: np.ndarray, chosen: list[int], budget: int) -> None:
    """Change one matrix, or two together, as long as that lowers the loss within the budget; best change first."""
    count, widths = losses.shape
    rows = np.arange(count)
    while True:
        picks = np.array(chosen)
        gain = (losses[rows, picks][:, None] - losses).ravel()
        cost = (sizes - sizes[rows, picks][:, None]).ravel()
        room = budget - int(sizes[rows, picks].sum())
        owner = rows.repeat(widths)
        # A change of one matrix is a pair with the change of another to what it has already.
        total = np.where(
            (cost[:, None] + cost[None] <= room) & (owner[:, None] != owner[None]), gain[:, None] + gain[None], -np.inf
        )
        first, second = np.unravel_index(int(total.argmax()), total.shape)
        if not total[first, second] > 1e-12 * max(1.0, float(losses[rows, picks].sum())):
            return
        for place in (int(first), int(second)):
            chosen[place // widths] = place % widths
