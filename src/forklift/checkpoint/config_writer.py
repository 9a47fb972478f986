"""config.json and generation_config.json, written from the dataclasses of `config`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forklift.checkpoint.config import ModelConfig, Quantization, TextConfig, VisionConfig
from forklift.checkpoint.config_reader import end_token_ids, layer_kinds, read_json
from forklift.checkpoint.naming import Layout, stored_name
from forklift.errors import CheckpointError


def write_config(folder: Path, config: ModelConfig, *, dtype: str = "bfloat16") -> None:
    """Write config.json, and the end tokens into generation_config.json (its other settings are kept).

    Both transformers and mlx-vlm load the result. The ids of END_TOKENS come first where the folder holds a
    tokenizer.json; so write that one before.
    dtype: what the float tensors are stored in.
    Raises CheckpointError where neither the tokenizer nor `config` names an end token.
    """
    eos_token_ids = list(dict.fromkeys((*end_token_ids(folder), *config.eos_token_ids)))
    if not eos_token_ids:
        raise CheckpointError(f"{folder}: no end token is known; give eos_token_ids, or write tokenizer.json first")
    values: dict[str, Any] = {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "dtype": dtype,
        "eos_token_id": eos_token_ids,
        "image_token_id": config.image_token_id,
        "video_token_id": config.video_token_id,
        "vision_start_token_id": config.vision_start_token_id,
        "vision_end_token_id": config.vision_end_token_id,
        "tie_word_embeddings": config.text.tie_word_embeddings,
        "text_config": _text_values(config.text, eos_token_ids, dtype),
        "vision_config": _vision_values(config.vision),
    }
    if config.quantization:
        values["quantization"] = values["quantization_config"] = _quantization_values(config.quantization)
    generation_path = folder / "generation_config.json"
    generation = read_json(generation_path) if generation_path.exists() else {"do_sample": False}
    generation |= {"eos_token_id": eos_token_ids, "pad_token_id": eos_token_ids[0]}
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", values)
    write_json(generation_path, generation)


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON object, whole or not at all: readers see the old file or the new one."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(partial, path)


def _text_values(config: TextConfig, eos_token_ids: list[int], dtype: str) -> dict[str, Any]:
    values: dict[str, Any] = {
        "model_type": "qwen3_5_text",
        "dtype": dtype,
        "vocab_size": config.vocabulary_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": len(config.layer_kinds),
        "layer_types": list(config.layer_kinds),
        "hidden_act": "silu",
        "attention_bias": False,
        "attn_output_gate": True,
        "num_attention_heads": config.num_query_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.head_dim,
        "linear_num_key_heads": config.linear_num_key_heads,
        "linear_num_value_heads": config.linear_num_value_heads,
        "linear_key_head_dim": config.linear_key_head_dim,
        "linear_value_head_dim": config.linear_value_head_dim,
        "linear_conv_kernel_dim": config.conv_kernel_size,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": config.rope_theta,
            "partial_rotary_factor": config.partial_rotary_factor,
            "mrope_section": list(config.mrope_section),
            "mrope_interleaved": True,
        },
        "partial_rotary_factor": config.partial_rotary_factor,
        "tie_word_embeddings": config.tie_word_embeddings,
        "max_position_embeddings": config.max_positions,
        # No multi-token prediction head is stored; a loader that expects one would shift every norm by 1.
        "mtp_num_hidden_layers": 0,
        "eos_token_id": eos_token_ids,
    }
    # mlx-vlm knows the interval alone; layer_types says the same to those who read it.
    kinds = config.layer_kinds
    interval = kinds.index("full_attention") + 1 if "full_attention" in kinds else len(kinds) + 1
    if kinds == layer_kinds(len(kinds), interval):
        values["full_attention_interval"] = interval
    return values


def _vision_values(config: VisionConfig) -> dict[str, Any]:
    values: dict[str, Any] = {
        # transformers takes this older name too; mlx-vlm takes no other.
        "model_type": "qwen3_5",
        "depth": config.depth,
        "hidden_size": config.hidden_size,
        "hidden_act": "gelu_pytorch_tanh",
        "intermediate_size": config.intermediate_size,
        "num_heads": config.num_heads,
        "out_hidden_size": config.out_hidden_size,
        "num_position_embeddings": config.num_position_embeddings,
        "patch_size": config.patch_size,
        "temporal_patch_size": config.temporal_patch_size,
        "spatial_merge_size": config.spatial_merge_size,
        "in_channels": config.in_channels,
        "deepstack_visual_indexes": [],
    }
    if config.rope_theta != 10000.0:
        values["rope_parameters"] = {"rope_type": "axial", "rope_theta": config.rope_theta}
    return values


def _quantization_values(quantization: Mapping[str, Quantization]) -> dict[str, Any]:
    def entry(stored: Quantization) -> dict[str, Any]:
        return {"group_size": stored.group_size, "bits": stored.bits, "mode": stored.mode}

    base = quantization[""]
    values = entry(base)
    for path in sorted(quantization):
        if path and quantization[path] != base:
            values[stored_name(path, Layout.MLX)] = entry(quantization[path])
    return values
