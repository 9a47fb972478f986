"""How much a figure could have come out otherwise, had the dataset held other documents of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

RESAMPLES = 10_000
MAX_DRAWS = 20_000_000  # of documents; beyond, fewer resamples: with so many documents, an interval is narrow anyway
CONFIDENCE = 0.95
_CELLS_AT_ONCE = 2_000_000  # of the resampling weights, 16 MB


@dataclass(frozen=True)
class Interval:
    """A figure with its bootstrap interval. share_not_above: of the resamples in which it was zero or less."""

    value: float
    low: float
    high: float
    share_not_above: float


def ratio_interval(parts: Sequence[float], wholes: Sequence[float], *, seed: int = 0) -> Interval | None:
    """Of sum(parts) / sum(wholes) over documents drawn with replacement, 95 %. None where there is no whole."""
    return difference_interval(parts, wholes, None, None, seed=seed)


def difference_interval(
    parts: Sequence[float],
    wholes: Sequence[float],
    other_parts: Sequence[float] | None,
    other_wholes: Sequence[float] | None,
    *,
    seed: int = 0,
) -> Interval | None:
    """Of sum(other_parts) / sum(other_wholes) - sum(parts) / sum(wholes), where each resample draws the same documents
    for both (paired). Without others, of the first ratio alone. None where a whole is zero.
    """
    import numpy as np

    columns = [parts, wholes] + ([other_parts, other_wholes] if other_parts is not None else [])
    table = np.array(columns, np.float64).T  # [documents, 2 or 4]
    sums = table.sum(axis=0)
    if len(table) == 0 or (sums[1::2] <= 0).any():
        return None
    generator = np.random.default_rng(seed)
    documents = len(table)
    step = max(1, _CELLS_AT_ONCE // documents)
    resamples = max(1000, min(RESAMPLES, MAX_DRAWS // documents))
    drawn = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = generator.multinomial(documents, np.full(documents, 1 / documents), size=size)
        drawn.append(weights @ table)
    resampled = np.concatenate(drawn)

    def figure(totals: Any) -> Any:
        shares = totals[..., 0::2] / np.maximum(totals[..., 1::2], 1e-300)
        return shares[..., 1] - shares[..., 0] if shares.shape[-1] == 2 else shares[..., 0]

    # A resample may hold only documents without anything to count: it says nothing.
    figures = figure(resampled[(resampled[:, 1::2] > 0).all(axis=1)])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(figures, [tail, 1 - tail])
    return Interval(float(figure(sums)), float(low), float(high), float((figures <= 0).mean()))
