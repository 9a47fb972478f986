"""How the scheduler sees an engine: generations that go on step by step, several of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from forklift.engines.base import Engine, Request, Statistics, Token

# What a run gave in one step: its new tokens, the last of them with the outcome once it has ended; or why it failed.
Advance = list[Token] | Exception


class Run(Protocol):
    """One generation that was started and goes on when it is stepped."""

    statistics: Statistics

    @property
    def is_prefilling(self) -> bool:
        """The prompt is not read to its end: the next step is long, and gives no token unless it is the last such."""
        ...

    def close(self) -> None:
        """Give up what the generation holds. Not while it is stepped; a second time does nothing."""
        ...


class SteppedEngine(Protocol):
    """An engine whose generations a scheduler drives."""

    name: str

    def start(self, request: Request, statistics: Statistics | None = None) -> Run:
        """Prepare a generation without a pass of the model; any thread, beside steps of others.

        Raises SchemaError or UsageError for what cannot be generated.
        """
        ...

    def step(self, runs: Sequence[Run]) -> list[Advance]:
        """Take every run one pass further; one `Advance` a run, in order. One thread at a time. Never raises for
        what is the fault of one run."""
        ...

    def close(self) -> None: ...


def stepped(engine: Engine) -> SteppedEngine:
    """The engine as a scheduler drives it: with its own batches where it has them, else token by token in turn."""
    own = getattr(engine, "stepped", None)
    return cast(SteppedEngine, own()) if own is not None else IteratedEngine(engine)


class IteratedEngine:
    """Any engine: a step takes the next token of each run, one after the other."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self._engine = engine

    def start(self, request: Request, statistics: Statistics | None = None) -> IteratedRun:
        statistics = statistics if statistics is not None else Statistics()
        return IteratedRun(self._engine.generate(request, statistics), statistics)

    def step(self, runs: Sequence[Run]) -> list[Advance]:
        return [run.next() for run in runs if isinstance(run, IteratedRun)]

    def close(self) -> None:
        self._engine.close()


class IteratedRun:
    """A generation of an engine that only iterates."""

    is_prefilling = False  # such an engine does not say

    def __init__(self, tokens: Iterator[Token], statistics: Statistics) -> None:
        self.statistics = statistics
        self._tokens = tokens

    def next(self) -> Advance:
        try:
            return [next(self._tokens)]
        except StopIteration:
            return RuntimeError("the engine stopped without saying why")
        except Exception as error:
            return error

    def close(self) -> None:
        close = getattr(self._tokens, "close", None)
        if close is not None:
            close()
