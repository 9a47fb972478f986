"""Documents to calibrate and measure on: page images, a schema, and the answer that the model is to give."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklift.documents import Document, PagePolicy
from forklift.errors import DocumentError, UsageError
from forklift.evaluate.datasets import DOCUMENT_ENDINGS, GOLD, SCHEMA
from forklift.prompt import Prompt, Prompter, extraction_text
from forklift.schema import Schema

if TYPE_CHECKING:
    from forklift.decoding.grammar import AnswerForm
    from forklift.engines.local import LocalEngine

_NUMBER = ("\ue003", "\ue004")  # around a number that passes through as text
# Longer ones would need gigabytes for the attention of one layer alone.
MAX_TOKENS = 4096


@dataclass(frozen=True)
class Sample:
    """A document with its schema. gold_text: the true answer as JSON, or None where nobody has written it down."""

    path: Path
    schema: Schema
    gold_text: str | None = None

    @property
    def gold(self) -> Any:
        return None if self.gold_text is None else json.loads(self.gold_text)

    def pages(self, policy: PagePolicy) -> list[Any]:
        with Document.open(self.path) as document:
            return [page.render(policy) for page in document]

    def prompt(self, prompter: Prompter) -> Prompt:
        return prompter.build(self.pages(prompter.page_policy), extraction_text(self.schema))


def folder_samples(folder: Path, schema: Schema | None, limit: int | None = None, first: int = 0) -> list[Sample]:
    """The documents below a folder, by path: `limit` of them from the one with index `first` on.

    As a dataset of `forklift eval` has them, `<name>.gold.json` beside a document is its true answer, and
    `<name>.schema.json`, or one schema.json for a folder, its schema, before `schema`. Answers may be missing.
    Raises UsageError where there are no documents, or one has no schema.
    """
    if not folder.is_dir():
        raise UsageError(f"--documents {folder}: there is no such folder")
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower().removeprefix(".") in DOCUMENT_ENDINGS and not path.name.startswith(".")
    ]
    chosen = paths[first:] if limit is None else paths[first : first + limit]
    if not chosen:
        raise UsageError(
            f"--documents {folder}: has {len(paths)} documents, and those after the first {first} are asked for"
        )
    return [_folder_sample(path, schema) for path in chosen]


def _folder_sample(path: Path, schema: Schema | None) -> Sample:
    own = path.with_name(f"{path.stem}{SCHEMA}")
    shared = path.with_name("schema.json")
    if (found := next((file for file in (own, shared) if file.is_file()), None)) is not None:
        schema = Schema.load(found)
    if schema is None:
        raise UsageError(f"{path}: give its schema with --schema, or beside it as {own.name}")
    gold = path.with_name(f"{path.stem}{GOLD}")
    try:
        sample = Sample(path, schema, gold.read_text(encoding="utf-8") if gold.is_file() else None)
        _ = sample.gold
    except (OSError, ValueError) as error:
        raise DocumentError(f"{gold}: is no JSON: {error}") from error
    return sample


def built_in_samples(folder: Path, count: int, seed: int) -> list[Sample]:
    """Made-up invoices, receipts and statements of one or two pages, written into `folder`.

    Raises UsageError where reportlab, which draws them, is not installed.
    """
    from forklift.evaluate.documents.benchmark import Plan, make_document
    from forklift.evaluate.documents.sheet import require_reportlab

    try:
        require_reportlab()
    except UsageError as error:
        raise UsageError(f"{error} Or give documents of your own with --documents DIR.") from None
    folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(documents=count, seed=seed, profile="short")
    samples = []
    for index in range(count):
        _, made = make_document(plan, index)
        path = folder / f"{index:04}.pdf"
        path.write_bytes(made.flow.sheet.write(made.title))
        samples.append(Sample(path, Schema.load(made.truth.schema), json.dumps(made.truth.gold, ensure_ascii=False)))
    return samples


def answer_text(gold_text: str, schema: Schema, form: AnswerForm) -> str:
    """A true answer as the model would write it: every property, in the schema's order, null where it is absent.

    Numbers keep their spelling: 12.50 stays 12.50.
    """
    decoded = schema.decoded()
    gold = json.loads(gold_text, parse_float=lambda number: f"{_NUMBER[0]}{number}{_NUMBER[1]}")
    ordered = _in_order(gold, decoded, decoded.get("$defs", {}))
    separators = (form.item_separator, form.key_separator)
    text = json.dumps(ordered, ensure_ascii=False, indent=form.indent, separators=separators)
    return re.sub(f'"{_NUMBER[0]}([^"]*?){_NUMBER[1]}"', r"\1", text)


def _in_order(value: Any, node: Any, definitions: Mapping[str, Any]) -> Any:
    if not isinstance(node, dict):
        return value
    if "$ref" in node:
        return _in_order(value, definitions.get(node["$ref"].rsplit("/", 1)[-1]), definitions)
    if "anyOf" in node:
        kind = "properties" if isinstance(value, dict) else "items"
        return _in_order(value, next((option for option in node["anyOf"] if kind in option), None), definitions)
    if isinstance(value, dict) and "properties" in node:
        ordered = {name: _in_order(value.get(name), child, definitions) for name, child in node["properties"].items()}
        return ordered | {name: child for name, child in value.items() if name not in ordered}
    if isinstance(value, list) and "items" in node:
        return [_in_order(child, node["items"], definitions) for child in value]
    return value


def gold_answers(
    samples: Sequence[Sample], prompter: Prompter, form: AnswerForm, end_id: int
) -> list[list[int] | None]:
    """The tokens of each true answer, the end of the turn included; None where there is no true answer."""
    return [
        None
        if sample.gold_text is None
        else [
            *prompter.tokenizer.encode(
                answer_text(sample.gold_text, sample.schema, form), add_special_tokens=False
            ).ids,
            end_id,
        ]
        for sample in samples
    ]


def generated_answers(
    samples: Sequence[Sample],
    engine: LocalEngine,
    max_new_tokens: int = 2048,
    on_answer: Callable[[], None] = lambda: None,
) -> Iterator[list[int]]:
    """What a model answers itself, greedily under the schema."""
    from forklift.engines.base import Request

    for sample in samples:
        request = Request(
            sample.pages(engine.prompter.page_policy),
            extraction_text(sample.schema),
            schema=sample.schema,
            max_new_tokens=max_new_tokens,
        )
        yield [token.id for token in engine.generate(request)]
        on_answer()
