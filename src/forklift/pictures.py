"""Pictures of every kind that Pillow opens, as upright 8-bit RGB on white."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PIL import Image, ImageOps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PHOTOMETRIC_TAG = 262  # TIFF; 0 means that the value zero is white
_RESOLUTION_TAGS = (282, 283)  # TIFF: pixels per unit across and down
_ORIENTATION_TAG = 274
_ON_THEIR_SIDE = (5, 6, 7, 8)  # orientations that swap width and height
_MAX_PIXEL_RATIO = 2.5  # a fax line is up to twice as high as its pixels are wide (204 x 98 dpi); more is a broken tag
_GREY_DEPTHS = (8, 10, 12, 14, 16)
_BAND_PIXELS = 1 << 22  # of a deep grey picture that are computed at once, so that the whole is never held as floats


def as_rgb(image: Image.Image) -> Image.Image:
    """The current frame of `image` as RGB: turned upright by its EXIF orientation, transparency laid on white, any
    bit depth scaled to 8 bits, the lines of a fax as high as its pixels are wide.

    `image` is changed on the way, and is itself the result when nothing is left to convert.
    Raises ValueError for a colour mode that cannot be converted, OSError for damaged pixel data.
    """
    # Read before loading: Pillow keeps the tags of the frame, but inverts only some of the modes, and turns a TIFF.
    zero_is_white = image.format == "TIFF" and _tiff_number(image, _PHOTOMETRIC_TAG) == 0
    size = square_size(image) if image.format == "TIFF" else None
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        rgb = _grey_to_8_bits(image, inverted=zero_is_white and image.mode != "F").convert("RGB")
    elif "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info:
        rgb = on_white(image)
    elif image.mode == "LAB":
        rgb = _lab_to_rgb(image)
    else:
        rgb = image if image.mode == "RGB" else image.convert("RGB")
    return rgb if size in (None, rgb.size) else rgb.resize(size, Image.Resampling.BICUBIC)


def square_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of the current frame, not yet loaded, once its pixels are square: the lines of a coarse fax
    are repeated. Of a TIFF that will be turned, the size is that after turning, as Pillow gives it."""
    width, height = image.size
    if image.format != "TIFF":
        return width, height
    across, down = (_tiff_number(image, tag) for tag in _RESOLUTION_TAGS)
    if not across or not down or not 1 / _MAX_PIXEL_RATIO <= across / down <= _MAX_PIXEL_RATIO:
        return width, height
    if abs(across / down - 1) < 0.02:  # 203 x 200 dpi is only rounded
        return width, height
    if _tiff_number(image, _ORIENTATION_TAG) in _ON_THEIR_SIDE:
        across, down = down, across
    return (width, round(height * across / down)) if across > down else (round(width * down / across), height)


def on_white(image: Image.Image) -> Image.Image:
    """`image`, which has an alpha channel or a transparent colour, as RGB laid on white."""
    coloured = image if image.mode == "RGBA" else image.convert("RGBA")
    white = Image.new("RGB", coloured.size, "white")
    white.paste(coloured, (0, 0), coloured)
    return white


def _grey_to_8_bits(image: Image.Image, *, inverted: bool) -> Image.Image:
    """Scale grey values of more than 8 bits by the range that they really use.

    Scanners store 10-, 12- and 14-bit values in 16-bit files, so white is the smallest full scale that holds
    the largest value; stretching by minimum and maximum instead would turn the noise of a blank page into
    pattern. Values that no such scale fits (negative, wider, floating) are stretched.
    """
    import numpy as np

    grey: NDArray[np.generic] = np.asarray(image)
    rows = max(1, _BAND_PIXELS // max(1, image.width))
    bands = [slice(top, top + rows) for top in range(0, image.height, rows)]
    extremes = [(float(band.min()), float(band.max())) for band in (_finite(grey[place]) for place in bands)]
    low, high = min(pair[0] for pair in extremes), max(pair[1] for pair in extremes)
    if image.mode == "F" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= 0 and high <= 2**16 - 1:
        low, high = 0.0, next(2.0**depth - 1 for depth in _GREY_DEPTHS if high <= 2**depth - 1)
    shown = np.empty(grey.shape, np.uint8)
    for place in bands:
        scaled = (_finite(grey[place]) - low) * (255.0 / max(high - low, 1e-12))
        shown[place] = np.rint(255.0 - scaled if inverted else scaled).clip(0, 255)
    return Image.fromarray(shown)


def _finite(grey: NDArray[np.generic]) -> NDArray[np.float64]:
    import numpy as np

    return np.nan_to_num(grey.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)


def _lab_to_rgb(image: Image.Image) -> Image.Image:
    from PIL import ImageCms

    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
    assert converted is not None  # only an in-place conversion returns nothing
    return converted


def _tiff_number(image: Image.Image, tag: int) -> float | None:
    """The number under `tag` of a TIFF frame; None where there is none, or none that is finite."""
    import math

    value: Any = getattr(image, "tag_v2", {}).get(tag)
    try:
        number = float(value[0] if isinstance(value, tuple) else value)
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        return None
    return number if math.isfinite(number) else None
