"""The measurements of citations and confidences, and what they must reach."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from forklift.calibration import Calibration
from forklift.confidence import Spelling
from forklift.results import Box, Citation
from training import calibrate_confidence as calibrate
from training.canvas import Place
from training.leaf import Leaf
from training.measure_citations import falsify, holds, measure
from training.seeds import make_heldout


def test_values_of_unseen_documents_are_found_and_false_ones_are_not() -> None:
    counts: Counter[str] = Counter()
    misses: dict[str, list[str]] = {"not cited": [], "wrong box": [], "false value found": []}
    for index in range(2000, 2024):
        document, task = make_heldout(index, "invoice_two_pages" if index % 6 == 0 else None)
        measure(index, document, task.schema, task.answer, counts, misses)
    assert counts["values"] > 350
    assert counts["cited"] >= 0.97 * counts["values"], misses["not cited"]
    assert counts["right box"] >= 0.98 * counts["cited"], misses["wrong box"]
    assert counts["denied"] >= 0.95 * counts["falsified"], misses["false value found"]
    assert counts["beside grounded"] >= 0.97 * counts["beside"]


def test_a_box_is_right_when_it_has_all_glyphs_and_none_is_empty() -> None:
    leaf = Leaf("ab", "ab", (Place(0, 12, 5), Place(0, 22, 5), None))
    whole, half, beside = Box(10, 0, 25, 10), Box(10, 0, 15, 10), Box(30, 0, 40, 10)
    at = [Citation(1, box, box, "") for box in (whole, half, beside)]
    assert holds((at[0],), leaf)
    assert not holds((at[1],), leaf)
    assert not holds((at[0], at[2]), leaf)
    assert not holds((), leaf)
    assert not holds((Citation(2, whole, whole, ""),), leaf)


@pytest.mark.parametrize("value", ["INV-0042", "2026-03-05", "EUR", 7, 1234.5, "Bolt"])
def test_a_falsified_value_is_another_of_its_kind(value: str | int | float) -> None:
    for seed in range(40):
        false = falsify(Random(seed), value, ("EUR", "USD"))
        assert false != value
        assert type(false) is type(value)


def answers(count: int, seed: int = 5) -> list[calibrate.Answered]:
    """Values whose chance to be right is the square of their product: surer than they should be."""
    random = Random(seed)
    made = []
    for number in range(count):
        least = math.log(random.uniform(0.2, 1))
        total = least * random.uniform(1, 2)
        right = random.random() < math.exp(2 * total)
        grounded = right or random.random() < 0.1
        made.append(calibrate.Answered(number, "/a", right, False, grounded, Spelling(total, least, 3), True))
    return made


def test_fitted_confidences_are_the_share_that_is_right_on_the_other_half() -> None:
    sample = answers(4000)
    right = np.array([one.right for one in sample])
    raw = np.array([one.spelling.probability for one in sample])
    fitted = calibrate.crossed(sample, with_words=False)
    assert calibrate.calibration_error(calibrate.bins(raw, right)) > 0.1
    # sampling alone gives ten groups of some 400 values an error of about 0.8 * sqrt(0.25 / 400) = 0.02
    assert calibrate.calibration_error(calibrate.bins(fitted, right)) < 0.04
    assert calibrate.auroc(calibrate.crossed(sample, with_words=True), right) > calibrate.auroc(fitted, right) + 0.1


def test_the_area_counts_pairs_in_order() -> None:
    right = np.array([True, True, False, False])
    assert calibrate.auroc(np.array([0.9, 0.8, 0.2, 0.1]), right) == 1.0
    assert calibrate.auroc(np.array([0.9, 0.1, 0.2, 0.8]), right) == 0.5
    assert calibrate.auroc(np.array([0.5, 0.5, 0.5, 0.5]), right) == 0.5
    assert math.isnan(calibrate.auroc(np.array([0.5, 0.6]), np.array([True, True])))


def test_weights_are_written_beside_what_the_checkpoint_states(tmp_path: Path) -> None:
    path = tmp_path / "generation_config.json"
    path.write_text('{"do_sample": false, "forklift": {"answer_form": "spaced"}}')
    fitted = calibrate.fit(answers(200))
    calibrate.write_weights(tmp_path, fitted)
    stated = json.loads(path.read_text())
    assert stated["do_sample"] is False
    assert stated["forklift"]["answer_form"] == "spaced"
    assert Calibration.of_checkpoint(tmp_path) == fitted


def test_records_come_back_as_they_were_kept(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    sample = answers(3)
    path.write_text("".join(json.dumps(calibrate.asdict(one)) + "\n" for one in sample))
    assert calibrate.load_records(path) == sample
