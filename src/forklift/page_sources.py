"""What every opened file can do, whatever it holds; PDFs are in pdf_source.py, pictures in picture_source.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL import Image

    from forklift.page_policy import PagePolicy
    from forklift.results import Word

MAX_ASPECT_RATIO = 100  # a longer strip is widened with white; the patch grid allows at most 200


class PageSource(Protocol):
    """An opened file: how many pages it has, and their images, one at a time. Usable from any thread."""

    page_count: int
    notes: tuple[str, ...]

    def render(self, index: int, policy: PagePolicy | None) -> Image.Image: ...

    def size(self, index: int) -> tuple[float, float]: ...

    def words(self, index: int) -> tuple[Word, ...] | None: ...

    def close(self) -> None: ...


def widen_strip(image: Image.Image) -> Image.Image:
    """Lay a strip of more than MAX_ASPECT_RATIO on white, so that its shorter side reaches that ratio."""
    from PIL import Image

    least = math.ceil(max(image.size) / MAX_ASPECT_RATIO)
    if min(image.size) >= least:
        return image
    wide = Image.new("RGB", (max(image.width, least), max(image.height, least)), "white")
    wide.paste(image, (0, 0))
    return wide


def widened_size(width: float, height: float) -> tuple[float, float]:
    """The size to which `widen_strip` brings a page of this size."""
    return max(width, height / MAX_ASPECT_RATIO), max(height, width / MAX_ASPECT_RATIO)
