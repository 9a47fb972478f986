"""Files into pages, opened lazily and recognised by their content.

with Document.open("scan.pdf", pages="1-3,5") as document:
    for page in document.pages:
        image = page.render(PagePolicy())
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from forklift.errors import DocumentError, LimitError
from forklift.page_policy import Limits as Limits
from forklift.page_policy import PagePolicy as PagePolicy
from forklift.page_ranges import PAGE_RANGE_FORMS, parse_page_ranges, select_pages
from forklift.page_sources import PageSource
from forklift.pdf_source import PdfSource
from forklift.picture_source import PictureSource
from forklift.sniffing import SNIFF_BYTES, describe_unreadable, sniff

if TYPE_CHECKING:
    from types import TracebackType

    from PIL import Image

    from forklift.results import Word


@dataclass(frozen=True)
class Page:
    """One page of a document. number: its 1-based place in the file."""

    number: int
    _source: PageSource

    def render(self, policy: PagePolicy | None = None) -> Image.Image:
        """The page as an RGB image under `policy`; without one a picture keeps its own pixels, and a PDF page
        is drawn at 96 dpi within the default area.

        Raises DocumentError when the page is damaged, LimitError when the picture is too large to decode.
        """
        return self._source.render(self.number - 1, policy)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as the page is drawn: points of a PDF page, pixels of a picture."""
        return self._source.size(self.number - 1)

    def words(self) -> tuple[Word, ...] | None:
        """The words of the page's text layer, in the order of the file, with boxes in points.

        None for a picture, and for a PDF page whose text layer does not hold what the page shows.
        """
        return self._source.words(self.number - 1)


class Document:
    """A file as a sequence of pages, opened lazily. Close it, or use it as a context manager.

    name: the path as it was given. kind: "PDF" or a Pillow format name. page_count: pages of the file.
    pages: the selected ones, in page order. notes: what a reader of the result should know.
    """

    def __init__(self, name: str, kind: str, source: PageSource, numbers: tuple[int, ...]) -> None:
        self.name = name
        self.kind = kind
        self.page_count = source.page_count
        self.notes = source.notes
        self.pages = tuple(Page(number, source) for number in numbers)
        self._source = source

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        pages: str | None = None,
        password: str | None = None,
        limits: Limits | None = None,
    ) -> Document:
        """Open `path`, which is recognised by its content.

        pages: a range such as "1-3,5" or "5-"; None for all.
        Raises PageRangeError (a range that is malformed or outside the document), PasswordError, LimitError,
        or DocumentError, which says what the file is.
        """
        limits = limits or Limits()
        name = os.fspath(path)
        ranges = parse_page_ranges(pages) if pages is not None else None
        head = _read_head(Path(path), name, limits)
        return cls._opened(Path(path), name, head, ranges, password, limits)

    @classmethod
    def from_bytes(
        cls,
        content: bytes,
        name: str = "document",
        pages: str | None = None,
        password: str | None = None,
        limits: Limits | None = None,
    ) -> Document:
        """Open a file's content, which stays in memory; as `open` otherwise. name: what errors call it."""
        limits = limits or Limits()
        ranges = parse_page_ranges(pages) if pages is not None else None
        _check_size(len(content), name, limits)
        return cls._opened(content, name, content[:SNIFF_BYTES], ranges, password, limits)

    @classmethod
    def _opened(
        cls,
        file: Path | bytes,
        name: str,
        head: bytes,
        ranges: tuple[tuple[int, int | None], ...] | None,
        password: str | None,
        limits: Limits,
    ) -> Document:
        kind = sniff(head)
        if kind is None:
            raise DocumentError(f"{name}: is no document that can be read: it is {describe_unreadable(head)}.")
        source: PageSource
        if kind == "PDF":
            source = PdfSource(file, name, password)
        else:
            source = PictureSource(file, name, kind, limits)
        try:
            numbers = select_pages(ranges, source.page_count, name)
            if len(numbers) > limits.max_pages:
                raise LimitError(
                    f"{name}: {len(numbers)} pages are more than the limit of {limits.max_pages}; "
                    f"select fewer with a page range {PAGE_RANGE_FORMS}, or raise the limit "
                    "(--max-pages, in Python Limits(max_pages=...))."
                )
        except BaseException:
            source.close()
            raise
        return cls(name, kind, source, numbers)

    def close(self) -> None:
        """Release the file; rendering a page afterwards raises DocumentError."""
        self._source.close()

    def __len__(self) -> int:
        return len(self.pages)

    def __iter__(self) -> Iterator[Page]:
        return iter(self.pages)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read_head(path: Path, name: str, limits: Limits) -> bytes:
    try:
        if path.is_dir():
            raise DocumentError(f"{name}: is a folder; name the files in it.")
        if path.exists() and not path.is_file():
            raise DocumentError(f"{name}: is no regular file; save the document to disk first.")
        _check_size(path.stat().st_size, name, limits)
        with path.open("rb") as file:
            return file.read(SNIFF_BYTES)
    except FileNotFoundError:
        raise DocumentError(f"{name}: there is no such file; check the path.") from None
    except PermissionError:
        raise DocumentError(f"{name}: may not be read; check the file's permissions.") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise DocumentError(f"{name}: cannot be opened: {error}.") from error


def _check_size(size: int, name: str, limits: Limits) -> None:
    if size > limits.max_file_bytes:
        raise LimitError(
            f"{name}: {size:,} bytes are more than the limit of {limits.max_file_bytes:,}; "
            "split the document, or raise the limit (--max-file-size, in Python Limits(max_file_bytes=...))."
        )
