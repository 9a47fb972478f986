"""Leaves of an answer, and the probabilities of the tokens that spell them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklift.confidence import fields_with_confidence, value_spans
from forklift.engines.base import Token
from forklift.results import Field

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_every_value_is_found_where_it_stands(value: Any, indent: int | None, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    spans = value_spans(text)
    expected = dict(values(value))
    assert spans.keys() == expected.keys()
    for pointer, (start, end) in spans.items():
        assert json.loads(text[start:end].decode("utf-8", "surrogatepass")) == expected[pointer]


def values(data: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in `data`, containers too."""
    yield pointer, data
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, value in members:
        yield from values(value, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('{"a": 1, "b": "unfinished', ["/a"]),
        ('{"a": [1, {"b": null}, ', ["/a/0", "/a/1/b", "/a/1"]),
        ('{"a', []),
        ("", []),
        ('{"a": [], "b": {', ["/a"]),
        ('{"a/b~c": 1}', ["/a~1b~0c", ""]),
        ("7", [""]),
    ],
)
def test_a_text_that_breaks_off_gives_what_came_before(text: str, pointers: list[str]) -> None:
    assert list(value_spans(text.encode())) == pointers


def spelled(*pieces: tuple[str, float]) -> list[Token]:
    return [Token(0, text.encode(), math.log(probability)) for text, probability in pieces]


def sure_of(pointer: str, value: Any, probability: float) -> Field:
    about = pytest.approx(probability)
    return Field(pointer, value, about, probability=about)


def test_the_confidence_is_the_product_over_the_tokens_that_overlap_the_value() -> None:
    tokens = spelled(
        ('{"name": ', 0.1), ('"', 0.9), ("Grö", 0.8), ("ße", 0.5), ('", ', 0.5), ('"n"', 0.1), (": 1", 0.6),
        ("2", 0.7), ("}", 0.2), ("", 0.01),
    )  # fmt: skip
    name, number = fields_with_confidence({"name": "Größe", "n": 12}, tokens)
    assert name == sure_of("/name", "Größe", 0.9 * 0.8 * 0.5 * 0.5)
    assert number == sure_of("/n", 12, 0.6 * 0.7)


def test_forced_tokens_count_as_certain() -> None:
    tokens = [Token(0, b'{"a": '), Token(0, b"null", math.log(0.25)), Token(0, b"}", 0.0, forced=True)]
    assert fields_with_confidence({"a": None}, tokens) == (sure_of("/a", None, 0.25),)


def test_a_token_may_end_inside_a_character() -> None:
    raw = '{"a": "€"}'.encode()
    tokens = [
        Token(0, raw[:8], math.log(0.5)),
        Token(0, raw[8:9], math.log(0.5)),
        Token(0, raw[9:], math.log(0.5)),
    ]
    (field,) = fields_with_confidence({"a": "€"}, tokens)
    assert field.confidence == pytest.approx(0.125)


def test_no_probability_gives_no_confidence() -> None:
    tokens = [Token(0, b'{"a": '), Token(0, b"1", math.nan), Token(0, b', "b": 2}', 0.0)]
    assert [field.confidence for field in fields_with_confidence({"a": 1, "b": 2}, tokens)] == [None, 1.0]


def test_a_leaf_that_the_answer_does_not_hold_has_none() -> None:
    assert fields_with_confidence({"x": 1}, spelled(('{"a": 1}', 0.5))) == (Field("/x", 1, None),)


def test_an_object_whose_nulls_were_left_out_counts_as_a_whole() -> None:
    tokens = spelled(('{"a": ', 0.5), ('{"b": ', 0.9), ("null", 0.8), ("}", 0.7), ("}", 0.5))
    assert fields_with_confidence({"a": {}}, tokens) == (sure_of("/a", {}, 0.9 * 0.8 * 0.7),)


def test_containers_that_are_empty_are_leaves_and_others_are_not() -> None:
    tokens = spelled(('{"a": ', 0.5), ("[]", 0.9), (', "b": {}, "c": [[1]]}', 0.5))
    assert [
        (field.pointer, field.value) for field in fields_with_confidence({"a": [], "b": {}, "c": [[1]]}, tokens)
    ] == [
        ("/a", []),
        ("/b", {}),
        ("/c/0/0", 1),
    ]
