"""What every request passes first: the API key, the size of its body; and its line in the log when it is answered."""

from __future__ import annotations

import hmac
import re
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forklift.serving.failures import error_body
from forklift.serving.service import Service, log

_GONE = 499  # nginx's number for a client that hung up before the answer
_PATHS = re.compile(r"/(healthz|readyz|metrics|openapi\.json|v1/(chat/completions|models|extract|schemas)(/[^/]+)?)")


class Gate:
    """ASGI middleware; paths below /v1 need the key."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._key = service.settings.api_key
        self._max_body_bytes = service.settings.max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, size = time.perf_counter(), _GONE, 0

        async def counted_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        async def counted_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._max_body_bytes:
                raise HTTPException(413, self._too_large())
            return message

        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, counted_send)
            else:
                await self._app(scope, counted_receive, counted_send)
        finally:
            known = _PATHS.fullmatch(scope["path"])
            # A path that nobody serves is no label: anyone could make as many as they like.
            path = known[0].removesuffix(known[3] or "") if known else "other"
            self._service.metrics.requests.add(method=_method(scope), path=path, status=str(status))
            seconds = time.perf_counter() - started
            log.info("request method=%s path=%s status=%d seconds=%.3f", _method(scope), path, status, seconds)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = dict(scope["headers"])
        if self._key is not None and scope["path"].startswith("/v1"):
            given = headers.get(b"authorization", b"").partition(b" ")
            right = given[0].lower() == b"bearer" and hmac.compare_digest(given[2].strip(), self._key.encode())
            if not right:
                message = "a valid API key is needed: send the header Authorization: Bearer KEY"
                return _refused(401, message, "invalid_api_key", {"WWW-Authenticate": "Bearer"})
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._max_body_bytes:
            return _refused(413, self._too_large(), "request_too_large", {"Connection": "close"})
        return None

    def _too_large(self) -> str:
        return f"the request is larger than the limit of {self._max_body_bytes:,} bytes; send fewer or smaller files"


def _refused(status: int, message: str, code: str, headers: dict[str, str]) -> JSONResponse:
    body: dict[str, Any] = error_body(status, message, code=code)
    return JSONResponse(body, status, headers)


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE") else "other"
