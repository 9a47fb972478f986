"""What a model's confidences are worth, and how to make them say it: `python -m training.calibrate_confidence`.

The model reads held-out documents as PDF files. Each leaf of its answers is right or wrong, has token probabilities,
and was found on the page or not; `forklift.calibration` turns the latter two into a confidence by weights that are
fitted here. The figures come from halves: what is fitted on one half of the documents is measured on the other, both
ways; the weights that are written come from all of them. Use other documents than those that the model is scored on.

`--records FILE` keeps what the model answered; with `--documents 0` the file alone is fitted and measured again.
`--write` puts the weights into the checkpoint's generation_config.json.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import forklift
from forklift.calibration import CASES, Calibration, Weights, features
from forklift.checkpoint.catalog import resolve_model
from forklift.checkpoint.config_writer import write_json
from forklift.confidence import Spelling, spellings
from forklift.engines.base import Token
from training.evaluate import leaves
from training.measure_citations import holds, shows_currency, true_leaves
from training.seeds import make_heldout
from training.tasks import answer_json

BINS = 10
FIRST = 100_000  # far from the documents that nano is scored on


@dataclass(frozen=True)
class Answered:
    """One leaf of an answer. right: it is exactly the true value. on_value: its boxes are; None: not cited."""

    document: int
    pointer: str
    right: bool
    is_null: bool
    grounded: bool | None
    spelling: Spelling
    on_value: bool | None

    def case(self, *, with_words: bool = True) -> str:
        """As `calibration.case_of`; without words as if the document were a picture."""
        if self.is_null:
            return "null"
        grounded = self.grounded if with_words else None
        return "unknown" if grounded is None else "found" if grounded else "absent"


def read_documents(model: str, first: int, count: int, kind: str | None) -> list[Answered]:
    found: list[Answered] = []
    with forklift.load(model) as extractor, tempfile.TemporaryDirectory() as folder:
        for index in range(first, first + count):
            document, task = make_heldout(index, kind)
            path = Path(folder) / f"{index}.pdf"
            path.write_bytes(document.sheet.pdf())
            tokens: list[Token] = []
            result = extractor.extract(path, task.schema, on_token=tokens.append)
            path.unlink()
            truth = leaves(answer_json(task.answer))
            drawn = dict(true_leaves(task.answer))
            spelled = spellings(result.data, tokens)
            for field in result.fields:
                if field.pointer not in spelled:
                    continue
                expected = truth.get(field.pointer, "(nothing)")
                leaf = drawn.get(field.pointer)
                on_value = None
                if field.citations and leaf is not None and leaf.value is not None:
                    on_value = holds(field.citations, leaf) or (
                        field.pointer == "/currency" and shows_currency(field.citations, leaf, document)
                    )
                right = expected == field.value and isinstance(expected, str) == isinstance(field.value, str)
                spelling = spelled[field.pointer]
                found.append(
                    Answered(index, field.pointer, right, field.value is None, field.grounded, spelling, on_value)
                )
            if sys.stderr.isatty():
                print(f"\r{index - first + 1} documents", end="", file=sys.stderr)
    return found


def fit(answers: Sequence[Answered]) -> Calibration:
    """Logistic regression for each case, by Newton's method; a case without examples says what its base rate says."""
    weights: dict[str, Weights] = {}
    for case in CASES:
        # The case "unknown" is learnt from all values, as if there had been no words to look them up in.
        chosen = [one for one in answers if one.case(with_words=case != "unknown") == case]
        inputs = np.array([features(one.spelling) for one in chosen]).reshape(-1, 3)
        right = np.array([one.right for one in chosen], float)
        bias, *slopes = _logistic(inputs, right)
        weights[case] = (round(bias, 5), round(slopes[0], 5), round(slopes[1], 5), round(slopes[2], 5))
    return Calibration(weights)


def _logistic(inputs: np.ndarray, right: np.ndarray) -> list[float]:
    count = len(inputs)
    scale = inputs.std(axis=0) + 1e-9 if count else np.ones(3)
    shift = inputs.mean(axis=0) if count else np.zeros(3)
    # One right and one wrong value at the mean keep a case that was all right, or all wrong, from being certain.
    rows = np.concatenate([(inputs - shift) / scale, np.zeros((2, 3))])
    rows = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    target = np.concatenate([right, [1.0, 0.0]])
    importance = np.concatenate([np.ones(count), [0.5, 0.5]])
    prior = np.diag([0.0, 1.0, 1.0, 1.0])  # holds weights of few examples back; of many it is not felt
    weights = np.zeros(4)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (importance * (target - chance)) - prior @ weights
        curve = (rows.T * (importance * chance * (1 - chance))) @ rows + prior + 1e-9 * np.eye(4)
        step = np.linalg.solve(curve, slope)
        weights += step
        if abs(step).max() < 1e-8:
            break
    slopes = weights[1:] / scale
    return [float(weights[0] - slopes @ shift), *map(float, slopes)]


def crossed(answers: Sequence[Answered], *, with_words: bool) -> np.ndarray:
    """The confidence of each answer, by weights that were fitted on the other half of the documents."""
    halves = [(one.document // 2) % 2 for one in answers]  # kinds alternate, so both halves have all
    fitted = [fit([one for one, half in zip(answers, halves, strict=True) if half != wanted]) for wanted in (0, 1)]
    return np.array(
        [
            fitted[half].confidence(one.case(with_words=with_words), one.spelling)
            for one, half in zip(answers, halves, strict=True)
        ]
    )


def auroc(confidence: np.ndarray, right: np.ndarray) -> float:
    """How often a right value has the higher confidence than a wrong one, ties counting half."""
    order = np.argsort(confidence, kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    for value in np.unique(confidence):
        same = confidence == value
        ranks[same] = ranks[same].mean()
    positives = right.sum()
    negatives = len(right) - positives
    if not positives or not negatives:
        return math.nan
    return float((ranks[right].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def bins(confidence: np.ndarray, right: np.ndarray) -> list[tuple[int, float, float]]:
    """Of each tenth of the scale that holds values: how many, their mean confidence, the share that is right."""
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    groups = [place == number for number in range(BINS)]
    return [(int(one.sum()), float(confidence[one].mean()), float(right[one].mean())) for one in groups if one.any()]


def calibration_error(table: Sequence[tuple[int, float, float]]) -> float:
    """Expected calibration error: the mean distance of confidence and share, weighted by values."""
    return sum(count * abs(mean - share) for count, mean, share in table) / sum(count for count, _, _ in table)


def report(answers: Sequence[Answered]) -> dict[str, Any]:
    right = np.array([one.right for one in answers])
    raw = np.array([one.spelling.probability for one in answers])
    figures: dict[str, Any] = {"values": len(answers), "right": float(right.mean())}
    print(f"{len({one.document for one in answers})} documents, {len(answers)} values, {right.mean():.1%} right")
    for name, confidence in (
        ("product of probabilities", raw),
        ("calibrated, without words", crossed(answers, with_words=False)),
        ("calibrated", crossed(answers, with_words=True)),
    ):
        table = bins(confidence, right)
        figures[name] = {"auroc": auroc(confidence, right), "ece": calibration_error(table), "bins": table}
        print(f"{name}: AUROC {figures[name]['auroc']:.3f}, expected calibration error {figures[name]['ece']:.3f}")
        for count, mean, share in table:
            print(f"  confidence {mean:.2f}  right {share:6.1%}  of {count}")
    spoken = [one for one in answers if not one.is_null]
    good, bad = [one for one in spoken if one.right], [one for one in spoken if not one.right]
    cited = [one for one in good if one.grounded]
    measured = [one for one in cited if one.on_value is not None]
    shares = {
        "right values that are cited": (len(cited), len(good)),
        "of these on the value": (sum(bool(one.on_value) for one in measured), len(measured)),
        "wrong values grounded False": (sum(one.grounded is False for one in bad), len(bad)),
    }
    for name, (some, of) in shares.items():
        print(f"{name}: {some / max(of, 1):.1%} of {of}")
    figures["citations"] = {name: list(pair) for name, pair in shares.items()}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--first", type=int, default=FIRST, help="index of the first held-out document")
    parser.add_argument("--kind", help="only this kind; otherwise invoices and receipts in turn")
    parser.add_argument("--records", type=Path, help="add what the model answered to this file, one JSON a line")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--write", action="store_true", help="write the weights into the checkpoint")
    arguments = parser.parse_args()
    answers = load_records(arguments.records) if arguments.records and arguments.records.exists() else []
    new = read_documents(arguments.model, arguments.first, arguments.documents, arguments.kind)
    answers += new
    if arguments.records:
        with arguments.records.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(one)) + "\n" for one in new)
    figures = report(answers)
    calibration = fit(answers)
    figures["weights"] = {case: list(line) for case, line in calibration.weights.items()}
    print(json.dumps(figures["weights"]))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if arguments.write:
        write_weights(resolve_model(arguments.model), calibration)


def load_records(path: Path) -> list[Answered]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [replace(Answered(**row), spelling=Spelling(**row["spelling"])) for row in rows]


def write_weights(folder: Path, calibration: Calibration) -> None:
    """Into "forklift": {"confidence": ...} of generation_config.json; everything else there stays."""
    path = folder / "generation_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    stated = {case: list(line) for case, line in calibration.weights.items()}
    settings["forklift"] = {**(settings.get("forklift") or {}), "confidence": stated}
    write_json(path, settings)


if __name__ == "__main__":
    main()
