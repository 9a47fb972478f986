"""POST /v1/extract: the whole pipeline on one file, with evidence, at its place among the other requests."""

from __future__ import annotations

import copy
import dataclasses
import threading
from typing import TYPE_CHECKING, Any

from forklift.documents import Document
from forklift.engines.base import Statistics
from forklift.results import Result
from forklift.serving.generations import Connection, Generation, PlacedEngine
from forklift.serving.service import Service
from forklift.serving.uploads import Upload

if TYPE_CHECKING:
    from forklift.serving.scheduler import Ticket


async def extract(service: Service, upload: Upload, connection: Connection) -> dict[str, Any]:
    """What `forklift extract` gives. Raises what the pipeline raises, and ClientGone, QueueFull and the like."""
    generation = Generation(service.scheduler, connection)
    cancel = threading.Event()
    result: Result | None = None
    try:
        await generation.granted()
        result = await connection.unless_gone(
            service.in_thread(lambda: _run(service, upload, generation.ticket, cancel))
        )
    finally:
        cancel.set()
        generation.release()
        timings = result.timings if result is not None else None
        service.count(
            generation.ticket,
            Statistics()
            if timings is None
            else Statistics(
                prompt_tokens=timings.prompt_tokens,
                prefill_seconds=timings.prefill_seconds,
                decode_seconds=timings.decode_seconds,
                forward_passes=timings.forward_passes,
            ),
            result.outcome.value if result is not None else "cancelled" if connection.is_gone else "failed",
            answer_tokens=timings.answer_tokens if timings is not None else 0,
            forced=timings.forced_tokens if timings is not None else 0,
            pages=len(result.pages) if result is not None else 0,
        )
    return dataclasses.asdict(result)


def _run(service: Service, upload: Upload, ticket: Ticket, cancel: threading.Event) -> Result:
    extractor = copy.copy(service.extractor)  # the same model and recogniser; its engine is this request's place
    extractor.engine = PlacedEngine(service.engine, ticket)
    with Document.from_bytes(
        upload.content, upload.name, upload.pages, upload.password, service.settings.limits
    ) as document:
        return extractor.extract(
            document,
            upload.schema,
            strict=upload.strict,
            text_layer=upload.text_layer,
            max_new_tokens=upload.max_new_tokens,
            sampling=upload.sampling,
            cancel=cancel,
        )
