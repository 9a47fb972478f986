"""One tensor, three names."""

from __future__ import annotations

import pytest

from forklift.checkpoint.naming import Layout, canonical_name, is_ignored, stored_name

NAMES = [
    # ours, Hugging Face, MLX
    (
        "language.layers.7.self_attn.q_proj.weight",
        "model.language_model.layers.7.self_attn.q_proj.weight",
        "language_model.model.layers.7.self_attn.q_proj.weight",
    ),
    ("language.norm.weight", "model.language_model.norm.weight", "language_model.model.norm.weight"),
    (
        "vision.merger.linear_fc1.bias",
        "model.visual.merger.linear_fc1.bias",
        "vision_tower.merger.linear_fc1.bias",
    ),
    ("lm_head.weight", "lm_head.weight", "language_model.lm_head.weight"),
    ("lm_head", "lm_head", "language_model.lm_head"),
]


@pytest.mark.parametrize(("ours", "hugging_face", "mlx"), NAMES)
def test_each_name_is_translated_both_ways(ours: str, hugging_face: str, mlx: str) -> None:
    assert canonical_name(hugging_face) == (ours, Layout.HUGGING_FACE)
    assert canonical_name(mlx) == (ours, Layout.MLX)
    assert stored_name(ours, Layout.HUGGING_FACE) == hugging_face
    assert stored_name(ours, Layout.MLX) == mlx


@pytest.mark.parametrize("name", ["model.layers.0.mlp.up_proj.weight", "lm_head_extra.weight", "visual.x", ""])
def test_a_name_of_neither_layout_is_none(name: str) -> None:
    assert canonical_name(name) is None


def test_our_own_names_are_checked() -> None:
    with pytest.raises(ValueError, match="no name of ours"):
        stored_name("model.visual.x", Layout.MLX)


@pytest.mark.parametrize(
    ("name", "ignored"),
    [
        ("mtp.fc.weight", True),
        ("language_model.mtp.layers.0.mlp.up_proj.weight", True),
        ("model.language_model.rotary_emb.inv_freq", True),
        ("model.language_model.layers.0.mlp.up_proj.weight", False),
    ],
)
def test_the_prediction_head_and_stored_frequencies_are_ignored(name: str, ignored: bool) -> None:
    assert is_ignored(name) is ignored
