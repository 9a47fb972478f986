"""The tensors of a checkpoint, read from either layout and written in MLX's.

Beyond names (`naming`) the layouts differ in three ways; ours is Hugging Face's in each:

| tensor                         | ours, Hugging Face           | MLX                          |
|--------------------------------|------------------------------|------------------------------|
| *.linear_attn.conv1d.weight    | [channels, 1, kernel]        | [channels, kernel, 1]        |
| vision.patch_embed.proj.weight | [hidden, channels, t, h, w]  | [hidden, t, h, w, channels]  |
| language norms, q_norm, k_norm | w, where a layer uses 1 + w  | 1 + w                        |

The norm of `linear_attn` is stored as it is used in both. A norm read from MLX is float32 here: what is left
of bfloat16(1 + w) without the 1 may need more bits than bfloat16 has. float32 holds it, and so writing it
back gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from forklift.checkpoint.config import ModelConfig
from forklift.checkpoint.config_reader import read_json
from forklift.checkpoint.naming import INDEX_NAME, Layout, canonical_name, is_ignored, stored_name
from forklift.checkpoint.shapes import expected_shapes
from forklift.errors import CheckpointError
from forklift.model.linear import Packed

FLOAT_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
_SHIFTED_NORMS = (
    "input_layernorm.weight",
    "post_attention_layernorm.weight",
    "q_norm.weight",
    "k_norm.weight",
)
_NAMES_SHOWN = 8


def is_shifted_norm(name: str) -> bool:
    """Whether MLX stores 1 + w for this tensor of ours."""
    return name == "language.norm.weight" or name.endswith(_SHIFTED_NORMS)


def read_tensors(folder: Path, config: ModelConfig) -> dict[str, Tensor | Packed]:
    """Every tensor of the model by our name, in our convention, in its stored type (norms from MLX: float32).

    The tensors are views of the files, mapped into memory: pages are read when they are first used.
    Quantised modules stay packed, under the name of their weight.
    Raises CheckpointError, naming the tensors, where a file or tensor is missing, unexpected, misshapen,
    truncated or of a type that no layout has.
    """
    stored = _read_files(folder)
    return _Fitting(folder, config, stored).tensors()


class TensorReader:
    """Reads a checkpoint without quantised modules tensor by tensor, each as a copy in memory.

    Nothing stays mapped between two calls, so a process that works through a checkpoint is as large as one tensor.
    """

    def __init__(self, folder: Path, config: ModelConfig) -> None:
        """Checks every tensor's name, shape and type. Raises CheckpointError as `read_tensors`, and for a checkpoint
        that is quantised."""
        fitting = _Fitting(folder, config, _read_files(folder))
        if packed := [name for name, tensor in fitting.tensors().items() if isinstance(tensor, Packed)]:
            raise CheckpointError(
                f"{folder} is quantised already ({len(packed)} modules, the first is "
                f"{packed[0].removesuffix('.weight')}); give the checkpoint that it was made from"
            )
        self.folder = folder
        self.config = config
        self.shapes = expected_shapes(config)
        self._shifted = fitting.shifted
        self._stored = {name: stored_name(name, fitting.layout) for name in self.shapes}
        self._files: dict[str, Path] = {}
        for path in tensor_files(folder):
            with safe_open(path, framework="pt") as shard:
                self._files |= dict.fromkeys(shard.keys(), path)

    def read(self, name: str) -> Tensor:
        """A tensor by our name, in our convention and its stored type (norms from MLX: float32)."""
        return self._slice(name, slice(None))

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        """Rows start to stop - 1 of a matrix."""
        return self._slice(name, slice(start, stop))

    def select(self, name: str, rows: Tensor) -> Tensor:
        """Some rows of a matrix; rows: integers [n]."""
        return self._slice(name, rows)

    def _slice(self, name: str, part: slice | Tensor) -> Tensor:
        path = self._files[self._stored[name]]
        try:
            with safe_open(path, framework="pt") as shard:
                tensor = _restored(name, shard.get_tensor(self._stored[name]), self.shapes[name], self._shifted)
                return tensor[part].clone()
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{path}: {self._stored[name]} cannot be read: {error}") from error


def tensor_files(folder: Path) -> list[Path]:
    """The files that hold the tensors: those of the index, or else model*.safetensors.

    Raises CheckpointError where there are none, or where the index names one that is not there.
    """
    index_path = folder / INDEX_NAME
    if not index_path.exists():
        files = sorted(folder.glob("model*.safetensors"))
        if not files:
            raise CheckpointError(f"{folder} is no checkpoint: it has no model.safetensors and no {INDEX_NAME}")
        return files
    names = read_json(index_path).get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(name, str) and name for name in names.values()):
        raise CheckpointError(f"{index_path}: weight_map must give a file for each tensor")
    shards = sorted(set(names.values()))
    if outside := [shard for shard in shards if Path(shard).name != shard]:
        raise CheckpointError(f"{index_path} points outside its folder: {_listed(outside)}")
    if missing := [shard for shard in shards if not (folder / shard).is_file()]:
        raise CheckpointError(
            f"{folder}: {len(missing)} of the {len(shards)} files that {INDEX_NAME} names are not there: "
            f"{_listed(missing)}; fetch them again"
        )
    return [folder / shard for shard in shards]


def _read_files(folder: Path) -> dict[str, Tensor]:
    stored: dict[str, Tensor] = {}
    for path in tensor_files(folder):
        try:
            with safe_open(path, framework="pt") as shard:
                for name in shard.keys():  # noqa: SIM118 - a safe_open is no mapping
                    if name in stored:
                        raise CheckpointError(f"{path}: {name} stands in two files of this checkpoint")
                    if not is_ignored(name):
                        stored[name] = shard.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{path} is damaged or truncated{_described(path)}: {error}") from error
    return stored


def _described(path: Path) -> str:
    with path.open("rb") as file:
        if file.read(16) == b"version https://":
            return " (it is a Git LFS pointer, not the file itself; run `git lfs pull`)"
    return f" ({path.stat().st_size} bytes)"


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


@dataclass
class _Fitting:
    """Turns stored tensors into ours, and collects everything that does not fit before it complains."""

    folder: Path
    config: ModelConfig
    stored: Mapping[str, Tensor]
    unexpected: list[str] = field(default_factory=list)
    misshapen: list[str] = field(default_factory=list)
    mistyped: list[str] = field(default_factory=list)
    layout: Layout = Layout.HUGGING_FACE
    shifted: bool = False  # whether the norms hold 1 + w

    def tensors(self) -> dict[str, Tensor | Packed]:
        expected = expected_shapes(self.config)
        found, layout = self._named()
        self.layout, self.shifted = layout, self._norms_are_shifted(found, layout)
        used = set(expected)
        fitted: dict[str, Tensor | Packed] = {}
        for name, shape in expected.items():
            if name not in found:
                continue
            tensor = found[name]
            path = name.removesuffix(".weight")
            if f"{path}.scales" in found or tensor.dtype == torch.uint32:
                used |= {f"{path}.scales", f"{path}.biases"}
                if (packed := self._packed(path, shape, found, layout)) is not None:
                    fitted[name] = packed
                continue
            if tensor.dtype not in FLOAT_DTYPES:
                self.mistyped.append(f"{stored_name(name, layout)} is {_dtype_name(tensor.dtype)}")
                continue
            tensor = _restored(name, tensor, shape, self.shifted)
            if tuple(tensor.shape) != shape:
                self._misshapen(stored_name(name, layout), shape, tensor)
                continue
            fitted[name] = tensor
        self.unexpected += [stored_name(name, layout) for name in sorted(set(found) - used)]
        missing = [stored_name(name, layout) for name in expected if name not in found]
        self._complain(missing)
        return fitted

    def _named(self) -> tuple[dict[str, Tensor], Layout]:
        found: dict[str, Tensor] = {}
        layouts: dict[Layout, str] = {}
        for stored, tensor in self.stored.items():
            named = canonical_name(stored)
            if named is None:
                self.unexpected.append(stored)
                continue
            name, layout = named
            layouts.setdefault(layout, stored)
            # A tied head may be stored all the same; it is the embedding.
            if not (self.config.text.tie_word_embeddings and name.startswith("lm_head.")):
                found[name] = tensor
        if len(layouts) > 1:
            names = " and ".join(f"{name} ({layout.value})" for layout, name in layouts.items())
            raise CheckpointError(f"{self.folder} mixes the names of two layouts: {names}; convert it again")
        return found, next(iter(layouts), Layout.HUGGING_FACE)

    def _norms_are_shifted(self, found: Mapping[str, Tensor], layout: Layout) -> bool:
        """Whether norms hold 1 + w: what was converted to MLX's shapes was shifted too; names say less."""
        kernel = self.config.text.conv_kernel_size
        shapes = {name: list(tensor.shape) for name, tensor in found.items() if name.endswith(".conv1d.weight")}
        converted = [name for name, shape in shapes.items() if len(shape) == 3 and shape[1:] == [kernel, 1]]
        if layout is Layout.HUGGING_FACE and converted:
            name = converted[0]
            raise CheckpointError(
                f"{self.folder} has Hugging Face's names and MLX's shape of {stored_name(name, layout)}, "
                f"{shapes[name]}, so whether its norms hold w or 1 + w cannot be told; convert it again"
            )
        return layout is Layout.MLX and len(converted) == len(shapes)

    def _packed(self, path: str, shape: tuple[int, ...], found: Mapping[str, Tensor], layout: Layout) -> Packed | None:
        stored_path = stored_name(path, layout)
        stated = self.config.quantization_of(path)
        parts = {part: found.get(f"{path}.{part}") for part in ("weight", "scales", "biases")}
        codes, scales, biases = parts.values()
        if stated is None:
            self.mistyped.append(f"{stored_path}.weight is quantised, and config.json has no quantization")
        elif codes is None or scales is None or biases is None:
            absent = ", ".join(f"{stored_path}.{part}" for part, tensor in parts.items() if tensor is None)
            self.mistyped.append(f"{stored_path}.weight is quantised, and {absent} is missing")
        elif codes.dtype != torch.uint32 or not {scales.dtype, biases.dtype} <= set(FLOAT_DTYPES):
            types = ", ".join(f"{part} {_dtype_name(t.dtype)}" for part, t in parts.items() if t is not None)
            self.mistyped.append(f"{stored_path} has {types}; a quantised module has uint32 and two floats")
        elif len(shape) != 2 or shape[1] % stated.group_size:
            self.mistyped.append(f"{stored_path}.weight cannot be quantised in groups of {stated.group_size}")
        else:
            rows, columns = shape
            groups = (rows, columns // stated.group_size)
            wanted = {"weight": (rows, columns * stated.bits // 32), "scales": groups, "biases": groups}
            wrong = [part for part, size in wanted.items() if tuple(found[f"{path}.{part}"].shape) != size]
            for part in wrong:
                self._misshapen(f"{stored_path}.{part}", wanted[part], found[f"{path}.{part}"])
            if not wrong:
                return Packed(codes, scales, biases, stated.bits, stated.group_size)
        return None

    def _misshapen(self, stored: str, expected: tuple[int, ...], tensor: Tensor) -> None:
        self.misshapen.append(f"{stored} (expected {list(expected)}, found {list(tensor.shape)})")

    def _complain(self, missing: list[str]) -> None:
        problems = [
            f"{len(names)} {kind}: {_listed(names)}"
            for kind, names in (
                ("missing", missing),
                ("unexpected", self.unexpected),
                ("misshapen", self.misshapen),
                ("of the wrong type", self.mistyped),
            )
            if names
        ]
        if problems:
            raise CheckpointError(f"{self.folder}: the tensors do not fit config.json. {'; '.join(problems)}")


def _restored(name: str, tensor: Tensor, shape: tuple[int, ...], shifted: bool) -> Tensor:
    """In our convention: `shifted` norms without their 1, our axes where the shape says that they are MLX's."""
    if shifted and is_shifted_norm(name):
        return tensor.float() - 1.0
    if tuple(tensor.shape) == shape:
        return tensor
    if name.endswith(".conv1d.weight") and tensor.dim() == 3:
        return tensor.movedim(-1, 1).contiguous()
    if name == "vision.patch_embed.proj.weight" and tensor.dim() == 5:
        return tensor.movedim(-1, 1).contiguous()
    return tensor


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
