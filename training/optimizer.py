"""Muon for matrices, AdamW for the rest, and a learning rate that warms up, stays, and falls."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn

_NOT_MUON = ("embed", "head", "in_proj_a", "in_proj_b", "conv1d")  # few rows, or rows that stand for symbols


class Optimizer:
    """groups: (named parameters, learning rate); both optimisers of a group share the rate."""

    def __init__(self, groups: Iterable[tuple[Iterable[tuple[str, nn.Parameter]], float]]) -> None:
        self.parameters: list[nn.Parameter] = []
        matrices, others = [], []
        for named, rate in groups:
            muon, adam = [], []
            for name, parameter in named:
                by_rows = parameter.ndim == 2 and not any(part in name for part in _NOT_MUON)
                (muon if by_rows else adam).append(parameter)
            self.parameters += muon + adam
            if muon:
                matrices.append({"params": muon, "lr": rate, "base": rate})
            if adam:
                others.append({"params": adam, "lr": rate, "base": rate})
        self.optimizers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(matrices, lr=1.0, weight_decay=0.01, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, lr=1.0, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
        ]

    def step(self, factor: float, clip: float = 1.0) -> float:
        """One update at `factor` of the learning rates. Returns the gradient's norm before clipping."""
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, clip).item()
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["base"] * factor
            if math.isfinite(norm):
                optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return norm

    def state_dict(self) -> list[dict]:
        return [optimizer.state_dict() for optimizer in self.optimizers]

    def load_state_dict(self, states: list[dict]) -> None:
        for optimizer, state in zip(self.optimizers, states, strict=True):
            bases = [group["base"] for group in optimizer.param_groups]
            optimizer.load_state_dict(state)
            for group, base in zip(optimizer.param_groups, bases, strict=True):
                group["base"] = base


def learning_rate_factor(step: int, progress: float, *, warm_up: int, fall_from: float, floor: float = 0.03) -> float:
    """1 between warm-up (steps) and `fall_from` (share of the run), then a half cosine down to `floor`."""
    warm = min(1.0, (step + 1) / warm_up)
    if progress <= fall_from:
        return warm
    fallen = min(1.0, (progress - fall_from) / (1 - fall_from))
    return warm * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * fallen)))
