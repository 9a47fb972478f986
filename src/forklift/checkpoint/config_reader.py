"""config.json, and the end tokens of the files beside it, read into the dataclasses of `config`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

from forklift.checkpoint.config import (
    LAYER_KINDS,
    QUANTIZATION_BITS,
    QUANTIZATION_GROUP_SIZES,
    ModelConfig,
    Quantization,
    TextConfig,
    VisionConfig,
)
from forklift.checkpoint.naming import canonical_name, is_ignored
from forklift.errors import CheckpointError

# The tokens that end an answer, whatever the files next to the tokenizer say.
END_TOKENS = ("<|endoftext|>", "<|im_end|>")
_LARGEST = 1 << 24


def read_config(folder: Path) -> ModelConfig:
    """Read config.json, and the end tokens from it, generation_config.json and tokenizer.json.

    Takes the names of Hugging Face and of MLX conversions, older and newer ones.
    Raises CheckpointError naming the file, the key and what is supported.
    """
    path = folder / "config.json"
    top = _Section(path, "", read_json(path))
    architecture = top.values.get("model_type")
    if architecture != "qwen3_5":
        raise CheckpointError(f"{path}: model_type is {architecture!r}; supported: 'qwen3_5' (Qwen3.5, as lift is)")
    text = top.section("text_config") if "text_config" in top.values else top
    text_config = _text_config(text, top)
    vision_config = _vision_config(top.section("vision_config"))
    if vision_config.out_hidden_size != text_config.hidden_size:
        raise CheckpointError(
            f"{path}: vision_config.out_hidden_size is {vision_config.out_hidden_size}, and hidden_size of "
            f"the language model {text_config.hidden_size}; they must be equal"
        )
    last_id = text_config.vocabulary_size - 1
    return ModelConfig(
        text=text_config,
        vision=vision_config,
        image_token_id=top.integer("image_token_id", low=0, high=last_id),
        video_token_id=top.integer("video_token_id", low=0, high=last_id),
        vision_start_token_id=top.integer("vision_start_token_id", low=0, high=last_id),
        vision_end_token_id=top.integer("vision_end_token_id", low=0, high=last_id),
        eos_token_ids=_eos_token_ids(folder, top, text, last_id),
        quantization=_quantization(top),
    )


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file. Raises CheckpointError where there is none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path.parent} is no checkpoint: it has no {path.name}") from None
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON ({error}); fetch the file again") from error
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} holds a JSON {type(values).__name__}, not an object")
    return values


@dataclass(frozen=True)
class _Section:
    """An object inside a JSON file, read key by key; errors name the file and the key."""

    path: Path
    name: str
    values: Mapping[str, Any]

    def error(self, key: str, expected: str) -> CheckpointError:
        found = f"is {self.values[key]!r}" if key in self.values else "is missing"
        return CheckpointError(f"{self.path}: {self.name}{key} {found}; supported: {expected}")

    def section(self, key: str) -> _Section:
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.error(key, "an object")
        return _Section(self.path, f"{self.name}{key}.", value)

    def integer(self, key: str, default: int | None = None, *, low: int = 1, high: int = _LARGEST) -> int:
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, f"an integer from {low} to {high}")
        return value

    def number(self, key: str, default: float | None = None, *, low: float, high: float) -> float:
        value = self.values.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, f"a number from {low:g} to {high:g}")
        return float(value)

    def only(self, key: str, *supported: Any) -> None:
        """Refuse a stated value that the model here does not have; an absent key means the first one."""
        if self.values.get(key, supported[0]) not in supported:
            raise self.error(key, " or ".join(map(repr, supported)))


def _text_config(text: _Section, top: _Section) -> TextConfig:
    text.only("hidden_act", "silu")
    text.only("attention_bias", False)
    text.only("attn_output_gate", True)
    num_layers = text.integer("num_hidden_layers", high=1024)
    rope_key = next((key for key in ("rope_parameters", "rope_scaling") if text.values.get(key)), None)
    rope = text.section(rope_key) if rope_key else _Section(text.path, text.name, {})
    rope.only("rope_type" if "rope_type" in rope.values else "type", "default", "mrope")
    rope.only("mrope_interleaved", True)
    theta, factor = (
        (rope if key in rope.values else text).number(key, default, low=low, high=high)
        for key, default, low, high in (
            ("rope_theta", None, 1.0, 1e12),
            ("partial_rotary_factor", 0.25, 0.0, 1.0),
        )
    )
    section = rope.values.get("mrope_section", [11, 11, 10])
    config = TextConfig(
        vocabulary_size=text.integer("vocab_size"),
        hidden_size=text.integer("hidden_size"),
        intermediate_size=text.integer("intermediate_size"),
        layer_kinds=_layer_kinds(text, num_layers),
        num_query_heads=text.integer("num_attention_heads"),
        num_key_value_heads=text.integer("num_key_value_heads"),
        head_dim=text.integer("head_dim"),
        linear_num_key_heads=text.integer("linear_num_key_heads"),
        linear_num_value_heads=text.integer("linear_num_value_heads"),
        linear_key_head_dim=text.integer("linear_key_head_dim"),
        linear_value_head_dim=text.integer("linear_value_head_dim"),
        # A kernel of 1 would be no convolution, and its two stored layouts could not be told apart.
        conv_kernel_size=text.integer("linear_conv_kernel_dim", 4, low=2, high=64),
        rms_norm_eps=text.number("rms_norm_eps", 1e-6, low=0.0, high=1.0),
        rope_theta=theta,
        partial_rotary_factor=factor,
        mrope_section=tuple(section) if isinstance(section, list) else (),
        tie_word_embeddings=bool(top.values.get("tie_word_embeddings", text.values.get("tie_word_embeddings", False))),
        max_positions=text.integer("max_position_embeddings", 262144, high=1 << 32),
    )
    if config.num_query_heads % config.num_key_value_heads:
        raise text.error("num_key_value_heads", f"a divisor of num_attention_heads, {config.num_query_heads}")
    if config.linear_num_value_heads % config.linear_num_key_heads:
        raise text.error(
            "linear_num_key_heads", f"a divisor of linear_num_value_heads, {config.linear_num_value_heads}"
        )
    if config.rotary_dim < 2 or config.rotary_dim % 2:
        raise CheckpointError(
            f"{text.path}: {text.name}head_dim {config.head_dim} times partial_rotary_factor {factor:g} "
            f"gives {config.rotary_dim} rotary dimensions; supported: an even number from 2"
        )
    sizes = config.mrope_section
    whole = len(sizes) == 3 and all(isinstance(size, int) and size >= 0 for size in sizes)
    if not whole or sum(sizes) != config.rotary_dim // 2:
        raise rope.error("mrope_section", f"three integers that add up to {config.rotary_dim // 2}")
    return config


def layer_kinds(num_layers: int, full_attention_interval: int) -> tuple[str, ...]:
    """Every `full_attention_interval`-th layer is full attention, the others linear."""
    return tuple(LAYER_KINDS[(layer + 1) % full_attention_interval == 0] for layer in range(num_layers))


def _layer_kinds(text: _Section, num_layers: int) -> tuple[str, ...]:
    stated = text.values.get("layer_types")
    if stated is None:
        return layer_kinds(num_layers, text.integer("full_attention_interval", 4, high=1025))
    if not isinstance(stated, list) or len(stated) != num_layers or not all(kind in LAYER_KINDS for kind in stated):
        raise text.error("layer_types", f"a list of {num_layers}, each {' or '.join(map(repr, LAYER_KINDS))}")
    return tuple(stated)


def _vision_config(vision: _Section) -> VisionConfig:
    vision.only("hidden_act", "gelu_pytorch_tanh")
    vision.only("deepstack_visual_indexes", [], None)
    rope = vision.section("rope_parameters") if vision.values.get("rope_parameters") else vision
    rope.only("rope_type", "axial")
    config = VisionConfig(
        depth=vision.integer("depth", high=1024),
        hidden_size=vision.integer("hidden_size"),
        intermediate_size=vision.integer("intermediate_size"),
        num_heads=vision.integer("num_heads"),
        out_hidden_size=vision.integer("out_hidden_size"),
        num_position_embeddings=vision.integer("num_position_embeddings"),
        patch_size=vision.integer("patch_size", 16, high=256),
        temporal_patch_size=vision.integer("temporal_patch_size", 2, high=16),
        spatial_merge_size=vision.integer("spatial_merge_size", 2, high=16),
        in_channels=vision.integer("in_channels", 3, high=16),
        rope_theta=rope.number("rope_theta", 10000.0, low=1.0, high=1e12),
    )
    # Rotary positions: a quarter of a head for rows, a quarter for columns, each in pairs.
    if config.hidden_size % (4 * config.num_heads):
        raise vision.error("num_heads", f"a divisor of hidden_size / 4, {config.hidden_size / 4:g}")
    if isqrt(config.num_position_embeddings) ** 2 != config.num_position_embeddings:
        raise vision.error("num_position_embeddings", "a square number")
    return config


def _eos_token_ids(folder: Path, top: _Section, text: _Section, last_id: int) -> tuple[int, ...]:
    """Every id that some file calls an end, and those of END_TOKENS.

    Upstream's files name <|endoftext|> alone, but a turn ends with <|im_end|>: a runtime that believes them
    never stops.
    """
    ids: list[int] = list(end_token_ids(folder))
    if beyond := [id for id in ids if id > last_id]:
        raise CheckpointError(
            f"{folder}: tokenizer.json ends an answer with token {beyond[0]}, and config.json has a "
            f"vocabulary of {last_id + 1}; the two belong to different models"
        )
    sections = [top, text]
    if (path := folder / "generation_config.json").exists():
        sections.append(_Section(path, "", read_json(path)))
    for section in sections:
        stated = section.values.get("eos_token_id")
        for value in stated if isinstance(stated, list) else [] if stated is None else [stated]:
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= last_id:
                raise section.error("eos_token_id", f"token ids from 0 to {last_id}")
            ids.append(value)
    if not ids and (folder / "tokenizer.json").exists():
        raise CheckpointError(
            f"{folder}: nothing says which token ends an answer: no eos_token_id in config.json or "
            f"generation_config.json, and no {' or '.join(END_TOKENS)} in tokenizer.json"
        )
    return tuple(dict.fromkeys(ids))


def end_token_ids(folder: Path) -> tuple[int, ...]:
    """The ids of END_TOKENS, in that order, as far as the folder's tokenizer.json has them."""
    path = folder / "tokenizer.json"
    if not path.exists():
        return ()
    added = read_json(path).get("added_tokens", [])
    ids = {token.get("content"): token.get("id") for token in added if isinstance(token, dict)}
    found = (ids.get(token) for token in END_TOKENS)
    return tuple(id for id in found if isinstance(id, int))


def _quantization(top: _Section) -> dict[str, Quantization]:
    key = next((key for key in ("quantization", "quantization_config") if top.values.get(key)), None)
    if key is None:
        return {}
    stated = top.section(key)
    stated.only("quant_method", None, "affine", "mlx")
    base = _quantization_entry(stated)
    found = {"": base}
    for name, value in stated.values.items():
        if not isinstance(value, dict) or is_ignored(name):
            continue
        ours = canonical_name(name)
        if ours is None:
            raise stated.error(name, "module paths of this architecture")
        found[ours[0]] = _quantization_entry(stated.section(name))
    return found


def _quantization_entry(stated: _Section) -> Quantization:
    stated.only("mode", "affine")
    bits, group_size = stated.integer("bits"), stated.integer("group_size")
    for key, value, supported in (
        ("bits", bits, QUANTIZATION_BITS),
        ("group_size", group_size, QUANTIZATION_GROUP_SIZES),
    ):
        if value not in supported:
            raise stated.error(key, ", ".join(map(str, supported)))
    return Quantization(bits, group_size)
