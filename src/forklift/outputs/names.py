"""Which name each input's outputs bear: never shared, and the same whatever other inputs a run has."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from forklift.inputs import DOCUMENT_SUFFIXES, Input, is_document

LONGEST_NAME = 180  # bytes; file systems hold 255, and suffixes such as ".page-12.png" come on top


class OutputNames:
    """Gives "sub/bill" for the input sub/bill.pdf, to which each output adds its own suffix.

    - "bill" becomes "bill.pdf" when another document in its folder has the same stem (bill.png), read or not.
    - "-" and 8 hex digits of the hash of the input's full path are added when the other one differs in capitals
      alone, when the name belongs to another input, when it is so long that it has to be cut, and when it ends in
      ".meta", as the record of another would.
    belongs_to_another: whether outputs of that name exist already that are some other input's.
    """

    def __init__(self, belongs_to_another: Callable[[PurePosixPath, Input], bool]) -> None:
        self._belongs_to_another = belongs_to_another
        self._claimed: dict[str, Path] = {}  # by name without capitals, for file systems that ignore them
        self._folders: dict[Path, dict[str, list[str]]] = {}

    def of(self, item: Input) -> PurePosixPath:
        """The name for `item`, below the output folder and without a suffix."""
        mark = "-" + hashlib.sha256(os.path.abspath(item.path).encode(errors="surrogateescape")).hexdigest()[:8]
        twins = self._twins(item.path)
        name = item.path.name if twins else item.path.stem
        short = _cut(name)
        marked = item.place.with_name(short + mark)
        plain = item.place.with_name(short)
        folded = item.path.name.casefold()
        must_mark = (
            short != name or name.casefold().endswith(".meta") or any(twin.casefold() == folded for twin in twins)
        )
        for candidate in (marked,) if must_mark else (plain, marked):
            key = str(candidate).casefold()
            owner = self._claimed.get(key)
            if owner == item.path or (owner is None and not self._belongs_to_another(candidate, item)):
                self._claimed[key] = item.path
                return candidate
        self._claimed[str(marked).casefold()] = item.path
        return marked

    def _twins(self, path: Path) -> list[str]:
        """Other documents in the input's folder with the same stem."""
        folder = path.parent
        if folder not in self._folders:
            stems: dict[str, list[str]] = {}
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            for name in names:
                if not name.startswith("."):
                    stems.setdefault(Path(name).stem.casefold(), []).append(name)
            self._folders[folder] = {stem: same for stem, same in stems.items() if len(same) > 1}
        same = self._folders[folder].get(path.stem.casefold(), [])
        return [
            name
            for name in same
            if name != path.name and (Path(name).suffix.lower() in DOCUMENT_SUFFIXES or is_document(folder / name))
        ]


def _cut(name: str) -> str:
    encoded = name.encode(errors="surrogateescape")
    if len(encoded) <= LONGEST_NAME:
        return name
    return encoded[:LONGEST_NAME].decode(errors="ignore")
