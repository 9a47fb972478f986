"""Through the truth of a generated document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from training.leaf import Leaf


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every leaf with the name of its property."""
    if isinstance(tree, Leaf):
        yield name, tree
    elif isinstance(tree, list):
        for element in tree:
            yield from leaves(element, name)
    else:
        for key, element in tree.items():
            yield from leaves(element, key)
