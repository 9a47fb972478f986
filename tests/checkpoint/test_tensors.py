"""Reading: both layouts give the same tensors, and every kind of damage is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.config_writer import write_config
from forklift.checkpoint.naming import Layout, stored_name
from forklift.checkpoint.shapes import expected_shapes
from forklift.checkpoint.tensor_writer import write_tensors
from forklift.checkpoint.tensors import is_shifted_norm, read_tensors
from forklift.errors import CheckpointError
from forklift.model.linear import Packed, dequantize, quantize_groups

Files = dict[str, Tensor]
UP = "language.layers.0.mlp.up_proj"
MLX_UP = "language_model.model.layers.0.mlp.up_proj"


def assert_same(read: dict[str, Tensor | Packed], expected: dict[str, Tensor]) -> None:
    assert set(read) == set(expected)
    for name, tensor in read.items():
        assert isinstance(tensor, Tensor)
        assert torch.equal(tensor.float(), expected[name].float()), name


def edit(folder: Path, change: Callable[[Files], object]) -> None:
    """Rewrite the one tensor file of `folder`."""
    path = folder / "model.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    change(tensors)
    save_file(tensors, path)


@pytest.fixture
def hugging_face_folder(tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files) -> Path:
    folder = tmp_path / "tiny-hf"
    write_config(folder, tiny_config)
    named = {stored_name(name, Layout.HUGGING_FACE): tensor for name, tensor in tiny_tensors.items()}
    save_file(named, folder / "model.safetensors")
    return folder


def test_hugging_face_naming_is_read_as_it_is(
    hugging_face_folder: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    assert_same(read_tensors(hugging_face_folder, tiny_config), tiny_tensors)


def test_mlx_naming_is_read_with_its_axes_and_norms_undone(
    mlx_folder: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    # bfloat16(1 + w) is all that the file holds, so that is what must come back, less the 1.
    expected = {
        name: ((1 + tensor.float()).bfloat16().float() - 1) if is_shifted_norm(name) else tensor
        for name, tensor in tiny_tensors.items()
    }
    assert_same(read_tensors(mlx_folder, tiny_config), expected)


def test_only_the_norms_that_a_layer_shifts_are_shifted(tiny_config: ModelConfig) -> None:
    shifted = [name for name in expected_shapes(tiny_config) if is_shifted_norm(name)]
    # Four layers with two norms, two full-attention layers with q_norm and k_norm, one at the end.
    assert len(shifted) == 4 * 2 + 2 * 2 + 1
    assert not [name for name in shifted if "linear_attn" in name or name.startswith("vision.")]


def test_mlx_names_with_unconverted_convolutions_hold_unshifted_norms(
    hugging_face_folder: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    named = {stored_name(name, Layout.MLX): tensor for name, tensor in tiny_tensors.items()}
    save_file(named, hugging_face_folder / "model.safetensors")
    assert_same(read_tensors(hugging_face_folder, tiny_config), tiny_tensors)


def test_hugging_face_names_with_converted_convolutions_are_refused(
    hugging_face_folder: Path, tiny_config: ModelConfig
) -> None:
    name = "model.language_model.layers.0.linear_attn.conv1d.weight"
    edit(hugging_face_folder, lambda files: files.update({name: files[name].movedim(1, -1).contiguous()}))
    with pytest.raises(CheckpointError, match=r"conv1d.weight, \[96, 4, 1\], so whether its norms hold w or 1 \+ w"):
        read_tensors(hugging_face_folder, tiny_config)


def test_shards_are_read_through_their_index(mlx_folder: Path, tiny_config: ModelConfig, tiny_tensors: Files) -> None:
    whole = read_tensors(mlx_folder, tiny_config)
    write_tensors(mlx_folder, tiny_tensors, tiny_config, shard_bytes=50_000)
    assert len(list(mlx_folder.glob("model-*.safetensors"))) > 2
    assert_same(read_tensors(mlx_folder, tiny_config), {n: t for n, t in whole.items() if isinstance(t, Tensor)})
    (mlx_folder / "model.safetensors.index.json").unlink()  # without it, every model*.safetensors counts
    assert_same(read_tensors(mlx_folder, tiny_config), {n: t for n, t in whole.items() if isinstance(t, Tensor)})


def test_prediction_head_and_tied_copy_are_ignored(
    hugging_face_folder: Path, tiny_config: ModelConfig, tiny_tensors: Files
) -> None:
    edit(hugging_face_folder, lambda files: files.update({"mtp.fc.weight": torch.zeros(3)}))
    tied = replace(tiny_config, text=replace(tiny_config.text, tie_word_embeddings=True))
    read = read_tensors(hugging_face_folder, tied)
    assert set(tiny_tensors) - set(read) == {"lm_head.weight"}


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("group_size", [32, 64])
def test_quantised_modules_stay_packed_at_every_width(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: Files, bits: int, group_size: int
) -> None:
    stored = Quantization(bits, group_size)
    config = replace(tiny_config, quantization={"": Quantization(4, 64), UP: stored})
    packed = quantize_groups(tiny_tensors[f"{UP}.weight"], bits=bits, group_size=group_size)
    write_tensors(tmp_path, {**tiny_tensors, f"{UP}.weight": packed}, config)
    read = read_tensors(tmp_path, config)[f"{UP}.weight"]
    assert isinstance(read, Packed)
    assert (read.bits, read.group_size) == (bits, group_size)
    assert torch.equal(dequantize(read), dequantize(packed))
    assert [name for name, tensor in read_tensors(tmp_path, config).items() if isinstance(tensor, Packed)] == [
        f"{UP}.weight"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda files: files.pop("language_model.model.norm.weight"),
            r"1 missing: language_model\.model\.norm\.weight$",
        ),
        (
            lambda files: [files.pop(name) for name in list(files) if ".mlp.up_proj" in name],
            r"4 missing: language_model\.model\.layers\.0\.mlp\.up_proj\.weight, .*layers\.3",
        ),
        (
            lambda files: [files.pop(name) for name in list(files) if "vision_tower" in name],
            r"33 missing: (vision_tower\S+, ){7}vision_tower\S+ and 25 more$",
        ),
        (
            lambda files: files.update({"language_model.model.layers.9.mlp.up_proj.weight": torch.zeros(2)}),
            r"1 unexpected: language_model\.model\.layers\.9\.mlp\.up_proj\.weight$",
        ),
        (lambda files: files.update({"adapter.weight": torch.zeros(2)}), r"1 unexpected: adapter\.weight$"),
        (
            lambda files: files.update({f"{MLX_UP}.weight": torch.zeros(64, 128)}),
            r"1 misshapen: \S+up_proj\.weight \(expected \[128, 64\], found \[64, 128\]\)$",
        ),
        (
            lambda files: files.update({f"{MLX_UP}.weight": torch.zeros(128, 64, dtype=torch.int32)}),
            r"1 of the wrong type: \S+up_proj\.weight is int32$",
        ),
        (
            lambda files: files.update({f"{MLX_UP}.weight": torch.zeros(128, 8, dtype=torch.uint32)}),
            r"up_proj\.weight is quantised, and config\.json has no quantization$",
        ),
        (
            lambda files: (
                files.pop("language_model.model.norm.weight"),
                files.update({"adapter.weight": torch.zeros(2), f"{MLX_UP}.weight": torch.zeros(1)}),
            ),
            r"1 missing: .*; 1 unexpected: .*; 1 misshapen: ",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_listed_in_one_error(
    mlx_folder: Path, tiny_config: ModelConfig, change: Callable[[Files], object], message: str
) -> None:
    edit(mlx_folder, change)
    with pytest.raises(CheckpointError, match=rf"the tensors do not fit config\.json\. .*{message}"):
        read_tensors(mlx_folder, tiny_config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.pop(f"{MLX_UP}.scales"), r"is quantised, and \S+up_proj\.scales is missing$"),
        (lambda files: files.pop(f"{MLX_UP}.biases"), r"is quantised, and \S+up_proj\.biases is missing$"),
        (
            lambda files: files.update({f"{MLX_UP}.scales": torch.zeros(128, 2)}),
            r"1 misshapen: \S+up_proj\.scales \(expected \[128, 1\], found \[128, 2\]\)$",
        ),
        (
            # 4-bit codes under a configuration that says 5
            lambda files: files.update({f"{MLX_UP}.weight": torch.zeros(128, 8, dtype=torch.uint32)}),
            r"1 misshapen: \S+up_proj\.weight \(expected \[128, 10\], found \[128, 8\]\)$",
        ),
        (
            lambda files: files.update({f"{MLX_UP}.weight": torch.zeros(128, 64)}),
            r"has weight float32, .*; a quantised module has uint32 and two floats$",
        ),
    ],
)
def test_a_quantised_module_that_does_not_fit_is_named(
    tmp_path: Path,
    tiny_config: ModelConfig,
    tiny_tensors: Files,
    change: Callable[[Files], object],
    message: str,
) -> None:
    config = replace(tiny_config, quantization={"": Quantization(5)})
    packed = quantize_groups(tiny_tensors[f"{UP}.weight"], bits=5)
    write_tensors(tmp_path, {**tiny_tensors, f"{UP}.weight": packed}, config)
    edit(tmp_path, change)
    with pytest.raises(CheckpointError, match=message):
        read_tensors(tmp_path, config)


def test_mixed_names_are_refused(mlx_folder: Path, tiny_config: ModelConfig) -> None:
    edit(mlx_folder, lambda files: files.update({"model.language_model.norm.weight": torch.zeros(64)}))
    with pytest.raises(CheckpointError, match="mixes the names of two layouts"):
        read_tensors(mlx_folder, tiny_config)


@pytest.mark.parametrize("keep", [0, 4, 200, -1])
def test_a_truncated_file_is_named(mlx_folder: Path, tiny_config: ModelConfig, keep: int) -> None:
    path = mlx_folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged or truncated \(\d+ bytes\)"):
        read_tensors(mlx_folder, tiny_config)


def test_a_git_lfs_pointer_is_recognised(mlx_folder: Path, tiny_config: ModelConfig) -> None:
    (mlx_folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(CheckpointError, match=r"is a Git LFS pointer.*git lfs pull"):
        read_tensors(mlx_folder, tiny_config)


@pytest.mark.parametrize(
    ("weight_map", "message"),
    [
        (
            {"a": "model-1.safetensors", "b": "model.safetensors"},
            r"1 of the 2 files .* not there: model-1\.safetensors",
        ),
        ({"a": "../other/model.safetensors"}, "points outside its folder"),
        (["a"], "weight_map must give a file for each tensor"),
        ({"a": 7}, "weight_map must give a file for each tensor"),
        (None, "weight_map must give a file for each tensor"),
    ],
)
def test_an_index_that_cannot_be_followed_is_named(
    mlx_folder: Path, tiny_config: ModelConfig, weight_map: object, message: str
) -> None:
    (mlx_folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    with pytest.raises(CheckpointError, match=message):
        read_tensors(mlx_folder, tiny_config)


def test_a_folder_without_tensors_is_no_checkpoint(mlx_folder: Path, tiny_config: ModelConfig) -> None:
    for path in mlx_folder.glob("model.safetensors*"):
        path.unlink()
    with pytest.raises(CheckpointError, match=r"it has no model\.safetensors and no model\.safetensors\.index\.json"):
        read_tensors(mlx_folder, tiny_config)


def test_a_tensor_in_two_files_is_refused(mlx_folder: Path, tiny_config: ModelConfig) -> None:
    (mlx_folder / "model.safetensors.index.json").unlink()
    (mlx_folder / "model-copy.safetensors").write_bytes((mlx_folder / "model.safetensors").read_bytes())
    with pytest.raises(CheckpointError, match="stands in two files"):
        read_tensors(mlx_folder, tiny_config)
