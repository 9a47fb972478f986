"""The open benchmark: a folder of made-up documents with schemas, right answers and labels.

A document depends on the seed, its number, the profile and the difficulty, never on how many are made.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from forklift.errors import UsageError
from forklift.evaluate.datasets import GOLD, LABELS
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.kinds import KINDS, PAGES, Profile
from forklift.evaluate.documents.sheet import require_reportlab
from forklift.evaluate.documents.truth import LABELS as LABEL_NAMES
from forklift.evaluate.documents.truth import count_leaves
from forklift.outputs.files import as_json, make_folder, write_whole

VERSION = 1  # goes up whenever a document changes for the same plan
_ATTEMPTS = 30


@dataclass(frozen=True)
class Plan:
    """What to make. difficulty: 0-1. scanned: pages as pictures, without a text layer."""

    documents: int = 225
    seed: int = 1
    profile: Profile = "full"
    scanned: bool = False
    difficulty: float = 0.5

    def __post_init__(self) -> None:
        if self.profile not in KINDS:
            raise UsageError(f'profile "{self.profile}" is not known; it is one of {", ".join(KINDS)}.')
        if not 0.0 <= self.difficulty <= 1.0:
            raise UsageError(f"difficulty {self.difficulty:g} is outside of 0 to 1.")
        if self.documents < 1:
            raise UsageError(f"{self.documents} documents cannot be made; ask for at least 1.")


@dataclass(frozen=True)
class Entry:
    """A document that was written. labels: how often each stands in it. sha256: of the PDF."""

    name: str
    kind: str
    title: str
    pages: int
    fields: int
    labels: dict[str, int]
    sha256: str


def make_document(plan: Plan, index: int) -> tuple[str, MadeDocument]:
    """Kind and document number `index` of the plan, counted from 0."""
    kinds = KINDS[plan.profile]
    kind = tuple(kinds)[index % len(kinds)]
    fewest, most = PAGES[plan.profile]
    seed = f"{plan.seed}/{plan.profile}/{index}"
    # Most documents are short, some are very long.
    target = round(fewest + (most - fewest) * Random(f"{seed}/pages").random() ** 3)
    for _ in range(_ATTEMPTS):
        made = kinds[kind](Brief(Random(seed), target, plan.difficulty))
        pages = made.flow.sheet.page_count
        if fewest <= pages <= most:
            return kind, made
        target += 1 if pages < fewest else -2
    raise AssertionError(f"{kind} {index}: no document of {fewest} to {most} pages in {_ATTEMPTS} attempts")


def make_benchmark(
    folder: Path,
    plan: Plan,
    *,
    cancel: threading.Event | None = None,
    progress: Callable[[Entry], None] = lambda entry: None,
) -> list[Entry]:
    """Write the documents of `plan` into `folder`, which is made and has to be empty, with README.md and manifest.json.

    cancel: ends the work between two documents; what is written stays, without a manifest.
    Raises UsageError when reportlab is absent or the folder is in use.
    """
    require_reportlab()
    make_folder(folder, "DIR")
    if any(folder.iterdir()):
        raise UsageError(f"{folder}: is not empty; name a new folder, or empty it first.")
    for kind in KINDS[plan.profile]:
        (folder / kind).mkdir()
    entries: list[Entry] = []
    for index in range(plan.documents):
        if cancel is not None and cancel.is_set():
            return entries
        entries.append(_write_document(folder, plan, index))
        progress(entries[-1])
    for kind in KINDS[plan.profile]:
        if not any(entry.kind == kind for entry in entries):
            (folder / kind).rmdir()
    write_whole(folder / "manifest.json", as_json(_manifest(plan, entries)))
    write_whole(folder / "README.md", _readme(plan, entries).encode())
    return entries


def _write_document(folder: Path, plan: Plan, index: int) -> Entry:
    kind, made = make_document(plan, index)
    name = f"{kind}-{index + 1:04d}"
    pdf = made.flow.sheet.write(made.title)
    if plan.scanned:
        from forklift.evaluate.documents.scans import scanned

        pdf = scanned(pdf, Random(f"{plan.seed}/{plan.profile}/{index}/scan"))
    truth = made.truth
    place = folder / kind
    write_whole(place / f"{name}.pdf", pdf)
    write_whole(place / f"{name}{GOLD}", as_json(truth.gold))
    labels: dict[str, Any] = {"kind": kind, "labels": truth.labels, "near_misses": truth.near_misses}
    write_whole(place / f"{name}{LABELS}", as_json(labels))
    if index < len(KINDS[plan.profile]):  # the first of its kind; the others have the same
        write_whole(place / "schema.json", as_json(truth.schema))
    counts = Counter(label for labels in truth.labels.values() for label in labels)
    return Entry(
        name=name,
        kind=kind,
        title=made.title,
        pages=made.flow.sheet.page_count,
        fields=count_leaves(truth.gold),
        labels={label: counts[label] for label in LABEL_NAMES if counts[label]},
        sha256=hashlib.sha256(pdf).hexdigest(),
    )


def kind_rows(entries: list[Entry]) -> list[tuple[str, int, int, int, dict[str, int]]]:
    """For each kind, then for "all": documents, pages, fields and labels."""
    kinds = list(dict.fromkeys(entry.kind for entry in entries))
    rows: list[tuple[str, int, int, int, dict[str, int]]] = []
    for kind in (*kinds, "all"):
        of_kind = [entry for entry in entries if kind in (entry.kind, "all")]
        labels: Counter[str] = Counter()
        for entry in of_kind:
            labels.update(entry.labels)
        pages = sum(entry.pages for entry in of_kind)
        fields = sum(entry.fields for entry in of_kind)
        rows.append((kind, len(of_kind), pages, fields, {str(label): labels[label] for label in LABEL_NAMES}))
    return rows


def kind_table(entries: list[Entry]) -> str:
    """The rows of `kind_rows` as a table in Markdown."""
    labels = " | ".join(label.replace("_", " ") for label in LABEL_NAMES)
    lines = [f"| kind | documents | pages | fields | {labels} |", "|---" + "|--:" * (3 + len(LABEL_NAMES)) + "|"]
    for kind, documents, pages, fields, counts in kind_rows(entries):
        numbers = (documents, pages, fields, *counts.values())
        lines.append(f"| {kind} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return "\n".join(lines) + "\n"


def _manifest(plan: Plan, entries: list[Entry]) -> dict[str, Any]:
    kinds = {
        kind: {"documents": documents, "pages": pages, "fields": fields, "labels": labels}
        for kind, documents, pages, fields, labels in kind_rows(entries)
    }
    return {
        "benchmark_version": VERSION,
        "plan": asdict(plan),
        "totals": kinds.pop("all"),
        "kinds": kinds,
        "documents": [asdict(entry) for entry in entries],
    }


def _readme(plan: Plan, entries: list[Entry]) -> str:
    form = "pictures of pages, without a text layer" if plan.scanned else "PDFs with a text layer"
    return f"""# Made-up documents with known answers

Made by `forklift eval make`: {plan.documents} documents, profile {plan.profile}, seed {plan.seed}, difficulty \
{plan.difficulty:g}, {form}. Nothing in them is real. The same plan gives the same files.

{kind_table(entries)}
Fields are the scalars of the answers, nulls included. A field or list may have several labels.

- `KIND/schema.json`: what to extract from each document of the kind
- `KIND/NAME.pdf`, `KIND/NAME{GOLD}`: a document and its right answer
- `KIND/NAME{LABELS}`: `labels` says by JSON Pointer what makes a field or list hard; `near_misses` gives values of \
the document that are easily taken for the right one
- `manifest.json`: the plan, the counts, and a line for each document

Score a model on this folder with `forklift eval FOLDER --model MODEL`.
"""
