"""Where a run keeps its log and the state that it resumes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class RunFolder:
    """`log.txt` is appended to; `state.pt` is replaced whole, so that a run killed while saving still resumes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._state = folder / "state.pt"
        self._log = (folder / "log.txt").open("a")

    def load(self) -> dict[str, Any] | None:
        """What was saved last, if anything."""
        import torch

        return torch.load(self._state, weights_only=False) if self._state.exists() else None

    def save(self, state: dict[str, Any]) -> None:
        import torch

        temporary = self._state.with_suffix(".tmp")
        torch.save(state, temporary)
        temporary.replace(self._state)

    def say(self, text: str) -> None:
        """A line for the terminal and the log."""
        print(text, flush=True)
        self._log.write(text + "\n")
        self._log.flush()
