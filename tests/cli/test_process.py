"""The command as a process of its own: exit codes, and Ctrl-C at every stage."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest
from PIL import Image

SCHEMA = '{"type": "object", "properties": {"größe": {"type": "string"}}}'

# Stands in for a model. {load} and {answer} are Python; "ready" tells the test that the stage has begun.
CHILD = """
import importlib, sys, time
pipeline = importlib.import_module("forklift.extract")
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.cli.main import main

def ready():
    sys.stderr.write("ready\\n")
    sys.stderr.flush()

class Slow(ScriptedEngine):
    def generate(self, request, statistics=None):
        ready()
        {generate}
        return super().generate(request, statistics)

def load(model, *, dtype=None):
    {load}
    return pipeline.Extractor(Slow(Answer('{{"größe": "XL"}}', seconds_per_token={seconds})))

pipeline.load = load
main()
"""


def start(
    tmp_path: Path,
    *arguments: str,
    load: str = "pass",
    generate: str = "pass",
    seconds: float = 0.0,
    stdout: int | IO[bytes] = subprocess.PIPE,
) -> subprocess.Popen[str]:
    Image.new("RGB", (60, 40), "white").save(tmp_path / "bill.png")
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            CHILD.format(load=load, generate=generate, seconds=seconds),
            "extract",
            str(tmp_path / "bill.png"),
            "-s",
            SCHEMA,
            *arguments,
        ],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )


def test_a_process_prints_data_and_exits_with_zero(tmp_path: Path) -> None:
    stdout, stderr = start(tmp_path).communicate(timeout=30)
    assert stdout == '{\n  "größe": "XL"\n}\n'
    assert stderr == "ready\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("stage", "to_folder"),
    [
        ({"seconds": 0.3}, False),  # between tokens
        ({"seconds": 0.3}, True),
        ({"generate": "time.sleep(30)"}, True),  # inside one long call, which sees no event
        ({"load": "ready(); time.sleep(30)"}, False),  # while a model is loaded or torch imported
    ],
    ids=["decoding", "decoding to a folder", "prefill to a folder", "loading"],
)
def test_ctrl_c_ends_within_a_second_with_nothing_half_written(
    tmp_path: Path, stage: dict[str, str], to_folder: bool
) -> None:
    out = tmp_path / "out"
    process = start(tmp_path, *(["--out", str(out)] if to_folder else []), **stage)  # type: ignore[arg-type]
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=10)
    assert time.monotonic() - sent < 1.0
    assert process.returncode == 130
    assert stdout == ""
    assert stderr == "forklift: interrupted\n"
    assert not to_folder or list(out.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_before_any_command_has_started_gives_no_traceback(tmp_path: Path) -> None:
    code = """
import sys, time
from forklift.cli import main as module
def slow():
    sys.stderr.write("ready\\n"); sys.stderr.flush()
    time.sleep(30)
module.build_app = slow
module.main()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=5)[1] == ""
    assert process.returncode == 130


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    process = start(tmp_path, generate="time.sleep(30)")
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    time.sleep(0.15)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert time.monotonic() - sent < 0.5
    assert process.returncode == 130


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("table", [False, True])
def test_files_that_are_done_stay_when_a_later_one_is_interrupted(tmp_path: Path, table: bool) -> None:
    Image.new("RGB", (60, 40)).save(tmp_path / "second.png")
    out = tmp_path / ("table.csv" if table else "out")
    arguments = [str(tmp_path / "second.png"), "--out", str(out), *(["--format", "csv"] if table else [])]
    process = start(tmp_path, *arguments, seconds=0.1)
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    assert "[1/2]" in process.stderr.readline()
    assert process.stderr.readline() == "ready\n"  # the second has begun
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 130
    assert stderr == (
        f"forklift: interrupted after 1 of 2 documents, which are kept in {out}; the same command goes on from there.\n"
    )
    if table:
        assert "bill.png,complete" in out.read_text(encoding="utf-8")
        assert "second.png" not in out.read_text(encoding="utf-8")
    else:
        assert sorted(path.name for path in out.iterdir()) == ["bill.json", "bill.meta.json"]
    _, stderr = start(tmp_path, *arguments).communicate(timeout=30)
    assert stderr.count("ready\n") == 1  # the first is not read again
    assert "1 extracted, 1 finished before" in stderr


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_closed_pipe_gives_no_traceback(tmp_path: Path) -> None:
    with start(tmp_path, load="time.sleep(0.3)") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        stderr = process.stderr.read()
        assert process.wait(timeout=10) == 1
    assert "Traceback" not in stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_stdout_is_reported_without_a_traceback(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full, start(tmp_path, stdout=full) as process:
        assert process.stderr is not None
        stderr = process.stderr.read()
        assert process.wait(timeout=10) == 1
    assert "stdout: cannot be written: No space left on device" in stderr
    assert "Traceback" not in stderr
