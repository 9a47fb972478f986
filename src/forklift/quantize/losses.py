"""What each width would cost a matrix: it is rounded at every width, and the errors are weighed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from forklift.quantize.plan import WIDTHS
from forklift.quantize.rounding import Curvature, Rounder, error_cost
from forklift.quantize.sensitivity import Sensitivity

# Rows of a large matrix that stand for all of it.
_ROWS = 512


def expected_losses(
    sensitivity: Sensitivity, rows: int, read: Callable[[Tensor], Tensor], device: torch.device | str = "cpu"
) -> tuple[float, ...]:
    """Expected loss in nats per answer token at each of WIDTHS, with the rounding that `quantize` does.

    read: row numbers [n] -> these rows of the weight, float [n, columns].
    """
    chosen, shares = _representatives(sensitivity.row_weights, rows)
    weight = read(chosen).to(device).float()
    moments = sensitivity.moments.to(device)
    rounder = Rounder(Curvature(moments))
    losses = []
    for bits in WIDTHS:
        error = rounder.round(weight, bits).dequantized() - weight
        losses.append(float((error_cost(error, moments).cpu().double() * shares).sum().clamp(min=0)))
    return tuple(losses)


def _representatives(weights: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Row numbers, and for each the weight of all the rows that it stands for."""
    weights = weights.double()
    if rows <= _ROWS:
        return torch.arange(rows), weights
    # Evenly spaced along the running sum: heavy rows are certain to be among them.
    total = weights.cumsum(0)
    places = (torch.arange(_ROWS, dtype=torch.float64) + 0.5) / _ROWS * total[-1]
    chosen = torch.searchsorted(total, places).clamp(max=rows - 1)
    unique, counts = chosen.unique(return_counts=True)
    return unique, counts * total[-1] / _ROWS
