"""Pages as a good flat-bed scanner gives them: off-white, a little soft and noisy, compressed on the way."""

from __future__ import annotations

import io
from random import Random

import numpy as np
from PIL import Image, ImageFilter


def scanned(page: np.ndarray, random: Random) -> np.ndarray:
    """A worn copy of a page image, uint8 [height, width] -> the same; nothing moves by a pixel."""
    soft = Image.fromarray(page).filter(ImageFilter.GaussianBlur(random.uniform(0.2, 0.5)))
    black = random.uniform(5, 30)
    white = random.uniform(232, 253)
    pixels = np.asarray(soft, np.float32) * ((white - black) / 255) + black
    noise = np.random.default_rng(random.getrandbits(64))
    pixels += noise.standard_normal(pixels.shape, np.float32) * random.uniform(0.5, 3.0)
    worn = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    if random.random() < 0.7:
        stored = io.BytesIO()
        worn.save(stored, "JPEG", quality=random.randint(80, 95))
        worn = Image.open(stored).convert("L")
    return np.array(worn)
