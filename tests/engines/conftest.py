"""A whole checkpoint folder of a tiny model with random weights, nano's template, and its own tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers
import torch

import forklift
from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.checkpoint.config_writer import write_config
from forklift.checkpoint.shapes import expected_shapes
from forklift.checkpoint.tensor_writer import write_tensors

NANO = Path(forklift.__file__).parent / "nano"
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]


@pytest.fixture(scope="session")
def random_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "random"
    folder.mkdir()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(['{"vendor": "Acme", "total": 1.5, "Straße": null}'] * 4, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    for name in ("chat_template.jinja", "preprocessor_config.json", "generation_config.json"):
        (folder / name).write_text((NANO / name).read_text())
    config = ModelConfig(
        text=TextConfig(
            vocabulary_size=416,
            hidden_size=64,
            intermediate_size=96,
            layer_kinds=("linear_attention", "full_attention"),
            num_query_heads=2,
            num_key_value_heads=1,
            head_dim=32,
            linear_num_key_heads=2,
            linear_num_value_heads=2,
            linear_key_head_dim=8,
            linear_value_head_dim=8,
            rope_theta=100.0,
            partial_rotary_factor=0.5,
            mrope_section=(4, 2, 2),
            max_positions=300,
        ),
        vision=VisionConfig(
            depth=1,
            hidden_size=32,
            intermediate_size=48,
            num_heads=2,
            out_hidden_size=64,
            num_position_embeddings=16,
        ),
        image_token_id=tokenizer.token_to_id("<|image_pad|>"),
        video_token_id=tokenizer.token_to_id("<|video_pad|>"),
        vision_start_token_id=tokenizer.token_to_id("<|vision_start|>"),
        vision_end_token_id=tokenizer.token_to_id("<|vision_end|>"),
        eos_token_ids=(0,),  # lacks <|im_end|>, as upstream's does
    )
    generator = torch.Generator().manual_seed(0)
    tensors = {name: 0.2 * torch.randn(shape, generator=generator) for name, shape in expected_shapes(config).items()}
    write_config(folder, config)
    write_tensors(folder, tensors, config)
    return folder
