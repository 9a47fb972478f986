"""What a model name means: the bundled checkpoint, a folder, or one that has to be fetched first."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from forklift.checkpoint.naming import INDEX_NAME
from forklift.errors import CheckpointError, ModelNotFoundError

BUNDLED = "nano"
_REQUIRED = ("config.json", "tokenizer.json")


def resolve_model(name: str) -> Path:
    """The folder of a checkpoint, from `nano` (bundled), or the path of a folder.

    Raises ModelNotFoundError for a name that is not on this machine, CheckpointError for a folder that is no
    checkpoint; both say what to do.
    """
    if name == BUNDLED:
        folder = Path(str(resources.files("forklift"))) / BUNDLED
        _check_folder(folder)
        return folder
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        _check_folder(folder)
        return folder
    if name and folder.exists():
        raise CheckpointError(f"{name} is a file; give the folder that holds the checkpoint, perhaps {folder.parent}")
    if name == "lift" or name.startswith("lift-"):
        raise ModelNotFoundError(
            f"{name} is not on this machine, and this version does not download it: fetch the checkpoint "
            f"yourself and give its folder (--model path/to/folder), or use the bundled model, {BUNDLED}"
        )
    if _looks_like_path(name):
        raise ModelNotFoundError(f"there is no folder {name}; give an existing one, or {BUNDLED}")
    if name.count("/") == 1:
        raise ModelNotFoundError(
            f"{name} is no folder here, and this version does not download from a hub: fetch the repository "
            f"yourself and give its folder, or use the bundled model, {BUNDLED}"
        )
    raise ModelNotFoundError(f"no model is called {name!r}; known are {BUNDLED} (bundled) and folders of checkpoints")


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.endswith("/") or "\\" in name or name.count("/") > 1


def _check_folder(folder: Path) -> None:
    missing = [name for name in _REQUIRED if not (folder / name).is_file()]
    if not (folder / INDEX_NAME).is_file() and not any(folder.glob("model*.safetensors")):
        missing.append(f"model.safetensors (or {INDEX_NAME} and its files)")
    if missing:
        raise CheckpointError(f"{folder} is no checkpoint: it lacks {', '.join(missing)}")
