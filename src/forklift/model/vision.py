"""The vision tower: patches of page images -> one embedding per 2 x 2 patches, in the language model's space."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.checkpoint.config import VisionConfig
from forklift.model.linear import Linear
from forklift.model.rotary import patch_coordinates, patch_rotation, rotate

_EPS = 1e-6
Grid = tuple[int, int, int]  # (frames, rows, columns) of patches


class LayerNorm(nn.Module):
    """Layer normalisation with bias, in float32."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        weight, bias = self.weight.to(x.dtype), self.bias.to(x.dtype)  # torch accumulates in float32 by itself
        return F.layer_norm(x, weight.shape, weight, bias, _EPS)


class VisionAttention(nn.Module):
    """Every patch of an image attends to every other, [images, patches, hidden] -> same."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.heads = config.num_heads
        self.qkv = Linear(config.hidden_size, 3 * config.hidden_size, bias=True)
        self.proj = Linear(config.hidden_size, config.hidden_size, bias=True)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query, key = rotate(query, *rotation), rotate(key, *rotation)
        if query.requires_grad and x.device.type == "cpu":
            # With the fused kernel's backward pass a training step takes 1.5 times as long on CPU, docs/log.md.
            scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
            output = scores.softmax(-1) @ value
        else:
            output = F.scaled_dot_product_attention(query, key, value.contiguous())
        return self.proj(output.transpose(1, 2).flatten(2))


class VisionMLP(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.linear_fc1 = Linear(config.hidden_size, config.intermediate_size, bias=True)
        self.linear_fc2 = Linear(config.intermediate_size, config.hidden_size, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear_fc2(F.gelu(self.linear_fc1(x), approximate="tanh"))


class VisionBlock(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.norm1 = LayerNorm(config.hidden_size)
        self.attn = VisionAttention(config)
        self.norm2 = LayerNorm(config.hidden_size)
        self.mlp = VisionMLP(config)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.attn(self.norm1(x), rotation)
        return x + self.mlp(self.norm2(x))


class PatchProjection(nn.Module):
    """The weight keeps the shape of HF's convolution, [hidden, channels, frames, patch, patch]."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        kernel = (config.in_channels, config.temporal_patch_size, config.patch_size, config.patch_size)
        self.weight = nn.Parameter(torch.zeros(config.hidden_size, *kernel))
        self.bias = nn.Parameter(torch.zeros(config.hidden_size))


class PatchEmbedding(nn.Module):
    """A convolution whose stride is its kernel: one product per patch."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.proj = PatchProjection(config)

    def forward(self, patches: Tensor) -> Tensor:
        """patches: [..., channels * frames * patch * patch]."""
        weight, bias = self.proj.weight.to(patches.dtype), self.proj.bias.to(patches.dtype)
        return F.linear(patches, weight.flatten(1), bias)


class PositionTable(nn.Module):
    """One learned embedding for each cell of a square, row by row: weight [num_position_embeddings, hidden]."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(config.num_position_embeddings, config.hidden_size))


class PatchMerger(nn.Module):
    """Joins the merge x merge patches of a token, which lie next to each other."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.width = config.hidden_size * config.spatial_merge_size**2
        self.norm = LayerNorm(config.hidden_size)
        self.linear_fc1 = Linear(self.width, self.width, bias=True)
        self.linear_fc2 = Linear(self.width, config.out_hidden_size, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """[images, patches, hidden] -> [images, patches / merge ** 2, out_hidden]."""
        return self.linear_fc2(F.gelu(self.linear_fc1(self.norm(x).reshape(x.shape[0], -1, self.width))))


class VisionTower(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embed = PatchEmbedding(config)
        self.pos_embed = PositionTable(config)
        self.blocks = nn.ModuleList(VisionBlock(config) for _ in range(config.depth))
        self.merger = PatchMerger(config)

    def forward(self, patches: Tensor, grids: Sequence[Grid]) -> Tensor:
        """patches: [all patches, channels * frames * patch * patch], images one after the other, merge-block order.

        Returns [all tokens, out_hidden]. Images do not see each other.
        """
        outputs = []
        start = 0
        embedded = self.patch_embed(patches)
        for frames, rows, columns in grids:
            for _ in range(frames):
                end = start + rows * columns
                outputs.append(self.encode(embedded[None, start:end], rows, columns)[0])
                start = end
        assert start == patches.shape[0], f"{patches.shape[0]} patches for grids of {start}"
        return torch.cat(outputs)

    def encode(self, x: Tensor, rows: int, columns: int) -> Tensor:
        """Embedded patches of equally large images [images, rows * columns, hidden] -> [images, tokens, out_hidden]."""
        x = x + self.positions(rows, columns).to(x.dtype)
        cos, sin = patch_rotation(self.config, rows, columns, x.device)
        rotation = (cos.to(x.dtype), sin.to(x.dtype))
        for block in self.blocks:
            x = block(x, rotation)
        return self.merger(x)

    def positions(self, rows: int, columns: int) -> Tensor:
        """The learned square of position embeddings, resampled bilinearly to rows x columns (corners stay corners).

        float32 [rows * columns, hidden], merge-block order.
        """
        weight = self.pos_embed.weight
        side = round(self.config.num_position_embeddings**0.5)
        row, column = patch_coordinates(rows, columns, self.config.spatial_merge_size, weight.device)
        total: Tensor | float = 0.0
        for row_index, row_share in _two_nearest(row, rows, side):
            for column_index, column_share in _two_nearest(column, columns, side):
                total = total + weight[row_index * side + column_index].float() * (row_share * column_share)[:, None]
        assert isinstance(total, Tensor)
        return total


def _two_nearest(index: Tensor, size: int, side: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The two cells of an axis with `side` cells around each position of an axis with `size`, and their shares."""
    place = index.float() * ((side - 1) / max(size - 1, 1))
    low = place.floor().clamp(max=side - 1)
    share = place - low
    return (low.long(), 1 - share), ((low + 1).clamp(max=side - 1).long(), share)
