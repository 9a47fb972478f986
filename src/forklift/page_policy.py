"""How large page images become, and what a document may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class PagePolicy:
    """How large a page image becomes.

    dots_per_inch: scale of a PDF page (a picture has its own pixels).
    shorter_side: pixels that the shorter side is brought up to at least; 0 for no minimum.
    max_pixels: width * height at most, which wins over `shorter_side`.
    """

    dots_per_inch: float = 96
    shorter_side: int = 692
    max_pixels: int = 1088 * 1408

    def __post_init__(self) -> None:
        if not (self.dots_per_inch > 0 and self.shorter_side >= 0 and self.max_pixels >= 1024):
            raise ValueError(
                f"{self}: dots_per_inch must be above 0, shorter_side at least 0, max_pixels at least 1024"
            )

    def fit(self, width: float, height: float) -> float:
        """The factor that brings a page of `width` x `height` pixels within the policy."""
        factor = 1.0
        if self.shorter_side and min(width, height) < self.shorter_side:
            factor = self.shorter_side / min(width, height)
        pixels = (width * factor) * (height * factor)
        if pixels > self.max_pixels:
            factor *= math.sqrt(self.max_pixels / pixels)
        return factor


@dataclass(frozen=True)
class Limits:
    """What a document may cost.

    max_file_bytes: size of the file.
    max_pages: pages that are selected. All their images are in one prompt, some 3 MB each.
    max_picture_pixels: width * height of a picture file, known before it is decoded; some 10 bytes each while it is.
    Raises ValueError for a limit below 1.
    """

    max_file_bytes: int = 1 << 30
    max_pages: int = 100
    max_picture_pixels: int = 150_000_000  # a photo of 108 million, an A0 sheet at 300 dpi

    def __post_init__(self) -> None:
        if min(self.max_file_bytes, self.max_pages, self.max_picture_pixels) < 1:
            raise ValueError(f"{self}: every limit must be at least 1")
