"""Which characters stand in which image token: the labels of dense reading, and where each glyph is found.

An image token covers 32 x 32 pixels, four patches of 16. Each patch has SLOTS places for the characters whose centre
lies in it, in reading order, closed by an end mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from training.canvas import Place, Text
from training.nano import CHARACTERS

SLOTS = 6
END = 0  # the end mark; character i of CHARACTERS is class i + 1
IGNORED = -100
CLASSES = len(CHARACTERS) + 1
_CLASS_OF = {character: index + 1 for index, character in enumerate(CHARACTERS)}
# A line of these is a rule that was typed, not text to be read.
_RULE = frozenset("-_=*. ")
# A centre this close to a patch border (pixels) could as well be on the other side: not asked for.
_AMBIGUOUS = 0.15


@dataclass
class PageLabels:
    """labels: int64 [rows of cells, columns of cells, 4 * SLOTS], END-terminated, IGNORED beyond.

    slot_of: (x, y) of a glyph in pixels -> its slot in its cell, for the glyphs that have one.
    """

    labels: np.ndarray
    slot_of: dict[tuple[float, float], int]


def label_page(runs: Sequence[Text], page: int, width: int, height: int, scale_x: float, scale_y: float) -> PageLabels:
    """Label a page image of width x height pixels (multiples of 32); scale: pixels per point."""
    rows, columns = height // 16, width // 16
    glyphs = []
    for run in runs:
        if len(run.text) > 3 and set(run.text) <= _RULE:
            continue
        for character, place in zip(run.text, run.places, strict=True):
            if place.page == page and character != " ":
                glyphs.append((place.x * scale_x, place.y * scale_y, _CLASS_OF.get(character, IGNORED), place))
    patches = np.full((rows, columns, SLOTS), IGNORED, np.int64)
    counts = np.zeros((rows, columns), np.int64)
    unclear = np.zeros((rows, columns), bool)
    slot_of: dict[tuple[float, float], int] = {}
    # Two lines can share a row of patches: the upper one is read first.
    for x, y, kind, place in sorted(glyphs, key=lambda glyph: (round(glyph[1] / 4), glyph[0])):
        row, column = int(y // 16), int(x // 16)
        if not (0 <= row < rows and 0 <= column < columns):
            continue
        for near_y, near_x in ((0, -_AMBIGUOUS), (0, _AMBIGUOUS), (-_AMBIGUOUS, 0), (_AMBIGUOUS, 0)):
            other = (int((y + near_y) // 16), int((x + near_x) // 16))
            if other != (row, column) and 0 <= other[0] < rows and 0 <= other[1] < columns:
                unclear[other] = unclear[row, column] = True
        count = counts[row, column]
        if count >= SLOTS or kind == IGNORED:
            unclear[row, column] = True
            continue
        patches[row, column, count] = kind
        slot_of[place.x, place.y] = (row % 2 * 2 + column % 2) * SLOTS + int(count)
        counts[row, column] = count + 1
    ends = np.minimum(counts, SLOTS - 1)
    at_end = counts < SLOTS
    row_index, column_index = np.nonzero(at_end)
    patches[row_index, column_index, ends[at_end]] = END
    patches[unclear] = IGNORED
    cells = patches.reshape(rows // 2, 2, columns // 2, 2, SLOTS).transpose(0, 2, 1, 3, 4)
    return PageLabels(cells.reshape(rows // 2, columns // 2, 4 * SLOTS), slot_of)


def cell_of(place: Place, columns: int, scale_x: float, scale_y: float) -> int:
    """Index of the image token, within its page of `columns` tokens a row, that holds `place`."""
    return int(place.y * scale_y // 32) * columns + int(place.x * scale_x // 32)


def patchify(pixels: np.ndarray) -> np.ndarray:
    """uint8 grey [height, width] -> uint8 [patches, 256], merge-block order as the image processor has it."""
    height, width = pixels.shape
    blocks = pixels.reshape(height // 32, 2, 16, width // 32, 2, 16).transpose(0, 3, 1, 4, 2, 5)
    return np.ascontiguousarray(blocks.reshape(-1, 256))
