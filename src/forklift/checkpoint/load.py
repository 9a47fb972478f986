"""A folder on disk -> a model ready to run."""

from __future__ import annotations

from pathlib import Path

import torch

from forklift.checkpoint.config_reader import read_config
from forklift.checkpoint.tensors import read_tensors
from forklift.model.linear import Packed, replace_quantized
from forklift.model.model import Model


def load_model(folder: Path, dtype: torch.dtype = torch.bfloat16) -> Model:
    """Read a checkpoint of either layout into a model in evaluation mode, on the CPU.

    dtype: of the float weights and the activations. The language norms, A_log and dt_bias stay float32, since
    they are small and the layers compute with them in float32 anyway; quantised modules stay packed.
    Weights whose stored type is `dtype` are not copied: they stay views of the mapped files.
    Raises CheckpointError as `read_config` and `read_tensors` do.
    """
    config = read_config(folder)
    tensors = read_tensors(folder, config)
    with torch.device("meta"):
        model = Model(config)
    replace_quantized(model, tensors, dtype)
    weights = {
        name: tensor.to(torch.float32 if stays_float32(name) else dtype)
        for name, tensor in tensors.items()
        if not isinstance(tensor, Packed)
    }
    incompatible = model.load_state_dict(weights, strict=False, assign=True)
    packed = {name.removesuffix(".weight") for name, tensor in tensors.items() if isinstance(tensor, Packed)}
    unfilled = [name for name in incompatible.missing_keys if name.rpartition(".")[0] not in packed]
    # Only a disagreement between the model and expected_shapes can come here.
    assert not unfilled, unfilled
    assert not incompatible.unexpected_keys, incompatible.unexpected_keys
    model.prepare_for_inference()
    return model.eval()


def stays_float32(name: str) -> bool:
    """Whether a tensor of ours is float32 whatever the others are."""
    if not name.startswith("language."):
        return False
    return name.endswith(("norm.weight", "layernorm.weight", ".A_log", ".dt_bias"))
