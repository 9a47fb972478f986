"""What all routes of one server share: the model, its scheduler, settings, metrics and threads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from forklift.serving.metrics import Metrics
from forklift.serving.scheduler import Scheduler
from forklift.serving.settings import ServerSettings
from forklift.serving.stepping import stepped

if TYPE_CHECKING:
    from forklift.engines.base import Statistics
    from forklift.extract import Extractor
    from forklift.serving.scheduler import Ticket

log = logging.getLogger("forklift.serving")

T = TypeVar("T")


class Service:
    """Start it before the first request, close it after the last. The extractor stays the caller's to close."""

    def __init__(self, extractor: Extractor, settings: ServerSettings) -> None:
        self.extractor = extractor
        self.settings = settings
        self.engine = stepped(extractor.engine)
        self.scheduler = Scheduler(self.engine, settings.capacity)
        self.metrics = Metrics(lambda: self.scheduler.waiting, lambda: self.scheduler.running)
        self.created = int(time.time())
        # They prepare pages and prompts, and run the pipeline of /v1/extract until its evidence is found.
        self._threads = ThreadPoolExecutor(2 * settings.capacity.concurrency + 4, thread_name_prefix="forklift-request")

    def start(self) -> None:
        self.scheduler.start()

    def close(self) -> None:
        self.scheduler.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    @property
    def is_ready(self) -> bool:
        return self.scheduler.is_alive and not self.scheduler.is_draining

    def in_thread(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Run what would hold up the event loop."""
        return asyncio.get_running_loop().run_in_executor(self._threads, work)

    def count(
        self, ticket: Ticket, statistics: Statistics, outcome: str, *, answer_tokens: int, forced: int, pages: int
    ) -> None:
        """One generation that has ended, in metrics and log; nothing of its content."""
        metrics = self.metrics
        seconds = time.monotonic() - ticket.taken
        metrics.outcomes.add(outcome=outcome)
        metrics.prompt_tokens.add(statistics.prompt_tokens)
        metrics.answer_tokens.add(answer_tokens)
        metrics.forced_tokens.add(forced)
        metrics.passes.add(statistics.forward_passes)
        metrics.pages.add(pages)
        metrics.duration.observe(seconds)
        if ticket.first_token_seconds is not None:
            metrics.first_token.observe(ticket.first_token_seconds)
        log.info(
            "generation outcome=%s pages=%d prompt_tokens=%d answer_tokens=%d passes=%d first_token=%s seconds=%.3f",
            outcome,
            pages,
            statistics.prompt_tokens,
            answer_tokens,
            statistics.forward_passes,
            "-" if ticket.first_token_seconds is None else f"{ticket.first_token_seconds:.3f}",
            seconds,
        )
