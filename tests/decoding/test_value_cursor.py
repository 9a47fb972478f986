"""Where in a JSON text one is, for every byte of it."""

import json

import pytest

from forklift.confidence import leaves, value_spans
from forklift.decoding.value_cursor import Place, ValueCursor

TEXTS = [
    '{"a": "b:c, {d}", "e": [1, -2.5e3, null, {"f": true}], "g": {}, "h": []}',
    '["x \\" y", "\\\\", 7]',
    '{"na\\"me":"value","list":["p","q"],"n":12}',
    '{\n  "a": {\n    "b": "c"\n  },\n  "d": [\n    1,\n    2\n  ]\n}',
    '"alone"',
    "12.50",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_byte_of_a_value_is_seen_as_one_and_no_other(text):
    data = text.encode()
    spans = value_spans(data)
    expected = {}
    for pointer, value in leaves(json.loads(text)):
        if value in ({}, []):
            continue
        start, end = spans[pointer]
        place = Place.STRING if isinstance(value, str) else Place.LITERAL
        if isinstance(value, int | float) and not isinstance(value, bool):
            place = Place.NUMBER
        # The place before a byte: a string's quote begins it, so it is still VALUE there.
        expected |= dict.fromkeys(range(start + 1, end), place)
    cursor = ValueCursor()
    seen = {}
    for index, byte in enumerate(data):
        place = Place.STRING if cursor.place is Place.ESCAPE else cursor.place
        if place in (Place.STRING, Place.NUMBER, Place.LITERAL):
            seen[index] = place
        cursor.feed(byte)
    # What ends a number or a literal is the next byte, which is read in their place.
    ends = {index for index in seen if index not in expected}
    assert all(data[index : index + 1] in b",}] \n" for index in ends)
    assert {index: place for index, place in seen.items() if index not in ends} == expected


def test_a_copy_goes_its_own_way():
    cursor = ValueCursor()
    for byte in b'{"a": "x':
        cursor.feed(byte)
    copy = cursor.copy()
    copy.feed(ord('"'))
    assert (cursor.place, copy.place) == (Place.STRING, Place.OTHER)
