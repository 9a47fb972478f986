from __future__ import annotations

import threading
import time

import pytest

from forklift.engines.base import Engine, Request, Statistics, Token
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.errors import DecodeError
from forklift.results import Outcome


def say(engine: Engine, **options: object) -> list[Token]:
    return list(engine.generate(Request(pages=(), text="read", **options)))  # type: ignore[arg-type]


def text_of(tokens: list[Token]) -> str:
    return b"".join(token.text for token in tokens).decode()


def test_answers_come_in_turn_and_the_last_one_stays() -> None:
    engine = ScriptedEngine(['{"a": 1}', '{"größe": "東"}'])
    assert [text_of(say(engine)) for _ in range(3)] == ['{"a": 1}', '{"größe": "東"}', '{"größe": "東"}']
    assert [request.text for request in engine.requests] == ["read"] * 3


def test_tokens_carry_probabilities_and_one_outcome_at_the_end() -> None:
    tokens = say(ScriptedEngine(Answer('{"a": "bc"}', log_probability=-0.5)))
    assert {token.log_probability for token in tokens[:-1]} == {-0.5}
    assert [token.outcome for token in tokens] == [None] * (len(tokens) - 1) + [Outcome.COMPLETE]
    assert len(tokens) > 5


def test_a_token_may_end_inside_a_character() -> None:
    tokens = say(ScriptedEngine("é€"))
    assert [token.text for token in tokens[:2]] == [b"\xc3", b"\xa9"]


def test_the_token_limit_truncates() -> None:
    tokens = say(ScriptedEngine("one two three"), max_new_tokens=3)
    assert (text_of(tokens), tokens[-1].outcome) == ("one two", Outcome.TRUNCATED)


@pytest.mark.parametrize("outcome", [Outcome.TRUNCATED, Outcome.CANCELLED])
@pytest.mark.parametrize("text", ['{"a": ', ""])
def test_a_scripted_outcome(outcome: Outcome, text: str) -> None:
    tokens = say(ScriptedEngine(Answer(text, outcome=outcome)))
    assert text_of(tokens) == text
    assert [token.outcome for token in tokens if token.outcome] == [outcome]


def test_exceptions_fail_one_request() -> None:
    engine = ScriptedEngine([DecodeError("broken"), "fine", Answer("half", error=DecodeError("later"))])
    with pytest.raises(DecodeError, match="broken"):
        say(engine)
    assert text_of(say(engine)) == "fine"
    stream = engine.generate(Request(pages=(), text=""))
    assert next(stream).text == b"half"
    with pytest.raises(DecodeError, match="later"):
        next(stream)


def test_cancelling_ends_a_slow_answer_at_once() -> None:
    cancel = threading.Event()
    engine = ScriptedEngine(Answer("word " * 100, seconds_per_token=5))
    threading.Timer(0.05, cancel.set).start()
    started = time.perf_counter()
    tokens = say(engine, cancel=cancel)
    assert time.perf_counter() - started < 2
    assert [token.outcome for token in tokens] == [Outcome.CANCELLED]


def test_statistics_are_filled_in() -> None:
    statistics = Statistics()
    list(ScriptedEngine("a b").generate(Request(pages=(), text="four"), statistics))
    assert (statistics.prompt_tokens, statistics.forward_passes) == (4, 3)


def test_an_engine_without_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ScriptedEngine([])
