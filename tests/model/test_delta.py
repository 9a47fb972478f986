"""The gated delta rule: both forms against one scalar loop in float64."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from forklift.model.delta import causal_convolution, chunked_delta_rule, recurrent_delta_rule

KEY_DIM, VALUE_DIM, HEADS = 3, 2, 2
FORGETS, KEEPS = -50.0, 0.0
Inputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]  # query, key, value, decay, beta, memory


def scalar_delta_rule(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """The rule as the module's docstring writes it, one Python float at a time."""
    query, key, value, decay, beta, memory = (x.tolist() for x in inputs)
    outputs = []
    for b, states in enumerate(memory):
        outputs.append([[[0.0] * VALUE_DIM for _ in states] for _ in query[b]])
        for h, state in enumerate(states):
            for t in range(len(query[b])):
                q, k, v = query[b][t][h], key[b][t][h], value[b][t][h]
                kept = math.exp(decay[b][t][h])
                for j in range(VALUE_DIM):
                    column = [kept * state[i][j] for i in range(KEY_DIM)]
                    wrong = v[j] - sum(k[i] * column[i] for i in range(KEY_DIM))
                    column = [column[i] + k[i] * beta[b][t][h] * wrong for i in range(KEY_DIM)]
                    for i in range(KEY_DIM):
                        state[i][j] = column[i]
                    outputs[b][t][h][j] = sum(q[i] * column[i] for i in range(KEY_DIM))
    return torch.tensor(outputs, dtype=torch.float64), torch.tensor(memory, dtype=torch.float64)


def random_inputs(
    tokens: int, decays: list[float | None], betas: list[float | None], seed: int, batch: int = 1
) -> Inputs:
    """Unit keys and queries, as the layer makes them.

    decays, betas: for each token one of these by chance; None stands for a value in between.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    def chosen(values: list[float | None], between: Tensor) -> Tensor:
        table = torch.tensor([math.nan if x is None else x for x in values], dtype=torch.float64)
        picked = table[torch.randint(len(values), between.shape, generator=generator)]
        return torch.where(picked.isnan(), between, picked)

    query, key = (F.normalize(normal(batch, tokens, HEADS, KEY_DIM), dim=-1) for _ in range(2))
    value = normal(batch, tokens, HEADS, VALUE_DIM)
    decay = chosen(decays, -normal(batch, tokens, HEADS).exp() / 5)
    beta = chosen(betas, normal(batch, tokens, HEADS).sigmoid())
    return query, key, value, decay, beta, normal(batch, HEADS, KEY_DIM, VALUE_DIM)


def assert_close(results: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor], bound: float) -> None:
    for ours, wanted in zip(results, expected, strict=True):
        assert ours.shape == wanted.shape
        # NaN and infinity fail here too.
        assert (ours.double() - wanted).abs().max().item() <= bound * max(1.0, wanted.abs().max().item())


extremes = st.lists(st.sampled_from([FORGETS, KEEPS, None]), min_size=1, max_size=3, unique=True)
strengths = st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=3, unique=True)


@settings(max_examples=60, deadline=None)
@given(
    tokens=st.one_of(st.integers(1, 200), st.sampled_from([1, 2, 63, 64, 65, 127, 128, 129])),
    chunk_size=st.sampled_from([1, 2, 3, 16, 64, 65, 200]),
    decays=extremes,
    betas=strengths,
    with_memory=st.booleans(),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    seed=st.integers(0, 2**31),
)
def test_both_forms_are_the_scalar_loop(
    tokens: int,
    chunk_size: int,
    decays: list[float | None],
    betas: list[float | None],
    with_memory: bool,
    dtype: torch.dtype,
    seed: int,
) -> None:
    inputs = random_inputs(tokens, decays, betas, seed)
    if dtype == torch.float32:  # the loop computes from what the forms see
        inputs = tuple(x.float().double() for x in inputs)  # type: ignore[assignment]
    if not with_memory:
        inputs = (*inputs[:5], torch.zeros_like(inputs[5]))
    expected = scalar_delta_rule(inputs)
    given_inputs = [x.to(dtype) for x in inputs]
    # With unit keys a token never enlarges the memory's error, it adds some ten roundings of its own. The
    # chunked form also knows a decay between two tokens only as a difference of sums over its chunk, in whose
    # exponent a rounding is as large as the sum.
    epsilon = torch.finfo(dtype).eps
    roundings = 10 * (tokens + 1)
    exponent = 2 * min(chunk_size, tokens) * inputs[3].abs().max().item()
    assert_close(recurrent_delta_rule(*given_inputs), expected, epsilon * roundings)
    memory = given_inputs[5] if with_memory else None
    chunked = chunked_delta_rule(*given_inputs[:5], memory, chunk_size)
    assert_close(chunked, expected, epsilon * (roundings + exponent))


def test_the_loop_itself_by_hand() -> None:
    """Two tokens with the same key: beta 1 replaces what the key holds, beta 0.5 goes half the way."""
    key = torch.tensor([[[[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]]], dtype=torch.float64).expand(1, 2, HEADS, 3)
    value = torch.tensor([[[[4.0, 8.0]], [[0.0, 2.0]]]], dtype=torch.float64).expand(1, 2, HEADS, 2)
    decay = torch.tensor([0.0, math.log(0.5)], dtype=torch.float64).view(1, 2, 1).expand(1, 2, HEADS)
    beta = torch.tensor([1.0, 0.5], dtype=torch.float64).view(1, 2, 1).expand(1, 2, HEADS)
    memory = torch.full((1, HEADS, KEY_DIM, VALUE_DIM), 16.0, dtype=torch.float64)
    outputs, after = scalar_delta_rule((key, key, value, decay, beta, memory))
    assert outputs[0, :, 0].tolist() == [[4.0, 8.0], [1.0, 3.0]]
    assert after[0, 0].tolist() == [[1.0, 3.0], [8.0, 8.0], [8.0, 8.0]]


def test_a_batch_is_its_rows() -> None:
    inputs = random_inputs(70, [None, KEEPS], [None], seed=2, batch=3)
    for rule in (recurrent_delta_rule, chunked_delta_rule):
        together = rule(*inputs)
        for row in range(3):
            alone = rule(*(x[row : row + 1] for x in inputs))
            assert_close((together[0][row : row + 1], together[1][row : row + 1]), alone, 1e-12)


def test_the_given_memory_is_not_changed() -> None:
    """Snapshots of a cache share it."""
    inputs = random_inputs(5, [None], [None], seed=3)
    before = inputs[5].clone()
    for rule in (recurrent_delta_rule, chunked_delta_rule):
        rule(*inputs)
        assert torch.equal(inputs[5], before)


@pytest.mark.parametrize("decays", [[None], [FORGETS], [FORGETS, KEEPS, None]])
@pytest.mark.parametrize("rule", [recurrent_delta_rule, chunked_delta_rule])
def test_gradients_are_the_slopes(rule: object, decays: list[float | None]) -> None:
    inputs = tuple(x.requires_grad_() for x in random_inputs(4, decays, [None], seed=4))
    if rule is chunked_delta_rule:
        assert torch.autograd.gradcheck(lambda *x: chunked_delta_rule(*x, chunk_size=2), inputs)
        assert torch.autograd.gradcheck(lambda *x: chunked_delta_rule(*x, None, chunk_size=3), inputs[:5])
    else:
        assert torch.autograd.gradcheck(recurrent_delta_rule, inputs)


@pytest.mark.parametrize("tokens", [1, 2, 64, 130])
def test_both_forms_have_the_same_gradients(tokens: int) -> None:
    generator = torch.Generator().manual_seed(tokens)
    outcome = []
    for rule in (recurrent_delta_rule, chunked_delta_rule):
        inputs = [x.requires_grad_() for x in random_inputs(tokens, [FORGETS, KEEPS, None], [0.0, 1.0, None], seed=5)]
        output, memory = rule(*inputs)
        weights = torch.randn(output.shape, generator=generator.manual_seed(6), dtype=torch.float64)
        ((output * weights).sum() + (memory**2).sum()).backward()
        outcome.append([x.grad for x in inputs])
    for recurrent, chunked in zip(*outcome, strict=True):
        assert recurrent is not None
        assert chunked is not None
        assert recurrent.abs().max() > 0
        assert torch.allclose(recurrent, chunked, rtol=0, atol=1e-11 * recurrent.abs().max().item())


def test_the_convolution_is_conv1d() -> None:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(2, 9 + 3, 5, generator=generator, dtype=torch.float64)
    weight = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    expected = F.conv1d(x.transpose(1, 2), weight[:, None], groups=5).transpose(1, 2)
    assert torch.allclose(causal_convolution(x, weight), expected, rtol=0, atol=1e-13)
