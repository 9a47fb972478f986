"""The part of OpenAI's chat protocol that is spoken here: what a request may hold, and what answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Closed(BaseModel):
    """What it does not know, it refuses; a refused request is better than an option that does nothing."""

    model_config = ConfigDict(extra="forbid")


class TextPart(_Closed):
    type: Literal["text"]
    text: str


class ImageUrl(_Closed):
    url: str = Field(description="A data URL with a picture; a link only to hosts that the server allows.")
    detail: Literal["auto", "high"] | None = None


class ImagePart(_Closed):
    type: Literal["image_url"]
    image_url: ImageUrl


class FileData(_Closed):
    file_data: str = Field(description="A data URL, or plain base64, of a PDF or picture.")
    filename: str | None = None
    pages: str | None = Field(None, description='Pages of it, such as "1-3,5"; all without it.')


class FilePart(_Closed):
    type: Literal["file"]
    file: FileData


Part = Annotated[TextPart | ImagePart | FilePart, Field(discriminator="type")]


class Message(_Closed):
    """Instructions and one question; earlier answers cannot be continued."""

    role: Literal["system", "developer", "user"]
    content: str | list[Part]
    name: str | None = None


class JsonSchemaFormat(_Closed):
    name: str
    schema_: Any = Field(alias="schema")
    description: str | None = None
    strict: bool | None = None


class JsonSchemaResponse(_Closed):
    type: Literal["json_schema"]
    json_schema: JsonSchemaFormat


class JsonObjectResponse(_Closed):
    type: Literal["json_object"]


class TextResponse(_Closed):
    type: Literal["text"]


ResponseFormat = Annotated[JsonSchemaResponse | JsonObjectResponse | TextResponse, Field(discriminator="type")]


class StreamOptions(_Closed):
    include_usage: bool = False


MAX_STOPS = 4


class ChatRequest(BaseModel):
    """Options that are known elsewhere and not here come in `model_extra`, to be refused by name."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: Annotated[list[Message], Field(min_length=1)]
    response_format: ResponseFormat | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: str | Annotated[list[str], Field(max_length=MAX_STOPS)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None


# Options of the protocol that do nothing at these values, which some clients send always.
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logit_bias": ({},),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "parallel_tool_calls": (True, False),
    "modalities": (["text"],),
    "store": (False,),
    "service_tier": ("auto", "default"),
}


def unsupported(request: ChatRequest) -> str | None:
    """The first option that would have an effect elsewhere and has none here."""
    for name, value in (request.model_extra or {}).items():
        if value is not None and not any(value == neutral for neutral in NEUTRAL.get(name, ())):
            return name
    return "top_logprobs" if request.top_logprobs else None  # engines give the chosen token's probability only


class ErrorBody(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorResponse(BaseModel):
    """Every refusal and failure looks so."""

    error: ErrorBody


class ModelEntry(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "forklift"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelEntry]


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
