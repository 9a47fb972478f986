"""From token probabilities to a confidence that means what it says.

The product of a value's token probabilities tells right from wrong, but its size means little: long values have small
products, and a model may be sure of what it misreads. A checkpoint may say, in generation_config.json under
"forklift", how the confidence follows from them:

    confidence = 1 / (1 + exp(-(b + w1 * logit(product) + w2 * logit(least) + w3 * log(tokens))))

with one line of weights (b, w1, w2, w3) for each of four cases: the value was found on the page, it was not, there
was nothing to look in, or it is a null. `training/calibrate_confidence.py` fits them on held-out documents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forklift.checkpoint.own_settings import own_setting
from forklift.confidence import Spelling
from forklift.errors import CheckpointError
from forklift.results import Field

CASES = ("found", "absent", "unknown", "null")
_LEAST_DOUBT = 1e-7  # a probability of 1 has an infinite logit
Weights = tuple[float, float, float, float]


def case_of(field: Field) -> str:
    """Which of CASES a field is."""
    if field.value is None:
        return "null"
    return "unknown" if field.grounded is None else "found" if field.grounded else "absent"


def features(spelling: Spelling) -> tuple[float, float, float]:
    """What the weights multiply: logit of the product, logit of the least probability, log of the number of tokens."""
    return _logit(spelling.log_probability), _logit(spelling.least), math.log(max(spelling.tokens, 1))


def _logit(log_probability: float) -> float:
    doubt = min(max(-math.expm1(log_probability), _LEAST_DOUBT), 1 - _LEAST_DOUBT)
    return math.log1p(-doubt) - math.log(doubt)


@dataclass(frozen=True)
class Calibration:
    """The weights of one checkpoint, by case."""

    weights: Mapping[str, Weights]

    def confidence(self, case: str, spelling: Spelling) -> float:
        """The share of values of this kind that are right, 0-1."""
        bias, *slopes = self.weights[case]
        total = bias + sum(slope * one for slope, one in zip(slopes, features(spelling), strict=True))
        return 1 / (1 + math.exp(-min(max(total, -30.0), 30.0)))

    @classmethod
    def of_checkpoint(cls, folder: Path) -> Calibration | None:
        """What generation_config.json says; None where it says nothing. Raises CheckpointError for nonsense."""
        stated, path = own_setting(folder, "confidence")
        return None if stated is None else cls(_weights(stated, path))


def _weights(stated: Any, path: Path) -> dict[str, Weights]:
    weights: dict[str, Weights] = {}
    for case in CASES:
        line = stated.get(case) if isinstance(stated, dict) else None
        numbers = [float(one) for one in line if isinstance(one, int | float)] if isinstance(line, list) else []
        if len(numbers) != 4 or not all(math.isfinite(one) for one in numbers):
            raise CheckpointError(f'{path}: forklift.confidence.{case} must be four numbers; remove "confidence"')
        weights[case] = (numbers[0], numbers[1], numbers[2], numbers[3])
    return weights
