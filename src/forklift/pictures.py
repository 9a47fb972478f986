"""Pictures of every kind that Pillow opens, as upright 8-bit RGB on white."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image, ImageOps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PHOTOMETRIC_TAG = 262  # TIFF; 0 means that the value zero is white
_GREY_DEPTHS = (8, 10, 12, 14, 16)


def as_rgb(image: Image.Image) -> Image.Image:
    """The current frame of `image` as a new RGB picture: turned upright by its EXIF orientation, transparency
    laid on white, any bit depth scaled to 8 bits.

    Raises ValueError for a colour mode that cannot be converted, OSError for damaged pixel data.
    """
    # Read before loading: Pillow keeps the tags of the frame, but inverts only some of the modes.
    zero_is_white = image.format == "TIFF" and _tiff_photometric(image) == 0
    image.load()
    upright = ImageOps.exif_transpose(image)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;16"):
        return _grey_to_8_bits(upright, inverted=zero_is_white and upright.mode != "F").convert("RGB")
    if "A" in upright.getbands() or "a" in upright.getbands() or "transparency" in upright.info:
        return on_white(upright)
    return upright.convert("RGB") if upright.mode != "RGB" else upright.copy()


def on_white(image: Image.Image) -> Image.Image:
    """`image`, which has an alpha channel or a transparent colour, as RGB laid on white."""
    coloured = image.convert("RGBA")
    white = Image.new("RGBA", coloured.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, coloured).convert("RGB")


def _grey_to_8_bits(image: Image.Image, *, inverted: bool) -> Image.Image:
    """Scale grey values of more than 8 bits by the range that they really use.

    Scanners store 10-, 12- and 14-bit values in 16-bit files, so white is the smallest full scale that holds
    the largest value; stretching by minimum and maximum instead would turn the noise of a blank page into
    pattern. Values that no such scale fits (negative, wider, floating) are stretched.
    """
    import numpy as np

    grey: NDArray[np.float64] = np.asarray(image).astype(np.float64)
    grey = np.nan_to_num(grey, nan=0.0, posinf=0.0, neginf=0.0)
    low, high = float(grey.min()), float(grey.max())
    if image.mode == "F" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= 0 and high <= 2**16 - 1:
        low, high = 0.0, next(2.0**depth - 1 for depth in _GREY_DEPTHS if high <= 2**depth - 1)
    scaled = (grey - low) * (255.0 / max(high - low, 1e-12))
    if inverted:
        scaled = 255.0 - scaled
    return Image.fromarray(np.rint(scaled).clip(0, 255).astype(np.uint8))


def _tiff_photometric(image: Image.Image) -> int | None:
    tags = getattr(image, "tag_v2", None)
    value = tags.get(_PHOTOMETRIC_TAG) if tags is not None else None
    return int(value) if value is not None else None
