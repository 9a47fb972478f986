"""Root-mean-square normalisation, in float32 whatever the activations are."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    """x / rms(x) * (1 + weight) over the last dimension; `weight` is centred on zero, as HF stores it."""

    _scale: Tensor | None

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.eps = eps
        self.register_buffer("_scale", None, persistent=False)  # a buffer, to move with the model

    def prepare(self) -> None:
        """Add the 1 once and for all; for inference, after loading."""
        self._scale = self.weight.detach().float() + 1.0

    def forward(self, x: Tensor) -> Tensor:
        scale = self.weight.float() + 1.0 if self._scale is None else self._scale
        return F.rms_norm(x.float(), scale.shape, scale, self.eps).to(x.dtype)


class GatedRMSNorm(nn.Module):
    """x / rms(x) * weight * silu(gate) over the last dimension; `weight` is stored as it is used (no +1)."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        """x: [..., size], any float type; gate: same shape. Returns gate's type."""
        normed = F.rms_norm(x.float(), self.weight.shape, self.weight.float(), self.eps)
        return (normed * F.silu(gate.float())).to(gate.dtype)
