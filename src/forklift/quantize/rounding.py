"""Matrices into codes, scales and biases: as MLX does it, or with all three fitted to what errors cost.

What an error costs is a quadratic form: sum over rows of dw H dw^T, dw the error of a row, H [columns, columns] the
second moment of the matrix's inputs, in blocks along the diagonal (or only its diagonal, or nothing: the identity).

1. Column by column, from the left: round, then move the error onto the columns still to come, as far as H says that
   they can make up for it (the feedback of GPTQ). At the start of each group its scale and bias are fitted.
2. Fitting a group: alternate between codes (nearest to scale and bias, as stored in bfloat16) and scale and bias (least
   squares given the codes, rounded to bfloat16, the bias after the scale); several starting ranges; keep the best.
3. Sweeps over the result: for each group scale and bias again, now against the whole of H, then each column's best
   code given all others. No step is kept that makes the cost larger.

All arrays have the matrix transposed, [columns, rows]: columns are worked through one by one, rows are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from forklift.errors import CheckpointError
from forklift.model.linear import Packed, pack_codes
from forklift.quantize.levels import GROUP_SIZE

# Added to the diagonal of H, as a share of its mean: columns that hardly any input uses would else take all errors.
DAMPING = 0.01
SWEEPS = 2
# Rows worked on at a time: their columns of one group stay in the processor's cache.
_ROWS_AT_ONCE = 2048


@dataclass(frozen=True, eq=False)
class Curvature:
    """What the errors of one matrix cost, for rounding: undamped second moments of its inputs.

    blocks: float32 [count, size, size], symmetric, along the diagonal; size is a multiple of the group size, and
        count * size is the number of columns.
    """

    blocks: Tensor

    @classmethod
    def diagonal(cls, moments: Tensor) -> Curvature:
        """From the diagonal alone, float [columns]."""
        return cls(torch.diag_embed(moments.float().reshape(-1, GROUP_SIZE)))

    @classmethod
    def identity(cls, columns: int) -> Curvature:
        """All errors cost the same."""
        return cls.diagonal(torch.ones(columns))

    @property
    def columns(self) -> int:
        return self.blocks.shape[0] * self.blocks.shape[1]


@dataclass(frozen=True, eq=False)
class Rounded:
    """codes: uint8 [rows, columns]; scales, biases: bfloat16 [rows, columns / GROUP_SIZE]."""

    codes: Tensor
    scales: Tensor
    biases: Tensor

    def dequantized(self) -> Tensor:
        """float32 [rows, columns]."""
        groups = self.codes.unflatten(-1, (-1, GROUP_SIZE)).float()
        return (groups * self.scales.float().unsqueeze(-1) + self.biases.float().unsqueeze(-1)).flatten(-2)

    def packed(self, bits: int) -> Packed:
        return Packed(pack_codes(self.codes, bits), self.scales, self.biases, bits, GROUP_SIZE)


def round_min_max(weight: Tensor, bits: int) -> Rounded:
    """What `mlx.core.quantize` gives, bit for bit: the baseline.

    weight: float [rows, columns]. The scale spans the group's range; it is turned so that the end of larger magnitude
    falls on a whole multiple of it, and the codes are taken before scale and bias are rounded to bfloat16.
    """
    groups = weight.float().unflatten(-1, (-1, GROUP_SIZE))
    low, high = groups.aminmax(dim=-1, keepdim=True)
    top = 2**bits - 1
    step = ((high - low) / top).clamp(min=1e-7)
    negative = low.abs() > high.abs()
    step = torch.where(negative, step, -step)
    edge = torch.where(negative, low, high)
    multiple = (edge / step).round()
    step = torch.where(multiple != 0, edge / torch.where(multiple != 0, multiple, 1.0), step)
    bias = torch.where(multiple != 0, edge, 0.0)
    codes = ((groups - bias) / step).round().clamp(0, top).to(torch.uint8)
    return Rounded(codes.flatten(-2), step.squeeze(-1).bfloat16(), bias.squeeze(-1).bfloat16())


class Rounder:
    """Rounds rows of one matrix under its curvature; what depends on the curvature alone is computed once."""

    def __init__(self, curvature: Curvature, *, damping: float = DAMPING, sweeps: int = SWEEPS) -> None:
        """Raises CheckpointError where the curvature is no finite, positive form."""
        blocks = curvature.blocks.float()
        mean = blocks.diagonal(dim1=-2, dim2=-1).mean()
        if not torch.isfinite(blocks).all() or mean < 0:
            raise CheckpointError("the calibration holds NaN, infinity or a negative moment; calibrate again")
        mean = mean if mean > 0 else torch.ones_like(mean)  # a matrix that no sample used
        self._moments = blocks + damping * mean * torch.eye(blocks.shape[-1], device=blocks.device)
        self._factors = torch.stack([_feedback_factor(block) for block in self._moments])
        self._sweeps = sweeps

    def round(self, weight: Tensor, bits: int) -> Rounded:
        """weight: float [rows, columns], finite."""
        parts = [self._round_rows(rows, bits) for rows in weight.split(_ROWS_AT_ONCE)]
        return Rounded(*(torch.cat([getattr(part, name) for part in parts]) for name in ("codes", "scales", "biases")))

    def _round_rows(self, weight: Tensor, bits: int) -> Rounded:
        columns = weight.float().t().contiguous()
        size = self._moments.shape[-1]
        blocks = [
            _round_block(part, moments, factor, bits, self._sweeps)
            for part, moments, factor in zip(columns.split(size), self._moments, self._factors, strict=True)
        ]
        codes, scales, biases = (torch.cat(parts).t().contiguous() for parts in zip(*blocks, strict=True))
        return Rounded(codes, scales, biases)


def error_cost(error: Tensor, moments: Tensor) -> Tensor:
    """dw H dw^T of each row, float32 [rows]. error: float32 [rows, columns]; moments: [blocks, size, size]."""
    parts = error.unflatten(-1, (-1, moments.shape[-1])).transpose(0, 1)  # [blocks, rows, size]
    return ((parts @ moments) * parts).sum((0, 2))


def _feedback_factor(moments: Tensor) -> Tensor:
    """Upper triangular U with U^T U = inverse of `moments`: row j says how an error of column j is made up for."""
    identity = torch.eye(moments.shape[0], device=moments.device)
    for _ in range(8):
        lower, failed = torch.linalg.cholesky_ex(moments)
        if not failed:
            upper, failed = torch.linalg.cholesky_ex(torch.cholesky_inverse(lower), upper=True)
            if not failed:
                return upper
        # Moments of few inputs, stored in 16 bits, may be slightly indefinite.
        moments = moments + 0.05 * moments.diagonal().mean() * identity
    raise CheckpointError("the calibration's second moments are no positive form; calibrate again")


def _round_block(columns: Tensor, moments: Tensor, factor: Tensor, bits: int, sweeps: int) -> tuple[Tensor, ...]:
    """columns: float32 [size, rows]. Returns codes uint8 [size, rows], scales and biases bfloat16 [groups, rows]."""
    size = columns.shape[0]
    work = columns.clone()
    codes = torch.empty_like(columns)
    scales, biases = (columns.new_empty(size // GROUP_SIZE, columns.shape[1]) for _ in range(2))
    for group, start in enumerate(range(0, size, GROUP_SIZE)):
        end = start + GROUP_SIZE
        part = work[start:end]
        # What is left of an error of column j after the columns to come have made up for it costs 1 / U[j, j] ** 2.
        weights = factor.diagonal()[start:end].reciprocal().square()
        scale, bias = fit_group(part, weights, bits)
        errors = _round_columns(part, codes[start:end], scale, bias, factor[start:end, start:end], bits)
        work[end:].addmm_(factor[start:end, end:].t(), errors, alpha=-1)
        scales[group], biases[group] = scale, bias
    if sweeps:
        expanded_scales, expanded_biases = (x.repeat_interleave(GROUP_SIZE, 0) for x in (scales, biases))
        error = codes * expanded_scales + expanded_biases - columns
        for _ in range(sweeps):
            for group, start in enumerate(range(0, size, GROUP_SIZE)):
                rows = slice(start, start + GROUP_SIZE)
                _improve_group(error, columns[rows], codes[rows], scales[group], biases[group], moments, start, bits)
    return codes.to(torch.uint8), scales.bfloat16(), biases.bfloat16()


def _round_columns(part: Tensor, codes: Tensor, scale: Tensor, bias: Tensor, factor: Tensor, bits: int) -> Tensor:
    """Round the columns of one group in turn, each error moved onto those after it; fills `codes`.

    Returns the errors divided by the factor's diagonal, [GROUP_SIZE, rows], for the columns of later groups.
    """
    inverse = _reciprocal(scale)
    top = 2**bits - 1
    errors = torch.empty_like(part)
    diagonal = factor.diagonal().tolist()
    for j in range(GROUP_SIZE):
        code = torch.sub(part[j], bias, out=codes[j]).mul_(inverse).round_().clamp_(0, top)
        torch.addcmul(bias, code, scale, out=errors[j])
        torch.sub(part[j], errors[j], out=errors[j]).div_(diagonal[j])
        if j + 1 < GROUP_SIZE:
            part[j + 1 :].addr_(factor[j, j + 1 :], errors[j], alpha=-1)
    return errors


def _improve_group(
    error: Tensor,
    columns: Tensor,
    codes: Tensor,
    scale: Tensor,
    bias: Tensor,
    moments: Tensor,
    start: int,
    bits: int,
) -> None:
    """One sweep over one group, in place: `error` of the whole block, codes, scale and bias of the group."""
    end = start + GROUP_SIZE
    own = moments[start:end, start:end]
    slope = moments[start:end] @ error  # half the gradient of the cost, [GROUP_SIZE, rows]
    # Scale and bias: the error changes by a * code + b; the cost is quadratic in (a, b).
    curved = own @ codes
    flat = own.sum(1)
    aa, ab, bb = (codes * curved).sum(0), curved.sum(0), flat.sum()
    ga, gb = (codes * slope).sum(0), slope.sum(0)
    determinant = aa * bb - ab * ab
    solvable = determinant > 1e-6 * aa * bb
    a = torch.where(solvable, (ab * gb - bb * ga) / torch.where(solvable, determinant, 1.0), 0.0)
    a = (scale + a).bfloat16().float() - scale
    b = (bias - (gb + a * ab) / bb).bfloat16().float() - bias
    change = a * (a * aa + 2 * b * ab + 2 * ga) + b * (b * bb + 2 * gb)
    better = (change < 0) & (scale + a > 0)
    a, b = torch.where(better, a, 0.0), torch.where(better, b, 0.0)
    scale += a
    bias += b
    error[start:end] += codes * a + b
    slope += curved * a + flat[:, None] * b
    # Codes: each column's best given all others.
    inverse = _reciprocal(scale)
    top = 2**bits - 1
    diagonal = own.diagonal().tolist()
    for j in range(GROUP_SIZE):
        code = codes[j]
        wanted = torch.addcmul(code, slope[j], inverse, value=-1 / diagonal[j]).round_().clamp_(0, top)
        step = (wanted - code) * scale
        code.copy_(wanted)
        if j + 1 < GROUP_SIZE:
            slope[j + 1 :].addr_(own[j, j + 1 :], step)
    torch.sub(torch.addcmul(bias, codes, scale), columns, out=error[start:end])


def fit_group(part: Tensor, weights: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Scale and bias of one group of each row for the least sum of weights * error ** 2, [rows] each.

    part: float32 [GROUP_SIZE, rows]; weights: float32 [GROUP_SIZE], positive. Both results are whole bfloat16 values,
    in float32.
    """
    top = 2**bits - 1
    low, high = part.aminmax(dim=0)
    best_scale = ((high - low) / top).bfloat16().float()
    best_bias = low.bfloat16().float()
    best = torch.full_like(low, torch.inf)
    weights = weights / weights.sum()
    mean = weights @ part
    for shrink, steps in _STARTS[bits]:
        middle, half = (low + high) / 2, (high - low) / 2 * shrink
        scale = (2 * half / top).bfloat16().float()
        bias = (middle - half).bfloat16().float()
        for step in range(steps + 1):
            codes = torch.sub(part, bias).mul_(_reciprocal(scale)).round_().clamp_(0, top)
            error = weights @ torch.addcmul(bias, codes, scale).sub_(part).square_()
            better = error < best
            best = torch.where(better, error, best)
            best_scale, best_bias = torch.where(better, scale, best_scale), torch.where(better, bias, best_bias)
            if step == steps:
                break
            center = weights @ codes
            spread = weights @ (codes - center).square_()
            together = weights @ ((codes - center).mul_(part))
            scale = torch.where(spread > 0, together / torch.where(spread > 0, spread, 1.0), scale)
            scale = scale.clamp(min=0).bfloat16().float()
            bias = (mean - scale * center).bfloat16().float()
    return best_scale, best_bias


# Starting ranges, as shares of the group's own, and alternations from each. Wide codes hardly gain from clipping.
_STARTS: dict[int, Sequence[tuple[float, int]]] = {
    2: ((1.0, 4), (0.8, 4), (0.65, 4), (0.5, 3)),
    3: ((1.0, 4), (0.85, 4), (0.7, 3)),
    4: ((1.0, 4), (0.85, 3)),
    5: ((1.0, 3), (0.92, 3)),
    6: ((1.0, 3), (0.96, 2)),
    8: ((1.0, 3),),
}


def _reciprocal(scale: Tensor) -> Tensor:
    """1 / scale, and 1 where the scale is 0: a constant group, which its bias alone describes."""
    return torch.where(scale == 0, 1.0, scale).reciprocal()
