"""However a text is cut into passes, drafted, rolled back or forked: the same logits."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from forklift.model import Model
from forklift.model.cache import AttentionState, DeltaState
from tests.model.references import TOLERANCE, Example, all_logits, difference, example

PROMPT = example(20, (1, 8, 10), 30, (1, 4, 6), 9, seed=3)  # 89 tokens, 26 of them of images
TEXT = example(140, seed=4).token_ids


@pytest.fixture(scope="module")
def whole(short_prepared: Model) -> Tensor:
    """Logits [tokens, vocabulary] of PROMPT and TEXT in one pass without a cache."""
    with torch.inference_mode():
        return all_logits(short_prepared, Example(torch.cat((PROMPT.token_ids, TEXT)), PROMPT.patches, PROMPT.grids))


def after_prompt(whole: Tensor, count: int) -> Tensor:
    """The logits that follow the first `count` tokens of TEXT, one row each."""
    start = PROMPT.token_ids.shape[0]
    return whole[start : start + count]


def test_a_prompt_may_be_split_anywhere(short_prepared: Model, whole: Tensor) -> None:
    """Inside an image too; what is remembered shows in the tokens after."""
    tokens = PROMPT.token_ids.shape[0]
    with torch.inference_mode():
        embedded = short_prepared.embed(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    with pytest.MonkeyPatch.context() as patch:  # the vision tower once, not 88 times
        patch.setattr(short_prepared, "embed", lambda *_: embedded)
        for split in range(1, tokens):
            cache, last = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids, splits=[split])
            assert difference(last, whole[tokens - 1]) < TOLERANCE, split
            assert cache.length == tokens
            assert difference(short_prepared.extend(cache, TEXT[:3]), after_prompt(whole, 3)) < TOLERANCE, split


@pytest.mark.parametrize("piece", [1, 2, 3, 17, 64])
def test_a_prompt_may_be_split_many_times(short_prepared: Model, whole: Tensor, piece: int) -> None:
    tokens = PROMPT.token_ids.shape[0]
    cache, last = short_prepared.prefill(
        PROMPT.token_ids, PROMPT.patches, PROMPT.grids, splits=range(piece, tokens, piece)
    )
    assert difference(last, whole[tokens - 1]) < TOLERANCE
    assert difference(short_prepared.extend(cache, TEXT[:3]), after_prompt(whole, 3)) < TOLERANCE


@pytest.mark.parametrize("count", [1, 2, 3, 5, 16, 17, 64, 65, 130])
def test_tokens_at_once_are_single_steps(short_prepared: Model, whole: Tensor, count: int) -> None:
    """Around the token counts at which attention and the delta rule change their form."""
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    assert difference(short_prepared.extend(cache, TEXT[:count]), after_prompt(whole, count)) < TOLERANCE
    assert cache.length == PROMPT.token_ids.shape[0] + count
    following = short_prepared.extend(cache, TEXT[count : count + 1], last_only=True)
    assert difference(following, after_prompt(whole, count + 1)[-1:]) < TOLERANCE


def test_single_steps_are_one_pass(short_prepared: Model, whole: Tensor) -> None:
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    steps = [short_prepared.extend(cache, token[None]) for token in TEXT]
    assert difference(torch.cat(steps), after_prompt(whole, len(TEXT))) < TOLERANCE


@pytest.mark.parametrize("count", [1, 2, 3, 17])
def test_going_on_after_a_single_token(short_prepared: Model, count: int) -> None:
    expected = all_logits(short_prepared, Example(TEXT[: count + 1]))
    cache, first = short_prepared.prefill(TEXT[:1])
    found = torch.cat((first[None], short_prepared.extend(cache, TEXT[1 : count + 1])))
    assert difference(found, expected) < TOLERANCE


@settings(max_examples=12, deadline=None)
@given(
    rounds=st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(any), min_size=1, max_size=8
    ),  # right tokens of a draft, then wrong ones
    seed=st.integers(0, 2**31),
)
def test_rejected_drafts_leave_no_trace(
    short_prepared: Model, whole: Tensor, rounds: list[tuple[int, int]], seed: int
) -> None:
    """Draft, keep the right beginning, roll back the rest, go on: as look-up drafts are verified."""
    wrong_tokens = example(200, seed=seed).token_ids
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    done = 0
    for right, wrong in rounds:
        right = min(right, len(TEXT) - done - 1)
        if right + wrong == 0:
            break
        draft = torch.cat((TEXT[done : done + right], wrong_tokens[:wrong]))
        before = cache.snapshot()
        found = short_prepared.extend(cache, draft)[:right]
        if right:
            assert difference(found, after_prompt(whole, done + right)[done:]) < TOLERANCE
        if wrong:
            cache = before
            if right:
                found = short_prepared.extend(cache, TEXT[done : done + right])
                assert difference(found, after_prompt(whole, done + right)[done:]) < TOLERANCE
        done += right
        assert cache.length == PROMPT.token_ids.shape[0] + done
    following = short_prepared.extend(cache, TEXT[done : done + 1])
    assert difference(following, after_prompt(whole, done + 1)[done:]) < TOLERANCE


def test_a_snapshot_serves_many_times_even_after_the_buffer_has_grown(short_prepared: Model, whole: Tensor) -> None:
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    point = cache.snapshot()
    short_prepared.extend(cache, example(400, seed=5).token_ids)  # more than a buffer holds in reserve
    for count in (5, 1, 20):
        again = point.snapshot()
        assert difference(short_prepared.extend(again, TEXT[:count]), after_prompt(whole, count)) < TOLERANCE
    assert point.length == PROMPT.token_ids.shape[0]


def test_forks_live_side_by_side(short_prepared: Model, whole: Tensor) -> None:
    """Three continuations take turns; each reads as if it were alone."""
    prompt = PROMPT.token_ids
    other = example(40, seed=6).token_ids
    alone = all_logits(short_prepared, Example(torch.cat((prompt, other)), PROMPT.patches, PROMPT.grids))[len(prompt) :]
    cache, _ = short_prepared.prefill(prompt, PROMPT.patches, PROMPT.grids)
    first, second = cache.fork(), cache.fork()
    found: dict[str, list[Tensor]] = {"original": [], "first": [], "second": []}
    for start, end in ((0, 1), (1, 8), (8, 9), (9, 40)):
        found["first"].append(short_prepared.extend(first, other[start:end]))
        found["original"].append(short_prepared.extend(cache, TEXT[start:end]))
        found["second"].append(short_prepared.extend(second, other[start:end]))
    assert difference(torch.cat(found["original"]), after_prompt(whole, 40)) < TOLERANCE
    assert difference(torch.cat(found["first"]), alone) < TOLERANCE
    assert difference(torch.cat(found["second"]), alone) < TOLERANCE


def test_a_fork_outlives_the_roll_back_of_its_original(short_prepared: Model, whole: Tensor) -> None:
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    before = cache.snapshot()
    short_prepared.extend(cache, TEXT[:30])
    fork = cache.fork()
    short_prepared.extend(before, example(40, seed=6).token_ids)  # over the rows that the fork was taken from
    assert difference(short_prepared.extend(fork, TEXT[30:40]), after_prompt(whole, 40)[30:]) < TOLERANCE


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(1, 400), st.booleans()), min_size=1, max_size=12),
    seed=st.integers(0, 2**31),
)
def test_a_growing_buffer_holds_what_was_appended(steps: list[tuple[int, bool]], seed: int) -> None:
    """True: what is appended is rolled back again."""
    generator = torch.Generator().manual_seed(seed)
    state = AttentionState()
    keys, values = torch.zeros(1, 2, 0, 3), torch.zeros(1, 2, 0, 3)
    for count, rolled_back in steps:
        new_keys, new_values = torch.randn(2, 1, 2, count, 3, generator=generator)
        before = state.snapshot()
        found = state.append(new_keys, new_values)
        assert torch.equal(found[0], torch.cat((keys, new_keys), 2))
        assert torch.equal(found[1], torch.cat((values, new_values), 2))
        if rolled_back:
            state = before
        else:
            keys, values = found[0].clone(), found[1].clone()
        assert state.length == keys.shape[2]


def test_a_buffer_grows_a_few_times_only() -> None:
    """Each growth doubles it: 3000 single tokens copy the whole log2(3000 / 257) times at most."""
    state = AttentionState()
    row = torch.zeros(1, 1, 1, 1)
    buffers = [state.append(row, row)[0].untyped_storage()._cdata for _ in range(3000)]
    changes = sum(a != b for a, b in pairwise(buffers))
    assert 1 <= changes <= 4


def test_what_is_remembered_does_not_keep_the_prompt_in_memory(short_prepared: Model) -> None:
    """A view of the last inputs of the convolution would hold all of them: gigabytes after 60 pages."""
    cache, _ = short_prepared.prefill(example(500, seed=7).token_ids)
    short_prepared.extend(cache, TEXT[:100])
    for state in cache.layers:
        if isinstance(state, DeltaState):
            for kept in (state.inputs, state.memory):
                assert kept is not None
                assert kept.untyped_storage().nbytes() == kept.numel() * kept.element_size()


def test_a_prepared_model_moves_to_another_device_as_a_whole(short_prepared: Model) -> None:
    """What was prepared moves along; the meta device computes shapes only and refuses tensors of the CPU."""
    moved = copy.deepcopy(short_prepared).to("meta")
    cache = moved.language.new_cache()
    for count in (5, 1, 20):
        logits = moved.extend(cache, torch.zeros(count, dtype=torch.long, device="meta"))
        assert (logits.device.type, logits.shape) == ("meta", (count, 300))
