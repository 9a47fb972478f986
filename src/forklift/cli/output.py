"""Where results go: JSON on stdout, or one file an input, each written whole or not at all."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forklift.errors import ForkliftError, UsageError
from forklift.results import Result

_unfinished: set[str] = set()  # temporary files that an abrupt end has to remove


def as_json(value: Any) -> bytes:
    """UTF-8, indented by 2, not escaped, keys in their own order, with a final newline."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", errors="surrogatepass")


def with_details(result: Result) -> dict[str, Any]:
    """All of a result, for --meta."""
    details = dataclasses.asdict(result)
    return {**details, "outcome": result.outcome.value}


def write_stdout(content: bytes) -> None:
    """Raises ForkliftError when stdout cannot take it, such as a file on a full disk.

    A reader that has gone, as after `| head`, is nothing to report: BrokenPipeError ends the command silently.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still buffered would fail once more, with a traceback, when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ForkliftError(f"stdout: cannot be written: {error.strerror}.") from None


def plan_outputs(inputs: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """An output file for each input: `folder`/<stem>.json, with the whole file name where stems collide,
    numbered where even these do. No two inputs share one, not even on a file system that ignores case, and
    none is an input.
    """
    stems = Counter(path.stem.casefold() for path in inputs)
    taken = {os.path.normcase(path.resolve()) for path in inputs}
    plan: dict[Path, Path] = {}
    used: set[str] = set()
    for path in inputs:
        base = path.stem if stems[path.stem.casefold()] == 1 else path.name
        number = 1
        while True:
            name = f"{base}.json" if number == 1 else f"{base}-{number}.json"
            output = folder / name
            if name.casefold() not in used and os.path.normcase(output.resolve()) not in taken:
                break
            number += 1
        used.add(name.casefold())
        plan[path] = output
    return plan


def make_folder(folder: Path) -> None:
    """Raises UsageError when `folder` cannot hold results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: cannot be made a folder: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"--out {folder}: may not be written to; choose another folder.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears under its name complete or not at all. Raises UsageError when it cannot."""
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
        _unfinished.add(temporary)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp's own mode is for secrets
        os.replace(temporary, path)
    except OSError as error:
        remove_unfinished()
        raise UsageError(f"{path}: cannot be written: {error.strerror}.") from error
    finally:
        _unfinished.discard(temporary)


def remove_unfinished() -> None:
    """Delete temporary files of writes that are under way."""
    for name in list(_unfinished):
        try:
            os.unlink(name)
        except OSError:
            continue


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
