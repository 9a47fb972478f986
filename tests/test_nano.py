"""The bundled checkpoint: it reads the examples, and unseen documents about as well as its record says."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import forklift
from forklift.extract import Extractor
from training.evaluate import Tally, count, leaves
from training.seeds import make_heldout
from training.tasks import answer_json

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDER = Path(str(importlib.resources.files("forklift") / "nano"))


@pytest.fixture(scope="module")
def nano() -> Iterator[Extractor]:
    with forklift.load("nano") as extractor:
        yield extractor


CASES = pytest.mark.parametrize(
    ("name", "schema"), [("invoice.pdf", "invoice"), ("receipt.png", "receipt"), ("invoice_two_pages.pdf", "invoice")]
)


@CASES
def test_an_example_gives_a_complete_and_valid_answer(nano: Extractor, name: str, schema: str) -> None:
    result = nano.extract(EXAMPLES / name, schema)
    expected = json.loads((EXAMPLES / name).with_suffix(".json").read_text(encoding="utf-8"))
    assert list(result.data) == list(expected)
    assert result.outcome == "complete"
    assert not result.problems
    assert all(field.confidence is not None and 0 <= field.confidence <= 1 for field in result.fields)


@CASES
def test_an_example_is_read_without_a_fault(nano: Extractor, name: str, schema: str) -> None:
    expected = json.loads((EXAMPLES / name).with_suffix(".json").read_text(encoding="utf-8"))
    assert nano.extract(EXAMPLES / name, schema).data == expected


@pytest.mark.slow
def test_unseen_documents_are_read_about_as_well_as_the_record_says(nano: Extractor, tmp_path: Path) -> None:
    """24 documents of about 17 fields: a share has a standard error of at most 2.5 %, and more since the fields of a
    document stand or fall together; 10 % is allowed for."""
    record = json.loads((FOLDER / "training_record.json").read_text(encoding="utf-8"))
    tally = Tally()
    for index in range(700, 724):
        document, task = make_heldout(index)
        path = tmp_path / f"{index}.pdf"
        path.write_bytes(document.sheet.pdf())
        result = nano.extract(path, task.schema)
        assert result.outcome == "complete"
        assert not result.problems
        count(tally, [], index, document, leaves(answer_json(task.answer)), leaves(result.data))
    assert tally.share("fields") > record["held_out"]["field_accuracy"] - 0.10


def test_confidence_is_lower_where_nothing_can_be_read(nano: Extractor, tmp_path: Path) -> None:
    from PIL import Image

    blank = tmp_path / "blank.png"
    Image.new("L", (576, 416), 255).save(blank)
    result = nano.extract(blank, "invoice", max_new_tokens=400)
    read = nano.extract(EXAMPLES / "invoice.pdf", "invoice")
    values = [field.confidence for field in result.fields if field.value is not None]
    sure = [field.confidence for field in read.fields if field.value is not None]
    assert not values or sum(values) / len(values) < sum(sure) / len(sure)  # type: ignore[arg-type]


def test_the_bundle_is_small_and_has_its_record() -> None:
    weights = sum(path.stat().st_size for path in FOLDER.glob("*.safetensors"))
    assert weights <= 16_000_000
    record = json.loads((FOLDER / "training_record.json").read_text(encoding="utf-8"))
    assert {"steps", "hours", "seeds", "documents", "held_out"} <= record.keys()
    assert 0 < record["held_out"]["field_accuracy"] <= 1
    assert (FOLDER / "README.md").read_text(encoding="utf-8").startswith("# nano")


def test_the_tokenizer_in_the_bundle_is_the_recipe_s() -> None:
    from training.tokenizer import build_tokenizer

    bundled = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    assert bundled == json.loads(build_tokenizer().to_str())
