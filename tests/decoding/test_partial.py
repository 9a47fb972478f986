from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forklift.decoding.partial import partial_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", None),
        ("{", {}),
        ('{"a', {}),
        ('{"a":', {}),
        ('{"a": "x', {}),
        ('{"a": "x"', {"a": "x"}),
        ('{"a": 12', {}),  # 120 could follow
        ('{"a": 12,', {"a": 12}),
        ('{"a": 12}', {"a": 12}),
        ('{"a": tru', {}),
        ('{"a": true', {"a": True}),
        ('{"a": -1.5e3, "b": [1, 2, 3', {"a": -1500.0, "b": [1, 2]}),
        ('{"lines": [{"n": 1}, {"n": 2, "t": "x', {"lines": [{"n": 1}, {"n": 2}]}),
        ('{"a": "q\\"u', {}),
        ('{"a": "q\\"u\\n\\u00e9"', {"a": 'q"u\né'}),
        ('{\n  "ü": "東",\n  "b": nul', {"ü": "東"}),
        ("[[], {}, [", [[], {}, []]),
        ('"whole"', "whole"),
        ('"whol', None),
        ("nonsense", None),
        ('{"a": 1, oops', {"a": 1}),
        ('{"a": 1} trailing', {"a": 1}),
        ('{"a": 1.}', {}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
    ],
)
def test_the_complete_part_is_kept(text: str, kept: Any) -> None:
    assert partial_json(text) == kept


def is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        names = list(whole)[: len(part)]
        return list(part) == names and all(is_part(part[name], whole[name]) for name in names)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    return type(part) is type(whole) and part == whole


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 2]), st.data())
def test_any_cut_keeps_a_true_part(value: Any, indent: int | None, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    cut = data.draw(st.integers(0, len(text)))
    part = partial_json(text[:cut])
    assert part is None or is_part(part, value)
    whole = partial_json(text)
    assert whole == value or (whole is None and isinstance(value, int | float))


@settings(deadline=None)
@given(VALUES, st.data())
def test_a_longer_text_keeps_no_less(value: Any, data: st.DataObject) -> None:
    text = json.dumps([value])
    cut = data.draw(st.integers(0, len(text)))
    shorter, longer = partial_json(text[:cut]), partial_json(text)
    assert longer == [value]
    assert shorter is None or is_part(shorter, longer)


@settings(deadline=None)
@given(st.text())
def test_no_text_raises(text: str) -> None:
    partial_json(text)
    partial_json("{" + text)
    partial_json('{"a": ' + text)


def test_a_very_deep_text(recwarn: pytest.WarningsRecorder) -> None:
    depth = 50_000
    value = partial_json("[" * depth)
    for _ in range(depth - 1):
        (value,) = value
    assert value == []
