"""Three names for one tensor: ours (canonical), Hugging Face's and MLX's.

| ours         | Hugging Face            | MLX                     |
|--------------|-------------------------|-------------------------|
| language.*   | model.language_model.*  | language_model.model.*  |
| vision.*     | model.visual.*          | vision_tower.*          |
| lm_head.*    | lm_head.*               | language_model.lm_head.* |

What follows the prefix is the same everywhere. The layouts differ in more than names, see `tensors`.
"""

from __future__ import annotations

from enum import StrEnum

INDEX_NAME = "model.safetensors.index.json"  # says which file holds which tensor


class Layout(StrEnum):
    """Whose names a checkpoint uses."""

    HUGGING_FACE = "Hugging Face"
    MLX = "MLX"


_PREFIXES = {
    Layout.HUGGING_FACE: (
        ("language.", "model.language_model."),
        ("vision.", "model.visual."),
        ("lm_head.", "lm_head."),
    ),
    Layout.MLX: (
        ("language.", "language_model.model."),
        ("vision.", "vision_tower."),
        ("lm_head.", "language_model.lm_head."),
    ),
}


def canonical_name(stored: str) -> tuple[str, Layout] | None:
    """Our name for a stored tensor or module path, and whose name it was; None: neither layout has it."""
    for layout, prefixes in _PREFIXES.items():
        for ours, theirs in prefixes:
            # A module path may end where the prefix has its dot: `lm_head`.
            if f"{stored}.".startswith(theirs):
                return (ours + stored[len(theirs) :]).rstrip("."), layout
    return None


def stored_name(canonical: str, layout: Layout) -> str:
    """The name that `layout` gives to one of our tensors or module paths."""
    for ours, theirs in _PREFIXES[layout]:
        if f"{canonical}.".startswith(ours):
            return (theirs + canonical[len(ours) :]).rstrip(".")
    raise ValueError(f"{canonical} is no name of ours")


def is_ignored(stored: str) -> bool:
    """Tensors that some checkpoints hold and no layer here needs.

    `mtp.*`: the multi-token prediction head, used for speculative decoding only. `*.inv_freq`: rotary
    frequencies, which follow from the configuration.
    """
    return stored.startswith("mtp.") or ".mtp." in stored or stored.endswith("inv_freq")
