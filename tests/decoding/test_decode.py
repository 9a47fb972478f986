from __future__ import annotations

import json
import math
import random
import threading
from typing import Any

import pytest
import torch

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.decode import LocalModel, decode
from forklift.decoding.grammar import ANSWER_FORMS, SPACED
from forklift.decoding.partial import partial_json
from forklift.engines.base import Sampling, Statistics, Token
from forklift.errors import DecodeError
from forklift.results import Outcome
from forklift.schema import Schema
from tests.decoding.models import RandomModel, RecitingModel
from tests.schema_generator import random_schema

INVOICE = Schema.load(
    {
        "type": "object",
        "properties": {
            "vendor": {"type": "string"},
            "Währung": {"enum": ["€", "CHF"]},
            "total": {"type": "number"},
        },
        "required": ["vendor", "Währung", "total"],
    }
)
ANSWER = '{"vendor": "Müller & Söhne", "Währung": "€", "total": 13.5}'


def run(view: TokenizerView, model: LocalModel, schema: Schema | None = None, **options: Any) -> list[Token]:
    settings: dict[str, Any] = {"sampling": Sampling(), "max_new_tokens": 1000} | options
    form = settings.pop("form", None)
    constraint = None if schema is None else Constraint(view, schema, form=form)
    tokens = decode(model, None, constraint=constraint, end_ids=view.end_token_ids, token_text=view.text, **settings)
    return list(tokens)


def text_of(tokens: list[Token]) -> str:
    return b"".join(token.text for token in tokens).decode()


def outcomes(tokens: list[Token]) -> list[Outcome | None]:
    return [token.outcome for token in tokens]


@pytest.mark.parametrize("form", [None, SPACED], ids=["unknown-form", "known-form"])
def test_the_answer_is_what_the_model_wants_to_say(view: TokenizerView, form: Any) -> None:
    model = RecitingModel(view, ANSWER)
    tokens = run(view, model, INVOICE, form=form)
    assert text_of(tokens) == ANSWER
    assert [token.id for token in tokens[:-1]] == view.encode(ANSWER)
    assert tokens[-1].id == view.end_token_ids[0]
    assert outcomes(tokens) == [None] * (len(tokens) - 1) + [Outcome.COMPLETE]


def test_forced_tokens_share_the_pass_of_the_token_before(view: TokenizerView) -> None:
    model, statistics = RecitingModel(view, ANSWER), Statistics()
    tokens = run(view, model, INVOICE, form=SPACED, statistics=statistics)
    passes = model.states[0].passes
    sampled = [token for token in tokens if not token.forced]
    # One pass for each choice: the first choice's pass reads the forced opening, the end of the turn needs
    # none.
    assert len(passes) == len(sampled)
    assert statistics.forward_passes == len(passes) + 1
    assert sum(len(read) for read in passes) < len(tokens)
    assert len(tokens) - len(sampled) > 15
    read = [token_id for tokens_read in passes for token_id in tokens_read]
    assert read == [token.id for token in tokens[: len(read)]]
    # The price's last digit could go on, so the closing brace was a choice; then nothing was read any more.
    assert all(token.forced and token.log_probability == 0.0 for token in tokens[len(read) + 1 :])


def test_what_the_schema_forbids_is_not_said(view: TokenizerView) -> None:
    wanted = '{"vendor": "Acme", "Währung": "USD", "total": "13"}'
    answer = json.loads(text_of(run(view, RecitingModel(view, wanted), INVOICE)))
    assert answer["vendor"] == "Acme"
    assert answer["Währung"] in ("€", "CHF", None)
    assert not INVOICE.problems(INVOICE.settle(answer)[0])


def test_log_probabilities_are_under_the_mask_at_temperature_one(view: TokenizerView) -> None:
    schema = Schema.load({"enum": ["a", "b"]})
    model = RecitingModel(view, '"b"', certainty=2.0)
    for sampling in (Sampling(), Sampling(temperature=0.01)):  # the temperature of sampling does not count
        tokens = run(view, model, schema, sampling=sampling)
        chosen = next(token for token in tokens if token.text.startswith(b"b"))
        # Allowed after the quote: a, b and n of "null" is no longer; b has logit 2, a has 0.
        assert chosen.log_probability == pytest.approx(-math.log(1 + math.exp(-2)), abs=1e-5)


def test_free_text_stops_at_any_end_of_turn(view: TokenizerView) -> None:
    tokens = run(view, RecitingModel(view, "Grüße, 東京"))
    assert text_of(tokens) == "Grüße, 東京"
    assert tokens[-1].outcome is Outcome.COMPLETE
    other = RecitingModel(view, "hi", end=False)
    other.wanted.append(view.end_token_ids[1])
    assert run(view, other)[-1].outcome is Outcome.COMPLETE


@pytest.mark.parametrize("limit", [1, 2, 7, 20])
def test_the_token_limit_counts_every_token(view: TokenizerView, limit: int) -> None:
    tokens = run(view, RecitingModel(view, ANSWER), INVOICE, max_new_tokens=limit)
    assert len(tokens) == limit
    assert outcomes(tokens) == [None] * (limit - 1) + [Outcome.TRUNCATED]
    assert ANSWER.encode().startswith(b"".join(token.text for token in tokens))


def test_a_limit_just_behind_the_closing_brace_is_complete(view: TokenizerView) -> None:
    limit = len(view.encode(ANSWER))
    tokens = run(view, RecitingModel(view, ANSWER), INVOICE, max_new_tokens=limit)
    assert text_of(tokens) == ANSWER
    assert tokens[-1].outcome is Outcome.COMPLETE
    assert run(view, RecitingModel(view, ANSWER), INVOICE, max_new_tokens=limit - 1)[-1].outcome is Outcome.TRUNCATED


def test_no_room_for_any_token(view: TokenizerView) -> None:
    tokens = run(view, RecitingModel(view, ANSWER), INVOICE, max_new_tokens=0)
    assert (text_of(tokens), outcomes(tokens)) == ("", [Outcome.TRUNCATED])


def test_cancelling_stops_before_the_next_pass(view: TokenizerView) -> None:
    cancel = threading.Event()
    model = RecitingModel(view, "word " * 100)
    stream = decode(
        model,
        None,
        constraint=None,
        sampling=Sampling(),
        max_new_tokens=1000,
        end_ids=view.end_token_ids,
        token_text=view.text,
        cancel=cancel,
    )
    heard = [next(stream) for _ in range(5)]
    cancel.set()
    heard += list(stream)
    assert len(heard) == 6
    assert len(model.states[0].passes) == 4
    assert heard[-1].outcome is Outcome.CANCELLED
    assert heard[-1].text == b""


def test_cancelled_before_it_began(view: TokenizerView) -> None:
    cancel = threading.Event()
    cancel.set()
    model = RecitingModel(view, ANSWER)
    assert outcomes(run(view, model, INVOICE, cancel=cancel)) == [Outcome.CANCELLED]
    assert model.states == []


def test_sampling_repeats_with_its_seed(view: TokenizerView) -> None:
    def sample(seed: int, temperature: float = 1.0, top_p: float = 1.0) -> str:
        sampling = Sampling(temperature=temperature, top_p=top_p, seed=seed)
        return text_of(run(view, RecitingModel(view, ANSWER, certainty=6.0), INVOICE, sampling=sampling))

    assert sample(3) == sample(3)
    assert len({sample(seed) for seed in range(5)}) > 1
    assert {sample(seed, temperature=0.01) for seed in range(3)} == {ANSWER}
    assert {sample(seed, temperature=3.0, top_p=1e-6) for seed in range(3)} == {ANSWER}


def test_top_p_keeps_the_smallest_set_that_reaches_it(view: TokenizerView) -> None:
    schema = Schema.load({"enum": ["a", "b", "c"]})

    class ThreeWays(RecitingModel):
        def _logits(self, position: int) -> torch.Tensor:
            logits = torch.full((self.vocabulary_size,), -20.0)
            for text, probability in (("a", 0.6), ("b", 0.3), ("c", 0.1), ('"', 0.5)):
                logits[view.encode(text)[0]] = math.log(probability)
            return logits

    def said(top_p: float) -> set[str]:
        samplings = [Sampling(temperature=1.0, top_p=top_p, seed=seed) for seed in range(60)]
        return {text_of(run(view, ThreeWays(view, ""), schema, sampling=one)) for one in samplings}

    assert said(0.5) == {'"a"'}
    assert said(0.7) == {'"a"', '"b"'}
    assert said(1.0) == {'"a"', '"b"', '"c"'}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_logits_that_are_not_finite_are_an_error(view: TokenizerView, value: float) -> None:
    class Broken(RecitingModel):
        def _logits(self, position: int) -> torch.Tensor:
            return torch.full((self.vocabulary_size,), value)

    with pytest.raises(DecodeError, match="float32"):
        run(view, Broken(view, ""), INVOICE)


def test_bfloat16_logits(view: TokenizerView) -> None:
    class Narrow(RecitingModel):
        def _logits(self, position: int) -> torch.Tensor:
            return super()._logits(position).bfloat16()

    assert text_of(run(view, Narrow(view, ANSWER), INVOICE)) == ANSWER


def test_identical_line_items_are_no_loop(view: TokenizerView) -> None:
    schema = Schema.load({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}})
    answer = "[" + ", ".join(['{"n": 1}'] * 30) + "]"
    assert text_of(run(view, RecitingModel(view, answer), schema)) == answer


def test_random_models_give_valid_answers_to_two_hundred_random_schemas(view: TokenizerView) -> None:
    complete = 0
    for seed in range(200):
        source = random_schema(random.Random(seed))
        schema = Schema.load(source)
        form = random.Random(seed).choice([None, *ANSWER_FORMS.values()])
        sampling = Sampling(temperature=1.0, seed=seed)
        tokens = run(view, RandomModel(view, seed), schema, form=form, sampling=sampling, max_new_tokens=3000)
        if tokens[-1].outcome is Outcome.COMPLETE:
            complete += 1
            data = json.loads(text_of(tokens))
        else:
            kept = b"".join(token.text for token in tokens).decode(errors="ignore")
            data = partial_json(kept)
            assert isinstance(data, dict)
            continue
        settled, missing = schema.settle(data)
        assert schema.problems(settled) == (), (seed, settled)
        if not missing and seed % 4 == 0:
            assert schema.problems(settled, strict=True) == (), (seed, settled)
    assert complete > 190


def test_strict_answers_are_valid_as_they_are(view: TokenizerView) -> None:
    for seed in range(200, 230):
        schema = Schema.load(random_schema(random.Random(seed)))
        constraint = Constraint(view, schema, strict=True)
        tokens = list(
            decode(
                RandomModel(view, seed),
                None,
                constraint=constraint,
                sampling=Sampling(),
                max_new_tokens=3000,
                end_ids=view.end_token_ids,
                token_text=view.text,
            )
        )
        if tokens[-1].outcome is Outcome.COMPLETE:
            assert schema.problems(json.loads(text_of(tokens)), strict=True) == (), seed
