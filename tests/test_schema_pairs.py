"""Random (schema, value) pairs against an independent judge: `jsonschema` as it comes.

What the schema admits, the grammar accepts; what it does not, the grammar refuses or the final check names; what is
decoded parses and validates.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from importlib import resources
from typing import Any

import jsonschema
import numpy as np
import pytest

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.grammar import ANSWER_FORMS, AnswerForm
from forklift.json_schema import Document, types_of
from forklift.schema import Schema
from forklift.schema_formats import format_checker
from tests.schema_generator import random_schema
from tests.schema_values import ValueMaker, spoilt

FORMS = list(ANSWER_FORMS.values())
SCHEMAS = 280
VALUES = 8  # of each schema, half of them spoilt


@pytest.fixture(scope="module")
def view() -> TokenizerView:
    text = (resources.files("forklift") / "nano" / "tokenizer.json").read_text(encoding="utf-8")
    return TokenizerView.cached(text, (0,))


def _multiple_of(validator: Any, step: Any, value: Any, schema: Any) -> Any:
    """jsonschema's own rule divides in binary, where 19.99 is no multiple of 0.01."""
    if isinstance(value, int | float) and Fraction(str(value)) % Fraction(str(step)):
        yield jsonschema.ValidationError("not a multiple")


_Judge = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"multipleOf": _multiple_of})


def judge(schema: Any) -> Any:
    return _Judge(schema, format_checker=format_checker())


def as_read(node: Any, document: Document, *, closing: bool = True) -> Any:
    """The schema with what docs/schemas.md says about its meaning written out in plain JSON Schema.

    closing: objects are closed unless the schema opens them; `nullable`, and the type that keywords imply, always.
    """
    if not isinstance(node, dict):
        return node
    result = dict(node)
    for keyword, value in node.items():
        if keyword in ("properties", "patternProperties", "$defs", "definitions"):
            result[keyword] = {name: as_read(child, document, closing=closing) for name, child in value.items()}
        elif keyword in ("anyOf", "oneOf", "prefixItems"):
            result[keyword] = [as_read(child, document, closing=closing) for child in value]
        elif keyword == "allOf":  # a closed part would forbid the others' names
            parts = [as_read(child, document, closing=closing) for child in value]
            result[keyword] = [{k: v for k, v in part.items() if k != "additionalProperties"} for part in parts]
            if closing:
                result["unevaluatedProperties"] = False
        elif keyword in ("items", "additionalProperties"):
            result[keyword] = as_read(value, document, closing=closing)
    if closing:
        if not result.keys() & {"$ref", "enum", "const", "anyOf", "oneOf", "allOf", "type"} and types_of(result):
            result["type"] = list(types_of(result))
        if result.get("properties") or result.get("patternProperties"):
            result.setdefault("additionalProperties", False)
    if result.pop("nullable", False):
        definitions = {key: result.pop(key) for key in ("$defs", "definitions") if key in result}
        return {**definitions, "anyOf": [{"type": "null"}, result]}
    return result


def tidy(value: Any) -> Any:
    """Numbers as an answer spells them: whole ones without a point, others with at most ten decimals."""
    if isinstance(value, list):
        return [tidy(item) for item in value]
    if isinstance(value, dict):
        return {name: tidy(item) for name, item in value.items()}
    if isinstance(value, float):
        return int(value) if value % 1 == 0 else round(value, 6)
    return value


def written(value: Any, form: AnswerForm) -> str:
    separators = (form.item_separator, form.key_separator)
    return json.dumps(value, ensure_ascii=False, indent=form.indent, separators=separators)


class Acceptor:
    """Whether the grammar takes whole texts; compiled once a schema."""

    def __init__(self, view: TokenizerView, schema: Schema, strict: bool, form: AnswerForm) -> None:
        self._view, self._form = view, form
        self._constraint = Constraint(view, schema, strict=strict, form=form)

    def takes(self, value: Any) -> bool:
        token_ids = self._view.encode(written(value, self._form))
        if self._constraint.acceptable(token_ids) < len(token_ids):
            return False
        self._constraint.accept(token_ids)
        whole = self._constraint.may_end
        self._constraint.rollback(len(token_ids))
        return whole


def cases(seed: int, *, full: bool) -> tuple[Schema, list[tuple[Any, bool]]]:
    """A random schema, and values with whether each was spoilt."""
    rng = random.Random(seed)
    source = random_schema(rng, checked=seed % 3 == 0)
    maker = ValueMaker(source, rng, full=full)
    values = [(tidy(maker.value()), False) for _ in range(VALUES)]
    return Schema(source), [(tidy(spoilt(v, rng)), True) if i % 2 else (v, False) for i, (v, _) in enumerate(values)]


def test_strict_pairs(view: TokenizerView) -> None:
    """Literal decoding: admitted is accepted; accepted is admitted, or the final check says what is wrong."""
    counts: Counter[str] = Counter()
    for seed in range(SCHEMAS // 2):
        schema, values = cases(seed, full=False)
        acceptor = Acceptor(view, schema, True, FORMS[seed % 4])
        admits = judge(as_read(schema.source, Document(schema.source), closing=False))
        admits_as_read = judge(as_read(schema.source, Document(schema.source)))
        for value, was_spoilt in values:
            accepted, valid = acceptor.takes(value), admits.is_valid(value)
            found = schema.problems(value, strict=True)
            assert (found == ()) == valid, (seed, schema.source, value, found)
            if admits_as_read.is_valid(value):
                assert accepted, (seed, schema.source, value)
            elif accepted:
                assert found, (seed, schema.source, value)
                assert schema.unenforced, (seed, schema.source, value)
            counts[f"{'accepted' if accepted else 'refused'}, {'spoilt' if was_spoilt else 'made'}"] += 1
            counts["pairs"] += 1
            counts["caught"] += accepted and not valid
    assert counts["pairs"] >= 1000
    # Each way of the argument is taken often, so that none of it holds for want of cases.
    assert min(counts["accepted, made"], counts["accepted, spoilt"], counts["refused, spoilt"]) > 100, counts
    assert counts["caught"] > 20, counts


def test_pairs_as_extract_decodes(view: TokenizerView) -> None:
    """Every property there, leaves nullable: accepted is what the decoded schema admits; settled, it is valid."""
    counts: Counter[str] = Counter()
    for seed in range(1000, 1000 + SCHEMAS // 2):
        schema, values = cases(seed, full=True)
        acceptor = Acceptor(view, schema, False, FORMS[seed % 4])
        admits = judge(as_read(schema.source, Document(schema.source), closing=False))
        decoded = judge(schema.decoded())
        for value, was_spoilt in values:
            accepted = acceptor.takes(value)
            assert accepted or was_spoilt, (seed, schema.source, value)
            if not schema.unenforced:
                assert accepted == decoded.is_valid(value), (seed, schema.source, value)
            counts["accepted" if accepted else "refused"] += 1
            if not accepted:
                continue
            data, missing = schema.settle(value)
            found, valid = schema.problems(data), admits.is_valid(data)
            if missing:
                assert not valid, (seed, schema.source, data, missing)
                assert schema.unenforced or not found, (seed, schema.source, data, found)
            else:
                assert (found == ()) == valid, (seed, schema.source, data, found)
                assert valid or schema.unenforced, (seed, schema.source, data, found)
            counts["missing"] += bool(missing)
    assert counts["accepted"] + counts["refused"] >= 1000
    assert min(counts["accepted"], counts["refused"], counts["missing"]) > 100, counts


def random_answer(view: TokenizerView, constraint: Constraint, rng: random.Random, limit: int = 600) -> bytes | None:
    """What a model that knows nothing writes; strings and lists are closed early. None when it is not done."""
    answer = b""
    for step in range(limit):
        if constraint.is_complete or (constraint.may_end and rng.random() < 0.7):
            return answer
        allowed = np.flatnonzero(np.unpackbits(constraint.allowed().view(np.uint8), bitorder="little"))
        allowed = allowed[~np.isin(allowed, view.end_token_ids)]
        picked = rng.choices(allowed.tolist(), k=12 if step % 2 else 1)
        token = max(picked, key=lambda one: (view.text(one)[-1:] in b'"]}', -len(view.text(one))))
        constraint.accept([token])
        answer += view.text(token)
    return None


def test_whatever_is_decoded_parses_and_validates(view: TokenizerView) -> None:
    complete = 0
    for seed in range(2000, 2090):
        rng = random.Random(seed)
        strict = bool(seed % 2)
        schema = Schema(random_schema(rng, checked=False))
        answer = random_answer(view, Constraint(view, schema, strict=strict, form=FORMS[seed % 4]), rng)
        if answer is None:
            continue
        complete += 1
        data = json.loads(answer)
        if not strict:
            data, _ = schema.settle(data)
        assert schema.problems(data, strict=strict) == (), (seed, schema.source, data)
    assert complete > 45
