"""What becomes of every keyword of a schema: enforced while decoding, checked afterwards, ignored or refused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from forklift.decoding.leaves import leaf_error
from forklift.errors import SchemaError
from forklift.json_schema import (
    ANNOTATIONS,
    CHECKED,
    ENFORCED,
    KEYWORDS_OF_TYPE,
    REFUSED,
    Document,
    Node,
    children,
    types_of,
)
from forklift.schema_formats import CHECKED_FORMATS, ENFORCED_FORMATS


class Treatment(StrEnum):
    ENFORCED = "enforced"  # no answer can break it
    CHECKED = "checked"  # an answer may break it, which `Result.problems` then says
    IGNORED = "ignored"  # no effect beyond what the model makes of it
    REFUSED = "refused"  # the schema cannot be used


@dataclass(frozen=True)
class Finding:
    """One keyword of one subschema.

    pointer: JSON Pointer of the subschema; keyword: "" when all of it is meant; note: why, or what was meant.
    """

    pointer: str
    keyword: str
    treatment: Treatment
    note: str = ""


# Keywords whose subschemas only the final check looks at.
_CHECKED_PARTS = CHECKED - {"additionalItems"}
_DEFINITIONS = ("$defs", "definitions")
_IN_PLACE = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_INSIDE = "as a part of another keyword"
_NUMBER_FORMATS = frozenset({"int32", "int64", "float", "double"})


def survey(document: Document) -> tuple[Finding, ...]:
    """A Finding for each keyword but annotations, in the schema's order."""
    return tuple(_Survey(document).findings())


def relaxed(findings: Iterable[Finding], places: Iterable[tuple[str, str]]) -> tuple[Finding, ...]:
    """The findings, with those of `places` (pointer, keyword) no longer enforced but checked."""
    demoted = dict.fromkeys(places)
    result: list[Finding] = []
    for finding in findings:
        place = (finding.pointer, finding.keyword)
        if place in demoted:
            del demoted[place]
            if finding.treatment is Treatment.ENFORCED:
                finding = Finding(*place, Treatment.CHECKED, "enforced only in part")
        result.append(finding)
    return (*result, *(Finding(*place, Treatment.CHECKED, "enforced only in part") for place in demoted))


class _Survey:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._regions: dict[str, bool] = {}  # JSON Pointer -> whether decoding enforces what stands there
        self._broken: list[Finding] = []

    def findings(self) -> Iterator[Finding]:
        self._reach(self._document.root, "", True)
        yield from self._broken
        yield from self._describe(self._document.root, "")

    def _reach(self, node: Node, pointer: str, enforced: bool) -> None:
        """Mark everything that the root leads to, over references too."""
        waiting = [(node, pointer, enforced)]
        while waiting:
            node, pointer, enforced = waiting.pop()
            if not isinstance(node, Mapping) or self._regions.get(pointer) in (True, enforced):
                continue
            self._regions[pointer] = enforced
            if isinstance(node.get("$ref"), str):
                try:
                    target = self._document.resolve(node["$ref"], pointer)
                    waiting.append((target, self._document.pointer_of(node["$ref"]), enforced))
                    self._check_loop(node, pointer)
                except SchemaError as error:
                    place, _, reason = str(error).partition(": ")
                    self._broken.append(Finding(place.rsplit("/", 1)[0], "$ref", Treatment.REFUSED, reason))
            for keyword, place, child in children(node, pointer):
                if keyword not in _DEFINITIONS:
                    waiting.append((child, place, enforced and keyword not in _CHECKED_PARTS))

    def _check_loop(self, start: Mapping[str, Any], pointer: str) -> None:
        """Raises SchemaError where a reference leads back to itself without going into a property or item."""
        seen: set[int] = set()
        waiting: list[Node] = [self._document.resolve(start["$ref"], pointer)]
        while waiting:
            node = waiting.pop()
            if node is start:
                raise SchemaError(f"{pointer}/$ref: {start['$ref']!r} leads back to itself with nothing in between")
            if isinstance(node, Mapping) and id(node) not in seen:
                seen.add(id(node))
                waiting += [child for keyword, _, child in children(node) if keyword in _IN_PLACE]
                if isinstance(node.get("$ref"), str):
                    waiting.append(self._document.resolve(node["$ref"], pointer))

    def _describe(self, node: Node, pointer: str) -> Iterator[Finding]:
        if not isinstance(node, Mapping):
            return
        region = self._regions.get(pointer)
        if region is None:
            yield Finding(pointer, "", Treatment.IGNORED, "nothing refers to it")
        else:
            for keyword, value in node.items():
                if keyword not in ANNOTATIONS:
                    found = self._treat(node, keyword, value, pointer)
                    if not region and found.treatment is Treatment.ENFORCED:
                        found = Finding(pointer, keyword, Treatment.CHECKED, _INSIDE)
                    yield found
        for keyword, place, child in children(node, pointer):
            if region is not None or keyword in _DEFINITIONS:
                yield from self._describe(child, place)

    def _treat(self, node: Mapping[str, Any], keyword: str, value: Any, pointer: str) -> Finding:
        def found(treatment: Treatment, note: str = "") -> Finding:
            return Finding(pointer, keyword, treatment, note)

        if keyword in REFUSED:
            return found(Treatment.REFUSED, "not supported; use $ref with '#/...' instead")
        if keyword not in ENFORCED and keyword not in CHECKED:
            return found(Treatment.IGNORED, _unknown(keyword))
        if "type" in node:
            kinds = {"number" if kind == "integer" else kind for kind in types_of(node)}
            spoken_of = {kind for kind, keywords in KEYWORDS_OF_TYPE.items() if keyword in keywords}
            if keyword == "format" and value in _NUMBER_FORMATS:
                return found(Treatment.IGNORED, "a number is a number in JSON")
            if spoken_of and not spoken_of & kinds:
                return found(Treatment.IGNORED, f"says nothing about {' or '.join(types_of(node))}")
        if keyword == "format":
            return self._format(value, found)
        if keyword == "pattern":
            return self._pattern(value, found)
        if keyword == "patternProperties":
            for pattern in value:
                if (result := self._pattern(pattern, found)).treatment is not Treatment.ENFORCED:
                    return result
        if keyword == "oneOf" and not self._disjoint(value):
            return found(Treatment.CHECKED, "that one alternative holds is enforced, that no other does is checked")
        if keyword == "additionalItems":
            held = isinstance(node.get("items"), list)
            return found(Treatment.ENFORCED) if held else found(Treatment.IGNORED, 'no list of "items" beside it')
        if keyword in CHECKED and (value is not False or keyword.startswith("unevaluated")):
            return found(Treatment.CHECKED)
        return found(Treatment.ENFORCED)

    @staticmethod
    def _format(value: str, found: Any) -> Any:
        if value in ENFORCED_FORMATS:
            return found(Treatment.ENFORCED)
        if value in CHECKED_FORMATS:
            return found(Treatment.CHECKED)
        return found(Treatment.IGNORED, f"the format {value!r} is not known")

    @staticmethod
    def _pattern(pattern: str, found: Any) -> Any:
        reason = leaf_error({"type": "string", "pattern": pattern})
        if not reason or "Unsatisfiable" in reason:  # then decoding says so itself
            return found(Treatment.ENFORCED)
        cause = next((line.removeprefix("error: ") for line in reason.splitlines() if line.startswith("error: ")), None)
        cause = cause or reason.splitlines()[0]
        try:
            re.compile(pattern)
        except re.error as error:
            return found(Treatment.REFUSED, f"{pattern!r} cannot be read as a regular expression: {error}")
        return found(Treatment.CHECKED, cause)

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


def _unknown(keyword: str) -> str:
    if keyword.startswith("x-"):
        return "an extension"
    known = sorted(ENFORCED | CHECKED | ANNOTATIONS)
    close = difflib.get_close_matches(keyword, known, n=1, cutoff=0.7)
    shortened = [name for name in known if len(keyword) > 3 and name.lower().startswith(keyword.lower())]
    meant = close or shortened[:1]
    return "not a keyword of JSON Schema" + (f"; did you mean {meant[0]}?" if meant else "")


def warnings_of(findings: Iterable[Finding]) -> Iterator[str]:
    """What a user of a schema has to know before trusting its answers, one sentence each."""
    for finding in findings:
        place, keyword, note = finding.pointer or "/", finding.keyword, finding.note
        if is_unenforced(finding):
            yield f'{place}: "{keyword}" cannot be enforced while decoding; the answer was checked for it'
        elif finding.treatment is Treatment.IGNORED and keyword == "format" and "not known" in note:
            yield f"{place}: {note} and was ignored"
        elif is_unknown(finding):
            yield f'{place}: the keyword "{keyword}" is not known and was ignored{note.partition("Schema")[2]}'


def is_unenforced(finding: Finding) -> bool:
    """Whether only the final check looks at the keyword; not for the parts of such a keyword."""
    return finding.treatment is Treatment.CHECKED and finding.note != _INSIDE


def is_unknown(finding: Finding) -> bool:
    """Whether the keyword is none of JSON Schema: misspelt, likely."""
    return finding.treatment is Treatment.IGNORED and finding.note.startswith("not a keyword")
