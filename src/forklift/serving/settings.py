"""What whoever starts a server decides about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from forklift.page_policy import Limits
from forklift.serving.scheduler import Capacity

# Tighter than those of the command line: here others decide what is sent.
SERVED_LIMITS = Limits(max_file_bytes=64 << 20, max_pages=100, max_picture_pixels=50_000_000)


def body_bytes(file_bytes: int) -> int:
    """The size of a request whose files have `file_bytes`: as base64, with a mebibyte for texts and schema."""
    return -(-file_bytes // 3) * 4 + (1 << 20)


@dataclass(frozen=True)
class ServerSettings:
    """model_name: what clients call the model. api_key: what they must send; None for no key.

    limits: of each document; its pages, of all documents of a request together. max_body_bytes: of a whole request.
    allowed_hosts: from which pictures and files may be fetched by URL; from nowhere else.
    max_new_tokens: where an answer is cut when the request does not say.
    """

    model_name: str = "nano"
    api_key: str | None = None
    capacity: Capacity = field(default_factory=Capacity)
    limits: Limits = SERVED_LIMITS
    max_body_bytes: int = body_bytes(SERVED_LIMITS.max_file_bytes)
    allowed_hosts: frozenset[str] = frozenset()
    max_new_tokens: int = 8192
