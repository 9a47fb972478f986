"""Which model a calibration belongs to."""

from __future__ import annotations

import dataclasses
import hashlib
import json

from forklift.checkpoint.tensors import TensorReader
from forklift.quantize.levels import language_matrices

_SAMPLED_ROWS = 2


def model_fingerprint(reader: TensorReader) -> str:
    """A hash of the architecture, the tensors' names and shapes, and some weights of every matrix.

    The same for a checkpoint in Hugging Face's layout and its bfloat16 conversion; another one for a fine-tune, whose
    shapes alone would not tell it apart.
    """
    config = reader.config
    architecture = {"text": dataclasses.asdict(config.text), "vision": dataclasses.asdict(config.vision)}
    digest = hashlib.sha256(json.dumps(architecture, sort_keys=True).encode())
    digest.update(json.dumps({name: list(shape) for name, shape in reader.shapes.items()}).encode())
    for matrix in language_matrices(config):
        # The middle: the first rows of an embedding may be tokens that no training touched.
        start = matrix.rows // 2
        rows = reader.rows(f"{matrix.path}.weight", start, start + _SAMPLED_ROWS)
        digest.update(rows.bfloat16().float().numpy().tobytes())
    return digest.hexdigest()[:32]
