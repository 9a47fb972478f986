"""A document and a task as the model sees them: image patches, tokens, and what each answer token is read from."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from PIL import Image
from tokenizers import Tokenizer

from forklift.patches import smart_resize
from forklift.prompt import TASK
from training.labels import SLOTS, cell_of, label_page, patchify
from training.leaf import Document, Leaf
from training.scan import scanned
from training.tasks import Task
from training.tokenizer import build_tokenizer, character_ids, spell

# Tokens besides the images', by kind, so that batches of a kind and page size all have one shape; longer lessons are
# left out of training.
ROOM: dict[str, int] = {
    "key_values": 160,
    "table": 214,
    "receipt_lines": 220,
    "receipt": 404,
    "invoice": 470,
    "invoice_two_pages": 684,
}
# Lessons of the profile `wide` differ too much for one room: they are padded to a multiple of this.
WIDE_STEP = 256
WIDE_LONGEST = 4096
MAX_PIXELS = 1088 * 1408
UNKNOWN = -1


@dataclass
class Span:
    """The tokens of one leaf, from the one that opens it to the one that closes it: [start, end)."""

    pointer: str
    start: int
    end: int


@dataclass
class Lesson:
    """One training example.

    patches: uint8 [pages, patches, 256]; labels: int64 [pages, cells, 4 * SLOTS], see `labels.py`; size: pixels.
    token_ids: the whole turn and answer; the answer starts at `answer_start`, after the images' tokens.
    image_start: index of the first image token of each page.
    cell, slot: per token, the image token (index into token_ids) and the slot in it of the glyph that this token is
        read from, or UNKNOWN.
    """

    kind: str
    layout: str
    size: tuple[int, int]
    patches: np.ndarray
    labels: np.ndarray
    token_ids: list[int]
    answer_start: int
    image_start: list[int]
    cell: list[int]
    slot: list[int]
    spans: list[Span]
    profile: str = "narrow"


@functools.cache
def tokenizer() -> Tokenizer:
    return build_tokenizer()


@functools.cache
def _character_ids() -> dict[str, int]:
    return character_ids(tokenizer())


@functools.lru_cache(maxsize=4096)
def _encode(text: str) -> tuple[int, ...]:
    return tuple(tokenizer().encode(text).ids)


def segments(tree: Any, pointer: str = "") -> Iterator[str | tuple[str, Leaf]]:
    """The answer in nano's form, split into punctuation (str) and values (pointer, Leaf)."""
    if isinstance(tree, Leaf):
        if isinstance(tree.value, str):
            yield '"'
            yield pointer, tree
            yield '"'
        else:
            yield pointer, tree
    elif isinstance(tree, list):
        yield "["
        for index, element in enumerate(tree):
            if index:
                yield ", "
            yield from segments(element, f"{pointer}/{index}")
        yield "]"
    else:
        yield "{"
        for index, (name, value) in enumerate(tree.items()):
            yield (", " if index else "") + json.dumps(name, ensure_ascii=False) + ": "
            yield from segments(value, f"{pointer}/{name}")
        yield "}"


def make_lesson(document: Document, task: Task, worn: Random | None = None) -> Lesson | None:
    """None if it is longer than its kind has room for. `worn` gives the pages the look of a scan."""
    pages, labels, slots = [], [], {}
    sheet = document.sheet
    for index, pixels in enumerate(sheet.render()):
        height, width = smart_resize(*pixels.shape, factor=32, min_pixels=1024, max_pixels=MAX_PIXELS)
        if pixels.shape != (height, width):
            pixels = np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC))
        if worn is not None:
            pixels = scanned(pixels, worn)
        scale = width / sheet.width, height / sheet.height
        labelled = label_page(sheet.runs, index, width, height, *scale)
        pages.append(patchify(pixels))
        labels.append(labelled.labels.reshape(-1, 4 * SLOTS))
        slots |= {(index, *place): slot for place, slot in labelled.slot_of.items()}
    cells, columns = labels[0].shape[0], width // 32

    ids = tokenizer()
    image = ids.token_to_id("<|image_pad|>")
    token_ids = list(_encode("<|im_start|>user\n"))
    image_start = []
    for _ in pages:
        token_ids.append(ids.token_to_id("<|vision_start|>"))
        image_start.append(len(token_ids))
        token_ids += [image] * cells
        token_ids.append(ids.token_to_id("<|vision_end|>"))
    schema = json.dumps(task.schema, indent=2, ensure_ascii=False)
    token_ids += _encode(f"{TASK}\n\n{schema}")
    token_ids += _encode("<|im_end|>\n<|im_start|>assistant\n")
    answer_start = len(token_ids)
    cell, slot = [UNKNOWN] * answer_start, [UNKNOWN] * answer_start
    spans: list[Span] = []
    pending = ""
    closing: tuple[int, int] = (UNKNOWN, UNKNOWN)

    def locate(place: Any) -> tuple[int, int]:
        if place is None:
            return UNKNOWN, UNKNOWN
        index = cell_of(place, columns, *scale)
        if not 0 <= index < cells:
            return UNKNOWN, UNKNOWN
        return image_start[place.page] + index, slots.get((place.page, place.x, place.y), UNKNOWN)

    def punctuate(final: bool = False) -> None:
        nonlocal pending, closing
        new = _encode(pending)
        token_ids.extend(new)
        if new:
            cell.extend([closing[0]] + [UNKNOWN] * (len(new) - 1))
            slot.extend([UNKNOWN] * len(new))
            if spans:
                spans[-1].end = len(token_ids) - len(new) + 1
        pending, closing = "", (UNKNOWN, UNKNOWN)

    for piece in segments(task.answer):
        if isinstance(piece, str):
            pending += piece
            continue
        pointer, leaf = piece
        punctuate()
        spans.append(Span(pointer, len(token_ids) - 1, 0))
        if leaf.value is None:
            pending = "null"
            continue
        text = json.dumps(leaf.text, ensure_ascii=False)[1:-1]
        places = leaf.places if len(text) == len(leaf.text) else (None,) * (len(text) + 1)
        for tokens, place in zip(spell(text, _character_ids(), ids), places, strict=False):
            where = locate(place)
            token_ids.extend(tokens)
            cell.extend([where[0]] * len(tokens))
            slot.extend([where[1]] * len(tokens))
        closing = locate(places[-1])
    punctuate()
    token_ids.append(ids.token_to_id("<|im_end|>"))
    cell.append(UNKNOWN)
    slot.append(UNKNOWN)
    if document.profile == "wide":
        if len(token_ids) > WIDE_LONGEST:
            return None
    elif len(token_ids) - cells * len(pages) > ROOM[document.kind]:
        return None
    return Lesson(
        document.kind,
        document.layout,
        (width, height),
        np.stack(pages),
        np.stack(labels),
        token_ids,
        answer_start,
        image_start,
        cell,
        slot,
        spans,
        document.profile,
    )


def padded_length(lesson: Lesson) -> int:
    """Tokens that a batch gives this kind of lesson at this page size: whole chunks of the delta rule."""
    if lesson.profile == "wide":
        return -(-len(lesson.token_ids) // WIDE_STEP) * WIDE_STEP
    cells = lesson.labels.shape[0] * lesson.labels.shape[1]
    return -(-(ROOM[lesson.kind] + cells) // 64) * 64


# kind -> share of the batches while only crops are taught, and once pages are; batch size in lessons
MIX: dict[str, tuple[float, float, int]] = {
    "key_values": (0.50, 0.14, 20),
    "table": (0.25, 0.10, 16),
    "receipt_lines": (0.25, 0.06, 20),
    "receipt": (0.0, 0.28, 8),
    "invoice": (0.0, 0.38, 6),
    "invoice_two_pages": (0.0, 0.04, 3),
}
# The same of the profile `wide`; its batches hold as many lessons as fit in WIDE_TOKENS.
WIDE_MIX: dict[str, tuple[float, float]] = {
    "key_values": (0.45, 0.16),
    "table": (0.30, 0.12),
    "receipt_lines": (0.25, 0.06),
    "receipt": (0.0, 0.20),
    "invoice": (0.0, 0.32),
    "statement": (0.0, 0.09),
    "invoice_two_pages": (0.0, 0.05),
}
WIDE_TOKENS = 6144
# One document in a hundred; a shape of their own would cost more compiling than they teach.
RARE_SIZES = frozenset({(288, 640), (576, 800)})
WORN_SHARE = 0.15
WIDE_WORN_SHARE = 0.3
PAGES_FROM, PAGES_FULL = 0.16, 0.32  # progress at which pages start, and at which they have their full share


def shares(progress: float, profile: str = "narrow") -> dict[str, float]:
    """Share of the batches of each kind at `progress` (0-1) of the run."""
    pages = min(1.0, max(0.0, (progress - PAGES_FROM) / (PAGES_FULL - PAGES_FROM)))
    mix = WIDE_MIX if profile == "wide" else {kind: row[:2] for kind, row in MIX.items()}
    return {kind: crops + (late - crops) * pages for kind, (crops, late) in mix.items()}


def batch_size(lesson: Lesson) -> int:
    """How many lessons of this kind and shape make a batch."""
    if lesson.profile == "wide":
        return max(1, WIDE_TOKENS // padded_length(lesson))
    return MIX[lesson.kind][2]


def difficulty(progress: float) -> float:
    return min(1.0, 0.35 + 2.5 * progress)


class LessonMaker:
    """Draws batches of lessons of one kind and shape. `draw(index, progress)` uses `index` as the seed.

    peers: how many makers work side by side; those of one round (index // peers) draw the same kind, which takes them
    about the same time, and each draws its share of the batch.
    """

    def __init__(self, peers: int = 1, profile: str = "narrow") -> None:
        self._peers = peers
        self._profile = profile
        self._waiting: dict[tuple[str, tuple[int, int], int], list[Lesson]] = {}

    def draw(self, index: int, progress: float) -> list[Lesson]:
        mix = shares(progress, self._profile)
        kind = Random(index // self._peers).choices(list(mix), list(mix.values()))[0]
        random = Random(index)
        while True:
            lesson = self._lesson(random, kind, difficulty(progress))
            if lesson is None:
                continue
            shape = kind, lesson.size, padded_length(lesson)
            bucket = self._waiting.setdefault(shape, [])
            bucket.append(lesson)
            if len(bucket) >= -(-batch_size(lesson) // self._peers):
                del self._waiting[shape]
                return bucket

    def _lesson(self, random: Random, kind: str, difficulty: float) -> Lesson | None:
        from training.layouts import make_document
        from training.tasks import make_task

        document = make_document(random, kind, profile=self._profile)
        task = make_task(random, document, difficulty=difficulty)
        if self._profile == "wide":
            from training.wide.wear import wear

            return make_lesson(wear(document, random) if random.random() < WIDE_WORN_SHARE else document, task)
        lesson = make_lesson(document, task, random if random.random() < WORN_SHARE else None)
        return None if lesson is None or lesson.size in RARE_SIZES else lesson
