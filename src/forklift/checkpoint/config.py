"""The shape of a Qwen3.5 vision-language model, as frozen dataclasses; `config_reader` fills them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LAYER_KINDS = ("linear_attention", "full_attention")
QUANTIZATION_BITS = (2, 3, 4, 5, 6, 8)
QUANTIZATION_GROUP_SIZES = (32, 64, 128)


@dataclass(frozen=True)
class TextConfig:
    """The language model. Sizes in elements; `layer_kinds[i]` is "linear_attention" or "full_attention"."""

    vocabulary_size: int
    hidden_size: int
    intermediate_size: int
    layer_kinds: tuple[str, ...]
    num_query_heads: int
    num_key_value_heads: int
    head_dim: int
    linear_num_key_heads: int
    linear_num_value_heads: int
    linear_key_head_dim: int
    linear_value_head_dim: int
    conv_kernel_size: int = 4
    rms_norm_eps: float = 1e-6
    rope_theta: float = 1e7
    partial_rotary_factor: float = 0.25
    mrope_section: tuple[int, int, int] = (11, 11, 10)
    tie_word_embeddings: bool = False
    max_positions: int = 262144

    @property
    def rotary_dim(self) -> int:
        return int(self.head_dim * self.partial_rotary_factor)

    @property
    def linear_key_dim(self) -> int:
        return self.linear_num_key_heads * self.linear_key_head_dim

    @property
    def linear_value_dim(self) -> int:
        return self.linear_num_value_heads * self.linear_value_head_dim


@dataclass(frozen=True)
class VisionConfig:
    """The vision tower. `num_position_embeddings` is the side of the learned position grid, squared."""

    depth: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    out_hidden_size: int
    num_position_embeddings: int
    patch_size: int = 16
    temporal_patch_size: int = 2
    spatial_merge_size: int = 2
    in_channels: int = 3
    rope_theta: float = 10000.0


@dataclass(frozen=True)
class Quantization:
    """How one module is stored: `bits`-bit codes in groups of `group_size` along the input dimension."""

    bits: int
    group_size: int = 64
    mode: str = "affine"


@dataclass(frozen=True)
class ModelConfig:
    """The whole model, with the ids of the tokens that stand for images and of those that end an answer.

    quantization: by module path (ours: `language.layers.0.mlp.gate_proj`); "" holds for every other quantised
        module. Empty for a checkpoint that is not quantised.
    """

    text: TextConfig
    vision: VisionConfig
    image_token_id: int
    video_token_id: int
    vision_start_token_id: int
    vision_end_token_id: int
    eos_token_ids: tuple[int, ...] = ()
    quantization: Mapping[str, Quantization] = field(default_factory=dict, hash=False)

    def quantization_of(self, module_path: str) -> Quantization | None:
        """How the module is stored if it is quantised, which its tensors decide; None: nothing says how."""
        return self.quantization.get(module_path, self.quantization.get(""))
