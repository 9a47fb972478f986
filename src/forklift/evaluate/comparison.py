"""Two runs of one dataset, held against each other document by document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forklift.errors import DatasetError
from forklift.evaluate.bootstrap import Interval, difference_interval
from forklift.evaluate.report import Run, ratios


@dataclass(frozen=True)
class Comparison:
    """first, second: the runs, cut down to the documents that both have. differences: of each figure, second - first,
    None where it has no value. left_out: ids that only one run has.
    """

    first: Run
    second: Run
    differences: dict[str, Interval | None]
    left_out: tuple[str, ...]

    def changed_documents(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Pairs of documents whose number of right fields differs, the largest change first."""
        pairs = zip(self.first.documents, self.second.documents, strict=True)
        changed = [(one, other) for one, other in pairs if _gain(one, other)]
        return sorted(changed, key=lambda pair: -abs(_gain(*pair)))


def _gain(one: dict[str, Any], other: dict[str, Any]) -> int:
    return int(_right(other) - _right(one))


def _right(document: dict[str, Any]) -> Any:
    return document["counts"]["correct"] - document["counts"]["surplus"]


def compare(first: Run, second: Run) -> Comparison:
    """Raises DatasetError when the runs share no document, or a document has other gold answers in the two."""
    ids = {document["id"] for document in second.documents}
    shared = [document["id"] for document in first.documents if document["id"] in ids]
    if not shared:
        raise DatasetError(
            f"the runs share no document: {len(first.documents)} of {first.content['dataset']}, "
            f"{len(second.documents)} of {second.content['dataset']}."
        )
    pair = [_only(run, shared) for run in (first, second)]
    for one, other in zip(*pair, strict=True):
        for count in ("fields", "nulls"):
            if one["counts"][count] != other["counts"][count]:
                raise DatasetError(
                    f"{one['id']}: has {one['counts'][count]} {count} in one run and {other['counts'][count]} in the "
                    "other; the runs were scored on different gold answers."
                )
    ours, theirs = (ratios(documents) for documents in pair)
    differences = {name: difference_interval(*ours[name], *theirs[name]) for name in ours}
    left_out = (ids | {document["id"] for document in first.documents}) - set(shared)
    runs = [
        Run({**run.content, "documents": documents}, run.file)
        for run, documents in zip((first, second), pair, strict=True)
    ]
    return Comparison(runs[0], runs[1], differences, tuple(sorted(left_out)))


def _only(run: Run, ids: Sequence[str]) -> list[dict[str, Any]]:
    by_id = {document["id"]: document for document in run.documents}
    return [by_id[one] for one in ids]
