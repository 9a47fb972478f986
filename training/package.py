"""A training run into a checkpoint folder: `python -m training.package runs/extract/state.pt src/forklift/nano`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from forklift.checkpoint.config_writer import write_config, write_json
from forklift.checkpoint.tensor_writer import write_tensors
from forklift.model import Model
from training.lessons import MAX_PIXELS, tokenizer
from training.nano import nano_config
from training.tokenizer import SPECIALS, VOCABULARY_SIZE

# How pdfium makes a grey of red, green and blue.
LUMA = (0.30, 0.59, 0.11)


def see_colours_as_greys(model: Model) -> None:
    """Share out each patch weight between channels and frames so that a coloured page is seen as its greys.

    Training shows grey pages alone, where only the sum over channels and frames counts; this leaves the sum as it is.
    """
    weight = model.vision.patch_embed.proj.weight
    with torch.no_grad():
        shares = torch.tensor(LUMA, dtype=weight.dtype)[:, None, None, None] / weight.shape[2]
        weight.copy_(weight.sum((1, 2), keepdim=True) * shares)


def write_checkpoint(folder: Path, model: Model) -> None:
    """Everything but the chat template (which is kept with the package) and the training record."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer().save(str(folder / "tokenizer.json"))
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "additional_special_tokens": list(SPECIALS),
            "clean_up_tokenization_spaces": False,
            "model_max_length": model.config.text.max_positions,
        },
    )
    write_json(
        folder / "preprocessor_config.json",
        {
            "image_processor_type": "Qwen2VLImageProcessorFast",
            "processor_class": "Qwen3VLProcessor",
            "patch_size": 16,
            "temporal_patch_size": 2,
            "merge_size": 2,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
            "size": {"shortest_edge": 1024, "longest_edge": MAX_PIXELS},
        },
    )
    write_json(
        folder / "generation_config.json",
        {
            "do_sample": False,
            "forklift": {
                "answer_form": "spaced",
                # Small paper is read as it is: enlarging it to 692 pixels, as is done for the 9B, would only blur it.
                "page": {"dots_per_inch": 96, "shorter_side": 0, "max_pixels": MAX_PIXELS},
                # nano mistakes characters more often than a large model does; docs/log.md.
                "text_layer_penalty": 6.0,
            },
        },
    )
    write_config(folder, model.config)
    write_tensors(folder, model.state_dict(), model.config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=json.loads, help="facts for training_record.json, as a JSON object")
    arguments = parser.parse_args()
    state = torch.load(arguments.state, weights_only=False)
    model = Model(nano_config(VOCABULARY_SIZE, {text: tokenizer().token_to_id(text) for text in SPECIALS}))
    model.load_state_dict(state["model"])
    see_colours_as_greys(model)
    write_checkpoint(arguments.folder, model)
    if arguments.record:
        write_json(
            arguments.folder / "training_record.json",
            {"steps": state["step"], "hours": round(state["seconds"] / 3600, 2), **arguments.record},
        )
    print(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters in {arguments.folder}")


if __name__ == "__main__":
    main()
