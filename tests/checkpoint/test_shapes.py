"""expected_shapes against published sizes and against the model itself."""

from __future__ import annotations

from math import prod

import torch

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.checkpoint.config_reader import layer_kinds
from forklift.checkpoint.shapes import expected_shapes
from forklift.model.model import Model

NINE_BILLION = ModelConfig(
    text=TextConfig(
        vocabulary_size=248320,
        hidden_size=4096,
        intermediate_size=12288,
        layer_kinds=layer_kinds(32, 4),
        num_query_heads=16,
        num_key_value_heads=4,
        head_dim=256,
        linear_num_key_heads=16,
        linear_num_value_heads=32,
        linear_key_head_dim=128,
        linear_value_head_dim=128,
    ),
    vision=VisionConfig(
        depth=27,
        hidden_size=1152,
        intermediate_size=4304,
        num_heads=16,
        out_hidden_size=4096,
        num_position_embeddings=2304,
    ),
    image_token_id=248056,
    video_token_id=248057,
    vision_start_token_id=248053,
    vision_end_token_id=248054,
)


def test_the_9b_shape_has_the_published_number_of_parameters() -> None:
    assert sum(prod(shape) for shape in expected_shapes(NINE_BILLION).values()) == 9_409_813_744


def test_the_model_has_exactly_the_expected_tensors(tiny_config: ModelConfig) -> None:
    for config in (tiny_config, NINE_BILLION):
        with torch.device("meta"):
            state = Model(config).state_dict()
        assert {name: tuple(tensor.shape) for name, tensor in state.items()} == expected_shapes(config)
