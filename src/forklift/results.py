"""What an extraction gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a generation ended."""

    COMPLETE = "complete"  # the model closed its answer
    TRUNCATED = "truncated"  # the token limit came first; the complete part of the data is kept
    CANCELLED = "cancelled"  # the caller stopped it


@dataclass(frozen=True)
class Box:
    """A rectangle on a page as it is shown (rotated and cropped). y runs downwards from the top left corner.

    In PDF points (for a picture: its own pixels), or relative to the page, 0-1.
    """

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Word:
    """A word of a page's text layer, and where it stands, in points."""

    text: str
    box: Box


@dataclass(frozen=True)
class Citation:
    """Where a value stands: one box for each line that it runs over.

    page: 1-based number in the file. box: in points; relative: the same, 0-1. text: the words in the box.
    """

    page: int
    box: Box
    relative: Box
    text: str


@dataclass(frozen=True)
class Field:
    """One leaf of the answer.

    pointer: its JSON Pointer in `Result.data`.
    confidence: 0-1; of a checkpoint that is calibrated the share of such values that is right, of any other the
        probability below; None where the engine gives no probabilities.
    citations: where the value stands on the pages; empty where it was not found or there are no words to look in.
    grounded: whether the value was found in the document's words; None for a null or a boolean, and where that cannot
        be said: a page has no words, or only recognised ones, or the value is too short to tell.
    probability: the product of the probabilities of the tokens that spell the value, each under the grammar (forced
        tokens count as 1).
    """

    pointer: str
    value: Any
    confidence: float | None = None
    citations: tuple[Citation, ...] = ()
    grounded: bool | None = None
    probability: float | None = None


@dataclass(frozen=True)
class Timings:
    """Wall-clock seconds of the parts of one extraction, and token counts."""

    load_seconds: float = 0.0
    document_seconds: float = 0.0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    forced_tokens: int = 0
    forward_passes: int = 0


@dataclass(frozen=True)
class Result:
    """The answer for one document.

    data: JSON value in the user's schema; None when nothing complete could be decoded.
    missing: JSON Pointers of required, non-nullable fields that the document does not give.
    problems: what the final validation found ("pointer: message"); empty when `data` is valid.
    """

    data: Any
    outcome: Outcome
    fields: tuple[Field, ...] = ()
    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    model: str = ""
    timings: Timings = field(default_factory=Timings)
