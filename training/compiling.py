"""torch.compile where it pays: small pieces that are all element-wise, and the blocks of the vision tower.

Compiling whole decoder layers takes minutes per shape of batch and was dropped, docs/log.md.
"""

from __future__ import annotations

import functools

import torch

from forklift.model import Model, delta
from forklift.model.delta import GatedDeltaNet
from forklift.model.norm import GatedRMSNorm, RMSNorm
from forklift.model.vision import VisionBlock, VisionTower


def compile_blocks(tower: VisionTower) -> None:
    """One function for all blocks, compiled per shape of input; 1.15 times as fast in training on CPU, docs/log.md."""
    torch._dynamo.config.recompile_limit = 64
    compiled = torch.compile(VisionBlock.forward, dynamic=False)
    for block in tower.blocks:
        block.forward = functools.partial(compiled, block)


def compile_pieces(model: Model) -> None:
    """The element-wise parts of the language model, each compiled once for all shapes. For this process, for good."""
    torch._dynamo.config.recompile_limit = 64
    delta._within_chunks = torch.compile(delta._within_chunks, dynamic=True)
    gather = torch.compile(GatedDeltaNet._gather, dynamic=True)
    norm = torch.compile(RMSNorm.forward, dynamic=True)
    gated = torch.compile(GatedRMSNorm.forward, dynamic=True)
    for module in model.language.modules():
        if isinstance(module, GatedDeltaNet):
            module._gather = functools.partial(gather, module)  # type: ignore[method-assign]
        elif isinstance(module, GatedRMSNorm):
            module.forward = functools.partial(gated, module)
        elif isinstance(module, RMSNorm):
            module.forward = functools.partial(norm, module)
