"""The remote engine against a server that misbehaves in every way we know."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from PIL import Image

from forklift.engines.base import Request, Statistics, Token
from forklift.engines.remote import RemoteEngine
from forklift.engines.remote_client import RemoteClient, RemoteName, retry_after_seconds
from forklift.engines.remote_probe import Enforcement
from forklift.engines.remote_repair import find_json, repaired
from forklift.errors import DecodeError, ModelError, ModelNotFoundError, UsageError
from forklift.extract import Extractor, load
from forklift.results import Outcome
from forklift.schema import Schema

SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}, "note": {"type": "string"}}}
GOOD = '{"total": 12.5, "note": null}'


class FakeServer:
    """Answers with `script` in turn, the last one again and again.

    An item is a text, a whole answer (dict), (status, headers, body), "drop" as a connection that breaks, or a
    number of seconds to wait first. enforces: whether the probe of the schema is answered as a grammar would.
    """

    def __init__(self) -> None:
        self.script: list[Any] = [GOOD]
        self.enforces = True
        self.refuses: str | None = None
        self.requests: list[dict[str, Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.send(200, {}, {"object": "list", "data": [{"id": "reader", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if fake.refuses in body:
                    return self.send(400, {}, {"error": {"message": f"{fake.refuses} is not supported"}})
                if "hello" in str(body["messages"][0]["content"])[:40]:
                    return self.send(200, {}, completion('{"seal": "k7-quartz"}' if fake.enforces else "Hello!"))
                fake.requests.append(body)
                item = fake.script[min(len(fake.requests), len(fake.script)) - 1]
                if item == "drop":
                    self.close_connection = True
                    return None
                if isinstance(item, int | float):
                    time.sleep(item)
                    item = GOOD
                status, headers, answer = item if isinstance(item, tuple) else (200, {}, item)
                return self.send(status, headers, completion(answer) if isinstance(answer, str) else answer)

            def send(self, status: int, headers: dict[str, str], answer: Any) -> None:
                content = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    for name, value in {"Content-Type": "application/json", **headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    self.close_connection = True  # the client has gone

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


def completion(text: str, finish: str = "stop", pieces: list[tuple[str, float]] | None = None) -> dict[str, Any]:
    content = [{"token": t, "bytes": list(t.encode()), "logprob": p, "top_logprobs": []} for t, p in pieces or ()]
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish,
        "logprobs": {"content": content} if pieces else None,
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "reader",
        "choices": [choice],
        "usage": usage,
    }


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def engine(fake: FakeServer) -> Iterator[RemoteEngine]:
    client = RemoteClient(RemoteName("reader", fake.url), timeout_seconds=5, attempts=3, first_pause_seconds=0.01)
    engine = RemoteEngine(client)
    yield engine
    engine.close()


def ask(engine: RemoteEngine, **options: Any) -> tuple[list[Token], Statistics]:
    statistics = Statistics()
    request = Request([Image.new("RGB", (8, 8))], "Read.", Schema.load(SCHEMA), **options)
    return list(engine.generate(request, statistics)), statistics


def text(tokens: list[Token]) -> str:
    return b"".join(token.text for token in tokens).decode()


def test_a_good_answer_is_handed_on_as_it_is(fake: FakeServer, engine: RemoteEngine) -> None:
    tokens, statistics = ask(engine)
    assert (text(tokens), tokens[-1].outcome, statistics.notes) == (GOOD, Outcome.COMPLETE, [])
    assert engine.enforcement is Enforcement.ENFORCED
    (sent,) = fake.requests
    assert [part["type"] for part in sent["messages"][0]["content"]] == ["image_url", "text"]
    assert sent["response_format"]["json_schema"]["schema"] == Schema.load(SCHEMA).decoded()
    assert math.isnan(tokens[0].log_probability)  # none was given, none is made up


def test_log_probabilities_of_the_server_become_those_of_the_tokens(fake: FakeServer, engine: RemoteEngine) -> None:
    pieces = [('{"total": ', 0.0), ("12.5", -0.25), (', "note": null}', -0.5), ("<|im_end|>", -0.1)]
    fake.script = [completion(GOOD, pieces=pieces)]
    tokens, _ = ask(engine)
    assert text(tokens) == GOOD
    assert [token.log_probability for token in tokens] == [0.0, -0.25, -0.5, 0.0]


@pytest.mark.parametrize(
    "failure",
    ["drop", (500, {}, {"error": {"message": "out of memory"}}), (429, {"Retry-After": "0.05"}, {"error": {}})],
)
def test_a_passing_failure_is_tried_again(fake: FakeServer, engine: RemoteEngine, failure: Any) -> None:
    fake.script = [failure, failure, GOOD]
    assert text(ask(engine)[0]) == GOOD
    assert len(fake.requests) == 3


def test_a_lasting_failure_is_said(fake: FakeServer, engine: RemoteEngine) -> None:
    fake.script = [(500, {}, {"error": {"message": "out of memory"}})]
    with pytest.raises(DecodeError, match="answered 500: out of memory; tried 3 times"):
        ask(engine)
    fake.script = ["drop"]
    with pytest.raises(ModelError, match="cannot be reached, tried 3 times"):
        ask(engine)
    fake.script = [(401, {}, {"error": {"message": "bad key"}})]
    with pytest.raises(ModelError, match="bad key; set OPENAI_API_KEY"):
        ask(engine)


def test_the_pause_that_the_server_asks_for_is_kept(fake: FakeServer, engine: RemoteEngine) -> None:
    fake.script = [(429, {"Retry-After": "0.4"}, {"error": {}}), GOOD]
    started = time.perf_counter()
    ask(engine)
    assert time.perf_counter() - started >= 0.4
    assert retry_after_seconds("3600") == 60
    assert retry_after_seconds("soon") is None


def test_a_server_that_ignores_the_schema_is_named_and_its_answers_are_repaired(
    fake: FakeServer, engine: RemoteEngine
) -> None:
    fake.enforces = False
    fake.script = ['Here it is:\n```json\n{"total": "12.50", "sum": 3}\n```']
    tokens, statistics = ask(engine)
    assert json.loads(text(tokens)) == {"total": 12.5, "note": None}
    assert engine.enforcement is Enforcement.IGNORED
    assert "does not enforce the schema" in statistics.notes[0]
    assert {"repaired: /sum: is not in the schema, removed", "repaired: /note: was absent, null now"} <= set(
        statistics.notes
    )
    assert math.isnan(tokens[0].log_probability)


@pytest.mark.parametrize("bad", ['{"total": 12.5, "no', '{"total": "twelve", "note": null}', "I cannot read this."])
def test_an_answer_that_cannot_be_repaired_is_asked_again(fake: FakeServer, engine: RemoteEngine, bad: str) -> None:
    fake.script = [bad, GOOD]
    tokens, statistics = ask(engine)
    assert text(tokens) == GOOD
    assert "asked again" in statistics.notes[0]
    assert fake.requests[1]["messages"][1]["content"] == bad


def test_what_stays_wrong_is_reported_with_the_result(fake: FakeServer, engine: RemoteEngine) -> None:
    fake.script = ['{"total": "twelve", "note": null}']
    result = Extractor(engine).extract("examples/receipt.png", SCHEMA)
    assert len(fake.requests) == 3
    assert any(problem.startswith("/total") for problem in result.problems)
    assert any("asked again" in warning for warning in result.warnings)
    fake.script = ['{"total": 12.5, "no']
    result = Extractor(engine).extract("examples/receipt.png", SCHEMA)
    assert result.data == {"total": 12.5}
    assert any("no JSON" in problem for problem in result.problems)


def test_an_answer_at_the_limit_is_truncated(fake: FakeServer, engine: RemoteEngine) -> None:
    fake.script = [completion('{"total": 12.5, "no', finish="length")]
    tokens, _ = ask(engine, max_new_tokens=5)
    assert tokens[-1].outcome is Outcome.TRUNCATED
    assert fake.requests[0]["max_tokens"] == 5


@pytest.mark.parametrize("option", ["logprobs", "response_format"])
def test_an_option_that_the_server_refuses_is_left_out(fake: FakeServer, engine: RemoteEngine, option: str) -> None:
    fake.refuses = option
    assert text(ask(engine)[0]) == GOOD
    assert option not in fake.requests[0]
    assert (engine.enforcement is Enforcement.REFUSED) == (option == "response_format")


def test_a_slow_answer_is_cancelled_at_once(fake: FakeServer, engine: RemoteEngine) -> None:
    fake.script = [3.0]
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    started = time.perf_counter()
    tokens, _ = ask(engine, cancel=cancel)
    assert tokens[-1].outcome is Outcome.CANCELLED
    assert time.perf_counter() - started < 2


def test_a_server_slower_than_the_limit_is_said(fake: FakeServer) -> None:
    engine = RemoteEngine(RemoteClient(RemoteName("reader", fake.url), timeout_seconds=0.2))
    fake.script = [2.0]
    with pytest.raises(DecodeError, match="no answer within"):
        ask(engine)
    engine.close()


def test_load_finds_the_server(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORKLIFT_BASE_URL", raising=False)
    with load("openai:reader", base_url=fake.url) as extractor:
        assert extractor.extract("examples/receipt.png", SCHEMA).data["total"] == 12.5
        name = extractor.engine.name
    with load(name) as extractor:
        assert extractor.engine.name == name == f"openai:reader@{fake.url}"
    with pytest.raises(ModelNotFoundError, match="has no model writer; it has reader"):
        load("openai:writer", base_url=fake.url)
    with pytest.raises(UsageError, match="which server"):
        load("openai:reader")


@pytest.mark.parametrize("url", ["localhost:8000", "http://", "http://me:secret@host/v1"])
def test_an_address_that_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="--base-url"):
        RemoteName.parse("openai:reader", url)


def test_json_is_found_in_what_models_write_around_it() -> None:
    assert find_json('<think>{"a": 2}</think>{"a": 1}') == {"a": 1}
    assert find_json('Sure. {"a": 1} Anything else?') == {"a": 1}
    with pytest.raises(ValueError, match="Expecting"):
        find_json("nothing")


def test_a_repair_changes_no_value() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert repaired({"n": "3.5"}, schema) == ({"n": "3.5"}, ())
    assert repaired({"n": "1,000"}, schema) == ({"n": "1,000"}, ())
