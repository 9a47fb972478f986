"""How well a model reads documents that nothing was trained on: `python -m training.evaluate --documents 500`.

Every document is written to a PDF file, a worn one to a picture, and goes through `forklift.load(...).extract(...)`,
like a user's. Fields are compared exactly, leaf by leaf, list elements by their place; a failed document counts as all
wrong.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

import forklift
from training.layouts import PROFILES
from training.leaf import Document
from training.seeds import make_heldout
from training.tasks import Task, answer_json

LANGUAGES = ("en", "de", "fr", "es", "it", "nl")
NOISES = ("clean", "light", "strong")
SCHEMAS = ("plain", "reordered", "partial", "renamed", "varied")
FAMILIES = ("training", "held-out")
_COMMON = ("by field", "by kind", "by layout", "by font", "by size")
_MORE = ("by language", "by noise", "by pages", "by schema", "by families")
GROUPINGS: dict[str, tuple[str, ...]] = {
    "narrow": _COMMON,
    "wide": (
        *_COMMON,
        *_MORE,
        *("null by schema", "null by families"),
        *(f"whole documents {grouping}" for grouping in (*_MORE[:2], *_MORE[3:], "by kind")),
    ),
}


@dataclass(frozen=True)
class Asked:
    """How a document was asked for: one of SCHEMAS, and whether its family is one of FAMILIES."""

    schema: str = "plain"
    families: str = "training"


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
    parser.add_argument("--kind", help="only this kind; otherwise kinds of one page in turn")
    parser.add_argument("--profile", choices=tuple(PROFILES), default="narrow")
    wide = parser.add_argument_group("of the profile wide", '"all" takes them in turn, and tells them apart')
    wide.add_argument("--language", choices=(*LANGUAGES, "all"), default="all")
    wide.add_argument("--noise", choices=(*NOISES, "all"), default="clean")
    wide.add_argument("--schemas", choices=(*SCHEMAS, "all"), default="plain", help="how the bundled schema is changed")
    wide.add_argument("--families", choices=(*FAMILIES, "all"), default="training")
    parser.add_argument(
        "--text-layer",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="let the words of the PDF help to spell values",
    )
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
            document, task, asked = _choose(index, arguments)
            path = write(document, Path(folder), index)
            start = time.perf_counter()
            result = extractor.extract(path, task.schema, text_layer=arguments.text_layer)
            seconds.append(time.perf_counter() - start)
            path.unlink()
            timings = result.timings
            rates.append(timings.answer_tokens / max(timings.decode_seconds, 1e-9))
            truth = leaves(answer_json(task.answer))
            answer = leaves(result.data) if result.data is not None else {}
            valid += result.outcome == "complete" and not result.problems
            count(tally, wrong, index, document, truth, answer, asked)
            answers.append({"index": index, "truth": answer_json(task.answer), "answer": result.data})
            if sys.stderr.isatty():
                print(f"\r{len(answers)} documents, fields {tally.share('fields'):.1%}", end="", file=sys.stderr)
    print(
        f"documents {len(answers)}  fields {tally.share('fields'):.2%}  whole documents {tally.share('documents'):.1%}"
    )
    print(f"complete and schema-valid {valid / len(answers):.1%}")
    print(f"null fields right {tally.share('null'):.1%}; number of line items right {tally.share('item count'):.1%}")
    print(f"median seconds a document {statistics.median(seconds):.2f}, answer tokens/s {statistics.median(rates):.0f}")
    for grouping in GROUPINGS[arguments.profile]:
        print(grouping)
        print(tally.table(grouping))
    print("\n".join(wrong[: arguments.errors]))
    if arguments.json:
        arguments.json.write_text(json.dumps(answers, ensure_ascii=False, indent=1))


def _choose(index: int, arguments: argparse.Namespace) -> tuple[Document, Task, Asked]:
    """Held-out document `index` under the options: what is "all" changes from one document to the next."""
    if arguments.profile == "narrow":
        return *make_heldout(index, arguments.kind), Asked()
    # Each choice turns at a pace of its own, so that all combinations come up.
    language, noise, schema, families = (
        options[index // pace % len(options)] if chosen == "all" else chosen
        for chosen, options, pace in (
            (arguments.language, LANGUAGES, 5),
            (arguments.noise, NOISES, 1),
            (arguments.schemas, SCHEMAS, 1),
            (arguments.families, FAMILIES, 3),
        )
    )
    document, task = make_heldout(
        index,
        arguments.kind,
        profile="wide",
        language=language,
        held_out=families == "held-out",
        noise=noise,
        schema=schema,
    )
    return document, task, Asked(schema, families)


def write(document: Document, folder: Path, index: int) -> Path:
    """The document as a file: a PDF, or if it is worn a PNG or, of several pages, a TIFF."""
    if document.noise == "clean":
        path = folder / f"{index}.pdf"
        path.write_bytes(document.sheet.pdf())
        return path
    pages = [Image.fromarray(page) for page in document.sheet.render()]
    path = folder / f"{index}.{'png' if len(pages) == 1 else 'tiff'}"
    if len(pages) == 1:
        pages[0].save(path)
    else:
        pages[0].save(path, save_all=True, append_images=pages[1:])
    return path


def count(
    tally: Tally,
    wrong: list[str],
    index: int,
    document: Document,
    truth: dict[str, Any],
    answer: dict[str, Any],
    asked: Asked = Asked(),
) -> None:
    """Add one document to the tally. An answer's surplus leaves (invented list elements) count as wrong ones."""
    groups = {
        "by kind": document.kind,
        "by layout": f"{document.kind} {document.layout}",
        "by font": document.font,
        "by size": f"{document.size:.0f} pt",
        "by language": document.language,
        "by noise": document.noise,
        "by pages": str(document.sheet.page + 1),
        "by schema": asked.schema,
        "by families": asked.families,
    }
    everything = True
    for pointer in dict.fromkeys([*truth, *answer]):
        expected, given = truth.get(pointer, "(nothing)"), answer.get(pointer, "(nothing)")
        right = expected == given and isinstance(expected, str) == isinstance(given, str)
        everything &= right
        tally.add("fields", "all", right)
        if asked.schema not in ("renamed", "varied"):
            tally.add("by field", field_name(pointer), right)
        for grouping, group in groups.items():
            tally.add(grouping, group, right)
        if expected is None:
            tally.add("null", "all", right)
            tally.add("null by schema", asked.schema, right)
            tally.add("null by families", asked.families, right)
        if not right:
            wrong.append(f"  document {index} {pointer}: {expected!r} read as {given!r}")
    tally.add("documents", "all", everything)
    for grouping in ("by language", "by noise", "by schema", "by families", "by kind"):
        tally.add(f"whole documents {grouping}", groups[grouping], everything)
    items = [len({p.split("/")[2] for p in side if p.startswith("/line_items/")}) for side in (truth, answer)]
    tally.add("item count", "all", items[0] == items[1])


if __name__ == "__main__":
    main()
