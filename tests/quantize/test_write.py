"""Checkpoints written from a plan: format, resuming, refusals."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from forklift.checkpoint.config import ModelConfig
from forklift.checkpoint.config_reader import read_config
from forklift.checkpoint.load import load_model
from forklift.checkpoint.tensors import TensorReader, read_tensors
from forklift.errors import CheckpointError, DiskFullError, UsageError
from forklift.model.linear import Packed, dequantize
from forklift.quantize.calibration_file import read_calibration
from forklift.quantize.levels import budget_for_bits, fixed_bytes, language_matrices
from forklift.quantize.plan import Plan, make_plan, uniform_plan
from forklift.quantize.shards import Finished, StoredTensor, lay_out
from forklift.quantize.write import WritingSettings, write_checkpoint


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def reader_of(folder: Path) -> TensorReader:
    return TensorReader(folder, read_config(folder))


def plan_of(
    folder: Path, calibration_path: Path, bits_per_weight: float = 4.574, vision_bits: int | None = None
) -> Plan:
    config = read_config(folder)
    return make_plan(
        language_matrices(config),
        read_calibration(calibration_path).losses,
        budget_for_bits(config, bits_per_weight),
        fixed_bytes=fixed_bytes(config, vision_bits),
        vision_bits=vision_bits,
    )


@pytest.fixture(scope="module")
def written(checkpoint: Path, calibration_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("written") / "oq"
    write_checkpoint(
        reader_of(checkpoint), out, plan_of(checkpoint, calibration_path), read_calibration(calibration_path)
    )
    return out


def test_the_result_loads_and_has_the_planned_widths(written: Path, checkpoint: Path, calibration_path: Path) -> None:
    plan = plan_of(checkpoint, calibration_path)
    config = read_config(written)
    tensors = read_tensors(written, config)
    packed = {name.removesuffix(".weight"): t.bits for name, t in tensors.items() if isinstance(t, Packed)}
    assert packed == plan.bits
    stated = json.loads((written / "config.json").read_text())
    assert stated["quantization"] == stated["quantization_config"]
    assert stated["quantization"]["bits"] == plan.base_bits
    others = {path for path, bits in plan.bits.items() if bits != plan.base_bits}
    assert sum(isinstance(value, dict) for value in stated["quantization"].values()) == len(others)
    assert stated["forklift"]["method"] == "calibrated"
    assert stated["forklift"]["calibration"] == read_calibration(calibration_path).id
    assert stated["eos_token_id"] == [0, 2]
    load_model(written, torch.float32)


def test_the_files_are_as_large_as_the_plan_says(written: Path, checkpoint: Path, calibration_path: Path) -> None:
    plan = plan_of(checkpoint, calibration_path)
    tensors = load_file(written / "model.safetensors")
    assert sum(tensor.nbytes for tensor in tensors.values()) == plan.total_bytes
    assert plan.stored_bytes <= plan.budget_bytes
    with safe_open(written / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "mlx"}


def test_what_is_not_quantised_is_unchanged(written: Path, checkpoint: Path) -> None:
    before, after = load_file(checkpoint / "model.safetensors"), load_file(written / "model.safetensors")
    same = [name for name in before if name in after and f"{name.removesuffix('.weight')}.scales" not in after]
    assert len(same) > 20
    for name in same:
        assert torch.equal(before[name], after[name]), name


def test_quantised_weights_are_near_the_source(written: Path, small_tensors: dict[str, Tensor]) -> None:
    for name, tensor in read_tensors(written, read_config(written)).items():
        if isinstance(tensor, Packed):
            source = small_tensors[name].float()
            error = (dequantize(tensor) - source).square().mean() / source.square().mean()
            assert float(error) < {2: 0.6, 3: 0.3, 4: 0.1, 5: 0.03, 6: 0.01, 8: 0.001}[tensor.bits]


def test_the_same_again_is_the_same_byte_for_byte(
    written: Path, checkpoint: Path, calibration_path: Path, tmp_path: Path
) -> None:
    plan, calibration = plan_of(checkpoint, calibration_path), read_calibration(calibration_path)
    assert write_checkpoint(reader_of(checkpoint), tmp_path / "oq", plan, calibration)
    assert contents(tmp_path / "oq") == contents(written)
    assert not write_checkpoint(reader_of(checkpoint), tmp_path / "oq", plan, calibration)  # there already


def test_shards_stay_below_their_size_and_the_index_finds_everything(
    checkpoint: Path, calibration_path: Path, tmp_path: Path
) -> None:
    plan, calibration = plan_of(checkpoint, calibration_path, vision_bits=8), read_calibration(calibration_path)
    settings = WritingSettings(shard_bytes=40_000)
    write_checkpoint(reader_of(checkpoint), tmp_path / "oq", plan, calibration, settings)
    shards = sorted((tmp_path / "oq").glob("model-*.safetensors"))
    assert len(shards) > 3
    for held in map(load_file, shards):
        assert sum(tensor.nbytes for tensor in held.values()) < 40_000 or len(held) == 1
    tensors = read_tensors(tmp_path / "oq", read_config(tmp_path / "oq"))
    vision = [name for name, tensor in tensors.items() if name.startswith("vision.") and isinstance(tensor, Packed)]
    assert "vision.blocks.0.attn.qkv.weight" in vision
    load_model(tmp_path / "oq", torch.float32)


def test_without_a_calibration_it_is_plain_and_says_so(
    checkpoint: Path, tmp_path: Path, small_config: ModelConfig
) -> None:
    plan = uniform_plan(language_matrices(small_config), budget_for_bits(small_config, 5.5))
    write_checkpoint(reader_of(checkpoint), tmp_path / "plain", plan)
    stated = json.loads((tmp_path / "plain" / "config.json").read_text())
    assert stated["quantization"] == {"group_size": 64, "bits": 5, "mode": "affine"}
    assert (stated["forklift"]["method"], stated["forklift"]["rounding"]) == ("uniform", "min/max")


def test_a_conversion_keeps_every_weight(checkpoint: Path, tmp_path: Path) -> None:
    write_checkpoint(reader_of(checkpoint), tmp_path / "bf16", None)
    before, after = load_file(checkpoint / "model.safetensors"), load_file(tmp_path / "bf16" / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    stated = json.loads((tmp_path / "bf16" / "config.json").read_text())
    assert "quantization" not in stated
    assert (tmp_path / "bf16" / "tokenizer.json").read_bytes() == (checkpoint / "tokenizer.json").read_bytes()


_RUN = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from tests.quantize.test_write import plan_of, reader_of
from forklift.quantize import write
from forklift.quantize.calibration_file import read_calibration
checkpoint, calibration, out = map(Path, sys.argv[1:4])
def slow(done, total, label):
    print(label, flush=True)
write.write_checkpoint(
    reader_of(checkpoint), out, plan_of(checkpoint, calibration), read_calibration(calibration),
    write.WritingSettings(flush_seconds=0.0), slow,
)
print("finished", flush=True)
"""


@pytest.mark.slow
def test_killed_at_random_moments_the_rerun_gives_the_same_bytes(
    written: Path, checkpoint: Path, calibration_path: Path, tmp_path: Path
) -> None:
    out, random = tmp_path / "oq", Random(1)
    root = Path(__file__).parents[2]
    resumed = 0
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", _RUN, str(checkpoint), str(calibration_path), str(out)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"},
        )
        assert process.stdout is not None
        for _ in range(random.randint(1, 12)):  # tensors begun
            process.stdout.readline()
        time.sleep(random.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not out.exists()
        resumed = len((tmp_path / "oq.partial" / "finished.txt").read_text().splitlines()) - 1
    assert resumed > 0
    steps: list[str] = []
    write_checkpoint(
        reader_of(checkpoint),
        out,
        plan_of(checkpoint, calibration_path),
        read_calibration(calibration_path),
        on_step=lambda done, total, label: steps.append(label),
    )
    assert contents(out) == contents(written)
    assert len(steps) == len(reader_of(checkpoint).shapes) - resumed + 1
    assert not (tmp_path / "oq.partial").exists()


def test_an_interruption_between_any_two_tensors_changes_nothing(
    written: Path, checkpoint: Path, calibration_path: Path, tmp_path: Path
) -> None:
    class Stop(Exception):
        pass

    plan, calibration = plan_of(checkpoint, calibration_path), read_calibration(calibration_path)
    seen: list[str] = []

    def stop_each_time(done: float, total: float, label: str) -> None:
        if label not in seen:
            seen.append(label)
            if len(seen) % 7 == 0:
                raise Stop

    out, settings = tmp_path / "oq", WritingSettings(flush_seconds=0.0)
    for _ in range(40):
        try:
            write_checkpoint(reader_of(checkpoint), out, plan, calibration, settings, stop_each_time)
            break
        except Stop:
            assert not out.exists()
    assert contents(out) == contents(written)
    assert len(seen) == len(reader_of(checkpoint).shapes) + 1


def test_another_recipe_starts_anew(written: Path, checkpoint: Path, calibration_path: Path, tmp_path: Path) -> None:
    def stop(done: float, total: float, label: str) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    calibration, out = read_calibration(calibration_path), tmp_path / "oq"
    settings = WritingSettings(flush_seconds=0.0)
    with pytest.raises(KeyboardInterrupt):
        write_checkpoint(
            reader_of(checkpoint), out, plan_of(checkpoint, calibration_path, 3), calibration, settings, stop
        )
    write_checkpoint(reader_of(checkpoint), out, plan_of(checkpoint, calibration_path), calibration)
    assert contents(out) == contents(written)


# Refusals


def test_a_folder_of_something_else_is_not_touched(checkpoint: Path, calibration_path: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text('{"forklift": null}')
    with pytest.raises(UsageError, match="exists and is something else"):
        write_checkpoint(reader_of(checkpoint), tmp_path / "mine", None)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["config.json"]


def test_a_quantised_source_is_refused(written: Path) -> None:
    with pytest.raises(CheckpointError, match="quantised already"):
        reader_of(written)


@pytest.mark.parametrize("name", ["layers.0.mlp.down_proj.weight", "layers.1.input_layernorm.weight"])
def test_nan_is_refused_by_name_and_leaves_no_folder(
    checkpoint: Path, calibration_path: Path, tmp_path: Path, name: str
) -> None:
    tensors = load_file(checkpoint / "model.safetensors")
    tensors[f"language_model.model.{name}"].view(-1)[5] = float("nan")
    broken = tmp_path / "broken"
    shutil.copytree(checkpoint, broken)
    save_file(tensors, broken / "model.safetensors")
    with pytest.raises(CheckpointError, match=f"language.{name} holds NaN"):
        write_checkpoint(reader_of(broken), tmp_path / "oq", plan_of(checkpoint, calibration_path))
    assert not (tmp_path / "oq").exists()


def test_a_calibration_of_another_model_is_refused(
    tied_checkpoint: Path, calibration_path: Path, tmp_path: Path
) -> None:
    config = read_config(tied_checkpoint)
    plan = uniform_plan(language_matrices(config), 10**9)
    with pytest.raises(UsageError, match="another model"):
        write_checkpoint(reader_of(tied_checkpoint), tmp_path / "oq", plan, read_calibration(calibration_path))


def test_a_disk_without_room_is_said_before_anything_is_written(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 1000))  # type: ignore[attr-defined]
    with pytest.raises(DiskFullError, match="1,000 free"):
        write_checkpoint(reader_of(checkpoint), tmp_path / "bf16", None)
    assert not (tmp_path / "bf16").exists()


def test_a_disk_that_fills_up_keeps_what_is_written(
    written: Path, checkpoint: Path, calibration_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, calibration = plan_of(checkpoint, calibration_path), read_calibration(calibration_path)
    real, calls = os.pwrite, 0

    def fails_once(descriptor: int, content: bytes, offset: int) -> int:
        nonlocal calls
        calls += 1
        if calls == 30:
            raise OSError(28, "No space left on device")
        return real(descriptor, content, offset)

    monkeypatch.setattr(os, "pwrite", fails_once)
    with pytest.raises(DiskFullError, match="No space left"):
        write_checkpoint(reader_of(checkpoint), tmp_path / "oq", plan, calibration, WritingSettings(flush_seconds=0.0))
    assert not (tmp_path / "oq").exists()
    write_checkpoint(reader_of(checkpoint), tmp_path / "oq", plan, calibration)
    assert contents(tmp_path / "oq") == contents(written)


# Parts


def test_a_file_is_what_safetensors_reads(tmp_path: Path) -> None:
    tensors = [
        StoredTensor("b", torch.bfloat16, (3,), "x"),
        StoredTensor("a", torch.uint32, (2, 2), "x"),
        StoredTensor("c", torch.float32, (1,), "y"),
    ]
    (shard,) = lay_out(tensors, 1000)
    path = tmp_path / shard.file_name
    path.write_bytes(shard.header + bytes(shard.size - len(shard.header)))
    held = load_file(path)
    assert {name: (t.dtype, tuple(t.shape)) for name, t in held.items()} == {
        t.name: (t.dtype, t.shape) for t in tensors
    }
    assert shard.offsets["a"] % 4 == shard.offsets["c"] % 4 == 0


def test_a_torn_line_of_the_list_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "finished.txt"
    Finished(path, "recipe").add(["one", "two"])
    path.write_text(path.read_text() + "thr")
    again = Finished(path, "recipe")
    assert (again.fresh, again.names) == (False, {"one", "two"})
    again.add(["three"])
    assert Finished(path, "recipe").names == {"one", "two", "three"}
    assert Finished(path, "another").names == set()
