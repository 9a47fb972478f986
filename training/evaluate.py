"""How well a model reads documents that nothing was trained on: `python -m training.evaluate --documents 500`.

Every document is written to a PDF file and goes through `forklift.load(...).extract(...)`, like a user's. Fields are
compared exactly, leaf by leaf, list elements by their place; a failed document counts as all wrong.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import forklift
from training.leaf import Document
from training.seeds import make_heldout
from training.tasks import answer_json


def leaves(value: Any, pointer: str = "") -> dict[str, Any]:
    """Every leaf by its JSON Pointer; an empty list or object is a leaf."""
    if isinstance(value, dict) and value:
        return {k: v for name, child in value.items() for k, v in leaves(child, f"{pointer}/{name}").items()}
    if isinstance(value, list) and value:
        return {k: v for i, child in enumerate(value) for k, v in leaves(child, f"{pointer}/{i}").items()}
    return {pointer: value}


def field_name(pointer: str) -> str:
    return "/".join(part for part in pointer.split("/")[1:] if not part.isdigit())


class Tally:
    """Right and all, by any grouping."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, grouping: str, group: str, right: bool) -> None:
        count = self.counts[grouping, group]
        count[0] += right
        count[1] += 1

    def table(self, grouping: str) -> str:
        rows = [(group, *count) for (name, group), count in sorted(self.counts.items()) if name == grouping]
        return "\n".join(f"  {group:28} {right / total:6.1%} of {total}" for group, right, total in rows)

    def share(self, grouping: str, group: str = "all") -> float:
        right, total = self.counts[grouping, group]
        return right / max(total, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="index of the first held-out document")
    parser.add_argument("--kind", help="only this kind; otherwise invoices and receipts in turn")
    parser.add_argument("--dtype", help="bfloat16 or float32")
    parser.add_argument("--json", type=Path, help="write every answer here")
    parser.add_argument("--errors", type=int, default=20, help="how many wrong fields to print")
    arguments = parser.parse_args()

    tally = Tally()
    wrong: list[str] = []
    answers, seconds, rates = [], [], []
    valid = 0
    with forklift.load(arguments.model, dtype=arguments.dtype) as extractor, tempfile.TemporaryDirectory() as folder:
        for index in range(arguments.first, arguments.first + arguments.documents):
            document, task = make_heldout(index, arguments.kind)
            path = Path(folder) / f"{index}.pdf"
            path.write_bytes(document.sheet.pdf())
            start = time.perf_counter()
            result = extractor.extract(path, task.schema)
            seconds.append(time.perf_counter() - start)
            path.unlink()
            timings = result.timings
            rates.append(timings.answer_tokens / max(timings.decode_seconds, 1e-9))
            truth = leaves(answer_json(task.answer))
            answer = leaves(result.data) if result.data is not None else {}
            valid += result.outcome == "complete" and not result.problems
            count(tally, wrong, index, document, truth, answer)
            answers.append({"index": index, "truth": answer_json(task.answer), "answer": result.data})
            if sys.stderr.isatty():
                print(f"\r{len(answers)} documents, fields {tally.share('fields'):.1%}", end="", file=sys.stderr)
    print(
        f"documents {len(answers)}  fields {tally.share('fields'):.2%}  whole documents {tally.share('documents'):.1%}"
    )
    print(f"complete and schema-valid {valid / len(answers):.1%}")
    print(f"null fields right {tally.share('null'):.1%}; number of line items right {tally.share('item count'):.1%}")
    print(f"median seconds a document {statistics.median(seconds):.2f}, answer tokens/s {statistics.median(rates):.0f}")
    for grouping in ("by field", "by kind", "by layout", "by font", "by size"):
        print(grouping)
        print(tally.table(grouping))
    print("\n".join(wrong[: arguments.errors]))
    if arguments.json:
        arguments.json.write_text(json.dumps(answers, ensure_ascii=False, indent=1))


def count(
    tally: Tally, wrong: list[str], index: int, document: Document, truth: dict[str, Any], answer: dict[str, Any]
) -> None:
    """Add one document to the tally. An answer's surplus leaves (invented list elements) count as wrong ones."""
    everything = True
    for pointer in dict.fromkeys([*truth, *answer]):
        expected, given = truth.get(pointer, "(nothing)"), answer.get(pointer, "(nothing)")
        right = expected == given and isinstance(expected, str) == isinstance(given, str)
        everything &= right
        tally.add("fields", "all", right)
        tally.add("by field", field_name(pointer), right)
        tally.add("by kind", document.kind, right)
        tally.add("by layout", f"{document.kind} {document.layout}", right)
        tally.add("by font", document.font, right)
        tally.add("by size", f"{document.size:.0f} pt", right)
        if expected is None:
            tally.add("null", "all", right)
        if not right:
            wrong.append(f"  document {index} {pointer}: {expected!r} read as {given!r}")
    tally.add("documents", "all", everything)
    items = [len({p.split("/")[2] for p in side if p.startswith("/line_items/")}) for side in (truth, answer)]
    tally.add("item count", "all", items[0] == items[1])


if __name__ == "__main__":
    main()
