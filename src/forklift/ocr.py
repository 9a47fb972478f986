"""Words of pages that have no text layer, recognised by the optional extra `ocr` (RapidOCR, weights in its wheel)."""

from __future__ import annotations

import os
import threading
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from forklift.documents import Page, PagePolicy
from forklift.results import Box, Word

if TYPE_CHECKING:
    from PIL import Image

_DOTS_PER_INCH = 150  # print of 8 points is then some 16 pixels high
_MAX_PIXELS = 4_000_000
_LEAST_SCORE = 0.5  # of a line; below it, it is noise


def is_available() -> bool:
    """Whether the extra is there (`pip install 'forklift[ocr]'`), and FORKLIFT_OCR=0 does not turn it off."""
    if os.environ.get("FORKLIFT_OCR", "1").strip().casefold() in ("0", "off", "no", "false"):
        return False
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class Recogniser:
    """Finds words in page images. Its models are loaded with the first page; one page at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def page_words(self, page: Page) -> tuple[tuple[Word, ...], tuple[float, float]]:
        """The words of a page, with boxes in the unit of its size; and that size (points, or a picture's pixels).

        Raises DocumentError where the page cannot be drawn.
        """
        image = page.render(PagePolicy(dots_per_inch=_DOTS_PER_INCH, shorter_side=0, max_pixels=_MAX_PIXELS))
        width, height = page.size
        across, down = width / image.width, height / image.height
        words = tuple(
            Word(word.text, Box(box.left * across, box.top * down, box.right * across, box.bottom * down))
            for word in self.words(image)
            for box in (word.box,)
        )
        return words, (width, height)

    def words(self, image: Image.Image) -> tuple[Word, ...]:
        """The words of an RGB image from top to bottom, with boxes in its pixels."""
        import numpy as np

        pixels = np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])  # the models take BGR
        with self._lock:
            lines = self._engine(pixels, return_word_box=True).word_results or ()
        return tuple(Word(text, _box(corners)) for line in lines for text, _, corners in line if text.strip())

    @cached_property
    def _engine(self) -> Any:
        from rapidocr import RapidOCR

        return RapidOCR(params={"Global.log_level": "error", "Global.text_score": _LEAST_SCORE})


def _box(corners: Any) -> Box:
    """The upright rectangle around four corners."""
    across, down = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    return Box(min(across), min(down), max(across), max(down))
