"""From tokens to what a client reads: whole characters, cut at stop texts; and OpenAI's objects around it."""

from __future__ import annotations

import codecs
import time
import uuid
from collections.abc import Sequence
from typing import Any

from forklift import __version__
from forklift.engines.base import Statistics, Token
from forklift.results import Outcome


class AnswerText:
    """Gathers the bytes of tokens into text that can be sent: no half character, nothing that may begin a stop.

    is_stopped: a stop text came; it and all behind it is left out.
    """

    def __init__(self, stops: Sequence[bytes] = ()) -> None:
        self._stops = stops
        self._held = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.is_stopped = False

    def feed(self, tokens: Sequence[Token]) -> str:
        """The text that these tokens make certain; often less than they hold."""
        if self.is_stopped:
            return ""
        self._held += b"".join(token.text for token in tokens)
        found = [place for place in (self._held.find(stop) for stop in self._stops) if place >= 0]
        if found:
            self.is_stopped = True
            certain, self._held = self._held[: min(found)], b""
            return self._decoder.decode(certain, final=True)
        keep = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        certain, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return self._decoder.decode(certain)

    def finish(self) -> str:
        """What was held back, once no more tokens come."""
        held, self._held = self._held, b""
        return "" if self.is_stopped else self._decoder.decode(held, final=True)


def _overlap(text: bytes, stop: bytes) -> int:
    """How many bytes at the end of `text` begin `stop`."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)


class Completion:
    """One chat completion: its identity, counts and reason to end, written as OpenAI's objects."""

    def __init__(self, model: str, stops: Sequence[bytes], *, with_probabilities: bool) -> None:
        self.id = f"chatcmpl-{uuid.uuid4().hex}"
        self.statistics = Statistics()
        self.answer_tokens = 0
        self.forced_tokens = 0
        self.outcome: Outcome | None = None
        self._model = model
        self._created = int(time.time())
        self._text = AnswerText(stops)
        self._with_probabilities = with_probabilities

    def add(self, tokens: Sequence[Token]) -> tuple[str, list[dict[str, Any]] | None]:
        """Take tokens in; the text that is certain now, and the tokens' probabilities if they are asked for."""
        self.answer_tokens += len(tokens)
        self.forced_tokens += sum(token.forced for token in tokens)
        self.outcome = tokens[-1].outcome
        text = self._text.feed(tokens)
        if self.outcome is not None:
            text += self._text.finish()
        shown = [_probability(token) for token in tokens if token.text]
        return text, shown if self._with_probabilities else None

    @property
    def is_over(self) -> bool:
        return self._text.is_stopped or self.outcome is not None

    @property
    def finish_reason(self) -> str:
        truncated = self.outcome is Outcome.TRUNCATED and not self._text.is_stopped
        return "length" if truncated else "stop"

    @property
    def usage(self) -> dict[str, int]:
        prompt, answer = self.statistics.prompt_tokens, self.answer_tokens
        return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}

    def whole(self, text: str, probabilities: list[dict[str, Any]]) -> dict[str, Any]:
        """The answer at once."""
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "logprobs": {"content": probabilities, "refusal": None} if self._with_probabilities else None,
            "finish_reason": self.finish_reason,
        }
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage}

    def chunk(
        self,
        delta: dict[str, Any],
        probabilities: list[dict[str, Any]] | None = None,
        finish_reason: str | None = None,
        *,
        usage: bool,
    ) -> dict[str, Any]:
        """A part of a stream. usage: the stream ends with a count, of which earlier parts say null."""
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": {"content": probabilities, "refusal": None} if probabilities is not None else None,
            "finish_reason": finish_reason,
        }
        part = {**self._head("chat.completion.chunk"), "choices": [choice]}
        return {**part, "usage": None} if usage else part

    def usage_chunk(self) -> dict[str, Any]:
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage}

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self._created,
            "model": self._model,
            "system_fingerprint": f"forklift-{__version__}",
        }


def _probability(token: Token) -> dict[str, Any]:
    return {
        "token": token.text.decode("utf-8", errors="replace"),
        "logprob": token.log_probability,
        "bytes": list(token.text),
        "top_logprobs": [],
    }
