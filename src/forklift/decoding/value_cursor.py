"""Where in a JSON text the next byte stands: in a value, and in which kind."""

from __future__ import annotations

from enum import Enum, auto
from typing import Self


class Place(Enum):
    """What the next byte belongs to."""

    VALUE = auto()  # a value begins, or white space before it
    STRING = auto()  # inside a string that is a value
    ESCAPE = auto()  # behind a backslash in such a string
    NUMBER = auto()  # inside a number; whatever ends it comes next too
    LITERAL = auto()  # inside true, false or null
    OTHER = auto()  # names, punctuation, the end


_SPACE = frozenset(b" \t\r\n")
_NUMBER = frozenset(b"0123456789+-.eE")
_OPEN_OBJECT, _OPEN_LIST = b"{["
_CLOSE = frozenset(b"}]")
_QUOTE, _BACKSLASH, _COLON, _COMMA = b'"\\:,'


class ValueCursor:
    """Follows a JSON text byte by byte. The text is taken to be well-formed: a grammar sees to that."""

    __slots__ = ("_escaped", "_in_name", "_lists", "place")

    def __init__(self) -> None:
        self.place = Place.VALUE
        self._lists: tuple[bool, ...] = ()  # of each open container: it is a list
        self._in_name = False
        self._escaped = False

    def copy(self) -> Self:
        other = self.__class__()
        other.place, other._lists = self.place, self._lists
        other._in_name, other._escaped = self._in_name, self._escaped
        return other

    def feed(self, byte: int) -> None:
        if self.place is Place.STRING:
            if byte == _QUOTE:
                self.place = Place.OTHER
            elif byte == _BACKSLASH:
                self.place = Place.ESCAPE
        elif self.place is Place.ESCAPE:
            self.place = Place.STRING
        elif self._in_name:
            if self._escaped:
                self._escaped = False
            elif byte == _BACKSLASH:
                self._escaped = True
            elif byte == _QUOTE:
                self._in_name = False
        elif (self.place is Place.NUMBER and byte in _NUMBER) or (self.place is Place.LITERAL and 0x61 <= byte <= 0x7A):
            pass
        elif self.place is Place.VALUE and byte not in _SPACE:
            self._begin(byte)
        else:
            self._punctuate(byte)

    def _begin(self, byte: int) -> None:
        if byte == _QUOTE:
            self.place = Place.STRING
        elif byte == _OPEN_OBJECT:
            self._lists, self.place = (*self._lists, False), Place.OTHER
        elif byte == _OPEN_LIST:
            self._lists = (*self._lists, True)
        elif byte in _CLOSE:  # of an empty list
            self._punctuate(byte)
        else:
            self.place = Place.NUMBER if byte in _NUMBER else Place.LITERAL

    def _punctuate(self, byte: int) -> None:
        if byte in _SPACE:
            if self.place is not Place.VALUE:
                self.place = Place.OTHER
        elif byte in _CLOSE:
            self._lists, self.place = self._lists[:-1], Place.OTHER
        elif byte == _COLON or (byte == _COMMA and self._lists and self._lists[-1]):
            self.place = Place.VALUE
        else:
            self.place = Place.OTHER
            self._in_name = byte == _QUOTE
