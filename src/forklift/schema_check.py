"""Checks with `jsonschema`: of a schema itself, and of a final answer against it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, localcontext
from typing import Any

from forklift.errors import SchemaError
from forklift.json_schema import LISTED_SUBSCHEMAS, MAX_NESTING, NAMED_SUBSCHEMAS, SINGLE_SUBSCHEMAS, escape
from forklift.schema_formats import format_checker

FORMATS_AS_TYPES = {"date": "date", "datetime": "date-time", "date-time": "date-time", "time": "time", "email": "email"}


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
    if base is jsonschema.Draft3Validator:
        raise SchemaError("/$schema: draft 3 is not supported; draft 4 and everything later is")
    try:
        base.check_schema(source, format_checker=None)
    except jsonschema.SchemaError as error:
        place = _pointer(error.absolute_path) or "/"
        raise SchemaError(f"{place}: {_shortened(error.message)}{_hint(error)}") from None


def _hint(error: Any) -> str:
    """What was likely meant, where a common slip is recognised."""
    last = error.absolute_path[-1] if error.absolute_path else None
    if last == "type" and isinstance(error.instance, str):
        if error.instance in FORMATS_AS_TYPES:
            return f'; write "type": "string", "format": "{FORMATS_AS_TYPES[error.instance]}"'
        return "; the types are string, number, integer, boolean, object, array and null"
    if last == "required" and isinstance(error.instance, bool):
        return '; list the names of required properties in "required" of the object around'
    if last in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(error.instance, bool):
        return f'; write the bound itself: "{last}": 0'
    return ""


class AnswerCheck:
    """The final validation of answers against one schema.

    strict False passes over null properties and items: `Schema.settle` reports those as missing.
    """

    def __init__(self, source: Any, *, strict: bool) -> None:
        import jsonschema

        base: Any = jsonschema.validators.validator_for(source, default=jsonschema.Draft202012Validator)
        checks: dict[str, Any] = dict(base.VALIDATORS) | {"multipleOf": _multiple_of}
        checks |= {keyword: _tolerant(checks[keyword]) for keyword in _WITH_PATTERNS}
        checks = {keyword: _nullable(check) for keyword, check in checks.items()}
        validator = jsonschema.validators.extend(base, checks)
        self._strict = strict
        self._validator: Any = validator(_without_ids(source), format_checker=format_checker())

    def problems(self, answer: Any) -> tuple[str, ...]:
        """ "pointer: message" for each, in the order of their pointers."""
        if _nesting(answer) > MAX_NESTING:
            return (_TOO_DEEP,)
        try:
            return self._problems(answer)
        except BaseException as error:
            # jsonschema's tables are in Rust, where Python's RecursionError becomes a panic, which is no Exception.
            if not isinstance(error, RecursionError) and type(error).__name__ != "PanicException":
                raise
            return (_TOO_DEEP,)

    def _problems(self, answer: Any) -> tuple[str, ...]:
        found = [error for error in self._validator.iter_errors(answer) if self._strict or not _is_missing(error)]
        found.sort(key=lambda error: _pointer(error.absolute_path))
        return tuple(f"{_pointer(error.absolute_path) or '/'}: {_shortened(error.message)}" for error in found)


def _is_missing(error: Any) -> bool:
    """Whether nothing is wrong but a null below the root, or none of the alternatives for another reason."""
    if error.instance is None:
        return len(error.absolute_path) > 0 and error.validator != "not"
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        return False
    failed: dict[Any, bool] = {}
    for inner in error.context:
        branch = inner.schema_path[0]
        failed[branch] = failed.get(branch, True) and _is_missing(inner)
    return any(failed.values())


def _without_ids(node: Any) -> Any:
    """The schema without `$id`: here every reference is into the whole schema, whatever part it stands in."""
    if not isinstance(node, Mapping):
        return node
    copied: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword in NAMED_SUBSCHEMAS and isinstance(value, Mapping):
            copied[keyword] = {name: _without_ids(child) for name, child in value.items()}
        elif (keyword in LISTED_SUBSCHEMAS or keyword == "items") and isinstance(value, list):
            copied[keyword] = [_without_ids(child) for child in value]
        elif keyword in SINGLE_SUBSCHEMAS:
            copied[keyword] = _without_ids(value)
        elif not (keyword in ("$id", "id") and isinstance(value, str)):
            copied[keyword] = value
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


_TOO_DEEP = "/: the answer is nested too deep to be checked"
_Check = Callable[..., Iterator[Any] | None]
_WITH_PATTERNS = ("pattern", "patternProperties", "additionalProperties")


def _nullable(check: _Check) -> _Check:
    """OpenAPI's `nullable: true` beside a keyword lets null pass it."""

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if instance is not None or schema.get("nullable") is not True:
            yield from check(validator, value, instance, schema) or ()

    return checked


def _tolerant(check: _Check) -> _Check:
    """Patterns are ECMA regular expressions; one that Python cannot read was enforced while decoding."""

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        try:
            yield from check(validator, value, instance, schema) or ()
        except re.error:
            return

    return checked


def _multiple_of(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """In decimal arithmetic: in binary 19.99 is no multiple of 0.01."""
    import jsonschema

    if isinstance(instance, int | float) and not isinstance(instance, bool):
        with localcontext(prec=700):
            rest = Decimal(str(instance)) % Decimal(str(value))
        if rest:
            yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {value}")
