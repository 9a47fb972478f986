"""Who generates when: a bounded queue, a bounded number of generations side by side, one pass for each in turn.

A request takes a `Ticket` and waits for its turn; it then prepares its pages and prompt in a thread of its own, hands
over a `Run`, and hears its tokens. So what waits costs no memory, and what fails harms nobody else.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forklift.engines.base import Token
from forklift.errors import ForkliftError
from forklift.serving.stepping import Advance, Run, SteppedEngine

log = logging.getLogger("forklift.serving")

_IDLE_SECONDS = 0.2  # how soon a deadline or the end of the server is noticed when nothing runs


class Refused(ForkliftError):
    """The server does not take the request now. retry_after_seconds: when to ask again."""

    retry_after_seconds = 1


class QueueFull(Refused):
    def __init__(self, waiting: int, retry_after_seconds: int) -> None:
        super().__init__(f"{waiting} requests are waiting already; try again in {retry_after_seconds} s")
        self.retry_after_seconds = retry_after_seconds


class ShuttingDown(Refused):
    def __init__(self) -> None:
        super().__init__("the server is shutting down and takes no more requests")


class DeadlineExceeded(ForkliftError):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"the request was not finished within {seconds:g} s, the limit of this server")


@dataclass(frozen=True)
class Capacity:
    """concurrency: requests that are prepared or generate at once. queue: requests that wait for that, at most.
    deadline_seconds: from taking the ticket to the last token."""

    concurrency: int = 8
    queue: int = 64
    deadline_seconds: float = 600.0


class Ticket:
    """One request's place. Its listener gets `Token`s and at last an exception or a token with an outcome; once.

    first_token_seconds: from taking the ticket; None before. granted: its turn has come.
    """

    def __init__(
        self, scheduler: Scheduler, on_granted: Callable[[], None], on_end: Callable[[Exception], None]
    ) -> None:
        self._scheduler = scheduler
        self.taken = time.monotonic()
        self.deadline = self.taken + scheduler.capacity.deadline_seconds
        self.granted = False
        self.first_token_seconds: float | None = None
        self.tokens = 0
        self._on_granted = on_granted
        self._on_end = on_end
        self._listener: Callable[[Sequence[Token] | Exception], None] | None = None
        self._run: Run | None = None
        self._cancelled = threading.Event()

    def run(self, run: Run, listener: Callable[[Sequence[Token] | Exception], None]) -> None:
        """Generate. listener: called from the scheduler's thread with each step's tokens, or with the error that
        ended it; it must be quick."""
        self._scheduler._begin(self, run, listener)

    def release(self) -> None:
        """Give the place back, whatever state the request is in; a generation that runs stops before its next pass.
        The listener hears nothing more. From any thread, any number of times."""
        self._cancelled.set()
        self._scheduler._release(self)


class Scheduler:
    """Drives one engine. `step` is called by one thread, everything else by any; `start` makes such a thread."""

    def __init__(self, engine: SteppedEngine, capacity: Capacity | None = None) -> None:
        self.engine = engine
        self.capacity = capacity or Capacity()
        self.is_draining = False
        self._changed = threading.Condition()
        self._queue: deque[Ticket] = deque()
        self._places: set[Ticket] = set()  # granted: being prepared, or running
        self._running: list[Ticket] = []
        self._prefill_turn = 0
        self._seconds_per_request = 5.0  # smoothed, for Retry-After
        self._thread: threading.Thread | None = None
        self._stopped = False

    # What requests call

    def ticket(self, on_granted: Callable[[], None], on_end: Callable[[Exception], None]) -> Ticket:
        """A place in the queue. Raises QueueFull or ShuttingDown.

        on_granted: called once, perhaps before this returns, when the request may be prepared and run. on_end: called
        instead when the server shuts down or the deadline passes before; both from any thread, and quick.
        """
        ticket = Ticket(self, on_granted, on_end)
        with self._changed:
            if self.is_draining:
                raise ShuttingDown
            if len(self._places) >= self.capacity.concurrency and len(self._queue) >= self.capacity.queue:
                raise QueueFull(len(self._queue), self._retry_after())
            self._queue.append(ticket)
        self._grant()
        return ticket

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def running(self) -> int:
        """Requests that are prepared or generate."""
        return len(self._places)

    def _begin(self, ticket: Ticket, run: Run, listener: Callable[[Sequence[Token] | Exception], None]) -> None:
        with self._changed:
            if ticket not in self._places or ticket._cancelled.is_set():
                run.close()
                return
            ticket._run, ticket._listener = run, listener
            self._running.append(ticket)
            self._changed.notify_all()

    def _release(self, ticket: Ticket) -> None:
        with self._changed:
            if ticket in self._queue:
                self._queue.remove(ticket)
            elif ticket._run is None:
                self._places.discard(ticket)  # one that runs is let go by the thread that steps it
            self._changed.notify_all()
        self._grant()

    def _grant(self) -> None:
        while True:
            with self._changed:
                if self.is_draining or not self._queue or len(self._places) >= self.capacity.concurrency:
                    return
                ticket = self._queue.popleft()
                ticket.granted = True
                self._places.add(ticket)
            ticket._on_granted()

    def _retry_after(self) -> int:
        rounds = (len(self._queue) + 1) / self.capacity.concurrency
        return max(1, min(60, round(rounds * self._seconds_per_request)))

    # What drives the engine

    def step(self) -> bool:
        """One pass for every generation that decodes, and for one that still reads its prompt; these take turns.

        Returns whether there was anything to do.
        """
        self._drop_ended()
        with self._changed:
            running = list(self._running)
        prefilling = [ticket for ticket in running if ticket._run is not None and ticket._run.is_prefilling]
        chosen = [ticket for ticket in running if ticket not in prefilling]
        if prefilling:
            self._prefill_turn += 1
            chosen.append(prefilling[self._prefill_turn % len(prefilling)])
        if not chosen:
            return False
        runs = [ticket._run for ticket in chosen if ticket._run is not None]
        advances: Sequence[Advance]
        try:
            advances = self.engine.step(runs)
        except Exception as error:  # a fault of the engine as a whole: whoever took part is told
            log.exception("a step of %d generations failed", len(runs))
            advances = [error] * len(runs)
        for ticket, advance in zip(chosen, advances, strict=True):
            self._deliver(ticket, advance)
        return True

    def _deliver(self, ticket: Ticket, advance: Advance) -> None:
        ended = isinstance(advance, Exception)
        if not isinstance(advance, Exception):
            if not advance:
                return
            ticket.tokens += len(advance)
            if ticket.first_token_seconds is None:
                ticket.first_token_seconds = time.monotonic() - ticket.taken
            ended = advance[-1].outcome is not None
        if ended:
            self._finish(ticket)
        self._tell(ticket, advance)

    def _tell(self, ticket: Ticket, news: Sequence[Token] | Exception) -> None:
        if ticket._cancelled.is_set():
            return
        try:
            if ticket._listener is not None:
                ticket._listener(news)
            elif isinstance(news, Exception):
                ticket._on_end(news)
        except Exception:  # a listener whose event loop has gone must not stop the others
            log.exception("a listener failed")

    def _finish(self, ticket: Ticket) -> None:
        if ticket._run is not None:
            ticket._run.close()
        seconds = time.monotonic() - ticket.taken
        with self._changed:
            if ticket in self._running:
                self._running.remove(ticket)
            self._places.discard(ticket)
            self._seconds_per_request += 0.2 * (seconds - self._seconds_per_request)
        self._grant()

    def _drop_ended(self) -> None:
        """Let go what was cancelled, is over its time, or waits while the server shuts down."""
        now = time.monotonic()
        with self._changed:
            waiting = [ticket for ticket in self._queue if self.is_draining or now > ticket.deadline]
            for ticket in waiting:
                self._queue.remove(ticket)
            cancelled = [ticket for ticket in self._running if ticket._cancelled.is_set()]
            late = [ticket for ticket in self._running if now > ticket.deadline and ticket not in cancelled]
        for ticket in waiting:
            self._tell(ticket, ShuttingDown() if self.is_draining else self._late())
        for ticket in (*cancelled, *late):
            self._finish(ticket)
            self._tell(ticket, self._late())

    def _late(self) -> DeadlineExceeded:
        return DeadlineExceeded(self.capacity.deadline_seconds)

    # Its life

    def start(self) -> None:
        """Step in a thread of its own until `stop`."""
        self._thread = threading.Thread(target=self._loop, name="forklift-scheduler", daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Take no more requests; those that wait are told so, those that run go on. Safe in a signal handler: it
        takes no lock."""
        self.is_draining = True

    def stop(self) -> None:
        """End the thread after its current step; what still runs is dropped with ShuttingDown."""
        self.drain()
        self._stopped = True
        if self._thread is not None:
            self._thread.join()
        with self._changed:
            left = [*self._running, *self._queue]
            self._queue.clear()
        for ticket in left:
            self._finish(ticket)
            self._tell(ticket, ShuttingDown())

    @property
    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _loop(self) -> None:
        while not self._stopped:
            if not self.step():
                with self._changed:
                    if not self._running:
                        self._changed.wait(_IDLE_SECONDS)
