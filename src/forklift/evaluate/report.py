"""A run as one JSON object: figures over all, by kind, by field and by label; and every wrong field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from forklift.errors import DatasetError
from forklift.evaluate.anls import anls_star
from forklift.evaluate.answers import Answer
from forklift.evaluate.bootstrap import Interval, ratio_interval
from forklift.evaluate.datasets import Example, read_json
from forklift.evaluate.equality import tolerant_key
from forklift.evaluate.score import COUNTED, FAILURE, Counts, FieldScore, Verdict, count, labels_of, score
from forklift.outputs.files import as_json

FORMAT = "forklift-eval/1"
CONFIDENCE_BINS = 10
# name in the report -> property of Counts, in the order of the table
FIGURES = {
    "field_accuracy": "accuracy",
    "field_accuracy_strict": "strict_accuracy",
    "document_accuracy": "whole_accuracy",
    "document_accuracy_strict": "strict_whole_accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "null_accuracy": "null_accuracy",
}


@dataclass(frozen=True)
class Run:
    """One evaluated run. content: the JSON object that docs/evaluate.md describes. file: that it was read from."""

    content: dict[str, Any]
    file: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        return f"{self.content['model']} ({self.file})" if self.file else str(self.content["model"])

    @property
    def documents(self) -> list[dict[str, Any]]:
        documents: list[dict[str, Any]] = self.content["documents"]
        return documents

    @property
    def failures(self) -> list[dict[str, Any]]:
        return [document for document in self.documents if document["error"] is not None]

    def counts(self) -> Counts:
        return counts_of(self.content)

    @classmethod
    def read(cls, path: Path) -> Run:
        """A run from its JSON file. Raises DatasetError for anything else."""
        content = read_json(path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DatasetError(f'{path}: is no run of "forklift eval --json" (its "format" has to be "{FORMAT}").')
        return cls(content, str(path))

    def as_json(self) -> bytes:
        return as_json(self.content, indent=1)


def counts_of(part: Mapping[str, Any]) -> Counts:
    """The counts in a part of a run: the whole, a kind, a field, a label or a document."""
    return Counts(**{name: part["counts"][name] for name in COUNTED})


def figures_of(counts: Counts) -> dict[str, float | None]:
    return {name: getattr(counts, attribute) for name, attribute in FIGURES.items()}


def evaluate(
    examples: Sequence[Example],
    answers: Mapping[str, Answer],
    *,
    dataset: str,
    model: str,
    ordered: bool = False,
    page_count: Callable[[Example], int | None] = lambda example: None,
) -> Run:
    """Score `answers` (by id) against `examples`. An example without an answer is a failure.

    dataset, model: what the report calls them. ordered: as in `score`.
    """
    total, kinds, fields, labels = Counts(), _Groups(), _Groups(), _Groups()
    reliability = _Reliability()
    documents: list[dict[str, Any]] = []
    for example in examples:
        answer = answers.get(example.id, Answer(error="no answer"))
        failed = answer.error is not None
        data = FAILURE if failed else answer.data
        scored = score(example.gold, data, example.expected, ordered=ordered)
        total.add(scored.counts)
        kinds.add((example.kind,), scored.counts)
        for pattern, members in _grouped(scored.fields, lambda one: [one.pattern]).items():
            fields.add((example.kind, pattern), count(members))
        for label, members in _grouped(scored.fields, partial(_labels, example)).items():
            labels.add((label,), count(members))
        reliability.add(scored.fields, answer)
        documents.append(
            {
                "id": example.id,
                "kind": example.kind,
                "document": str(example.document) if example.document is not None else None,
                "pages": page_count(example),
                "error": answer.error,
                "truncated": answer.truncated,
                "schema_valid": not failed and not example.schema.problems(answer.data),
                "seconds": answer.seconds,
                "answer_tokens": answer.answer_tokens,
                "anls_star": anls_star(example.gold, data, example.expected),
                "counts": asdict(scored.counts),
                "wrong": [_wrong(one, example, answer) for one in scored.fields if one.verdict is not Verdict.CORRECT],
            }
        )
    content = {
        "format": FORMAT,
        "dataset": dataset,
        "model": model,
        "ordered": ordered,
        "figures": {**figures_of(total), **_shares(documents)},
        "intervals": _intervals(documents),
        "counts": asdict(total),
        "kinds": kinds.rows("kind"),
        "fields": fields.rows("kind", "field"),
        "labels": labels.rows("label"),
        "confidence": reliability.rows(),
        "near_misses": sum("near_miss" in wrong for document in documents for wrong in document["wrong"]),
        "documents": documents,
    }
    return Run(content)


class _Groups:
    """Counts by a key of one or more names."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], Counts] = {}

    def add(self, key: tuple[str, ...], counts: Counts) -> None:
        self._counts.setdefault(key, Counts()).add(counts)

    def rows(self, *names: str) -> list[dict[str, Any]]:
        """In the order in which the keys came, which is that of gold."""
        return [
            {**dict(zip(names, key, strict=True)), "figures": figures_of(counts), "counts": asdict(counts)}
            for key, counts in self._counts.items()
        ]


def _labels(example: Example, one: FieldScore) -> list[str]:
    return labels_of(one.pointer, example.labels)


def _grouped(
    scored: Iterable[FieldScore], keys_of: Callable[[FieldScore], Iterable[str]]
) -> dict[str, list[FieldScore]]:
    groups: dict[str, list[FieldScore]] = {}
    for one in scored:
        for key in keys_of(one):
            groups.setdefault(key, []).append(one)
    return groups


class _Reliability:
    """Of the values that answers give with a confidence: how many of each tenth are right."""

    def __init__(self) -> None:
        self._bins = [[0, 0, 0.0] for _ in range(CONFIDENCE_BINS)]  # values, correct ones, sum of confidences

    def add(self, scored: Iterable[FieldScore], answer: Answer) -> None:
        for one in scored:
            confidence = answer.confidences.get(one.answer_pointer or "")
            if confidence is not None and one.answer is not None and one.answer_pointer is not None:
                place = self._bins[min(int(confidence * CONFIDENCE_BINS), CONFIDENCE_BINS - 1)]
                place[0] += 1
                place[1] += one.verdict is Verdict.CORRECT
                place[2] += confidence

    def rows(self) -> list[dict[str, Any]]:
        """One for each tenth that holds a value."""
        return [
            {
                "from": index / CONFIDENCE_BINS,
                "values": int(values),
                "correct": int(correct),
                "mean_confidence": total / values,
            }
            for index, (values, correct, total) in enumerate(self._bins)
            if values
        ]


def calibration_error(bins: Iterable[Mapping[str, Any]]) -> float | None:
    """How far confidence and accuracy lie apart, weighted by the number of values (expected calibration error)."""
    rows = list(bins)
    values = sum(row["values"] for row in rows)
    if not values:
        return None
    return sum(abs(row["correct"] - row["mean_confidence"] * row["values"]) for row in rows) / float(values)


def _shares(documents: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    known = [document["truncated"] for document in documents if document["truncated"] is not None]
    return {
        "anls_star": _mean([document["anls_star"] for document in documents]),
        "schema_valid": _mean([document["schema_valid"] for document in documents]),
        "truncated": _mean(known),
        "failed": _mean([document["error"] is not None for document in documents]),
        "seconds_per_document": _mean([one["seconds"] for one in documents if one["seconds"] is not None]),
    }


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def ratios(documents: Sequence[Mapping[str, Any]]) -> dict[str, tuple[list[float], list[float]]]:
    """For each figure with an interval: what is summed over documents above and below its fraction line."""
    counts = [document["counts"] for document in documents]
    extent: list[float] = [one["fields"] + one["surplus"] for one in counts]
    values = [one["answered"] + one["fields"] - one["nulls"] for one in counts]
    ones: list[float] = [1.0] * len(counts)
    return {
        "field_accuracy": ([one["correct"] for one in counts], extent),
        "field_accuracy_strict": ([one["strict"] for one in counts], extent),
        "document_accuracy": ([one["whole"] for one in counts], ones),
        "f1": ([2 * (one["correct"] - one["correct_nulls"]) for one in counts], values),
        "anls_star": ([document["anls_star"] for document in documents], ones),
    }


def _intervals(documents: Sequence[Mapping[str, Any]]) -> dict[str, list[float] | None]:
    intervals: dict[str, list[float] | None] = {}
    for name, (parts, wholes) in ratios(documents).items():
        interval: Interval | None = ratio_interval(parts, wholes)
        intervals[name] = [interval.low, interval.high] if interval is not None else None
    return intervals


def _key(value: Any) -> Any:
    return tolerant_key(value) if not isinstance(value, dict | list) else json.dumps(value)


def _wrong(one: FieldScore, example: Example, answer: Answer) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "pointer": one.pointer,
        "answer_pointer": one.answer_pointer,
        "verdict": one.verdict.value,
        "gold": one.gold,
        "answer": one.answer,
    }
    if one.surplus:
        entry["surplus"] = True
    labels = _labels(example, one)
    if labels:
        entry["labels"] = labels
    misses = example.near_misses.get(one.pointer, ())
    if one.answer is not None and _key(one.answer) in map(_key, misses):
        entry["near_miss"] = True
    if one.answer_pointer is not None:
        if one.answer_pointer in answer.confidences:
            entry["confidence"] = round(answer.confidences[one.answer_pointer], 4)
        place = answer.places.get(one.answer_pointer)
        if place is not None:
            entry["page"], entry["box"] = place.page, [round(edge, 4) for edge in place.box]
    return entry
