"""Data on stdout."""

from __future__ import annotations

import os
import sys

from forklift.errors import DiskFullError


def write_stdout(content: bytes) -> None:
    """Raises DiskFullError when stdout takes nothing more, such as a file on a full disk.

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
        raise DiskFullError(f"stdout: cannot be written: {error.strerror}.") from None
