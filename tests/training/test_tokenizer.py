"""nano's tokenizer: any text comes back as it was, values are single characters, schemas are short."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.nano import CHARACTERS
from training.tasks import bundled_schema
from training.tokenizer import SPECIALS, VOCABULARY_SIZE, build_tokenizer, character_ids, spell

TOKENIZER = build_tokenizer()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_every_text_comes_back(text: str) -> None:
    ids = TOKENIZER.encode(text).ids
    if not any(special in text for special in SPECIALS):
        assert TOKENIZER.decode(ids, skip_special_tokens=False) == text


def test_the_vocabulary_fits_the_embeddings() -> None:
    assert TOKENIZER.get_vocab_size() <= VOCABULARY_SIZE
    assert [TOKENIZER.token_to_id(text) for text in SPECIALS] == list(range(len(SPECIALS)))


@pytest.mark.parametrize("name", ["invoice", "receipt"])
def test_a_bundled_schema_takes_fewer_tokens_than_a_small_page(name: str) -> None:
    text = json.dumps(bundled_schema(name), indent=2, ensure_ascii=False)
    assert len(TOKENIZER.encode(text).ids) < 150 < len(text) / 10


def test_values_are_spelled_one_character_at_a_time() -> None:
    ids = character_ids(TOKENIZER)
    text = "Zorbel Übung GmbH & Co. 1.234,50 €"
    spelled = spell(text, ids, TOKENIZER)
    assert [len(tokens) for tokens in spelled] == [1] * len(text)
    assert TOKENIZER.decode([token for tokens in spelled for token in tokens]) == text
    assert set(CHARACTERS) <= set(ids)


def test_a_character_without_a_token_is_spelled_in_bytes() -> None:
    spelled = spell("日", character_ids(TOKENIZER), TOKENIZER)
    assert [len(tokens) for tokens in spelled] == [3]
    assert TOKENIZER.decode(spelled[0]) == "日"


def test_building_is_repeatable() -> None:
    assert TOKENIZER.to_str() == build_tokenizer().to_str()
