"""What the pipeline and the server see of whatever generates tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL import Image

    from forklift.citations import PageText
    from forklift.results import Outcome
    from forklift.schema import Schema


@dataclass(frozen=True)
class Sampling:
    """temperature 0 is greedy; otherwise nucleus sampling with `top_p` from a generator seeded by `seed`."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Request:
    """One user turn: every page image in order, then `text`.

    schema: constrains the answer; None for free text.
    words: what is printed in the document, in reading order, where it says so itself (a PDF's text layer): a value that
        is spelled as there is more likely. Empty where nothing is known.
    page_texts: the same words page by page with their places, as far as they are known; they make answers faster and
        change nothing about them.
    strict: decode the schema literally instead of with nullable leaves.
    cancel: set by another thread to stop between two forward passes.
    """

    pages: Sequence[Image.Image]
    text: str
    schema: Schema | None = None
    words: Sequence[str] = ()
    page_texts: Sequence[PageText] = ()
    strict: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    max_new_tokens: int = 8192
    cancel: threading.Event | None = None


@dataclass(frozen=True)
class Token:
    """One token of the answer.

    text: its bytes (a token may end inside a UTF-8 character; end-of-turn tokens have b"").
    log_probability: natural log, under the grammar's mask at temperature 1; 0.0 for a forced token.
    forced: the schema left no choice, so it was appended without sampling.
    outcome: set on the last token of a generation only.
    """

    id: int
    text: bytes
    log_probability: float = 0.0
    forced: bool = False
    outcome: Outcome | None = None


@dataclass
class Statistics:
    """Filled in while a generation runs; seconds are wall clock.

    draft_tokens: read ahead of the answer; accepted_draft_tokens: those that the answer then had.
    notes: what a user should know of this answer; they become warnings of the result.
    """

    prompt_tokens: int = 0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    forward_passes: int = 0
    draft_tokens: int = 0
    accepted_draft_tokens: int = 0
    notes: list[str] = field(default_factory=list)


class Engine(Protocol):
    """Generates the answer to a request, token by token."""

    name: str

    def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]: ...

    def close(self) -> None: ...
