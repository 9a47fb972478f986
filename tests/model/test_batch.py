"""Several answers in one pass are what each is alone."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.model import Model
from forklift.model.batch import extend_each
from forklift.model.cache import Cache
from forklift.model.prefill import PrefixCache, prefill_steps
from tests.model.references import TOLERANCE, difference, example

PROMPTS = [example(20, (1, 8, 10), 9, seed=3), example(7, seed=5), example(3, (1, 4, 6), 40, seed=6)]
TEXT = example(90, seed=4).token_ids.tolist()


def read(model: Model, index: int) -> Cache:
    return model.prefill(PROMPTS[index].token_ids, PROMPTS[index].patches, PROMPTS[index].grids)[0]


def assert_alike(model: Model, one: Cache, other: Cache) -> None:
    """Their next passes say the same."""
    assert (one.length, one.next_position) == (other.length, other.next_position)
    tokens = torch.tensor(TEXT[-3:])
    assert difference(model.extend(one.fork(), tokens), model.extend(other.fork(), tokens)) < TOLERANCE


@settings(max_examples=12, deadline=None)
@given(
    rounds=st.lists(
        st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_a_pass_for_several_is_one_pass_for_each(
    short_prepared: Model, rounds: list[list[tuple[int, int, int]]]
) -> None:
    """Any lengths, some with drafts of which a part is kept."""
    together = [read(short_prepared, index) for index in range(3)]
    alone = [cache.fork() for cache in together]
    done = [0, 10, 20]
    for wanted in rounds:
        tokens = []
        for index, (certain, draft, _) in enumerate(wanted):
            tokens.append(TEXT[done[index] : done[index] + certain + draft])
        found = extend_each(short_prepared, together, tokens, [draft for _, draft, _ in wanted])
        for index, (certain, draft, kept) in enumerate(wanted):
            kept = min(kept, draft)
            expected = short_prepared.extend(alone[index].fork(), torch.tensor(tokens[index]))[certain - 1 :]
            assert found[index].shape == expected.shape
            assert difference(found[index], expected) < TOLERANCE
            if draft:
                together[index].keep(kept)
            short_prepared.extend(alone[index], torch.tensor(tokens[index][: certain + kept]))
            done[index] += certain + kept
    for one, other in zip(together, alone, strict=True):
        assert_alike(short_prepared, one, other)


def test_single_tokens_of_many_go_through_one_step(short_prepared: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = [read(short_prepared, index % 3) for index in range(5)]
    alone = [cache.fork() for cache in caches]
    for step in range(4):
        tokens = [[TEXT[7 * index + step]] for index in range(5)]
        found = extend_each(short_prepared, caches, tokens, [0] * 5)
        for index in range(5):
            expected = short_prepared.extend(alone[index], torch.tensor(tokens[index]))
            assert difference(found[index], expected) < TOLERANCE
    for one, other in zip(caches, alone, strict=True):
        assert_alike(short_prepared, one, other)
        assert all(layer.memory.shape[0] == 1 for layer in one.layers if hasattr(layer, "memory"))


def test_a_state_restored_from_a_snapshot_is_as_before(short_prepared: Model) -> None:
    cache = read(short_prepared, 0)
    before, copy = cache.snapshot(), cache.fork()
    extend_each(short_prepared, [cache], [TEXT[:5]], [2])
    cache.restore(before)
    assert_alike(short_prepared, cache, copy)


@pytest.mark.parametrize("piece", [5, 16, 1000])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_prompt_read_in_steps_is_the_prompt_read_at_once(short_prepared: Model, piece: int, index: int) -> None:
    prompt = PROMPTS[index]
    steps = prefill_steps(short_prepared, prompt.token_ids, prompt.patches, prompt.grids, piece=piece)
    stops = 0
    while True:
        try:
            next(steps)
            stops += 1
        except StopIteration as end:
            cache, logits = end.value
            break
    pieces = -(-len(prompt.token_ids) // piece)
    assert stops == len(prompt.grids) + pieces - 1
    expected_cache, expected = short_prepared.prefill(prompt.token_ids, prompt.patches, prompt.grids)
    assert difference(logits, expected) < TOLERANCE
    assert_alike(short_prepared, cache, expected_cache)


def test_a_document_that_is_known_is_not_read_again(short_prepared: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits as the first time, for another question too."""
    prompt = PROMPTS[0]
    boundary = 20 + 20  # text, then 8 x 10 patches as 4 x 5 tokens
    question = example(31, seed=8).token_ids
    other = torch.cat((prompt.token_ids[:boundary], question))
    prefixes = PrefixCache(1 << 30)

    def steps(token_ids: torch.Tensor, known: Cache | None) -> tuple[Cache, torch.Tensor]:
        reading = prefill_steps(
            *(short_prepared, token_ids, prompt.patches, prompt.grids),
            piece=16,
            boundary=boundary,
            known=known,
            keep=lambda cache: prefixes.put(b"key", cache),
        )
        while True:
            try:
                next(reading)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]

    assert prefixes.get(b"key") is None
    _, fresh = steps(other, None)
    known = prefixes.get(b"key")
    assert known is not None
    assert known.length == boundary
    monkeypatch.setattr(short_prepared.vision, "forward", lambda *_: pytest.fail("the pages were read again"))
    for _ in range(2):  # it is forked, not used up
        cache, again = steps(other, known)
        assert torch.equal(again, fresh)
    assert cache.length == len(other)
    assert (prefixes.hits, prefixes.misses) == (1, 1)


def test_prefixes_keep_to_their_budget(short_prepared: Model) -> None:
    caches = [read(short_prepared, 0) for _ in range(3)]
    size = caches[0].nbytes
    assert size > 0
    prefixes = PrefixCache(2 * size + size // 2)
    prefixes.put(b"a", caches[0])
    prefixes.put(b"b", caches[1])
    assert prefixes.get(b"a") is caches[0]  # now b is the least recently used
    prefixes.put(b"c", caches[2])
    assert prefixes.held_bytes == 2 * size
    assert prefixes.get(b"b") is None
    assert prefixes.get(b"a") is caches[0]
    tight = PrefixCache(size - 1)
    tight.put(b"a", caches[0])
    assert tight.get(b"a") is None
    assert tight.held_bytes == 0
