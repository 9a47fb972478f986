"""The pipeline, top to bottom: document and schema -> pages -> prompt -> engine -> JSON text -> result."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from forklift.documents import Document, Limits, PagePolicy
from forklift.engines.base import Engine, Request, Sampling, Statistics, Token
from forklift.errors import DecodeError, UsageError
from forklift.results import Field, Outcome, Result, Timings

if TYPE_CHECKING:
    from types import TracebackType

    from PIL import Image

    from forklift.calibration import Calibration
    from forklift.citations import PageText
    from forklift.schema import Schema

DEFAULT_MAX_NEW_TOKENS = 8192
DTYPES = ("bfloat16", "float32")


def load(model: str | os.PathLike[str] = "nano", *, dtype: str | None = None, base_url: str | None = None) -> Extractor:
    """Load a model for many documents. Use the result as a context manager, or close it.

    model: "nano" (bundled), the folder of a checkpoint, or "openai:NAME", a model behind a server (docs/remote.md).
    dtype: "bfloat16" or "float32", of weights that are not quantised and of activations; by default float32 for a
        small model, whose arithmetic is then faster on a CPU, and bfloat16 for others.
    base_url: of that server; else the environment variable FORKLIFT_BASE_URL.
    Raises UsageError for another dtype, ModelNotFoundError for an unknown name, CheckpointError for a folder
    that cannot be loaded.
    """
    from forklift.calibration import Calibration
    from forklift.checkpoint.catalog import resolve_model

    start = time.perf_counter()
    if dtype not in (None, *DTYPES):
        raise UsageError(f"dtype {dtype!r} is not known; choose {' or '.join(DTYPES)}")
    name = os.fspath(model)
    if name.startswith("openai:"):
        from forklift.engines.remote import RemoteEngine

        if dtype is not None:
            raise UsageError("dtype is for a model on this machine; the server chooses its own")
        return Extractor(RemoteEngine.connect(name, base_url), load_seconds=time.perf_counter() - start)
    if base_url is not None:
        raise UsageError(f'base_url is for a model behind a server; write "openai:{name}" if you mean one')
    folder = resolve_model(name)
    # torch takes a second to import: only once the name is known to be good
    import torch

    from forklift.engines.local import LocalEngine

    engine = LocalEngine(folder, None if dtype is None else getattr(torch, dtype))
    return Extractor(
        engine,
        engine.prompter.page_policy,
        calibration=Calibration.of_checkpoint(folder),
        load_seconds=time.perf_counter() - start,
    )


def extract(
    path: str | os.PathLike[str],
    *,
    schema: Any,
    model: str | os.PathLike[str] = "nano",
    pages: str | None = None,
    password: str | None = None,
    max_new_tokens: int = DEFAULT_MAX_NEW_TOKENS,
    strict: bool = False,
    sampling: Sampling | None = None,
    text_layer: bool = True,
    dtype: str | None = None,
    limits: Limits | None = None,
    on_token: Callable[[Token], None] | None = None,
    cancel: threading.Event | None = None,
) -> Result:
    """Extract one document with a model that is loaded for it; `load` keeps one for many.

    Parameters as in `load` and `Extractor.extract`, which also say what is raised.
    """
    from forklift.schema import Schema

    loaded_schema = Schema.load(schema)  # before the model: a bad schema or file should not cost its loading
    loaded_schema.decoded(strict)
    with (
        Document.open(path, pages=pages, password=password, limits=limits) as document,
        load(model, dtype=dtype) as extractor,
    ):
        return extractor.extract(
            document,
            loaded_schema,
            max_new_tokens=max_new_tokens,
            strict=strict,
            sampling=sampling,
            text_layer=text_layer,
            on_token=on_token,
            cancel=cancel,
        )


class Extractor:
    """An engine with the page policy of its model, and how its confidences are calibrated. One extraction at a time.

    Words of pages without a text layer are recognised where the extra `ocr` is installed (FORKLIFT_OCR=0: not).
    """

    def __init__(
        self,
        engine: Engine,
        page_policy: PagePolicy | None = None,
        *,
        calibration: Calibration | None = None,
        load_seconds: float = 0.0,
    ) -> None:
        from forklift import ocr

        self.engine = engine
        self.page_policy = page_policy or PagePolicy()
        self.calibration = calibration
        self.recogniser = ocr.Recogniser() if ocr.is_available() else None
        self.load_seconds = load_seconds

    def extract(
        self,
        document: str | os.PathLike[str] | Document,
        schema: Any,
        *,
        pages: str | None = None,
        password: str | None = None,
        max_new_tokens: int = DEFAULT_MAX_NEW_TOKENS,
        strict: bool = False,
        sampling: Sampling | None = None,
        text_layer: bool = True,
        limits: Limits | None = None,
        on_token: Callable[[Token], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> Result:
        """Read `document` into JSON that matches `schema`.

        document: a path, or an open `Document` (it stays open, and has its own pages, password and limits).
        schema: what `Schema.load` takes: a dict, a file, JSON text, a Pydantic model or a bundled name.
        pages: a range such as "1-3,5" or "5-".
        max_new_tokens: where the answer is cut; its complete part is kept, and the outcome is TRUNCATED.
        strict: decode the schema literally, so that nothing can be missing and values may be forced.
        text_layer: whether the words of a PDF's text layer help to spell values; without, they are read from the page
            images alone.
        on_token: called with each token as it comes.
        cancel: when set, the extraction stops before the next pass, and the outcome is CANCELLED.
        Raises SchemaError, DocumentError, PageRangeError, ModelError or DecodeError, all `ForkliftError`s.
        """
        from forklift.page_texts import page_texts
        from forklift.prompt import extraction_text
        from forklift.schema import Schema

        schema = Schema.load(schema)
        start = time.perf_counter()
        with (
            nullcontext(document)
            if isinstance(document, Document)
            else Document.open(document, pages=pages, password=password, limits=limits)
        ) as opened:
            images = self._render(opened, cancel)
            texts = list(page_texts(opened))
            document_seconds = time.perf_counter() - start
            request = Request(
                pages=images or (),
                text=extraction_text(schema),
                schema=schema,
                words=[word.text for page in texts for word in page.words or ()] if text_layer else [],
                page_texts=texts,
                strict=strict,
                sampling=sampling or Sampling(),
                max_new_tokens=max_new_tokens,
                cancel=cancel,
            )
            statistics = Statistics()
            tokens: list[Token] = []
            outcome = Outcome.CANCELLED
            if images is not None:
                tokens, outcome = self._generate(request, statistics, on_token)
            reading = _read_answer(tokens, outcome, schema, strict)
            fields = self._with_evidence(reading, opened, texts, tokens, schema, cancel)
            return Result(
                data=reading.data,
                outcome=outcome,
                fields=fields,
                missing=reading.missing,
                problems=reading.problems,
                warnings=(*opened.notes, *schema.warnings, *statistics.notes),
                pages=tuple(page.number for page in opened.pages),
                model=self.engine.name,
                timings=Timings(
                    load_seconds=self.load_seconds,
                    document_seconds=document_seconds,
                    prefill_seconds=statistics.prefill_seconds,
                    decode_seconds=statistics.decode_seconds,
                    prompt_tokens=statistics.prompt_tokens,
                    answer_tokens=len(tokens),
                    forced_tokens=sum(token.forced for token in tokens),
                    forward_passes=statistics.forward_passes,
                ),
            )

    def _with_evidence(
        self,
        reading: _Reading,
        document: Document,
        texts: list[PageText],
        tokens: list[Token],
        schema: Schema,
        cancel: threading.Event | None,
    ) -> tuple[Field, ...]:
        """The leaves of the answer with where they stand, and with calibrated confidences where that is known."""
        from forklift.calibration import case_of
        from forklift.citations import cite
        from forklift.confidence import spellings
        from forklift.page_texts import with_recognised

        if not reading.fields:
            return ()
        fields = cite(reading.fields, with_recognised(document, texts, self.recogniser, cancel), schema)
        if self.calibration is None:
            return fields
        spelled = spellings(reading.data, tokens)
        return tuple(
            replace(field, confidence=self.calibration.confidence(case_of(field), spelled[field.pointer]))
            if field.pointer in spelled
            else field
            for field in fields
        )

    def _render(self, document: Document, cancel: threading.Event | None) -> list[Image.Image] | None:
        """The page images; None when cancelled on the way."""
        images = []
        for page in document:
            if cancel is not None and cancel.is_set():
                return None
            images.append(page.render(self.page_policy))
        return images

    def _generate(
        self, request: Request, statistics: Statistics, on_token: Callable[[Token], None] | None
    ) -> tuple[list[Token], Outcome]:
        tokens: list[Token] = []
        for token in self.engine.generate(request, statistics):
            tokens.append(token)
            if on_token is not None:
                on_token(token)
        if tokens and tokens[-1].outcome is not None:
            return tokens, tokens[-1].outcome
        if request.cancel is not None and request.cancel.is_set():
            return tokens, Outcome.CANCELLED
        raise DecodeError(
            f"the engine {self.engine.name} stopped after {len(tokens)} tokens without saying why; "
            "this is a fault of the engine."
        )

    def close(self) -> None:
        """Release the model."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True)
class _Reading:
    """What the tokens of an answer say, in the user's schema."""

    data: Any
    fields: tuple[Field, ...] = ()
    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def _read_answer(tokens: list[Token], outcome: Outcome, schema: Schema, strict: bool) -> _Reading:
    from forklift.confidence import fields_with_confidence
    from forklift.decoding.partial import partial_json

    # An answer that was cut may end inside a character.
    text = b"".join(token.text for token in tokens).decode("utf-8", errors="ignore")
    broken: tuple[str, ...] = ()
    if outcome is Outcome.COMPLETE:
        try:
            data = json.loads(text)
        except ValueError as error:
            data = partial_json(text)
            broken = (f"/: the answer is no JSON ({error}); only its readable part is kept",)
    else:
        data = partial_json(text)
        if data is None:
            return _Reading(None)
    missing: tuple[str, ...] = ()
    if not strict:
        data, missing = schema.settle(data)
    problems = (*broken, *schema.problems(data, strict=strict))
    return _Reading(data, fields_with_confidence(data, tokens), missing, problems)
