"""A decoded schema written out as a grammar for llguidance, in every spacing that an answer may have.

The structure is written here, so that each form of spacing is exact and all of it is forced; only strings
with a pattern or format and numbers with bounds go through llguidance's own JSON compiler.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forklift.decoded_schema import LARGEST_INTEGER, LARGEST_NUMBER

# Below this depth a recursive part goes on without line breaks: an indented grammar needs rules for each
# depth.
MAX_INDENTED_RECURSION = 24

# Printable escapes only: no control character but line feed and tab, and no half of a surrogate pair.
_UNICODE_ESCAPE = (
    r"\\u(00[2-689a-fA-F][0-9a-fA-F]|007[0-9a-eA-E]|0[1-9a-fA-F][0-9a-fA-F]{2}|[1-9a-cefA-CEF][0-9a-fA-F]{3}"
    r"|[dD][0-7][0-9a-fA-F]{2}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_CHARACTER = rf'([^"\\\x00-\x1f\x7f]|\\["\\\/nt]|{_UNICODE_ESCAPE})'
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-"
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP}-02-29"
)
_INTEGER = "(0|[1-9][0-9]{0,14}|[1-8][0-9]{15})"
_NUMBER = r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,10})?([eE][+-]?[0-9]{1,2})?"
_ESCAPES = {"x-guidance": {"json_allowed_escapes": 'nt\\"', "whitespace_flexible": False}}


@dataclass(frozen=True)
class AnswerForm:
    """The white space of an answer, as `json.dumps` writes it.

    indent: spaces a level; None keeps everything on one line.
    """

    name: str
    item_separator: str
    key_separator: str
    indent: int | None = None

    def line(self, depth: int) -> str:
        return "" if self.indent is None else "\n" + " " * (self.indent * depth)


COMPACT = AnswerForm("compact", ",", ":")
SPACED = AnswerForm("spaced", ", ", ": ")
INDENT2 = AnswerForm("indent2", ",", ": ", 2)
INDENT4 = AnswerForm("indent4", ",", ": ", 4)
ANSWER_FORMS = {form.name: form for form in (COMPACT, SPACED, INDENT2, INDENT4)}


def write_grammar(decoded: Mapping[str, Any], forms: Sequence[AnswerForm]) -> str:
    """The Lark grammar (llguidance's dialect) of `decoded` in any one of `forms`."""
    return _Writer(decoded.get("$defs", {})).write(decoded, forms)


class _Writer:
    """Rules are lower case and may nest; terminals are upper case, one lexeme each."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._rules: list[str] = []
        self._count = 0
        self._terminals: dict[str, str] = {}
        self._shared: dict[tuple[str, AnswerForm, int], str] = {}

    def write(self, root: Mapping[str, Any], forms: Sequence[AnswerForm]) -> str:
        starts = list(dict.fromkeys(self._node(root, form, 0) for form in forms))
        terminals = [f"{name}: {body}" for body, name in self._terminals.items()]
        return "\n".join([f"start: {' | '.join(starts)}", *self._rules, *terminals, ""])

    def _rule(self, body: str, name: str | None = None) -> str:
        name = name or self._new_name()
        self._rules.append(f"{name}: {body}")
        return name

    def _new_name(self) -> str:
        self._count += 1
        return f"r{self._count}"

    def _terminal(self, body: str) -> str:
        return self._terminals.setdefault(body, f"T{len(self._terminals)}")

    def _node(self, node: Mapping[str, Any], form: AnswerForm, depth: int) -> str:
        """The symbol that spells `node`, its opening bracket standing at `depth` levels of indentation."""
        reference = node.get("$ref")
        if reference is not None or not (node.keys() - {"$defs"}):
            if depth >= MAX_INDENTED_RECURSION and form.indent is not None:
                form = SPACED
            key = (reference or "", form, depth if form.indent is not None else 0)
            if key not in self._shared:
                name = f"s{len(self._shared)}"
                self._shared[key] = name
                if reference is None:
                    self._rule(self._anything(form, depth), name)
                else:
                    self._rule(self._node(self._definitions[reference.rsplit("/", 1)[-1]], form, depth), name)
            return self._shared[key]
        if "anyOf" in node:
            return self._union(node["anyOf"], form, depth)
        if "enum" in node:
            return self._values(node["enum"], form, depth)
        if node["type"] == "object":
            return self._object(node, form, depth)
        if node["type"] == "array":
            return self._array(node, form, depth)
        body = self._leaf(node)
        return self._terminal(body) if not body.startswith("%json") else self._json_rule(body)

    def _json_rule(self, body: str) -> str:
        key = (body, COMPACT, -1)  # leaves have no spacing
        if key not in self._shared:
            self._shared[key] = f"s{len(self._shared)}"
            self._rule(body, self._shared[key])
        return self._shared[key]

    def _anything(self, form: AnswerForm, depth: int) -> str:
        array = self._array({"items": {}}, form, depth)
        members = self._object({"properties": {}, "required": [], "additionalProperties": {}}, form, depth)
        kinds = ("string", "number", "boolean", "null")
        scalar = self._terminal(" | ".join(self._leaf({"type": kind}) for kind in kinds))
        return f"{scalar} | {array} | {members}"

    def _union(self, nodes: Sequence[Mapping[str, Any]], form: AnswerForm, depth: int) -> str:
        # Leaves in one terminal: two lexemes that match the same text would be ambiguous.
        leaves: list[str] = []
        symbols: list[str] = []
        for node in nodes:
            kind = node.get("type")
            if "enum" in node and not any(isinstance(value, dict | list) for value in node["enum"]):
                leaves.append(_alternatives(node["enum"]))
            elif kind in (None, "object", "array") or (body := self._leaf(node)).startswith("%json"):
                symbols.append(self._node(node, form, depth))
            else:
                leaves.append(body)
        if leaves:
            symbols.append(self._terminal(" | ".join(leaves)))
        return self._rule(" | ".join(dict.fromkeys(symbols)))

    def _values(self, values: Sequence[Any], form: AnswerForm, depth: int) -> str:
        scalars = [value for value in values if not isinstance(value, dict | list)]
        symbols = [_literal(_dump(value, form, depth)) for value in values if isinstance(value, dict | list)]
        if scalars:
            symbols.append(self._terminal(_alternatives(scalars)))
        return self._rule(" | ".join(symbols)) if len(symbols) > 1 or not scalars else symbols[0]

    def _leaf(self, node: Mapping[str, Any]) -> str:
        """The body of a terminal, or "%json ..." for what llguidance's own compiler writes better."""
        kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
        kind = kinds[0]
        null = ' | "null"' if "null" in kinds[1:] else ""
        rest = {key: value for key, value in node.items() if key != "type"}
        if kind == "null":
            return '"null"'
        if kind == "boolean":
            return '"true" | "false"' + null
        if kind == "string":
            if rest.get("format") == "date" and len(rest) == 1:
                return rf'/"({_DATE})"/{null}'
            if not rest.keys() - {"minLength", "maxLength"}:
                low, high = int(rest.get("minLength", 0)), rest.get("maxLength")
                count = "*" if not low and high is None else f"{{{low},{'' if high is None else int(high)}}}"
                return rf'/"{_CHARACTER}{count}"/{null}'
            return _json_leaf({"type": "string", **rest}, null)
        body = _INTEGER if kind == "integer" else _NUMBER
        if not rest:
            return f"/-?{body}/{null}"
        if rest == {"minimum": 0}:
            return f"/{body}/{null}"
        return _json_leaf({"type": kind, **_bounded(kind, rest)}, null)

    def _object(self, node: Mapping[str, Any], form: AnswerForm, depth: int) -> str:
        # Brackets, separators and `"name": ` are lexemes of their own, everywhere: llguidance's lexer takes
        # the longest lexeme, so where alternatives meet, one that began another would hide it.
        required = set(node["required"])
        members = [
            (
                name in required,
                f"{_literal(_dump(name) + form.key_separator)} {self._node(child, form, depth + 1)}",
            )
            for name, child in node["properties"].items()
        ]
        extra = self._extra_member(node, form, depth)
        open_, close = _literal("{" + form.line(depth + 1)), _literal(form.line(depth) + "}")
        separator = _literal(form.item_separator + form.line(depth + 1))
        if not members and not extra:
            return self._rule(_literal("{}"))
        if not extra and all(always for always, _ in members):
            return self._rule(f"{open_} {f' {separator} '.join(member for _, member in members)} {close}")
        # From the last member to the first: what may follow when something stands already, and as the first.
        after = f"({separator} {extra})* {close}" if extra else close
        first = [f"{extra} {after}"] if extra else []
        may_be_empty = True
        for always, member in reversed(members):
            rest = self._rule(after)
            after = f"{separator} {member} {rest}" + ("" if always else f" | {rest}")
            first = [f"{member} {rest}", *([] if always else first)]
            may_be_empty = may_be_empty and not always
        body = f"{open_} ({' | '.join(first)})"
        return self._rule(f"{body} | {_literal('{}')}" if may_be_empty else body)

    def _extra_member(self, node: Mapping[str, Any], form: AnswerForm, depth: int) -> str:
        """The symbol of one member that the schema does not list, or "" where there may be none."""
        colon = _literal(form.key_separator)
        members: list[str] = []
        for pattern, child in node.get("patternProperties", {}).items():
            key = self._json_rule(_json_leaf({"type": "string", "pattern": pattern}, ""))
            members.append(f"{key} {colon} {self._node(child, form, depth + 1)}")
        extra = node.get("additionalProperties", False)
        if extra is not False:
            key = f'/"{_CHARACTER}*"/ {colon}'
            listed = [_literal(_dump(name) + form.key_separator) for name in node["properties"]]
            if listed:
                key = f"{self._terminal(key)} & ~({' | '.join(listed)})"
            members.append(f"{self._terminal(key)} {self._node(extra, form, depth + 1)}")
        return self._rule(" | ".join(members)) if members else ""

    def _array(self, node: Mapping[str, Any], form: AnswerForm, depth: int) -> str:
        prefix: Sequence[Any] = node.get("prefixItems", ())
        low, high = node.get("minItems", 0), node.get("maxItems")
        open_, separator = "[" + form.line(depth + 1), form.item_separator + form.line(depth + 1)
        close = form.line(depth) + "]"
        empty = [_literal("[]")] if low == 0 else []
        if high == 0:
            return self._rule(_literal("[]"))
        if not prefix:
            item = self._node(node["items"], form, depth + 1)
            most = "" if high is None else high - 1
            more = f"({_literal(separator)} {item}){{{max(low, 1) - 1},{most}}}" if high != 1 else ""
            return self._rule(" | ".join([f"{_literal(open_)} {item} {more} {_literal(close)}", *empty]))
        # Right to left: after item i, either the end (from `low` on) or item i + 1.
        tail = _literal(close)
        if node["items"] is not False and (high is None or high > len(prefix)):
            item = self._node(node["items"], form, depth + 1)
            most = "" if high is None else high - len(prefix)
            tail = f"({_literal(separator)} {item}){{{max(low - len(prefix), 0)},{most}}} {tail}"
        for index in range(min(len(prefix), high or len(prefix)) - 1, -1, -1):
            item = self._node(prefix[index], form, depth + 1)
            body = f"{_literal(separator if index else open_)} {item} {tail}"
            if index and index >= low:
                body += f" | {_literal(close)}"
            tail = self._rule(body)
        return self._rule(" | ".join([tail, *empty]))


def _literal(text: str) -> str:
    """A Lark string; Lark reads it as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _dump(value: Any, form: AnswerForm = COMPACT, depth: int = 0) -> str:
    separators = (form.item_separator, form.key_separator)
    text = json.dumps(value, ensure_ascii=False, indent=form.indent, separators=separators)
    return text if form.indent is None else text.replace("\n", form.line(depth))


def _alternatives(values: Sequence[Any]) -> str:
    return " | ".join(_literal(_dump(value)) for value in values)


def _json_leaf(schema: Mapping[str, Any], null: str) -> str:
    whole: dict[str, Any] = {"anyOf": [schema, {"type": "null"}]} if null else dict(schema)
    return "%json " + json.dumps({**whole, **_ESCAPES}, ensure_ascii=False)


def _bounded(kind: str, bounds: Mapping[str, Any]) -> dict[str, Any]:
    """The user's bounds, with the missing side and the decimals limited to what a double holds."""
    result = dict(bounds)
    largest = LARGEST_INTEGER if kind == "integer" else LARGEST_NUMBER
    low = max((bounds[key] for key in ("minimum", "exclusiveMinimum") if key in bounds), default=None)
    high = min((bounds[key] for key in ("maximum", "exclusiveMaximum") if key in bounds), default=None)
    if low is None and (high is None or high > -largest):
        result["minimum"] = -largest
    if high is None and (low is None or low < largest):
        result["maximum"] = largest
    if kind == "number" and "multipleOf" not in result:
        result["multipleOf"] = 1e-10
    return result
