"""The vision tower against transformers' on the same random weights; its learned square has 8 x 8 positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from forklift.model import Model
from tests.model.references import PATCH_SIZE, TOLERANCE, Grid, difference

GRIDS: list[Grid] = [
    (1, 2, 2),  # a single token
    (1, 4, 6),
    (1, 8, 8),  # the learned square itself
    (1, 2, 40),
    (1, 30, 2),
    (1, 20, 26),
    (2, 4, 6),  # two frames
]


@pytest.mark.parametrize("grids", [GRIDS, *([grid] for grid in GRIDS)], ids=str)
def test_image_embeddings(reference: Any, model: Model, grids: Sequence[Grid]) -> None:
    count = sum(frames * rows * columns for frames, rows, columns in grids)
    patches = torch.randn(count, PATCH_SIZE, generator=torch.Generator().manual_seed(count))
    with torch.no_grad():
        expected = reference.model.visual(patches, grid_thw=torch.tensor(grids)).pooler_output
        assert difference(model.vision(patches, grids), expected) < TOLERANCE


def test_equally_large_images_may_go_together(model: Model) -> None:
    patches = torch.randn(3, 4 * 6, PATCH_SIZE, generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        together = model.vision.encode(model.vision.patch_embed(patches), 4, 6)
        alone = model.vision(patches.flatten(0, 1), [(1, 4, 6)] * 3)
    assert difference(together.flatten(0, 1), alone) < TOLERANCE


@settings(max_examples=40, deadline=None)
@given(rows=st.integers(1, 60).map(lambda half: 2 * half), columns=st.integers(1, 60).map(lambda half: 2 * half))
def test_position_embeddings_are_resampled_with_corners_aligned(model: Model, rows: int, columns: int) -> None:
    square = model.vision.pos_embed.weight.detach().T.reshape(1, -1, 8, 8)
    raster = F.interpolate(square, size=(rows, columns), mode="bilinear", align_corners=True)[0]
    blocks = raster.unflatten(2, (-1, 2)).unflatten(1, (-1, 2)).permute(1, 3, 2, 4, 0)
    # A place on the axis, up to 7, is known to 7 * 2**-24 or so; neighbours differ by less than 1.
    assert torch.allclose(model.vision.positions(rows, columns), blocks.flatten(0, 3), rtol=0, atol=4e-6)
