"""A folder becomes a model, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.config_writer import write_config
from forklift.checkpoint.load import load_model
from forklift.checkpoint.shapes import expected_shapes
from forklift.checkpoint.tensor_writer import write_tensors
from forklift.model.linear import Packed, QuantizedEmbedding, QuantizedLinear, dequantize, quantize_groups

TOKENS = torch.arange(3, 20)


def test_a_loaded_model_holds_the_stored_weights_and_evaluates(
    mlx_folder: Path, tiny_tensors: dict[str, Tensor]
) -> None:
    model = load_model(mlx_folder, torch.float32)
    assert not model.training
    assert torch.equal(model.lm_head.weight, tiny_tensors["lm_head.weight"].float())
    assert {tensor.device.type for tensor in model.state_dict().values()} == {"cpu"}
    _, logits = model.prefill(TOKENS)
    assert logits.shape == (96,)
    assert logits.isfinite().all()


def test_small_language_parameters_stay_float32_in_a_bfloat16_model(mlx_folder: Path) -> None:
    state = load_model(mlx_folder, torch.bfloat16).state_dict()
    kept = {name for name, tensor in state.items() if tensor.dtype == torch.float32}
    # per layer two norms; linear: A_log, dt_bias, norm; full: q_norm, k_norm; one norm at the end
    assert len(kept) == 4 * 2 + 2 * 3 + 2 * 2 + 1
    assert {state[name].dtype for name in set(state) - kept} == {torch.bfloat16}


@pytest.mark.parametrize("tied", [False, True])
def test_a_quantised_checkpoint_computes_what_its_dequantised_twin_does(
    tmp_path: Path, tiny_config: ModelConfig, tiny_tensors: dict[str, Tensor], tied: bool
) -> None:
    plain = replace(tiny_config, text=replace(tiny_config.text, tie_word_embeddings=tied))
    tensors = {name: tiny_tensors[name] for name in expected_shapes(plain)}
    packed: dict[str, Tensor | Packed] = {
        name: quantize_groups(tensor, bits=5 if "mlp" in name else 3, group_size=64)
        if name.startswith(("language", "lm_head")) and tensor.dim() == 2 and tensor.shape[1] % 64 == 0
        else tensor
        for name, tensor in tensors.items()
    }
    quantization = {"": Quantization(3)} | {
        name.removesuffix(".weight"): Quantization(5) for name in packed if "language" in name and "mlp" in name
    }
    config = replace(plain, quantization=quantization)
    write_config(tmp_path / "packed", config)
    write_tensors(tmp_path / "packed", packed, config, dtype=torch.float32)
    twin = {name: dequantize(t) if isinstance(t, Packed) else t for name, t in packed.items()}
    write_config(tmp_path / "twin", plain)
    write_tensors(tmp_path / "twin", twin, plain, dtype=torch.float32)

    quantised = load_model(tmp_path / "packed", torch.float32)
    assert isinstance(quantised.language.embed_tokens, QuantizedEmbedding)
    assert isinstance(quantised.get_submodule("language.layers.1.self_attn.q_proj"), QuantizedLinear)
    _, logits = quantised.prefill(TOKENS)
    _, expected = load_model(tmp_path / "twin", torch.float32).prefill(TOKENS)
    # The same float32 numbers through the same operations.
    assert torch.allclose(logits, expected, rtol=0, atol=1e-5 * expected.abs().max().item())


def test_a_checkpoint_that_transformers_saved_computes_the_same_logits(
    tmp_path: Path, tiny_config: ModelConfig
) -> None:
    from transformers import AutoConfig, Qwen3_5ForConditionalGeneration

    write_config(tmp_path, tiny_config, dtype="float32")
    torch.manual_seed(0)
    theirs = Qwen3_5ForConditionalGeneration(AutoConfig.from_pretrained(tmp_path)).eval()
    for name, parameter in theirs.named_parameters():
        # Zero-centred norms and a zero bias would hide a missing +1 or a swapped name.
        torch.nn.init.normal_(parameter, std=0.1 if "norm" in name or parameter.dim() == 1 else 0.05)
    folder = tmp_path / "saved"
    theirs.save_pretrained(folder, max_shard_size="100KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    ours = load_model(folder, torch.float32)
    _, logits = ours.prefill(TOKENS)
    with torch.inference_mode():
        expected = theirs(input_ids=TOKENS[None]).logits[0, -1]
    assert torch.allclose(logits, expected, rtol=0, atol=1e-4 * expected.abs().max().item())

    # Through MLX's layout and back: only the rounding of 1 + w in float32 is lost.
    again = tmp_path / "again"
    write_config(again, tiny_config)
    write_tensors(again, dict(ours.state_dict()), tiny_config, dtype=torch.float32)
    _, rewritten = load_model(again, torch.float32).prefill(TOKENS)
    assert torch.allclose(rewritten, logits, rtol=0, atol=1e-5 * expected.abs().max().item())
