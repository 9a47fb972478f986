"""The server's routes, put together as a FastAPI application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException

from forklift import __version__
from forklift.schema_source import bundled_names, bundled_summary, bundled_text
from forklift.serving.chat import ChatResponse
from forklift.serving.extraction import extract
from forklift.serving.failures import ApiError, ClientGone, described, error_body
from forklift.serving.gate import Gate
from forklift.serving.generations import Connection
from forklift.serving.openai_types import ChatRequest, ErrorResponse, ModelEntry, ModelList
from forklift.serving.service import Service, log
from forklift.serving.uploads import FORM, Upload

_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (400, "The request is not understood, or asks for what is not done here"),
        (401, "The API key is missing or wrong"),
        (404, "There is no such model or schema"),
        (413, "The request or a document is too large"),
        (429, "Too many requests wait; Retry-After says when to ask again"),
        (500, "The generation failed"),
        (503, "The server is shutting down"),
        (504, "The request took longer than the server allows"),
    )
}


def create_app(service: Service) -> FastAPI:
    """The application; its lifespan starts and closes `service`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(
        title="Forklift",
        version=__version__,
        description="Documents into JSON that matches your schema.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(Gate, service=service)
    _add_failures(app)
    _add_openai_routes(app, service)
    _add_extraction_routes(app, service)
    _add_operations(app, service)
    return app


def _add_openai_routes(app: FastAPI, service: Service) -> None:
    entry = ModelEntry(id=service.settings.model_name, created=service.created)

    @app.post("/v1/chat/completions", responses=_FAILURES, response_class=JSONResponse)
    async def chat_completions(asked: ChatRequest) -> Response:
        """Answer one question about pictures, files and text; the answer matches the schema that is asked for."""
        return ChatResponse(service, asked)

    @app.get("/v1/models", responses=_some(401))
    async def models() -> ModelList:
        """The one model that this server runs."""
        return ModelList(data=[entry])

    @app.get("/v1/models/{model}", responses=_some(401, 404))
    async def model(model: str) -> ModelEntry:
        if model != entry.id:
            raise ApiError(404, f"there is no model {model!r} here", param="model", code="model_not_found")
        return entry


def _add_extraction_routes(app: FastAPI, service: Service) -> None:
    @app.post(
        "/v1/extract",
        responses={**_FAILURES, **_some(415)},
        openapi_extra={"requestBody": FORM},
    )
    async def extract_file(request: Request) -> JSONResponse:
        """Read one file into JSON; every value with its confidence and where it stands."""
        upload = await Upload.of(request, service.settings)
        async with Connection(request.receive) as connection:
            return JSONResponse(await extract(service, upload, connection))

    @app.get("/v1/schemas", responses=_some(401))
    async def schemas() -> dict[str, list[dict[str, str]]]:
        """The schemas that can be named instead of sent."""
        entries = []
        for name in bundled_names():
            title, description = bundled_summary(name)
            entries.append({"name": name, "title": title, "description": description})
        return {"data": entries}

    @app.get("/v1/schemas/{name}", responses=_some(401, 404))
    async def schema(name: str) -> dict[str, Any]:
        if name not in bundled_names():
            raise ApiError(404, f"there is no schema {name!r}; /v1/schemas lists them", param="name", code="not_found")
        found: dict[str, Any] = json.loads(bundled_text(name))
        return found


def _add_operations(app: FastAPI, service: Service) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """The process lives."""
        return {"status": "ok"}

    @app.get("/readyz", responses=_some(503))
    async def readyz() -> dict[str, str]:
        """Requests are taken."""
        if not service.is_ready:
            raise ApiError(503, "the server is shutting down or has failed", code="not_ready")
        return {"status": "ready"}

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> PlainTextResponse:
        """Counts and times for Prometheus."""
        return PlainTextResponse(service.metrics.text(), media_type="text/plain; version=0.0.4")


def _add_failures(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = _place(first["loc"])
        if first["type"] == "json_invalid":
            message, place = f"the body is no JSON: {first.get('ctx', {}).get('error', first['msg'])}", ""
        else:
            message = f"{place or 'the body'}: {first['msg']}"
        return JSONResponse(error_body(400, message, place or None, "invalid_request"), 400)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse(error_body(error.status_code, str(error.detail)), error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return _failure(error)

    for kind in _raised_on_purpose():
        app.add_exception_handler(kind, failed)

    @app.exception_handler(ClientGone)
    async def gone(request: Request, error: ClientGone) -> Response:
        return Response(status_code=499)


def _failure(error: Exception) -> JSONResponse:
    status, headers, body = described(error)
    if status == 500:
        log.error("a request failed", exc_info=error)
    return JSONResponse(body, status, headers)


def _raised_on_purpose() -> tuple[type[Exception], ...]:
    from forklift.errors import ForkliftError

    return (ForkliftError,)


def _place(location: tuple[Any, ...]) -> str:
    """("body", "messages", 0, "user", "role") as messages[0].role: without the names of alternatives."""
    known = {"text", "image_url", "file", "json_schema", "json_object"}
    text = ""
    parts = location[1:] if location and location[0] in ("body", "path", "query") else location
    for index, part in enumerate(parts):
        if isinstance(part, int):
            text += f"[{part}]"
        elif part in known and index and isinstance(parts[index - 1], int):
            continue  # which kind of part was taken
        elif part.startswith(("list[", "str", "function-")):
            continue
        else:
            text += f".{part}" if text else part
    return text


def _some(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: _FAILURES.get(status, {"model": ErrorResponse, "description": "The form is of another type"})
        for status in statuses
    }
