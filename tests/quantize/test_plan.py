"""The knapsack over widths."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from forklift.checkpoint.config import ModelConfig
from forklift.errors import CheckpointError, UsageError
from forklift.quantize.levels import LEVELS, Matrix, budget_for_bits, fixed_bytes, language_matrices
from forklift.quantize.plan import WIDTHS, choose_widths, make_plan, uniform_plan, write_plan


def random_problem(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    weights = 64 * random.integers(1, 30, count)
    sizes = np.array([[w * bits // 8 + w // 16 for bits in WIDTHS] for w in weights])
    losses = (
        random.lognormal(0, 2, (count, 1)) * 4.0 ** -np.array(WIDTHS) * random.uniform(0.7, 1.3, (count, len(WIDTHS)))
    )
    return losses, sizes


def best_by_trying_all(losses: np.ndarray, sizes: np.ndarray, budget: int) -> float:
    rows = range(len(losses))
    return min(
        sum(losses[row, width] for row, width in enumerate(widths))
        for widths in itertools.product(range(len(WIDTHS)), repeat=len(losses))
        if sum(sizes[row, widths[row]] for row in rows) <= budget
    )


@pytest.mark.parametrize("seed", range(8))
def test_no_other_choice_of_widths_is_better(seed: int) -> None:
    losses, sizes = random_problem(seed, 5)
    budget = int(sizes[:, 0].sum() + (sizes[:, -1] - sizes[:, 0]).sum() * (0.1 + 0.1 * seed))
    chosen = choose_widths(losses, sizes, budget)
    rows = np.arange(5)
    assert sizes[rows, chosen].sum() <= budget
    assert losses[rows, chosen].sum() == pytest.approx(best_by_trying_all(losses, sizes, budget), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_in_coarse_units_the_choice_fits_and_is_nearly_as_good(seed: int) -> None:
    losses, sizes = random_problem(seed, 60)
    budget = int(sizes.mean(axis=1).sum())
    rows = np.arange(60)
    exact, coarse = choose_widths(losses, sizes, budget), choose_widths(losses, sizes, budget, max_units=200)
    assert sizes[rows, coarse].sum() <= budget
    assert losses[rows, exact].sum() <= losses[rows, coarse].sum() <= 1.1 * losses[rows, exact].sum()


def test_all_get_the_largest_width_where_it_fits(nine_billion: ModelConfig) -> None:
    matrices = language_matrices(nine_billion)
    losses = {matrix.path: [4.0**-bits for bits in WIDTHS] for matrix in matrices}
    plan = make_plan(matrices, losses, budget_for_bits(nine_billion, 8.5))
    assert set(plan.bits.values()) == {8}
    assert plan.stored_bytes == plan.budget_bytes


def test_the_levels_of_the_9b_shape_use_their_budget_to_the_last_unit(nine_billion: ModelConfig) -> None:
    matrices = language_matrices(nine_billion)
    random = np.random.default_rng(0)
    losses = {
        m.path: [float(w) for w in random.lognormal(0, 1) * m.weights * 4.0 ** -np.array(WIDTHS)] for m in matrices
    }
    level = LEVELS["oQ4"]
    plan = make_plan(matrices, losses, budget_for_bits(nine_billion, level.bits_per_weight), level="oQ4")
    assert 0 <= plan.budget_bytes - plan.stored_bytes < 1_000_000
    assert (fixed_bytes(nine_billion) + plan.stored_bytes) / 2**30 <= 5.619
    uniform_bytes, uniform_loss = plan.uniform(4)
    assert uniform_bytes <= plan.stored_bytes
    assert uniform_loss is not None
    assert plan.loss is not None
    assert plan.loss < uniform_loss


MATRICES = [Matrix("language.layers.0.mlp.up_proj", 8, 64), Matrix("lm_head", 16, 128)]


def test_cheap_matrices_go_below_the_base_for_dear_ones() -> None:
    losses = {MATRICES[0].path: [1000 * 4.0**-bits for bits in WIDTHS], "lm_head": [4.0**-bits for bits in WIDTHS]}
    plan = make_plan(MATRICES, losses, sum(matrix.stored_bytes(4) for matrix in MATRICES))
    assert plan.bits == {MATRICES[0].path: 8, "lm_head": 3}


def test_a_budget_below_two_bits_is_refused_with_the_numbers() -> None:
    losses = {matrix.path: [4.0**-bits for bits in WIDTHS] for matrix in MATRICES}
    smallest = sum(matrix.stored_bytes(2) for matrix in MATRICES)
    assert set(make_plan(MATRICES, losses, smallest).bits.values()) == {2}
    with pytest.raises(UsageError, match=f"{smallest - 1:,} bytes.*{smallest:,}"):
        make_plan(MATRICES, losses, smallest - 1)
    with pytest.raises(UsageError, match=f"{smallest:,}"):
        uniform_plan(MATRICES, smallest - 1)


@pytest.mark.parametrize("bad", [None, [1.0], [float("nan")] * 6, [-1.0] * 6])
def test_losses_that_are_missing_or_no_numbers_name_their_matrix(bad: list[float] | None) -> None:
    losses = {"lm_head": [1.0] * 6} | ({} if bad is None else {MATRICES[0].path: bad})
    with pytest.raises(CheckpointError, match=MATRICES[0].path):
        make_plan(MATRICES, losses, 10**6)


def test_a_uniform_plan_takes_the_largest_width_that_fits() -> None:
    plan = uniform_plan(MATRICES, sum(matrix.stored_bytes(6) for matrix in MATRICES) - 1)
    assert set(plan.bits.values()) == {5}
    assert plan.loss is None


def test_a_plan_on_the_disk_says_what_it_would_cost_otherwise(tmp_path: Path) -> None:
    losses = {matrix.path: [4.0**-bits for bits in WIDTHS] for matrix in MATRICES}
    plan = make_plan(MATRICES, losses, 2000, fixed_bytes=100, level="oQ5", calibration="c1")
    write_plan(plan, tmp_path / "plan.json")
    held = json.loads((tmp_path / "plan.json").read_text())
    assert held["total_bytes"] == plan.stored_bytes + 100
    assert [matrix["bits"] for matrix in held["matrices"]] == list(plan.bits.values())
    assert [entry["expected_loss"] for entry in held["uniform"]] == [2 * 4.0**-bits for bits in WIDTHS]
    with pytest.raises(UsageError, match="cannot be written"):
        write_plan(plan, tmp_path / "no" / "plan.json")
