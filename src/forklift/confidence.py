"""How sure the model was of each value: token probabilities mapped to the leaves of its JSON answer.

Calibrated, where the checkpoint says how (`calibration.py`), the confidence is the share of such values that is right.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from forklift.engines.base import Token
from forklift.json_schema import escape
from forklift.results import Field

_LEXEME = re.compile(
    rb'[ \t\r\n]*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\],:])',
    re.DOTALL,
)


@dataclass
class _Container:
    """An object or array that is still open. step: the member being read (None: a key is due)."""

    start: int
    step: str | int | None


def value_spans(answer: bytes) -> dict[str, tuple[int, int]]:
    """Where each value of a JSON text stands: JSON Pointer -> (first byte, byte after the last).

    Strings include their quotes; objects and arrays are values too. A text that breaks off gives the values
    that are closed before the break.
    """
    spans: dict[str, tuple[int, int]] = {}
    open_containers: list[_Container] = []
    position = 0
    while match := _LEXEME.match(answer, position):
        lexeme, start, position = match[1], match.start(1), match.end()
        inside = open_containers[-1] if open_containers else None
        if inside is not None and lexeme in (b"}", b"]"):
            open_containers.pop()
            spans[_pointer(open_containers)] = (inside.start, position)
        elif inside is not None and lexeme == b",":
            inside.step = inside.step + 1 if isinstance(inside.step, int) else None
        elif lexeme == b":":
            continue
        elif inside is not None and inside.step is None:
            inside.step = str(json.loads(lexeme)) if lexeme.startswith(b'"') else lexeme.decode()
        elif lexeme in (b"{", b"["):
            open_containers.append(_Container(start, None if lexeme == b"{" else 0))
        else:
            spans[_pointer(open_containers)] = (start, position)
    return spans


def leaves(data: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar, empty object and empty array in `data`, with its JSON Pointer, in order."""
    if isinstance(data, dict) and data:
        for name, value in data.items():
            yield from leaves(value, f"{pointer}/{escape(name)}")
    elif isinstance(data, list) and data:
        for index, value in enumerate(data):
            yield from leaves(value, f"{pointer}/{index}")
    else:
        yield pointer, data


@dataclass(frozen=True)
class Spelling:
    """The tokens that spell a value. log_probability: their sum. least: the smallest of them. tokens: how many.

    Natural logarithms, under the grammar; forced tokens have 0.
    """

    log_probability: float
    least: float
    tokens: int

    @property
    def probability(self) -> float:
        return min(1.0, math.exp(self.log_probability))


def spellings(data: Any, tokens: Sequence[Token]) -> dict[str, Spelling]:
    """By JSON Pointer, the tokens that overlap each leaf of `data`, which was read from the answer that they spell.

    A leaf that the answer does not hold, or one of whose tokens has no probability (NaN), has no entry.
    """
    spans = value_spans(b"".join(token.text for token in tokens))
    starts: list[int] = []
    end = 0
    for token in tokens:
        starts.append(end)
        end += len(token.text)

    found = {}
    for pointer, _ in leaves(data):
        span = spans.get(pointer)
        if span is None:
            continue
        values = []
        index = bisect_right(starts, span[0]) - 1
        while index < len(tokens) and starts[index] < span[1]:
            if tokens[index].text:  # an end-of-turn token takes no room
                values.append(tokens[index].log_probability)
            index += 1
        total = sum(values)
        if not math.isnan(total):
            found[pointer] = Spelling(total, min(values, default=0.0), len(values))
    return found


def fields_with_confidence(data: Any, tokens: Sequence[Token]) -> tuple[Field, ...]:
    """A `Field` for each leaf of `data`, which was read from the answer that `tokens` spell.

    Confidence and probability are the product of the probabilities of the tokens that overlap the value in the
    answer; None where the answer does not hold the leaf, or a token has no probability (NaN).
    """
    spelled = spellings(data, tokens)
    fields = []
    for pointer, value in leaves(data):
        probability = spelled[pointer].probability if pointer in spelled else None
        fields.append(Field(pointer, value, probability, probability=probability))
    return tuple(fields)


def _pointer(containers: Sequence[_Container]) -> str:
    return "".join(f"/{escape(str(container.step))}" for container in containers)
