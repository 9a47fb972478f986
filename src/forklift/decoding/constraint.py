"""What a schema allows next, token by token: llguidance's matcher behind a face that raises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import llguidance
import numpy as np
from numpy.typing import NDArray

from forklift.decoding.grammar import ANSWER_FORMS, AnswerForm, write_grammar
from forklift.errors import CheckpointError, DecodeError, SchemaError

if TYPE_CHECKING:
    from forklift.schema import Schema


class TokenizerView:
    """A tokenizer as the matcher sees it: bytes of every token, and which tokens end a turn.

    tokenizer_json: text of a `tokenizer.json` (byte-level BPE).
    end_token_ids: tokens that end the answer; the first is the one that is written.
    vocabulary_size: columns of the model's logits, at least the tokenizer's own size (padding rows are never
    allowed). Raises CheckpointError when the text is no tokenizer. Building takes about a second at 248k
    tokens: see `cached`.
    """

    def __init__(self, tokenizer_json: str, end_token_ids: Sequence[int], vocabulary_size: int | None = None) -> None:
        if not end_token_ids:
            raise CheckpointError("the tokenizer has no end-of-turn token")
        try:
            self.tokenizer = llguidance.LLTokenizer(
                _without_truncation(tokenizer_json),
                n_vocab=vocabulary_size,
                eos_token=list(end_token_ids),
                slices=llguidance.LLTokenizer.json_slices(),
            )
        except (ValueError, KeyError) as error:
            raise CheckpointError(f"tokenizer.json cannot be used: {error}") from None
        self.end_token_ids = tuple(end_token_ids)
        self.vocabulary_size: int = self.tokenizer.vocab_size
        self._texts: dict[int, bytes] = {}

    @staticmethod
    def cached(
        tokenizer_json: str, end_token_ids: tuple[int, ...], vocabulary_size: int | None = None
    ) -> TokenizerView:
        """The same view for the same arguments."""
        return _view(tokenizer_json, end_token_ids, vocabulary_size)

    def text(self, token_id: int) -> bytes:
        """The bytes of one token; b"" for special tokens."""
        known = self._texts.get(token_id)
        if known is None:
            special = self.tokenizer.is_special_token(token_id)
            known = b"" if special else self.tokenizer.decode_bytes([token_id])
            self._texts[token_id] = known
        return known

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.tokenize_str(text)


class Constraint:
    """The state of one answer under a schema.

    form: the spacing that the model writes; None leaves the choice to its first structural tokens.
    Raises SchemaError when the grammar cannot be built.
    """

    def __init__(
        self, view: TokenizerView, schema: Schema, *, strict: bool = False, form: AnswerForm | None = None
    ) -> None:
        forms = (form,) if form is not None else tuple(ANSWER_FORMS.values())
        try:
            # The text is the cache's key, so that two equal schemas share one grammar.
            pristine = _matcher(view, json.dumps(schema.decoded(strict), ensure_ascii=False), forms)
        except SchemaError as error:
            raise SchemaError(f"{schema.name}: {error}") from None
        self._matcher = pristine.deep_copy()
        self._mask: NDArray[np.uint32] = np.zeros((view.vocabulary_size + 31) // 32, dtype=np.uint32)
        self._pointer = self._mask.ctypes.data
        self._bytes = self._mask.nbytes

    def allowed(self) -> NDArray[np.uint32]:
        """One bit a token, least significant first: uint32 [ceil(vocabulary_size / 32)].

        The array is overwritten by the next call. The end-of-turn tokens are allowed once the answer may end.
        """
        self._matcher.unsafe_compute_mask_ptr(self._pointer, self._bytes)
        self._check()
        return self._mask

    def forced(self) -> list[int]:
        """The tokens that must come now, as the tokenizer would cut the whole text; often none."""
        return self._matcher.compute_ff_tokens()

    def forced_bytes(self) -> bytes:
        """The bytes that must come now, however they are cut into tokens; often none. Cheaper than `forced`."""
        return self._matcher.compute_ff_bytes()

    def copy(self) -> Constraint:
        """The same state, which goes on by itself. It shares the array that `allowed` returns."""
        other = object.__new__(Constraint)
        other._matcher = self._matcher.deep_copy()
        other._mask, other._pointer, other._bytes = self._mask, self._pointer, self._bytes
        return other

    def accept(self, token_ids: Sequence[int]) -> None:
        """Go on by `token_ids`. Raises DecodeError at a token that is not allowed."""
        if not self._matcher.consume_tokens(list(token_ids)):
            self._check()
            raise DecodeError(f"the grammar refused one of the tokens {list(token_ids)}")

    def acceptable(self, token_ids: Sequence[int]) -> int:
        """How many of `token_ids`, from the first, the schema would accept now; changes nothing."""
        return self._matcher.validate_tokens(list(token_ids))

    def rollback(self, count: int) -> None:
        """Take back the last `count` tokens. Raises DecodeError when there are fewer."""
        if not self._matcher.rollback(count):
            self._check()
            raise DecodeError(f"cannot take back {count} tokens")

    @property
    def is_complete(self) -> bool:
        """Nothing but the end of the turn can follow."""
        return self._matcher.is_stopped() and not self._matcher.is_error()

    @property
    def may_end(self) -> bool:
        """What stands is a whole answer, though more may follow (a number's further digits)."""
        return self._matcher.is_accepting()

    def _check(self) -> None:
        # llguidance never raises on a bad grammar or token: it enters an error state and stays there.
        if self._matcher.is_error():
            raise DecodeError(f"constrained decoding failed: {_first_line(self._matcher.get_error())}")


@lru_cache(maxsize=8)
def _view(tokenizer_json: str, end_token_ids: tuple[int, ...], vocabulary_size: int | None) -> TokenizerView:
    return TokenizerView(tokenizer_json, end_token_ids, vocabulary_size)


@lru_cache(maxsize=64)
def _matcher(view: TokenizerView, decoded_json: str, forms: tuple[AnswerForm, ...]) -> llguidance.LLMatcher:
    grammar = write_grammar(json.loads(decoded_json), forms)
    matcher = llguidance.LLMatcher(view.tokenizer, grammar, log_level=0)
    if matcher.is_error():
        raise SchemaError(f"cannot be decoded: {_first_line(matcher.get_error())}")
    return matcher


def _without_truncation(tokenizer_json: str) -> str:
    """Truncation or padding in the file would cut or fill what the matcher tokenises."""
    try:
        settings = json.loads(tokenizer_json)
    except json.JSONDecodeError as error:
        raise CheckpointError(f"tokenizer.json is not JSON: {error}") from None
    if not settings.get("truncation") and not settings.get("padding"):
        return tokenizer_json
    return json.dumps({**settings, "truncation": None, "padding": None}, ensure_ascii=False)


def _first_line(message: str) -> str:
    return message.strip().split("\n", 1)[0]
