"""Tiny checkpoints of the true architecture whose rows divide into groups, and pages to calibrate them on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
import torch
from PIL import Image, ImageDraw
from torch import Tensor

import forklift
from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.checkpoint.config_reader import layer_kinds
from forklift.checkpoint.config_writer import write_config
from forklift.checkpoint.shapes import expected_shapes
from forklift.checkpoint.tensor_writer import write_tensors

NANO = Path(forklift.__file__).parent / "nano"
SPECIAL = "<|endoftext|> <|im_start|> <|im_end|> <|vision_start|> <|vision_end|> <|image_pad|> <|video_pad|>".split()
SCHEMA = {"type": "object", "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}}}


@pytest.fixture(scope="session")
def nine_billion() -> ModelConfig:
    """The shapes of the 9B model; nothing of that size is ever made."""
    text = TextConfig(248320, 4096, 12288, layer_kinds(32, 4), 16, 4, 256, 16, 32, 128, 128)
    vision = VisionConfig(27, 1152, 4304, 16, 4096, 2304)
    return ModelConfig(text, vision, 248056, 248057, 248053, 248054, (248044, 248046))


@pytest.fixture(scope="session")
def small_config() -> ModelConfig:
    text = TextConfig(
        vocabulary_size=320,
        hidden_size=64,
        intermediate_size=128,
        layer_kinds=("linear_attention", "full_attention"),
        num_query_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=16,
        linear_value_head_dim=16,
        rope_theta=100.0,
        partial_rotary_factor=0.5,
        mrope_section=(4, 2, 2),
        max_positions=4096,
    )
    vision = VisionConfig(1, 64, 128, 2, 64, 16)
    return ModelConfig(text, vision, 5, 6, 3, 4, (0, 2))


@pytest.fixture(scope="session")
def small_tensors(small_config: ModelConfig) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {
        name: (0.2 * torch.randn(shape, generator=generator)).bfloat16()
        for name, shape in expected_shapes(small_config).items()
    }


@pytest.fixture(scope="session")
def checkpoint(
    tmp_path_factory: pytest.TempPathFactory, small_config: ModelConfig, small_tensors: dict[str, Tensor]
) -> Path:
    folder = tmp_path_factory.mktemp("models") / "small"
    write_folder(folder, small_config, small_tensors)
    return folder


@pytest.fixture(scope="session")
def tied_checkpoint(
    tmp_path_factory: pytest.TempPathFactory, small_config: ModelConfig, small_tensors: dict[str, Tensor]
) -> Path:
    config = replace(small_config, text=replace(small_config.text, tie_word_embeddings=True))
    folder = tmp_path_factory.mktemp("models") / "tied"
    write_folder(folder, config, {name: small_tensors[name] for name in expected_shapes(config)})
    return folder


def write_folder(folder: Path, config: ModelConfig, tensors: dict[str, Tensor]) -> None:
    folder.mkdir()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(['{"vendor": "Acme", "total": 1.5}'] * 4, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    for name in ("chat_template.jinja", "preprocessor_config.json", "generation_config.json"):
        (folder / name).write_text((NANO / name).read_text())
    write_config(folder, config)
    write_tensors(folder, tensors, config)


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three little pictures with gold answers and one schema."""
    folder = tmp_path_factory.mktemp("documents")
    for index in range(3):
        image = Image.new("RGB", (96, 64), "white")
        ImageDraw.Draw(image).text((4, 8 + 8 * index), f"Acme {index}.50", fill="black")
        image.save(folder / f"{index}.png")
        (folder / f"{index}.gold.json").write_text(f'{{"total": {index}.50, "vendor": "Acme"}}')
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    return folder


@pytest.fixture(scope="session")
def calibration_path(tmp_path_factory: pytest.TempPathFactory, checkpoint: Path, documents: Path) -> Path:
    path = tmp_path_factory.mktemp("calibration") / "small.safetensors"
    run_calibrate(checkpoint, documents, path)
    return path


def run_calibrate(model: Path, documents: Path, path: Path, **settings: object) -> None:
    from forklift.checkpoint.config_reader import read_config
    from forklift.checkpoint.tensors import TensorReader
    from forklift.quantize.answer_source import labelled_samples
    from forklift.quantize.calibrate import CalibrationSettings, calibrate

    samples, answers, prompter = labelled_samples(model, documents, None, None, scratch=path.parent / "documents")
    reader = TensorReader(model, read_config(model))
    on_step = settings.pop("on_step", lambda done, total, label: None)
    calibrate(reader, prompter, samples, answers, path, CalibrationSettings(**settings), on_step)  # type: ignore[arg-type]
