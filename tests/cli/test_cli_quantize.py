"""`forklift calibrate`, `quantize`, `convert` and `bench loss` as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from forklift.cli.main import build_app
from forklift.quantize.calibration_file import read_calibration
from forklift.quantize.levels import LEVELS
from tests.quantize.conftest import (  # noqa: F401 - fixtures
    calibration_path,
    checkpoint,
    documents,
    small_config,
    small_tensors,
)


def run(*words: object) -> Result:
    return CliRunner().invoke(build_app(), [str(word) for word in words])


def test_from_a_model_to_a_measured_checkpoint(checkpoint: Path, documents: Path, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "oq4"
    done = run("quantize", checkpoint, out, "--level", "oq4", "-d", documents)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "oq4.calibration.safetensors").is_file()
    assert "forklift quantize small oq4 --level oQ4" in (out / "README.md").read_text()
    again = run("quantize", checkpoint, out, "--level", "oQ4")
    assert (again.exit_code, "there already" in again.stderr) == (0, True)
    other = run("quantize", checkpoint, out, "--level", "oQ3")
    assert (other.exit_code, "something else" in other.stderr) == (2, True)

    figures = tmp_path / "loss.json"
    measured = run("bench", "loss", checkpoint, out, checkpoint, "-d", documents, "--json", figures)
    assert measured.exit_code == 0, measured.stderr
    quantised, same = json.loads(figures.read_text())["others"]
    assert quantised["mean_kl"] > 0
    assert quantised["mean_kl"] >= quantised["median_kl"]
    assert (same["mean_kl"], same["top1_agreement"], same["perplexity_ratio"]) == (0, 1, 1)
    assert run("bench", "loss", checkpoint, out, "-d", documents, "--card").exit_code == 0
    card = (out / "README.md").read_text()
    assert f"{quantised['mean_kl']:.2e}" in card
    assert "not measured yet" not in card
    assert run("quantize", out, tmp_path / "twice", "--level", "oQ3", "--uniform").exit_code == 3


def test_made_up_documents_serve_where_none_are_given(checkpoint: Path, tmp_path: Path) -> None:  # noqa: F811
    pytest.importorskip("reportlab")
    path = tmp_path / "c.safetensors"
    done = run("calibrate", checkpoint, "-o", path, "--samples", "1")
    assert done.exit_code == 0, done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.safetensors"]
    assert read_calibration(path).facts["samples"] == 1


def test_a_plan_alone_writes_no_weights(checkpoint: Path, calibration_path: Path, tmp_path: Path) -> None:  # noqa: F811
    done = run(
        "quantize", checkpoint, tmp_path / "x", "--level", "all", "--calibration", calibration_path, "--plan-only"
    )
    assert done.exit_code == 0, done.stderr
    endings = (".json", ".png", ".html")
    assert {path.name for path in tmp_path.iterdir()} == {f"x-{n}.plan{e}" for n in LEVELS for e in endings}
    losses = [json.loads((tmp_path / f"x-{name}.plan.json").read_text())["expected_loss"] for name in LEVELS]
    assert losses == sorted(losses)
    assert done.stdout.count("language.layers.1.mlp.down_proj") == len(LEVELS)


def test_all_levels_get_a_folder_each(checkpoint: Path, calibration_path: Path, tmp_path: Path) -> None:  # noqa: F811
    done = run("quantize", checkpoint, tmp_path / "all", "--level", "all", "--calibration", calibration_path)
    assert done.exit_code == 0, done.stderr
    sizes = [(tmp_path / "all" / name / "model.safetensors").stat().st_size for name in LEVELS]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(LEVELS)


def test_a_size_is_not_exceeded_by_the_files(checkpoint: Path, calibration_path: Path, tmp_path: Path) -> None:  # noqa: F811
    options = ("--size", "650kB", "--calibration", calibration_path)
    assert run("quantize", checkpoint, tmp_path / "sized", *options).exit_code == 0
    assert 560_000 < (tmp_path / "sized" / "model.safetensors").stat().st_size <= 650_000


def test_a_conversion_is_a_checkpoint(checkpoint: Path, tmp_path: Path) -> None:  # noqa: F811
    assert run("convert", checkpoint, tmp_path / "bf16").exit_code == 0
    assert (tmp_path / "bf16" / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("quantize", "nano", "x"), "one of --level, --bits-per-weight and --size"),
        (("quantize", "nano", "x", "--level", "oQ4", "--size", "6GB"), "not 2"),
        (("quantize", "nano", "x", "--level", "oQ7"), "oQ6, oQ5"),
        (("quantize", "nano", "x", "--size", "1MB", "--uniform"), "at least"),
        (("quantize", "nano", "x", "--size", "big"), "6GB"),
        (("quantize", "nano", "x", "--bits-per-weight", "1", "--uniform"), "2.5 to 8.5"),
        (("quantize", "nano", "x", "--level", "oQ4", "--uniform", "--calibration", "c"), "exclude"),
        (("quantize", "nano", "x", "--level", "oQ4", "--vision-bits", "7"), "use 8"),
        (("quantize", "nano", "x", "--level", "oQ4", "--calibration", "none.safetensors"), "forklift calibrate"),
        (("calibrate", "nano", "-o", "no/such/folder/c.safetensors"), "does not exist"),
        (("calibrate", "nano", "-o", "c.safetensors", "-d", "no-such-folder"), "no such folder"),
    ],
)
def test_wrong_usage_is_said_with_the_way_out(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    words = tuple(str(tmp_path / word) if word in ("x", "c.safetensors") else word for word in words)
    done = run(*words)
    assert done.exit_code == 2, done.stderr
    assert said in " ".join(done.stderr.split())
    assert [path for path in tmp_path.iterdir() if not path.name.endswith(".partial")] == []
