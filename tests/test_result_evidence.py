"""What a result says of each value: where it stands, and how sure it is."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from forklift.calibration import Calibration
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.extract import Extractor
from forklift.results import Field

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}, "note": {"type": ["string", "null"]}},
}
ANSWER = {"vendor": "Example Tools", "total": 12.6, "note": None}


@pytest.fixture
def invoice(tmp_path: Path) -> Path:
    path = tmp_path / "invoice.pdf"
    canvas = Canvas(str(path), pagesize=(300, 200))
    for text in ("cover sheet", "Example Tools", "Total 12.50"):
        canvas.drawString(40, 150, text)
        canvas.showPage()
    canvas.save()
    return path


def fields_of(invoice: Path, calibration: Calibration | None, pages: str | None = None) -> dict[str, Field]:
    engine = ScriptedEngine(Answer(json.dumps(ANSWER), log_probability=-0.01))
    result = Extractor(engine, calibration=calibration).extract(invoice, SCHEMA, pages=pages)
    return {field.pointer: field for field in result.fields}


def test_every_value_has_its_place_or_is_denied(invoice: Path) -> None:
    fields = fields_of(invoice, None)
    (citation,) = fields["/vendor"].citations
    assert (citation.page, citation.text) == (2, "Example Tools")
    assert (fields["/total"].grounded, fields["/total"].citations) == (False, ())  # printed is 12.50
    assert fields["/note"].grounded is None
    assert fields["/vendor"].confidence == fields["/vendor"].probability


def test_only_the_selected_pages_are_searched_and_keep_their_numbers(invoice: Path) -> None:
    assert fields_of(invoice, None, "2-3")["/vendor"].citations[0].page == 2
    assert fields_of(invoice, None, "1")["/vendor"].grounded is False


def test_a_calibrated_model_has_its_confidences_by_what_was_found(invoice: Path) -> None:
    level = (0.0, 0.0, 0.0)
    calibration = Calibration(
        {"found": (3.0, *level), "absent": (-3.0, *level), "unknown": (1.0, *level), "null": (2.0, *level)}
    )
    fields = fields_of(invoice, calibration)
    plain = fields_of(invoice, None)
    for pointer, bias in (("/vendor", 3.0), ("/total", -3.0), ("/note", 2.0)):
        assert fields[pointer].confidence == pytest.approx(1 / (1 + math.exp(-bias)))
        assert fields[pointer].probability == plain[pointer].probability
