"""What a checkpoint says to Forklift alone: the object "forklift" in its generation_config.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forklift.checkpoint.config_reader import read_json
from forklift.errors import CheckpointError


def own_setting(folder: Path, name: str) -> tuple[Any, Path]:
    """The setting `name`, None where the checkpoint does not state it, and the file to name in errors.

    Raises CheckpointError for a file that cannot be read, or in which "forklift" is no object.
    """
    path = folder / "generation_config.json"
    if not path.is_file():
        return None, path
    own = read_json(path).get("forklift") or {}
    if not isinstance(own, dict):
        raise CheckpointError(f'{path}: "forklift" holds a JSON {type(own).__name__}, not an object')
    return own.get(name), path
