"""Extracts the documents of a dataset with a model: several at once, resumable, and no failure stops the rest."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from forklift.errors import ForkliftError, ModelError, OutputError
from forklift.evaluate.answers import Answer, AnswerStore, answer_of
from forklift.evaluate.datasets import Example
from forklift.results import Outcome

if TYPE_CHECKING:
    from forklift.extract import Extractor


class Progress:
    """What a run tells whoever watches it; this one says nothing. Called from several threads, one at a time."""

    def started(self, example: Example) -> None:
        pass

    def token(self) -> None:
        pass

    def finished(self, example: Example, answer: Answer) -> None:
        pass


def extract_all(
    examples: Sequence[Example],
    open_extractor: Callable[[], Extractor],
    *,
    store: AnswerStore | None = None,
    workers: int = 1,
    max_new_tokens: int = 8192,
    text_layer: bool = True,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> dict[str, Answer]:
    """An answer for each example, by id; after `cancel`, only for those that were finished.

    open_extractor: called once for each worker. store: where answers are looked up first, and kept.
    Raises ModelError and OutputError, which would meet every document; what befalls one is an Answer with an error.
    """
    run = _Run(open_extractor, store, max_new_tokens, text_layer, progress or Progress(), cancel or threading.Event())
    for example in examples:
        kept = store.load(example) if store is not None else None
        if kept is not None:
            run.finish(example, kept)
        else:
            run.waiting.put(example)
    threads = [
        threading.Thread(target=run.work, name=f"forklift-eval-{number}", daemon=True)
        for number in range(min(workers, run.waiting.qsize()))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if run.fault is not None:
        raise run.fault
    return run.answers


class _Run:
    def __init__(
        self,
        open_extractor: Callable[[], Extractor],
        store: AnswerStore | None,
        max_new_tokens: int,
        text_layer: bool,
        progress: Progress,
        cancel: threading.Event,
    ) -> None:
        self.waiting: queue.SimpleQueue[Example] = queue.SimpleQueue()
        self.answers: dict[str, Answer] = {}
        self.fault: BaseException | None = None  # what meets every document
        self._open_extractor = open_extractor
        self._store = store
        self._max_new_tokens = max_new_tokens
        self._text_layer = text_layer
        self._progress = progress
        self._cancel = cancel
        self._lock = threading.Lock()

    def work(self) -> None:
        try:
            with ExitStack() as opened:
                extractor: Extractor | None = None
                while not self._cancel.is_set() and self.fault is None:
                    try:
                        example = self.waiting.get_nowait()
                    except queue.Empty:
                        return
                    with self._lock:
                        self._progress.started(example)
                    if example.document is None:
                        self.finish(example, Answer(error="the dataset holds no document for this gold answer"))
                        continue
                    if extractor is None:
                        extractor = opened.enter_context(self._open_extractor())
                    self._extract(example, extractor)
        except BaseException as error:  # reported by the thread that waits
            self.fault = self.fault or error

    def _extract(self, example: Example, extractor: Extractor) -> None:
        assert example.document is not None
        result, error = None, None
        try:
            result = extractor.extract(
                example.document,
                example.schema,
                max_new_tokens=self._max_new_tokens,
                text_layer=self._text_layer,
                on_token=self._count,
                cancel=self._cancel,
            )
        except (ModelError, OutputError):
            raise
        except ForkliftError as problem:
            error = str(problem)
        except Exception as problem:  # a fault of ours costs one document, and is listed
            error = f"unexpected {type(problem).__name__}: {problem}"
        if result is not None and result.outcome is Outcome.CANCELLED:
            return
        if self._store is not None:
            self._store.save(example, result, error)
        self.finish(example, answer_of(result) if result is not None else Answer(error=error))

    def _count(self, token: Any) -> None:
        with self._lock:
            self._progress.token()

    def finish(self, example: Example, answer: Answer) -> None:
        with self._lock:
            self.answers[example.id] = answer
            self._progress.finished(example, answer)
