"""A folder of annotated pages: <name>.page-3.png is page 3 of a document with its values marked."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path, PurePosixPath

from forklift.annotate import annotate_page
from forklift.documents import Document, PagePolicy
from forklift.inputs import ANNOTATED_MARK, Input
from forklift.outputs.files import cannot_write, make_folder, write_whole
from forklift.outputs.names import OutputNames
from forklift.results import Result

# 144 dpi: legible on a screen, and print of 6 points still has room for a box.
POLICY = PagePolicy(dots_per_inch=144, shorter_side=800, max_pixels=5_000_000)


class AnnotatedPages:
    """Draws the pages of documents, and knows those of earlier runs by what is written in them.

    Raises UsageError when the folder cannot be made or written to.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        make_folder(self.folder, "--annotate")
        self._names = OutputNames(self._belongs_to_another)
        self._earlier: dict[Path, dict[str, Path]] = {}

    def path(self, item: Input, page: int) -> Path:
        """Where the page numbered `page` is or will be."""
        return self._path(self._names.of(item), page)

    def write(self, item: Input, document: Document, result: Result) -> None:
        """Draw every page that `result` was read from, one at a time.

        Raises OutputError, or DiskFullError, when a picture cannot be written; DocumentError for a damaged page.
        """
        for page in document.pages:
            picture = annotate_page(page.render(POLICY), result, page.number, item.path.name)
            content = io.BytesIO()
            picture.save(content, "PNG", pnginfo=self._info(item, result), compress_level=6)
            path = self.path(item, page.number)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise cannot_write(path, error) from error
            write_whole(path, content.getvalue())

    def has(self, item: Input, result: Result) -> bool:
        """Whether every page of this very result has been drawn."""
        wanted = _digest(result)
        return all(_text(self.path(item, page)).get("Fields") == wanted for page in result.pages)

    def _info(self, item: Input, result: Result) -> object:
        from PIL.PngImagePlugin import PngInfo

        info = PngInfo()
        key, _, value = ANNOTATED_MARK.removeprefix(b"tEXt").partition(b"\0")
        info.add_text(key.decode(), value.decode())  # first, where `find_inputs` looks for it
        info.add_itxt("Source", os.path.abspath(item.path))
        info.add_text("Fields", _digest(result))
        return info

    def _path(self, name: PurePosixPath, page: int) -> Path:
        return self.folder / name.with_name(f"{name.name}.page-{page}.png")

    def _belongs_to_another(self, name: PurePosixPath, item: Input) -> bool:
        path = self._drawn_before(self.folder / name.parent).get(name.name)
        if path is None:
            return False
        source = _text(path).get("Source")
        if source is None:
            return True  # a picture that is not ours
        return os.path.exists(source) and not (item.path.exists() and os.path.samefile(source, item.path))

    def _drawn_before(self, folder: Path) -> dict[str, Path]:
        """A page of each document that earlier runs left in `folder`, by the document's name."""
        if folder not in self._earlier:
            paths = folder.glob("*.page-*.png")
            self._earlier[folder] = {path.name.rpartition(".page-")[0]: path for path in paths}
        return self._earlier[folder]


def _digest(result: Result) -> str:
    return hashlib.sha256(repr((result.fields, result.missing)).encode(errors="replace")).hexdigest()


def _text(path: Path) -> dict[str, str]:
    """What is written in a PNG beside the picture; empty where there is none to be read."""
    from PIL import Image

    try:
        with Image.open(path, formats=["PNG"]) as picture:
            return {str(key): str(value) for key, value in picture.info.items()}
    except (OSError, ValueError, SyntaxError):
        return {}
