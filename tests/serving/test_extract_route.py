"""The other routes in process: extraction of files, schemas, models, key, limits, health and metrics."""

from __future__ import annotations

import asyncio
import json
import tempfile
from typing import Any

import pytest

from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.schema_source import bundled_names, bundled_text
from forklift.serving.settings import ServerSettings
from tests.serving.conftest import EXAMPLES, question, running

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"currency": {"type": "string"}, "paid": {"type": "string"}},
    "required": ["paid"],
}
FILE = {"file": ("invoice.pdf", (EXAMPLES / "invoice.pdf").read_bytes(), "application/pdf")}


async def test_a_file_is_extracted_with_its_evidence() -> None:
    engine = ScriptedEngine('{"currency": "EUR", "paid": null}')
    async with running(engine) as (client, service):
        response = await client.post("/v1/extract", files=FILE, data={"schema": json.dumps(SCHEMA), "pages": "1"})
        assert service.scheduler.running == 0
    result = response.json()
    assert response.status_code == 200, result
    assert result["data"] == {"currency": "EUR", "paid": None}
    assert result["missing"] == ["/paid"]
    assert result["outcome"] == "complete"
    assert result["pages"] == [1]
    assert [field["pointer"] for field in result["fields"]] == ["/currency", "/paid"]
    assert 0 < result["fields"][0]["confidence"] <= 1
    assert result["timings"]["answer_tokens"] > 5
    assert not engine.requests[0].strict


async def test_a_bundled_schema_is_named() -> None:
    engine = ScriptedEngine("{}")
    async with running(engine) as (client, _):
        names = [entry["name"] for entry in (await client.get("/v1/schemas")).json()["data"]]
        assert names == list(bundled_names())
        assert (await client.get("/v1/schemas/receipt")).json() == json.loads(bundled_text("receipt"))
        assert (await client.get("/v1/schemas/none")).status_code == 404
        options = {"schema": "receipt", "strict": "true", "max_tokens": "5", "temperature": "0.5", "seed": "4"}
        assert (await client.post("/v1/extract", files=FILE, data=options)).status_code == 200
    [request] = engine.requests
    assert request.schema is not None
    assert request.schema.source == json.loads(bundled_text("receipt"))
    assert (request.strict, request.max_new_tokens, request.sampling.temperature) == (True, 5, 0.5)


@pytest.mark.parametrize(
    ("form", "param"),
    [
        ({}, "schema"),
        ({"schema": "/etc/passwd"}, "response_format"),
        ({"schema": "{"}, "response_format"),
        ({"schema": "receipt", "pages": "9"}, "pages"),
        ({"schema": "receipt", "strict": "maybe"}, "strict"),
        ({"schema": "receipt", "temperature": "nan"}, "temperature"),
        ({"schema": "receipt", "max_tokens": "1.5"}, "max_tokens"),
        ({"schema": "receipt", "colour": "red"}, "colour"),
    ],
)
async def test_a_form_that_is_wrong_is_refused_by_field(form: dict[str, str], param: str) -> None:
    engine = ScriptedEngine("no")
    async with running(engine) as (client, service):
        response = await client.post("/v1/extract", files=FILE, data=form)
        assert service.scheduler.running == 0
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param
    assert engine.requests == []


async def test_a_request_that_is_no_form_is_refused() -> None:
    async with running(ScriptedEngine("no")) as (client, _):
        assert (await client.post("/v1/extract", json={})).status_code == 415
        assert (await client.post("/v1/extract", data={"schema": "receipt"}, files={"other": b"x"})).status_code == 400
        broken = await client.post(
            "/v1/extract", content=b"junk", headers={"content-type": "multipart/form-data; boundary=x"}
        )
    assert broken.status_code == 400


async def test_documents_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def rolled(*_: Any) -> None:
        pytest.fail("a document was written to disk")

    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", rolled)
    large = {"file": ("large.pdf", FILE["file"][1] + b"\n" * (3 << 20), "application/pdf")}
    async with running(ScriptedEngine("{}")) as (client, _):
        response = await client.post("/v1/extract", files=large, data={"schema": "receipt"})
    assert response.status_code == 200


async def test_the_key_is_asked_for_below_v1_only() -> None:
    settings = ServerSettings(model_name="scripted", api_key="right")
    async with running(ScriptedEngine("ok"), settings) as (client, _):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic right"}):
            response = await client.post("/v1/chat/completions", json=question(), headers=headers)
            assert response.status_code == 401
            assert response.json()["error"]["code"] == "invalid_api_key"
        right = {"Authorization": "Bearer right"}
        assert (await client.post("/v1/chat/completions", json=question(), headers=right)).status_code == 200
        assert (await client.get("/v1/models", headers=right)).json()["data"][0]["id"] == "scripted"
        assert (await client.get("/healthz")).status_code == 200


async def test_a_body_beyond_the_limit_is_refused_with_and_without_its_length() -> None:
    async def pieces() -> Any:
        for _ in range(50):
            yield b" " * 1000

    settings = ServerSettings(model_name="scripted", max_body_bytes=20_000)
    async with running(ScriptedEngine("no"), settings) as (client, _):
        told = await client.post("/v1/chat/completions", content=b" " * 20_001)
        headers = {"content-type": "application/json"}
        untold = await client.post("/v1/chat/completions", content=pieces(), headers=headers)
    assert told.status_code == untold.status_code == 413
    assert "20,000" in told.json()["error"]["message"]
    assert "20,000" in untold.json()["error"]["message"]


async def test_what_is_no_json_or_no_route_has_the_same_shape() -> None:
    async with running(ScriptedEngine("no")) as (client, _):
        broken = await client.post(
            "/v1/chat/completions", content=b'{"model": ', headers={"content-type": "application/json"}
        )
        unknown, method = await client.get("/v1/unknown"), await client.get("/v1/chat/completions")
    assert [one.status_code for one in (broken, unknown, method)] == [400, 404, 405]
    assert all(set(one.json()["error"]) == {"message", "type", "param", "code"} for one in (broken, unknown, method))


async def test_metrics_count_what_happened() -> None:
    async with running(ScriptedEngine(Answer("one two"))) as (client, _):
        await client.post("/v1/chat/completions", json=question())
        await client.post("/v1/chat/completions", json=question(n=2))
        await client.get("/anything/at/all")
        text = (await client.get("/metrics")).text
    assert 'forklift_requests_total{method="POST",path="/v1/chat/completions",status="200"} 1' in text
    assert 'forklift_requests_total{method="POST",path="/v1/chat/completions",status="400"} 1' in text
    assert 'path="other",status="404"' in text
    assert "anything" not in text
    assert 'forklift_generations_total{outcome="stop"} 1' in text
    assert "forklift_answer_tokens_total 4" in text
    assert "forklift_time_to_first_token_seconds_count 1" in text
    assert "forklift_requests_running 0" in text


async def test_readiness_ends_when_the_server_drains() -> None:
    async with running(ScriptedEngine("ok")) as (client, service):
        assert (await client.get("/readyz")).status_code == 200
        service.scheduler.drain()
        assert (await client.get("/readyz")).status_code == 503
        refused = await client.post("/v1/chat/completions", json=question())
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "shutting_down"


async def test_extractions_and_chats_share_the_places() -> None:
    async with running(ScriptedEngine("{}")) as (client, service):
        form = {"schema": "receipt"}
        calls = [client.post("/v1/extract", files=FILE, data=form) for _ in range(6)]
        calls += [client.post("/v1/chat/completions", json=question()) for _ in range(6)]
        statuses = [response.status_code for response in await asyncio.gather(*calls)]
        assert service.scheduler.running == 0
    assert statuses == [200] * 12
