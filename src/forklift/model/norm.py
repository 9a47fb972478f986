"""Root-mean-square normalisation, in float32 whatever the activations are."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    """x / rms(x) * (1 + weight) over the last dimension; `weight` is centred on zero, as HF stores it."""

    _scale: Tensor | None
    _floor: Tensor | None

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.eps = eps
        self.register_buffer("_scale", None, persistent=False)  # buffers, to move with the model
        self.register_buffer("_floor", None, persistent=False)

    def prepare(self) -> None:
        """Add the 1 once and for all; for inference, after loading."""
        size = self.weight.shape[0]
        self._scale = (self.weight.detach().float() + 1.0) * size**0.5
        self._floor = torch.full((1,), (size * self.eps) ** 0.5, device=self.weight.device)

    def forward(self, x: Tensor) -> Tensor:
        if self._scale is None or self._floor is None:
            scale = self.weight.float() + 1.0
            return F.rms_norm(x.float(), scale.shape, scale, self.eps).to(x.dtype)
        # sqrt(sum of squares + size * eps) as a hypotenuse: a third of the time that rms_norm takes for one row on CPU.
        length = torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32), self._floor)
        normed = x / length * self._scale
        return normed if normed.dtype == x.dtype else normed.to(x.dtype)


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
