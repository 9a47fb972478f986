"""The committed examples are what `examples/make.py` draws today, and none of them is torn or out of date."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from training.layouts import make_document
from training.scan import scanned
from training.tasks import answer_json, plain_task

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    specification = importlib.util.spec_from_file_location("examples_make", FOLDER / "make.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["invoice.pdf", "receipt.png", "invoice_two_pages.pdf"])
def test_the_expected_answer_is_the_documents_and_shows_every_field(make: ModuleType, name: str) -> None:
    expected = json.loads((FOLDER / name).with_suffix(".json").read_text(encoding="utf-8"))
    assert expected == answer_json(plain_task(make.example(name)).answer)
    assert all(value not in (None, []) for value in expected.values())
    assert all(value is not None for item in expected["line_items"] for value in item.values())


@pytest.mark.parametrize(("name", "pages"), [("invoice.pdf", 1), ("invoice_two_pages.pdf", 2)])
def test_the_pdf_is_drawn_by_the_script(make: ModuleType, name: str, pages: int) -> None:
    document = make.example(name)
    assert (FOLDER / name).read_bytes() == document.sheet.pdf()
    assert document.sheet.page + 1 == pages


def test_the_receipt_is_a_scan_of_the_drawn_page(make: ModuleType) -> None:
    with Image.open(FOLDER / "receipt.png") as picture:
        stored = np.array(picture, np.float32)
    (drawn,) = make.example("receipt.png").sheet.render(96)
    assert stored.shape == drawn.shape
    # paper and ink are grey by at most 30 levels, blur and noise average out over 8 x 8 pixels
    difference = (stored - drawn).reshape(stored.shape[0] // 8, 8, -1, 8).mean((1, 3))
    assert np.abs(difference).max() < 45
    assert not np.array_equal(stored, drawn)


def test_a_scan_keeps_the_page_in_place_and_legible() -> None:
    for seed in range(6):
        page = make_document(Random(seed), "key_values").sheet.render()[0]
        worn = scanned(page, Random(seed))
        assert worn.shape == page.shape
        assert worn.dtype == np.uint8
        correlation = np.corrcoef(page.ravel(), worn.ravel())[0, 1]
        assert correlation > 0.9
        assert np.array_equal(worn, scanned(page, Random(seed)))
