"""A plan into a checkpoint folder, tensor by tensor; or a conversion, which is a plan without widths.

The folder appears under its name when it is whole. Until then everything lies in `<name>.partial`, and the same
command goes on there after any interruption; the result is the same byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from forklift import __version__
from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.config_reader import read_json
from forklift.checkpoint.config_writer import write_config, write_json
from forklift.checkpoint.naming import INDEX_NAME
from forklift.checkpoint.tensor_writer import SHARD_BYTES, stored_tensors
from forklift.checkpoint.tensors import TensorReader
from forklift.errors import CheckpointError, DiskFullError, UsageError
from forklift.model.linear import Packed
from forklift.outputs.files import cannot_write
from forklift.quantize.calibration_file import Calibration
from forklift.quantize.fingerprint import model_fingerprint
from forklift.quantize.levels import GROUP_SIZE, vision_matrices
from forklift.quantize.plan import Plan
from forklift.quantize.rounding import Curvature, Rounder, round_min_max
from forklift.quantize.shards import Finished, ShardFiles, StoredTensor, lay_out

OnStep = Callable[[float, float, str], None]  # weights done, all weights, what comes next

# Changes when the same plan and calibration would give other bytes.
ROUNDING_VERSION = 1
_CHUNK_WEIGHTS = 1 << 24  # weights of a matrix in memory at a time, as float32
_COPIED = (".json", ".jinja", ".txt", ".model", ".tiktoken")
_COPIED_NAMES = ("LICENSE", "LICENCE", "NOTICE", "COPYING")
_NOT_COPIED = ("config.json", INDEX_NAME, "forklift_plan.json", "training_record.json")


@dataclass(frozen=True)
class WritingSettings:
    """extra: further files of the folder by name, as text; `made` is added to what config.json records.

    flush_seconds: how much work an interruption may cost; each flush waits for the disk.
    """

    device: str = "cpu"
    flush_seconds: float = 5.0
    shard_bytes: int = SHARD_BYTES
    extra: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)


def write_checkpoint(
    reader: TensorReader,
    out: Path,
    plan: Plan | None,
    calibration: Calibration | None = None,
    settings: WritingSettings | None = None,
    on_step: OnStep = lambda done, total, label: None,
) -> bool:
    """Write `out` in MLX's layout: quantised by `plan`, or bfloat16 without one.

    calibration: what rounding weighs errors by; without it, a plan is rounded as `mlx.core.quantize` does.
    Returns False where `out` is there already, made by the same recipe.
    Raises UsageError where `out` is something else or the calibration belongs to another model, CheckpointError,
    naming the tensor, for NaN or infinity, DiskFullError or OutputError where it cannot be written.
    """
    settings = settings or WritingSettings()
    if calibration is not None:
        calibration.check_model(model_fingerprint(reader))
    writing = _Writing(reader, out, plan, calibration, settings)
    if out.exists():
        if not writing.is_done():
            raise UsageError(f"{out} exists and is something else; remove it, or give another folder")
        shutil.rmtree(writing.work, ignore_errors=True)
        return False
    try:
        writing.run(on_step)
    except OSError as error:
        # What is written stays: with more room, the same command goes on.
        raise cannot_write(writing.work, error) from error
    return True


class _Writing:
    def __init__(
        self,
        reader: TensorReader,
        out: Path,
        plan: Plan | None,
        calibration: Calibration | None,
        settings: WritingSettings,
    ) -> None:
        self.reader = reader
        self.out = out
        self.work = out.with_name(f"{out.name}.partial")
        self.result = self.work / "checkpoint"
        self.plan = plan
        self.calibration = calibration
        self.settings = settings
        self.bits: dict[str, int] = {} if plan is None else dict(plan.bits)
        if plan is not None and plan.vision_bits is not None:
            self.bits |= {matrix.path: plan.vision_bits for matrix in vision_matrices(reader.config)}
        self.config = self._config()
        self.made = self._made()
        self.recipe = hashlib.sha256(
            json.dumps([self.made, self.bits, self.settings.shard_bytes, dict(self.settings.extra)]).encode()
        ).hexdigest()[:32]

    def _config(self) -> ModelConfig:
        if self.plan is None:
            return replace(self.reader.config, quantization={})
        widths = {path: Quantization(bits, GROUP_SIZE) for path, bits in self.bits.items()}
        return replace(self.reader.config, quantization={"": Quantization(self.plan.base_bits, GROUP_SIZE), **widths})

    def _made(self) -> dict[str, Any]:
        made: dict[str, Any] = {"version": __version__, "model": model_fingerprint(self.reader)}
        if self.plan is None:
            return made | {"method": "converted"} | dict(self.settings.made)
        return (
            made
            | {
                "method": self.plan.method,
                "level": self.plan.level,
                "budget_bytes": self.plan.budget_bytes,
                "bits_per_weight": self.plan.bits_per_weight,
                "calibration": "" if self.calibration is None else self.calibration.id,
                "rounding": "min/max" if self.calibration is None else f"fitted, version {ROUNDING_VERSION}",
            }
            | dict(self.settings.made)
        )

    def is_done(self) -> bool:
        """Whether `out` is what this would write."""
        path = self.out / "config.json"
        return path.is_file() and (read_json(path).get("forklift") or {}).get("recipe") == self.recipe

    def run(self, on_step: OnStep) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        finished = Finished(self.work / "finished.txt", self.recipe)
        if finished.fresh:
            shutil.rmtree(self.result, ignore_errors=True)
        self.result.mkdir(exist_ok=True)
        stored = self._stored()
        shards = lay_out(stored, self.settings.shard_bytes)
        self._check_room(sum(shard.size for shard in shards))
        total = sum(math.prod(shape) for shape in self.reader.shapes.values())
        done = 0
        with ShardFiles(self.result, shards) as files:
            written: list[str] = []
            flushed = time.monotonic()
            for name, shape in self.reader.shapes.items():
                if name not in finished.names:
                    on_step(done, total, name.removesuffix(".weight"))
                    self._write_tensor(files, name)
                    written.append(name)
                if time.monotonic() - flushed >= self.settings.flush_seconds:
                    files.flush()
                    finished.add(written)
                    written, flushed = [], time.monotonic()
                done += math.prod(shape)
            files.flush()
            finished.add(written)
        on_step(total, total, "settings")
        places = {name: shard.file_name for shard in shards for name in shard.offsets}
        index = {
            "metadata": {"total_size": sum(tensor.nbytes for tensor in stored)},
            "weight_map": dict(sorted(places.items())),
        }
        write_json(self.result / INDEX_NAME, index)
        self._write_other_files()
        os.rename(self.result, self.out)
        shutil.rmtree(self.work)

    def _check_room(self, needed: int) -> None:
        held = sum(path.stat().st_blocks * 512 for path in self.result.iterdir())
        free = shutil.disk_usage(self.work).free
        if needed - held > free:
            raise DiskFullError(
                f"{self.out}: {needed - held:,} bytes are needed and the disk has {free:,} free; make room, or give a "
                "folder on another disk"
            )

    def _stored(self) -> list[StoredTensor]:
        """What the files hold, in the model's order."""
        stored = []
        for name, shape in self.reader.shapes.items():
            bits = self.bits.get(name.removesuffix(".weight"))
            with torch.device("meta"):
                if bits is not None:
                    groups = (shape[0], shape[1] // GROUP_SIZE)
                    example: Packed | torch.Tensor = Packed(
                        torch.empty(shape[0], shape[1] * bits // 32, dtype=torch.uint32),
                        torch.empty(groups, dtype=torch.bfloat16),
                        torch.empty(groups, dtype=torch.bfloat16),
                        bits,
                        GROUP_SIZE,
                    )
                else:
                    dtype = self.reader.read(name).dtype if name.endswith(".A_log") else torch.bfloat16
                    example = torch.empty(shape, dtype=dtype)
            for stored_as, tensor in stored_tensors(name, example, self.config, torch.bfloat16).items():
                stored.append(StoredTensor(stored_as, tensor.dtype, tuple(tensor.shape), name))
        return stored

    def _write_tensor(self, files: ShardFiles, name: str) -> None:
        path = name.removesuffix(".weight")
        bits = self.bits.get(path)
        if bits is None:
            tensor = self._finite(name, self.reader.read(name))
            for stored_as, value in stored_tensors(name, tensor, self.config, torch.bfloat16).items():
                files.write(stored_as, value)
            return
        rows, columns = self.reader.shapes[name]
        rounder = self._rounder(path, columns)
        step = max(1, _CHUNK_WEIGHTS // columns)
        for start in range(0, rows, step):
            weight = self._finite(name, self.reader.rows(name, start, min(start + step, rows)))
            weight = weight.to(self.settings.device)
            rounded = round_min_max(weight, bits) if rounder is None else rounder.round(weight, bits)
            part = stored_tensors(name, rounded.packed(bits), self.config, None)
            for stored_as, value in part.items():
                files.write(stored_as, value, start * value[0].nbytes)

    def _rounder(self, path: str, columns: int) -> Rounder | None:
        """None where no calibration was made: then everything is plain."""
        if self.calibration is None:
            return None
        if path.startswith("vision."):
            curvature = Curvature.identity(columns)
        else:
            curvature = Curvature(self.calibration.sensitivity(path).moments)
        return Rounder(Curvature(curvature.blocks.to(self.settings.device)))

    def _finite(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        if not torch.isfinite(tensor).all():
            raise CheckpointError(f"{self.reader.folder}: {name} holds NaN or infinity; fetch the checkpoint again")
        return tensor

    def _write_other_files(self) -> None:
        source = self.reader.folder
        for path in sorted(source.iterdir()):
            wanted = path.suffix in _COPIED or path.stem.upper() in _COPIED_NAMES
            if path.is_file() and not path.name.startswith(".") and wanted and path.name not in _NOT_COPIED:
                shutil.copyfile(path, self.result / path.name)
                os.chmod(self.result / path.name, 0o644)
        write_config(self.result, self.config)
        config_path = self.result / "config.json"
        write_json(config_path, read_json(config_path) | {"forklift": self.made | {"recipe": self.recipe}})
        if self.plan is not None:
            write_json(self.result / "forklift_plan.json", self.plan.to_json())
        for file_name, text in self.settings.extra.items():
            (self.result / file_name).write_text(text, encoding="utf-8")
        with suppress(OSError):  # some file systems cannot
            descriptor = os.open(self.result, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
