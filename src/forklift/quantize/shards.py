"""Weight files that are filled in place, so that an interrupted run can go on.

Names, types and shapes are known before the first weight is computed. So the files are laid out at once, at their full
size (a disk that is too small says so then), and every tensor is written where it belongs. A list of finished tensors
says what is left after an interruption.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

_DTYPES = {torch.bfloat16: ("BF16", 2), torch.float16: ("F16", 2), torch.float32: ("F32", 4), torch.uint32: ("U32", 4)}


@dataclass(frozen=True)
class StoredTensor:
    """A tensor by its name in the file. owner: what it is finished together with."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    owner: str

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * _DTYPES[self.dtype][1]


@dataclass(frozen=True)
class Shard:
    """One file. offsets: place of each tensor's first byte, from the file's start."""

    file_name: str
    header: bytes
    offsets: dict[str, int]
    size: int


def lay_out(tensors: Sequence[StoredTensor], shard_bytes: int) -> list[Shard]:
    """Tensors into files in the order given; a file's tensors stay below `shard_bytes` unless one alone does not."""
    groups: list[list[StoredTensor]] = [[]]
    held = 0
    for tensor in tensors:
        if groups[-1] and held + tensor.nbytes >= shard_bytes:
            groups.append([])
            held = 0
        groups[-1].append(tensor)
        held += tensor.nbytes
    count = len(groups)
    names = [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    return [
        _shard(name, group) for name, group in zip(names if count > 1 else ["model.safetensors"], groups, strict=True)
    ]


def _shard(file_name: str, tensors: Sequence[StoredTensor]) -> Shard:
    # Wide types first: then everything is aligned to its own size.
    ordered = sorted(tensors, key=lambda tensor: (-_DTYPES[tensor.dtype][1], tensor.name))
    entries: dict[str, object] = {"__metadata__": {"format": "mlx"}}
    offsets: dict[str, int] = {}
    place = 0
    for tensor in ordered:
        entries[tensor.name] = {
            "dtype": _DTYPES[tensor.dtype][0],
            "shape": list(tensor.shape),
            "data_offsets": [place, place + tensor.nbytes],
        }
        offsets[tensor.name] = place
        place += tensor.nbytes
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    header = len(text).to_bytes(8, "little") + text
    return Shard(file_name, header, {name: len(header) + start for name, start in offsets.items()}, len(header) + place)


class ShardFiles:
    """The files of `shards` in `folder`, open for writing. A context manager."""

    def __init__(self, folder: Path, shards: Sequence[Shard]) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._open: list[int] = []
        for shard in shards:
            descriptor = os.open(folder / shard.file_name, os.O_RDWR | os.O_CREAT, 0o644)
            self._open.append(descriptor)
            _reserve(descriptor, shard.size)
            _write_at(descriptor, shard.header, 0)
            self._places |= {name: (descriptor, offset) for name, offset in shard.offsets.items()}

    def write(self, name: str, tensor: Tensor, first_byte: int = 0) -> None:
        """Write all of a tensor, or a run of its rows that begins `first_byte` after its own first byte."""
        descriptor, offset = self._places[name]
        content = tensor.detach().cpu().contiguous().view(torch.uint8).reshape(-1).numpy()
        _write_at(descriptor, content.data, offset + first_byte)

    def flush(self) -> None:
        """Everything written so far is on the disk when this returns."""
        for descriptor in self._open:
            os.fsync(descriptor)

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop())

    def __enter__(self) -> ShardFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reserve(descriptor: int, size: int) -> None:
    """Bring a file to `size` bytes on the disk, so that no later write finds it full."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    os.truncate(descriptor, size)


def _write_at(descriptor: int, content: bytes | memoryview, offset: int) -> None:
    view = memoryview(content)
    while view:
        # pwrite takes at most 2 GiB at a time.
        written = os.pwrite(descriptor, view[: 1 << 30], offset)
        view, offset = view[written:], offset + written


class Finished:
    """The list of finished tensors: one line each, added when the tensor is on the disk."""

    def __init__(self, path: Path, recipe: str) -> None:
        """recipe: what the files are made by; a list of another recipe is dropped, and `fresh` is then true."""
        self._path = path
        # A line that was cut by the end of the process has no line feed yet, and does not count.
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        self.fresh = not lines or lines[0] != recipe
        self.names = set() if self.fresh else set(lines[1:])
        kept = [recipe, *sorted(self.names)]
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text("\n".join(kept) + "\n")
        os.replace(partial, path)

    def add(self, names: Sequence[str]) -> None:
        self.names |= set(names)
        with self._path.open("a") as file:
            file.writelines(f"{name}\n" for name in names)
            file.flush()
            os.fsync(file.fileno())
