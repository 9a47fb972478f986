"""config.json in, dataclasses out; what is wrong is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forklift.checkpoint.config import ModelConfig, Quantization
from forklift.checkpoint.config_reader import layer_kinds, read_config
from forklift.checkpoint.config_writer import write_config
from forklift.errors import CheckpointError

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def folder(tmp_path: Path, tiny_config: ModelConfig) -> Path:
    write_config(tmp_path, tiny_config)
    return tmp_path


def change(folder: Path, edit: Change, name: str = "config.json") -> None:
    values = json.loads((folder / name).read_text())
    edit(values)
    (folder / name).write_text(json.dumps(values))


def test_what_is_written_is_read_back(folder: Path, tiny_config: ModelConfig) -> None:
    assert read_config(folder) == tiny_config


@pytest.mark.parametrize("kinds", [layer_kinds(8, 4), layer_kinds(3, 4), ("full_attention",), layer_kinds(5, 2)[::-1]])
def test_every_pattern_of_layers_is_read_back(tmp_path: Path, tiny_config: ModelConfig, kinds: tuple[str, ...]) -> None:
    config = replace(tiny_config, text=replace(tiny_config.text, layer_kinds=kinds))
    write_config(tmp_path, config)
    assert read_config(tmp_path).text.layer_kinds == kinds
    # A loader that knows only the interval must come to the same layers, where the interval is stated at all.
    stated = json.loads((tmp_path / "config.json").read_text())["text_config"].get("full_attention_interval")
    assert stated is None or layer_kinds(len(kinds), stated) == kinds


def older_names(values: dict[str, Any]) -> None:
    """rope_theta and partial_rotary_factor beside rope_scaling, full_attention_interval for layer_types."""
    text = values["text_config"]
    rope = text.pop("rope_parameters")
    text["rope_theta"] = rope["rope_theta"]
    text["rope_scaling"] = {
        "type": "default",
        "mrope_section": rope["mrope_section"],
        "mrope_interleaved": True,
    }
    del text["layer_types"]


def flat(values: dict[str, Any]) -> None:
    """The text settings at the top, as some MLX conversions have them."""
    text = values.pop("text_config")
    values.update({key: value for key, value in text.items() if key != "model_type"})


@pytest.mark.parametrize("edit", [older_names, flat], ids=lambda edit: edit.__name__)
def test_other_spellings_mean_the_same(folder: Path, tiny_config: ModelConfig, edit: Change) -> None:
    change(folder, edit)
    assert read_config(folder) == tiny_config


def test_a_generation_config_that_names_endoftext_alone_still_stops_at_the_end_of_a_turn(
    folder: Path, tokenizer_json: dict[str, Any]
) -> None:
    def upstream(values: dict[str, Any]) -> None:
        values["eos_token_id"] = 60

    change(folder, upstream, "generation_config.json")
    change(folder, lambda values: (values.pop("eos_token_id"), values["text_config"].update(eos_token_id=60)))
    assert read_config(folder).eos_token_ids == (60,)  # no tokenizer here that could say more
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json))
    assert read_config(folder).eos_token_ids == (60, 62)


def test_end_tokens_of_every_file_are_kept(folder: Path, tokenizer_json: dict[str, Any]) -> None:
    change(folder, lambda values: values.update(eos_token_id=[5, 60]), "generation_config.json")
    change(folder, lambda values: (values.update(eos_token_id=6), values["text_config"].update(eos_token_id=7)))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json))
    assert read_config(folder).eos_token_ids == (60, 62, 6, 7, 5)


def test_a_tokenizer_of_another_model_is_refused(folder: Path) -> None:
    token = {"id": 96, "content": "<|im_end|>"}
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": [token]}))
    with pytest.raises(CheckpointError, match=r"with token 96, and config\.json has a vocabulary of 96"):
        read_config(folder)


def test_a_checkpoint_that_would_never_stop_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    (folder / "generation_config.json").unlink()
    change(folder, lambda values: (values.pop("eos_token_id"), values["text_config"].pop("eos_token_id")))
    with pytest.raises(CheckpointError, match="nothing says which token ends an answer"):
        read_config(folder)


@pytest.mark.parametrize(
    ("top_level", "inner", "tied"), [(True, False, True), (None, True, True), (False, True, False)]
)
def test_the_outer_statement_about_tied_embeddings_counts(
    folder: Path, top_level: bool | None, inner: bool, tied: bool
) -> None:
    def state(values: dict[str, Any]) -> None:
        values["text_config"]["tie_word_embeddings"] = inner
        values["tie_word_embeddings"] = top_level
        if top_level is None:
            del values["tie_word_embeddings"]

    change(folder, state)
    assert read_config(folder).text.tie_word_embeddings is tied


def test_quantization_is_looked_up_by_module_then_base(folder: Path) -> None:
    def quantize(values: dict[str, Any]) -> None:
        values["quantization"] = values["quantization_config"] = {
            "group_size": 64,
            "bits": 3,
            "mode": "affine",
            "language_model.lm_head": {"group_size": 32, "bits": 8, "mode": "affine"},
            "language_model.model.layers.0.mlp.up_proj": {"group_size": 64, "bits": 6},
            "mtp.fc": {"group_size": 64, "bits": 4},
            "language_model.model.layers.1.mlp.up_proj": False,
        }

    change(folder, quantize)
    config = read_config(folder)
    assert config.quantization_of("lm_head") == Quantization(8, 32)
    assert config.quantization_of("language.layers.0.mlp.up_proj") == Quantization(6, 64)
    assert config.quantization_of("language.layers.0.mlp.gate_proj") == Quantization(3, 64)
    assert set(config.quantization) == {"", "lm_head", "language.layers.0.mlp.up_proj"}


def test_without_quantization_nothing_says_how_a_module_is_stored(folder: Path) -> None:
    assert read_config(folder).quantization_of("lm_head") is None


def text(**values: Any) -> Change:
    return lambda config: config["text_config"].update(values)


def vision(**values: Any) -> Change:
    return lambda config: config["vision_config"].update(values)


def top(**values: Any) -> Change:
    return lambda config: config.update(values)


def rope(**values: Any) -> Change:
    return lambda config: config["text_config"]["rope_parameters"].update(values)


def without(section: str, key: str) -> Change:
    return lambda config: config[section].pop(key)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (top(model_type="llama"), r"model_type is 'llama'; supported: 'qwen3_5'"),
        (lambda config: config.pop("model_type"), r"model_type is None; supported: 'qwen3_5'"),
        (lambda config: config.pop("vision_config"), r"vision_config is missing; supported: an object"),
        (
            without("text_config", "hidden_size"),
            r"text_config\.hidden_size is missing; supported: an integer",
        ),
        (text(hidden_size="64"), r"text_config\.hidden_size is '64'"),
        (text(hidden_size=True), r"text_config\.hidden_size is True"),
        (
            text(num_hidden_layers=0),
            r"text_config\.num_hidden_layers is 0; supported: an integer from 1 to 1024",
        ),
        (text(vocab_size=10**12), r"text_config\.vocab_size is 1000000000000"),
        (text(hidden_act="relu"), r"hidden_act is 'relu'; supported: 'silu'"),
        (text(attention_bias=True), r"attention_bias is True; supported: False"),
        (text(layer_types=["linear_attention"]), r"layer_types is .*supported: a list of 4"),
        (text(layer_types=["mamba"] * 4), r"supported: .*'linear_attention' or 'full_attention'"),
        (
            text(num_key_value_heads=3),
            r"num_key_value_heads is 3; supported: a divisor of num_attention_heads, 4",
        ),
        (text(linear_num_key_heads=3), r"linear_num_key_heads is 3; supported: a divisor"),
        (text(rms_norm_eps=float("nan")), r"rms_norm_eps is nan"),
        (rope(rope_type="yarn"), r"rope_parameters\.rope_type is 'yarn'; supported: 'default'"),
        (rope(mrope_section=[11, 11, 10]), r"mrope_section is \[11, 11, 10\]; supported: .* add up to 8"),
        (rope(mrope_section="4"), r"mrope_section is '4'"),
        (rope(partial_rotary_factor=0.01), r"gives 0 rotary dimensions"),
        (rope(rope_theta=None), r"rope_theta is None; supported: a number"),
        (vision(num_position_embeddings=15), r"num_position_embeddings is 15; supported: a square number"),
        (vision(out_hidden_size=65), r"out_hidden_size is 65, and hidden_size .* 64; they must be equal"),
        (vision(num_heads=3), r"vision_config\.num_heads is 3"),
        (vision(deepstack_visual_indexes=[1]), r"deepstack_visual_indexes is \[1\]"),
        (top(image_token_id=96), r"image_token_id is 96; supported: an integer from 0 to 95"),
        (top(eos_token_id=[60, -1]), r"eos_token_id is \[60, -1\]; supported: token ids from 0 to 95"),
        (
            top(quantization={"bits": 7, "group_size": 64}),
            r"quantization\.bits is 7; supported: 2, 3, 4, 5, 6, 8",
        ),
        (top(quantization={"bits": 4, "group_size": 48}), r"group_size is 48; supported: 32, 64, 128"),
        (
            top(quantization={"bits": 4, "group_size": 64, "mode": "mxfp4"}),
            r"mode is 'mxfp4'; supported: 'affine'",
        ),
        (
            top(quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 64}),
            r"quant_method is 'gptq'",
        ),
        (
            top(quantization={"bits": 4, "group_size": 64, "model.block.x": {"bits": 4, "group_size": 64}}),
            r"model\.block\.x is .*supported: module paths",
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_can(folder: Path, edit: Change, message: str) -> None:
    change(folder, edit)
    with pytest.raises(CheckpointError, match=rf"config\.json: .*{message}"):
        read_config(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "config.json is not JSON"),
        ("[1]", "holds a JSON list, not an object"),
        ("\xff", "config.json is not JSON"),
        ("[" * 100_000, "config.json is not JSON"),
    ],
)
def test_a_damaged_file_is_named(folder: Path, content: str, message: str) -> None:
    (folder / "config.json").write_text(content, encoding="latin-1")
    with pytest.raises(CheckpointError, match=message):
        read_config(folder)


def test_a_folder_without_config_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"is no checkpoint: it has no config\.json"):
        read_config(tmp_path)
