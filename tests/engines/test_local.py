from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.grammar import SPACED
from forklift.engines.base import Request, Sampling, Statistics, Token
from forklift.engines.local import LocalEngine
from forklift.errors import CheckpointError, UsageError
from forklift.results import Outcome
from forklift.schema import Schema

# Short by its schema, for random weights do not know when to stop.
SCHEMA = Schema.load(
    {
        "type": "object",
        "properties": {
            "vendor": {"type": "string", "maxLength": 5},
            "Währung": {"enum": ["€", "CHF"]},
            "lines": {
                "type": "array",
                "maxItems": 2,
                "items": {"type": "integer", "minimum": 0, "maximum": 9},
            },
        },
    }
)


@pytest.fixture(scope="module")
def engine(random_checkpoint: Path) -> LocalEngine:
    return LocalEngine(random_checkpoint, torch.float32)


def pages(count: int = 1) -> list[Image.Image]:
    return [Image.effect_noise((64 + 32 * index, 64), 90).convert("RGB") for index in range(count)]


def say(engine: LocalEngine, **options: Any) -> list[Token]:
    return list(engine.generate(Request(**({"pages": pages(), "text": "read"} | options))))


def text_of(tokens: list[Token]) -> str:
    return b"".join(token.text for token in tokens).decode()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_random_weights_give_schema_valid_json(random_checkpoint: Path, dtype: torch.dtype) -> None:
    engine, statistics = LocalEngine(random_checkpoint, dtype), Statistics()
    request = Request(pages=pages(2), text="read", schema=SCHEMA, max_new_tokens=200)
    tokens = list(engine.generate(request, statistics))
    assert tokens[-1].outcome is Outcome.COMPLETE
    data, _ = SCHEMA.settle(json.loads(text_of(tokens)))
    assert SCHEMA.problems(data) == ()
    sampled = sum(not token.forced for token in tokens)
    assert statistics.forward_passes <= sampled + 1 < len(tokens)
    assert statistics.prompt_tokens > 2 * 4  # the pages' merged patches among them
    assert statistics.prefill_seconds > 0 < statistics.decode_seconds


def test_settings_come_from_the_checkpoint(engine: LocalEngine) -> None:
    assert engine.name == "random"
    assert engine.form == SPACED
    assert engine.end_ids == (2, 0)  # <|im_end|> though the configuration names <|endoftext|> only


def test_greedy_answers_repeat_and_pages_matter(engine: LocalEngine) -> None:
    torch.manual_seed(0)
    page = pages()
    first = [token.id for token in say(engine, pages=page, max_new_tokens=24)]
    assert first == [token.id for token in say(engine, pages=page, max_new_tokens=24)]
    black = [Image.new("RGB", (64, 64))]
    probabilities = [token.log_probability for token in say(engine, pages=page, max_new_tokens=4)]
    assert probabilities != [token.log_probability for token in say(engine, pages=black, max_new_tokens=4)]


def test_forced_tokens_in_one_pass_change_nothing(engine: LocalEngine) -> None:
    """Tokens and probabilities equal those of reading the answer token by token."""
    page = Image.new("RGB", (64, 64), "white")
    tokens = say(engine, schema=SCHEMA, pages=[page], max_new_tokens=100)
    assert sum(token.forced for token in tokens) > 10
    state, logits = engine.model.prefill(engine.prompter.build([page], "read"))
    tokenizer_json = engine.prompter.tokenizer.to_str()
    view = TokenizerView.cached(tokenizer_json, engine.end_ids, logits.shape[0])
    constraint = Constraint(view, SCHEMA, form=SPACED)
    for token in tokens[:-1]:
        if not token.forced:
            bits = np.unpackbits(constraint.allowed().view(np.uint8), bitorder="little")[: logits.shape[0]]
            masked = logits.masked_fill(torch.from_numpy(bits == 0), -torch.inf)
            assert int(masked.argmax()) == token.id
            assert token.log_probability == pytest.approx(float(masked.log_softmax(0)[token.id]), abs=1e-4)
        constraint.accept([token.id])
        logits = engine.model.extend(state, [token.id])[-1]


def test_free_text_and_sampling(engine: LocalEngine) -> None:
    def sampled(seed: int) -> list[int]:
        sampling = Sampling(temperature=2.0, seed=seed)
        return [token.id for token in say(engine, pages=[], sampling=sampling, max_new_tokens=12)]

    assert sampled(1) == sampled(1) != sampled(2)


def test_several_threads_share_one_engine(engine: LocalEngine) -> None:
    alone = text_of(say(engine, pages=[], schema=SCHEMA, max_new_tokens=200))
    heard: list[str] = []

    def listen() -> None:
        heard.append(text_of(say(engine, pages=[], schema=SCHEMA, max_new_tokens=200)))

    threads = [threading.Thread(target=listen) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [alone] * 3


def test_a_prompt_that_does_not_fit_is_refused_before_it_runs(engine: LocalEngine) -> None:
    with pytest.raises(UsageError, match="the model takes 300"):
        engine.generate(Request(pages=[], text="word " * 300))


def test_the_model_s_room_limits_the_answer(engine: LocalEngine) -> None:
    prompt = engine.prompter.build([], "read")
    tokens = say(engine, pages=[], schema=Schema.load({"type": "array", "minItems": 500, "items": {"const": 1}}))
    assert tokens[-1].outcome is Outcome.TRUNCATED
    assert len(tokens) == 300 - len(prompt.token_ids)


@pytest.mark.parametrize(
    ("settings", "message"),
    [('{"forklift": {"answer_form": "loose"}}', "the forms are compact, spaced"), ("[", "generation_config")],
)
def test_bad_settings_are_named(random_checkpoint: Path, tmp_path: Path, settings: str, message: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(random_checkpoint, folder)
    (folder / "generation_config.json").write_text(settings)
    with pytest.raises(CheckpointError, match=message):
        LocalEngine(folder, torch.float32)
