"""Which seeds are for what: no document that is trained on is ever tested on or shown as an example."""

from __future__ import annotations

from random import Random

from training.layouts import make_document
from training.leaf import Document
from training.tasks import Task, plain_task

TRAINING_END = 2**40
HELD_OUT_START = 2**41
EXAMPLES_START = 2**42
HELD_OUT_KINDS = ("invoice", "receipt")


def training_random(index: int) -> Random:
    if not 0 <= index < TRAINING_END:
        raise ValueError(f"training index {index} is outside 0 to 2**40 - 1")
    return Random(index)


def held_out_random(index: int) -> Random:
    if not 0 <= index < EXAMPLES_START - HELD_OUT_START:
        raise ValueError(f"held-out index {index} is outside 0 to 2**41 - 1")
    return Random(HELD_OUT_START + index)


def example_random(index: int) -> Random:
    if index < 0:
        raise ValueError(f"example index {index} is negative")
    return Random(EXAMPLES_START + index)


def make_heldout(index: int, kind: str | None = None, *, profile: str = "narrow") -> tuple[Document, Task]:
    """Held-out document `index` with the plain task; without `kind`, invoices and receipts in turn."""
    kind = kind or HELD_OUT_KINDS[index % len(HELD_OUT_KINDS)]
    document = make_document(held_out_random(index), kind, profile=profile)
    return document, plain_task(document)
