"""Where each value of an answer stands on the pages.

fields = cite(fields, pages, schema)

A value is looked up among the document's words in every form in which it may be printed, and of several places the
one is cited that agrees best with the other fields; `forklift.evidence` does both. docs/evidence.md tells the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forklift.evidence.choice import Choice, Leaf
from forklift.evidence.names import FieldNames, Path
from forklift.evidence.occurrences import Finder
from forklift.evidence.word_index import PageWords, WordIndex
from forklift.results import Box, Citation, Field, Word

if TYPE_CHECKING:
    from forklift.schema import Schema


@dataclass(frozen=True)
class PageText:
    """What is known of the words of a page.

    number: 1-based in the file. size: in the unit of the boxes. words: None where there are none to look in.
    complete: the words are all that the page shows, so that a value not among them is not on the page; recognised
        words (OCR) never are, for they may be misread.
    """

    number: int
    size: tuple[float, float]
    words: Sequence[Word] | None
    complete: bool = True


def cite(fields: Sequence[Field], pages: Iterable[PageText], schema: Schema | None = None) -> tuple[Field, ...]:
    """`fields` with `citations` and `grounded` filled in; the values and confidences stay.

    pages: in page order; may be a generator. schema: its titles help to find the labels.
    Nulls, booleans, empty strings and empty containers are not printed as such: their `grounded` is None.
    """
    complete, texts = True, []
    for page in pages:
        complete = complete and page.words is not None and page.complete
        if page.words:
            texts.append(PageWords(page.number, page.size, page.words))
    index = WordIndex(texts)
    finder = Finder(index)
    names = FieldNames(schema)
    leaves: dict[int, Leaf] = {}
    for number, field in enumerate(fields):
        if _is_printed(field.value):
            path = names.path(field.pointer)
            leaves[number] = _leaf(path, names, finder, field.value)
    choice = Choice(index, list(leaves.values()))
    choice.run()
    cited = []
    for number, field in enumerate(fields):
        leaf = leaves.get(number)
        if leaf is None:
            cited.append(field)
        elif leaf.chosen is not None and not leaf.trace:
            cited.append(replace(field, citations=_citations(index, leaf.chosen.words), grounded=True))
        else:
            cited.append(replace(field, grounded=False if complete and _is_absent(choice, leaf) else None))
    return tuple(cited)


def _is_absent(choice: Choice, leaf: Leaf) -> bool:
    """Whether it is certain that a value without a place is not in the document.

    One as short as "2" that is printed somewhere, but in no place that anything connects with the field, may yet be
    meant; unless it is known where the rest of its list element stands, and it is not there.
    """
    return leaf.trace or not leaf.found.places or not leaf.found.weak or choice.anchored(leaf)


def _leaf(path: Path, names: FieldNames, finder: Finder, value: str | int | float) -> Leaf:
    found = finder.find(value)
    in_list = any(isinstance(step, int) for step in path)
    if found.places or not in_list:
        return Leaf(path, names.names(path), found)
    return Leaf(path, names.names(path), finder.traces(value), trace=True)


def _is_printed(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool) and value != ""


def _citations(index: WordIndex, words: Sequence[int]) -> tuple[Citation, ...]:
    """One citation for each run of words on a line."""
    runs: list[list[int]] = []
    for word in words:
        if runs and index.line_of[runs[-1][0]] == index.line_of[word]:
            runs[-1].append(word)
        else:
            runs.append([word])
    citations = []
    for run in runs:
        number, (width, height) = index.pages[index.page_of[run[0]]]
        box = Box(
            min(index.left[word] for word in run),
            min(index.top[word] for word in run),
            max(index.right[word] for word in run),
            max(index.bottom[word] for word in run),
        )
        relative = Box(box.left / width, box.top / height, box.right / width, box.bottom / height)
        citations.append(Citation(number, box, relative, " ".join(index.texts[word] for word in run)))
    return tuple(citations)
