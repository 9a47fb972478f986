"""Rotary position embeddings: over time, height and width for the language model, height and width for vision."""

from __future__ import annotations

import torch
from torch import Tensor

from forklift.checkpoint.config import TextConfig, VisionConfig


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the first cos.shape[-1] elements of x's last dimension, pairing element i with i + half."""
    size = cos.shape[-1]
    turned, rest = (x, None) if size == x.shape[-1] else (x[..., :size], x[..., size:])
    first, second = turned.chunk(2, -1)
    turned = turned * cos + torch.cat((-second, first), -1) * sin
    return turned if rest is None else torch.cat((turned, rest), -1)


def _frequencies(size: int, theta: float, device: torch.device) -> Tensor:
    return 1.0 / theta ** (torch.arange(0, size, 2, dtype=torch.float32, device=device) / size)


def text_rotation(config: TextConfig, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """cos and sin, [tokens, rotary_dim].

    positions: [3, tokens], (time, height, width) of each token; the same number three times for text.
    Frequency i turns by height where i % 3 == 1, by width where i % 3 == 2, else by time, within mrope_section.
    """
    frequencies = _frequencies(config.rotary_dim, config.rope_theta, positions.device)
    angles = positions[:, :, None].float() * frequencies
    mixed = angles[0].clone()
    for axis in (1, 2):
        chosen = slice(axis, 3 * config.mrope_section[axis], 3)
        mixed[:, chosen] = angles[axis, :, chosen]
    mixed = torch.cat((mixed, mixed), -1)
    return mixed.cos().to(dtype), mixed.sin().to(dtype)


def patch_rotation(config: VisionConfig, rows: int, columns: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """float32 cos and sin, [rows * columns, head_dim], patches in merge-block order."""
    height, width = patch_coordinates(rows, columns, config.spatial_merge_size, device)
    frequencies = _frequencies(config.hidden_size // config.num_heads // 2, config.rope_theta, device)
    angles = torch.cat((height[:, None] * frequencies, width[:, None] * frequencies), -1)
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def patch_coordinates(rows: int, columns: int, merge: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Row and column of each patch, [rows * columns] each, in merge-block order: the merge x merge patches of one
    token lie next to each other."""
    row = torch.arange(rows, device=device)[:, None].expand(rows, columns)
    column = torch.arange(columns, device=device)[None].expand(rows, columns)
    blocks = (rows // merge, merge, columns // merge, merge)
    return (
        row.reshape(blocks).transpose(1, 2).flatten(),
        column.reshape(blocks).transpose(1, 2).flatten(),
    )
