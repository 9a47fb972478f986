"""A single document's data on stdout."""

from __future__ import annotations

from collections.abc import Callable

from forklift.cli.output import write_stdout
from forklift.inputs import Input
from forklift.outputs.files import as_json
from forklift.outputs.record import Record
from forklift.results import Outcome


class PrintedJson:
    """Prints the data of a document, or with `details` its whole record; keeps nothing.

    before: called when data is about to be printed, to clear the terminal's line.
    """

    def __init__(self, *, details: bool, before: Callable[[], None]) -> None:
        self._details = details
        self._before = before

    def earlier(self, item: Input) -> Record | None:
        return None

    def write(self, item: Input, record: Record) -> None:
        data = record.result.data
        if data is None and record.result.outcome is not Outcome.COMPLETE and not self._details:
            return  # there is none at all
        self._before()
        write_stdout(as_json({**record.described(), "data": data} if self._details else data))

    def keep(self, item: Input, record: Record) -> None:
        pass

    def fail(self, item: Input, message: str, *, outdated: bool) -> None:
        pass

    def close(self) -> None:
        pass
