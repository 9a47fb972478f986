"""A table that is streamed, or a table in a file whose documents are kept one by one beside it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from forklift.errors import UsageError
from forklift.inputs import Input
from forklift.outputs.files import as_json, cannot_write, whole_file
from forklift.outputs.record import Record
from forklift.outputs.table import TableFormat

JOURNAL_SUFFIX = ".meta.jsonl"


class StreamedTable:
    """Writes each document's rows as soon as it is done; knows no earlier runs."""

    def __init__(self, table: TableFormat, write: Callable[[bytes], None]) -> None:
        self._table = table
        self._write = write
        self._begun = False

    def earlier(self, item: Input) -> Record | None:
        return None

    def write(self, item: Input, record: Record) -> None:
        self._begin()
        self._write(self._table.rows(str(item.path), record))

    def keep(self, item: Input, record: Record) -> None:
        self.write(item, record)

    def fail(self, item: Input, message: str, *, outdated: bool) -> None:
        self._begin()
        self._write(self._table.failed(str(item.path), message))

    def close(self) -> None:
        """A table without any document still has its head."""
        self._begin()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._write(self._table.head())


class TableFile:
    """A table at `path`, and the whole record of each document, data included, in `path`.meta.jsonl.

    Records are appended as documents are done; the table is written from them when the run ends, whole or not at
    all, with one part for each input of this run, in their order. So an interrupted run loses nothing, and the
    next one goes on. Memory grows by a few words a document.
    Raises UsageError when there is no such folder, or `path` is one; OutputError when the records cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], table: TableFormat) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise UsageError(f"--out {self.path}: is a folder; a table is one file, such as {self.path / 'table.csv'}.")
        if not self.path.absolute().parent.is_dir():
            raise UsageError(f"--out {self.path}: there is no folder {self.path.parent}; make it first.")
        self._table = table
        self.journal_path = self.path.with_name(self.path.name + JOURNAL_SUFFIX)
        self._rows: list[tuple[Input, str | None]] = []  # with the message of a failure
        self._places: dict[str, tuple[int, int]] = {}  # by input: first byte and length of its line
        self._outdated = 0  # lines that later ones replace
        try:
            self._journal: IO[bytes] = open(self.journal_path, "a+b")  # noqa: SIM115 - open until `close`
            self._index()
        except OSError as error:
            raise cannot_write(self.journal_path, error) from error
        except UsageError:
            self._journal.close()
            raise

    def earlier(self, item: Input) -> Record | None:
        place = self._places.get(os.path.realpath(item.path))
        return None if place is None else self._read(place)

    def write(self, item: Input, record: Record) -> None:
        """Raises OutputError, or DiskFullError, when the record cannot be appended; what stood before stays."""
        key = os.path.realpath(item.path)
        line = as_json({**record.described(self._folder), "data": record.result.data}, indent=None)
        self._journal.seek(0, os.SEEK_END)
        start = self._journal.tell()
        try:
            self._journal.write(line)
            self._journal.flush()
        except OSError as error:
            self._cut(start)
            raise cannot_write(self.journal_path, error) from error
        self._outdated += key in self._places
        self._places[key] = (start, len(line))
        self._rows.append((item, None))

    def keep(self, item: Input, record: Record) -> None:
        self._rows.append((item, None))

    def fail(self, item: Input, message: str, *, outdated: bool) -> None:
        self._rows.append((item, message))
        if outdated:  # a later run must not take it up
            self._outdated += self._places.pop(os.path.realpath(item.path), None) is not None

    def close(self) -> None:
        """Write the table. Raises OutputError when it cannot be written; the records stay."""
        try:
            with whole_file(self.path) as file:
                file.write(self._table.head())
                for item, message in self._rows:
                    if message is not None:
                        file.write(self._table.failed(str(item.path), message))
                        continue
                    record = self._read(self._places[os.path.realpath(item.path)])
                    assert record is not None  # it was written or read by this run
                    file.write(self._table.rows(str(item.path), record))
            if self._outdated:
                self._compact()
        finally:
            self._journal.close()

    @property
    def _folder(self) -> Path:
        return self.path.absolute().parent

    def _index(self) -> None:
        self._journal.seek(0)
        start = 0
        for line in self._journal:
            if not line.endswith(b"\n"):
                self._cut(start)  # the last write was interrupted
                break
            try:
                path = json.loads(line)["input"]["path"]
                key = os.path.realpath(os.path.normpath(self._folder / path))
            except (ValueError, KeyError, TypeError, RecursionError):
                raise UsageError(
                    f"{self.journal_path}: is not what Forklift keeps beside a table; move it away, or choose "
                    "another --out."
                ) from None
            self._outdated += key in self._places
            self._places[key] = (start, len(line))
            start += len(line)

    def _read(self, place: tuple[int, int]) -> Record | None:
        self._journal.seek(place[0])
        try:
            described: Any = json.loads(self._journal.read(place[1]))
            return Record.read(described, described["data"], self._folder)
        except (ValueError, KeyError, RecursionError):
            return None  # of another version

    def _compact(self) -> None:
        with whole_file(self.journal_path) as file:
            for start, length in sorted(self._places.values()):
                self._journal.seek(start)
                file.write(self._journal.read(length))
            self._journal.close()  # before it is replaced, for Windows

    def _cut(self, length: int) -> None:
        """Take back what was written of a line. A failed flush leaves the rest in the buffer, so reopen."""
        with contextlib.suppress(OSError):
            self._journal.close()
        os.truncate(self.journal_path, length)
        self._journal = open(self.journal_path, "a+b")  # noqa: SIM115
