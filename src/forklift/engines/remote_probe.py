"""Does a server really enforce the schema that it is given?"""

from __future__ import annotations

import json
import threading
from enum import StrEnum

from forklift.engines.remote_client import RemoteClient

# The prompt asks for something else, so that only a server that enforces the schema writes this.
_WORD = "k7-quartz"
_SCHEMA = {
    "type": "object",
    "properties": {"seal": {"type": "string", "enum": [_WORD]}},
    "required": ["seal"],
    "additionalProperties": False,
}


class Enforcement(StrEnum):
    """What a server makes of `response_format`."""

    ENFORCED = "enforced"
    IGNORED = "ignored"
    REFUSED = "refused"


def response_format(schema: object, name: str = "answer") -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def probe_enforcement(client: RemoteClient, cancel: threading.Event | None = None) -> Enforcement:
    """One short request whose schema and prompt contradict each other. Raises as `RemoteClient.ask`."""
    reply = client.ask(
        [{"role": "user", "content": "Say hello in one word. Write no JSON."}],
        {"response_format": response_format(_SCHEMA), "temperature": 0, "max_tokens": 64},
        cancel,
    )
    if "response_format" in client.dropped:
        return Enforcement.REFUSED
    try:
        return Enforcement.ENFORCED if json.loads(reply.text) == {"seal": _WORD} else Enforcement.IGNORED
    except ValueError:
        return Enforcement.IGNORED
