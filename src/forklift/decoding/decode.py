"""The decoding loop: one model, one prompt, one stream of tokens."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from forklift.engines.base import Sampling, Statistics, Token
from forklift.errors import DecodeError
from forklift.results import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forklift.decoding.constraint import Constraint

State = Any  # the model's own memory of what it has read


class LocalModel(Protocol):
    """What the decoder drives. Logits are on any device, of any float type."""

    def prefill(self, prompt: Any) -> tuple[State, Tensor]:
        """Read a prompt: its state, and the logits [vocabulary] after its last token."""
        ...

    def extend(self, state: State, token_ids: Sequence[int], *, last_only: bool = False) -> Tensor:
        """Go on by n >= 1 tokens in one pass, changing `state`: logits [n or 1, vocabulary]."""
        ...

    def snapshot(self, state: State) -> State:
        """A state to come back to; cheap."""
        ...


def decode(
    model: LocalModel,
    prompt: Any,
    *,
    constraint: Constraint | None,
    sampling: Sampling,
    max_new_tokens: int,
    end_ids: Collection[int],
    token_text: Callable[[int], bytes],
    cancel: threading.Event | None = None,
    statistics: Statistics | None = None,
) -> Iterator[Token]:
    """Generate the answer to `prompt`; the last token carries the outcome.

    constraint: at its start; None for free text. end_ids: the tokens that end a turn, the first to be written
    where the constraint leaves nothing else. max_new_tokens counts every token, forced ones and the end of
    the turn too. The end of the turn costs no pass when the schema is complete, nor do tokens that the schema
    forces: they go into the same pass as the sampled token before them. A cancelled or zero-length answer
    ends with an empty token. Raises DecodeError when the grammar or the logits fail (a logit that is not a
    number).
    """
    statistics = statistics if statistics is not None else Statistics()
    chooser = _Chooser(sampling)
    end = next(iter(end_ids))
    closing = Token(end, b"", forced=True, outcome=Outcome.CANCELLED)
    waiting: list[int] = []  # tokens that the model has not read yet
    count = 0

    def emit(token_id: int, log_probability: float, forced: bool) -> Token:
        nonlocal count
        count += 1
        outcome: Outcome | None = None
        if token_id in end_ids:
            outcome = Outcome.COMPLETE
        elif count >= max_new_tokens:
            whole = constraint is not None and constraint.is_complete
            outcome = Outcome.COMPLETE if whole else Outcome.TRUNCATED
        return Token(token_id, token_text(token_id), log_probability, forced, outcome)

    if max_new_tokens <= 0:
        yield Token(end, b"", forced=True, outcome=Outcome.TRUNCATED)
        return
    if cancel is not None and cancel.is_set():
        yield closing
        return
    started = time.perf_counter()
    state, logits = model.prefill(prompt)
    statistics.prefill_seconds += time.perf_counter() - started
    statistics.forward_passes += 1
    started = time.perf_counter()
    try:
        while True:
            # 1. What the schema leaves no choice about.
            mask: NDArray[np.uint32] | None = None
            if constraint is not None:
                while True:
                    if constraint.is_complete:
                        yield emit(end, 0.0, True)
                        return
                    forced = constraint.forced()
                    if not forced:
                        mask = constraint.allowed()
                        only = _only_token(mask)
                        if only is None:
                            break
                        forced = [only]
                        if only in end_ids:
                            yield emit(only, 0.0, True)
                            return
                    for token_id in forced:
                        constraint.accept((token_id,))
                        token = emit(token_id, 0.0, True)
                        yield token
                        if token.outcome is not None:
                            return
                    waiting += forced
            # 2. One pass over what the model has not read.
            if cancel is not None and cancel.is_set():
                yield closing
                return
            if waiting:
                logits = model.extend(state, waiting, last_only=True)[-1]
                statistics.forward_passes += 1
                waiting = []
            # 3. One choice of the model.
            token_id, log_probability = chooser.choose(logits, mask)
            if constraint is not None and token_id not in end_ids:
                constraint.accept((token_id,))
            token = emit(token_id, log_probability, False)
            yield token
            if token.outcome is not None:
                return
            waiting = [token_id]
    finally:
        statistics.decode_seconds += time.perf_counter() - started


# The eight bits of each byte of a mask as what is added to the logits: 0 where allowed, else -inf.
_BIAS = np.where((np.arange(256)[:, None] >> np.arange(8)) & 1, np.float32(0), np.float32(-np.inf))


class _Chooser:
    """Picks a token from logits: the best one, or by nucleus sampling from a seeded generator."""

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        self._generator: torch.Generator | None = None
        self._bias: NDArray[np.float32] = np.empty((0, 8), np.float32)
        self._scores = self._log_probabilities = torch.empty(0)

    def choose(self, logits: Tensor, mask: NDArray[np.uint32] | None) -> tuple[int, float]:
        """The token and its log-probability at temperature 1 among the allowed ones.

        logits: [vocabulary]. mask: bits of the allowed tokens, at least one a column of the logits.
        """
        scores = logits.detach().float()
        if self._scores.shape != scores.shape or self._scores.device != scores.device:
            self._scores, self._log_probabilities = torch.empty_like(scores), torch.empty_like(scores)
        if mask is not None:
            # Table look-up, addition and log_softmax into kept buffers: 0.5 ms for 248k tokens on one core,
            # where masked_fill with logsumexp takes 4.
            if len(self._bias) != 4 * len(mask):
                self._bias = np.empty((4 * len(mask), 8), np.float32)
            np.take(_BIAS, mask.view(np.uint8), axis=0, out=self._bias, mode="clip")
            bias = torch.from_numpy(self._bias).view(-1)[: scores.shape[0]].to(scores.device)
            scores = torch.add(scores, bias, out=self._scores)
        log_probabilities = torch.log_softmax(scores, 0, out=self._log_probabilities)
        if self._sampling.temperature <= 0:
            best, index = log_probabilities.max(0)
            token_id, log_probability = int(index), float(best)
        else:
            token_id = self._sample(scores)
            log_probability = float(log_probabilities[token_id])
        if not -math.inf < log_probability <= 1e-3:  # false for NaN too
            raise DecodeError("the model's logits are not finite; try --dtype float32")
        return token_id, min(log_probability, 0.0)

    def _sample(self, scores: Tensor) -> int:
        if self._generator is None:
            self._generator = torch.Generator().manual_seed(self._sampling.seed)
        # On the CPU, so that a seed means the same on every device.
        probabilities = torch.softmax(scores.cpu() / self._sampling.temperature, 0)
        if self._sampling.top_p < 1:
            ordered, indices = probabilities.sort(descending=True, stable=True)
            kept = ordered.cumsum(0) - ordered < max(self._sampling.top_p, 1e-9)  # the most probable always stays
            chosen = torch.multinomial(ordered * kept, 1, generator=self._generator)
            return int(indices[chosen])
        return int(torch.multinomial(probabilities, 1, generator=self._generator))


def _only_token(mask: NDArray[np.uint32]) -> int | None:
    """The token if the mask allows exactly one, else None. Raises DecodeError when it allows none."""
    words = np.flatnonzero(mask)
    if len(words) > 1:
        return None
    if len(words) == 0:
        raise DecodeError("the grammar allows no token")
    word = int(mask[words[0]])
    return int(words[0]) * 32 + word.bit_length() - 1 if word & (word - 1) == 0 else None
