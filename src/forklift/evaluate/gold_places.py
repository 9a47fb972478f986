"""Where the right values stand on the pages, so that a report can show what was overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forklift.confidence import leaves
from forklift.errors import ForkliftError
from forklift.evaluate.answers import Place
from forklift.results import Field

if TYPE_CHECKING:
    from forklift.documents import Document
    from forklift.schema import Schema


def gold_places(document: Document, gold: Any, schema: Schema) -> dict[str, Place]:
    """JSON Pointer in gold -> place, for the values that are found in the words of the pages."""
    from forklift.citations import PageText, cite

    try:
        pages = [PageText(page.number, page.size, page.words()) for page in document.pages]
    except ForkliftError:
        return {}
    places = {}
    for one in cite([Field(pointer, value) for pointer, value in leaves(gold)], pages, schema):
        if one.citations:
            box = one.citations[0].relative
            places[one.pointer] = Place(one.citations[0].page, (box.left, box.top, box.right, box.bottom))
    return places
