"""A small real tokenizer: byte-level BPE with a few merges."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from forklift.decoding.constraint import TokenizerView

SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END_IDS = (2, 0)
# More columns than tokens, as real checkpoints have.
VOCABULARY_SIZE = 448

SAMPLE = {
    "vendor": "Acme Tools",
    "date": "2024-01-02",
    "line_items": [{"description": "Bolt", "amount": 12.5}, {"description": "Schraube", "amount": 1.0}],
    "Straße": "München",
    "total": 13.5,
}


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    written = [
        json.dumps(SAMPLE, ensure_ascii=False, indent=indent, separators=separators)
        for indent, separators in ((None, (",", ":")), (None, None), (2, None), (4, None))
    ]
    tokenizer.train_from_iterator(written * 10, trainer)
    return tokenizer


@pytest.fixture(scope="session")
def view(tokenizer: Tokenizer) -> TokenizerView:
    return TokenizerView(tokenizer.to_str(), END_IDS, VOCABULARY_SIZE)
