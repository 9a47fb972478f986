"""Page images into the patches that the vision tower takes: the Qwen2-VL image processor, in NumPy.

Bit-for-bit the processor of transformers that works on PIL images (Qwen2VLImageProcessorPil, used wherever
torchvision is absent): Pillow's bicubic filter on 8-bit pixels, then value / 255 rounded to float32, then
(value - mean) / std in float32. The torchvision one resizes with integer weights of its own and folds
1/255 into mean and std, so that grey levels and the last float bit differ from both.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from forklift.errors import CheckpointError, DocumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Grid = tuple[int, int, int]  # frames (1 for a still image), patch rows, patch columns

_REFERENCE_MEAN = (0.48145466, 0.4578275, 0.40821073)
_REFERENCE_STD = (0.26862954, 0.26130258, 0.27577711)
_BICUBIC = 3
_MAX_ASPECT_RATIO = 200


def smart_resize(height: int, width: int, *, factor: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    """The (height, width) that an image is resized to: multiples of `factor`, area within the bounds, the
    aspect ratio kept as well as that allows.

    Raises ValueError for an image more than 200 times as long as it is wide.
    """
    if max(height, width) > _MAX_ASPECT_RATIO * min(height, width):
        raise ValueError(f"an image of {width} x {height} pixels is longer than {_MAX_ASPECT_RATIO} times its width")
    rows, columns = round(height / factor) * factor, round(width / factor) * factor
    if rows * columns > max_pixels:
        shrink = math.sqrt((height * width) / max_pixels)
        rows = max(factor, math.floor(height / shrink / factor) * factor)
        columns = max(factor, math.floor(width / shrink / factor) * factor)
    elif rows * columns < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        rows = math.ceil(height * grow / factor) * factor
        columns = math.ceil(width * grow / factor) * factor
    return rows, columns


@dataclass(frozen=True)
class ImageProcessor:
    """Settings of preprocessor_config.json. Sizes in pixels; `min_pixels` and `max_pixels` bound the area.

    merge_size: the tower joins merge_size x merge_size patches into one token.
    """

    patch_size: int = 14
    temporal_patch_size: int = 2
    merge_size: int = 2
    min_pixels: int = 56 * 56
    max_pixels: int = 28 * 28 * 1280
    mean: tuple[float, float, float] = _REFERENCE_MEAN
    std: tuple[float, float, float] = _REFERENCE_STD
    rescale_factor: float = 1 / 255

    @classmethod
    def from_folder(cls, folder: Path) -> ImageProcessor:
        """Read preprocessor_config.json, or the "image_processor" part of processor_config.json.

        Raises CheckpointError when both are missing, unreadable, or ask for something else than this
        processor.
        """
        for name, part in (("preprocessor_config.json", None), ("processor_config.json", "image_processor")):
            path = folder / name
            if not path.is_file():
                continue
            try:
                settings = json.loads(path.read_text(encoding="utf-8"))
                if part is not None:
                    settings = settings.get(part)
                if settings is not None:
                    return cls.from_settings(settings)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise CheckpointError(f"{path}: not usable as image processor settings: {error}.") from error
        raise CheckpointError(
            f"{folder}: has no preprocessor_config.json, which says how page images become patches; "
            "copy it from the model's original repository."
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> ImageProcessor:
        """Read the keys of preprocessor_config.json; those that are absent take the reference's defaults."""
        for step in ("do_resize", "do_rescale", "do_normalize"):
            if settings.get(step) is False:
                raise ValueError(f'"{step}": false is not supported')
        if settings.get("resample", _BICUBIC) != _BICUBIC:
            raise ValueError(f'"resample": {settings["resample"]} is not supported; only 3 (bicubic) is')
        size = settings.get("size") or {}
        # min_pixels and max_pixels win over size, as in the reference.
        min_pixels = settings.get("min_pixels") or size.get("shortest_edge") or cls.min_pixels
        max_pixels = settings.get("max_pixels") or size.get("longest_edge") or cls.max_pixels
        mean = settings.get("image_mean") or cls.mean
        std = settings.get("image_std") or cls.std
        if len(mean) != 3 or len(std) != 3:
            raise ValueError(f'"image_mean" and "image_std" need three values, not {mean} and {std}')
        return cls(
            patch_size=int(settings.get("patch_size") or cls.patch_size),
            temporal_patch_size=int(settings.get("temporal_patch_size") or cls.temporal_patch_size),
            merge_size=int(settings.get("merge_size") or cls.merge_size),
            min_pixels=int(min_pixels),
            max_pixels=int(max_pixels),
            mean=(float(mean[0]), float(mean[1]), float(mean[2])),
            std=(float(std[0]), float(std[1]), float(std[2])),
            rescale_factor=float(settings.get("rescale_factor") or cls.rescale_factor),
        )

    @property
    def patch_elements(self) -> int:
        """Numbers in one patch: channels x frames x patch_size x patch_size."""
        return 3 * self.temporal_patch_size * self.patch_size**2

    def tokens_of(self, grid: Grid) -> int:
        """How many image tokens the tower makes of a grid."""
        return grid[0] * grid[1] * grid[2] // self.merge_size**2

    def grid_of(self, image: Image.Image) -> Grid:
        """Frames, rows and columns of the patches of `image`.

        Raises DocumentError for an image more than 200 times as long as it is wide.
        """
        try:
            height, width = smart_resize(
                image.height,
                image.width,
                factor=self.patch_size * self.merge_size,
                min_pixels=self.min_pixels,
                max_pixels=self.max_pixels,
            )
        except ValueError as error:
            raise DocumentError(f"{error}; crop it, or add a margin to its long sides.") from None
        return 1, height // self.patch_size, width // self.patch_size

    def patchify(self, image: Image.Image, out: NDArray[np.float32] | None = None) -> tuple[NDArray[np.float32], Grid]:
        """Cut an RGB page image into patches.

        Returns float32 [grid rows * grid columns, patch_elements], in `out` when that is given, and the grid. The
        patches of one merged token follow one another (row by row within it), tokens go row by row over the page;
        within a patch the order is channel, frame, row, column, and the still image is repeated in every frame.
        Raises DocumentError for an image more than 200 times as long as it is wide.
        """
        image = image if image.mode == "RGB" else image.convert("RGB")
        side, merge = self.patch_size, self.merge_size
        grid = self.grid_of(image)
        _, rows, columns = grid
        pixels = np.asarray(image.resize((columns * side, rows * side), Image.Resampling.BICUBIC))
        # height -> (token row, row in token, row in patch), width likewise, channel last
        cut = pixels.reshape(rows // merge, merge, side, columns // merge, merge, side, 3)
        cut = cut.transpose(0, 3, 1, 4, 6, 2, 5)  # token row, token column, row, column, channel, patch row, column
        if out is None:
            out = np.empty((rows * columns, self.patch_elements), dtype=np.float32)
        values = out.reshape(rows * columns, 3, self.temporal_patch_size, side, side)
        table = self._table()
        flat = cut.reshape(rows * columns, 3, side, side)
        for channel in range(3):
            values[:, channel] = table[channel][flat[:, channel]][:, None]
        return out, grid

    def _table(self) -> NDArray[np.float32]:
        """float32 [3, 256]: what each 8-bit value becomes, in the reference's order of operations and
        rounding.
        """
        rescaled = (np.arange(256, dtype=np.float64) * self.rescale_factor).astype(np.float32)
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)
        table: NDArray[np.float32] = (rescaled[None, :] - mean[:, None]) / std[:, None]
        return table
