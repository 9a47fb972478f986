"""Picture files, decoded by Pillow one frame at a time."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from forklift.errors import DocumentError, ForkliftError, LimitError
from forklift.page_policy import Limits, PagePolicy
from forklift.page_sources import widen_strip

if TYPE_CHECKING:
    from PIL import Image

_PILLOW_BOMB_CHECK = threading.RLock()


class PictureSource:
    """A picture file; the frames of a TIFF are its pages, of any other format only the main picture counts."""

    def __init__(self, file: Path | bytes, name: str, kind: str, limits: Limits) -> None:
        self._file = file
        self._name = name
        self._kind = kind
        self._limits = limits
        self._closed = False
        if kind == "HEIF":
            _register_heif(name)
        with self._opened(0) as image, _without_bomb_check():
            frames = int(getattr(image, "n_frames", 1))
        self.page_count = frames if kind == "TIFF" else 1
        self.notes: tuple[str, ...] = ()
        if kind in ("GIF", "WEBP", "PNG", "AVIF") and frames > 1:
            self.notes = (f"an animation of {frames} frames; only the first was read",)
        elif kind == "HEIF" and frames > 1:
            self.notes = (f"a file of {frames} pictures; only the main one was read",)

    def render(self, index: int, policy: PagePolicy | None) -> Image.Image:
        """Frame `index` (0-based) as a new RGB image; without a policy with its own pixels.

        Raises LimitError when it has more pixels than the limit, DocumentError when it is damaged.
        """
        from PIL import Image as Pillow

        from forklift.pictures import as_rgb, square_size

        with self._opened(index) as frame:
            self._check_pixels(square_size(frame), index)
            image = widen_strip(as_rgb(frame))
            factor = policy.fit(*image.size) if policy is not None else 1.0
            if factor == 1.0:
                return image.copy() if image is frame else image
            # Rounded down, so that the area stays within the maximum; up to the minimum side, never one short of it.
            width, height = (max(1, math.floor(side * factor + 1e-6)) for side in image.size)
            return image.resize((width, height), Pillow.Resampling.BICUBIC)

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of frame `index` (0-based) in its own pixels, upright, a strip widened."""
        return self.render(index, None).size

    def words(self, index: int) -> None:
        """None: a picture has no text layer."""

    def close(self) -> None:
        """Later pages raise DocumentError; no file is held open between pages."""
        self._closed = True

    def _check_pixels(self, size: tuple[int, int], index: int) -> None:
        width, height = size
        if width < 1 or height < 1:
            raise DocumentError(f"{self._name}: page {index + 1} is {width} x {height} pixels: there is nothing in it.")
        if width * height > self._limits.max_picture_pixels:
            raise LimitError(
                f"{self._name}: page {index + 1} is {width} x {height} = {width * height:,} pixels, more than the "
                f"limit of {self._limits.max_picture_pixels:,}; scale it down, or raise the limit "
                "(--max-pixels, in Python Limits(max_picture_pixels=...))."
            )

    @contextmanager
    def _opened(self, index: int) -> Iterator[Image.Image]:
        """The picture at frame `index`, opened anew for each page, so that no page's pixels stay in memory."""
        from PIL import Image as Pillow
        from PIL import UnidentifiedImageError

        if self._closed:
            raise DocumentError(f"{self._name}: the document is closed.")
        try:
            with _without_bomb_check():
                file = io.BytesIO(self._file) if isinstance(self._file, bytes) else self._file
                image = Pillow.open(file, formats=[self._kind])
            with image:
                if self._kind == "TIFF":  # elsewhere the frame that it opens with is the main picture
                    with _without_bomb_check():
                        image.seek(index)
                yield image
        except UnidentifiedImageError as error:
            raise DocumentError(
                f"{self._name}: starts like {self._kind}, but is damaged, or of a rare kind that cannot be decoded; "
                "save it again, for instance as PNG."
            ) from error
        except ForkliftError:
            raise
        except Exception as error:  # Pillow's decoders let struct.error, zlib.error, KeyError and more through
            page = f"page {index + 1} " if self._kind == "TIFF" else ""
            raise DocumentError(
                f"{self._name}: {page}is a {self._kind} picture that is damaged or cut short ({error}); save it again."
            ) from error


@contextmanager
def _without_bomb_check() -> Iterator[None]:
    """Lift Pillow's own limit on pixels while headers are read: ours is checked before any pixel is decoded, and
    Pillow's, a global, would warn of what our limit allows, or refuse it."""
    from PIL import Image as Pillow

    with _PILLOW_BOMB_CHECK:
        usual = Pillow.MAX_IMAGE_PIXELS
        Pillow.MAX_IMAGE_PIXELS = None
        try:
            yield
        finally:
            Pillow.MAX_IMAGE_PIXELS = usual


def _register_heif(name: str) -> None:
    """Let Pillow read HEIC where the optional decoder is installed. Raises DocumentError, naming it, elsewhere."""
    from importlib import import_module

    try:
        import_module("pillow_heif").register_heif_opener()
    except ImportError:
        raise DocumentError(
            f"{name}: is an HEIC picture, which needs an optional decoder: "
            "run `pip install 'forklift[heic]'`, or save the picture as JPEG or PNG."
        ) from None
