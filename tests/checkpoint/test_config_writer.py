"""What is written closes the traps, and stock loaders take it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.config_reader import read_config
from forklift.checkpoint.config_writer import write_config
from forklift.errors import CheckpointError


def read(folder: Path, name: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / name).read_text())
    return values


def test_both_end_tokens_of_the_tokenizer_are_written_whatever_the_configuration_knew(
    tmp_path: Path, tiny_config: ModelConfig, tokenizer_json: dict[str, Any]
) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_json))
    write_config(tmp_path, replace(tiny_config, eos_token_ids=(60,)))
    assert read(tmp_path, "generation_config.json")["eos_token_id"] == [60, 62]
    assert read(tmp_path, "config.json")["eos_token_id"] == [60, 62]
    assert read(tmp_path, "config.json")["text_config"]["eos_token_id"] == [60, 62]


def test_other_generation_settings_are_kept(tmp_path: Path, tiny_config: ModelConfig) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps({"temperature": 0.5, "eos_token_id": 60}))
    write_config(tmp_path, tiny_config)
    assert read(tmp_path, "generation_config.json") == {
        "temperature": 0.5,
        "eos_token_id": [60, 62],
        "pad_token_id": 60,
    }


def test_a_checkpoint_that_would_never_stop_is_not_written(tmp_path: Path, tiny_config: ModelConfig) -> None:
    with pytest.raises(CheckpointError, match="no end token is known"):
        write_config(tmp_path, replace(tiny_config, eos_token_ids=()))
    assert list(tmp_path.iterdir()) == []


def test_no_prediction_head_is_announced(tmp_path: Path, tiny_config: ModelConfig) -> None:
    write_config(tmp_path, tiny_config)
    assert read(tmp_path, "config.json")["text_config"]["mtp_num_hidden_layers"] == 0


def test_quantization_is_written_twice_with_entries_only_where_a_module_differs(
    tmp_path: Path, tiny_config: ModelConfig
) -> None:
    quantization = {
        "": Quantization(4),
        "lm_head": Quantization(8),
        "language.embed_tokens": Quantization(4),
    }
    write_config(tmp_path, replace(tiny_config, quantization=quantization))
    written = read(tmp_path, "config.json")
    assert written["quantization"] == {
        "group_size": 64,
        "bits": 4,
        "mode": "affine",
        "language_model.lm_head": {"group_size": 64, "bits": 8, "mode": "affine"},
    }
    assert written["quantization_config"] == written["quantization"]
    assert read_config(tmp_path).quantization_of("lm_head") == Quantization(8)


def test_transformers_reads_the_same_configuration(tmp_path: Path, tiny_config: ModelConfig) -> None:
    from transformers import AutoConfig

    write_config(tmp_path, tiny_config)
    theirs = AutoConfig.from_pretrained(tmp_path)
    assert type(theirs).__name__ == "Qwen3_5Config"
    assert tuple(theirs.text_config.layer_types) == tiny_config.text.layer_kinds
    assert theirs.text_config.rope_parameters["mrope_section"] == [4, 2, 2]
    assert theirs.text_config.rope_parameters["partial_rotary_factor"] == 0.5
    assert theirs.text_config.rope_parameters["rope_theta"] == 100.0
    assert theirs.vision_config.num_position_embeddings == 16
    assert theirs.image_token_id == 70
    # And back: what transformers saves means the same to us.
    again = tmp_path / "again"
    theirs.save_pretrained(again)
    assert read_config(again) == tiny_config
