"""What a model name means, and what is said of one that means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklift.checkpoint.catalog import resolve_model
from forklift.errors import CheckpointError, ModelNotFoundError


def test_a_folder_means_itself(mlx_folder: Path) -> None:
    assert resolve_model(str(mlx_folder)) == mlx_folder


def test_nano_is_bundled_or_says_what_it_lacks() -> None:
    import forklift

    folder = Path(forklift.__file__).parent / "nano"
    if (folder / "config.json").exists():
        assert resolve_model("nano") == folder
    else:
        with pytest.raises(CheckpointError, match=r"nano is no checkpoint: it lacks config\.json"):
            resolve_model("nano")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lift", "lift is not on this machine.*give its folder.*nano"),
        ("lift-oQ4", "lift-oQ4 is not on this machine.*give its folder.*nano"),
        ("some-maker/lift-9b", "no folder here.*does not download from a hub.*give its folder"),
        ("./models/lift", "there is no folder ./models/lift"),
        ("/no/such/folder", "there is no folder /no/such/folder"),
        ("nanno", "no model is called 'nanno'; known are nano"),
        ("", "no model is called ''"),
    ],
)
def test_a_name_that_is_not_here_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelNotFoundError, match=message) as caught:
        resolve_model(name)
    assert caught.value.exit_code == 3


def test_a_folder_that_is_no_checkpoint_lists_what_it_lacks(mlx_folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(CheckpointError, match=r"lacks config.json, tokenizer.json, model.safetensors"):
        resolve_model(str(empty))
    (mlx_folder / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"lacks tokenizer\.json$"):
        resolve_model(str(mlx_folder))


def test_a_file_is_answered_with_its_folder(mlx_folder: Path) -> None:
    with pytest.raises(CheckpointError, match=f"is a file; give the folder .*{mlx_folder.name}"):
        resolve_model(str(mlx_folder / "model.safetensors"))
