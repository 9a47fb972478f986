"""A chat request into what the engine takes: page images, one text, and a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forklift.documents import Document, PagePolicy
from forklift.engines.base import Request, Sampling
from forklift.errors import LimitError, SchemaError
from forklift.prompt import extraction_text
from forklift.serving.attachments import content_of
from forklift.serving.failures import ApiError
from forklift.serving.openai_types import (
    ChatRequest,
    FilePart,
    ImagePart,
    JsonObjectResponse,
    JsonSchemaResponse,
    TextPart,
    unsupported,
)
from forklift.serving.settings import ServerSettings

if TYPE_CHECKING:
    from PIL import Image

    from forklift.schema import Schema

_ANY_OBJECT = {"type": "object"}


@dataclass(frozen=True)
class Attachment:
    """A file in a request, as it stands there. param: where, for errors."""

    url: str
    pages: str | None
    param: str


@dataclass(frozen=True)
class Question:
    """A chat request whose options are known to be good; its files are not looked at yet."""

    text: str
    attachments: tuple[Attachment, ...]
    schema: Schema | None
    sampling: Sampling
    max_new_tokens: int
    stops: tuple[bytes, ...]

    @classmethod
    def of(cls, request: ChatRequest, settings: ServerSettings) -> Question:
        """Raises ApiError or SchemaError for what is not understood or not done here."""
        name = unsupported(request)
        if name is not None:
            raise ApiError(
                400,
                f"{name} is not implemented by this server; leave it out",
                param=name,
                code="unsupported_parameter",
            )
        if request.model != settings.model_name:
            raise ApiError(
                404,
                f"there is no model {request.model!r} here; this server runs {settings.model_name!r}",
                param="model",
                code="model_not_found",
            )
        if request.stream_options is not None and not request.stream:
            raise ApiError(400, "stream_options is for stream: true", param="stream_options")
        schema = _schema_of(request)
        text, attachments = _read_messages(request)
        stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
        if "" in stops:
            raise ApiError(400, "stop holds an empty text, at which every answer would end", param="stop")
        return cls(
            text=_with_schema(text, schema, request),
            attachments=attachments,
            schema=schema,
            sampling=Sampling(request.temperature or 0.0, request.top_p or 1.0, (request.seed or 0) % (1 << 63)),
            max_new_tokens=request.max_completion_tokens or request.max_tokens or settings.max_new_tokens,
            stops=tuple(stop.encode() for stop in stops),
        )

    def request(self, policy: PagePolicy, settings: ServerSettings, given_up: Callable[[], bool]) -> Request | None:
        """Open the files and draw their pages; None when nobody waits any more.

        Raises ApiError, DocumentError or LimitError.
        """
        images: list[Image.Image] = []
        words: list[str] = []
        left = settings.limits.max_pages
        with ExitStack() as opened:
            for attachment in self.attachments:
                param = attachment.param
                content = content_of(
                    attachment.url, param=param, limits=settings.limits, allowed_hosts=settings.allowed_hosts
                )
                limits = replace(settings.limits, max_pages=max(left, 1))
                document = opened.enter_context(
                    Document.from_bytes(content, name=param, pages=attachment.pages, limits=limits)
                )
                left -= len(document)
                if left < 0:
                    raise LimitError(
                        f"{param}: the request has more than {settings.limits.max_pages} pages; send fewer"
                    )
                for page in document:
                    if given_up():
                        return None
                    images.append(page.render(policy))
                    words += [word.text for word in page.words() or ()]
        return Request(
            pages=images,
            text=self.text,
            schema=self.schema,
            words=words if self.schema is not None else (),
            strict=True,  # as users of the protocol expect: every answer is valid under the schema as it stands
            sampling=self.sampling,
            max_new_tokens=self.max_new_tokens,
        )


def _read_messages(request: ChatRequest) -> tuple[str, tuple[Attachment, ...]]:
    """The text of all messages, a blank line between two of them, and the files in order."""
    if request.messages[-1].role != "user":
        raise ApiError(400, "the last message must be the user's", param="messages")
    texts: list[str] = []
    attachments: list[Attachment] = []
    for place, message in enumerate(request.messages):
        if isinstance(message.content, str):
            texts.append(message.content)
            continue
        spoken: list[str] = []
        for number, part in enumerate(message.content):
            param = f"messages[{place}].content[{number}]"
            if isinstance(part, TextPart):
                spoken.append(part.text)
            elif isinstance(part, ImagePart):
                attachments.append(Attachment(part.image_url.url, None, param))
            elif isinstance(part, FilePart):
                attachments.append(Attachment(part.file.file_data, part.file.pages, param))
        texts.append("\n".join(spoken))
    return "\n\n".join(text for text in texts if text), tuple(attachments)


def _schema_of(request: ChatRequest) -> Schema | None:
    from forklift.schema import Schema

    asked = request.response_format
    if isinstance(asked, JsonObjectResponse):
        return Schema(_ANY_OBJECT, name="json_object")
    if not isinstance(asked, JsonSchemaResponse):
        return None
    if not isinstance(asked.json_schema.schema_, dict):
        raise ApiError(
            400, "response_format.json_schema.schema is no JSON object", param="response_format", code="invalid_schema"
        )
    schema = Schema(asked.json_schema.schema_, name=asked.json_schema.name)
    if schema.unenforced:
        places = ", ".join(f"{pointer}/{keyword}" for pointer, keyword in schema.unenforced[:5])
        raise SchemaError(
            f"{schema.name}: {places} cannot be enforced while decoding; leave it out, or use /v1/extract, "
            "which checks the answer for it"
        )
    schema.decoded(strict=True)
    return schema


def _with_schema(text: str, schema: Schema | None, request: ChatRequest) -> str:
    """The text, and behind it the task and the schema unless the schema stands in it already."""
    if schema is None or isinstance(request.response_format, JsonObjectResponse):
        return text
    if _squeezed(json.dumps(schema.source, ensure_ascii=False)) in _squeezed(text):
        return text
    return f"{text}\n\n{extraction_text(schema)}" if text else extraction_text(schema)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
