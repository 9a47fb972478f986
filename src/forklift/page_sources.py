"""Where page images come from: PDFs drawn by PDFium, pictures decoded by Pillow, one page at a time."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from forklift.errors import DocumentError, ForkliftError, LimitError, PasswordError
from forklift.page_policy import Limits, PagePolicy

if TYPE_CHECKING:
    from PIL import Image

POINTS_PER_INCH = 72
MAX_ASPECT_RATIO = 100  # a longer strip is widened with white; the patch grid allows at most 200

# PDFium keeps global state and is not thread-safe: every call into it, closing included, holds this lock.
_PDFIUM = threading.RLock()
_PDFIUM_ERROR_PASSWORD = 4


class PageSource(Protocol):
    """An opened file: how many pages it has, and their images."""

    page_count: int
    notes: tuple[str, ...]

    def render(self, index: int, policy: PagePolicy | None) -> Image.Image: ...

    def close(self) -> None: ...


def _widen_strip(image: Image.Image) -> Image.Image:
    """Lay a strip of more than MAX_ASPECT_RATIO on white, so that its shorter side reaches that ratio."""
    from PIL import Image

    least = math.ceil(max(image.size) / MAX_ASPECT_RATIO)
    if min(image.size) >= least:
        return image
    wide = Image.new("RGB", (max(image.width, least), max(image.height, least)), "white")
    wide.paste(image, (0, 0))
    return wide


def _without_pages(name: str) -> str:
    return f"{name}: is a PDF that has no pages; export or download it again."


def _opens_without_pages(path: Path, password: str | None) -> bool:
    """Whether PDFium opens the file after all. The caller holds the lock.

    pypdfium2 also fails on an empty page tree, and then reports whatever error came before: PDFium sets none.
    """
    from pypdfium2 import raw

    key = password.encode() + b"\0" if password is not None else None
    handle = raw.FPDF_LoadDocument(os.fsencode(path) + b"\0", key)
    if not handle:
        return False
    raw.FPDF_CloseDocument(handle)
    return True


class PdfSource:
    """A PDF, rendered by PDFium with its form fields and annotations drawn."""

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, name: str, password: str | None) -> None:
        import pypdfium2

        self._name = name
        with _PDFIUM:
            try:
                self._pdf: Any = pypdfium2.PdfDocument(path, password=password)
            except pypdfium2.PdfiumError as error:
                if _opens_without_pages(path, password):
                    raise DocumentError(_without_pages(name)) from None
                if error.err_code == _PDFIUM_ERROR_PASSWORD:
                    raise PasswordError(
                        f"{name}: the password does not open this PDF; check it."
                        if password
                        else f"{name}: the PDF is encrypted; give its password (--password)."
                    ) from None
                raise DocumentError(
                    f"{name}: is a damaged PDF that cannot be opened; export or download it again."
                ) from error
            try:
                self._pdf.init_forms()  # has to come before the first page is loaded
            except pypdfium2.PdfiumError:
                self.notes = ("the PDF's form could not be read; its fields may be missing in the picture",)
            self.page_count = len(self._pdf)
            if self.page_count == 0:
                self.close()
                raise DocumentError(_without_pages(name))

    def render(self, index: int, policy: PagePolicy | None) -> Image.Image:
        import pypdfium2

        policy = policy or PagePolicy(shorter_side=0)
        with _PDFIUM:
            if self._pdf is None:
                raise DocumentError(f"{self._name}: the document is closed.")
            try:
                page = self._pdf[index]
                try:
                    width, height = page.get_size()
                    scale = self._scale(width, height, policy)
                    bitmap = page.render(scale=scale, may_draw_forms=True, draw_annots=True, rev_byteorder=True)
                    try:
                        image: Image.Image = bitmap.to_pil().convert("RGB").copy()  # its own memory
                    finally:
                        bitmap.close()
                finally:
                    page.close()
            except pypdfium2.PdfiumError as error:
                raise DocumentError(
                    f"{self._name}: page {index + 1} is damaged and cannot be drawn; leave it out with a page range."
                ) from error
        return _widen_strip(image)

    @staticmethod
    def _scale(width: float, height: float, policy: PagePolicy) -> float:
        """Pixels per point for a page of `width` x `height` points."""
        # As large as the picture will be once a strip is widened.
        width, height = max(width, height / MAX_ASPECT_RATIO), max(height, width / MAX_ASPECT_RATIO)
        scale = policy.dots_per_inch / POINTS_PER_INCH
        scale *= policy.fit(width * scale, height * scale)
        # PDFium rounds both sides up, which may take the area just over the maximum.
        while math.ceil(width * scale) * math.ceil(height * scale) > policy.max_pixels:
            scale *= 0.9995
        return scale

    def close(self) -> None:
        with _PDFIUM:
            if self._pdf is not None:
                self._pdf.close()
                self._pdf = None

    def __del__(self) -> None:
        # A document that was never closed must not be freed by the collector outside the lock.
        if getattr(self, "_pdf", None) is not None:
            self.close()


class PictureSource:
    """A picture file; the frames of a TIFF are its pages, of an animation only the first counts."""

    def __init__(self, path: Path, name: str, kind: str, limits: Limits) -> None:
        self._path = path
        self._name = name
        self._kind = kind
        self._limits = limits
        self._closed = False
        if kind == "HEIF":
            self._kind = _register_heif(name)
        with self._opened() as image:
            frames = int(getattr(image, "n_frames", 1))
        self.page_count = frames if kind == "TIFF" else 1
        self.notes: tuple[str, ...] = ()
        if kind in ("GIF", "WEBP", "PNG", "AVIF") and frames > 1:
            self.notes = (f"an animation of {frames} frames; only the first was read",)

    def render(self, index: int, policy: PagePolicy | None) -> Image.Image:
        from forklift.pictures import as_rgb

        with self._opened() as frame:
            frame.seek(index)
            self._check_pixels(frame.size, index)
            image = as_rgb(frame)
        image = _widen_strip(image)
        if policy is None:
            return image
        factor = policy.fit(*image.size)
        if factor == 1.0:
            return image
        # Rounded down, so that the area stays within the maximum; up to the minimum side, never one short of
        # it.
        size = tuple(max(1, math.floor(side * factor + 1e-6)) for side in image.size)
        from PIL import Image as Pillow

        return image.resize((size[0], size[1]), Pillow.Resampling.BICUBIC)

    def close(self) -> None:
        self._closed = True

    def _check_pixels(self, size: tuple[int, int], index: int) -> None:
        width, height = size
        if width < 1 or height < 1:
            raise DocumentError(f"{self._name}: page {index + 1} is {width} x {height} pixels: there is nothing in it.")
        if width * height > self._limits.max_picture_pixels:
            raise LimitError(
                f"{self._name}: page {index + 1} is {width} x {height} = {width * height:,} pixels, more "
                f"than the limit of {self._limits.max_picture_pixels:,}; scale it down, or raise "
                "Limits(max_picture_pixels=...)."
            )

    @contextmanager
    def _opened(self) -> Iterator[Image.Image]:
        """The picture, opened anew for each page, so that no page's pixels stay in memory."""
        from PIL import Image as Pillow
        from PIL import UnidentifiedImageError

        if self._closed:
            raise DocumentError(f"{self._name}: the document is closed.")
        try:
            with Pillow.open(self._path, formats=[self._kind]) as image:
                yield image
        except (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning) as error:
            raise LimitError(f"{self._name}: is too large a picture ({error}); scale it down.") from error
        except UnidentifiedImageError as error:
            raise DocumentError(f"{self._name}: starts like {self._kind}, but is damaged; save it again.") from error
        except ForkliftError:
            raise
        except Exception as error:  # Pillow's decoders let struct.error, zlib.error, KeyError and more through
            raise DocumentError(
                f"{self._name}: is a {self._kind} picture that is damaged or cut short ({error}); save it again."
            ) from error


def _register_heif(name: str) -> str:
    """Let Pillow read HEIC where the optional decoder is installed; returns the format's name."""
    from importlib import import_module

    try:
        import_module("pillow_heif").register_heif_opener()
    except ImportError:
        raise DocumentError(
            f"{name}: is an HEIC picture, which needs the decoder pillow-heif: "
            "run `pip install pillow-heif`, or save the picture as JPEG or PNG."
        ) from None
    return "HEIF"
