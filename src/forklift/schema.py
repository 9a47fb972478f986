"""A user's schema: what the prompt shows, what decoding enforces, what the answer is checked against."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from forklift.decoded_schema import DecodedSchema
from forklift.errors import SchemaError
from forklift.json_schema import MAX_NESTING, Document, Node, escape, matches, same, types_of
from forklift.schema_check import AnswerCheck, check_schema
from forklift.schema_source import read_source
from forklift.schema_survey import Finding, Treatment, is_unenforced, is_unknown, relaxed, survey, warnings_of


class Schema:
    """A JSON Schema ready for use; make one with `Schema.load`.

    source: the user's JSON, keys in the user's order.
    name: what errors call it.
    findings: what becomes of each keyword, by JSON Pointer; `unenforced` and `unknown_keywords` are parts of it.
    """

    def __init__(self, source: Any, *, name: str = "schema") -> None:
        """Raises SchemaError, with a JSON Pointer, for what is no schema or allows no value."""
        self.source = source
        self.name = name
        self._decoded: dict[bool, dict[str, Any]] = {}
        self._checks: dict[bool, AnswerCheck] = {}
        try:
            check_schema(source)
            self.findings = self._examine()
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
        read, known_as = read_source(source, name)
        return cls(read, name=known_as)

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
        try:
            return self._settle(data, self.source, "", missing), tuple(missing)
        except RecursionError:  # no answer of ours nests so deep, but one of another engine may
            return data, ()

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
    def unenforced(self) -> tuple[tuple[str, str], ...]:
        """(JSON Pointer of the subschema, keyword) that decoding cannot enforce; `problems` checks them."""
        return tuple((one.pointer, one.keyword) for one in self.findings if is_unenforced(one))

    @cached_property
    def unknown_keywords(self) -> tuple[tuple[str, str], ...]:
        """(JSON Pointer, keyword) that JSON Schema does not define: misspelt, likely, and ignored."""
        return tuple((one.pointer, one.keyword) for one in self.findings if is_unknown(one))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What of the schema was not enforced, or not understood, one sentence each."""
        return tuple(f"{self.name}: {sentence}" for sentence in warnings_of(self.findings))

    @cached_property
    def _document(self) -> Document:
        return Document(self.source)

    def _examine(self) -> tuple[Finding, ...]:
        """The findings. Raises SchemaError for a schema that cannot be used, and for an example in place of one."""
        found = survey(self._document)
        refused = [one for one in found if one.treatment is Treatment.REFUSED]
        if refused:
            raise SchemaError("; ".join(f"{one.pointer}/{one.keyword}: {one.note}" for one in refused))
        if isinstance(self.source, Mapping) and found and all(is_unknown(one) for one in found):
            keywords = ", ".join(one.keyword for one in found[:3])
            raise SchemaError(
                f"/: this says nothing that JSON Schema knows ({keywords}); if it is an example of an answer, "
                "`forklift schema from-example FILE` makes a schema of it"
            )
        build = DecodedSchema(self._document, strict=False)
        self._decoded[False] = build.build()
        impossible = (Finding(place, "", Treatment.IGNORED, reason) for place, reason in build.impossible)
        return (*relaxed(found, build.relaxed), *dict.fromkeys(impossible))

    def _settle(self, value: Any, node: Node, pointer: str, missing: list[str]) -> Any:
        flat = self._document.flat(node)
        if not isinstance(flat, dict) or not isinstance(value, dict | list):
            return value
        options = [option for _, option in self._document.options(flat)]
        if isinstance(value, dict):
            return self._settle_object(value, _matching(value, options), pointer, missing)
        option = _matching_array(value, options)
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
        required = option.get("required", ())
        settled: dict[str, Any] = {}
        for name, item in value.items():
            child = _child(name, option)
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
                constants += 1 if any(same(value[name], one) for one in allowed) else -2
        return constants, -len(properties.keys() ^ value.keys())

    objects = [option for option in options if "object" in types_of(option)]
    return max(objects, key=score, default={})


def _matching_array(value: list[Any], options: list[dict[str, Any]]) -> dict[str, Any]:
    """The alternative whose array was decoded: the one whose items are of the kind of the first that is there."""
    arrays = [option for option in options if "array" in types_of(option)]
    first = next((item for item in value if item is not None), None)
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
    for option in arrays if len(arrays) > 1 else ():
        items = option.get("items")
        named = types_of(items) if isinstance(items, Mapping) else ()
        if kinds.get(type(first)) in named or (isinstance(first, int) and "integer" in named):
            return option
    return arrays[0] if arrays else {}


def _child(name: str, option: Mapping[str, Any]) -> Node:
    """The subschema of a member: by its name, else by a pattern, else what is said of all others."""
    properties = option.get("properties", {})
    if name in properties:
        return properties[name]
    by_pattern = (child for pattern, child in option.get("patternProperties", {}).items() if matches(pattern, name))
    return next(by_pattern, option.get("additionalProperties", {}))


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(_is_blank(item) for item in value.values()))
