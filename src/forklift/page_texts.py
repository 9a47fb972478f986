"""The words of a document's pages: from the text layer, or recognised where there is none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklift.citations import PageText
from forklift.errors import DocumentError

if TYPE_CHECKING:
    from forklift.documents import Document
    from forklift.ocr import Recogniser


def page_texts(
    document: Document, recogniser: Recogniser | None = None, cancel: threading.Event | None = None
) -> Iterator[PageText]:
    """What is known of the words of each selected page, in order; a page that cannot be read has none.

    recogniser: for the pages without a text layer. cancel: once set, nothing more is recognised.
    """
    for page in document.pages:
        try:
            words = page.words()
            if words is not None:
                yield PageText(page.number, page.size, words)
            elif recogniser is not None and not (cancel is not None and cancel.is_set()):
                found, size = recogniser.page_words(page)
                yield PageText(page.number, size, found, complete=False)
            else:
                yield PageText(page.number, (1.0, 1.0), None)
        except DocumentError:
            yield PageText(page.number, (1.0, 1.0), None)
