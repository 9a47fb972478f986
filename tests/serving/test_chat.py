"""POST /v1/chat/completions in process: what is answered, streamed and refused."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.errors import DecodeError
from forklift.page_policy import Limits
from forklift.prompt import TASK
from forklift.serving.scheduler import Capacity
from forklift.serving.settings import ServerSettings
from tests.serving.conftest import file_part, picture, question, running, schema_format

pytestmark = pytest.mark.anyio

URL = "/v1/chat/completions"
TOTAL = {
    "type": "object",
    "properties": {"total": {"type": "number"}},
    "required": ["total"],
    "additionalProperties": False,
}


def events(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


async def test_an_answer_has_the_shape_that_clients_know() -> None:
    engine = ScriptedEngine('{"total": 12.5}')
    async with running(engine) as (client, _):
        response = await client.post(URL, json=question(picture(), response_format=schema_format(TOTAL, strict=True)))
    answer = response.json()
    assert response.status_code == 200, answer
    assert answer["object"] == "chat.completion"
    assert answer["model"] == "scripted"
    [choice] = answer["choices"]
    assert choice["message"] == {"role": "assistant", "content": '{"total": 12.5}', "refusal": None}
    assert choice["finish_reason"] == "stop"
    assert choice["logprobs"] is None
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    [request] = engine.requests
    assert usage["prompt_tokens"] == len(request.text.encode()) + 1
    assert request.strict
    assert request.schema is not None
    assert request.schema.source == TOTAL
    assert request.sampling.temperature == 0
    assert len(request.pages) == 1


async def test_the_task_and_the_schema_are_told_to_the_model_unless_the_text_has_them() -> None:
    engine = ScriptedEngine("{}")
    schema_text = json.dumps(TOTAL, indent=4)
    async with running(engine) as (client, _):
        for text in ("Read carefully.", f"Fill this in:\n{schema_text}", ""):
            parts = [picture(), {"type": "text", "text": text}]
            await client.post(URL, json=question(*parts, response_format=schema_format(TOTAL)))
        await client.post(URL, json=question())
    expected = f"{TASK}\n\n{json.dumps(TOTAL, indent=2)}"
    texts = [request.text for request in engine.requests]
    assert texts == [f"Read carefully.\n\n{expected}", f"Fill this in:\n{schema_text}", expected, "What is it?"]
    assert engine.requests[-1].schema is None


async def test_pages_of_files_come_in_order_with_instructions_first() -> None:
    engine = ScriptedEngine("ok")
    messages = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                file_part("invoice_two_pages.pdf", pages="2"),
                {"type": "text", "text": "And this?"},
                file_part("invoice_two_pages.pdf"),
                picture(),
            ],
        },
    ]
    async with running(engine) as (client, _):
        response = await client.post(URL, json={"model": "scripted", "messages": messages})
    assert response.status_code == 200, response.text
    [request] = engine.requests
    second, first, again, receipt = request.pages
    assert second.tobytes() == again.tobytes() != first.tobytes()
    assert receipt.size[0] > 0
    assert request.text == "Be brief.\n\nAnd this?"
    assert request.words == ()  # free text is not held to the document's words


async def test_words_of_a_text_layer_help_to_spell_values() -> None:
    engine = ScriptedEngine("{}")
    async with running(engine) as (client, _):
        await client.post(URL, json=question(file_part("invoice.pdf"), response_format=schema_format(TOTAL)))
    assert len(engine.requests[0].words) > 10


async def test_any_object_and_options() -> None:
    engine = ScriptedEngine("{}")
    options = {"temperature": 0.7, "top_p": 0.5, "seed": 3, "max_completion_tokens": 7, "max_tokens": 9}
    async with running(engine) as (client, _):
        await client.post(URL, json=question(response_format={"type": "json_object"}, **options))
    [request] = engine.requests
    assert request.schema is not None
    assert request.schema.source == {"type": "object"}
    assert request.max_new_tokens == 7
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_p, sampling.seed) == (0.7, 0.5, 3)


async def test_a_cut_answer_says_length() -> None:
    async with running(ScriptedEngine("one two three")) as (client, _):
        answer = (await client.post(URL, json=question(max_tokens=3))).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["choices"][0]["message"]["content"] == "one two"
    assert answer["usage"]["completion_tokens"] == 3


async def test_log_probabilities_are_those_of_the_tokens() -> None:
    async with running(ScriptedEngine(Answer("größe 1", log_probability=-0.25))) as (client, _):
        answer = (await client.post(URL, json=question(logprobs=True))).json()
    content = answer["choices"][0]["logprobs"]["content"]
    assert b"".join(bytes(one["bytes"]) for one in content).decode() == "größe 1"
    assert {one["logprob"] for one in content} == {-0.25}


@pytest.mark.parametrize("stop", ["three", ["nine", "thr", "three"], " three"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_stop_text_ends_the_answer_before_it(stop: Any, stream: bool) -> None:
    async with running(ScriptedEngine("one two three four")) as (client, service):
        response = await client.post(URL, json=question(stop=stop, stream=stream))
        if stream:
            parts = events(response.text)
            text = "".join(part["choices"][0]["delta"].get("content", "") for part in parts)
            reason = parts[-1]["choices"][0]["finish_reason"]
        else:
            text, reason = (
                response.json()["choices"][0]["message"]["content"],
                response.json()["choices"][0]["finish_reason"],
            )
        assert text == ("one two" if stop == " three" else "one two ")
        assert reason == "stop"
        await emptied(service)


async def test_a_stream_is_the_answer_in_pieces_with_its_usage_at_the_end() -> None:
    engine = ScriptedEngine('{"größe": "東京", "n": 1}')
    async with running(engine) as (client, _):
        request = question(stream=True, stream_options={"include_usage": True}, logprobs=True)
        response = await client.post(URL, json=request)
    assert response.headers["content-type"].startswith("text/event-stream")
    *parts, last = events(response.text)
    assert {part["object"] for part in parts} == {"chat.completion.chunk"}
    assert len({part["id"] for part in parts}) == 1
    assert parts[0]["choices"][0]["delta"]["role"] == "assistant"
    text = "".join(part["choices"][0]["delta"].get("content", "") for part in parts)
    assert text == '{"größe": "東京", "n": 1}'
    assert "\ufffd" not in text
    assert all(part["usage"] is None for part in parts)
    assert [part["choices"][0]["finish_reason"] for part in parts][-2:] == [None, "stop"]
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] > 5


REFUSED = [
    ({"tools": [{"type": "function"}]}, "tools", "unsupported_parameter"),
    ({"n": 2}, "n", "unsupported_parameter"),
    ({"presence_penalty": 0.5}, "presence_penalty", "unsupported_parameter"),
    ({"logit_bias": {"5": 1}}, "logit_bias", "unsupported_parameter"),
    ({"guided_json": {}}, "guided_json", "unsupported_parameter"),
    ({"top_logprobs": 3, "logprobs": True}, "top_logprobs", "unsupported_parameter"),
    ({"stream_options": {"include_usage": True}}, "stream_options", None),
    ({"stop": ""}, "stop", None),
    ({"temperature": 3}, "temperature", "invalid_request"),
    ({"max_tokens": 0}, "max_tokens", "invalid_request"),
    ({"response_format": {"type": "grammar"}}, "response_format", "invalid_request"),
    ({"response_format": schema_format({"type": "strnig"})}, "response_format", "invalid_schema"),
    ({"response_format": schema_format([])}, "response_format", "invalid_schema"),
    ({"messages": []}, "messages", "invalid_request"),
    ({"messages": [{"role": "system", "content": "x"}]}, "messages", None),
    ({"messages": [{"role": "assistant", "content": "x"}]}, "messages[0].role", "invalid_request"),
]


@pytest.mark.parametrize(("options", "param", "code"), REFUSED)
async def test_what_is_not_done_here_is_refused_by_name(options: dict[str, Any], param: str, code: str | None) -> None:
    engine = ScriptedEngine("no")
    async with running(engine) as (client, service):
        response = await client.post(URL, json={**question(), **options})
        assert service.scheduler.running == service.scheduler.waiting == 0
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["code"] == code
    assert error["message"]
    assert engine.requests == []


async def test_options_without_effect_are_taken_at_their_neutral_values() -> None:
    neutral = {"n": 1, "presence_penalty": 0.0, "logit_bias": {}, "tools": [], "store": False, "user": "u"}
    async with running(ScriptedEngine("ok")) as (client, _):
        assert (await client.post(URL, json=question(**neutral, reasoning_effort=None))).status_code == 200


async def test_a_schema_that_cannot_be_enforced_is_refused_by_its_pointer() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
    }
    async with running(ScriptedEngine("no")) as (client, _):
        response = await client.post(URL, json=question(response_format=schema_format(schema)))
    assert response.status_code == 400
    assert "/properties/a/uniqueItems" in response.json()["error"]["message"]


async def test_another_model_is_not_found() -> None:
    async with running(ScriptedEngine("no")) as (client, _):
        response = await client.post(URL, json={**question(), "model": "gpt"})
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"


def url_part(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("part", "code", "message"),
    [
        (url_part("https://elsewhere.example/a.png"), "url_not_allowed", "from nowhere"),
        (url_part("file:///etc/passwd"), "url_not_allowed", "data URL"),
        (url_part("data:image/png;base64,!!!"), "invalid_base64", "no base64"),
        (url_part("data:image/png;base64,aGVsbG8="), "invalid_document", "content[0]"),
        (url_part("data:image/png;base64,"), "invalid_document", "empty"),
        (file_part("invoice.pdf", pages="7"), "invalid_pages", "outside the document"),
        (file_part("invoice.pdf", pages="x"), "invalid_pages", "not understood"),
    ],
)
async def test_files_that_cannot_be_read_are_named(part: dict[str, Any], code: str, message: str) -> None:
    async with running(ScriptedEngine("no")) as (client, service):
        response = await client.post(URL, json=question(part))
        assert service.scheduler.running == 0
    assert response.status_code == 400, response.text
    assert response.json()["error"]["code"] == code
    assert message in response.json()["error"]["message"]


async def test_limits_on_pages_hold_for_all_files_together() -> None:
    settings = ServerSettings(model_name="scripted", limits=Limits(max_pages=3))
    two = file_part("invoice_two_pages.pdf")
    async with running(ScriptedEngine("ok"), settings) as (client, _):
        assert (await client.post(URL, json=question(two, picture()))).status_code == 200
        response = await client.post(URL, json=question(two, two))
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "document_too_large"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_before_the_first_token_is_a_status(stream: bool) -> None:
    engine = ScriptedEngine([DecodeError("the grammar failed"), RuntimeError("secret words of a document"), "fine"])
    async with running(engine) as (client, _):
        first = await client.post(URL, json=question(stream=stream))
        second = await client.post(URL, json=question(stream=stream))
        third = await client.post(URL, json=question())
    assert (first.status_code, first.json()["error"]["message"]) == (500, "the grammar failed")
    assert second.status_code == 500
    assert "secret" not in second.text
    assert third.status_code == 200


async def test_a_failure_in_the_middle_of_a_stream_is_an_event() -> None:
    engine = ScriptedEngine([Answer("one two", error=DecodeError("the grammar failed"))])
    async with running(engine) as (client, _):
        response = await client.post(URL, json=question(stream=True))
    *_, last = [json.loads(line.removeprefix("data: ")) for line in response.text.split("\n\n") if line]
    assert last["error"]["message"] == "the grammar failed"
    assert "[DONE]" not in response.text


async def emptied(service: Any) -> None:
    for _ in range(200):
        if service.scheduler.running == service.scheduler.waiting == 0:
            return
        await asyncio.sleep(0.01)
    pytest.fail("the scheduler still holds requests")


SLOW = Answer("word " * 2000, seconds_per_token=0.002)


async def test_a_full_queue_says_when_to_come_back() -> None:
    async with running(ScriptedEngine(SLOW), capacity=Capacity(concurrency=1, queue=1)) as (client, service):
        tasks = [asyncio.create_task(client.post(URL, json=question())) for _ in range(2)]
        while service.scheduler.running + service.scheduler.waiting < 2:
            await asyncio.sleep(0.01)
        refused = await client.post(URL, json=question())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert refused.status_code == 429
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert int(refused.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("stream", [False, True])
async def test_the_deadline_ends_a_request(stream: bool) -> None:
    async with running(ScriptedEngine(SLOW), capacity=Capacity(deadline_seconds=0.3)) as (client, service):
        started = time.monotonic()
        response = await client.post(URL, json=question(stream=stream))
        assert time.monotonic() - started < 2
        if stream:
            assert "deadline_exceeded" in response.text
        else:
            assert response.status_code == 504
        await emptied(service)


async def test_requests_run_side_by_side_and_each_gets_its_own_answer() -> None:
    engine = ScriptedEngine([f"answer {number}" for number in range(20)])
    async with running(engine, capacity=Capacity(concurrency=5)) as (client, _):
        responses = await asyncio.gather(*(client.post(URL, json=question()) for _ in range(20)))
    contents = {response.json()["choices"][0]["message"]["content"] for response in responses}
    assert contents == {f"answer {number}" for number in range(20)}


async def test_a_client_that_hangs_up_frees_its_place() -> None:
    """At the ASGI level, where a client is only what `receive` says."""
    async with running(ScriptedEngine(SLOW)) as (client, service):
        app = client._transport.app  # type: ignore[attr-defined]
        for stream in (False, True):
            body = json.dumps(question(stream=stream)).encode()
            sent: list[Any] = []
            hung_up = asyncio.Event()
            bodies = [{"type": "http.request", "body": body, "more_body": False}]

            async def receive(bodies: list[Any] = bodies, hung_up: asyncio.Event = hung_up) -> Any:
                if bodies:
                    return bodies.pop()
                await hung_up.wait()
                return {"type": "http.disconnect"}

            async def send(message: Any, sent: list[Any] = sent) -> None:
                sent.append(message)

            scope = {
                "type": "http",
                "method": "POST",
                "path": URL,
                "raw_path": URL.encode(),
                "query_string": b"",
                "headers": [(b"content-type", b"application/json")],
                "http_version": "1.1",
                "scheme": "http",
                "server": ("server", 80),
                "root_path": "",
            }
            call = asyncio.create_task(app(scope, receive, send))
            while not service.scheduler.running:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.05)
            hung_up.set()
            await asyncio.wait_for(call, 5)
            await emptied(service)
            assert len(sent) < 100 if stream else sent == []
        assert service.metrics.outcomes.value(outcome="cancelled") == 2
