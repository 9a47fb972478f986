"""A prompt read piece by piece, so that others get their turn between two pieces; and what is kept of documents."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from forklift.model.cache import Cache
from forklift.model.model import Model
from forklift.model.vision import Grid


@torch.inference_mode()
def prefill_steps(
    model: Model,
    token_ids: Tensor,
    patches: Tensor | None,
    grids: Sequence[Grid],
    *,
    piece: int,
    boundary: int = 0,
    known: Cache | None = None,
    keep: Callable[[Cache], None] | None = None,
) -> Generator[None, None, tuple[Cache, Tensor]]:
    """As `Model.prefill`, with a stop after each page of the vision tower and each `piece` of tokens.

    boundary: a token index at which a piece ends: `keep` is given a copy of the cache there. known: such a copy from
    another prompt that begins with the same `boundary` tokens and all the pages; it is left as it is.
    Equal to `Model.prefill` but for rounding, and the same bits with and without `known`.
    """
    total = token_ids.shape[0]
    positions, next_position = model.positions(token_ids, grids)
    if known is not None:
        cache, start = known.fork(), boundary
        embedded = model.language.embed_tokens(token_ids)
    else:
        cache, start = model.language.new_cache(), 0
        embedded = model.language.embed_tokens(token_ids)
        if patches is not None and grids:
            images, end = [], 0
            for grid in grids:
                begin, end = end, end + grid[0] * grid[1] * grid[2]
                images.append(model.vision(patches[begin:end].to(model.dtype), [grid]))
                yield
            places = token_ids == model.config.image_token_id
            embedded = embedded.masked_scatter(places[:, None], torch.cat(images).to(embedded.dtype))
    ends = (*range(piece, boundary, piece), *([boundary] if boundary else []), *range(boundary + piece, total, piece))
    cuts = [0, *ends, total]
    hidden = embedded[None, :0]
    for begin, end in pairwise(cuts):
        if begin < start:
            continue
        if begin > start:
            yield
        hidden = model.language(embedded[None, begin:end], positions[:, begin:end], cache)
        if end == boundary and known is None and keep is not None:
            keep(cache.fork())
    cache.next_position = next_position
    return cache, model.logits(hidden[0, -1])


class PrefixCache:
    """Caches of documents that were read, for the next question about them; the least recently used goes first.

    budget_bytes: of all caches together; 0 keeps none. Safe from several threads.
    """

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.held_bytes = 0
        self.hits = 0
        self.misses = 0
        self._kept: OrderedDict[bytes, Cache] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> Cache | None:
        """The cache kept under `key`; to be forked, not used itself."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            self._kept.move_to_end(key)
            return found

    def put(self, key: bytes, cache: Cache) -> None:
        """Keep `cache` if it fits the budget at all, at the cost of others."""
        size = cache.nbytes
        with self._lock:
            if size > self.budget_bytes or key in self._kept:
                return
            self._kept[key] = cache
            self.held_bytes += size
            while self.held_bytes > self.budget_bytes:
                _, dropped = self._kept.popitem(last=False)
                self.held_bytes -= dropped.nbytes
