"""The calibration artifact: one safetensors file, made once for a model and used for every budget."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from forklift.errors import CheckpointError, UsageError
from forklift.quantize.plan import WIDTHS
from forklift.quantize.sensitivity import Sensitivity

FORMAT = "forklift-calibration-1"


@dataclass(frozen=True)
class Calibration:
    """An artifact on the disk; `sensitivity` reads one matrix of it at a time.

    model: fingerprint of the model that it belongs to. id: hash of the whole file.
    facts: what it was made from: samples, tokens, seed, tool version.
    """

    path: Path
    id: str
    model: str
    facts: Mapping[str, Any]
    losses: Mapping[str, tuple[float, ...]]

    def sensitivity(self, path: str) -> Sensitivity:
        """Raises CheckpointError where the file lacks the matrix."""
        try:
            with safe_open(self.path, framework="pt") as file:
                parts = [file.get_tensor(f"{path}.{part}").clone() for part in ("diagonal", "correlation", "rows")]
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{self.path}: nothing about {path} can be read: {error}") from error
        return Sensitivity(parts[0], parts[1], parts[2], self.losses.get(path))

    def check_model(self, fingerprint: str) -> None:
        """Raises UsageError where the artifact belongs to another model."""
        if self.model != fingerprint:
            raise UsageError(
                f"{self.path} was calibrated on another model ({self.model[:12]}, not {fingerprint[:12]}); make one "
                "for this model with `forklift calibrate`"
            )


def write_calibration(path: Path, model: str, facts: Mapping[str, Any], found: Mapping[str, Sensitivity]) -> None:
    """Write the file whole or not at all; byte for byte the same for the same content."""
    tensors: dict[str, torch.Tensor] = {}
    for name, sensitivity in found.items():
        assert sensitivity.losses is not None
        tensors[f"{name}.diagonal"] = sensitivity.diagonal.contiguous()
        tensors[f"{name}.correlation"] = sensitivity.correlation.contiguous()
        tensors[f"{name}.rows"] = sensitivity.row_weights.contiguous()
        tensors[f"{name}.losses"] = torch.tensor(sensitivity.losses, dtype=torch.float64)
    # One entry: safetensors writes several in no fixed order.
    metadata = {"forklift": json.dumps({"format": FORMAT, "model": model, "widths": WIDTHS, "facts": facts})}
    partial = path.with_name(f".{path.name}.partial")
    save_file(tensors, partial, metadata=metadata)
    partial.chmod(0o644)
    os.replace(partial, path)


def read_calibration(path: Path) -> Calibration:
    """Open an artifact. Raises UsageError where it is not there, CheckpointError where it is no artifact."""
    if not path.is_file():
        raise UsageError(f"there is no calibration {path}; make it with `forklift calibrate MODEL -o {path}`")
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with safe_open(path, framework="pt") as tensors:
            stated = json.loads((tensors.metadata() or {}).get("forklift", "{}"))
            names = [name.removesuffix(".losses") for name in tensors.keys() if name.endswith(".losses")]  # noqa: SIM118
            losses = {name: tuple(tensors.get_tensor(f"{name}.losses").tolist()) for name in names}
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged or no calibration: {error}") from error
    if stated.get("format") != FORMAT or tuple(stated.get("widths", ())) != WIDTHS:
        raise CheckpointError(f"{path} is no calibration of this version ({FORMAT}); calibrate again")
    return Calibration(path, digest[:32], stated["model"], stated["facts"], losses)
