"""The words of a document's pages: from the text layer, or recognised where there is none."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklift.citations import PageText
from forklift.errors import DocumentError

if TYPE_CHECKING:
    from forklift.documents import Document
    from forklift.ocr import Recogniser


def page_texts(document: Document) -> Iterator[PageText]:
    """The text layer of each selected page, in order; a page that cannot be read has no words."""
    for page in document.pages:
        try:
            words = page.words()
            yield PageText(page.number, (1.0, 1.0) if words is None else page.size, words)
        except DocumentError:
            yield PageText(page.number, (1.0, 1.0), None)


def with_recognised(
    document: Document, texts: Iterable[PageText], recogniser: Recogniser | None, cancel: threading.Event | None = None
) -> Iterator[PageText]:
    """`texts`, the text layers of the document's pages, and what is recognised of the pages that have none.

    cancel: once set, nothing more is recognised.
    """
    for page, text in zip(document.pages, texts, strict=True):
        if text.words is None and recogniser is not None and not (cancel is not None and cancel.is_set()):
            try:
                words, size = recogniser.page_words(page)
                text = PageText(page.number, size, words, complete=False)
            except DocumentError:
                pass
        yield text
