from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forklift.confidence import leaves as pointed_leaves
from forklift.confidence import value_spans
from forklift.decoding.leaf_cursor import Awaits, LeafCursor, Path

TEXTS = st.text(max_size=6)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3))
)


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    if isinstance(value, dict):
        return [leaf for name, child in value.items() for leaf in leaves(child, (*path, name))]
    if isinstance(value, list):
        return [leaf for index, child in enumerate(value) for leaf in leaves(child, (*path, index))]
    return [(path, value)]


@given(value=VALUES, indent=st.sampled_from([None, 2]), ascii_only=st.booleans())
def test_every_leaf_is_found_with_its_path_and_spelling(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    cursor = LeafCursor()
    found = [leaf for byte in (text + "\n").encode("utf-8", "surrogatepass") for leaf in cursor.feed(bytes((byte,)))]
    expected = leaves(json.loads(text))
    spelled = [json.dumps(leaf, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") for _, leaf in expected]
    assert [b'"%s"' % leaf.text if leaf.is_string else leaf.text for leaf in found] == spelled
    if "\\" not in text:  # names are kept as they are spelled
        assert [leaf.path for leaf in found] == [path for path, _ in expected]
    assert cursor.awaits is Awaits.NEXT
    assert cursor.path == ()


@pytest.mark.parametrize(
    ("text", "awaits", "path", "begun"),
    [
        ("", Awaits.VALUE, (), ""),
        ("{", Awaits.NAME, (), ""),
        ('{"a', Awaits.IN_NAME, (), "a"),
        ('{"a"', Awaits.COLON, ("a",), "a"),
        ('{"a": ', Awaits.VALUE, ("a",), "a"),
        ('{"a": "x\\"', Awaits.STRING, ("a",), 'x\\"'),
        ('{"a": "x", "b": -1', Awaits.SCALAR, ("b",), "-1"),
        ('{"a": [{"b": 1}', Awaits.NEXT, ("a", 0), "1"),
        ('{"a": [{"b": 1}, {"b": [', Awaits.VALUE, ("a", 1, "b", 0), "b"),
        ('{"a": [{"b": 1}, {"b": []', Awaits.NEXT, ("a", 1, "b"), "b"),
        ('{"a": {}', Awaits.NEXT, ("a",), "a"),
        ("[[], 1", Awaits.SCALAR, (1,), "1"),
    ],
)
def test_what_comes_next(text: str, awaits: Awaits, path: Path, begun: str) -> None:
    cursor = LeafCursor()
    cursor.feed(text.encode())
    copy = cursor.copy()
    for one in (cursor, copy):
        assert (one.awaits, one.path) == (awaits, path)
        if awaits in (Awaits.STRING, Awaits.SCALAR, Awaits.IN_NAME):
            assert one.text.decode() == begun
    cursor.feed(b"7")
    assert (copy.awaits, copy.path) == (awaits, path)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b:c, {d}", "e": [1, -2.5e3, null, {"f": true}], "g": {}, "h": []}',
        '["x \\" y", "\\\\", 7]',
        '{"na\\"me":"value","list":["p","q"],"n":12}',
        '{\n  "a": {\n    "b": "c"\n  },\n  "d": [\n    1,\n    2\n  ]\n}',
        '"alone"',
        "12.50",
    ],
)
def test_every_byte_of_a_value_is_seen_as_one_and_no_other(text: str) -> None:
    data = text.encode()
    spans = value_spans(data)
    expected = {}
    for pointer, value in pointed_leaves(json.loads(text)):
        if value in ({}, []):
            continue
        start, end = spans[pointer]
        # Before its first byte the value is still awaited.
        expected |= dict.fromkeys(range(start + 1, end), Awaits.STRING if isinstance(value, str) else Awaits.SCALAR)
    cursor = LeafCursor()
    seen = {}
    for index, byte in enumerate(data):
        if cursor.awaits in (Awaits.STRING, Awaits.SCALAR):
            seen[index] = cursor.awaits
        cursor.feed(bytes((byte,)))
    # What ends a number or a literal is the next byte, which is read in their place.
    ends = {index for index in seen if index not in expected}
    assert all(data[index : index + 1] in b",}] \n" for index in ends)
    assert {index: place for index, place in seen.items() if index not in ends} == expected


def test_a_copy_goes_its_own_way() -> None:
    cursor = LeafCursor()
    cursor.feed(b'{"a": "x')
    copy = cursor.copy()
    copy.feed(b'"')
    assert (cursor.awaits, copy.awaits) == (Awaits.STRING, Awaits.NEXT)
