"""A folder of results: <name>.json holds the data of a document, <name>.meta.json everything beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from forklift.errors import OutputError
from forklift.inputs import Input
from forklift.outputs.files import as_json, cannot_write, make_folder, write_whole
from forklift.outputs.names import OutputNames
from forklift.outputs.record import Record

DATA_SUFFIX = ".json"
RECORD_SUFFIX = ".meta.json"


class ResultFolder:
    """Writes each document's two files, and knows those of earlier runs.

    The record is written last, so where there is one, the data is whole. The folders of the inputs are kept below
    this one. inputs: of the run; none of them is replaced.
    Raises UsageError when the folder cannot be made or written to.
    """

    def __init__(self, folder: str | os.PathLike[str], inputs: Sequence[Input] = ()) -> None:
        self.folder = Path(folder)
        self._inputs = {os.path.realpath(item.path) for item in inputs if item.path.suffix.lower() == DATA_SUFFIX}
        make_folder(self.folder, "--out")
        self._names = OutputNames(self._belongs_to_another)
        self._latest: tuple[PurePosixPath, Record | None] | None = None  # each record is parsed once

    def data_path(self, item: Input) -> Path:
        """Where the data of `item` is or will be."""
        return self._path(self._names.of(item), DATA_SUFFIX)

    def record_path(self, item: Input) -> Path:
        """Where the record of `item` is or will be."""
        return self._path(self._names.of(item), RECORD_SUFFIX)

    def earlier(self, item: Input) -> Record | None:
        """What an earlier run left whole for this input, whether or not it still holds."""
        name = self._names.of(item)
        try:
            if self._path(name, DATA_SUFFIX).stat().st_size == 0:  # an empty file, after a power cut
                return None
        except OSError:
            return None
        return self._record(name)

    def write(self, item: Input, record: Record) -> None:
        """Raises OutputError, or DiskFullError, when a file cannot be written."""
        data, described = self.data_path(item), self.record_path(item)
        try:
            data.parent.mkdir(parents=True, exist_ok=True)
            described.unlink(missing_ok=True)  # of the data that is about to be replaced
        except OSError as error:
            raise cannot_write(data, error) from error
        if record.result.data is None and record.result.outcome != "complete":
            data.unlink(missing_ok=True)
            return  # nothing at all could be read: no result, so the next run tries again
        write_whole(data, as_json(record.result.data))
        write_whole(described, as_json(record.described(described.parent)))
        self._latest = None

    def keep(self, item: Input, record: Record) -> None:
        """An earlier result that still holds: it is there already."""

    def fail(self, item: Input, message: str, *, outdated: bool) -> None:
        """outdated: the earlier result is of another file or other settings, and would be taken for the new one."""
        if outdated:
            try:
                self.record_path(item).unlink(missing_ok=True)
                self.data_path(item).unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"{self.data_path(item)}: cannot be removed: {error.strerror}.") from error

    def close(self) -> None:
        """Nothing is left to do: each file is written when its document is done."""

    def _path(self, name: PurePosixPath, suffix: str) -> Path:
        return self.folder / name.with_name(name.name + suffix)

    def _record(self, name: PurePosixPath) -> Record | None:
        if self._latest is None or self._latest[0] != name:
            self._latest = name, _read(self._path(name, RECORD_SUFFIX))
        return self._latest[1]

    def _belongs_to_another(self, name: PurePosixPath, item: Input) -> bool:
        record = self._record(name)
        if record is None:
            return os.path.realpath(self._path(name, DATA_SUFFIX)) in self._inputs
        # The results of an input that has gone, or was moved, are free to be taken over.
        return record.path.exists() and not _is_same_file(record.path, item.path)


def _read(path: Path) -> Record | None:
    """The record without its data, which no one needs again; None where there is none that can be used."""
    try:
        described: Any = json.loads(path.read_text(encoding="utf-8"))
        return Record.read(described, None, path.parent)
    except (OSError, ValueError, RecursionError):
        return None


def _is_same_file(left: Path, right: Path) -> bool:
    try:
        return os.path.samefile(left, right)
    except (OSError, ValueError):
        return os.path.abspath(left) == os.path.abspath(right)
