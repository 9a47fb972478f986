"""Several linear maps of the same input as one product, where calls cost more than arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.model.linear import Linear

# Maps above this size (elements) gain nothing: reading their weights takes longer than calling them.
_SMALL = 1 << 20


class JoinedLinear(nn.Module):
    """Holds the weights of `parts` one above the other; their own weights become views of it, so nothing is kept
    twice and each part still works alone. Not for training: an optimiser would see the parts only."""

    weight: Tensor

    def __init__(self, parts: Sequence[Linear]) -> None:
        super().__init__()
        self.sizes = [part.out_features for part in parts]
        joined = torch.cat([part.weight.detach() for part in parts])
        self.register_buffer("weight", joined, persistent=False)
        for part, piece in zip(parts, joined.split(self.sizes), strict=True):
            part.weight = nn.Parameter(piece, requires_grad=False)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """[..., in] -> one [..., out] for each part."""
        return F.linear(x, self.weight).split(self.sizes, -1)


def join(*parts: nn.Module) -> JoinedLinear | None:
    """The parts joined, or None where one is quantised, has a bias, or is large."""
    linears = [part for part in parts if isinstance(part, Linear) and part.bias is None]
    if len(linears) < len(parts) or any(part.weight.numel() > _SMALL for part in linears):
        return None
    return JoinedLinear(linears)
