"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from forklift.errors import DiskFullError, OutputError, UsageError

_unfinished: set[str] = set()  # temporary files that an abrupt end has to remove
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def as_json(value: Any, *, indent: int | None = 2) -> bytes:
    """UTF-8, not escaped, keys in their own order, with a final newline; all on one line with `indent` None."""
    text = json.dumps(value, ensure_ascii=False, indent=indent) + "\n"
    return text.encode("utf-8", errors="surrogatepass")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears under its name complete or not at all; raises as `whole_file` does."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content appears at `path` when the block ends well, and leaves no trace when it does not.

    Raises DiskFullError when there is no room for it, OutputError when it cannot be written otherwise.
    """
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".forklift-", suffix=".tmp", dir=path.parent)
        _unfinished.add(temporary)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp's own mode is for secrets
        os.replace(temporary, path)
    except BaseException as error:
        if temporary:
            _remove(temporary)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise
    finally:
        _unfinished.discard(temporary)


def cannot_write(path: Path | str, error: OSError) -> OutputError:
    """The error to raise for `error`, which writing to `path` met."""
    kind = DiskFullError if error.errno in _FULL else OutputError
    return kind(f"{path}: cannot be written: {error.strerror or error}.")


def make_folder(folder: Path, option: str) -> None:
    """Raises UsageError, naming the option, when `folder` cannot hold results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {folder}: cannot be made a folder: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{option} {folder}: may not be written to; choose another folder.")


def remove_unfinished() -> None:
    """Delete temporary files of writes that are under way; quick, and safe beside them."""
    for name in list(_unfinished):
        _remove(name)


def _remove(name: str) -> None:
    try:
        os.unlink(name)
    except OSError:
        return


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
