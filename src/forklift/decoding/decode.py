"""The decoding loop: one model, one prompt, one stream of tokens."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from forklift.engines.base import Sampling, Statistics, Token
from forklift.errors import DecodeError
from forklift.results import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forklift.decoding.biasing import BiasState
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

    def verify(self, state: State, token_ids: Sequence[int], draft: Sequence[int]) -> Tensor:
        """Go on by n >= 1 tokens for good and by those of a draft tentatively, in one pass.

        Returns the logits [1 + draft, vocabulary] after the last of the n and after each of the draft. `keep` must
        follow before anything else.
        """
        ...

    def keep(self, state: State, count: int) -> None:
        """Of the draft that was verified last, keep the first `count` tokens in `state`."""
        ...

    def snapshot(self, state: State) -> State:
        """A state to come back to; cheap."""
        ...


class Drafter(Protocol):
    """Guesses how an answer goes on."""

    def observe(self, token_id: int) -> None:
        """The answer went on by this token."""
        ...

    def propose(self, constraint: Constraint, limit: int) -> list[int]:
        """At most `limit` tokens that may come next, all allowed by `constraint` (which is left as it is); often none.

        What has become of the last proposal is known by then: the tokens observed since.
        """
        ...


@dataclass(frozen=True)
class Prefill:
    """Read a prompt; answered by `LocalModel.prefill`."""

    prompt: Any


@dataclass(frozen=True)
class Pass:
    """Read `token_ids` into `state`, and a draft behind them.

    Answered by `LocalModel.extend`, of the last token only, or where there is a draft by `LocalModel.verify`.
    kept: first of all, `LocalModel.keep` so much of the draft before; None where there was none.
    """

    state: State
    token_ids: Sequence[int]
    draft: Sequence[int] = ()
    kept: int | None = None


# What decoding says: a token of the answer, or what it asks of the model before it can go on.
Step = Token | Prefill | Pass


def decode(model: LocalModel, prompt: Any, **options: Any) -> Iterator[Token]:
    """Generate the answer to `prompt` with nothing beside it; parameters and errors as in `decode_steps`."""
    steps = decode_steps(prompt, **options)
    answer: Any = None
    try:
        while True:
            try:
                step = steps.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(step, Token):
                yield step
            elif isinstance(step, Prefill):
                answer = model.prefill(step.prompt)
            else:
                if step.kept is not None:
                    model.keep(step.state, step.kept)
                if step.draft:
                    answer = model.verify(step.state, step.token_ids, step.draft)
                else:
                    answer = model.extend(step.state, step.token_ids, last_only=True)
    finally:
        steps.close()


def decode_steps(
    prompt: Any,
    *,
    constraint: Constraint | None,
    sampling: Sampling,
    max_new_tokens: int,
    end_ids: Collection[int],
    token_text: Callable[[int], bytes],
    cancel: threading.Event | None = None,
    statistics: Statistics | None = None,
    drafter: Drafter | None = None,
    bias: BiasState | None = None,
) -> Generator[Step, Any, None]:
    """Generate the answer to `prompt`; the last token carries the outcome.

    The model is not called but asked for: a `Prefill` or `Pass` that is yielded is answered by `send`, so that a
    server can put the passes of several answers into one.
    constraint: at its start; None for free text. end_ids: the tokens that end a turn, the first to be written
    where the constraint leaves nothing else. max_new_tokens counts every token, forced ones and the end of the turn
    too. The end of the turn costs no pass when the schema is complete, nor do tokens that the schema forces: they go
    into the same pass as the sampled token before them. drafter: its proposals go into that pass too, and those that
    turn out as chosen cost none of their own; what is chosen does not depend on them. bias: what is printed in the
    document, at the start of an answer. Both are used under a constraint only.
    A cancelled or zero-length answer ends with an empty token. Raises DecodeError when the grammar or the logits fail
    (a logit that is not a number).
    """
    statistics = statistics if statistics is not None else Statistics()
    chooser = _Chooser(sampling, token_text)
    end = next(iter(end_ids))
    closing = Token(end, b"", forced=True, outcome=Outcome.CANCELLED)
    waiting: list[int] = []  # tokens that the model has not read yet
    draft: list[int] = []  # tokens that the last pass read ahead of the answer
    agreed = 0  # how many of them the answer has confirmed
    count = 0
    if constraint is None:
        drafter = None

    def emit(token_id: int, log_probability: float, forced: bool) -> Token:
        nonlocal count, agreed
        count += 1
        if not waiting and agreed < len(draft) and draft[agreed] == token_id:
            agreed += 1
        else:
            waiting.append(token_id)
        if drafter is not None:
            drafter.observe(token_id)
        if bias is not None:
            bias.accept(token_text(token_id))
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
    state, logits = yield Prefill(prompt)
    rows = logits[None]  # logits after the last pass's certain tokens and after each token of its draft
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
            # 2. One pass over what the model has not read.
            if cancel is not None and cancel.is_set():
                yield closing
                return
            if waiting:
                kept = agreed if draft else None
                statistics.accepted_draft_tokens += agreed
                draft, agreed = [], 0
                if drafter is not None and constraint is not None:
                    draft = drafter.propose(constraint, max_new_tokens - count)
                    statistics.draft_tokens += len(draft)
                rows = yield Pass(state, waiting, draft, kept)
                statistics.forward_passes += 1
                waiting = []
            # 3. One choice of the model.
            token_id, log_probability = chooser.choose(rows[agreed], mask, bias)
            if constraint is not None and token_id not in end_ids:
                constraint.accept((token_id,))
            token = emit(token_id, log_probability, False)
            yield token
            if token.outcome is not None:
                return
    finally:
        statistics.accepted_draft_tokens += agreed
        statistics.decode_seconds += time.perf_counter() - started


# The eight bits of each byte of a mask as what is added to the logits: 0 where allowed, else -inf.
_BIAS = np.where((np.arange(256)[:, None] >> np.arange(8)) & 1, np.float32(0), np.float32(-np.inf))


class _Chooser:
    """Picks a token from logits: the best one, or by nucleus sampling from a seeded generator."""

    def __init__(self, sampling: Sampling, token_text: Callable[[int], bytes]) -> None:
        self._sampling = sampling
        self._token_text = token_text
        self._generator: torch.Generator | None = None
        self._mask_bias: NDArray[np.float32] = np.empty((0, 8), np.float32)
        self._scores = self._log_probabilities = torch.empty(0)

    def choose(
        self, logits: Tensor, mask: NDArray[np.uint32] | None, bias: BiasState | None = None
    ) -> tuple[int, float]:
        """The token and its log-probability at temperature 1 among the allowed ones, after `bias`.

        logits: [vocabulary]. mask: bits of the allowed tokens, at least one a column of the logits.
        """
        scores = logits.detach().float()
        if self._scores.shape != scores.shape or self._scores.device != scores.device:
            self._scores, self._log_probabilities = torch.empty_like(scores), torch.empty_like(scores)
        if mask is not None:
            # Table look-up, addition and log_softmax into kept buffers: 0.5 ms for 248k tokens on one core,
            # where masked_fill with logsumexp takes 4.
            if len(self._mask_bias) != 4 * len(mask):
                self._mask_bias = np.empty((4 * len(mask), 8), np.float32)
            np.take(_BIAS, mask.view(np.uint8), axis=0, out=self._mask_bias, mode="clip")
            forbidding = torch.from_numpy(self._mask_bias).view(-1)[: scores.shape[0]].to(scores.device)
            scores = torch.add(scores, forbidding, out=self._scores)
            if bias is not None:
                bias.adjust(scores, self._token_text)
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
