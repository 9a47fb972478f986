"""What a calibration learns about each matrix: which inputs it sees, and how much its errors change the answer.

The loss of a small weight error dW is half of E[<G, dW> ** 2], G the gradient of a sample's answer with respect to W:
the second-order term of the KL divergence between the answers before and after. G comes from the model's own
distribution, not from the true answer: at each answer token the backward pass starts from a random vector whose
covariance is the curvature of the KL divergence in the logits, diag(p) - p p^T.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Up to this many columns all pairs of inputs are kept; wider matrices keep blocks along the diagonal.
FULL_COLUMNS = 1024
BLOCK_COLUMNS = 512


def block_size(columns: int, group_size: int = 64) -> int:
    """The size of the diagonal blocks of second moments that are kept: whole groups, and a divisor of the columns."""
    if columns <= FULL_COLUMNS:
        return columns
    return max(size for size in range(group_size, BLOCK_COLUMNS + 1, group_size) if columns % size == 0)


@dataclass(eq=False)
class Sums:
    """Running sums over samples for one matrix [rows, columns], all float32.

    moments: [blocks, size, size], sum over tokens of s x x^T, x the input and s the mean square of the output gradient.
    row_energy [rows], column_energy [columns]: sums over samples of the squared sample gradient G.
    """

    moments: Tensor
    row_energy: Tensor
    column_energy: Tensor

    @classmethod
    def zeros(cls, rows: int, columns: int, device: torch.device | str = "cpu") -> Sums:
        size = block_size(columns)
        return cls(
            torch.zeros(columns // size, size, size, device=device),
            torch.zeros(rows, device=device),
            torch.zeros(columns, device=device),
        )

    def add(self, inputs: Tensor, gradients: Tensor) -> None:
        """One sample: inputs [tokens, columns], gradients of the outputs [tokens, rows]."""
        inputs, gradients = inputs.float(), gradients.float()
        weights = gradients.square().mean(-1, keepdim=True).sqrt()
        size = self.moments.shape[-1]
        weighted = (inputs * weights).unflatten(-1, (-1, size)).transpose(0, 1)  # [blocks, tokens, size]
        self.moments.baddbmm_(weighted.transpose(1, 2), weighted)
        energy = (gradients.t() @ inputs).square_()
        self.row_energy += energy.sum(1)
        self.column_energy += energy.sum(0)

    def add_head(self, inputs: Tensor, probabilities: Tensor) -> None:
        """Answer tokens before the language head: inputs [tokens, columns], probabilities [tokens, rows].

        Here the expectation over all starting vectors is known: p (1 - p) for each logit, nothing across tokens.
        """
        inputs = inputs.float()
        squares = probabilities * (1 - probabilities)
        weights = squares.mean(-1, keepdim=True).sqrt()
        size = self.moments.shape[-1]
        weighted = (inputs * weights).unflatten(-1, (-1, size)).transpose(0, 1)
        self.moments.baddbmm_(weighted.transpose(1, 2), weighted)
        squared = inputs.square()
        self.row_energy += squares.t() @ squared.sum(-1)
        self.column_energy += squares.sum(-1) @ squared

    def add_lookups(self, ids: Tensor, gradients: Tensor) -> None:
        """One sample of an embedding: ids [tokens], gradients of the rows that were looked up [tokens, columns]."""
        used, place = ids.unique(return_inverse=True)
        energy = gradients.new_zeros(used.shape[0], gradients.shape[1], dtype=torch.float32)
        energy.index_add_(0, place, gradients.float())
        energy.square_()
        self.row_energy.index_add_(0, used, energy.sum(1))
        self.column_energy += energy.sum(0)
        size = self.moments.shape[-1]
        # An error of a row acts on itself alone; `moments` are per row, so that rows * trace is the whole energy.
        self.moments += torch.diag_embed((energy.sum(0) / self.row_energy.shape[0]).reshape(-1, size))


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What one matrix's errors cost, as the calibration stores it.

    diagonal: float32 [columns]. correlation: float16 [blocks, size, size], the second moments divided by the roots of
        their diagonal. Together the second moments, in nats per answer token for an error of 1 in every row.
    row_weights: float32 [rows], mean 1.
    losses: expected loss in nats per answer token at each width of `plan.WIDTHS`, or None before it was computed.
    """

    diagonal: Tensor
    correlation: Tensor
    row_weights: Tensor
    losses: tuple[float, ...] | None = None

    @property
    def moments(self) -> Tensor:
        """float32 [blocks, size, size]."""
        root = self.diagonal.reshape(self.correlation.shape[:2]).sqrt()
        return self.correlation.float() * root[:, :, None] * root[:, None, :]


def finish(sums: Sums, answer_tokens: int, *, seen_rows_only: bool = False) -> Sensitivity:
    """Sums over all samples into the cost of errors in nats per answer token.

    The moments know tokens one by one; the sample gradients also know how errors of one weight add up over tokens.
    So the form of the cost comes from the moments, its size from the gradients.
    seen_rows_only: an embedding; rows that no sample used get a tenth of the weight, spread evenly.
    """
    rows = sums.row_energy.shape[0]
    diagonal = sums.moments.diagonal(dim1=-2, dim2=-1).flatten()
    energy = sums.row_energy.sum()
    per_token = diagonal.sum() * rows
    scale = energy / per_token if per_token > 0 else torch.ones_like(energy)
    root = sums.moments.diagonal(dim1=-2, dim2=-1).clamp(min=torch.finfo(torch.float32).tiny).rsqrt()
    correlation = (sums.moments * root[:, :, None] * root[:, None, :]).clamp_(-1, 1)
    weights = sums.row_energy / (energy / rows) if energy > 0 else torch.ones_like(sums.row_energy)
    if seen_rows_only:
        weights = 0.9 * weights + 0.1
    return Sensitivity(diagonal * scale / (2 * answer_tokens), correlation.half(), weights)
