"""A request's place in the scheduler, as the event loop sees it; and as the pipeline's thread sees it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from forklift.engines.base import Request, Statistics, Token
from forklift.serving.failures import ClientGone
from forklift.serving.scheduler import Scheduler, Ticket
from forklift.serving.stepping import SteppedEngine

T = TypeVar("T")
News = Sequence[Token] | Exception

_LOOK_UP_SECONDS = 0.2  # how soon the pipeline's thread notices that it was cancelled


class Connection:
    """Whoever asked: watches whether they hang up. A context manager inside the event loop.

    receive: of ASGI, its body read already.
    """

    def __init__(self, receive: Callable[[], Awaitable[Any]]) -> None:
        self._receive = receive
        self._gone: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Connection:
        self._gone = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._gone is not None:
            self._gone.cancel()
            with suppress(asyncio.CancelledError):
                await self._gone

    @property
    def is_gone(self) -> bool:
        return self._gone is not None and self._gone.done()

    async def unless_gone(self, awaited: Awaitable[T]) -> T:
        """What is awaited; raises ClientGone as soon as there is nobody to tell it to."""
        assert self._gone is not None
        work = asyncio.ensure_future(awaited)
        try:
            await asyncio.wait((work, self._gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not work.done():
                work.cancel()
        if self._gone.done() and not (work.done() and not work.cancelled()):
            raise ClientGone
        return work.result()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


class Generation:
    """A place in the queue, and then tokens; give it back with `release`. Made inside the event loop.

    Raises QueueFull or ShuttingDown.
    """

    def __init__(self, scheduler: Scheduler, connection: Connection) -> None:
        self._loop = asyncio.get_running_loop()
        self._connection = connection
        self._granted = asyncio.Event()
        self._news: asyncio.Queue[News] = asyncio.Queue()
        self.ticket = scheduler.ticket(lambda: self._post(self._granted.set), self._hear)

    async def granted(self) -> None:
        """Wait for the turn. Raises ShuttingDown, DeadlineExceeded or ClientGone."""
        turn = asyncio.ensure_future(self._granted.wait())
        news = asyncio.ensure_future(self._news.get())
        try:
            await self._connection.unless_gone(asyncio.wait((turn, news), return_when=asyncio.FIRST_COMPLETED))
            if news.done() and isinstance(news.result(), Exception):
                raise news.result()  # type: ignore[misc]
        finally:
            turn.cancel()
            news.cancel()

    def hear(self, news: News) -> None:
        """The listener of `ticket.run`: from any thread."""
        self._hear(news)

    async def tokens(self) -> AsyncGenerator[Sequence[Token], None]:
        """Tokens as they come, several at once, up to the one with the outcome. Raises what ended the generation."""
        while True:
            news = await self._connection.unless_gone(self._news.get())
            if isinstance(news, Exception):
                raise news
            yield news
            if news[-1].outcome is not None:
                return

    def release(self) -> None:
        self.ticket.release()

    def _hear(self, news: News) -> None:
        self._post(lambda: self._news.put_nowait(news))

    def _post(self, call: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the event loop has ended, and whoever listened with it
            self._loop.call_soon_threadsafe(call)


class PlacedEngine:
    """An `Engine` for one request that has its place: the pipeline runs on it in a thread as on any other."""

    def __init__(self, engine: SteppedEngine, ticket: Ticket) -> None:
        self.name = engine.name
        self._engine = engine
        self._ticket = ticket

    def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]:
        """The tokens; none more once `request.cancel` is set."""
        run = self._engine.start(request, statistics)
        heard: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._ticket.run(run, heard.put)
        return self._tokens(heard, request.cancel)

    @staticmethod
    def _tokens(heard: queue.SimpleQueue[News], cancel: threading.Event | None) -> Iterator[Token]:
        while cancel is None or not cancel.is_set():
            try:
                news = heard.get(timeout=_LOOK_UP_SECONDS)
            except queue.Empty:
                continue
            if isinstance(news, Exception):
                raise news
            yield from news
            if news[-1].outcome is not None:
                return

    def close(self) -> None:
        """Nothing: the engine is the server's."""
