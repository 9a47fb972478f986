"""The head of dense reading: from an image token's embedding to the characters inside it. Used in training only."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.model.vision import VisionTower
from training.labels import CLASSES, END, IGNORED, SLOTS

_SLOT_WIDTH = 64


class ReadingHead(nn.Module):
    """[..., hidden] -> logits [..., 4 * SLOTS, CLASSES]; what a character looks like is shared by all slots."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.slots = nn.Linear(hidden_size, 4 * SLOTS * _SLOT_WIDTH)
        self.characters = nn.Linear(_SLOT_WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self._name(self._slots(x))

    def _slots(self, x: Tensor) -> Tensor:
        """The activations of each slot, [..., 4 * SLOTS, width]."""
        slots = F.linear(x, self.slots.weight.to(x.dtype), self.slots.bias.to(x.dtype))
        return F.gelu(slots, approximate="tanh").unflatten(-1, (4 * SLOTS, _SLOT_WIDTH))

    def _name(self, slots: Tensor) -> Tensor:
        return F.linear(slots, self.characters.weight.to(slots.dtype), self.characters.bias.to(slots.dtype))

    def loss(self, x: Tensor, labels: Tensor, blank_share: float = 0.1) -> tuple[Tensor, float, float]:
        """x: [cells, hidden]; labels: [cells, 4 * SLOTS]. Empty patches count for `blank_share` of their number.

        Returns the mean cross-entropy, the share of characters and of end marks that are right.
        """
        wanted = labels != IGNORED
        first_end = (labels == END) & wanted
        empty = first_end[:, 0::SLOTS]  # a patch whose first slot is the end mark is empty
        keep = torch.rand(empty.shape, device=labels.device) < blank_share
        drop = (empty & ~keep).repeat_interleave(SLOTS, 1)
        wanted = wanted & ~drop
        logits = self._name(self._slots(x)[wanted]).float()  # only the rows that are asked for
        target = labels[wanted]
        right = logits.detach().argmax(-1) == target
        printed = target != END
        return (
            F.cross_entropy(logits, target),
            right[printed].float().mean().item(),
            right[~printed].float().mean().item(),
        )


def reading_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The weights of the vision tower and of the reading head, from the state of a run of either stage."""
    state = torch.load(path, weights_only=False)
    if "vision" in state:
        return state["vision"], state["head"]
    return _below(state["model"], "vision."), _below(state["supervisor"], "reading_head.")


def _below(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): weight for name, weight in weights.items() if name.startswith(prefix)}


def embed_grey(tower: VisionTower, patches: Tensor, rows: int, columns: int, dtype: torch.dtype) -> Tensor:
    """Image tokens [images, tokens, out_hidden] of still grey pages: uint8 [images, rows * columns, 256].

    A grey page has three equal channels in two equal frames, so the patch weights can be added up first: the same
    result as the image processor's patches give, at a sixth of the reading.
    """
    weight = tower.patch_embed.proj.weight.sum((1, 2)).flatten(1).to(dtype)
    bias = tower.patch_embed.proj.bias.to(dtype)
    pixels = (patches.to(torch.float32) * (2 / 255) - 1).to(dtype)
    return tower.encode(F.linear(pixels, weight, bias), rows, columns)
