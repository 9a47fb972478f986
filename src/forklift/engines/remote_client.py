"""Chat completions over the OpenAI protocol: retries, a limit on concurrency, and which options the server takes."""

from __future__ import annotations

import email.utils
import random
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forklift.errors import DecodeError, ModelError, ModelNotFoundError, UsageError

if TYPE_CHECKING:
    import openai

PREFIX = "openai:"
_ATTEMPTS = 5
_LONGEST_PAUSE_SECONDS = 60.0
# Options that a server may refuse; without them an answer is still possible.
_OPTIONAL = ("response_format", "logprobs", "seed")


@dataclass(frozen=True)
class RemoteName:
    """A model behind a server, written `openai:NAME` with the server apart, or `openai:NAME@URL`."""

    model: str
    base_url: str

    @classmethod
    def parse(cls, text: str, base_url: str | None = None) -> RemoteName:
        """Raises UsageError when the name or the server is missing or cannot be meant.

        No server is assumed: documents go to none that was not named.
        """
        model, at, inside = text.removeprefix(PREFIX).rpartition("@http")
        if at:
            inside = f"http{inside}"
        else:
            model, inside = inside, ""
        url = base_url or inside
        if not model:
            raise UsageError(f'--model {text}: names no model; write "{PREFIX}NAME", as the server calls it')
        if not url:
            raise UsageError(f"--model {text}: which server? Give --base-url URL, or set FORKLIFT_BASE_URL")
        if not url.startswith(("http://", "https://")) or len(url.split("/")[2]) == 0:
            raise UsageError(f"--base-url {url}: is no address; it looks like http://localhost:8000/v1")
        if "@" in url.split("/")[2]:
            raise UsageError("--base-url holds a password, which would be kept with the results; set OPENAI_API_KEY")
        return cls(model, url.rstrip("/"))

    def __str__(self) -> str:
        return f"{PREFIX}{self.model}@{self.base_url}"


@dataclass(frozen=True)
class Reply:
    """One answer of the server. pieces: (bytes, natural log-probability) of its tokens, None where not given."""

    text: str
    finish_reason: str
    pieces: tuple[tuple[bytes, float], ...] | None = None
    prompt_tokens: int = 0
    refusal: str | None = None


class Cancelled(Exception):
    """The request was cancelled while it waited."""


@dataclass
class RemoteClient:
    """Asks one server; several threads may, `max_concurrency` at a time.

    timeout_seconds: of one attempt. first_pause_seconds: before the second attempt, doubled for each further one.
    dropped: options that the server refused and that are no longer sent, with what it said.
    Raises ModelError when the package `openai` is missing.
    """

    name: RemoteName
    api_key: str | None = None
    timeout_seconds: float = 600.0
    max_concurrency: int = 8
    attempts: int = _ATTEMPTS
    first_pause_seconds: float = 0.5
    dropped: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            import openai
        except ImportError:
            raise ModelError('models behind a server need the package openai: pip install "forklift[remote]"') from None
        self._free = threading.BoundedSemaphore(self.max_concurrency)
        # Its own retries could not be cancelled while they wait, so they are off and ours are used.
        self._client = openai.OpenAI(
            base_url=self.name.base_url,
            api_key=self.api_key or "none",  # servers of one's own want none, the package insists on one
            timeout=self.timeout_seconds,
            max_retries=0,
        )

    def close(self) -> None:
        self._client.close()

    def check_model(self) -> None:
        """Raises ModelNotFoundError when the server lists its models and this one is not among them."""
        import openai

        try:
            listed = [model.id for model in self._retried(lambda: self._client.models.list().data, None) or ()]
        except (openai.APIStatusError, openai.APIResponseValidationError, AttributeError, TypeError):
            return  # many servers have no such list; the first answer will tell
        if listed and self.name.model not in listed:
            known = ", ".join(sorted(listed)[:8]) + (", ..." if len(listed) > 8 else "")
            raise ModelNotFoundError(f"{self.name.base_url} has no model {self.name.model}; it has {known}")

    def ask(
        self, messages: list[dict[str, Any]], options: dict[str, Any], cancel: threading.Event | None = None
    ) -> Reply:
        """One completion. Raises ModelError when the server cannot be reached or refuses us, DecodeError when it
        cannot answer this request, Cancelled when `cancel` is set."""
        import openai

        while True:
            sent = {name: value for name, value in options.items() if name not in self.dropped}
            try:
                return _reply(self._retried(lambda sent=sent: self._complete(messages, sent), cancel))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refused = _refused_option(error, sent)
                if refused is None:
                    raise DecodeError(
                        f"{self.name.base_url} refused the request ({error.status_code}): {_said(error)}"
                    ) from None
                self.dropped[refused] = _said(error)
            except openai.APIStatusError as error:
                raise self._explained(error) from None

    def _complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Any:
        create: Any = self._client.chat.completions.create  # our messages are plain dicts
        with self._free:
            return create(model=self.name.model, messages=messages, **options)

    def _retried(self, call: Any, cancel: threading.Event | None) -> Any:
        """`call()`, again after a lost connection, 429 or 5xx, with growing pauses or those that the server asks."""
        import openai

        for attempt in range(1, self.attempts + 1):
            try:
                return _cancellable(call, cancel)
            except openai.APITimeoutError:
                # The same request would take as long again.
                raise DecodeError(
                    f"{self.name.base_url} gave no answer within {self.timeout_seconds:g} s; "
                    "set FORKLIFT_REMOTE_TIMEOUT to more seconds, or give fewer pages (--pages)"
                ) from None
            except openai.APIConnectionError as error:
                if attempt == self.attempts:
                    raise ModelError(
                        f"{self.name.base_url} cannot be reached, tried {attempt} times: "
                        f"{error.__cause__ or error}; is the server running?"
                    ) from None
                pause = self._pause(attempt)
            except (openai.RateLimitError, openai.InternalServerError, openai.ConflictError) as error:
                if attempt == self.attempts:
                    raise
                pause = retry_after_seconds(error.response.headers.get("retry-after")) or self._pause(attempt)
            if cancel is None:
                time.sleep(pause)
            elif cancel.wait(pause):
                raise Cancelled
        raise AssertionError("the last attempt returns or raises")

    def _pause(self, attempt: int) -> float:
        # Drawn, so that several clients of a server that came back do not all return at once.
        return min(_LONGEST_PAUSE_SECONDS, self.first_pause_seconds * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)

    def _explained(self, error: openai.APIStatusError) -> ModelError | DecodeError:
        said = f"{self.name.base_url} answered {error.status_code}: {_said(error)}"
        if error.status_code in (401, 403):
            return ModelError(f"{said}; set OPENAI_API_KEY to a key that it takes")
        if error.status_code == 404:
            return ModelNotFoundError(f"{said}; check --base-url (it usually ends in /v1) and the model's name")
        if error.status_code == 413:
            return DecodeError(f"{said}; give fewer pages (--pages)")
        if error.status_code == 429 or error.status_code >= 500:
            return DecodeError(f"{said}; tried {self.attempts} times")
        return DecodeError(said)


def retry_after_seconds(header: str | None) -> float | None:
    """The pause that a Retry-After header asks for, at most a minute: seconds or a date. None without a usable one."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return min(_LONGEST_PAUSE_SECONDS, seconds) if seconds >= 0 else None


def _cancellable(call: Any, cancel: threading.Event | None) -> Any:
    """`call()`, left alone in its thread when `cancel` is set before it ends."""
    if cancel is None:
        return call()
    outcome: dict[str, Any] = {}
    done = threading.Event()

    def work() -> None:
        try:
            outcome["value"] = call()
        except BaseException as error:
            outcome["error"] = error
        done.set()

    threading.Thread(target=work, daemon=True).start()
    while not done.wait(0.05):
        if cancel.is_set():
            raise Cancelled
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def _reply(completion: Any) -> Reply:
    try:
        choice = completion.choices[0]
        message, logprobs, usage = choice.message, choice.logprobs, completion.usage
        text = message.content or ""
        refusal = getattr(message, "refusal", None)
    except (AttributeError, IndexError, TypeError):
        raise DecodeError(f"the server's answer is no chat completion: {str(completion)[:200]}") from None
    pieces: list[tuple[bytes, float]] = []
    for item in (logprobs and logprobs.content) or ():
        spelled = bytes(item.bytes) if item.bytes else (item.token or "").encode()
        pieces.append((spelled, min(0.0, float(item.logprob))))
    # End tokens and thoughts may be among them; only tokens that spell the answer say something about it.
    while pieces and b"".join(piece for piece, _ in pieces) != text.encode() and len(pieces) > 1:
        pieces.pop()
    spells = b"".join(piece for piece, _ in pieces) == text.encode()
    return Reply(
        text=text,
        finish_reason=choice.finish_reason or "",
        pieces=tuple(pieces) if pieces and spells else None,
        prompt_tokens=(usage and usage.prompt_tokens) or 0,
        refusal=refusal,
    )


def _refused_option(error: openai.APIStatusError, sent: dict[str, Any]) -> str | None:
    """Which option a refusal is about, by what it says."""
    said = f"{_said(error)} {error.body}".lower()
    words = {"response_format": ("response_format", "json_schema", "schema", "grammar", "structured")}
    for option in _OPTIONAL:
        if option in sent and any(word in said for word in words.get(option, (option,))):
            return option
    return None


def _said(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or error.message).split())[:300]
