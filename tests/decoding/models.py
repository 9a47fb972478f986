"""Local models without weights, for tests of the decoding loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from forklift.decoding.constraint import TokenizerView


@dataclass
class Read:
    """A state: how many tokens were read, and each pass's tokens."""

    token_ids: list[int] = field(default_factory=list)
    passes: list[list[int]] = field(default_factory=list)
    draft: int = 0


class RecitingModel:
    """Wants to say `text` and then to end its turn, wherever it is; `certainty` is the logit of what it
    wants.
    """

    def __init__(self, view: TokenizerView, text: str, *, certainty: float = 10.0, end: bool = True) -> None:
        self.wanted = view.encode(text) + ([view.end_token_ids[0]] if end else [])
        self.vocabulary_size = view.vocabulary_size
        self.certainty = certainty
        self.states: list[Read] = []

    def prefill(self, prompt: Any) -> tuple[Read, Tensor]:
        self.states.append(Read())
        return self.states[-1], self._logits(0)

    def extend(self, state: Read, token_ids: Sequence[int], *, last_only: bool = False) -> Tensor:
        start = len(state.token_ids)
        state.token_ids += token_ids
        state.passes.append(list(token_ids))
        ends = range(start + 1, start + len(token_ids) + 1)
        return torch.stack([self._logits(end) for end in (ends[-1:] if last_only else ends)])

    def verify(self, state: Read, token_ids: Sequence[int], draft: Sequence[int]) -> Tensor:
        state.draft = len(draft)
        return self.extend(state, [*token_ids, *draft])[len(token_ids) - 1 :]

    def keep(self, state: Read, count: int) -> None:
        del state.token_ids[len(state.token_ids) - state.draft + count :]

    def snapshot(self, state: Read) -> Read:
        return Read(list(state.token_ids), list(state.passes))

    def _logits(self, position: int) -> Tensor:
        logits = torch.zeros(self.vocabulary_size)
        logits[self.wanted[min(position, len(self.wanted) - 1)]] = self.certainty
        return logits


class RandomModel(RecitingModel):
    """Random logits, seeded; text that closes things is likelier, so that answers end."""

    def __init__(self, view: TokenizerView, seed: int, *, closing: float = 3.0) -> None:
        super().__init__(view, "")
        self._generator = torch.Generator().manual_seed(seed)
        closers = {b'"', b"]", b"}", b"null", b"n", b'",', b'"}', b'"\n'}
        texts = [view.text(token_id) for token_id in range(self.vocabulary_size)]
        self._bias = torch.tensor([closing if text in closers else 0.0 for text in texts])

    def _logits(self, position: int) -> Tensor:
        return torch.randn(self.vocabulary_size, generator=self._generator) + self._bias
