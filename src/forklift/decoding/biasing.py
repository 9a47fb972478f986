"""Contextual biasing: a value that is printed in the document is more likely than one that is not.

A model that reads pixels mistakes single characters; a document with a text layer says how its words are spelled. While
a string or number is written, tokens that leave everything that is printed lose `PENALTY` nats against those that stay
within it. A model that is sure of what it sees is not moved: what it holds to be e^4 = 55 times as likely stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from forklift.checkpoint.own_settings import own_setting
from forklift.decoding.leaf_cursor import Awaits, LeafCursor
from forklift.errors import CheckpointError
from forklift.evidence.currencies import codes_in
from forklift.evidence.dates import printed_dates
from forklift.evidence.numbers import printed_numbers

PENALTY = 4.0  # nats; a checkpoint may state another
_CANDIDATES = 32  # the most likely tokens are weighed, no others
_FREE_TEXT = 64  # where fewer tokens are allowed, a word is chosen from an enum
_MAX_WORDS = 200_000
_NUMBER = b"-0123456789"
_BACKSLASH = 0x5C

_Positions = NDArray[np.int64]


class _Wording:
    """Texts that a value may spell, one after another in `stream`; a place in it stands for what may come next."""

    def __init__(self, stream: bytes, starts: Sequence[int]) -> None:
        self._bytes = np.frombuffer(stream + b"\n", dtype=np.uint8)
        alone = np.isin(self._bytes, np.frombuffer(b" \n", np.uint8))
        plain = (self._bytes >= 0x80) | np.array([chr(byte).isalnum() for byte in range(256)])[self._bytes]
        # A value may end where only punctuation is left of the word.
        self._ends = np.zeros(len(self._bytes), dtype=bool)
        end = True
        for place in range(len(self._bytes) - 1, -1, -1):
            end = bool(alone[place]) or (end and not plain[place])
            self._ends[place] = end
        first = np.array(starts, dtype=np.int64)
        heads = self._bytes[first] if len(first) else np.empty(0, np.uint8)
        self._starts = {int(head): first[heads == head] + 1 for head in np.unique(heads)}
        self._none = np.empty(0, dtype=np.int64)

    def begin(self, byte: int) -> _Positions:
        return self._starts.get(byte, self._none)

    def follow(self, places: _Positions, byte: int) -> _Positions:
        return places[self._bytes[places] == byte] + 1

    def may_end(self, places: _Positions) -> bool:
        return bool(self._ends[places].any())


class DocumentBias:
    """What is printed in a document, as values spell it.

    words: in reading order; a string may be any run of them. Numbers are also known in plain digits, with and without
    two decimals, dates as YYYY-MM-DD, currencies by their codes. penalty: of a token that leaves all this, in nats.
    """

    def __init__(self, words: Iterable[str], penalty: float = PENALTY) -> None:
        self._penalty = penalty
        texts = [text for text in words if text][:_MAX_WORDS]
        stream, starts = bytearray(), []
        for text in texts:
            starts += [len(stream) + len(text[:place].encode()) for place in _openings(text)]
            stream += text.encode("utf-8", "replace") + b" "
        for form in (*_iso_dates(texts), *_currency_codes(texts)):
            stream += b"\n"
            starts.append(len(stream))
            stream += form.encode()
        self._strings = _Wording(bytes(stream), starts)
        stream, starts = bytearray(), []
        for form in _number_forms(texts):
            starts.append(len(stream))
            stream += form.encode() + b"\n"
        self._numbers = _Wording(bytes(stream), starts)

    def start(self) -> BiasState:
        """At the start of an answer."""
        return BiasState(self._strings, self._numbers, self._penalty)


class BiasState:
    """How far an answer has come in the document's words."""

    def __init__(self, strings: _Wording, numbers: _Wording, penalty: float) -> None:
        self._penalty = penalty
        self._strings, self._numbers = strings, numbers
        self._cursor = LeafCursor()
        self._places: _Positions | None = None  # None: no byte of the value is written yet

    def copy(self) -> Self:
        other = self.__class__(self._strings, self._numbers, self._penalty)
        other._cursor, other._places = self._cursor.copy(), self._places
        return other

    def accept(self, text: bytes) -> None:
        """Go on by the bytes of a token."""
        for byte in text:
            self._step(byte)

    def adjust(self, scores: Tensor, token_text: Callable[[int], bytes]) -> None:
        """Take the penalty off likely tokens that leave what is printed, if the best one does and another does not.

        scores: logits [vocabulary], -inf where the grammar forbids; changed in place.
        """
        if (self._cursor.awaits is not Awaits.VALUE and self._wording() is None) or self._is_lost():
            return
        best = token_text(int(scores.argmax()))
        if self._stays(best):
            return
        in_string = self._cursor.awaits is Awaits.STRING
        if in_string and best.isalpha() and int((scores > -torch.inf).sum()) < _FREE_TEXT:
            return  # the schema names the few values that there can be, in words of its own
        values, tokens = scores.topk(min(_CANDIDATES, scores.shape[0]))
        leaving, staying = [], False
        for value, token in zip(values.tolist(), tokens.tolist(), strict=True):
            if value == float("-inf"):
                break
            if self._stays(token_text(token)):
                staying = True
            else:
                leaving.append(token)
        if staying:
            scores[torch.tensor(leaving, device=scores.device)] -= self._penalty

    def _is_lost(self) -> bool:
        return self._places is not None and len(self._places) == 0

    def _wording(self) -> _Wording | None:
        """What the value that is being written is held against; None outside of strings and numbers."""
        if self._cursor.awaits is Awaits.STRING:
            return self._strings
        return self._numbers if self._cursor.awaits is Awaits.SCALAR and self._cursor.text[0] in _NUMBER else None

    def _stays(self, text: bytes) -> bool:
        """Whether the value, gone on by a token, is still printed somewhere (or is none that could be)."""
        ahead = self.copy()
        return all(ahead._step(byte) for byte in text)

    def _step(self, byte: int) -> bool:
        """Go on by a byte; False where the value is no longer one that is printed."""
        before = self._wording()
        self._cursor.feed(bytes((byte,)))
        after = self._wording()
        if before is None:
            # The byte itself begins a number; a string begins behind its quote.
            self._places = after.begin(byte) if after is self._numbers else None
            return self._places is None or len(self._places) > 0
        if after is before:
            if byte == _BACKSLASH:  # what is escaped is not looked up
                self._places = np.empty(0, dtype=np.int64)
            else:
                self._places = before.begin(byte) if self._places is None else before.follow(self._places, byte)
            return len(self._places) > 0
        stays = self._places is not None and before.may_end(self._places)
        self._places = None
        return stays


def text_layer_penalty(folder: Path) -> float:
    """The penalty that a checkpoint states, "forklift"."text_layer_penalty" of generation_config.json, else PENALTY.

    Raises CheckpointError when it is no number from 0 to 100.
    """
    stated, path = own_setting(folder, "text_layer_penalty")
    if stated is None:
        return PENALTY
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not 0 <= stated <= 100:
        raise CheckpointError(f'{path}: "forklift"."text_layer_penalty" is {stated!r}, not a number from 0 to 100.')
    return float(stated)


def _openings(word: str) -> list[int]:
    """Where in a word a value may begin: at its start, and behind a sign: "#4711", "Date:", "$12"."""
    places = [0]
    for place in range(1, len(word)):
        if word[place].isalnum() and not word[place - 1].isalnum() and len(places) < 8:
            places.append(place)
    return places


def _iso_dates(words: Sequence[str]) -> list[str]:
    forms: dict[str, None] = {}
    for start in range(0, len(words), 500):  # a date may run over the border
        for year, month, day in (found.date for found in printed_dates(" ".join(words[start : start + 506]))):
            if year and month and day:
                forms[f"{year:04d}-{month:02d}-{day:02d}"] = None
    return list(forms)


def _currency_codes(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(code for word in set(words) if not word.isalpha() for code in codes_in(word)))


def _number_forms(words: Sequence[str]) -> list[str]:
    forms: dict[str, None] = {}
    for index, word in enumerate(words):
        if not any(character.isdigit() for character in word):
            continue
        spaced = f"{word}{words[index + 1]}" if index + 1 < len(words) and words[index + 1][:1].isdigit() else ""
        for text in (word, spaced):
            for number in printed_numbers(text):
                plain = [number.key]
                if -Decimal(number.key).as_tuple().exponent <= 2:  # type: ignore[operator]
                    plain.append(f"{Decimal(number.key):.2f}")
                for form in plain:
                    forms["-" + form if number.negative else form] = None
    return list(forms)
