"""PDFs, drawn by PDFium one page at a time."""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklift.errors import DocumentError, PasswordError
from forklift.page_policy import PagePolicy
from forklift.page_sources import MAX_ASPECT_RATIO, widen_strip, widened_size

if TYPE_CHECKING:
    from PIL import Image

    from forklift.results import Word

POINTS_PER_INCH = 72

# PDFium keeps global state and is not thread-safe: every call into it, closing included, holds this one lock.
PDFIUM_LOCK = threading.RLock()
_PDFIUM_ERROR_PASSWORD = 4
_MAX_BYTES_READ = 64 << 20
_SILENT = logging.NullHandler()


class PdfSource:
    """A PDF, rendered by PDFium with its form fields and annotations drawn."""

    def __init__(self, file: Path | bytes, name: str, password: str | None) -> None:
        # Absolute, for pypdfium2 would expand a name that starts with "~".
        self._file = file if isinstance(file, bytes) else file.absolute()
        self._name = name
        self._password = password
        self._pages_in_use = 0
        self._bytes_read = 0.0
        self.notes: tuple[str, ...] = ()
        with PDFIUM_LOCK:
            self._pdf: Any = self._open()
            try:
                self._prepare_form()
                self.page_count = len(self._pdf)
                if self.page_count == 0:
                    raise DocumentError(_without_pages(name))
                size = len(self._file) if isinstance(self._file, bytes) else self._file.stat().st_size
                self._bytes_per_page = size / self.page_count
            except BaseException:
                self.close()
                raise

    def _open(self) -> Any:
        import pypdfium2

        try:
            return pypdfium2.PdfDocument(self._file, password=self._password)
        except pypdfium2.PdfiumError as error:
            if _opens_without_pages(self._file, self._password):
                raise DocumentError(_without_pages(self._name)) from None
            if error.err_code == _PDFIUM_ERROR_PASSWORD:
                raise PasswordError(
                    f"{self._name}: the password does not open this PDF; check it."
                    if self._password
                    else f"{self._name}: the PDF is encrypted; give its password (--password or FORKLIFT_PDF_PASSWORD)."
                ) from None
            raise DocumentError(
                f"{self._name}: is a damaged PDF that cannot be opened; export or download it again."
            ) from error
        except OSError as error:
            raise DocumentError(f"{self._name}: cannot be opened: {error}.") from error

    def _prepare_form(self) -> None:
        """Has to come before the first page is loaded."""
        import pypdfium2
        from pypdfium2 import raw

        if self._pdf.get_formtype() == raw.FORMTYPE_XFA_FULL:
            self.notes = ("the PDF is an XFA form, of which only the page that stands in for it can be drawn",)
        # pypdfium2 says so too, on stderr unless its log has a handler.
        logging.getLogger("pypdfium2").addHandler(_SILENT)
        try:
            self._pdf.init_forms()
        except pypdfium2.PdfiumError:
            self.notes = ("the PDF's form could not be read; its fields may be missing in the picture",)

    @contextmanager
    def opened_page(self, index: int) -> Iterator[Any]:
        """Page `index` (0-based) as a pypdfium2 page, with PDFium's lock held; closed and released afterwards.

        Its size is that of the page as shown, and finite. Raises DocumentError when the document is closed, or when
        PDFium fails on the page.
        """
        import pypdfium2

        with PDFIUM_LOCK:
            if self._pdf is None:
                raise DocumentError(f"{self._name}: the document is closed.")
            self._forget_what_was_read()
            try:
                page = self._pdf[index]
                self._pages_in_use += 1
                try:
                    self._give_size(page, index)
                    yield page
                finally:
                    self._pages_in_use -= 1
                    page.close()
            except pypdfium2.PdfiumError as error:
                raise DocumentError(
                    f"{self._name}: page {index + 1} is damaged and cannot be read; leave it out with a page range."
                ) from error

    def _forget_what_was_read(self) -> None:
        """Open the file anew from time to time: PDFium keeps the streams of every page that it has seen, so that a
        long scan would end up whole in memory."""
        if self._bytes_read > _MAX_BYTES_READ and not self._pages_in_use:
            self.close()
            self._pdf = self._open()
            self._prepare_form()
            self._bytes_read = 0
        self._bytes_read += self._bytes_per_page

    def _give_size(self, page: Any, index: int) -> None:
        if 0.0 in page.get_size():  # a crop box beside the media box leaves nothing: show all of the page
            page.set_cropbox(*page.get_mediabox())
        width, height = page.get_size()
        if not (0 < width < math.inf and 0 < height < math.inf):
            raise DocumentError(
                f"{self._name}: page {index + 1} is {width:g} x {height:g} points, which cannot be drawn; "
                "leave it out with a page range."
            )

    def render(self, index: int, policy: PagePolicy | None) -> Image.Image:
        """Page `index` (0-based) as a new RGB image within the area of `policy`.

        Raises DocumentError when the document is closed, or the page damaged.
        """
        policy = policy or PagePolicy(shorter_side=0)
        with self.opened_page(index) as page:
            width, height = page.get_size()
            scale = _pixels_per_point(width, height, policy)
            bitmap = page.render(scale=scale, may_draw_forms=True, draw_annots=True, rev_byteorder=True)
            try:
                image: Image.Image = bitmap.to_pil().convert("RGB").copy()  # its own memory
            finally:
                bitmap.close()
        return widen_strip(image)

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of page `index` (0-based) in points as it is drawn: rotated, cropped, a strip widened."""
        with self.opened_page(index) as page:
            return widened_size(*page.get_size())

    def words(self, index: int) -> tuple[Word, ...] | None:
        """The words of the text layer of page `index` (0-based); None where it does not hold what the page shows."""
        from forklift.words import words_of

        with self.opened_page(index) as page:
            return words_of(page)

    def close(self) -> None:
        """Release the file."""
        with PDFIUM_LOCK:
            if self._pdf is not None:
                self._pdf.close()
                self._pdf = None

    def __del__(self) -> None:
        # A document that was never closed must not be freed by the collector outside the lock.
        if getattr(self, "_pdf", None) is not None:
            self.close()


def _pixels_per_point(width: float, height: float, policy: PagePolicy) -> float:
    """The scale at which a page of `width` x `height` points is drawn."""
    # As large as the picture will be once a strip is widened.
    width, height = max(width, height / MAX_ASPECT_RATIO), max(height, width / MAX_ASPECT_RATIO)
    scale = policy.dots_per_inch / POINTS_PER_INCH
    scale *= policy.fit(width * scale, height * scale)
    # PDFium rounds both sides up, which may take the area just over the maximum.
    while math.ceil(width * scale) * math.ceil(height * scale) > policy.max_pixels:
        scale *= 0.9995
    return scale


def _without_pages(name: str) -> str:
    return f"{name}: is a PDF that has no pages; export or download it again."


def _opens_without_pages(file: Path | bytes, password: str | None) -> bool:
    """Whether PDFium opens the file after all. The caller holds the lock.

    pypdfium2 also fails on an empty page tree, and then reports whatever error came before: PDFium sets none.
    """
    from pypdfium2 import raw

    key = password.encode() + b"\0" if password is not None else None
    if isinstance(file, bytes):
        handle = raw.FPDF_LoadMemDocument64(file, len(file), key)
    else:
        handle = raw.FPDF_LoadDocument(os.fsencode(file) + b"\0", key)
    if not handle:
        return False
    raw.FPDF_CloseDocument(handle)
    return True
