"""Which seeds are for what: no document that is trained on is ever tested on or shown as an example."""

from __future__ import annotations

from random import Random

from training.layouts import make_document
from training.leaf import Document
from training.tasks import Task, plain_task

TRAINING_END = 2**40
HELD_OUT_START = 2**41
EXAMPLES_START = 2**42
HELD_OUT_KINDS = {"narrow": ("invoice", "receipt"), "wide": ("invoice", "receipt", "invoice", "receipt", "statement")}


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


def make_heldout(
    index: int,
    kind: str | None = None,
    *,
    profile: str = "narrow",
    language: str | None = None,
    held_out: bool = False,
    noise: str = "clean",
    schema: str = "plain",
) -> tuple[Document, Task]:
    """Held-out document `index` with its task; without `kind`, kinds of one page in turn.

    Of the profile "wide" alone: `language`, `held_out` (a family that training never draws), `noise` ("clean", "light",
    "strong") and `schema` (one of `training.wide.schemas.KINDS`). Without `held_out` the document is the same whatever
    noise and schema are.
    """
    kinds = HELD_OUT_KINDS[profile]
    kind = kind or kinds[index % len(kinds)]
    random = held_out_random(index)
    document = make_document(random, kind, profile=profile, held_out=held_out, language=language)
    if profile == "narrow":
        if (noise, schema) != ("clean", "plain"):
            raise ValueError("noise and other schemas than the plain one are of the profile wide")
        return document, plain_task(document)
    from training.wide.schemas import variant
    from training.wide.wear import wear

    task = variant(Random(HELD_OUT_START + index), document, schema)
    if noise == "clean":
        return document, task
    # Worn first, since the task holds where the values stand.
    document = wear(document, random, strong=noise == "strong")
    return document, variant(Random(HELD_OUT_START + index), document, schema)
