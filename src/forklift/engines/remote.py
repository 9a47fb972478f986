"""The engine behind a server that speaks the OpenAI protocol: vLLM, mlx_vlm.server, Ollama, another Forklift."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from forklift.engines.base import Request, Statistics, Token
from forklift.engines.remote_client import Cancelled, RemoteClient, RemoteName, Reply
from forklift.engines.remote_probe import Enforcement, probe_enforcement, response_format
from forklift.engines.remote_repair import find_json, repaired, violations
from forklift.errors import DecodeError, UsageError
from forklift.results import Outcome

if TYPE_CHECKING:
    from PIL import Image

_REPAIR_QUESTIONS = 2
_NO_ID = -1  # the server's token ids are not told
_END = Token(_NO_ID, b"", forced=True, outcome=Outcome.COMPLETE)


class RemoteEngine:
    """A model behind a server.

    enforcement: whether the server holds answers to a schema, found by `connect`; None before.
    Every answer to a schema is validated here whatever the server promises. One that does not match is repaired where
    that changes no value, else asked again, with what is wrong, up to twice; what then remains is handed on as it is,
    and the pipeline reports it as problems of the result. Statistics.notes say what was done.
    Several threads may generate at once.
    """

    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.name = str(client.name)
        self.enforcement: Enforcement | None = None
        self._lock = threading.Lock()

    @classmethod
    def connect(cls, model: str, base_url: str | None = None) -> RemoteEngine:
        """Find the server, its model, and whether it enforces schemas.

        base_url: else what the name says after "@", else FORKLIFT_BASE_URL. The key is OPENAI_API_KEY's.
        Raises UsageError for a name without a server, ModelError when it cannot be used.
        """
        name = RemoteName.parse(model, base_url or (None if "@http" in model else os.environ.get("FORKLIFT_BASE_URL")))
        timeout = os.environ.get("FORKLIFT_REMOTE_TIMEOUT", "600")
        try:
            timeout_seconds = float(timeout)
        except ValueError:
            timeout_seconds = 0.0
        if not timeout_seconds > 0:
            raise UsageError(f"FORKLIFT_REMOTE_TIMEOUT={timeout} is no time; give seconds above 0")
        client = RemoteClient(name, os.environ.get("OPENAI_API_KEY"), timeout_seconds=timeout_seconds)
        engine = cls(client)
        try:
            client.check_model()
        except BaseException:
            client.close()
            raise
        return engine

    def probe(self, cancel: threading.Event | None = None) -> Enforcement:
        """Whether the server enforces schemas; asked once."""
        with self._lock:
            if self.enforcement is None:
                self.enforcement = probe_enforcement(self.client, cancel)
            return self.enforcement

    def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]:
        """The tokens of the answer, once it is whole. Raises ModelError or DecodeError."""
        statistics = statistics if statistics is not None else Statistics()
        started = time.perf_counter()
        try:
            yield from self._tokens(request, statistics)
        except Cancelled:
            yield Token(_NO_ID, b"", forced=True, outcome=Outcome.CANCELLED)
        finally:
            statistics.decode_seconds += time.perf_counter() - started

    def close(self) -> None:
        self.client.close()

    def _tokens(self, request: Request, statistics: Statistics) -> Iterator[Token]:
        options: dict[str, Any] = {
            "temperature": request.sampling.temperature,
            "max_tokens": request.max_new_tokens,
            "logprobs": True,
        }
        if request.sampling.temperature:
            options |= {"top_p": request.sampling.top_p, "seed": request.sampling.seed}
        messages = [{"role": "user", "content": _content(request)}]
        if request.schema is None:
            yield from _spelled(self._ask(messages, options, request, statistics))
            return
        schema = request.schema.decoded(request.strict)
        enforcement = self.probe(request.cancel)
        if enforcement is not Enforcement.ENFORCED:
            statistics.notes.append(
                f"{self.client.name.base_url} {_MEANING[enforcement]}; answers are checked here, and repaired or "
                "asked again where they do not match"
            )
        options["response_format"] = response_format(schema)
        for question in range(_REPAIR_QUESTIONS + 1):
            reply = self._ask(messages, options, request, statistics)
            if reply.finish_reason == "length":
                yield from _spelled(reply)
                return
            try:
                data = find_json(reply.text)
            except ValueError as error:
                wrong = [f"it is no JSON: {error}"]
            else:
                data, changes = repaired(data, schema)
                wrong = violations(data, schema)
                if not wrong:
                    if changes or not _is_json(reply.text):
                        statistics.notes.extend(f"repaired: {change}" for change in changes)
                        yield Token(_NO_ID, json.dumps(data, ensure_ascii=False).encode(), math.nan)
                        yield _END
                    else:
                        yield from _spelled(reply)
                    return
            if question < _REPAIR_QUESTIONS:
                statistics.notes.append(f"asked again, for the answer did not match: {wrong[0]}")
                messages = [
                    messages[0],
                    {"role": "assistant", "content": reply.text},
                    {
                        "role": "user",
                        "content": "This answer does not match the JSON Schema:\n"
                        + "\n".join(wrong[:10])
                        + "\nWrite the whole JSON object again, corrected, and nothing else.",
                    },
                ]
        # The pipeline validates once more, and reports.
        yield from _spelled(reply)

    def _ask(
        self, messages: list[dict[str, Any]], options: dict[str, Any], request: Request, statistics: Statistics
    ) -> Reply:
        reply = self.client.ask(messages, options, request.cancel)
        statistics.forward_passes += 1
        statistics.prompt_tokens += reply.prompt_tokens
        if reply.refusal or reply.finish_reason == "content_filter":
            raise DecodeError(f"the model refused to answer: {reply.refusal or 'its content filter cut the answer'}")
        if not reply.text and reply.finish_reason != "length":
            raise DecodeError("the server gave an empty answer; does this model read pictures?")
        return reply


_MEANING = {
    Enforcement.IGNORED: "does not enforce the schema",
    Enforcement.REFUSED: "takes no schema (response_format)",
}


def _content(request: Request) -> list[dict[str, Any]]:
    pages = [{"type": "image_url", "image_url": {"url": _data_url(page)}} for page in request.pages]
    return [*pages, {"type": "text", "text": request.text}]


def _data_url(page: Image.Image) -> str:
    content = io.BytesIO()
    page.save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


def _spelled(reply: Reply) -> Iterator[Token]:
    """The reply as tokens; without probabilities it is one token of unknown probability."""
    end = Outcome.TRUNCATED if reply.finish_reason == "length" else Outcome.COMPLETE
    for spelled, log_probability in reply.pieces or ((reply.text.encode(), math.nan),):
        yield Token(_NO_ID, spelled, log_probability)
    yield Token(_NO_ID, b"", forced=True, outcome=end)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
