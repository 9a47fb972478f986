"""A tiny checkpoint of the true architecture, with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.checkpoint.config_writer import write_config
from forklift.checkpoint.shapes import expected_shapes
from forklift.checkpoint.tensor_writer import write_tensors

# Ids in the tiny vocabulary.
ENDOFTEXT, IM_END = 60, 62


@pytest.fixture
def tiny_config() -> ModelConfig:
    return ModelConfig(
        text=TextConfig(
            vocabulary_size=96,
            hidden_size=64,
            intermediate_size=128,
            layer_kinds=("linear_attention", "full_attention") * 2,
            num_query_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            linear_key_head_dim=8,
            linear_value_head_dim=16,
            rope_theta=100.0,
            partial_rotary_factor=0.5,
            mrope_section=(4, 2, 2),
            max_positions=4096,
        ),
        vision=VisionConfig(
            depth=2,
            hidden_size=32,
            intermediate_size=48,
            num_heads=2,
            out_hidden_size=64,
            num_position_embeddings=16,
            patch_size=4,
        ),
        image_token_id=70,
        video_token_id=71,
        vision_start_token_id=72,
        vision_end_token_id=73,
        eos_token_ids=(ENDOFTEXT, IM_END),
    )


@pytest.fixture
def tiny_tensors(tiny_config: ModelConfig) -> dict[str, Tensor]:
    """bfloat16, by our names; norms are small, as a trained model's are (a layer uses 1 + w)."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: (0.1 * torch.randn(shape, generator=generator)).bfloat16()
        for name, shape in expected_shapes(tiny_config).items()
    }


@pytest.fixture
def tokenizer_json() -> dict[str, object]:
    """Only what a checkpoint's reader looks at."""
    return {
        "added_tokens": [
            {"id": 61, "content": "<|im_start|>"},
            {"id": IM_END, "content": "<|im_end|>"},
            {"id": ENDOFTEXT, "content": "<|endoftext|>"},
        ]
    }


@pytest.fixture
def mlx_folder(
    tmp_path: Path,
    tiny_config: ModelConfig,
    tiny_tensors: dict[str, Tensor],
    tokenizer_json: dict[str, object],
) -> Path:
    """A complete folder, as this project writes it."""
    folder = tmp_path / "tiny-mlx"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json))
    write_config(folder, tiny_config)
    write_tensors(folder, tiny_tensors, tiny_config)
    return folder
