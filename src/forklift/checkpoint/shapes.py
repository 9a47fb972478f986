"""Every tensor that a model of a given configuration has, by our name, with its shape."""

from __future__ import annotations

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig

Shapes = dict[str, tuple[int, ...]]


def expected_shapes(config: ModelConfig) -> Shapes:
    """Our name -> shape, unquantised, in the model's order; weights are [out, in]."""
    return {**_vision_shapes(config.vision), **_language_shapes(config.text)}


def _language_shapes(config: TextConfig) -> Shapes:
    hidden, inner, vocabulary = config.hidden_size, config.intermediate_size, config.vocabulary_size
    shapes: Shapes = {"language.embed_tokens.weight": (vocabulary, hidden)}
    for layer, kind in enumerate(config.layer_kinds):
        prefix = f"language.layers.{layer}"
        mixer = _linear_attention(config) if kind == "linear_attention" else _full_attention(config)
        shapes[f"{prefix}.input_layernorm.weight"] = (hidden,)
        shapes |= {f"{prefix}.{name}": shape for name, shape in mixer.items()}
        shapes[f"{prefix}.post_attention_layernorm.weight"] = (hidden,)
        shapes[f"{prefix}.mlp.gate_proj.weight"] = (inner, hidden)
        shapes[f"{prefix}.mlp.up_proj.weight"] = (inner, hidden)
        shapes[f"{prefix}.mlp.down_proj.weight"] = (hidden, inner)
    shapes["language.norm.weight"] = (hidden,)
    if not config.tie_word_embeddings:
        shapes["lm_head.weight"] = (vocabulary, hidden)
    return shapes


def _linear_attention(config: TextConfig) -> Shapes:
    hidden, heads = config.hidden_size, config.linear_num_value_heads
    channels = 2 * config.linear_key_dim + config.linear_value_dim
    return {
        "linear_attn.in_proj_qkv.weight": (channels, hidden),
        "linear_attn.in_proj_z.weight": (config.linear_value_dim, hidden),
        "linear_attn.in_proj_b.weight": (heads, hidden),
        "linear_attn.in_proj_a.weight": (heads, hidden),
        "linear_attn.conv1d.weight": (channels, 1, config.conv_kernel_size),
        "linear_attn.A_log": (heads,),
        "linear_attn.dt_bias": (heads,),
        "linear_attn.norm.weight": (config.linear_value_head_dim,),
        "linear_attn.out_proj.weight": (hidden, config.linear_value_dim),
    }


def _full_attention(config: TextConfig) -> Shapes:
    hidden, size = config.hidden_size, config.head_dim
    return {
        # Per head the query, then its output gate.
        "self_attn.q_proj.weight": (config.num_query_heads * size * 2, hidden),
        "self_attn.k_proj.weight": (config.num_key_value_heads * size, hidden),
        "self_attn.v_proj.weight": (config.num_key_value_heads * size, hidden),
        "self_attn.o_proj.weight": (hidden, config.num_query_heads * size),
        "self_attn.q_norm.weight": (size,),
        "self_attn.k_norm.weight": (size,),
    }


def _vision_shapes(config: VisionConfig) -> Shapes:
    hidden, inner, patch = config.hidden_size, config.intermediate_size, config.patch_size
    merged = hidden * config.spatial_merge_size**2
    shapes: Shapes = {
        "vision.patch_embed.proj.weight": (
            hidden,
            config.in_channels,
            config.temporal_patch_size,
            patch,
            patch,
        ),
        "vision.patch_embed.proj.bias": (hidden,),
        "vision.pos_embed.weight": (config.num_position_embeddings, hidden),
    }

    def add(path: str, *weight: int) -> None:
        shapes[f"{path}.weight"] = weight
        shapes[f"{path}.bias"] = weight[:1]

    for block in range(config.depth):
        prefix = f"vision.blocks.{block}"
        add(f"{prefix}.norm1", hidden)
        add(f"{prefix}.norm2", hidden)
        add(f"{prefix}.attn.qkv", 3 * hidden, hidden)
        add(f"{prefix}.attn.proj", hidden, hidden)
        add(f"{prefix}.mlp.linear_fc1", inner, hidden)
        add(f"{prefix}.mlp.linear_fc2", hidden, inner)
    add("vision.merger.norm", hidden)
    add("vision.merger.linear_fc1", merged, merged)
    add("vision.merger.linear_fc2", config.out_hidden_size, merged)
    return shapes
