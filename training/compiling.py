"""torch.compile where it pays: the blocks of the vision tower, one compiled function for all of them."""

from __future__ import annotations

import functools

import torch

from forklift.model.vision import VisionBlock, VisionTower


def compile_blocks(tower: VisionTower) -> None:
    """Compile per shape of input; 1.15 times as fast in training on CPU, docs/log.md."""
    torch._dynamo.config.recompile_limit = 64
    compiled = torch.compile(VisionBlock.forward, dynamic=False)
    for block in tower.blocks:
        block.forward = functools.partial(compiled, block)
