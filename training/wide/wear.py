"""Wide documents as scanners, fax machines and telephones give them: a little turned, soft, grey, noisy, compressed."""

from __future__ import annotations

import dataclasses
import io
import math
from random import Random
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from training.canvas import Place, Sheet, Text
from training.leaf import Document, Leaf


class ScannedSheet(Sheet):
    """Pages that are pixels: `render` gives them as they are, whatever the resolution asked for."""

    def __init__(self, sheet: Sheet, runs: list[Text], pages: list[np.ndarray]) -> None:
        self.width, self.height, self.page, self.runs = sheet.width, sheet.height, sheet.page, runs
        self._pages = pages

    def render(self, dots_per_inch: float = 96) -> list[np.ndarray]:
        return self._pages

    def pdf(self) -> bytes:
        raise TypeError("a scanned document has pictures, no PDF of text")


def wear(document: Document, random: Random, *, strong: bool | None = None) -> Document:
    """The document scanned at 96 dots per inch; every glyph's place turns with its page.

    strong: whether it is worn much or little; by lot when None. The document says which by `noise`.
    """
    strong = random.random() < 0.4 if strong is None else strong
    pages, turned = [], []
    for pixels in document.sheet.render():
        angle = random.uniform(-1.4, 1.4) * (1 if strong else 0.35) if random.random() < 0.6 else 0.0
        pages.append(_worn(pixels, random, angle, strong))
        turned.append(angle)
    sheet = document.sheet
    centre = sheet.width / 2, sheet.height / 2
    moved: dict[Place, Place] = {}

    def move(place: Place) -> Place:
        new = moved.get(place)
        if new is None:
            angle = math.radians(turned[place.page])
            cosine, sine = math.cos(angle), math.sin(angle)
            x, y = place.x - centre[0], place.y - centre[1]
            new = Place(place.page, centre[0] + x * cosine + y * sine, centre[1] - x * sine + y * cosine)
            moved[place] = new
        return new

    runs, truth = sheet.runs, document.truth
    if any(turned):
        runs = [Text(run.text, [move(place) for place in run.places], move(run.end), run.width) for run in runs]
        truth = _moved(truth, move)
    return dataclasses.replace(
        document,
        sheet=ScannedSheet(sheet, runs, pages),
        truth=truth,
        noise="strong" if strong else "light",
    )


def _moved(tree: Any, move: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _moved(child, move) for name, child in tree.items()}
    if isinstance(tree, list):
        return [_moved(child, move) for child in tree]
    assert isinstance(tree, Leaf)
    places = tuple(None if place is None else move(place) for place in tree.places)
    verbatim = None if tree.verbatim is None else _moved(tree.verbatim, move)
    return dataclasses.replace(tree, places=places, verbatim=verbatim)


def _worn(pixels: np.ndarray, random: Random, angle: float, strong: bool) -> np.ndarray:
    image = Image.fromarray(pixels)
    if angle:
        image = image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=255)
    if random.random() < 0.7:
        image = image.filter(ImageFilter.GaussianBlur(random.uniform(0.25, 0.75 if strong else 0.5)))
    black = random.uniform(0, 85 if strong else 35)
    white = random.uniform(205 if strong else 235, 254)
    worn = np.asarray(image, np.float32) * ((white - black) / 255) + black
    if random.random() < 0.3:  # light from one side
        height, width = worn.shape
        fall = random.uniform(0, 30 if strong else 12)
        ramp = np.linspace(0, fall, width if random.random() < 0.5 else height, dtype=np.float32)
        worn -= ramp[None, :] if len(ramp) == width else ramp[:, None]
    noise = np.random.default_rng(random.getrandbits(64))
    worn += noise.standard_normal(worn.shape, np.float32) * random.uniform(0.5, 8.0 if strong else 3.0)
    result = Image.fromarray(worn.clip(0, 255).astype(np.uint8))
    if random.random() < 0.7:
        stored = io.BytesIO()
        result.save(stored, "JPEG", quality=random.randint(40 if strong else 75, 95))
        result = Image.open(stored).convert("L")
    return np.array(result)
