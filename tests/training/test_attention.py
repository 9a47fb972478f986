"""The tiles of `attention.cpp` against plain attention in double precision."""

import pytest
import torch

from training.attention import _library, attend, attend_plainly


def _inputs(batch: int, heads: int, groups: int, tokens: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(tokens)
    shapes = ((batch, heads), (batch, groups), (batch, groups), (batch, heads))
    # Strong enough that some queries see almost only one key.
    return [(torch.randn(*shape, tokens, 64, generator=generator) * 1.5).bfloat16() for shape in shapes]


def _run(function, inputs: list[torch.Tensor], dtype: torch.dtype, causal: bool) -> list[torch.Tensor]:
    *leaves, gradient = (tensor.to(dtype) for tensor in inputs)
    leaves = [leaf.detach().requires_grad_() for leaf in leaves]
    output = function(*leaves, causal=causal)
    output.backward(gradient)
    return [output.detach().double(), *(leaf.grad.double() for leaf in leaves)]


SHAPES = [
    (1, 1, 1, 5, True),  # fewer than a tile
    (1, 1, 1, 32, False),
    (1, 2, 1, 33, True),
    (2, 3, 3, 168, False),  # a crop
    (2, 4, 2, 300, True),  # shared keys, blocks that are cut
    (1, 3, 3, 936, False),  # a page
]


@pytest.mark.skipif(_library() is None, reason="this processor has no AMX tiles, or there is no compiler")
@pytest.mark.parametrize(("batch", "heads", "groups", "tokens", "causal"), SHAPES)
def test_output_and_gradients_are_as_exact_as_bfloat16_allows(batch, heads, groups, tokens, causal):
    inputs = _inputs(batch, heads, groups, tokens)
    truth = _run(attend_plainly, inputs, torch.float64, causal)
    for mine, true in zip(_run(attend, inputs, torch.bfloat16, causal), truth, strict=True):
        assert (mine - true).norm() <= 0.006 * true.norm()


def test_plain_attention_is_torchs_own():
    query, key, value, _ = (tensor.double() for tensor in _inputs(2, 4, 2, 40))
    wide = (key.repeat_interleave(2, 1), value.repeat_interleave(2, 1))
    for causal in (False, True):
        expected = torch.nn.functional.scaled_dot_product_attention(query, *wide, is_causal=causal)
        torch.testing.assert_close(attend_plainly(query, key, value, causal=causal), expected)


@pytest.mark.skipif(_library() is None, reason="this processor has no AMX tiles, or there is no compiler")
def test_views_with_strides_need_no_copy():
    inputs = _inputs(2, 3, 3, 64)
    joined = torch.stack([tensor.transpose(1, 2) for tensor in inputs[:3]], 2)  # as one projection gives them
    views = joined.permute(2, 0, 3, 1, 4)
    assert not views[0].is_contiguous()
    torch.testing.assert_close(attend(*views), attend(*inputs[:3]))
