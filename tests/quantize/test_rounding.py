"""Codes, scales and biases."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from forklift.errors import CheckpointError
from forklift.model.linear import SUPPORTED_BITS, Packed, dequantize, quantize_groups
from forklift.quantize.rounding import Curvature, Rounder, error_cost, fit_group, round_min_max

GOLDEN = Path(__file__).parent / "mlx_quantized.safetensors"


def gaussian(rows: int, columns: int, seed: int = 0) -> Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)).bfloat16().float()


def correlated_moments(columns: int, seed: int = 1) -> Tensor:
    """Second moments of inputs some of which are large and many of which move together, [1, columns, columns]."""
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(columns, columns, generator=generator) / columns**0.5 + torch.eye(columns)
    inputs = torch.randn(4 * columns, columns, generator=generator) @ mixing
    inputs *= torch.rand(columns, generator=generator).mul(2).exp()
    return (inputs.T @ inputs / len(inputs))[None]


def mean_square(error: Tensor) -> float:
    return float(error.square().mean())


@pytest.mark.parametrize("bits", SUPPORTED_BITS)
def test_the_baseline_is_what_mlx_writes_bit_for_bit(bits: int) -> None:
    golden = load_file(GOLDEN)  # written by mlx.core.quantize; tests/quantize/make_golden.py
    packed = round_min_max(golden["weight"], bits).packed(bits)
    assert torch.equal(packed.codes.view(torch.int32), golden[f"{bits}.codes"].view(torch.int32))
    assert torch.equal(packed.scales, golden[f"{bits}.scales"])
    assert torch.equal(packed.biases, golden[f"{bits}.biases"])


@pytest.mark.parametrize("group_size", [32, 64, 128])
@pytest.mark.parametrize("bits", SUPPORTED_BITS)
def test_mlx_reads_our_layout_and_we_read_its(bits: int, group_size: int) -> None:
    mx = pytest.importorskip("mlx.core")
    weight = gaussian(8, 256)
    codes, scales, biases = mx.quantize(mx.array(weight.numpy()), group_size=group_size, bits=bits)
    theirs = Packed(*(torch.tensor(part.tolist()) for part in (codes, scales, biases)), bits, group_size)
    theirs = Packed(theirs.codes.to(torch.uint32), theirs.scales, theirs.biases, bits, group_size)
    decoded = mx.dequantize(codes, scales, biases, group_size=group_size, bits=bits)
    assert torch.equal(dequantize(theirs), torch.tensor(decoded.tolist()))
    ours = quantize_groups(weight, bits=bits, group_size=group_size)
    parts = (mx.array(part.numpy()) for part in (ours.codes, ours.scales.float(), ours.biases.float()))
    read = mx.dequantize(*parts, group_size=group_size, bits=bits)
    assert torch.equal(torch.tensor(read.tolist()), dequantize(ours))


@pytest.mark.parametrize("bits", SUPPORTED_BITS)
def test_what_is_packed_stands_for_what_was_rounded(bits: int) -> None:
    rounded = Rounder(Curvature.identity(128)).round(gaussian(16, 128), bits)
    assert torch.equal(dequantize(rounded.packed(bits)), rounded.dequantized())
    assert int(rounded.codes.max()) <= 2**bits - 1
    assert rounded.scales.dtype == rounded.biases.dtype == torch.bfloat16


# Of min/max: measured 0.67, 0.77, 0.84, 0.88, 0.90 and 0.54 on these weights.
@pytest.mark.parametrize(("bits", "share"), [(2, 0.70), (3, 0.79), (4, 0.86), (5, 0.90), (6, 0.91), (8, 0.60)])
def test_fitting_alone_lowers_the_error(bits: int, share: float) -> None:
    weight = gaussian(128, 256)
    fitted = Rounder(Curvature.identity(256), sweeps=0).round(weight, bits).dequantized()
    plain = round_min_max(weight, bits).dequantized()
    assert mean_square(fitted - weight) < share * mean_square(plain - weight)


@pytest.mark.parametrize("bits", SUPPORTED_BITS)
def test_feedback_and_sweeps_each_lower_the_cost(bits: int) -> None:
    weight, moments = gaussian(64, 256), correlated_moments(256)

    def cost(rounder: Rounder) -> float:
        return float(error_cost(rounder.round(weight, bits).dequantized() - weight, moments).mean())

    plain = float(error_cost(round_min_max(weight, bits).dequantized() - weight, moments).mean())
    diagonal = cost(Rounder(Curvature.diagonal(moments[0].diagonal())))
    once = cost(Rounder(Curvature(moments), sweeps=0))
    swept = cost(Rounder(Curvature(moments), sweeps=2))
    assert swept < 0.95 * once
    assert once < 0.8 * diagonal
    assert diagonal < plain


def test_more_sweeps_never_raise_the_cost() -> None:
    weight, moments = gaussian(32, 128), correlated_moments(128)
    damped = moments + 0.01 * moments.diagonal(dim1=1, dim2=2).mean() * torch.eye(128)
    costs = [
        error_cost(Rounder(Curvature(moments), sweeps=sweeps).round(weight, 3).dequantized() - weight, damped)
        for sweeps in range(4)
    ]
    for before, after in pairwise(costs):
        assert bool((after <= before * (1 + 1e-4) + 1e-6).all())


def test_rows_do_not_depend_on_each_other() -> None:
    weight, moments = gaussian(40, 128), correlated_moments(128)
    rounder = Rounder(Curvature(moments))
    whole, part = rounder.round(weight, 4), rounder.round(weight[7:19], 4)
    assert torch.equal(whole.codes[7:19], part.codes)
    assert torch.equal(whole.scales[7:19], part.scales)


def test_blocks_of_the_curvature_are_independent() -> None:
    weight, moments = gaussian(8, 256), correlated_moments(128)
    both = Rounder(Curvature(torch.cat((moments, moments)))).round(weight, 3)
    # The damping is a share of the mean over all blocks, the same here.
    assert torch.equal(both.codes[:, :128], Rounder(Curvature(moments)).round(weight[:, :128], 3).codes)


@pytest.mark.parametrize("bits", SUPPORTED_BITS)
def test_constant_and_extreme_groups_come_out_finite(bits: int) -> None:
    weight = torch.zeros(5, 64)
    weight[1] = 0.25
    weight[2, 0] = 1e30
    weight[3, ::2] = 1e-30
    weight[4] = -3.0
    for rounded in (round_min_max(weight, bits), Rounder(Curvature.identity(64)).round(weight, bits)):
        assert bool(torch.isfinite(rounded.dequantized()).all())
    fitted = Rounder(Curvature.identity(64)).round(weight, bits).dequantized()
    assert torch.equal(fitted[[0, 1, 4]], weight[[0, 1, 4]])


def test_a_fitted_group_is_stored_without_another_rounding() -> None:
    scale, bias = fit_group(gaussian(64, 32), torch.ones(64), 4)
    assert torch.equal(scale, scale.bfloat16().float())
    assert torch.equal(bias, bias.bfloat16().float())


def test_inputs_that_no_sample_used_round_as_if_nothing_were_known() -> None:
    weight = gaussian(8, 64)
    nothing = Rounder(Curvature(torch.zeros(1, 64, 64))).round(weight, 4)
    assert torch.equal(nothing.codes, Rounder(Curvature.identity(64)).round(weight, 4).codes)


def test_moments_that_are_slightly_indefinite_still_round() -> None:
    moments = torch.ones(1, 64, 64)
    moments[0].fill_diagonal_(0.9)  # eigenvalues -0.1
    assert bool(torch.isfinite(Rounder(Curvature(moments)).round(gaussian(4, 64), 4).dequantized()).all())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_curvature_that_is_no_form_is_refused(value: float) -> None:
    with pytest.raises(CheckpointError, match="calibrat"):
        Rounder(Curvature(torch.full((1, 64, 64), value)))
