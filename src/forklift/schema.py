"""A user's schema: what the prompt shows, what decoding enforces, what the answer is checked against."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from forklift.decoded_schema import DecodedSchema, enforceable
from forklift.errors import SchemaError
from forklift.json_schema import (
    ANNOTATIONS,
    CHECKED,
    ENFORCED,
    MAX_NESTING,
    REFUSED,
    Document,
    Node,
    escape,
    types_of,
    walk,
)
from forklift.schema_check import AnswerCheck, check_schema
from forklift.schema_source import bundled_names, bundled_text, from_pydantic, parse, read_text


class Schema:
    """A JSON Schema ready for use; make one with `Schema.load`.

    source: the user's JSON, keys in the user's order.
    name: what errors call it.
    unenforced: (JSON Pointer of the subschema, keyword) that decoding cannot enforce; `problems` checks them.
    unknown_keywords: (JSON Pointer, keyword) that JSON Schema does not define: misspelt, likely, and ignored.
    """

    def __init__(self, source: Any, *, name: str = "schema") -> None:
        """Raises SchemaError, with a JSON Pointer, for what is no schema or allows no value."""
        self.source = source
        self.name = name
        self._decoded: dict[bool, dict[str, Any]] = {}
        self._checks: dict[bool, AnswerCheck] = {}
        try:
            check_schema(source)
            self.unenforced, self.unknown_keywords = self._survey()
            self.decoded(strict=False)
        except SchemaError as error:
            raise SchemaError(f"{name}: {error}") from None
        except RecursionError:
            raise SchemaError(f"{name}: nested more than {MAX_NESTING} levels deep; flatten it") from None

    @classmethod
    def load(cls, source: Any, *, name: str | None = None) -> Schema:
        """A Schema from a dict, a file (Path or str), JSON text, a Pydantic model class or a bundled name.

        Raises SchemaError when it cannot be read or used.
        """
        if isinstance(source, Schema):
            return source
        if isinstance(source, Mapping | bool):
            return cls(copy.deepcopy(source), name=name or "schema")
        if isinstance(source, type) and hasattr(source, "model_json_schema"):
            return cls(from_pydantic(source), name=name or source.__name__)
        if isinstance(source, Path):
            return cls(parse(read_text(source), source.name), name=name or source.name)
        if isinstance(source, str):
            text = source.strip()
            if text.startswith("{"):
                return cls(parse(text, name or "schema"), name=name or "schema")
            if text in bundled_names():
                return cls(parse(bundled_text(text), text), name=name or text)
            path = Path(text).expanduser()
            return cls(parse(read_text(path), path.name), name=name or path.name)
        raise SchemaError(
            f"a schema is a dict, a file, JSON text, a Pydantic model or a bundled name, not {type(source).__name__}"
        )

    @cached_property
    def prompt_text(self) -> str:
        """The schema as the model reads it: indented by 2, keys in the user's order, not escaped."""
        return json.dumps(self.source, indent=2, ensure_ascii=False)

    def decoded(self, strict: bool = False) -> dict[str, Any]:
        """The JSON Schema that decoding enforces; see `decoded_schema` for its vocabulary.

        strict False: every property present, every leaf nullable. strict True: the user's schema literally.
        """
        if strict not in self._decoded:
            self._decoded[strict] = DecodedSchema(self._document, strict=strict).build()
        return self._decoded[strict]

    def settle(self, data: Any) -> tuple[Any, tuple[str, ...]]:
        """What was decoded, brought into the user's schema; and the JSON Pointers of missing fields.

        A null under an optional property that may not be null is left out, an optional object in which
        nothing was found too. A null that is required and may not be null is missing: reported, and kept as
        null.
        """
        missing: list[str] = []
        if data is None and not self._document.accepts_null(self.source):
            return None, ("",)
        return self._settle(data, self.source, "", missing), tuple(missing)

    def problems(self, data: Any, *, strict: bool = False) -> tuple[str, ...]:
        """What the final validation finds, as "pointer: message", in the order of the data.

        A null below a property or item is no problem here, for `settle` reports it as missing; with `strict`
        it is.
        """
        if data is None and not strict:
            return ()
        if strict not in self._checks:
            self._checks[strict] = AnswerCheck(self.source, strict=strict)
        return self._checks[strict].problems(data)

    @cached_property
    def _document(self) -> Document:
        return Document(self.source)

    def _survey(self) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
        """The keywords that decoding leaves to the final check, and those that JSON Schema does not know."""
        unenforced: list[tuple[str, str]] = []
        unknown: list[tuple[str, str]] = []
        for pointer, node in walk(self.source):
            for keyword, value in node.items():
                if keyword in REFUSED:
                    raise SchemaError(f"{pointer}/{keyword}: not supported; use $ref with '#/...' instead")
                if keyword == "$ref":
                    self._document.resolve(value, pointer)
                elif keyword in CHECKED:
                    if value is not False or keyword in ("unevaluatedProperties", "unevaluatedItems"):
                        unenforced.append((pointer, keyword))
                elif keyword in ("pattern", "format") and not enforceable(keyword, value):
                    unenforced.append((pointer, keyword))
                elif keyword == "patternProperties":
                    unenforced += [(pointer, keyword)] * any(not enforceable("pattern", one) for one in value)
                elif keyword == "oneOf" and not self._disjoint(value):
                    unenforced.append((pointer, keyword))
                elif keyword not in ENFORCED and keyword not in ANNOTATIONS and not keyword.startswith("x-"):
                    unknown.append((pointer, keyword))
        return tuple(unenforced), tuple(unknown)

    def _disjoint(self, branches: list[Node]) -> bool:
        """Whether no two branches share a type, so that exactly one can hold."""
        seen: set[str] = set()
        for branch in branches:
            flat = self._document.flat(branch)
            if not isinstance(flat, dict):
                continue
            kinds = {"number" if kind == "integer" else kind for kind in types_of(flat)}
            if not kinds or kinds & seen:
                return False
            seen |= kinds
        return True

    def _settle(self, value: Any, node: Node, pointer: str, missing: list[str]) -> Any:
        flat = self._document.flat(node)
        if not isinstance(flat, dict) or not isinstance(value, dict | list):
            return value
        options = [option for _, option in self._document.options(flat)]
        if isinstance(value, dict):
            return self._settle_object(value, _matching(value, options), pointer, missing)
        option = next((one for one in options if "items" in one or "prefixItems" in one), {})
        items = option.get("items", {})
        prefix = items if isinstance(items, list) else option.get("prefixItems", [])
        rest = option.get("additionalItems", {}) if isinstance(items, list) else items
        settled = []
        for index, item in enumerate(value):
            child = prefix[index] if index < len(prefix) else rest
            place = f"{pointer}/{index}"
            if item is None and not self._document.accepts_null(child):
                missing.append(place)
            settled.append(self._settle(item, child, place, missing))
        return settled

    def _settle_object(self, value: dict[str, Any], option: Mapping[str, Any], pointer: str, missing: list[str]) -> Any:
        properties = option.get("properties", {})
        required = option.get("required", ())
        settled: dict[str, Any] = {}
        for name, item in value.items():
            child = properties.get(name, option.get("additionalProperties", {}))
            place = f"{pointer}/{escape(name)}"
            if item is None and not self._document.accepts_null(child):
                if name not in required:
                    continue
                missing.append(place)
            before = len(missing)
            result = self._settle(item, child, place, missing)
            absent = isinstance(item, dict) and item and _is_blank(item)
            if absent and name not in required and (len(missing) > before or result == {}):
                del missing[before:]
                continue
            settled[name] = result
        return settled


def _matching(value: dict[str, Any], options: list[dict[str, Any]]) -> dict[str, Any]:
    """The alternative whose object was decoded: the same properties, and the constants that tell kinds."""

    def score(option: dict[str, Any]) -> tuple[int, int]:
        properties = option.get("properties", {})
        constants = 0
        for name, child in properties.items():
            if not isinstance(child, Mapping):
                continue
            allowed = [child["const"]] if "const" in child else child.get("enum")
            if allowed is not None and value.get(name) is not None:
                constants += 1 if value[name] in allowed else -2
        return constants, -len(properties.keys() ^ value.keys())

    objects = [option for option in options if "object" in types_of(option)]
    return max(objects, key=score, default={})


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(_is_blank(item) for item in value.values()))
