"""The official client against a server of its own process that runs nano, and the end of that process."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import openai
import pytest
from pydantic import BaseModel

from tests.serving.conftest import EXAMPLES, picture, schema_format

ROOT = Path(__file__).resolve().parents[2]


class Total(BaseModel):
    currency: str
    total: float


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    running = start()
    yield running
    running.process.terminate()
    assert running.process.wait(20) == 0


def start() -> Running:
    command = [sys.executable, "-m", "forklift.cli.main", "serve", "--port", "0", "--concurrency", "4"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"(http://\S+)/v1", line)
        if found:
            # Read on, or a full pipe would stop the server.
            threading.Thread(target=_read_on, args=(process.stderr,), daemon=True).start()
            return Running(process, found[1])
    pytest.fail(f"the server ended with {process.wait()}")


def _read_on(stderr: IO[str]) -> None:
    with stderr:
        for _ in stderr:
            pass


def client_of(server: Running) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=5)


def asked(**options: Any) -> dict[str, Any]:
    return {"model": "nano", "temperature": 0, "messages": [{"role": "user", "content": [picture()]}], **options}


def test_parse_gives_the_pydantic_model(server: Running) -> None:
    completion = client_of(server).chat.completions.parse(**asked(response_format=Total))
    [choice] = completion.choices
    assert isinstance(choice.message.parsed, Total)
    assert choice.finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens > 50


def test_streams_say_what_whole_answers_say_also_beside_others(server: Running) -> None:
    """Greedy answers do not depend on who else is served."""
    client = client_of(server)
    schemas = [
        {
            "type": "object",
            "properties": {name: {"type": "string", "maxLength": 12} for name in names},
            "required": names,
            "additionalProperties": False,
        }
        for names in (["vendor"], ["currency", "date"], ["total", "vendor", "number"])
    ]
    alone = [
        client.chat.completions.create(**asked(response_format=schema_format(schema))).choices[0].message.content
        for schema in schemas
    ]
    heard: dict[int, str] = {}

    def listen(number: int) -> None:
        options = asked(response_format=schema_format(schemas[number % 3]), stream=True)
        parts = client.chat.completions.create(**options)
        heard[number] = "".join(part.choices[0].delta.content or "" for part in parts)

    threads = [threading.Thread(target=listen, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {number: alone[number % 3] for number in range(9)}


def test_errors_are_the_client_s_own(server: Running) -> None:
    client = client_of(server)
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(**asked(n=2))
    assert refused.value.param == "n"
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(**{**asked(), "model": "other"})
    assert [model.id for model in client.models.list()] == ["nano"]


def test_a_stream_that_is_closed_early_frees_its_place(server: Running) -> None:
    client = client_of(server)
    for _ in range(8):  # twice as many as there are places
        with client.chat.completions.create(**asked(stream=True, max_tokens=5000)) as stream:
            next(iter(stream))
    assert client.chat.completions.create(**asked(max_tokens=2)).choices[0].finish_reason == "length"


def test_the_example_of_the_documents_runs(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```py\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(EXAMPLES.parent)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code.replace("http://127.0.0.1:8080", server.url), "example", "exec"), {"__name__": "example"})
    assert re.fullmatch(r"total=[\d.]+ currency='.*'\n", printed.getvalue())


def test_sigterm_lets_what_runs_finish() -> None:
    server = start()
    client = client_of(server)
    stream = iter(client.chat.completions.create(**asked(stream=True, max_tokens=300)))
    next(stream)
    server.process.send_signal(signal.SIGTERM)
    *_, last = stream
    assert last.choices[0].finish_reason in ("length", "stop")
    assert server.process.wait(20) == 0
    with pytest.raises(openai.APIConnectionError):
        client.with_options(max_retries=0).models.list()
