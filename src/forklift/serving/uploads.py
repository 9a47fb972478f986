"""The form of POST /v1/extract: a file and what is to be read from it, kept in memory."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from forklift.engines.base import Sampling
from forklift.errors import SchemaError
from forklift.schema import Schema
from forklift.schema_source import bundled_name, bundled_names, bundled_text, parse
from forklift.serving.failures import ApiError
from forklift.serving.settings import ServerSettings

_FIELDS = ("file", "schema", "pages", "password", "strict", "text_layer", "max_tokens", "temperature", "top_p", "seed")

# How the form is described in the server's OpenAPI document.
FORM = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file", "schema"],
                "additionalProperties": False,
                "properties": {
                    "file": {"type": "string", "format": "binary", "description": "A PDF or picture."},
                    "schema": {"type": "string", "description": "JSON Schema as text, or a name of /v1/schemas."},
                    "pages": {"type": "string", "description": 'Pages to read, such as "1-3,5"; all without it.'},
                    "password": {"type": "string", "description": "Of an encrypted PDF."},
                    "strict": {"type": "boolean", "description": "Decode the schema literally; nothing is missing."},
                    "text_layer": {"type": "boolean", "description": "Whether a PDF's own words help; true."},
                    "max_tokens": {"type": "integer", "minimum": 1},
                    "temperature": {"type": "number", "minimum": 0, "maximum": 2},
                    "top_p": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                    "seed": {"type": "integer", "minimum": 0},
                },
            }
        }
    },
}


class _InMemory(MultiPartParser):
    """Never spools a file to disk; the body's size is limited before it comes here."""

    spool_max_size = 1 << 62


@dataclass(frozen=True)
class Upload:
    """One extraction that is asked for. content, name: of the file; name is what errors call it."""

    content: bytes
    name: str
    schema: Schema
    pages: str | None
    password: str | None
    strict: bool
    text_layer: bool
    max_new_tokens: int
    sampling: Sampling

    @classmethod
    async def of(cls, request: Request, settings: ServerSettings) -> Upload:
        """Read the form. Raises ApiError or SchemaError."""
        kind, _ = parse_options_header(request.headers.get("content-type"))
        if kind != b"multipart/form-data":
            raise ApiError(415, "send a form (multipart/form-data) with file and schema", code="unsupported_media_type")
        fields: dict[str, Any] = {}
        content, name = None, "file"
        try:
            async with aclosing(request.stream()) as stream:
                parser = _InMemory(
                    request.headers, stream, max_files=1, max_fields=len(_FIELDS), max_part_size=settings.max_body_bytes
                )
                form = await parser.parse()
            try:
                for key, value in form.multi_items():
                    if key not in _FIELDS:
                        known = ", ".join(_FIELDS)
                        raise ApiError(400, f"{key} is no field of this form; the fields are {known}", param=key[:100])
                    if isinstance(value, UploadFile):
                        if key != "file":
                            raise ApiError(400, f"{key} must be text, not a file", param=key)
                        content, name = await value.read(), value.filename or name
                    elif key == "file":
                        raise ApiError(400, "file must be a file with a filename", param="file")
                    else:
                        fields[key] = value
            finally:
                await form.close()
        except MultiPartException as error:
            raise ApiError(400, f"the form cannot be read: {error.message}", code="invalid_form") from None
        for missing in ("file", "schema"):
            if (missing == "file" and content is None) or (missing == "schema" and not fields.get("schema")):
                raise ApiError(400, f"the form has no {missing}", param=missing, code="missing_field")
        assert content is not None
        return cls(
            content=content,
            name=name,
            schema=read_schema(fields["schema"]),
            pages=fields.get("pages") or None,
            password=fields.get("password") or None,
            strict=_flag(fields, "strict", False),
            text_layer=_flag(fields, "text_layer", True),
            max_new_tokens=int(_number(fields, "max_tokens", settings.max_new_tokens, 1, 1 << 31, whole=True)),
            sampling=Sampling(
                _number(fields, "temperature", 0.0, 0, 2),
                _number(fields, "top_p", 1.0, 1e-9, 1),
                int(_number(fields, "seed", 0, 0, (1 << 63) - 1, whole=True)),
            ),
        )


def read_schema(text: str) -> Schema:
    """JSON text or a bundled name, and never a path: clients must not read the server's files.

    Raises SchemaError.
    """
    text = text.strip()
    if text.startswith("{"):
        return Schema(parse(text, "schema"), name="schema")
    name = bundled_name(text)
    if name is None:
        raise SchemaError(f"schema: neither JSON text nor a known name; the names are {', '.join(bundled_names())}")
    return Schema(json.loads(bundled_text(name)), name=name)


def _flag(fields: dict[str, Any], name: str, default: bool) -> bool:
    text = str(fields.get(name, "")).strip().lower()
    if text not in ("", "true", "false", "1", "0"):
        raise ApiError(400, f"{name} must be true or false", param=name)
    return default if not text else text in ("true", "1")


def _number(
    fields: dict[str, Any], name: str, default: float, least: float, most: float, *, whole: bool = False
) -> float:
    text = str(fields.get(name, "")).strip()
    if not text:
        return default
    try:
        value = int(text) if whole else float(text)
        if not least <= value <= most:  # false for NaN too
            raise ValueError
    except ValueError:
        kind = "whole number" if whole else "number"
        raise ApiError(400, f"{name} must be a {kind} from {least:g} to {most:g}", param=name) from None
    return value
