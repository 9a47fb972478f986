"""Small pictures of pages for a report: what stands around a value, and what a document looks like."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forklift.errors import ForkliftError

if TYPE_CHECKING:
    from PIL import Image

    from forklift.documents import Document

CROP_WIDTH = 420  # pixels
CROP_MARGIN = 0.05  # of the page's width, above and below; to the sides four times as much
THUMBNAIL_WIDTH = 120  # pixels
MAX_PAGES = 10_000  # they are drawn one at a time, and only those with a mistake
MAX_THUMBNAILS = 6  # of one document
_QUALITY = 55


class PagePictures:
    """Draws the pages of one document, each once. Gives data URIs; None or nothing where a page cannot be drawn."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._drawn: dict[int, Image.Image | None] = {}

    @classmethod
    def open(cls, path: Path | None) -> PagePictures | None:
        from forklift.documents import Document, Limits

        try:
            return cls(Document.open(path, limits=Limits(max_pages=MAX_PAGES))) if path is not None else None
        except ForkliftError:
            return None

    def close(self) -> None:
        self.document.close()

    @property
    def page_count(self) -> int:
        return self.document.page_count

    def crop(self, page: int, box: Sequence[float]) -> str | None:
        """The surroundings of `box` (left, top, right, bottom, 0-1) with a frame around it."""
        from PIL import ImageDraw

        image = self._page(page)
        if image is None:
            return None
        width, height = image.size
        left, top, right, bottom = (edge * size for edge, size in zip(box, (width, height) * 2, strict=True))
        margin = CROP_MARGIN * width
        frame = (
            max(0, round(left - 4 * margin)),
            max(0, round(top - margin)),
            min(width, round(right + 4 * margin)),
            min(height, round(bottom + margin)),
        )
        if frame[2] <= frame[0] or frame[3] <= frame[1]:
            return None
        part = image.crop(frame)
        pen = ImageDraw.Draw(part)
        pad = max(2, round(0.003 * width))
        corners = [left - frame[0] - pad, top - frame[1] - pad, right - frame[0] + pad, bottom - frame[1] + pad]
        if corners[2] > corners[0] and corners[3] > corners[1]:
            pen.rectangle(corners, outline=(214, 84, 0), width=max(2, round(0.002 * width)))
        if part.width > CROP_WIDTH:
            part = part.resize((CROP_WIDTH, max(1, round(part.height * CROP_WIDTH / part.width))))
        return _uri(part)

    def thumbnails(self) -> Iterator[str]:
        for page in self.document.pages[:MAX_THUMBNAILS]:
            image = self._page(page.number)
            if image is not None:
                height = max(1, round(image.height * THUMBNAIL_WIDTH / image.width))
                yield _uri(image.resize((THUMBNAIL_WIDTH, height)))

    def _page(self, number: int) -> Image.Image | None:
        from forklift.documents import PagePolicy

        if number not in self._drawn:
            try:
                self._drawn[number] = self.document.pages[number - 1].render(PagePolicy(shorter_side=0))
            except (ForkliftError, IndexError):
                self._drawn[number] = None
        return self._drawn[number]


def _uri(image: Image.Image) -> str:
    content = io.BytesIO()
    image.save(content, "WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(content.getvalue()).decode()
