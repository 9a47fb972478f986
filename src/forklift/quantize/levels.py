"""What may be quantised, what the rest costs, and the sizes that have a name. Without torch."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from forklift.checkpoint.config import QUANTIZATION_BITS, ModelConfig
from forklift.checkpoint.shapes import expected_shapes
from forklift.errors import UsageError

GROUP_SIZE = 64
# A group's scale and bias, bfloat16 each, in bits per weight.
GROUP_BITS = 2 * 16 / GROUP_SIZE


@dataclass(frozen=True)
class Level:
    """A named size: `bits_per_weight` counts the quantised matrices only, their scales and biases included.

    base_bits: the uniform width that the level is named after.
    """

    name: str
    bits_per_weight: float
    base_bits: int


# With these no level is larger than the checkpoint that is published under its name, at the 9B shape: 9.710, 7.686,
# 6.636, 5.619, 4.89 and 4.610 GiB.
LEVELS = {
    level.name: level
    for level in (
        Level("oQ8", 8.5, 8),
        Level("oQ6", 6.557, 6),
        Level("oQ5", 5.550, 5),
        Level("oQ4", 4.574, 4),
        Level("oQ3.5", 3.874, 3),
        Level("oQ3", 3.606, 3),
    )
}


@dataclass(frozen=True)
class Matrix:
    """A matrix [rows, columns] that may be quantised; `path` is our module path."""

    path: str
    rows: int
    columns: int

    @property
    def weights(self) -> int:
        return self.rows * self.columns

    @property
    def kind(self) -> str:
        """What it does, the same in every layer: `mlp.down_proj`, `embed_tokens`, `lm_head`."""
        return re.sub(r"^language\.(layers\.\d+\.)?", "", self.path)

    @property
    def layer(self) -> int | None:
        found = re.match(r"language\.layers\.(\d+)\.", self.path)
        return int(found[1]) if found else None

    def stored_bytes(self, bits: int) -> int:
        """Codes, scales and biases on the disk."""
        return self.weights * bits // 8 + self.weights // GROUP_SIZE * 4


def language_matrices(config: ModelConfig) -> list[Matrix]:
    """What the plan decides on, in the model's order: every matrix of the language model whose rows divide into
    groups (norms, the convolution, A_log and dt_bias are no such matrices)."""
    return [matrix for matrix in _matrices(config) if not matrix.path.startswith("vision.")]


def vision_matrices(config: ModelConfig) -> list[Matrix]:
    """What `--vision-bits` quantises: the linear maps of the vision tower whose rows divide into groups."""
    return [matrix for matrix in _matrices(config) if matrix.path.startswith(("vision.blocks.", "vision.merger."))]


def _matrices(config: ModelConfig) -> list[Matrix]:
    return [
        Matrix(name.removesuffix(".weight"), *shape)
        for name, shape in expected_shapes(config).items()
        if len(shape) == 2 and name.endswith(".weight") and shape[1] % GROUP_SIZE == 0
    ]


def fixed_bytes(config: ModelConfig, vision_bits: int | None = None) -> int:
    """Bytes of every tensor that the plan does not decide on: bfloat16, or `vision_bits` where that applies.

    A_log counts as bfloat16 too; a checkpoint that stores it wider is larger by a few kilobytes.
    """
    free = {f"{matrix.path}.weight" for matrix in language_matrices(config)}
    vision = {f"{m.path}.weight": m for m in vision_matrices(config)} if vision_bits is not None else {}
    total = 0
    for name, shape in expected_shapes(config).items():
        if name in vision and vision_bits is not None:
            total += vision[name].stored_bytes(vision_bits)
        elif name not in free:
            total += 2 * math.prod(shape)
    return total


def total_weights(matrices: list[Matrix]) -> int:
    return sum(matrix.weights for matrix in matrices)


def budget_for_bits(config: ModelConfig, bits_per_weight: float) -> int:
    """Bytes that the language matrices may take together.

    Raises UsageError below 2 bits and above 8, scales and biases included (2.5 to 8.5).
    """
    low, high = min(QUANTIZATION_BITS) + GROUP_BITS, max(QUANTIZATION_BITS) + GROUP_BITS
    if not low <= bits_per_weight <= high:
        raise UsageError(
            f"{bits_per_weight:g} bits per weight cannot be had: with scales and biases, widths of 2 to 8 bits give "
            f"{low:g} to {high:g}"
        )
    return int(total_weights(language_matrices(config)) * bits_per_weight / 8)


def budget_for_size(config: ModelConfig, size_bytes: int, vision_bits: int | None = None) -> int:
    """Bytes that the language matrices may take so that the weight files take at most `size_bytes`.

    Raises UsageError, with the smallest possible size, where that cannot be had.
    """
    matrices = language_matrices(config)
    rest = fixed_bytes(config, vision_bits) + header_bytes(config)
    smallest = sum(matrix.stored_bytes(min(QUANTIZATION_BITS)) for matrix in matrices)
    if size_bytes - rest < smallest:
        raise UsageError(
            f"{size_bytes:,} bytes are too few: what is quantised takes {smallest:,} at 2 bits, and the rest {rest:,}; "
            f" give at least {smallest + rest:,}"
            + ("" if vision_bits is not None else ", or store the vision tower smaller with --vision-bits 8")
        )
    return size_bytes - rest


def header_bytes(config: ModelConfig) -> int:
    """An upper bound of what the files hold beside the tensors: names, types, shapes and places."""
    parts = 3 * len(_matrices(config)) + len(expected_shapes(config))
    # name (under 80 characters), and {"dtype":"BF16","shape":[248320,4096],"data_offsets":[5000000000,5000000000]},
    return 4096 + 170 * parts


def parse_size(text: str) -> int:
    """ "6GB" (10**9), "5.5GiB" (2**30), "800MB", "800MiB" or plain bytes, as bytes. Raises UsageError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?)B?|B)?\s*", text, re.IGNORECASE)
    if not found:
        raise UsageError(f"--size {text}: give a size such as 6GB, 5.6GiB or 800MB")
    number, unit, binary = found.groups()
    power = " KMGT".index((unit or " ").upper())
    return int(float(number) * (1024 if binary else 1000) ** power)
