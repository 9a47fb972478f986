"""From the command line to a checkpoint's weights and back, against transformers on random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import tokenizers
import torch
from PIL import Image
from typer.testing import CliRunner

import forklift
from forklift.cli.main import build_app
from forklift.prompt import Prompter

NANO = Path(forklift.__file__).parent / "nano"
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
]
SCHEMA = {
    "type": "object",
    "properties": {
        "Händler": {"type": "string", "maxLength": 12},
        "total": {"type": "number"},
        "art": {"enum": ["bar", "Überweisung"]},
        "lines": {
            "type": "array",
            "maxItems": 2,
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    },
    "required": ["total"],
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A small Qwen3.5 with random weights, saved by transformers itself, and the model that was saved."""
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("tiny") / "tiny-qwen"
    folder.mkdir()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.train_from_iterator(
        ["Read the document and fill in this JSON Schema. total Händler Überweisung null true"] * 4,
        tokenizers.trainers.BpeTrainer(
            vocab_size=330,
            special_tokens=SPECIAL,
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    for name in ("chat_template.jinja", "preprocessor_config.json"):
        (folder / name).write_text((NANO / name).read_text())
    ids = {token: tokenizer.token_to_id(token) for token in SPECIAL}
    config = Qwen3_5Config(
        text_config={
            "vocab_size": 336, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "linear_num_key_heads": 2,
            "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
            "layer_types": ["linear_attention"] * 3 + ["full_attention"], "max_position_embeddings": 4096,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25,
                                "mrope_section": [2, 1, 1], "mrope_interleaved": True},
            "tie_word_embeddings": False, "eos_token_id": ids["<|endoftext|>"],
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64,
            "num_position_embeddings": 64, "patch_size": 16, "spatial_merge_size": 2,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=335,
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
    torch.manual_seed(0)
    model = Qwen3_5ForConditionalGeneration(config).eval().float()
    with torch.no_grad():
        for parameter in model.parameters():  # louder than the initialisation, so that pixels matter
            parameter.add_(torch.randn_like(parameter) * 0.08)
    model.save_pretrained(folder)
    # The eos trap: upstream's file names endoftext alone.
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ids["<|endoftext|>"]}))
    return folder, model


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    Image.fromarray(random.integers(0, 256, (100, 150, 3), dtype=np.uint8)).save(tmp_path / "bill.png")
    return tmp_path / "bill.png"


def run(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), [str(argument) for argument in arguments])


def test_generate_writes_what_transformers_generates(reference: tuple[Path, Any], picture: Path) -> None:
    folder, model = reference
    prompter = Prompter.from_folder(folder)
    prompt = prompter.build([Image.open(picture)], "Was steht da?")
    ids = torch.tensor([prompt.token_ids])
    inputs = {
        "pixel_values": prompt.patches,
        "image_grid_thw": torch.tensor(prompt.grids),
        "attention_mask": torch.ones_like(ids),
        "mm_token_type_ids": (ids == prompter.image_token_id).int(),
    }
    end = sorted(prompter.end_of_turn_ids)
    generated = model.generate(
        ids, **inputs, max_new_tokens=200, do_sample=False, eos_token_id=end, pad_token_id=end[0]
    )[0, ids.shape[1] :]
    expected = prompter.tokenizer.decode(generated.tolist(), skip_special_tokens=False)
    result = run(
        "generate", "--model", folder, "--image", picture, "--prompt", "Was steht da?", "--max-tokens", 200,
        "--dtype", "float32",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert len(generated) > 50
    assert result.stdout_bytes.decode() == expected + "\n"


@pytest.mark.parametrize("options", [[], ["--strict"], ["--temperature", "1.5", "--seed", "3"]])
def test_random_weights_write_valid_json(reference: tuple[Path, Any], picture: Path, options: list[str]) -> None:
    folder, _ = reference
    schema = json.dumps(SCHEMA, ensure_ascii=False)
    result = run(
        "extract", picture, "-s", schema, "--model", folder, "--allow-missing", "--meta", "--max-tokens",
        2000, "--dtype", "float32", *options,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    details = json.loads(result.stdout)
    assert details["outcome"] == "complete"
    assert details["problems"] == []
    assert details["model"] == "tiny-qwen"
    data = details["data"]
    if "/total" in details["missing"]:
        data = {**data, "total": 0}
    jsonschema.validate(data, SCHEMA)
    assert all(0 <= field["confidence"] <= 1 for field in details["fields"])
    assert details["timings"]["prompt_tokens"] > 30


def test_the_bundled_api_reads_the_same(reference: tuple[Path, Any], picture: Path) -> None:
    folder, _ = reference
    once = forklift.extract(picture, schema=SCHEMA, model=folder, dtype="float32")
    with forklift.load(folder, dtype="float32") as extractor:
        again = [extractor.extract(picture, SCHEMA) for _ in range(2)]
    assert again[0].data == again[1].data == once.data
    assert again[0].fields == again[1].fields == once.fields
