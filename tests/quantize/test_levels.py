"""Sizes of the levels, and what may be quantised."""

from __future__ import annotations

import pytest

from forklift.checkpoint.config import ModelConfig
from forklift.errors import UsageError
from forklift.quantize.levels import (
    LEVELS,
    budget_for_bits,
    budget_for_size,
    fixed_bytes,
    language_matrices,
    parse_size,
    total_weights,
    vision_matrices,
)

PUBLISHED_GIB = {"oQ8": 9.710, "oQ6": 7.686, "oQ5": 6.636, "oQ4": 5.619, "oQ3.5": 4.89, "oQ3": 4.610}


def test_the_language_matrices_of_the_9b_shape_are_all_counted(nine_billion: ModelConfig) -> None:
    matrices = language_matrices(nine_billion)
    assert total_weights(matrices) == 8_952_741_888
    assert len(matrices) == 24 * 8 + 8 * 7 + 2
    whole = fixed_bytes(nine_billion) + 2 * total_weights(matrices)
    assert whole == 2 * 9_409_813_744
    assert round(whole / 2**30, 2) == 17.53


@pytest.mark.parametrize("level", LEVELS)
def test_no_level_is_larger_than_what_is_published_under_its_name(nine_billion: ModelConfig, level: str) -> None:
    size = budget_for_bits(nine_billion, LEVELS[level].bits_per_weight) + fixed_bytes(nine_billion)
    gib = size / 2**30
    # The published figures are rounded; oQ8 is 8 bits everywhere, exactly.
    assert gib <= PUBLISHED_GIB[level] + 0.0005
    assert gib >= PUBLISHED_GIB[level] - 0.002


def test_kinds_and_layers_come_from_the_path(small_config: ModelConfig) -> None:
    places = {(matrix.kind, matrix.layer) for matrix in language_matrices(small_config)}
    assert {("embed_tokens", None), ("lm_head", None), ("mlp.down_proj", 1), ("linear_attn.out_proj", 0)} <= places


def test_norms_convolutions_and_ragged_rows_are_left_alone(nine_billion: ModelConfig) -> None:
    paths = {matrix.path for matrix in (*language_matrices(nine_billion), *vision_matrices(nine_billion))}
    assert not any("norm" in path or "conv1d" in path or "A_log" in path for path in paths)
    assert "vision.blocks.0.mlp.linear_fc1" in paths
    assert "vision.blocks.0.mlp.linear_fc2" not in paths  # 4304 columns are no whole groups of 64
    assert "vision.pos_embed" not in paths


def test_a_size_leaves_room_for_all_that_is_not_quantised(nine_billion: ModelConfig) -> None:
    budget = budget_for_size(nine_billion, 6_000_000_000)
    assert 6_000_000_000 - 2_000_000 < budget + fixed_bytes(nine_billion) < 6_000_000_000
    assert budget_for_size(nine_billion, 6_000_000_000, vision_bits=8) > budget + 290_000_000


def test_too_small_a_size_names_the_smallest_possible_one(nine_billion: ModelConfig) -> None:
    with pytest.raises(UsageError, match=r"at least ([\d,]+)") as caught:
        budget_for_size(nine_billion, 3_000_000_000)
    smallest = int(str(caught.value).split("at least ")[1].split(" ")[0].rstrip(",;").replace(",", ""))
    assert budget_for_size(nine_billion, smallest) > 0
    with pytest.raises(UsageError):
        budget_for_size(nine_billion, smallest - 1)


@pytest.mark.parametrize("bits", [2.49, 8.51, 16, 0, -1])
def test_bits_per_weight_outside_the_widths_are_refused(small_config: ModelConfig, bits: float) -> None:
    with pytest.raises(UsageError, match=r"2.5 to 8.5"):
        budget_for_bits(small_config, bits)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("6GB", 6 * 10**9),
        ("5.5 GiB", 11 * 2**29),
        ("800mb", 8 * 10**8),
        ("800MiB", 800 * 2**20),
        ("123", 123),
        ("7B", 7),
    ],
)
def test_sizes_are_read_with_their_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "6 apples", "-6GB", "6,5GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="6GB"):
        parse_size(text)
