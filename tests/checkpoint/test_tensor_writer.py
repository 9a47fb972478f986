"""Writing: MLX's layout, in shards, whole or not at all, the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor

from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.tensor_writer import write_tensors
from forklift.checkpoint.tensors import read_tensors
from forklift.errors import CheckpointError
from forklift.model.linear import quantize_groups

Files = dict[str, Tensor]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_shapes_names_types_and_metadata_are_mlx_ones(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    tiny_tensors["language.layers.0.linear_attn.A_log"] = torch.tensor([0.1, 0.2, 0.3, 0.4])
    write_tensors(tmp_path, {name: tensor.float() for name, tensor in tiny_tensors.items()}, tiny_config)
    written = load_file(tmp_path / "model.safetensors")
    assert written["language_model.model.layers.0.linear_attn.conv1d.weight"].shape == (96, 4, 1)
    assert written["vision_tower.patch_embed.proj.weight"].shape == (32, 2, 4, 4, 3)
    norm = tiny_tensors["language.norm.weight"].float()
    assert torch.equal(written["language_model.model.norm.weight"], (1 + norm).bfloat16())
    gated = "layers.0.linear_attn.norm.weight"
    assert torch.equal(written[f"language_model.model.{gated}"], tiny_tensors[f"language.{gated}"])
    # A_log stays as exact as it was given.
    assert {name.rpartition(".")[2] for name, tensor in written.items() if tensor.dtype == torch.float32} == {"A_log"}
    assert torch.equal(written["language_model.model.layers.0.linear_attn.A_log"], torch.tensor([0.1, 0.2, 0.3, 0.4]))
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        assert file.metadata() == {"format": "mlx"}


def test_reading_and_writing_again_gives_the_same_bytes(
    mlx_folder: Path, tmp_path: Path, tiny_config: ModelConfig
) -> None:
    again = tmp_path / "again"
    write_tensors(again, read_tensors(mlx_folder, tiny_config), tiny_config)
    assert contents(again) == {name: data for name, data in contents(mlx_folder).items() if "safetensors" in name}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(2**-16, 64, width=16), min_size=64, max_size=64))
def test_every_stored_norm_survives_the_shift_to_the_bit(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files, values: list[float]
) -> None:
    """A stored v >= 2**-16 of 8 significant bits: v - 1 needs at most 24 bits, as many as float32 has."""
    stored = torch.tensor(values).bfloat16()
    tensors = {**tiny_tensors, "language.norm.weight": stored.float() - 1}
    write_tensors(tmp_path, tensors, tiny_config)
    assert torch.equal(load_file(tmp_path / "model.safetensors")["language_model.model.norm.weight"], stored)
    read = read_tensors(tmp_path, tiny_config)["language.norm.weight"]
    assert isinstance(read, Tensor)
    assert torch.equal(read, stored.float() - 1)


def test_files_stay_below_the_limit_and_the_index_names_every_tensor(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    limit = 40_000
    write_tensors(tmp_path, tiny_tensors, tiny_config, shard_bytes=limit)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    shards = sorted(path.name for path in tmp_path.glob("model-*.safetensors"))
    assert shards == [f"model-{i:05}-of-{len(shards):05}.safetensors" for i in range(1, len(shards) + 1)]
    sizes = {}
    for shard in shards:
        held = load_file(tmp_path / shard)
        assert {name for name, place in index["weight_map"].items() if place == shard} == set(held)
        sizes[shard] = sum(tensor.nbytes for tensor in held.values())
        assert sizes[shard] < limit
    assert sum(sizes.values()) == index["metadata"]["total_size"] == sum(t.nbytes for t in tiny_tensors.values())


def test_a_later_checkpoint_leaves_no_file_of_the_earlier(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    write_tensors(tmp_path, tiny_tensors, tiny_config, shard_bytes=40_000)
    write_tensors(tmp_path, tiny_tensors, tiny_config)
    assert sorted(contents(tmp_path)) == ["model.safetensors", "model.safetensors.index.json"]


def test_an_interrupted_write_leaves_the_folder_as_it_was(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    write_tensors(tmp_path, tiny_tensors, tiny_config)
    before = contents(tmp_path)

    def interrupted() -> Iterator[tuple[str, Tensor]]:
        yield from list(tiny_tensors.items())[:40]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tensors(tmp_path, interrupted(), tiny_config, shard_bytes=20_000)
    assert contents(tmp_path) == before


def test_tensors_of_another_model_are_not_written(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    missing = {name: tensor for name, tensor in tiny_tensors.items() if name != "language.norm.weight"}
    cases = {
        r"1 tensors are missing, the first is language\.norm\.weight": missing,
        "extra.weight is no tensor of this configuration": {**tiny_tensors, "extra.weight": torch.zeros(1)},
        r"language\.norm\.weight has shape \[3\], not \[64\]": {
            **tiny_tensors,
            "language.norm.weight": torch.zeros(3),
        },
    }
    for message, tensors in cases.items():
        with pytest.raises(CheckpointError, match=message):
            write_tensors(tmp_path, tensors, tiny_config)
    assert contents(tmp_path) == {}


def test_a_packed_tensor_must_be_what_the_configuration_says(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    packed = quantize_groups(tiny_tensors["lm_head.weight"], bits=3)
    config = replace(tiny_config, quantization={"": Quantization(4)})
    with pytest.raises(CheckpointError, match=r"lm_head\.weight has 3 bits in groups of 64, and .*bits=4"):
        write_tensors(tmp_path, {**tiny_tensors, "lm_head.weight": packed}, config)
