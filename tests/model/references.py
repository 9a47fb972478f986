"""Pairs of the same random model: transformers' Qwen3.5, and ours holding the same tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.checkpoint.naming import canonical_name
from forklift.model import Model

IMAGE, VIDEO, VISION_START, VISION_END = 290, 291, 292, 293
PATCH_SIZE = 3 * 2 * 16 * 16  # channels * frames * rows * columns
Grid = tuple[int, int, int]

# Logits may differ by this share of the largest one. Both sides round about 200 products of up to a few
# hundred terms one after the other, each to 2**-24 of its value, in different orders: some 1e-6 to 1e-5. A
# wrong position, head, mask or state shows as more than 1e-3.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Example:
    """What both models read: token ids [tokens], patches of all images, and their grids."""

    token_ids: Tensor
    patches: Tensor | None = None
    grids: tuple[Grid, ...] = ()

    def for_reference(self) -> dict[str, Any]:
        """The arguments that transformers wants for the same."""
        inputs: dict[str, Any] = {"input_ids": self.token_ids[None]}
        if self.patches is not None:
            inputs["pixel_values"] = self.patches
            inputs["image_grid_thw"] = torch.tensor(self.grids)
            inputs["mm_token_type_ids"] = (self.token_ids == IMAGE).int()[None]
        return inputs


def example(*pieces: int | Grid, seed: int = 0) -> Example:
    """Random text of so many tokens for an int; an image between its two marks for a grid."""
    generator = torch.Generator().manual_seed(seed)
    ids: list[int] = []
    grids: list[Grid] = []
    for piece in pieces:
        if isinstance(piece, int):
            ids += torch.randint(0, IMAGE, (piece,), generator=generator).tolist()
        else:
            ids += [VISION_START, *[IMAGE] * (piece[1] * piece[2] // 4), VISION_END]
            grids.append(piece)
    patches = None
    if grids:
        count = sum(frames * rows * columns for frames, rows, columns in grids)
        patches = torch.randn(count, PATCH_SIZE, generator=generator)
    return Example(torch.tensor(ids), patches, tuple(grids))


EIGHT_LAYERS = (*("linear_attention",) * 3, "full_attention") * 2
FOUR_LAYERS = ("linear_attention", "full_attention") * 2


def small_config(layer_kinds: tuple[str, ...] = EIGHT_LAYERS, *, tied: bool = False) -> ModelConfig:
    """Every pair of sizes that could be mistaken for each other differs."""
    text = TextConfig(
        vocabulary_size=300,
        hidden_size=96,
        intermediate_size=160,
        layer_kinds=layer_kinds,
        num_query_heads=6,
        num_key_value_heads=2,
        head_dim=32,
        linear_num_key_heads=2,
        linear_num_value_heads=6,
        linear_key_head_dim=16,
        linear_value_head_dim=24,
        rope_theta=10000.0,
        partial_rotary_factor=0.75,  # 24 of 32 elements turn
        mrope_section=(5, 4, 3),
        tie_word_embeddings=tied,
    )
    vision = VisionConfig(
        depth=3,
        hidden_size=64,
        intermediate_size=112,
        num_heads=2,
        out_hidden_size=96,
        num_position_embeddings=64,
    )
    return ModelConfig(text, vision, IMAGE, VIDEO, VISION_START, VISION_END)


def reference_model(config: ModelConfig) -> Any:
    """transformers' model of `config`, as it is initialised without a seed."""
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    text, vision = config.text, config.vision
    return Qwen3_5ForConditionalGeneration(
        Qwen3_5Config(
            text_config={
                "vocab_size": text.vocabulary_size,
                "hidden_size": text.hidden_size,
                "intermediate_size": text.intermediate_size,
                "num_hidden_layers": len(text.layer_kinds),
                "layer_types": list(text.layer_kinds),
                "num_attention_heads": text.num_query_heads,
                "num_key_value_heads": text.num_key_value_heads,
                "head_dim": text.head_dim,
                "linear_num_key_heads": text.linear_num_key_heads,
                "linear_num_value_heads": text.linear_num_value_heads,
                "linear_key_head_dim": text.linear_key_head_dim,
                "linear_value_head_dim": text.linear_value_head_dim,
                "linear_conv_kernel_dim": text.conv_kernel_size,
                "rms_norm_eps": text.rms_norm_eps,
                "tie_word_embeddings": text.tie_word_embeddings,
                "rope_parameters": {
                    "rope_type": "default",
                    "rope_theta": text.rope_theta,
                    "partial_rotary_factor": text.partial_rotary_factor,
                    "mrope_section": list(text.mrope_section),
                    "mrope_interleaved": True,
                },
            },
            vision_config={
                "depth": vision.depth,
                "hidden_size": vision.hidden_size,
                "intermediate_size": vision.intermediate_size,
                "num_heads": vision.num_heads,
                "out_hidden_size": vision.out_hidden_size,
                "num_position_embeddings": vision.num_position_embeddings,
            },
            image_token_id=config.image_token_id,
            video_token_id=config.video_token_id,
            vision_start_token_id=config.vision_start_token_id,
            vision_end_token_id=config.vision_end_token_id,
            tie_word_embeddings=text.tie_word_embeddings,
        )
    ).eval()


def random_reference(config: ModelConfig, seed: int) -> Any:
    """transformers' model of `config` with weights in which norms, biases, gates and pixels all matter.

    As initialised, norms and biases would do nothing, and most heads of linear attention would forget within
    a token or two; here they remember for one token up to some hundred.
    """
    reference = reference_model(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in reference.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if name.endswith("A_log"):
                parameter.copy_(2 * noise - 3)
            elif name.endswith("linear_attn.norm.weight") or (".norm" in name and "visual" in name):
                parameter.copy_(1 + 0.1 * noise)
            elif name.endswith("dt_bias"):
                parameter.copy_(1 + noise)
            else:
                parameter.copy_(0.06 * noise if parameter.dim() > 1 else 0.1 * noise)
    return reference


def twin(reference: Any, config: ModelConfig) -> Model:
    """Our model over the very tensors of `reference`: nothing is copied."""
    weights = {}
    for name, tensor in reference.state_dict(keep_vars=True).items():
        named = canonical_name(name)
        assert named is not None, name
        weights[named[0]] = tensor
    if config.text.tie_word_embeddings:
        del weights["lm_head.weight"]
    with torch.device("meta"):
        model = Model(config)
    model.load_state_dict(weights, strict=True, assign=True)
    return model.eval()


def all_logits(model: Model, read: Example) -> Tensor:
    """Logits [tokens, vocabulary] after every token, in one pass without a cache."""
    positions, _ = model.positions(read.token_ids, read.grids)
    return model.logits(model.language(model.embed(read.token_ids, read.patches, read.grids)[None], positions))[0]


def difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest value."""
    assert ours.shape == theirs.shape
    assert torch.isfinite(ours).all()
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()
