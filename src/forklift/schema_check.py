"""Checks with `jsonschema`: of a schema itself, and of a final answer against it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from forklift.errors import SchemaError
from forklift.json_schema import MAX_NESTING, escape


def check_schema(source: Any) -> None:
    """Raises SchemaError, with a JSON Pointer, unless `source` is a JSON Schema of a known draft."""
    import jsonschema

    if not isinstance(source, Mapping | bool):
        raise SchemaError(f"/: a schema is a JSON object, not {type(source).__name__}")
    if _nesting(source) > MAX_NESTING:
        raise SchemaError(f"/: nested more than {MAX_NESTING} levels deep; flatten it")
    try:
        json.dumps(source, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise SchemaError(f"/: not JSON: {error}") from None
    base: Any = jsonschema.validators.validator_for(source, default=jsonschema.Draft202012Validator)
    try:
        base.check_schema(source, format_checker=None)
    except jsonschema.SchemaError as error:
        raise SchemaError(f"{_pointer(error.absolute_path) or '/'}: {_shortened(error.message)}") from None


class AnswerCheck:
    """The final validation of answers against one schema.

    strict False passes over null properties and items: `Schema.settle` reports those as missing.
    """

    def __init__(self, source: Any, *, strict: bool) -> None:
        import jsonschema

        base: Any = jsonschema.validators.validator_for(source, default=jsonschema.Draft202012Validator)
        checks: dict[str, Any] = dict(base.VALIDATORS)
        overrides: dict[str, Any] = {
            keyword: _tolerant(checks[keyword]) for keyword in ("pattern", "patternProperties", "additionalProperties")
        }
        if not strict:
            for keyword in ("properties", "additionalProperties", "patternProperties"):
                overrides[keyword] = _passing_null((checks | overrides)[keyword])
            for keyword in ("items", "prefixItems"):
                if keyword in checks:
                    overrides[keyword] = _passing_null_items(checks[keyword])
        validator = jsonschema.validators.extend(base, overrides)
        self._validator: Any = validator(_with_nullable(source), format_checker=base.FORMAT_CHECKER)

    def problems(self, answer: Any) -> tuple[str, ...]:
        """ "pointer: message" for each, in the order of their pointers."""
        errors = sorted(self._validator.iter_errors(answer), key=lambda error: _pointer(error.absolute_path))
        return tuple(f"{_pointer(error.absolute_path) or '/'}: {_shortened(error.message)}" for error in errors)


def _with_nullable(node: Any) -> Any:
    """The schema with OpenAPI's `nullable: true` written as JSON Schema."""
    if isinstance(node, list):
        return [_with_nullable(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    copied = {key: _with_nullable(value) for key, value in node.items()}
    if copied.get("nullable") is True:
        named = {key: copied[key] for key in ("$schema", "$id", "$defs", "definitions") if key in copied}
        return {**named, "anyOf": [{"type": "null"}, {k: v for k, v in copied.items() if k not in named}]}
    return copied


def _nesting(value: Any) -> int:
    """Levels of dicts and lists, without recursion."""
    depth, level = 0, [value]
    while level and depth <= 2 * MAX_NESTING:
        level = [
            child
            for one in level
            if isinstance(one, Mapping | list)
            for child in (one.values() if isinstance(one, Mapping) else one)
        ]
        depth += 1
    return depth


def _pointer(path: Any) -> str:
    return "".join(f"/{escape(str(step))}" for step in path)


def _shortened(message: str, limit: int = 200) -> str:
    return message if len(message) <= limit else message[: limit - 3] + "..."


_Check = Callable[..., Iterator[Any] | None]


def _passing_null(check: _Check) -> _Check:
    """The keyword's check over the members that are not null; a closed object refuses null members too."""

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, dict) and value is not False:
            instance = {name: item for name, item in instance.items() if item is not None}
        yield from check(validator, value, instance, schema) or ()

    return checked


def _passing_null_items(check: _Check) -> _Check:
    """`items` or `prefixItems` over the items that are not null."""

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(instance, list) or None not in instance or isinstance(value, bool):
            yield from check(validator, value, instance, schema) or ()
            return
        before = 0 if isinstance(value, list) else len(schema.get("prefixItems", ()))
        for index, item in enumerate(instance[before:], before):
            child = value if isinstance(value, Mapping) else value[index] if index < len(value) else True
            if item is not None:
                yield from validator.descend(item, child, path=index)

    return checked


def _tolerant(check: _Check) -> _Check:
    """Patterns are ECMA regular expressions; one that Python cannot read was enforced while decoding."""

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        try:
            yield from check(validator, value, instance, schema) or ()
        except re.error:
            return

    return checked
