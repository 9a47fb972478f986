from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
