"""Who generates when, by hand-written requests and an engine that only keeps a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from forklift.engines.base import Request, Statistics, Token
from forklift.results import Outcome
from forklift.serving.scheduler import Capacity, DeadlineExceeded, QueueFull, Refused, Scheduler, ShuttingDown, Ticket
from forklift.serving.stepping import Advance, Run


@dataclass(eq=False)
class Told:
    """A run that reads its prompt for `prefill` steps and then says so many tokens; `fails` at that token."""

    name: str
    tokens: int = 3
    prefill: int = 0
    fails: int = -1
    said: int = 0
    closed: int = 0
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def is_prefilling(self) -> bool:
        return self.prefill > 0

    def close(self) -> None:
        self.closed += 1


class TellingEngine:
    """steps: who took part in each step, in order."""

    name = "telling"

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.breaks = False

    def start(self, request: Request, statistics: Statistics | None = None) -> Run:
        raise NotImplementedError

    def step(self, runs: Sequence[Run]) -> list[Advance]:
        self.steps.append(" ".join(run.name for run in runs if isinstance(run, Told)))
        if self.breaks:
            raise MemoryError("no more")
        return [self._advance(run) for run in runs if isinstance(run, Told)]

    def close(self) -> None: ...

    @staticmethod
    def _advance(run: Told) -> Advance:
        if run.prefill:
            run.prefill -= 1
            return []
        if run.said == run.fails:
            return ValueError(f"{run.name} failed")
        run.said += 1
        return [Token(run.said, run.name.encode(), outcome=Outcome.COMPLETE if run.said == run.tokens else None)]


class Asked:
    """A request at the scheduler, and all that it heard."""

    def __init__(self, scheduler: Scheduler, run: Told) -> None:
        self.run = run
        self.heard: list[Token] = []
        self.errors: list[Exception] = []
        self.granted = 0
        self.scheduler = scheduler
        self.ticket: Ticket = scheduler.ticket(self._grant, self.errors.append)

    def begin(self) -> Asked:
        assert self.granted == 1
        self.ticket.run(self.run, self._listen)
        return self

    def _grant(self) -> None:
        self.granted += 1

    def _listen(self, news: Sequence[Token] | Exception) -> None:
        if isinstance(news, Exception):
            self.errors.append(news)
        else:
            self.heard += news

    @property
    def is_answered(self) -> bool:
        ends = sum(token.outcome is not None for token in self.heard) + len(self.errors)
        assert ends <= 1
        return ends == 1


@pytest.fixture
def engine() -> TellingEngine:
    return TellingEngine()


def scheduler_of(engine: TellingEngine, concurrency: int = 4, queue: int = 2, seconds: float = 60.0) -> Scheduler:
    return Scheduler(engine, Capacity(concurrency, queue, seconds))


def run_out(scheduler: Scheduler) -> None:
    for _ in range(200):
        if not scheduler.step():
            return
    pytest.fail("it never came to an end")


def test_all_that_decode_take_part_in_each_step(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine)
    asked = [Asked(scheduler, Told(name, tokens)).begin() for name, tokens in (("a", 1), ("b", 3), ("c", 2))]
    run_out(scheduler)
    assert engine.steps == ["a b c", "b c", "b"]
    assert [len(one.heard) for one in asked] == [1, 3, 2]
    assert all(one.is_answered and one.run.closed == 1 for one in asked)
    assert scheduler.running == scheduler.waiting == 0


def test_one_that_comes_later_joins_at_the_next_step(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine)
    Asked(scheduler, Told("a")).begin()
    scheduler.step()
    Asked(scheduler, Told("b")).begin()
    run_out(scheduler)
    assert engine.steps == ["a", "a b", "a b", "b"]


def test_prompts_are_read_one_piece_a_step_and_take_turns(engine: TellingEngine) -> None:
    """Those that decode never wait for more than one piece of somebody's prompt."""
    scheduler = scheduler_of(engine)
    Asked(scheduler, Told("a", tokens=6)).begin()
    Asked(scheduler, Told("long", tokens=1, prefill=4)).begin()
    Asked(scheduler, Told("short", tokens=1, prefill=1)).begin()
    run_out(scheduler)
    assert all(step.startswith("a") for step in engine.steps[:6])
    assert all(len(step.split()) <= 3 for step in engine.steps)
    first = next(index for index, step in enumerate(engine.steps) if "short" in step)
    assert first <= 1  # not behind all of the long prompt
    assert sum("long" in step for step in engine.steps) == 5
    assert sum("short" in step for step in engine.steps) == 2


def test_whoever_comes_first_is_granted_first_and_waiting_costs_nothing(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine, concurrency=1, queue=2)
    first, second, third = (Asked(scheduler, Told(name, 1)) for name in "abc")
    assert [one.granted for one in (first, second, third)] == [1, 0, 0]
    assert (scheduler.running, scheduler.waiting) == (1, 2)
    first.begin()
    scheduler.step()
    assert [one.granted for one in (first, second, third)] == [1, 1, 0]
    second.begin()
    scheduler.step()
    third.begin()
    run_out(scheduler)
    assert engine.steps == ["a", "b", "c"]


def test_a_full_queue_refuses_and_says_when_to_come_back(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine, concurrency=1, queue=1)
    running, waiting = Asked(scheduler, Told("a")).begin(), Asked(scheduler, Told("b"))
    with pytest.raises(QueueFull, match="1 requests are waiting already") as refused:
        Asked(scheduler, Told("c"))
    assert 1 <= refused.value.retry_after_seconds <= 60
    run_out(scheduler)
    assert running.is_answered
    assert waiting.granted == 1
    Asked(scheduler, Told("d"))  # there is room again


def test_with_no_queue_only_those_that_run_are_taken(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine, concurrency=2, queue=0)
    for name in "ab":
        Asked(scheduler, Told(name)).begin()
    with pytest.raises(QueueFull):
        Asked(scheduler, Told("c"))


def test_a_failure_is_told_to_its_own_request_only(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine)
    good, bad, other = (
        Asked(scheduler, Told(name, 3, fails=at)).begin() for name, at in (("a", -1), ("b", 1), ("c", -1))
    )
    run_out(scheduler)
    assert [str(error) for error in bad.errors] == ["b failed"]
    assert len(bad.heard) == 1
    assert [len(one.heard) for one in (good, other)] == [3, 3]
    assert all(one.is_answered and one.run.closed == 1 for one in (good, bad, other))


def test_when_a_whole_step_fails_each_is_told_and_the_server_goes_on(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine)
    asked = [Asked(scheduler, Told(name)).begin() for name in "ab"]
    engine.breaks = True
    scheduler.step()
    assert [[type(error) for error in one.errors] for one in asked] == [[MemoryError], [MemoryError]]
    engine.breaks = False
    later = Asked(scheduler, Told("c")).begin()
    run_out(scheduler)
    assert len(later.heard) == 3


def test_a_listener_that_fails_harms_nobody(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine)
    deaf = Asked(scheduler, Told("a"))

    def raising(news: Sequence[Token] | Exception) -> None:
        raise RuntimeError("event loop is closed")

    deaf.ticket.run(deaf.run, raising)
    good = Asked(scheduler, Told("b")).begin()
    run_out(scheduler)
    assert len(good.heard) == 3


@pytest.mark.parametrize("after", [0, 1, 2])
def test_whoever_gives_up_takes_part_no_more_and_hears_nothing(engine: TellingEngine, after: int) -> None:
    scheduler = scheduler_of(engine)
    quitter, other = Asked(scheduler, Told("a")).begin(), Asked(scheduler, Told("b")).begin()
    for _ in range(after):
        scheduler.step()
    quitter.ticket.release()
    quitter.ticket.release()
    run_out(scheduler)
    assert engine.steps == ["a b"] * after + ["b"] * (3 - after)
    assert len(quitter.heard) == after
    assert quitter.errors == []
    assert quitter.run.closed == 1
    assert len(other.heard) == 3
    assert scheduler.running == 0


def test_giving_up_in_the_queue_or_while_preparing_frees_the_place(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine, concurrency=1, queue=2)
    preparing, waiting, last = (Asked(scheduler, Told(name, 1)) for name in "abc")
    waiting.ticket.release()
    assert (scheduler.running, scheduler.waiting) == (1, 1)
    preparing.ticket.release()
    assert last.granted == 1
    preparing.ticket.run(preparing.run, preparing._listen)  # its pages were ready too late
    assert preparing.run.closed == 1
    last.begin()
    run_out(scheduler)
    assert engine.steps == ["c"]


def test_the_deadline_ends_those_that_run_and_those_that_wait(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine, concurrency=1, queue=1, seconds=0.05)
    running, waiting = Asked(scheduler, Told("a", tokens=1000)).begin(), Asked(scheduler, Told("b"))
    scheduler.step()
    time.sleep(0.06)
    scheduler.step()
    assert [type(error) for error in running.errors] == [DeadlineExceeded]
    assert "0.05 s" in str(running.errors[0])
    assert running.run.closed == 1
    assert waiting.granted == 0
    assert [type(error) for error in waiting.errors] == [DeadlineExceeded]
    assert scheduler.running == scheduler.waiting == 0


def test_draining_finishes_what_runs_and_refuses_the_rest(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine, concurrency=1, queue=1)
    running, waiting = Asked(scheduler, Told("a")).begin(), Asked(scheduler, Told("b"))
    scheduler.step()
    scheduler.drain()
    with pytest.raises(ShuttingDown):
        Asked(scheduler, Told("c"))
    run_out(scheduler)
    assert len(running.heard) == 3
    assert waiting.granted == 0
    assert [type(error) for error in waiting.errors] == [ShuttingDown]


def test_everybody_is_answered_once_by_a_scheduler_in_its_thread(engine: TellingEngine) -> None:
    """Many threads ask, some give up, some fail, some are refused and come back."""
    scheduler = scheduler_of(engine, concurrency=4, queue=8)
    scheduler.start()
    done: list[str] = []

    def ask(number: int) -> None:
        ended = threading.Event()
        run = Told(str(number), tokens=1 + number % 5, prefill=number % 3, fails=1 if number % 7 == 0 else -1)
        granted = threading.Event()
        while True:
            try:
                ticket = scheduler.ticket(granted.set, lambda error: ended.set())
                break
            except Refused:
                time.sleep(0.002)
        assert granted.wait(10)

        def listen(news: Sequence[Token] | Exception) -> None:
            if isinstance(news, Exception):
                done.append("failed")
                ended.set()
            elif news[-1].outcome is not None:
                done.append("complete")
                ended.set()

        ticket.run(run, listen)
        if number % 11 == 0:
            ticket.release()
            done.append("gave up")
        else:
            assert ended.wait(10)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 67)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done.count("gave up") == 6
    assert len(done) >= 66  # whoever gave up may have been answered just before
    assert done.count("failed") >= 7
    scheduler.stop()
    assert not scheduler.is_alive
    assert scheduler.running == scheduler.waiting == 0


def test_stopping_tells_whoever_is_left(engine: TellingEngine) -> None:
    scheduler = scheduler_of(engine)
    asked = Asked(scheduler, Told("a")).begin()
    scheduler.stop()
    assert [type(error) for error in asked.errors] == [ShuttingDown]
    assert asked.run.closed == 1
