"""Where a page is blank, so that something can be written beside a box without covering anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

_DARKER_THAN_PAPER = 40  # of 255: what counts as print
_MOST_PRINT = 0.004  # of a place's area: specks of a scan


@dataclass(frozen=True)
class Rectangle:
    """In pixels; y runs downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def grown(self, by: float) -> Rectangle:
        return Rectangle(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def overlaps(self, other: Rectangle) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class FreeSpace:
    """The blank parts of a page image (RGB); what has been given away counts as taken."""

    def __init__(self, image: Image.Image, taken: Sequence[Rectangle]) -> None:
        import numpy as np

        grey = np.asarray(image.convert("L"))
        paper = int(np.percentile(grey[::4, ::4], 90))
        print_ = grey < paper - _DARKER_THAN_PAPER
        # Row r, column c: how much print there is above and left of it.
        self._sums = np.zeros((image.height + 1, image.width + 1), dtype=np.int32)
        self._sums[1:, 1:] = print_.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)
        self._size = image.size
        self._taken = list(taken)

    def beside(self, box: Rectangle, width: int, height: int) -> Rectangle | None:
        """A free place of this size next to `box`, which is then taken; None when there is none."""
        gap = 1
        above, below = box.top - gap - height, box.bottom + gap
        level = box.middle - height / 2
        corners = [
            (box.left, above),
            (box.right - width, above),
            (box.right + gap, level),
            (box.left - gap - width, level),
            (box.left, below),
            (box.right - width, below),
            (box.left - width / 2, above),
            (box.right - width / 2, below),
        ]
        for x, y in corners:
            left = max(0.0, min(x, self._size[0] - width))  # along the edge of the page
            top = max(0.0, min(y, self._size[1] - height))
            place = Rectangle(left, top, left + width, top + height)
            if self._is_free(place):
                self._taken.append(place)
                return place
        return None

    def _is_free(self, place: Rectangle) -> bool:
        left, top, right, bottom = (round(side) for side in (place.left, place.top, place.right, place.bottom))
        if left < 0 or top < 0 or right > self._size[0] or bottom > self._size[1]:
            return False
        if any(place.overlaps(other) for other in self._taken):
            return False
        sums = self._sums
        print_ = int(sums[bottom, right]) - int(sums[top, right]) - int(sums[bottom, left]) + int(sums[top, left])
        return print_ <= _MOST_PRINT * (right - left) * (bottom - top)
