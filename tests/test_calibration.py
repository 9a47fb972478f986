"""Confidences that follow from what a checkpoint states."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from forklift.calibration import Calibration, case_of, features
from forklift.confidence import Spelling, spellings
from forklift.engines.base import Token
from forklift.errors import CheckpointError
from forklift.results import Field

STATED = {"found": [1, 0.5, 0.25, -1], "absent": [-4, 0, 0, 0], "unknown": [0, 1, 0, 0], "null": [2, 0, 0, 0]}


def checkpoint(folder: Path, confidence: Any) -> Path:
    (folder / "generation_config.json").write_text(json.dumps({"forklift": {"confidence": confidence}}))
    return folder


def test_the_confidence_is_the_stated_function_of_the_token_probabilities(tmp_path: Path) -> None:
    calibration = Calibration.of_checkpoint(checkpoint(tmp_path, STATED))
    assert calibration is not None
    spelling = Spelling(math.log(0.8), math.log(0.9), 4)
    total = 1 + 0.5 * math.log(0.8 / 0.2) + 0.25 * math.log(0.9 / 0.1) - math.log(4)
    assert calibration.confidence("found", spelling) == pytest.approx(1 / (1 + math.exp(-total)))
    assert calibration.confidence("absent", spelling) == pytest.approx(1 / (1 + math.exp(4)))
    assert calibration.confidence("unknown", spelling) == pytest.approx(0.8)  # weight 1: the product itself


def test_certain_and_impossible_tokens_stay_finite() -> None:
    assert all(math.isfinite(one) for one in features(Spelling(0.0, 0.0, 0)))
    assert all(math.isfinite(one) for one in features(Spelling(-5000.0, -400.0, 90)))


@pytest.mark.parametrize(
    ("field", "case"),
    [
        (Field("/a", None, grounded=None), "null"),
        (Field("/a", 1, grounded=None), "unknown"),
        (Field("/a", 1, grounded=True), "found"),
        (Field("/a", 1, grounded=False), "absent"),
    ],
)
def test_the_evidence_decides_which_weights_count(field: Field, case: str) -> None:
    assert case_of(field) == case


def test_a_checkpoint_may_say_nothing(tmp_path: Path) -> None:
    assert Calibration.of_checkpoint(tmp_path) is None
    (tmp_path / "generation_config.json").write_text('{"forklift": {"answer_form": "spaced"}}')
    assert Calibration.of_checkpoint(tmp_path) is None


@pytest.mark.parametrize(
    "stated", [{}, [], {**STATED, "null": [1, 2]}, {**STATED, "null": ["a", 0, 0, 0]}, {**STATED, "found": 3}]
)
def test_nonsense_is_refused_with_its_place(tmp_path: Path, stated: Any) -> None:
    with pytest.raises(CheckpointError, match=r"generation_config.json: forklift.confidence.\w+ must be four numbers"):
        Calibration.of_checkpoint(checkpoint(tmp_path, stated))


def test_the_spelling_of_a_value_counts_its_tokens() -> None:
    pieces = (('{"a": ', 0.1), ("12", 0.5), ("3", 0.8), ("}", 0.3))
    tokens = [Token(0, text.encode(), math.log(probability)) for text, probability in pieces]
    spelling = spellings({"a": 123}, tokens)["/a"]
    assert (spelling.probability, math.exp(spelling.least), spelling.tokens) == pytest.approx((0.4, 0.5, 2))
