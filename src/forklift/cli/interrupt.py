"""Ctrl-C that works within a second, whatever the model is doing.

A signal handler of Python runs between two bytecodes of the main thread, which a long matrix product or the
import of torch can hold up for many seconds. So the work runs in another thread, and the main thread only
waits.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

INTERRUPTED = 130  # what a shell reports for a process that Ctrl-C ended
GRACE_SECONDS = 0.6  # for the engine to notice; then the process goes

T = TypeVar("T")


class Interrupted(Exception):
    """The user pressed Ctrl-C, and the work has stopped cleanly."""


def run_interruptible(
    work: Callable[[threading.Event], T],
    clean_up: Callable[[], None],
    last_words: Callable[[], str] = lambda: "interrupted",
) -> T:
    """Run `work` in a thread; the first Ctrl-C sets the event that it is given, a second one ends the
    process.

    Work that has not stopped GRACE_SECONDS after the first ends with the process too. clean_up: called before
    the process is ended in these ways; it has to be quick and safe beside the running work.
    last_words: the message that an interrupted command ends with.
    Returns what `work` returns and raises what it raises; raises Interrupted, with the last words, when it stopped
    after Ctrl-C.
    """
    cancel, done = threading.Event(), threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(cancel))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            _end_process(clean_up, last_words)
        cancel.set()

    handles_signals = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGINT, on_interrupt) if handles_signals else None
    try:
        threading.Thread(target=run, name="forklift-work", daemon=True).start()
        while not done.wait(0.1):  # wakes for signals everywhere, on Windows too
            if cancel.is_set() and not done.wait(GRACE_SECONDS):
                _end_process(clean_up, last_words)
    finally:
        if handles_signals:
            signal.signal(signal.SIGINT, previous)
    if cancel.is_set():
        raise Interrupted(last_words())
    if errors:
        raise errors[0]
    return results[0]


def _end_process(clean_up: Callable[[], None], last_words: Callable[[], str]) -> None:
    # Not sys.exit: the working thread would go on through the interpreter's end.
    try:
        clean_up()
        sys.stderr.write(f"forklift: {last_words()}\n")
        sys.stderr.flush()
    finally:
        os._exit(INTERRUPTED)
