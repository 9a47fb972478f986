"""A server in process, over an engine that says what it is told."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from forklift.engines.base import Engine
from forklift.extract import Extractor
from forklift.serving.api import create_app
from forklift.serving.service import Service
from forklift.serving.settings import ServerSettings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

Serving = Callable[..., AbstractAsyncContextManager[tuple[httpx2.AsyncClient, Service]]]


def data_url(name: str) -> str:
    kind = "application/pdf" if name.endswith(".pdf") else "image/png"
    return f"data:{kind};base64,{base64.b64encode((EXAMPLES / name).read_bytes()).decode()}"


def question(*parts: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A chat request with one user message."""
    content: Any = list(parts) if parts else "What is it?"
    return {"model": "scripted", "messages": [{"role": "user", "content": content}], **options}


def picture(name: str = "receipt.png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(name)}}


def file_part(name: str, pages: str | None = None) -> dict[str, Any]:
    file = {"file_data": data_url(name), "filename": name}
    return {"type": "file", "file": file if pages is None else {**file, "pages": pages}}


def schema_format(schema: Any, **options: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, **options}}


@asynccontextmanager
async def running(
    engine: Engine, settings: ServerSettings | None = None, **options: Any
) -> AsyncIterator[tuple[httpx2.AsyncClient, Service]]:
    """A client of a server over `engine`, without a network."""
    service = Service(Extractor(engine), settings or ServerSettings(model_name="scripted", **options))
    app = create_app(service)
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=20) as client,
    ):
        yield client, service


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
