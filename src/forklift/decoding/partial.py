"""JSON text that was cut off -> its complete part."""

from __future__ import annotations

import json
import re
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_CONTINUES = re.compile(r"[-+.\w]")


def partial_json(text: str) -> Any:
    """What of `text`, the beginning of a JSON value, is certainly complete; None where nothing is.

    Objects and arrays keep their complete members, also inside an unfinished last one. A string without its
    closing quote, a key without its value and a number at the very end (more digits could follow) are
    dropped. Text that is no beginning of JSON is kept up to where it stops being one.
    """
    root: list[Any] = []
    containers: list[dict[str, Any] | list[Any]] = [root]
    keys: list[str | None] = [None]
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text) and not (len(containers) == 1 and root):
        container, character = containers[-1], text[position]
        if character in "}]" and len(containers) > 1:
            if (character == "}") != isinstance(container, dict):
                break
            containers.pop()
            keys.pop()
            position += 1
        elif character == "," and len(containers) > 1:
            position += 1
        elif isinstance(container, dict) and keys[-1] is None:
            found = _STRING.match(text, position)
            colon = _SPACE.match(text, found.end()).end() if found else len(text)  # type: ignore[union-attr]
            if found is None or text[colon : colon + 1] != ":":
                break
            keys[-1] = _string(found[0])
            position = colon + 1
        else:
            value: Any
            if character in "{[":
                value = {} if character == "{" else []
                end = position + 1
            elif character == '"':
                found = _STRING.match(text, position)
                if found is None:
                    break
                value, end = _string(found[0]), found.end()
            else:
                found = _SCALAR.match(text, position)
                if found is None or _CONTINUES.match(text, found.end()):
                    break
                if found.end() == len(text) and character not in "tfn":
                    break
                value, end = json.loads(found[0]), found.end()
            if isinstance(container, dict):
                container[str(keys[-1])] = value
                keys[-1] = None
            else:
                container.append(value)
            if isinstance(value, dict | list):
                containers.append(value)
                keys.append(None)
            position = end
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    return root[0] if root else None


def _string(literal: str) -> str:
    try:
        return str(json.loads(literal, strict=False))
    except json.JSONDecodeError:
        return literal[1:-1]
