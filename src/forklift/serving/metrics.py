"""Counts and durations in the text format that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable

Labels = tuple[tuple[str, str], ...]

# Seconds; a page on a laptop takes a tenth of a second, sixty pages of a large model many minutes.
SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Counter:
    """A number that only grows, for each combination of labels."""

    kind = "counter"

    def __init__(self, name: str, help_text: str) -> None:
        self.name = name
        self.help_text = help_text
        self._values: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def add(self, amount: float = 1, **labels: str) -> None:
        key = tuple(sorted(labels.items()))
        with self._lock:
            self._values[key] = self._values.get(key, 0.0) + amount

    def value(self, **labels: str) -> float:
        return self._values.get(tuple(sorted(labels.items())), 0.0)

    def lines(self) -> list[str]:
        with self._lock:
            values = sorted(self._values.items())
        return [f"{self.name}{_braces(labels)} {value:.15g}" for labels, value in values or [((), 0.0)]]


class Gauge:
    """A number that is read when it is asked for."""

    kind = "gauge"

    def __init__(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        self.name = name
        self.help_text = help_text
        self._read = read

    def lines(self) -> list[str]:
        return [f"{self.name} {self._read():.15g}"]


class Histogram:
    """How many observations were at most so large. buckets: upper bounds, rising."""

    kind = "histogram"

    def __init__(self, name: str, help_text: str, buckets: tuple[float, ...] = SECONDS) -> None:
        self.name = name
        self.help_text = help_text
        self._bounds = buckets
        self._counts = [0] * (len(buckets) + 1)
        self._sum = 0.0
        self._lock = threading.Lock()

    def observe(self, value: float) -> None:
        with self._lock:
            self._counts[bisect_left(self._bounds, value)] += 1
            self._sum += value

    def lines(self) -> list[str]:
        with self._lock:
            counts, total = list(self._counts), self._sum
        lines, below = [], 0
        for bound, count in zip((*(f"{bound:g}" for bound in self._bounds), "+Inf"), counts, strict=True):
            below += count
            lines.append(f'{self.name}_bucket{{le="{bound}"}} {below}')
        return [*lines, f"{self.name}_sum {total:.15g}", f"{self.name}_count {below}"]


class Metrics:
    """What a server counts. waiting, running: read from its scheduler. Labels hold no content of a request."""

    def __init__(self, waiting: Callable[[], float], running: Callable[[], float]) -> None:
        self.requests = Counter("forklift_requests_total", "Requests answered, by path and status.")
        self.outcomes = Counter("forklift_generations_total", "Generations that ended, by outcome.")
        self.prompt_tokens = Counter("forklift_prompt_tokens_total", "Tokens of prompts, page images included.")
        self.answer_tokens = Counter("forklift_answer_tokens_total", "Tokens of answers.")
        self.forced_tokens = Counter("forklift_forced_tokens_total", "Answer tokens that the schema forced.")
        self.passes = Counter("forklift_forward_passes_total", "Passes that generations took part in.")
        self.pages = Counter("forklift_pages_total", "Pages that were read.")
        self.first_token = Histogram(
            "forklift_time_to_first_token_seconds", "From a request's arrival, queue included."
        )
        self.duration = Histogram("forklift_generation_seconds", "From a request's arrival to its last token.")
        self._all = (
            *(self.requests, self.outcomes, self.prompt_tokens, self.answer_tokens, self.forced_tokens),
            *(self.passes, self.pages, self.first_token, self.duration),
            Gauge("forklift_requests_waiting", "Requests in the queue.", waiting),
            Gauge("forklift_requests_running", "Requests that are prepared or generate.", running),
        )

    def text(self) -> str:
        """Everything, in the text format 0.0.4."""
        lines = []
        for metric in self._all:
            lines += [f"# HELP {metric.name} {metric.help_text}", f"# TYPE {metric.name} {metric.kind}"]
            lines += metric.lines()
        return "\n".join(lines) + "\n"


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
