"""The pipeline from a file to a result, over an engine that says what it is told."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pydantic import BaseModel

import forklift
from forklift.confidence import leaves
from forklift.documents import Document, Limits, PagePolicy
from forklift.engines.base import Request, Sampling, Statistics, Token
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.errors import (
    CheckpointError,
    DecodeError,
    DocumentError,
    LimitError,
    ModelNotFoundError,
    PageRangeError,
    SchemaError,
    UsageError,
)
from forklift.extract import Extractor, load
from forklift.prompt import TASK
from forklift.results import Outcome
from forklift.schema import Schema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "Verkäufer": {"type": "string"},
        "total": {"type": "number"},
        "note": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"größe": {"type": "string"}}}},
    },
    "required": ["Verkäufer", "total", "lines"],
}
FULL = {"Verkäufer": "Müller & Söhne", "total": 12.5, "note": "bar", "lines": [{"größe": "XL"}]}


def spell(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    path = tmp_path / "receipt.png"
    Image.new("RGB", (300, 400), "white").save(path)
    return path


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """A TIFF of three pages, grey 10, 20 and 30."""
    frames = [Image.new("L", (300, 400), value) for value in (10, 20, 30)]
    frames[0].save(tmp_path / "scan.tif", save_all=True, append_images=frames[1:])
    return tmp_path / "scan.tif"


def test_a_complete_answer_becomes_data_fields_and_outcome(receipt: Path) -> None:
    result = Extractor(ScriptedEngine(Answer(spell(FULL), log_probability=-0.01))).extract(receipt, SCHEMA)
    assert result.data == FULL
    assert result.outcome is Outcome.COMPLETE
    assert [field.pointer for field in result.fields] == ["/Verkäufer", "/total", "/note", "/lines/0/größe"]
    # "12", ".", "5" are three tokens of the scripted engine
    assert result.fields[1].confidence == pytest.approx(math.exp(-0.03))
    assert (result.missing, result.problems, result.warnings) == ((), (), ())
    assert result.pages == (1,)
    assert result.model == "scripted"


def test_the_request_holds_the_pages_under_the_policy_then_the_task_and_the_schema(scan: Path) -> None:
    engine = ScriptedEngine(spell(FULL))
    sampling = Sampling(temperature=0.5, top_p=0.9, seed=3)
    extractor = Extractor(engine, PagePolicy(shorter_side=600))
    result = extractor.extract(scan, SCHEMA, pages="2-", strict=True, sampling=sampling, max_new_tokens=77)
    (request,) = engine.requests
    assert [page.getpixel((0, 0)) for page in request.pages] == [(20,) * 3, (30,) * 3]
    assert request.pages[0].size == (600, 800)
    assert request.text == f"{TASK}\n\n{json.dumps(SCHEMA, indent=2, ensure_ascii=False)}"
    assert (request.strict, request.sampling, request.max_new_tokens) == (True, sampling, 77)
    assert request.schema is not None
    assert result.pages == (2, 3)


def test_nulls_are_settled_into_the_users_schema(receipt: Path) -> None:
    answer = {"Verkäufer": None, "total": 3, "note": None, "lines": [{"größe": None}]}
    result = Extractor(ScriptedEngine(spell(answer))).extract(receipt, SCHEMA)
    assert result.data == {"Verkäufer": None, "total": 3, "lines": [{}]}
    assert result.missing == ("/Verkäufer",)
    assert result.problems == ()
    assert [field.pointer for field in result.fields] == ["/Verkäufer", "/total", "/lines/0"]
    assert result.fields[0].confidence == pytest.approx(math.exp(-0.1))  # of the null


def test_a_strict_answer_is_taken_literally(receipt: Path) -> None:
    answer = {"Verkäufer": None, "total": 3, "lines": []}
    result = Extractor(ScriptedEngine(spell(answer))).extract(receipt, SCHEMA, strict=True)
    assert result.data == answer
    assert result.missing == ()
    assert [problem.split(":")[0] for problem in result.problems] == ["/Verkäufer"]


def test_what_decoding_does_not_enforce_is_checked_afterwards(receipt: Path) -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}}
    result = Extractor(ScriptedEngine('{"tags": [1, 1]}')).extract(receipt, schema)
    assert result.data == {"tags": [1, 1]}
    assert len(result.problems) == 1
    assert result.problems[0].startswith("/tags: ")


def test_a_truncated_answer_keeps_its_complete_part(receipt: Path) -> None:
    # Verkäufer and total are complete; "note" breaks off in the middle.
    text = spell(FULL)[: spell(FULL).index("bar") + 2]
    result = Extractor(ScriptedEngine(Answer(text, outcome=Outcome.TRUNCATED))).extract(receipt, SCHEMA)
    assert result.outcome is Outcome.TRUNCATED
    assert result.data == {"Verkäufer": "Müller & Söhne", "total": 12.5}
    assert [field.pointer for field in result.fields] == ["/Verkäufer", "/total"]
    assert all(field.confidence for field in result.fields)


def test_the_token_limit_truncates_anywhere_even_inside_a_character(receipt: Path) -> None:
    whole = dict(leaves(FULL))
    schema = Schema.load(SCHEMA)
    outcomes = []
    for limit in range(1, 100):
        result = Extractor(ScriptedEngine(spell(FULL))).extract(receipt, schema, max_new_tokens=limit)
        outcomes.append(result.outcome)
        for field in result.fields:
            assert field.value == whole.get(field.pointer, field.value), (limit, field)
            assert field.pointer in whole or field.value in ({}, []), (limit, field)
    assert set(outcomes) == {Outcome.TRUNCATED, Outcome.COMPLETE}
    assert result.data == FULL
    assert outcomes == sorted(outcomes, reverse=True)  # truncated up to a limit, complete from there on


def test_nothing_complete_is_no_data(receipt: Path) -> None:
    result = Extractor(ScriptedEngine(Answer("", outcome=Outcome.TRUNCATED))).extract(receipt, SCHEMA)
    assert (result.data, result.outcome, result.fields) == (None, Outcome.TRUNCATED, ())


def test_cancelling_stops_between_tokens(receipt: Path) -> None:
    cancel = threading.Event()
    seen: list[Token] = []

    def on_token(token: Token) -> None:
        seen.append(token)
        if len(seen) == 9:
            cancel.set()

    result = Extractor(ScriptedEngine(spell(FULL))).extract(receipt, SCHEMA, on_token=on_token, cancel=cancel)
    assert result.outcome is Outcome.CANCELLED
    assert 9 <= len(seen) <= 10
    assert result.timings.answer_tokens == len(seen)


def test_cancelling_before_the_first_page_asks_no_engine(scan: Path) -> None:
    engine, cancel = ScriptedEngine(spell(FULL)), threading.Event()
    cancel.set()
    result = Extractor(engine).extract(scan, SCHEMA, cancel=cancel)
    assert (result.outcome, result.data, engine.requests) == (Outcome.CANCELLED, None, [])


def test_notes_and_unknown_keywords_are_warnings(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("white", "black")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLen": 3}}}
    result = Extractor(ScriptedEngine('{"a": "x"}')).extract(tmp_path / "a.gif", schema)
    assert "animation of 2 frames" in result.warnings[0]
    assert "maxLen" in result.warnings[1]
    assert "/properties/a" in result.warnings[1]


def test_timings_come_from_the_engine(receipt: Path) -> None:
    extractor = Extractor(ScriptedEngine('{"total": 1}'), load_seconds=2.5)
    timings = extractor.extract(receipt, {"type": "object", "properties": {"total": {"type": "number"}}}).timings
    assert timings.load_seconds == 2.5
    assert timings.document_seconds > 0
    assert timings.answer_tokens == 9  # { " total " : space 1 } end
    assert timings.forward_passes == 8
    assert timings.prompt_tokens > 0


def test_an_open_document_stays_open(scan: Path) -> None:
    with Document.open(scan, pages="3") as document:
        extractor = Extractor(ScriptedEngine(spell(FULL)))
        assert extractor.extract(document, SCHEMA).pages == (3,)
        assert extractor.extract(document, SCHEMA).pages == (3,)


def test_a_pydantic_model_is_a_schema(receipt: Path) -> None:
    class Receipt(BaseModel):
        total: float
        shop: str | None = None

    result = Extractor(ScriptedEngine('{"total": 2.5, "shop": null}')).extract(receipt, Receipt)
    assert Receipt.model_validate(result.data) == Receipt(total=2.5)


def test_an_answer_that_is_no_json_is_a_problem_and_no_exception(receipt: Path) -> None:
    result = Extractor(ScriptedEngine('{"total": 1} and more')).extract(receipt, SCHEMA)
    assert result.data == {"total": 1}
    assert "no JSON" in result.problems[0]


def test_an_engine_that_stops_without_an_outcome_is_a_decode_error(receipt: Path) -> None:
    class Broken:
        name = "broken"

        def generate(self, request: Request, statistics: Statistics | None = None) -> Any:
            return iter([Token(1, b"{")])

        def close(self) -> None:
            pass

    with pytest.raises(DecodeError, match="broken stopped after 1 tokens"):
        Extractor(Broken()).extract(receipt, SCHEMA)


def test_errors_of_each_part_reach_the_caller(receipt: Path, scan: Path) -> None:
    extractor = Extractor(ScriptedEngine([DecodeError("no grammar")]))
    with pytest.raises(DecodeError, match="no grammar"):
        extractor.extract(receipt, SCHEMA)
    with pytest.raises(SchemaError):
        extractor.extract(receipt, {"type": "strin"})
    with pytest.raises(DocumentError):
        extractor.extract(receipt.with_name("none.pdf"), SCHEMA)
    with pytest.raises(PageRangeError):
        extractor.extract(scan, SCHEMA, pages="4")
    with pytest.raises(LimitError):
        extractor.extract(scan, SCHEMA, limits=Limits(max_pages=2))


def test_closing_the_extractor_closes_the_engine() -> None:
    engine = ScriptedEngine("{}")
    with Extractor(engine):
        assert not engine.closed
    assert engine.closed


def test_load_says_what_it_cannot_load(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="nonesuch"):
        load("nonesuch")
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        load(tmp_path)
    with pytest.raises(UsageError, match="bfloat16 or float32"):
        load("nano", dtype="int4")


def test_extract_checks_schema_and_file_before_it_loads_a_model(receipt: Path) -> None:
    with pytest.raises(SchemaError):
        forklift.extract(receipt, schema={"type": "strin"}, model="nonesuch")
    with pytest.raises(DocumentError):
        forklift.extract(receipt.with_name("none.pdf"), schema=SCHEMA, model="nonesuch")
    with pytest.raises(ModelNotFoundError):
        forklift.extract(receipt, schema=SCHEMA, model="nonesuch")
