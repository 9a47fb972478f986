"""The layers as training runs them: in pieces that torch.compile can fuse once for every shape of batch.

What depends on the number of tokens by its structure (the scan over chunks) stays outside; compiling whole layers for
each shape of batch takes minutes a shape and was dropped, docs/log.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from forklift.model.delta import CHUNK_SIZE, by_chunk, scan_chunks, within_chunks
from forklift.model.language import DecoderLayer
from forklift.model.rotary import rotate
from forklift.model.vision import VisionBlock, VisionTower
from training.attention import attend


def _linear_project(layer: DecoderLayer, x: Tensor) -> tuple[Tensor, ...]:
    net = layer.linear_attn
    mixed, gate, strength, rate = net.project(layer.input_layernorm(x))
    return F.pad(mixed, (0, 0, net.config.conv_kernel_size - 1, 0)), gate, strength, rate


def _linear_gather(layer: DecoderLayer, padded: Tensor, strength: Tensor, rate: Tensor) -> tuple[Tensor, ...]:
    return layer.linear_attn.gather(padded, strength, rate)


def _linear_last(layer: DecoderLayer, x: Tensor, output: Tensor, gate: Tensor) -> Tensor:
    net = layer.linear_attn
    gate = gate.unflatten(-1, (net.config.linear_num_value_heads, net.config.linear_value_head_dim))
    x = x + net.out_proj(net.norm(output, gate).flatten(2))
    return x + layer.mlp(layer.post_attention_layernorm(x))


def _full_first(layer: DecoderLayer, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, ...]:
    normed = layer.input_layernorm(x)
    return normed, *layer.self_attn.project(normed, (cos, sin))


def _full_last(layer: DecoderLayer, x: Tensor, output: Tensor, gate: Tensor) -> Tensor:
    x = x + layer.self_attn.o_proj(output.transpose(1, 2).flatten(2) * torch.sigmoid(gate))
    return x + layer.mlp(layer.post_attention_layernorm(x))


@dataclass(frozen=True)
class Pieces:
    """A decoder layer in parts, cut where something cannot be compiled or is looked at in between.

    The linear layer is also cut where tokens are laid out by chunk: fused over that change of layout, the backward pass
    computes an integer division for every element and takes three times as long.
    """

    linear_project: Callable[..., tuple[Tensor, ...]] = _linear_project
    linear_gather: Callable[..., tuple[Tensor, ...]] = _linear_gather
    linear_within: Callable[..., tuple[Tensor, ...]] = within_chunks
    linear_last: Callable[..., Tensor] = _linear_last
    full_first: Callable[..., tuple[Tensor, ...]] = _full_first
    full_last: Callable[..., Tensor] = _full_last

    @classmethod
    def compiled(cls) -> Pieces:
        torch._dynamo.config.recompile_limit = 64
        pieces = (_linear_project, _linear_gather, within_chunks, _linear_last, _full_first, _full_last)
        return cls(*(torch.compile(piece, dynamic=True) for piece in pieces))

    def linear(self, layer: DecoderLayer, x: Tensor) -> Tensor:
        """A linear layer on whole chunks of tokens [batch, tokens, hidden], from an empty memory."""
        padded, gate, strength, rate = self.linear_project(layer, x)
        gathered = self.linear_gather(layer, padded, strength, rate)
        chunks = self.linear_within(*(by_chunk(part, CHUNK_SIZE).contiguous() for part in gathered))
        output, _ = scan_chunks(*chunks, None)
        return self.linear_last(layer, x, output, gate)


EAGER = Pieces()


def _vision_first(block: VisionBlock, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    attention = block.attn
    query, key, value = attention.qkv(block.norm1(x)).unflatten(-1, (3, attention.heads, -1)).permute(2, 0, 3, 1, 4)
    return rotate(query, cos, sin), rotate(key, cos, sin), value


def _vision_last(block: VisionBlock, x: Tensor, output: Tensor) -> Tensor:
    x = x + block.attn.proj(output.transpose(1, 2).flatten(2))
    return x + block.mlp(block.norm2(x))


def compile_blocks(tower: VisionTower, dynamic: bool = False) -> None:
    """Two functions for all blocks, before and after attention; compiled per shape of input, or once for all."""
    torch._dynamo.config.recompile_limit = 64
    first, last = (torch.compile(piece, dynamic=dynamic) for piece in (_vision_first, _vision_last))

    def forward(block: VisionBlock, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        return last(block, x, attend(*first(block, x, *rotation)))

    for block in tower.blocks:
        block.forward = functools.partial(forward, block)
