"""A small dataset of pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from forklift.evaluate.datasets import Example, read_dataset

SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "number"},
        "seller": {"type": ["string", "null"]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"what": {"type": "string"}}}},
    },
    "required": ["total"],
}
GOLD = {"total": 12.5, "seller": None, "lines": [{"what": "bolt"}, {"what": "nut"}]}


@pytest.fixture
def dataset(tmp_path: Path) -> Callable[..., Path]:
    """Writes documents of one page with the same gold; the folder."""

    def make(*names: str) -> Path:
        folder = tmp_path / "dataset"
        folder.mkdir()
        (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
        for index, name in enumerate(names):
            Image.new("RGB", (60, 40 + index), "white").save(folder / f"{name}.png")
            (folder / f"{name}.gold.json").write_text(json.dumps(GOLD), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def examples(dataset: Callable[..., Path]) -> list[Example]:
    return read_dataset(dataset("a", "b", "c"))
