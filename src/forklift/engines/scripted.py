"""An engine that says what it is told: for tests of everything above an engine, without weights."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forklift.engines.base import Request, Statistics, Token
from forklift.results import Outcome

_PIECE = re.compile(rb"\w+|\s+|.", re.DOTALL)
_END_ID = 256


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    outcome: how it ends; a request's `max_new_tokens` or `cancel` may end it earlier.
    log_probability: of every token. seconds_per_token: waited before each token.
    error: raised after the text instead of ending.
    """

    text: str
    outcome: Outcome = Outcome.COMPLETE
    log_probability: float = -0.1
    seconds_per_token: float = 0.0
    error: Exception | None = None


class ScriptedEngine:
    """Gives `answers` in turn, the last one again and again; an exception stands for a failing request.

    requests: what it was asked, for a test to look at. Safe to use from several threads.
    """

    name = "scripted"

    def __init__(self, answers: Sequence[str | Answer | Exception] | str | Answer) -> None:
        listed = [answers] if isinstance(answers, str | Answer) else list(answers)
        if not listed:
            raise ValueError("a ScriptedEngine needs at least one answer")
        self._answers = listed
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.closed = False

    def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]:
        """The tokens of the next answer: its UTF-8 bytes cut into words, runs of space and single bytes."""
        with self._lock:
            answer = self._answers[min(len(self.requests), len(self._answers) - 1)]
            self.requests.append(request)
        if isinstance(answer, Exception):
            answer = Answer("", error=answer)
        elif isinstance(answer, str):
            answer = Answer(answer)
        return self._tokens(answer, request, statistics or Statistics())

    def close(self) -> None:
        self.closed = True

    def _tokens(self, answer: Answer, request: Request, statistics: Statistics) -> Iterator[Token]:
        pieces: list[bytes] = _PIECE.findall(answer.text.encode())
        if answer.outcome is not Outcome.COMPLETE and answer.error is None and not pieces:
            pieces = [b""]
        statistics.prompt_tokens += len(request.text.encode()) + len(request.pages)
        started = time.perf_counter()
        try:
            for index, piece in enumerate(pieces):
                if self._cancelled(request, answer.seconds_per_token):
                    yield Token(_END_ID, b"", forced=True, outcome=Outcome.CANCELLED)
                    return
                statistics.forward_passes += 1
                outcome: Outcome | None = None
                if index + 1 == request.max_new_tokens:
                    outcome = Outcome.TRUNCATED
                elif index + 1 == len(pieces) and answer.outcome is not Outcome.COMPLETE and answer.error is None:
                    outcome = answer.outcome
                yield Token(piece[0] if piece else _END_ID, piece, answer.log_probability, outcome=outcome)
                if outcome is not None:
                    return
            if answer.error is not None:
                raise answer.error
            yield Token(_END_ID, b"", forced=True, outcome=Outcome.COMPLETE)
        finally:
            statistics.decode_seconds += time.perf_counter() - started

    @staticmethod
    def _cancelled(request: Request, seconds: float) -> bool:
        if request.cancel is None:
            time.sleep(seconds)
            return False
        return request.cancel.wait(seconds) if seconds else request.cancel.is_set()
