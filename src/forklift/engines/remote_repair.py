"""An answer that no grammar held to the schema -> one that matches, as far as that changes no value."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from jsonschema import Draft202012Validator

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?\s*```", re.DOTALL)
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_MISSING = object()


def find_json(text: str) -> Any:
    """The JSON value in an answer that may have thoughts, a fence or sentences around it. Raises ValueError."""
    text = _THOUGHT.sub("", text)
    try:
        return json.loads(text)
    except ValueError as error:
        for candidate in (*_FENCED.findall(text), text[text.find("{") :] if "{" in text else ""):
            try:
                return json.JSONDecoder().raw_decode(candidate.strip())[0]
            except ValueError:
                continue
        raise error


def repaired(data: Any, schema: Any) -> tuple[Any, tuple[str, ...]]:
    """`data` brought nearer to `schema`, and what was done, in words.

    Absent properties become null, unknown ones go, and a string that is exactly a number becomes one where a number is
    asked. Nothing else is changed; what then still does not match is for the caller to find.
    """
    data = copy.deepcopy(data)
    done: list[str] = []
    validator = Draft202012Validator(schema)
    for _ in range(16):  # a repair may uncover the next level; deeper answers stay as they are
        changed = False
        for error in validator.iter_errors(data):
            for leaf in [error, *(error.context or ())] if error.validator in ("anyOf", "oneOf") else [error]:
                changed |= _repair(leaf, data, done)
        if not changed:
            break
    return data, tuple(dict.fromkeys(done))


def violations(data: Any, schema: Any) -> list[str]:
    """ "pointer: message" for what of `data` does not match."""
    errors = sorted(Draft202012Validator(schema).iter_errors(data), key=lambda error: list(map(str, error.path)))
    return [f"{_pointer(error.absolute_path)}: {error.message[:200]}" for error in errors]


def _repair(error: Any, data: Any, done: list[str]) -> bool:
    path = list(error.absolute_path)
    instance = error.instance
    if error.validator == "required" and isinstance(instance, dict) and _at(data, path) is instance:
        absent = [name for name in error.validator_value if name not in instance]
        for name in absent:
            instance[name] = None
            done.append(f"{_pointer([*path, name])}: was absent, null now")
        return bool(absent)
    if error.validator == "additionalProperties" and error.validator_value is False and isinstance(instance, dict):
        if error.schema.get("patternProperties") or _at(data, path) is not instance:
            return False
        extra = [name for name in instance if name not in error.schema.get("properties", {})]
        for name in extra:
            del instance[name]
            done.append(f"{_pointer([*path, name])}: is not in the schema, removed")
        return bool(extra)
    if error.validator == "type" and isinstance(instance, str) and path and _at(data, path) == instance:
        types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        if not {"number", "integer"} & set(types) or not _NUMBER.fullmatch(instance.strip()):
            return False
        value = json.loads(instance)
        if "number" not in types and not isinstance(value, int):
            return False
        _at(data, path[:-1])[path[-1]] = value
        done.append(f"{_pointer(path)}: the string {instance!r} is a number now")
        return True
    return False


def _at(data: Any, path: list[Any]) -> Any:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return data


def _pointer(path: Any) -> str:
    from forklift.json_schema import escape

    return "".join(f"/{escape(str(step))}" for step in path) or "/"
