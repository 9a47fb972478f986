"""Patches against the image processor of transformers, bit for bit."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from forklift.errors import CheckpointError, DocumentError
from forklift.patches import ImageProcessor, smart_resize

HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
QWEN = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2, **HALF}
SETTINGS: dict[str, dict[str, Any]] = {
    "qwen3.5": {**QWEN, "size": {"shortest_edge": 65536, "longest_edge": 16777216}},
    "nano": {**QWEN, "size": {"shortest_edge": 1024, "longest_edge": 1088 * 1408}},
    "small maximum": {**QWEN, "size": {"shortest_edge": 1024, "longest_edge": 200_000}},
    "min_pixels and max_pixels": {**QWEN, "min_pixels": 40_000, "max_pixels": 90_000},
    "the processor's defaults": {},  # patch 14, and means that float32 does not hold exactly
}
SIZES = [
    (32, 32),
    (64, 96),  # multiples of 32: no resampling
    (448, 448),
    (794, 1123),  # A4 at 96 dpi
    (816, 1056),  # Letter at 96 dpi: no multiple of 32 either way
    (1, 1),
    (7, 300),
    (31, 33),
    (48, 80),  # halves of 32: Python rounds to even
    (1500, 40),
    (1234, 777),
]


def noise(size: tuple[int, int], mode: str, seed: int) -> Image.Image:
    """Random pixels with flat areas, so that the filter's overshoot at edges is clipped somewhere."""
    width, height = size
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
    pixels[: height // 3] = np.where(pixels[: height // 3] > 127, 255, 0)
    image = Image.fromarray(pixels)
    return image.convert("L").convert("RGB") if mode == "grey" else image


def reference(settings: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

        return Qwen2VLImageProcessorPil(**settings)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_patches_equal_the_reference_bit_for_bit(settings: dict[str, Any]) -> None:
    ours, theirs = ImageProcessor.from_settings(settings), reference(settings)
    for seed, size in enumerate(SIZES):
        if max(size) > 1200 and settings is not SETTINGS["nano"]:
            continue  # the large ones once are enough
        for mode in ("colour", "grey"):
            image = noise(size, mode, seed)
            patches, grid = ours.patchify(image)
            expected = theirs(image, return_tensors="np")
            assert grid == tuple(expected["image_grid_thw"][0]), size
            assert patches.dtype == expected["pixel_values"].dtype == np.float32
            assert patches.tobytes() == expected["pixel_values"].tobytes(), (size, mode)


def test_grey_pictures_of_one_channel_equal_the_reference() -> None:
    image = noise((100, 70), "colour", 3).convert("L")
    patches, _ = ImageProcessor.from_settings(SETTINGS["nano"]).patchify(image)
    expected = reference(SETTINGS["nano"])(image, return_tensors="np")
    assert patches.tobytes() == expected["pixel_values"].tobytes()


def test_the_resized_size_equals_the_reference_everywhere() -> None:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize as expected

    random = np.random.default_rng(0)
    compared = 0
    for _ in range(3000):
        height, width = (int(side) for side in np.exp(random.uniform(0, np.log(20_000), 2)))
        bounds = {"factor": 32, "min_pixels": 65536, "max_pixels": 1088 * 1408}
        if max(height, width) / min(height, width) > 200:
            with pytest.raises(ValueError, match="200 times"):
                smart_resize(height, width, **bounds)
            continue
        assert smart_resize(height, width, **bounds) == expected(height, width, **bounds)
        compared += 1
    assert compared > 2000


def test_a_patch_holds_channel_frame_row_column_and_patches_go_token_by_token() -> None:
    # 64 x 64 pixels: 4 tokens of 4 patches; each 16 x 16 tile has its own value in each channel.
    pixels = np.zeros((64, 64, 3), np.uint8)
    for row in range(4):
        for column in range(4):
            pixels[row * 16 : row * 16 + 16, column * 16 : column * 16 + 16] = (row * 4 + column, 100, 200)
    processor = ImageProcessor.from_settings({**SETTINGS["nano"], "image_mean": [0, 0, 0], "image_std": [1, 1, 1]})
    patches, grid = processor.patchify(Image.fromarray(pixels))
    assert grid == (1, 4, 4)
    assert processor.tokens_of(grid) == 4
    values = np.rint(patches.reshape(16, 3, 2, 16, 16) * 255).astype(int)
    assert [int(patch[0, 0, 0, 0]) for patch in values] == [
        0,
        1,
        4,
        5,
        2,
        3,
        6,
        7,
        8,
        9,
        12,
        13,
        10,
        11,
        14,
        15,
    ]
    assert (values[:, 1] == 100).all()
    assert (values[:, 2] == 200).all()


def test_a_strip_that_the_reference_refuses_is_a_document_error() -> None:
    with pytest.raises(DocumentError, match="3 x 3000"):
        ImageProcessor.from_settings(SETTINGS["nano"]).patchify(Image.new("RGB", (3, 3000)))


def test_settings_are_read_from_either_file(tmp_path: Path) -> None:
    settings = SETTINGS["nano"]
    (tmp_path / "processor_config.json").write_text(json.dumps({"image_processor": settings}))
    assert ImageProcessor.from_folder(tmp_path) == ImageProcessor.from_settings(settings)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**settings, "max_pixels": 4096}))
    assert ImageProcessor.from_folder(tmp_path).max_pixels == 4096


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no preprocessor_config.json"),
        ("{", "not usable"),
        ('{"do_normalize": false}', "do_normalize"),
        ('{"resample": 2}', "only 3"),
        ('{"image_mean": [0.5]}', "three values"),
    ],
)
def test_settings_that_cannot_be_honoured_are_refused(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "preprocessor_config.json").write_text(content)
    with pytest.raises(CheckpointError, match=message):
        ImageProcessor.from_folder(tmp_path)
