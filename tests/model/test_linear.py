"""Packing is exact at every width; quantised layers compute what their dequantised matrices do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.errors import CheckpointError
from forklift.model.linear import (
    SUPPORTED_BITS,
    Embedding,
    Linear,
    Packed,
    QuantizedEmbedding,
    QuantizedLinear,
    dequantize,
    pack_codes,
    quantize_groups,
    replace_quantized,
    unpack_codes,
)

bits_and_codes = st.sampled_from(SUPPORTED_BITS).flatmap(
    lambda bits: st.tuples(
        st.just(bits),
        st.integers(1, 3).flatmap(
            lambda words: st.lists(st.integers(0, 2**bits - 1), min_size=32 * words, max_size=32 * words)
        ),
    )
)


@settings(max_examples=150, deadline=None)
@given(bits_and_codes)
def test_packed_words_are_the_bit_stream_of_the_codes(case: tuple[int, list[int]]) -> None:
    """Against Python's integers: code i stands at bit i * bits of one long number, cut into 32-bit words."""
    bits, codes = case
    number = sum(code << (index * bits) for index, code in enumerate(codes))
    words = [(number >> (32 * word)) & 0xFFFFFFFF for word in range(len(codes) * bits // 32)]
    packed = pack_codes(torch.tensor([codes], dtype=torch.uint8), bits)
    assert packed.dtype == torch.uint32
    assert packed.numpy().tolist() == [words]
    assert unpack_codes(packed, bits).tolist() == [codes]


@pytest.mark.parametrize("bits", SUPPORTED_BITS)
def test_packing_keeps_leading_dimensions(bits: int) -> None:
    codes = torch.randint(0, 2**bits, (2, 3, 64), dtype=torch.uint8, generator=torch.Generator().manual_seed(bits))
    packed = pack_codes(codes, bits)
    assert packed.shape == (2, 3, 2 * bits)
    assert torch.equal(unpack_codes(packed, bits), codes)


def test_ragged_rows_and_unknown_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot pack 40 codes of 3 bits"):
        pack_codes(torch.zeros(1, 40, dtype=torch.uint8), 3)
    with pytest.raises(ValueError, match="cannot pack 32 codes of 7 bits"):
        pack_codes(torch.zeros(1, 32, dtype=torch.uint8), 7)
    with pytest.raises(ValueError, match=r"4 words .* no whole number of groups"):
        unpack_codes(torch.zeros(1, 4, dtype=torch.uint32), 3)


@settings(max_examples=60, deadline=None)
@given(
    bits=st.sampled_from(SUPPORTED_BITS),
    group_size=st.sampled_from((32, 64, 128)),
    seed=st.integers(0, 2**31),
    spread=st.floats(1e-4, 1e4),
    offset=st.floats(-10, 10),
)
def test_the_error_of_a_group_is_half_a_step_and_the_rounding_of_its_ends(
    bits: int, group_size: int, seed: int, spread: float, offset: float
) -> None:
    generator = torch.Generator().manual_seed(seed)
    weight = spread * (torch.randn(3, 256, generator=generator) + offset)
    packed = quantize_groups(weight, bits=bits, group_size=group_size)
    error = (dequantize(packed) - weight).abs().unflatten(-1, (-1, group_size)).amax(-1)
    groups = weight.unflatten(-1, (-1, group_size))
    low, high = groups.amin(-1), groups.amax(-1)
    # Rounding to the 8 significant bits of bfloat16 moves a value by 2**-8 of itself at most; the far end of
    # a group is moved by its bias and its scale.
    moved = 2**-8 * (low.abs() + (high - low))
    assert (error <= 1.01 * (packed.scales.float() / 2) + moved).all()


def test_a_constant_group_is_its_bias() -> None:
    packed = quantize_groups(torch.full((2, 64), -0.75), bits=2)
    assert torch.equal(dequantize(packed), torch.full((2, 64), -0.75))


@pytest.mark.parametrize(
    ("weight", "bits", "group_size", "message"),
    [
        (torch.zeros(2, 96), 4, 64, "a row of 96 weights is no whole number of groups of 64"),
        (torch.full((2, 64), float("nan")), 4, 64, "NaN or infinity"),
        (torch.full((2, 64), float("inf")), 4, 64, "NaN or infinity"),
        (torch.zeros(2, 64), 7, 64, "bits is 7; supported: 2, 3, 4, 5, 6, 8"),
        (torch.zeros(2, 64), 4, 16, "group_size is 16; supported: 32, 64, 128"),
    ],
)
def test_what_cannot_be_quantised_is_refused(weight: torch.Tensor, bits: int, group_size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quantize_groups(weight, bits=bits, group_size=group_size)


def test_dequantising_follows_the_formula() -> None:
    codes = np.arange(64, dtype=np.uint8)[None] % 8
    packed = Packed(
        pack_codes(torch.from_numpy(codes), 3),
        torch.tensor([[0.5, 2.0]]).bfloat16(),
        torch.tensor([[-1.0, 3.0]]).bfloat16(),
        bits=3,
        group_size=32,
    )
    expected = np.concatenate([0.5 * codes[0, :32] - 1.0, 2.0 * codes[0, 32:] + 3.0])
    assert packed.shape == (1, 64)
    assert dequantize(packed)[0].tolist() == expected.tolist()
    assert dequantize(packed, torch.bfloat16).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_quantised_linear_multiplies_by_its_dequantised_matrix(dtype: torch.dtype, with_bias: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    packed = quantize_groups(torch.randn(5, 128, generator=generator), bits=3)
    bias = torch.randn(5, generator=generator).to(dtype) if with_bias else None
    x = torch.randn(2, 7, 128, generator=generator).to(dtype)
    expected = x @ dequantize(packed, dtype).T + (0 if bias is None else bias)
    result = QuantizedLinear(packed, bias)(x)
    assert result.dtype == dtype
    # bfloat16: `expected` is rounded once before the bias is added and once after.
    tolerance = 1e-6 if dtype == torch.float32 else 2 * 2**-8
    assert torch.allclose(result, expected, rtol=0, atol=tolerance * expected.abs().max().item())


def test_a_quantised_embedding_looks_up_rows_and_serves_as_a_head() -> None:
    packed = quantize_groups(torch.randn(20, 64, generator=torch.Generator().manual_seed(2)), bits=6)
    table = dequantize(packed)
    embedding = QuantizedEmbedding(packed, torch.float32)
    for ids in (torch.tensor(7), torch.tensor([3, 19, 3]), torch.tensor([[0, 1], [2, 3]])):
        assert torch.equal(embedding(ids), table[ids])
    x = torch.randn(4, 64, generator=torch.Generator().manual_seed(3))
    assert torch.allclose(embedding.as_linear(x), x @ table.T, atol=1e-5)


def test_replacing_swaps_linear_and_embedding_and_refuses_the_rest() -> None:
    model = torch.nn.Module()
    model.block = torch.nn.Module()
    model.block.up = Linear(64, 8, bias=True)
    model.table = Embedding(8, 64)
    model.norm = torch.nn.LayerNorm(64)
    packed = quantize_groups(torch.randn(8, 64, generator=torch.Generator().manual_seed(4)), bits=4)
    bias = model.block.up.bias
    replace_quantized(
        model,
        {"block.up.weight": packed, "table.weight": packed, "norm.weight": torch.zeros(64)},
        torch.float32,
    )
    assert isinstance(model.block.up, QuantizedLinear)
    assert model.block.up.bias is bias
    assert isinstance(model.table, QuantizedEmbedding)
    for name in ("norm.weight", "nowhere.weight"):
        with pytest.raises(CheckpointError, match=f"{name} is quantised, but"):
            replace_quantized(model, {name: packed}, torch.float32)


def test_a_quantised_layer_passes_gradients_to_its_input() -> None:
    packed = quantize_groups(torch.randn(8, 64, generator=torch.Generator().manual_seed(5)), bits=4)
    x = torch.ones(1, 64, requires_grad=True)
    QuantizedLinear(packed)(x).sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad[0], dequantize(packed).sum(0))
