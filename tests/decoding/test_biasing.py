"""Tokens that leave the document's words lose against tokens that stay within them."""

import pytest
import torch

from forklift.decoding.biasing import PENALTY, DocumentBias

WORDS = "Invoice #INV-204 Date: 5 March 2026 Norvexa Trading Ltd. Total €1.234,50 (81.00)".split()
# One token a byte, so that scores can be given by character.
BYTES = [bytes([code]) for code in range(256)]


def _scores(**likely: float) -> torch.Tensor:
    scores = torch.full((256,), -10.0)
    for name, value in likely.items():
        scores[ord({"quote": '"', "comma": ",", "dash": "-"}.get(name, name.lstrip("_")))] = value
    return scores


def _adjusted(prefix: str, **likely: float) -> torch.Tensor:
    state = DocumentBias(WORDS).start()
    state.accept(prefix.encode())
    scores = _scores(**likely)
    state.adjust(scores, BYTES.__getitem__)
    return scores


def _best(prefix: str, **likely: float) -> str:
    return chr(int(_adjusted(prefix, **likely).argmax()))


def test_a_misread_letter_gives_way_to_the_printed_one():
    assert _best('{"vendor": "Norve', k=1.0, x=0.0) == "x"


def test_a_model_that_is_sure_is_not_moved():
    assert _best('{"vendor": "Norve', k=PENALTY + 1.0, x=0.0) == "k"


def test_tokens_that_stay_lose_nothing():
    before = _scores(k=1.0, x=0.0)
    after = _adjusted('{"vendor": "Norve', k=1.0, x=0.0)
    assert after[ord("x")] == before[ord("x")]
    assert after[ord("k")] == before[ord("k")] - PENALTY


@pytest.mark.parametrize(
    ("prefix", "wrong", "right"),
    [
        ('{"total": 1234', "comma", "."),  # 1.234,50 in plain digits
        ('{"total": 1234.', "_6", "5"),
        ('{"date": "2026-0', "_8", "3"),  # 5 March 2026
        ('{"number": "IN', "W", "V"),  # behind a sign within a word
        ('{"vendor": "Norvexa Trading Ltd', "s", "quote"),  # only a full stop is left of the word
        ('{"currency": "E', "R", "U"),  # the sign's code
        ('{"note": "(8', "_4", "1"),
    ],
)
def test_printed_forms_of_numbers_dates_and_currencies(prefix, wrong, right):
    character = {"quote": '"', "comma": ",", "dash": "-"}.get(right, right.lstrip("_"))
    assert _best(prefix, **{wrong: 1.0, ("_" + right if right.isdigit() else right): 0.0}) == character


def test_a_value_that_has_left_the_document_is_let_go():
    assert _best('{"vendor": "Zq', k=1.0, x=0.0) == "k"


def test_a_value_may_not_end_inside_a_word_when_the_word_goes_on():
    assert _best('{"vendor": "Norv', quote=1.0, e=0.0) == "e"
    assert _best('{"vendor": "Norvexa', quote=0.0, _e=1.0, **{"k": -1.0}) == '"'


def test_names_punctuation_null_and_enums_are_left_alone():
    assert _best('{"vend', k=1.0, o=0.0) == "k"
    assert _best('{"total": ', n=1.0, _1=0.0) == "n"
    state = DocumentBias(WORDS).start()
    state.accept(b'{"method": "')
    scores = torch.full((256,), float("-inf"))
    scores[ord("z")], scores[ord("T")] = 1.0, 0.0  # an enum: no other letter is allowed
    state.adjust(scores, BYTES.__getitem__)
    assert chr(int(scores.argmax())) == "z"


def test_tokens_of_several_bytes_are_weighed_whole():
    tokens = [b"exa Tra", b"exo Tra", b'exa"', b"e"]
    state = DocumentBias(WORDS).start()
    state.accept(b'{"vendor": "Norv')
    scores = torch.tensor([0.0, 2.0, 1.0, -9.0])
    # As many tokens as a free text allows.
    wide = torch.cat((scores, torch.full((100,), -20.0)))
    state.adjust(wide, lambda token: tokens[token] if token < len(tokens) else b"\x00")
    assert int(wide.argmax()) == 2


def test_escapes_and_empty_documents_change_nothing():
    assert _best('{"note": "a\\u00e', k=1.0, x=0.0) == "k"
    state = DocumentBias([]).start()
    state.accept(b'{"vendor": "N')
    scores = _scores(k=1.0, x=0.0)
    state.adjust(scores, BYTES.__getitem__)
    assert torch.equal(scores, _scores(k=1.0, x=0.0))
