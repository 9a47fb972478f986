"""Which leaf of an answer the next byte belongs to, and what of it stands already."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, Self

Path = tuple[str | int, ...]


class Awaits(Enum):
    """What comes next."""

    VALUE = auto()  # the value at `path`
    STRING = auto()  # more of the string at `path`, or its closing quote
    SCALAR = auto()  # more of the number, true, false or null at `path`, or what follows it
    NEXT = auto()  # a comma or bracket after the value at `path`
    NAME = auto()  # a name, or the end of the object at `path`
    IN_NAME = auto()
    COLON = auto()


class Leaf(NamedTuple):
    """A leaf that is complete. text: as the answer spells it, without quotes."""

    path: Path
    text: bytes
    is_string: bool


_SPACE = b" \t\r\n"
_QUOTE, _BACKSLASH, _COMMA, _COLON = b'"\\,:'
_OPEN = {ord("{"): Awaits.NAME, ord("["): Awaits.VALUE}
_CLOSE = b"}]"


class LeafCursor:
    """Follows a JSON text byte by byte; the text is taken to be the beginning of a well-formed one."""

    __slots__ = ("_escaped", "awaits", "path", "text")

    def __init__(self) -> None:
        self.awaits = Awaits.VALUE
        self.path: Path = ()
        self.text = b""  # of the leaf or name that is being written
        self._escaped = False

    def copy(self) -> Self:
        other = self.__class__()
        other.awaits, other.path, other.text, other._escaped = self.awaits, self.path, self.text, self._escaped
        return other

    def feed(self, text: bytes) -> list[Leaf]:
        """Go on by `text`; the leaves that are complete with it."""
        leaves: list[Leaf] = []
        for byte in text:
            self._step(byte, leaves)
        return leaves

    def _step(self, byte: int, leaves: list[Leaf]) -> None:
        awaits = self.awaits
        if awaits is Awaits.STRING or awaits is Awaits.IN_NAME:
            if byte != _QUOTE or self._escaped:
                self._escaped = byte == _BACKSLASH and not self._escaped
                self.text += bytes((byte,))
            elif awaits is Awaits.STRING:
                leaves.append(Leaf(self.path, self.text, True))
                self.awaits = Awaits.NEXT
            else:
                self.path = (*self.path, self.text.decode(errors="replace"))
                self.awaits = Awaits.COLON
            return
        if awaits is Awaits.SCALAR:
            if byte not in _SPACE and byte != _COMMA and byte not in _CLOSE:
                self.text += bytes((byte,))
                return
            leaves.append(Leaf(self.path, self.text, False))
            awaits = self.awaits = Awaits.NEXT
        if byte in _SPACE:
            return
        if awaits is Awaits.VALUE and byte not in _CLOSE:
            self.text = b""
            if byte in _OPEN:
                self.awaits = _OPEN[byte]
                if self.awaits is Awaits.VALUE:
                    self.path = (*self.path, 0)
            elif byte == _QUOTE:
                self.awaits = Awaits.STRING
            else:
                self.awaits, self.text = Awaits.SCALAR, bytes((byte,))
        elif awaits is Awaits.NAME and byte == _QUOTE:
            self.awaits, self.text = Awaits.IN_NAME, b""
        elif awaits is Awaits.COLON:
            self.awaits = Awaits.VALUE
        elif awaits is Awaits.NEXT and byte == _COMMA and self.path:
            last = self.path[-1]
            self.path = (*self.path[:-1], last + 1) if isinstance(last, int) else self.path[:-1]
            self.awaits = Awaits.VALUE if isinstance(last, int) else Awaits.NAME
        elif byte in _CLOSE:
            if awaits is not Awaits.NAME:  # of an empty object: its own path stands
                self.path = self.path[:-1]
            self.awaits = Awaits.NEXT
