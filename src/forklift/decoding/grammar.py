"""A decoded schema written out as a grammar for llguidance, in every spacing that an answer may have.

The structure is written here, so that each form of spacing is exact and all of it is forced; `leaves.py` writes the
scalars.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from forklift.decoding.leaves import LARGEST_COUNT, NAME_CHARACTER, json_leaf, leaf_body
from forklift.errors import SchemaError

# A recursive part, and one of which nothing is said, nests this much deeper than the schema itself does; so no
# answer can open brackets until it is cut.
MAX_RECURSION = 24


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


class _Impossible(Exception):
    """No answer of bounded depth exists for a part."""


def grammar_error(decoded: Mapping[str, Any]) -> str:
    """Why llguidance cannot decode by the grammar of `decoded`, in the first line of its own words; "" when it can."""
    import llguidance

    grammar = write_grammar(decoded, tuple(ANSWER_FORMS.values()))
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar, log_level=0)
    return matcher.get_error().strip().split("\n", 1)[0] if matcher.is_error() else ""


def write_grammar(decoded: Mapping[str, Any], forms: Sequence[AnswerForm]) -> str:
    """The Lark grammar (llguidance's dialect) of `decoded` in any one of `forms`.

    Raises SchemaError when every answer would nest deeper than MAX_RECURSION allows.
    """
    return _Writer(decoded).write(decoded, forms)


class _Writer:
    """Rules are lower case and may nest; terminals are upper case, one lexeme each."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = root.get("$defs", {})
        self._rules: list[str] = []
        self._count = 0
        self._terminals: dict[str, str] = {}
        self._shared: dict[tuple[str, AnswerForm, int], str | None] = {}
        self._recursive = {name for name in self._definitions if self._returns(name)}
        self._deepest = self._nesting(root, {}) + MAX_RECURSION

    def write(self, root: Mapping[str, Any], forms: Sequence[AnswerForm]) -> str:
        try:
            starts = list(dict.fromkeys(self._node(root, form, 0) for form in forms))
        except _Impossible:
            raise SchemaError(f"/: every answer would nest more than {MAX_RECURSION} levels deep") from None
        terminals = [f"{name}: {body}" for body, name in self._terminals.items()]
        return "\n".join([f"start: {' | '.join(starts)}", *self._rules, *terminals, ""])

    def _returns(self, name: str) -> bool:
        """Whether the definition contains itself, at whatever distance."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for target in _references(self._definitions[waiting.pop()]):
                if target == name:
                    return True
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    def _nesting(self, node: Any, known: dict[str, int]) -> int:
        """Levels of objects and arrays in `node`, its references followed unless they are recursive."""
        if not isinstance(node, Mapping):
            return 0
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            if name in self._recursive:
                return 0
            if name not in known:
                known[name] = self._nesting(self._definitions[name], known)
            return known[name]
        deepest = max((self._nesting(child, known) for child in _children(node)), default=0)
        return deepest + (node.get("type") in ("object", "array"))

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
        if "$ref" in node:
            return self._reference(node["$ref"].rsplit("/", 1)[-1], form, depth)
        if not (node.keys() - {"$defs"}):
            return self._anything(form, depth)
        if "anyOf" in node:
            return self._union(node["anyOf"], form, depth)
        if "enum" in node:
            return self._values(node["enum"], form, depth)
        if node["type"] in ("object", "array"):
            if depth >= self._deepest:  # only recursion leads here
                raise _Impossible
            return self._object(node, form, depth) if node["type"] == "object" else self._array(node, form, depth)
        body = leaf_body(node)
        return self._terminal(body) if not body.startswith("%json") else self._json_rule(body)

    def _reference(self, name: str, form: AnswerForm, depth: int) -> str:
        """The rule of a definition: one for each depth where the depth matters."""
        recursive = name in self._recursive
        key = (name, form, depth if recursive or form.indent is not None else 0)
        if key not in self._shared:
            self._shared[key] = None  # so far: an alternative that is only itself adds nothing
            with suppress(_Impossible):
                self._shared[key] = self._rule(self._node(self._definitions[name], form, depth))
        symbol = self._shared[key]
        if symbol is None:
            raise _Impossible
        return symbol

    def _json_rule(self, body: str) -> str:
        key = (body, COMPACT, -1)  # leaves have no spacing
        symbol = self._shared.get(key)
        if symbol is None:
            symbol = self._shared[key] = self._rule(body)
        return symbol

    def _anything(self, form: AnswerForm, depth: int) -> str:
        key = ("", form, depth)
        symbol = self._shared.get(key)
        if symbol is None:
            kinds = ("string", "number", "boolean", "null")
            symbols = [self._terminal(" | ".join(leaf_body({"type": kind}) for kind in kinds))]
            if depth < self._deepest:
                symbols.append(self._array({"items": {}}, form, depth))
                opened: dict[str, Any] = {"properties": {}, "required": [], "additionalProperties": {}}
                symbols.append(self._object(opened, form, depth))
            symbol = self._shared[key] = self._rule(" | ".join(symbols))
        return symbol

    def _union(self, nodes: Sequence[Mapping[str, Any]], form: AnswerForm, depth: int) -> str:
        # Leaves in one terminal: two lexemes that match the same text would be ambiguous.
        leaves: list[str] = []
        symbols: list[str] = []
        for node in nodes:
            kind = node.get("type")
            if "enum" in node and not any(isinstance(value, dict | list) for value in node["enum"]):
                leaves.append(_alternatives(node["enum"]))
            elif kind in (None, "object", "array") or (body := leaf_body(node)).startswith("%json"):
                with suppress(_Impossible):
                    symbols.append(self._node(node, form, depth))
            else:
                leaves.append(body)
        if leaves:
            symbols.append(self._terminal(" | ".join(leaves)))
        if not symbols:
            raise _Impossible
        return self._rule(" | ".join(dict.fromkeys(symbols)))

    def _values(self, values: Sequence[Any], form: AnswerForm, depth: int) -> str:
        scalars = [value for value in values if not isinstance(value, dict | list)]
        symbols = [_literal(_dump(value, form, depth)) for value in values if isinstance(value, dict | list)]
        if scalars:
            symbols.append(self._terminal(_alternatives(scalars)))
        return self._rule(" | ".join(symbols)) if len(symbols) > 1 or not scalars else symbols[0]

    def _object(self, node: Mapping[str, Any], form: AnswerForm, depth: int) -> str:
        # Brackets, separators and `"name": ` are lexemes of their own, everywhere: llguidance's lexer takes
        # the longest lexeme, so where alternatives meet, one that began another would hide it.
        required = set(node["required"])
        members: list[tuple[bool, str]] = []
        for name, child in node["properties"].items():
            try:
                value = self._node(child, form, depth + 1)
            except _Impossible:
                if name in required:
                    raise
                continue
            members.append((name in required, f"{_literal(_dump(name) + form.key_separator)} {value}"))
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
            key = self._json_rule(json_leaf({"type": "string", "pattern": pattern}, ""))
            with suppress(_Impossible):
                members.append(f"{key} {colon} {self._node(child, form, depth + 1)}")
        extra = node.get("additionalProperties", False)
        if extra is not False:
            key = f'/"{NAME_CHARACTER}*"/ {colon}'
            listed = [_literal(_dump(name) + form.key_separator) for name in node["properties"]]
            if listed:
                key = f"{self._terminal(key)} & ~({' | '.join(listed)})"
            with suppress(_Impossible):
                members.append(f"{self._terminal(key)} {self._node(extra, form, depth + 1)}")
        return self._rule(" | ".join(members)) if members else ""

    def _array(self, node: Mapping[str, Any], form: AnswerForm, depth: int) -> str:
        low, high = node.get("minItems", 0), node.get("maxItems")
        high = None if high is not None and high > LARGEST_COUNT else high
        prefix: list[str] = []
        item = ""  # of those after the prefix; "" where there may be none
        try:
            for child in node.get("prefixItems", ())[:high]:
                prefix.append(self._node(child, form, depth + 1))
            if node["items"] is not False and (high is None or high > len(prefix)):
                item = self._node(node["items"], form, depth + 1)
        except _Impossible:
            if low > len(prefix):
                raise
        open_, separator = _literal("[" + form.line(depth + 1)), _literal(form.item_separator + form.line(depth + 1))
        close = _literal(form.line(depth) + "]")
        empty = [_literal("[]")] if low == 0 else []
        if not prefix and not item:
            return self._rule(_literal("[]"))
        if not prefix:
            most = "" if high is None else high - 1
            more = f"({separator} {item}){{{max(low, 1) - 1},{most}}}" if high != 1 else ""
            return self._rule(" | ".join([f"{open_} {item} {more} {close}", *empty]))
        # Right to left: after item i, either the end (from `low` on) or item i + 1.
        tail = close
        if item:
            most = "" if high is None else high - len(prefix)
            tail = f"({separator} {item}){{{max(low - len(prefix), 0)},{most}}} {tail}"
        for index in range(len(prefix) - 1, -1, -1):
            body = f"{separator if index else open_} {prefix[index]} {tail}"
            if index and index >= low:
                body += f" | {close}"
            tail = self._rule(body)
        return self._rule(" | ".join([tail, *empty]))


def _children(node: Mapping[str, Any]) -> Iterator[Any]:
    """The decoded nodes that stand directly in a decoded node."""
    yield from node.get("anyOf", ())
    yield from node.get("properties", {}).values()
    yield from node.get("patternProperties", {}).values()
    yield from node.get("prefixItems", ())
    yield from (node[keyword] for keyword in ("items", "additionalProperties") if keyword in node)


def _references(node: Any) -> Iterator[str]:
    """The names of the definitions that a decoded node refers to, at any depth of it."""
    if isinstance(node, Mapping):
        if "$ref" in node:
            yield node["$ref"].rsplit("/", 1)[-1]
        for child in _children(node):
            yield from _references(child)


def _literal(text: str) -> str:
    """A Lark string; Lark reads it as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _dump(value: Any, form: AnswerForm = COMPACT, depth: int = 0) -> str:
    separators = (form.item_separator, form.key_separator)
    text = json.dumps(value, ensure_ascii=False, indent=form.indent, separators=separators)
    return text if form.indent is None else text.replace("\n", form.line(depth))


def _alternatives(values: Sequence[Any]) -> str:
    return " | ".join(_literal(_dump(value)) for value in values)
