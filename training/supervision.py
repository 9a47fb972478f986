"""The losses of extraction: the answer's tokens, and what the generator knows besides (where each glyph stands).

Side by side on the same budget, telling two attention heads of every full-attention layer where to look, and the last
one which of the cell's characters to take, halves the time to a given accuracy; docs/log.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.model import Model
from forklift.model.rotary import text_rotation
from training.attention import attend
from training.compiling import EAGER, Pieces
from training.labels import IGNORED, SLOTS
from training.lessons import UNKNOWN, Lesson, padded_length
from training.reader import ReadingHead, embed_grey

_DTYPE = torch.bfloat16


@dataclass
class Batch:
    """Lessons of one kind and page size. Shapes: B lessons, T tokens, P pages, C cells a page.

    patches uint8 [B * P, 4 C, 256]; labels [B * P * C, 4 * SLOTS]; token_ids, targets (next token of the answer, or
    IGNORED), cell, slot (of what the *next* token is read from): int64 [B, T].
    """

    lessons: list[Lesson]
    patches: Tensor
    labels: Tensor
    token_ids: Tensor
    targets: Tensor
    cell: Tensor
    slot: Tensor

    @classmethod
    def of(cls, lessons: list[Lesson]) -> Batch:
        length = max(padded_length(lesson) for lesson in lessons)
        token_ids = np.zeros((len(lessons), length), np.int64)
        targets, cell, slot = (np.full((len(lessons), length), fill, np.int64) for fill in (IGNORED, UNKNOWN, UNKNOWN))
        for row, lesson in enumerate(lessons):
            count, start = len(lesson.token_ids), lesson.answer_start
            token_ids[row, :count] = lesson.token_ids
            targets[row, start - 1 : count - 1] = lesson.token_ids[start:]
            cell[row, start - 1 : count - 1] = lesson.cell[start:]
            slot[row, start - 1 : count - 1] = lesson.slot[start:]
        return cls(
            lessons,
            torch.from_numpy(np.concatenate([lesson.patches for lesson in lessons])),
            torch.from_numpy(np.concatenate([lesson.labels for lesson in lessons]).reshape(-1, 4 * SLOTS)),
            *(torch.from_numpy(array) for array in (token_ids, targets, cell, slot)),
        )


class Supervisor(nn.Module):
    """The parts that only training needs: the reading head, and which slot of a cell an answer token comes from."""

    def __init__(self, hidden_size: int, vision_out: int) -> None:
        super().__init__()
        self.reading_head = ReadingHead(vision_out)
        self.slot_head = nn.Linear(hidden_size, 4 * SLOTS)


@dataclass
class Losses:
    """Scalars that are added up, and shares of right guesses for the log."""

    answer: Tensor
    reading: Tensor
    pointer: list[Tensor]
    slot: Tensor | None
    predicted: Tensor  # [answer tokens] of the batch, row by row
    characters: float = float("nan")
    pointer_hits: float = float("nan")
    slot_hits: float = float("nan")


def forward(model: Model, supervisor: Supervisor, batch: Batch, *, pieces: Pieces = EAGER) -> Losses:
    config = model.config
    width, height = batch.lessons[0].size
    pages = len(batch.lessons[0].image_start)
    tokens = embed_grey(model.vision, batch.patches, height // 16, width // 16, _DTYPE)
    reading_loss, characters, _ = supervisor.reading_head.loss(tokens.flatten(0, 1), batch.labels)
    x = model.language.embed_tokens.weight.to(_DTYPE)[batch.token_ids]
    images = batch.token_ids == config.image_token_id
    x = x.masked_scatter(images[..., None], tokens)
    grid = (1, height // 16, width // 16)
    positions, _ = model.positions(batch.token_ids[0], [grid] * pages)
    rotation = text_rotation(config.text, positions, _DTYPE)

    row, column = (batch.cell != UNKNOWN).nonzero(as_tuple=True)
    cell = batch.cell[row, column]
    pointer, slot_loss, hits, slot_hits = [], None, float("nan"), float("nan")
    full = [i for i, kind in enumerate(config.text.layer_kinds) if kind == "full_attention"]
    for index, layer in enumerate(model.language.layers):
        if layer.kind != "full_attention":
            x = pieces.linear(layer, x)
            continue
        normed, query, gate, key, value = pieces.full_first(layer, x, *rotation)
        if row.numel() and index != full[0]:  # the first comes before the question is understood
            loss, hits = _pointer_loss(query, key, row, column, cell)
            pointer.append(loss)
            if index == full[-1]:
                slot = batch.slot[row, column]
                known = slot != UNKNOWN
                if known.any():
                    head = supervisor.slot_head
                    chosen = normed[row[known], column[known]]
                    logits = F.linear(chosen, head.weight.to(_DTYPE), head.bias.to(_DTYPE)).float()
                    slot_loss = F.cross_entropy(logits, slot[known])
                    slot_hits = (logits.argmax(-1) == slot[known]).float().mean().item()
        x = pieces.full_last(layer, x, attend(query, key, value, causal=True), gate)
    wanted = batch.targets != IGNORED
    logits = model.logits(model.language.norm(x[wanted])).float()
    return Losses(
        F.cross_entropy(logits, batch.targets[wanted]),
        reading_loss,
        pointer,
        slot_loss,
        logits.detach().argmax(-1),
        characters,
        hits,
        slot_hits,
    )


def _pointer_loss(query: Tensor, key: Tensor, row: Tensor, column: Tensor, cell: Tensor) -> tuple[Tensor, float]:
    """Cross-entropy of attention rows towards the image token that holds the glyph, for one head a key/value group.

    query [B, heads, T, d], key [B, groups, T, d]; (row, column) are the tokens, cell their image tokens.
    """
    groups = key.shape[1]
    heads = query.shape[1] // groups
    total, hits = query.new_zeros((), dtype=torch.float32), 0.0
    length = key.shape[2]
    for lesson in row.unique().tolist():
        mine = row == lesson
        places = column[mine]
        scores = (query[lesson, ::heads, places] * query.shape[-1] ** -0.5) @ key[lesson].transpose(-1, -2)
        later = torch.arange(length) > places[:, None]
        scores = scores.float().masked_fill(later, float("-inf"))
        target = cell[mine].expand(groups, -1)
        total = total + F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="sum")
        hits += (scores.detach().argmax(-1) == target).float().sum().item()
    count = row.numel() * groups
    return total / count, hits / count


def right_spans(batch: Batch, predicted: Tensor) -> list[list[bool]]:
    """Per lesson and leaf: every token of it was the most likely one, given the true tokens before it."""
    right = torch.ones_like(batch.targets, dtype=torch.bool)
    wanted = batch.targets != IGNORED
    right[wanted] = predicted == batch.targets[wanted]
    return [
        [bool(right[row, span.start - 1 : span.end - 1].all()) for span in lesson.spans]
        for row, lesson in enumerate(batch.lessons)
    ]
