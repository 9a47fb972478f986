"""Every refusal and failure as an HTTP answer in OpenAI's shape."""

from __future__ import annotations

from typing import Any

from forklift.errors import (
    CheckpointError,
    DecodeError,
    DocumentError,
    ForkliftError,
    LimitError,
    PageRangeError,
    SchemaError,
    UsageError,
)
from forklift.serving.scheduler import DeadlineExceeded, QueueFull, Refused


class ApiError(ForkliftError):
    """A request that is refused. status: of HTTP; param: the part of the request; code: for programs."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code


class ClientGone(Exception):
    """Whoever asked has hung up: there is nobody to answer."""


def described(error: Exception) -> tuple[int, dict[str, str], dict[str, Any]]:
    """HTTP status, headers and body of an error. What was not raised on purpose is not told outside."""
    headers: dict[str, str] = {}
    param: str | None = None
    if isinstance(error, ApiError):
        status, param, code = error.status, error.param, error.code
    elif isinstance(error, Refused):
        status, code = (429, "queue_full") if isinstance(error, QueueFull) else (503, "shutting_down")
        headers["Retry-After"] = str(error.retry_after_seconds)
    elif isinstance(error, DeadlineExceeded):
        status, code = 504, "deadline_exceeded"
    elif isinstance(error, SchemaError):
        status, param, code = 400, "response_format", "invalid_schema"
    elif isinstance(error, LimitError):
        status, code = 413, "document_too_large"
    elif isinstance(error, PageRangeError):
        status, param, code = 400, "pages", "invalid_pages"
    elif isinstance(error, DocumentError):
        status, code = 400, "invalid_document"
    elif isinstance(error, UsageError):
        status, code = 400, "invalid_request"
    elif isinstance(error, DecodeError | CheckpointError):
        status, code = 500, "generation_failed"
    else:
        status, code = 500, "internal_error"
        error = RuntimeError("the server failed on this request; its log says more")
    return status, headers, error_body(status, str(error), param, code)


def error_body(status: int, message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
