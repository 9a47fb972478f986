"""What is kept about a document beside its data: the content of <name>.meta.json."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from forklift import __version__
from forklift.outputs.settings import Settings
from forklift.results import Box, Citation, Field, Outcome, Result, Timings

RECORD_VERSION = 1  # of the shape of `Record.described`; docs/batch.md describes it

T = TypeVar("T")


@dataclass(frozen=True)
class Record:
    """One document's result, with what it was made from.

    path: of the input. size: in bytes. modified_ns, sha256: of its content when it was read.
    settings: `Settings.described`. finished: UTC, ISO 8601. seconds: wall-clock, opening to result.
    """

    path: Path
    size: int
    modified_ns: int
    sha256: str
    settings: Mapping[str, Any]
    result: Result
    seconds: float
    finished: str
    version: str = __version__

    @classmethod
    def of(cls, path: Path, result: Result, settings: Settings, *, state: FileState, seconds: float) -> Self:
        """The record of an extraction that has just ended; `state` is the input's from before."""
        return cls(
            path=path,
            size=state.size,
            modified_ns=state.modified_ns,
            sha256=state.sha256,
            settings=settings.described,
            result=result,
            seconds=seconds,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def described(self, folder: Path | None = None) -> dict[str, Any]:
        """As JSON, without the data. folder: where it will lie; the input's path is written relative to it."""
        result = dataclasses.asdict(self.result)
        return {
            "record_version": RECORD_VERSION,
            "forklift": self.version,
            "input": {
                "path": _relative(self.path, folder),
                "bytes": self.size,
                "modified_ns": self.modified_ns,
                "sha256": self.sha256,
            },
            "settings": dict(self.settings),
            "finished": self.finished,
            "seconds": round(self.seconds, 4),
            "outcome": self.result.outcome.value,
            **{key: result[key] for key in ("model", "pages", "missing", "problems", "warnings", "timings", "fields")},
            # What later versions of a result add is written too.
            **{key: value for key, value in result.items() if key not in ("data", "outcome")},
        }

    @classmethod
    def read(cls, described: Any, data: Any, folder: Path) -> Self:
        """The inverse of `described`; raises ValueError for what is no record of this version."""
        try:
            if described["record_version"] != RECORD_VERSION:
                raise ValueError(f"a record of version {described['record_version']}")
            source = described["input"]
            given = {key: tuple(described[key]) for key in ("missing", "problems", "warnings", "pages")}
            result = Result(
                data=data,
                outcome=Outcome(described["outcome"]),
                fields=tuple(_field(one) for one in described["fields"]),
                model=described["model"],
                timings=_known(Timings, described["timings"]),
                **given,
            )
            return cls(
                path=Path(os.path.normpath(folder / source["path"])),
                size=int(source["bytes"]),
                modified_ns=int(source["modified_ns"]),
                sha256=str(source["sha256"]),
                settings=dict(described["settings"]),
                result=result,
                seconds=float(described["seconds"]),
                finished=str(described["finished"]),
                version=str(described["forklift"]),
            )
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"not a record: {error!r}") from error

    def changes(self, path: Path, settings: Settings) -> tuple[str, ...]:
        """In words, what has changed since: the file at `path` or the settings; empty when the record holds.

        A file of the same size and time is taken to be the same, as rsync does; else its content decides.
        Raises OSError when the file cannot be read.
        """
        status = path.stat()
        same = status.st_size == self.size and (
            status.st_mtime_ns == self.modified_ns or FileState.of(path).sha256 == self.sha256
        )
        settings_changes = settings.changes_since(self.settings, truncated=self.result.outcome is not Outcome.COMPLETE)
        return settings_changes if same else ("the file", *settings_changes)


@dataclass(frozen=True)
class FileState:
    """Size in bytes, time of the last change and digest of a file's content."""

    size: int
    modified_ns: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())  # before the content: a change while it is read is then seen later
            return cls(status.st_size, status.st_mtime_ns, hashlib.file_digest(file, "sha256").hexdigest())


def _field(described: Mapping[str, Any]) -> Field:
    return _known(Field, {**described, "citations": tuple(_citation(one) for one in described["citations"])})


def _citation(described: Mapping[str, Any]) -> Citation:
    boxes = {key: _known(Box, described[key]) for key in ("box", "relative")}
    return _known(Citation, {**described, **boxes})


def _known(kind: type[T], values: Mapping[str, Any]) -> T:
    """`kind` from a mapping that a later version may have written more into."""
    names = {one.name for one in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values.items() if name in names})


def _relative(path: Path, folder: Path | None) -> str:
    if folder is None:
        return path.as_posix()
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(os.path.abspath(path)).as_posix()
