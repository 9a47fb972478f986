"""Drafts change how many passes an answer takes, and nothing else about it."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.decode import decode
from forklift.decoding.drafts import MAX_DRAFT, DocumentDrafter
from forklift.decoding.grammar import ANSWER_FORMS, SPACED, AnswerForm
from forklift.engines.base import Sampling, Statistics, Token
from forklift.evidence.word_index import PageWords
from forklift.results import Box, Word
from forklift.schema import Schema
from tests.decoding.models import RecitingModel
from tests.schema_generator import random_schema

ITEM = {"description": {"type": "string"}, "quantity": {"type": "integer"}, "amount": {"type": "number"}}
INVOICE = Schema.load(
    {
        "type": "object",
        "properties": {
            "vendor": {"type": "string"},
            "invoice_number": {"type": "string"},
            "date": {"type": "string", "format": "date"},
            "note": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "object", "properties": ITEM}},
            "total": {"type": "number"},
        },
    }
)
# Each line: (left edge, words).
PAGE = [
    [(50, "Nordlicht Werkzeuge GmbH")],
    [(50, "Invoice number:"), (300, "RE-2026/0815")],
    [(50, "Date:"), (300, "3 March 2026")],
    [(50, "Description"), (300, "Quantity"), (400, "Amount")],
    [(50, "Sechskantschraube M8"), (300, "12"), (400, "1,234.50")],
    [(50, "Unterlegscheibe verzinkt"), (300, "7"), (400, "88.25")],
    [(50, "Dichtungsring 40 mm"), (300, "130"), (400, "3,910.00")],
    [(50, "Total:"), (400, "5,232.75")],
]
ANSWER = {
    "vendor": "Nordlicht Werkzeuge GmbH",
    "invoice_number": "RE-2026/0815",
    "date": "2026-03-03",
    "note": None,
    "lines": [
        {"description": "Sechskantschraube M8", "quantity": 12, "amount": 1234.5},
        {"description": "Unterlegscheibe verzinkt", "quantity": 7, "amount": 88.25},
        {"description": "Dichtungsring 40 mm", "quantity": 130, "amount": 3910},
    ],
    "total": 5232.75,
}


def page_words(lines: Sequence[Sequence[tuple[float, str]]] = PAGE) -> list[PageWords]:
    words = []
    for number, line in enumerate(lines):
        for left, text in line:
            for word in text.split():
                top = 40 + 20 * number
                words.append(Word(word, Box(left, top, left + 5 * len(word), top + 10)))
                left += 5 * len(word) + 3
    return [PageWords(1, (600.0, 800.0), words)]


class Continuing(RecitingModel):
    """Logits that follow from the tokens read alone, so that a pass may be cut anywhere."""

    def __init__(self, view: TokenizerView, text: str, seed: int, **options: Any) -> None:
        super().__init__(view, text, **options)
        self._seed = seed

    def extend(self, state: Any, token_ids: Sequence[int], *, last_only: bool = False) -> torch.Tensor:
        start = len(state.token_ids)
        super().extend(state, token_ids, last_only=True)
        rows = [self._after(state.token_ids[: start + n + 1]) for n in range(len(token_ids))]
        return torch.stack(rows[-1:] if last_only else rows)

    def _after(self, token_ids: Sequence[int]) -> torch.Tensor:
        generator = torch.Generator().manual_seed(hash((self._seed, tuple(token_ids))) % 2**31)
        return torch.randn(self.vocabulary_size, generator=generator) + self._logits(len(token_ids))


def run(
    view: TokenizerView,
    model: Any,
    schema: Schema,
    *,
    drafts: bool,
    pages: list[PageWords] | None = None,
    form: AnswerForm | None = SPACED,
    **options: Any,
) -> tuple[list[Token], Statistics]:
    statistics = Statistics()
    settings: dict[str, Any] = {"sampling": Sampling(), "max_new_tokens": 1000} | options
    tokens = decode(
        model,
        None,
        constraint=Constraint(view, schema, form=form),
        end_ids=view.end_token_ids,
        token_text=view.text,
        statistics=statistics,
        drafter=DocumentDrafter(pages or [], view, schema) if drafts else None,
        **settings,
    )
    return list(tokens), statistics


def text_of(tokens: Sequence[Token]) -> str:
    return b"".join(token.text for token in tokens).decode(errors="ignore")


@pytest.mark.parametrize("form", ANSWER_FORMS.values(), ids=lambda form: form.name)
def test_an_answer_that_is_printed_takes_few_passes(view: TokenizerView, form: AnswerForm) -> None:
    text = json.dumps(
        ANSWER, ensure_ascii=False, indent=form.indent, separators=(form.item_separator, form.key_separator)
    )
    plain, without = run(view, RecitingModel(view, text), INVOICE, drafts=False, form=form)
    drafted, statistics = run(view, RecitingModel(view, text), INVOICE, drafts=True, pages=page_words(), form=form)
    assert text_of(drafted) == text_of(plain) == text
    assert drafted == plain  # the probabilities too
    # Every one of the fifteen values stands on the page; six of them may have to be begun by the model.
    assert statistics.forward_passes < 0.25 * len(drafted) < 0.5 * without.forward_passes
    assert statistics.accepted_draft_tokens > 0.6 * statistics.draft_tokens


def test_each_pass_saved_is_an_accepted_token(view: TokenizerView) -> None:
    text = json.dumps(ANSWER, ensure_ascii=False)
    _, without = run(view, RecitingModel(view, text), INVOICE, drafts=False)
    model = RecitingModel(view, text)
    tokens, statistics = run(view, model, INVOICE, drafts=True, pages=page_words())
    forced = sum(token.forced for token in tokens)
    assert statistics.accepted_draft_tokens - forced <= without.forward_passes - statistics.forward_passes
    assert statistics.forward_passes == len(model.states[0].passes) + 1
    assert all(len(read) <= MAX_DRAFT + 40 for read in model.states[0].passes)


@pytest.mark.parametrize("seed", range(40))
def test_greedy_answers_of_random_models_are_the_same(view: TokenizerView, seed: int) -> None:
    """Random schemas, models that want to say the printed answer more or less surely, with and without words."""
    chance = random.Random(seed)
    schema = INVOICE if seed % 2 else Schema.load(random_schema(random.Random(seed)))
    certainty = chance.choice([0.0, 3.0, 6.0])
    form = chance.choice([None, *ANSWER_FORMS.values()])
    pages = page_words() if seed % 3 else []
    text = json.dumps(ANSWER, ensure_ascii=False)
    outcome = [
        run(
            view,
            Continuing(view, text, seed, certainty=certainty),
            schema,
            drafts=drafts,
            pages=pages,
            form=form,
            max_new_tokens=200,
        )
        for drafts in (False, True)
    ]
    assert outcome[0][0] == outcome[1][0]
    assert outcome[1][1].forward_passes <= outcome[0][1].forward_passes


@pytest.mark.parametrize("seed", range(6))
def test_sampled_answers_are_the_same_token_for_token(view: TokenizerView, seed: int) -> None:
    """Stronger than equal in distribution: each choice draws from the same probabilities with the same generator."""
    text = json.dumps(ANSWER, ensure_ascii=False)
    sampling = Sampling(temperature=1.2, top_p=0.9, seed=seed)
    plain, drafted = (
        run(
            view,
            Continuing(view, text, seed, certainty=7.0),
            INVOICE,
            drafts=drafts,
            pages=page_words(),
            sampling=sampling,
            max_new_tokens=300,
        )
        for drafts in (False, True)
    )
    assert plain[0] == drafted[0]
    assert drafted[1].accepted_draft_tokens > 0


def test_sampling_keeps_the_distribution(view: TokenizerView) -> None:
    """A drafted token is no likelier than the model holds it: 400 samples of a choice at one in four."""
    schema = Schema.load({"type": "object", "properties": {"unit": {"enum": ["kg", "m"]}}})
    kilo, metre = view.encode("k")[0], view.encode("m")[0]

    class Undecided(RecitingModel):
        def _logits(self, position: int) -> torch.Tensor:
            logits = torch.full((self.vocabulary_size,), -20.0)
            logits[[kilo, metre]] = torch.tensor([0.25, 0.75]).log()
            logits[view.encode('"')[0]] = 3.0
            return logits

    heard = Counter(
        text_of(
            run(
                view,
                Undecided(view, ""),
                schema,
                drafts=True,
                pages=page_words([[(50, "Unit:"), (100, "kg")]]),
                sampling=Sampling(temperature=1.0, seed=seed),
            )[0]
        )
        for seed in range(400)
    )
    assert set(heard) == {'{"unit": "kg"}', '{"unit": "m"}'}
    # Five standard deviations of a binomial of 400 at 0.25.
    assert abs(heard['{"unit": "kg"}'] - 100) < 5 * (400 * 0.25 * 0.75) ** 0.5


def test_where_values_are_not_printed_drafts_cost_little(view: TokenizerView) -> None:
    lines = [{"description": f"xq{n}zz wv{n}", "quantity": 900 + n, "amount": 77000.5 + 13 * n} for n in range(40)]
    wanted = json.dumps(ANSWER | {"vendor": "qqq", "invoice_number": "zz", "date": None, "lines": lines, "total": 0})
    room: dict[str, Any] = {"max_new_tokens": 4000}
    _, without = run(view, RecitingModel(view, wanted), INVOICE, drafts=False, **room)
    pages = page_words(PAGE * 5)
    tokens, statistics = run(view, RecitingModel(view, wanted), INVOICE, drafts=True, pages=pages, **room)
    assert text_of(tokens) == wanted
    wrong = statistics.draft_tokens - statistics.accepted_draft_tokens
    # Were a token more in a pass a tenth of the pass, nothing would have become more than 3 % slower.
    assert statistics.forward_passes + 0.1 * wrong < 1.03 * without.forward_passes


def test_a_draft_is_no_longer_than_the_answer_may_be(view: TokenizerView) -> None:
    text = json.dumps(ANSWER, ensure_ascii=False)
    for limit in range(1, 60):
        plain, _ = run(view, RecitingModel(view, text), INVOICE, drafts=False, max_new_tokens=limit)
        model = RecitingModel(view, text)
        drafted, _ = run(view, model, INVOICE, drafts=True, pages=page_words(), max_new_tokens=limit)
        assert plain == drafted
        assert sum(map(len, model.states[0].passes[-1:])) <= limit


def test_proposals_leave_the_constraint_as_it_is(view: TokenizerView) -> None:
    constraint = Constraint(view, INVOICE, form=SPACED)
    drafter = DocumentDrafter(page_words(), view, INVOICE)
    opening = view.encode('{"vendor": "Nordlicht')
    constraint.accept(opening)
    for token in opening:
        drafter.observe(token)
    before = constraint.allowed().copy()
    draft = drafter.propose(constraint, 1000)
    assert b"".join(map(view.text, draft)).startswith(b" Werkzeuge GmbH"[: len(draft)])
    assert 0 < len(draft) <= MAX_DRAFT
    assert (constraint.allowed() == before).all()
    assert constraint.acceptable(draft) == len(draft)


def test_a_constraint_s_copy_goes_its_own_way(view: TokenizerView) -> None:
    constraint = Constraint(view, INVOICE, form=SPACED)
    copy = constraint.copy()
    copy.accept(view.encode('{"vendor": null'))
    assert constraint.forced_bytes() == b'{"vendor": '
    assert copy.forced_bytes() == b', "invoice_number": '
