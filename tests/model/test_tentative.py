"""Of a pass that was tentative any beginning can be kept, without a second pass."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.model import Model
from forklift.model.cache import DeltaState, PendingTokens
from forklift.model.delta import recurrent_delta_rule, tentative_delta_rule
from tests.model.references import TOLERANCE, difference, example
from tests.model.test_delta import FORGETS, KEEPS, assert_close, random_inputs

PROMPT = example(20, (1, 8, 10), 9, seed=3)
TEXT = example(60, seed=4).token_ids


@pytest.mark.parametrize("tokens", [1, 2, 3, 9, 17])
@pytest.mark.parametrize("decays", [[None], [FORGETS], [KEEPS], [FORGETS, KEEPS, None]])
def test_the_tentative_form_is_the_recurrent_one(tokens: int, decays: list[float | None]) -> None:
    inputs = random_inputs(tokens, decays, [0.0, 1.0, None], seed=tokens, batch=2)
    expected, _ = recurrent_delta_rule(*inputs)
    output, keys, corrections, sums = tentative_delta_rule(*inputs)
    assert torch.allclose(output, expected, rtol=0, atol=1e-12 * 50 * tokens)
    padded = torch.zeros(2, 3 + tokens, 1)
    for count in range(tokens + 1):
        state = DeltaState(padded[:, :3], inputs[5], True, PendingTokens(padded, keys, corrections, sums))
        state.keep(count)
        assert state.memory is not None
        first = (*(x[:, :count] for x in inputs[:5]), inputs[5])
        memory = recurrent_delta_rule(*first)[1] if count else inputs[5]
        assert_close((state.memory, padded), (memory, padded), 1e-12)
        assert not state.tentative
        assert state.pending is None


@settings(max_examples=12, deadline=None)
@given(
    rounds=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8),
    seed=st.integers(0, 2**31),
)
def test_whatever_is_kept_the_logits_are_those_of_single_steps(
    short_prepared: Model, rounds: list[tuple[int, int, int]], seed: int
) -> None:
    """Some certain tokens, some right ones of a draft, some wrong ones."""
    wrong_tokens = example(60, seed=seed).token_ids
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    plain = cache.fork()
    done = 0
    for certain, right, wrong in rounds:
        taken = TEXT[done : done + certain + right]
        if len(taken) < certain + right:
            break
        tokens = torch.cat((taken, wrong_tokens[:wrong]))
        logits = short_prepared.verify(cache, tokens, right + wrong)
        assert logits.shape[0] == right + wrong + 1
        found = logits[: right + 1]
        cache.keep(right)
        expected = torch.cat([short_prepared.extend(plain, token[None]) for token in taken])[-right - 1 :]
        assert difference(found, expected) < TOLERANCE
        assert (cache.length, cache.next_position) == (plain.length, plain.next_position)
        done += certain + right
    assert difference(short_prepared.extend(cache, TEXT[:1]), short_prepared.extend(plain, TEXT[:1])) < TOLERANCE


def test_nothing_kept_is_nothing_read(short_prepared: Model) -> None:
    cache, _ = short_prepared.prefill(PROMPT.token_ids, PROMPT.patches, PROMPT.grids)
    before = cache.snapshot()
    cache.make_tentative(0, 9)
    short_prepared.extend(cache, TEXT[:9])
    cache.keep(0)
    for state, old in zip(cache.layers, before.layers, strict=True):
        if isinstance(state, DeltaState):
            assert isinstance(old, DeltaState)
            assert state.memory is old.memory
            assert state.inputs is old.inputs
    assert torch.equal(short_prepared.extend(cache, TEXT[:1]), short_prepared.extend(before, TEXT[:1]))
