"""The shape of the bundled model, and the characters that it is taught to read."""

from __future__ import annotations

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig

# What a printed glyph can be: printable ASCII and the letters and signs of the western European languages.
CHARACTERS = "".join(chr(code) for code in range(33, 127)) + "€£§°ÄÖÜäöüßÀÂÇÈÉÊËÎÏÔÙÛàâæçèéêëîïôùûœÁÍÓÚÑáíóúñ¿¡ÌÒìò·–×"


def nano_config(vocabulary_size: int, token_ids: dict[str, int]) -> ModelConfig:
    """7.9M parameters; token_ids holds the ids of the special tokens by their text.

    Every second layer is full attention (every fourth in the 9B): extraction is looking up, and on a CPU these layers
    also train in half the time of linear ones.
    """
    return ModelConfig(
        text=TextConfig(
            vocabulary_size=vocabulary_size,
            hidden_size=256,
            intermediate_size=320,
            layer_kinds=("linear_attention", "full_attention") * 4,
            num_query_heads=4,
            num_key_value_heads=2,
            head_dim=64,
            linear_num_key_heads=4,
            linear_num_value_heads=4,
            linear_key_head_dim=32,
            linear_value_head_dim=64,
            rope_theta=100.0,
            partial_rotary_factor=0.5,
            mrope_section=(6, 5, 5),
            tie_word_embeddings=True,
            max_positions=8192,
        ),
        vision=VisionConfig(
            depth=5,
            hidden_size=192,
            intermediate_size=768,
            num_heads=3,
            out_hidden_size=256,
            num_position_embeddings=576,
        ),
        image_token_id=token_ids["<|image_pad|>"],
        video_token_id=token_ids["<|video_pad|>"],
        vision_start_token_id=token_ids["<|vision_start|>"],
        vision_end_token_id=token_ids["<|vision_end|>"],
        eos_token_ids=(token_ids["<|endoftext|>"], token_ids["<|im_end|>"]),
    )
