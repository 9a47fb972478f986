"""Tensors written in MLX's layout, into shards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.config_writer import write_json
from forklift.checkpoint.naming import INDEX_NAME, Layout, stored_name
from forklift.checkpoint.shapes import expected_shapes
from forklift.checkpoint.tensors import is_shifted_norm
from forklift.errors import CheckpointError
from forklift.model.linear import Packed

SHARD_BYTES = 5_000_000_000


def write_tensors(
    folder: Path,
    tensors: Mapping[str, Tensor | Packed] | Iterable[tuple[str, Tensor | Packed]],
    config: ModelConfig,
    *,
    dtype: torch.dtype | None = torch.bfloat16,
    shard_bytes: int = SHARD_BYTES,
) -> None:
    """Write every tensor of the model in MLX's layout; shards and index appear when all are on the disk.

    tensors: by our name, in our convention; pairs may come from a generator, one shard is kept in memory.
    dtype: what float tensors are rounded to; None keeps each as it is. Packed ones are stored as they are.
    shard_bytes: a file's tensors stay below this, unless one tensor alone does not.
    Raises CheckpointError where a tensor is missing, unexpected or misshapen, or packed otherwise than
    `config` says; the folder is then as it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writer = _ShardWriter(folder, shard_bytes)
    try:
        awaited = expected_shapes(config)
        for name, tensor in tensors.items() if isinstance(tensors, Mapping) else tensors:
            shape = awaited.pop(name, None)
            if shape is None:
                raise CheckpointError(f"{name} is no tensor of this configuration, or came twice")
            if tuple(tensor.shape) != shape:
                raise CheckpointError(f"{name} has shape {list(tensor.shape)}, not {list(shape)}")
            writer.add(stored_tensors(name, tensor, config, dtype))
        if awaited:
            raise CheckpointError(f"{len(awaited)} tensors are missing, the first is {next(iter(awaited))}")
        writer.finish()
    finally:
        writer.discard()


def stored_tensors(
    name: str, tensor: Tensor | Packed, config: ModelConfig, dtype: torch.dtype | None
) -> dict[str, Tensor]:
    """MLX's names and values for one tensor of ours."""
    stored = stored_name(name, Layout.MLX)
    if isinstance(tensor, Packed):
        path = name.removesuffix(".weight")
        if config.quantization_of(path) != Quantization(tensor.bits, tensor.group_size):
            raise CheckpointError(
                f"{name} has {tensor.bits} bits in groups of {tensor.group_size}, and the configuration says "
                f"{config.quantization_of(path)}"
            )
        stored_path = stored.removesuffix(".weight")
        return {
            f"{stored_path}.weight": tensor.codes,
            f"{stored_path}.scales": tensor.scales,
            f"{stored_path}.biases": tensor.biases,
        }
    tensor = tensor.detach()
    if is_shifted_norm(name):
        tensor = tensor.float() + 1.0
    if name.endswith(".conv1d.weight") or name == "vision.patch_embed.proj.weight":
        tensor = tensor.movedim(1, -1)
    # A_log keeps its type: its exponential is a decay that acts thousands of times over.
    if dtype is not None and not name.endswith(".A_log"):
        tensor = tensor.to(dtype)
    return {stored: tensor}


class _ShardWriter:
    """Collects tensors into files with provisional names; they get their own when their number is known."""

    def __init__(self, folder: Path, shard_bytes: int) -> None:
        self._folder = folder
        self._shard_bytes = shard_bytes
        self._pending: dict[str, Tensor] = {}
        self._pending_bytes = 0
        self._total_bytes = 0
        self._shards: list[tuple[Path, list[str]]] = []

    def add(self, tensors: Mapping[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            if self._pending and self._pending_bytes + tensor.nbytes >= self._shard_bytes:
                self._flush()
            self._pending[name] = tensor.to("cpu").contiguous()
            self._pending_bytes += tensor.nbytes
            self._total_bytes += tensor.nbytes

    def _flush(self) -> None:
        path = self._folder / f".shard-{len(self._shards)}.partial"
        self._shards.append((path, sorted(self._pending)))
        save_file(self._pending, path, metadata={"format": "mlx"})
        path.chmod(0o644)  # it is made for its owner alone; a checkpoint is read by others too
        self._pending, self._pending_bytes = {}, 0

    def finish(self) -> None:
        """Put the files in place, the index last, and remove those of an earlier checkpoint."""
        self._flush()
        count = len(self._shards)
        weight_map: dict[str, str] = {}
        for number, (partial, names) in enumerate(self._shards, 1):
            name = "model.safetensors" if count == 1 else f"model-{number:05}-of-{count:05}.safetensors"
            os.replace(partial, self._folder / name)
            weight_map |= dict.fromkeys(names, name)
        index = {
            "metadata": {"total_size": self._total_bytes},
            "weight_map": dict(sorted(weight_map.items())),
        }
        write_json(self._folder / INDEX_NAME, index)
        for path in self._folder.glob("model*.safetensors"):
            if path.name not in weight_map.values():
                path.unlink()

    def discard(self) -> None:
        """Remove what was not put in place."""
        for partial, _ in self._shards:
            partial.unlink(missing_ok=True)
