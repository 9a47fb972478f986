"""Is a dataset right? Every gold value is looked up in its document, and held against schema and labels.

A value that is in no text layer, and not labelled "derived", is a fault of the dataset, not of a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forklift.confidence import leaves
from forklift.evidence.occurrences import Finder
from forklift.evidence.word_index import PageWords, WordIndex
from forklift.results import Word

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from forklift.evaluate.datasets import Example

KNOWN_LABELS = ("derived", "spans_pages", "must_be_null", "distractor", "exhaustive_list", "aggregated")


@dataclass(frozen=True)
class Fault:
    """Something wrong with a right answer. pointer: JSON Pointer in gold, "" for the whole."""

    example: str
    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.example}: {self.pointer or '/'}: {self.message}"


@dataclass(frozen=True)
class GoldReport:
    """What `check_gold` looked at. found: values that stand in their documents; derived: values that need not;
    unseen: documents without a document file or a text layer, whose values could not be looked up."""

    documents: int
    values: int
    found: int
    derived: int
    unseen: tuple[str, ...]
    faults: tuple[Fault, ...]


def check_gold(path: Path, *, cancel: threading.Event | None = None) -> GoldReport:
    """Check every example of the dataset; `cancel` ends it between two documents.

    Raises DatasetError when the dataset cannot be read, DocumentError for a document.
    """
    from forklift.evaluate.datasets import read_dataset

    faults: list[Fault] = []
    unseen: list[str] = []
    documents = values = found = derived = 0
    for example in read_dataset(path):
        if cancel is not None and cancel.is_set():
            break
        documents += 1
        faults += check_answer(example)
        for pointer, value in leaves(example.gold):
            values += not isinstance(value, dict | list)  # empty ones are leaves too
            derived += value is not None and "derived" in example.labels.get(pointer, ())
        pages = read_words(example)
        if pages is None:
            unseen.append(example.id)
            continue
        places = ValuePlaces(pages)
        faults += check_places(example, places)
        found += sum(places.has(value) for _, value in leaves(example.gold) if _is_printed(value))
    return GoldReport(documents, values, found, derived, tuple(unseen), tuple(faults))


def read_words(example: Example) -> list[PageWords] | None:
    """The words of every page; None where there is no document, or a page that no words stand for."""
    from forklift.documents import Document, Limits

    if example.document is None:
        return None
    pages: list[PageWords] = []
    with Document.open(example.document, limits=Limits(max_pages=10_000)) as document:
        for page in document.pages:
            words: Sequence[Word] | None = page.words()
            if words is None:
                return None
            pages.append(PageWords(page.number, page.size, words))
    return pages


class ValuePlaces:
    """Where values stand in one document."""

    def __init__(self, pages: Sequence[PageWords]) -> None:
        self._index = WordIndex(pages)
        self._finder = Finder(self._index)

    def has(self, value: str | int | float) -> bool:
        return bool(self._finder.find(value).places)

    def crosses_pages(self, value: str | int | float) -> bool:
        """Whether the value begins on one page and ends on another."""
        return any(
            self._index.page_of[place.words[0]] != self._index.page_of[place.words[-1]]
            for place in self._finder.find(value).places
        )


def check_answer(example: Example) -> Iterator[Fault]:
    """Gold against schema and labels, without the document."""
    for problem in example.schema.problems(example.gold):
        pointer, _, message = problem.partition(": ")
        yield Fault(example.id, pointer.removesuffix("/") or "", f"does not fit the schema: {message}")
    nodes = dict(_nodes(example.gold))
    for pointer, labels in example.labels.items():
        for label in labels:
            if label not in KNOWN_LABELS:
                yield Fault(example.id, pointer, f'has the unknown label "{label}"')
        if pointer not in nodes:
            yield Fault(example.id, pointer, "has labels, but gold has no such field")
        elif "must_be_null" in labels and nodes[pointer] is not None:
            yield Fault(example.id, pointer, f"is labelled must_be_null, but is {nodes[pointer]!r}")
        elif "exhaustive_list" in labels and not isinstance(nodes[pointer], list):
            yield Fault(example.id, pointer, "is labelled exhaustive_list, but is no list")
        if "distractor" in labels and not example.near_misses.get(pointer):
            yield Fault(example.id, pointer, "is labelled distractor, but no near miss is given")
    if example.labels:
        for pointer, value in leaves(example.gold):
            if value is None and "must_be_null" not in example.labels.get(pointer, ()):
                yield Fault(example.id, pointer, "is null without the label must_be_null")
    for pointer, misses in example.near_misses.items():
        if nodes.get(pointer, misses) in misses:
            yield Fault(example.id, pointer, "the right value is given as a near miss")


def check_places(example: Example, places: ValuePlaces) -> Iterator[Fault]:
    """Gold and near misses against the words of the document."""
    labels: Mapping[str, Sequence[str]] = example.labels
    for pointer, value in leaves(example.gold):
        own = labels.get(pointer, ())
        if not _is_printed(value) or "derived" in own:
            continue
        if not places.has(value):
            yield Fault(example.id, pointer, f"{_shortened(value)} does not stand in the document; label it derived")
        elif "spans_pages" in own and not places.crosses_pages(value):
            yield Fault(example.id, pointer, "is labelled spans_pages, but stands on one page")
    for pointer, misses in example.near_misses.items():
        for miss in misses:
            if _is_printed(miss) and not places.has(miss):
                yield Fault(example.id, pointer, f"the near miss {_shortened(miss)} does not stand in the document")


def _is_printed(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool) and value != ""


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _nodes(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every pointer of a JSON value, containers included."""
    yield pointer, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _nodes(child, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _nodes(child, f"{pointer}/{index}")
