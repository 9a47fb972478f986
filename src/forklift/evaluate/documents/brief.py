"""What a generator is asked for, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.truth import Truth


@dataclass(frozen=True)
class Brief:
    """random: the document's own generator. pages: about how many it shall have. difficulty: 0-1."""

    random: Random
    pages: int
    difficulty: float

    def hard(self, easy: float, hard: float) -> bool:
        """True with a probability between `easy` (at difficulty 0) and `hard` (at 1)."""
        return self.random.random() < easy + (hard - easy) * self.difficulty

    def many(self, fewest: int, most: int) -> int:
        """A number from `fewest` to `most`; its upper end grows with the difficulty."""
        return self.random.randint(fewest, max(fewest, round(fewest + (most - fewest) * (0.4 + 0.6 * self.difficulty))))


@dataclass(frozen=True)
class MadeDocument:
    """A document that is drawn, and its answer."""

    flow: Flow
    truth: Truth
    title: str
