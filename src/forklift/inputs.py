"""Files, folders and globs as people name them -> the documents to read, each once, in natural order."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from forklift.errors import UsageError
from forklift.sniffing import SNIFF_BYTES, sniff

# A file that bears one of these is taken for a document even when its content is none: a damaged one is an
# error that names it, not a file that is passed over.
DOCUMENT_SUFFIXES = frozenset(
    ".pdf .png .jpg .jpeg .jpe .jfif .tif .tiff .heic .heif .webp .gif .bmp .dib .jp2 .j2k .avif .avifs".split()
)
# In the first bytes of every picture that `forklift.annotate` writes, so that no folder feeds on its own output.
ANNOTATED_MARK = b"tEXtSoftware\x00forklift annotate"


@dataclass(frozen=True)
class Input:
    """One document to read.

    path: as it was named, to open it and to speak of it.
    place: where its outputs go below an output folder: the path below the folder (or the fixed part of the glob)
        that it was found in; the mere file name for a file that was named itself.
    """

    path: Path
    place: PurePosixPath

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Input:
        """A file that was named itself."""
        return cls(Path(path), PurePosixPath(Path(path).name or str(path)))


@dataclass(frozen=True)
class Inputs:
    """What was found. problems: a message for each folder that could not be read or pattern without a match."""

    documents: tuple[Input, ...]
    problems: tuple[str, ...] = ()


def find_inputs(
    names: Sequence[str | os.PathLike[str]],
    *,
    recursive: bool = False,
    outside: Sequence[Path] = (),
) -> Inputs:
    """The documents that `names` stand for, in the order of the names, natural order within each.

    names: files (taken as they are, there or not), folders (every document in them; with `recursive` below them
        too), and patterns with *, ?, [...] or ** for any depth, for shells that do not expand them.
    outside: folders below which nothing is looked for, such as where results go.
    Found in folders and by patterns: what the suffix (of any case) or the content says is a document; never hidden
    files and folders, nor pictures that `forklift.annotate` made. Files that are the same are taken once.
    Raises UsageError when nothing is left at all.
    """
    barred = {os.path.realpath(folder) for folder in outside}
    found: dict[Any, Input] = {}
    problems: list[str] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            some = False
            for item in _in_folder(path, recursive, barred, problems):
                some = True
                found.setdefault(_identity(item.path), item)
            if not some:
                hint = "" if recursive else "; --recursive looks in the folders below it too"
                problems.append(f"{path}: there is no document in this folder{hint}.")
        elif glob.has_magic(str(path)) and not path.exists():
            matches = list(_matching(path, barred))
            for item in matches:
                found.setdefault(_identity(item.path), item)
            if not matches:
                problems.append(f"{path}: no document matches this pattern.")
        else:
            found.setdefault(_identity(path), Input.of(path))
    if not found:
        raise UsageError("\n".join(problems) or "no input was named.")
    return Inputs(tuple(found.values()), tuple(problems))


def natural_key(text: str) -> tuple[Any, ...]:
    """Sorts "page 10" after "page 9", without regard to case."""
    parts = re.split(r"([0-9]+)", text.casefold())
    numbers = tuple((int(part), part) if index % 2 else part for index, part in enumerate(parts))
    return (numbers, text)


def is_document(path: Path) -> bool:
    """Whether a file found in a folder is to be read; False for what cannot be looked into."""
    named = path.suffix.lower() in DOCUMENT_SUFFIXES
    try:
        if not path.is_file():
            return named and path.is_symlink()  # a link that leads nowhere is an error to be told
        with path.open("rb") as file:
            head = file.read(SNIFF_BYTES)
    except OSError:
        return named
    return (named or sniff(head) is not None) and ANNOTATED_MARK not in head


def _in_folder(folder: Path, recursive: bool, barred: set[str], problems: list[str]) -> Iterator[Input]:
    def unreadable(error: OSError) -> None:
        problems.append(f"{error.filename}: this folder cannot be read: {error.strerror}.")

    places: list[PurePosixPath] = []
    for parent, folders, files in os.walk(folder, onerror=unreadable):  # does not follow links to folders
        folders[:] = [
            name
            for name in folders
            if recursive
            and not _is_hidden(Path(parent, name))
            and os.path.realpath(os.path.join(parent, name)) not in barred
        ]
        below = PurePosixPath(Path(parent).relative_to(folder).as_posix())
        places += [below / name for name in files if not _is_hidden(Path(parent, name))]
    for place in sorted(places, key=_place_key):
        if is_document(folder / place):
            yield Input(folder / place, place)


def _matching(pattern: Path, barred: set[str]) -> Iterator[Input]:
    parts = pattern.parts
    fixed = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    root = Path(*parts[:fixed])
    start = os.path.realpath(root)
    barred = {folder for folder in barred if start in map(str, Path(folder).parents)}
    written = os.path.join(*parts[:-1], _any_case_suffix(parts[-1]))
    places = {
        Path(match).relative_to(root) if fixed else Path(match)
        for match in glob.iglob(written, recursive=True)  # leaves out hidden files
        if not _is_barred(Path(match), barred)
    }
    for place in sorted((PurePosixPath(place.as_posix()) for place in places), key=_place_key):
        if (root / place).is_file() and is_document(root / place):
            # A pattern may lead up again after its first *; outputs must not.
            yield Input(root / place, PurePosixPath(place.name) if ".." in place.parts else place)


def _place_key(place: PurePosixPath) -> tuple[Any, ...]:
    # The files of a folder come before those of the folders in it.
    return (*((1, natural_key(part)) for part in place.parts[:-1]), (0, natural_key(place.name)))


def _any_case_suffix(name: str) -> str:
    """ "*.pdf" as "*.[pP][dD][fF]": what a scanner or a camera named in capitals is meant too."""
    stem, dot, suffix = name.rpartition(".")
    if not dot or not suffix.isalnum():
        return name
    letters = "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in suffix)
    return f"{stem}.{letters}"


def _is_barred(path: Path, barred: set[str]) -> bool:
    return bool(barred) and any(str(parent) in barred for parent in Path(os.path.realpath(path)).parents)


def _is_hidden(path: Path) -> bool:
    if path.name.startswith("."):
        return True
    if os.name != "nt":
        return False
    try:
        attributes = path.stat().st_file_attributes  # type: ignore[attr-defined, unused-ignore]
    except OSError:
        return False
    return bool(attributes & stat.FILE_ATTRIBUTE_HIDDEN)


def _identity(path: Path) -> Any:
    """The same for two names of one file, whatever links or capitals they are written with."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return os.path.abspath(path)
    # Hard links are files of their own to whoever made them.
    return (status.st_dev, status.st_ino) if status.st_nlink == 1 else os.path.realpath(path)
