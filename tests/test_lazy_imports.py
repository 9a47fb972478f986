"""`import forklift` and `forklift --help` must not pay for what only a model needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "mlx", "mlx_vlm", "transformers")


def heavy_modules_after(code: str) -> list[str]:
    """The heavy packages that a fresh interpreter has loaded after running `code`."""
    report = f"import sys, json; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def test_the_probe_sees_a_heavy_module() -> None:
    # Without this, a broken probe would make every test below pass.
    assert heavy_modules_after("import torch") == ["torch"]


def test_importing_the_package_loads_no_heavy_module() -> None:
    assert heavy_modules_after("import forklift; forklift.__version__; forklift.Result; forklift.Field") == []


@pytest.mark.parametrize(
    "module",
    [
        "forklift.errors",
        "forklift.results",
        "forklift.schema",
        "forklift.documents",
        "forklift.engines.base",
        "forklift.annotate",
        "forklift.batch",
        "forklift.checkpoint.catalog",
        "forklift.checkpoint.config_reader",
        "forklift.quantize.levels",
        "forklift.quantize.plan",
        "forklift.quantize.plan_picture",
    ],
)
def test_modules_below_the_model_load_no_heavy_module(module: str) -> None:
    assert heavy_modules_after(f"import {module}") == []


def test_the_public_functions_are_found_without_a_heavy_module() -> None:
    assert heavy_modules_after("import forklift; assert callable(forklift.extract), forklift.extract") == []
    assert heavy_modules_after("import forklift; assert callable(forklift.load), forklift.load") == []


def test_importing_the_submodule_leaves_the_function_in_its_place() -> None:
    heavy_modules_after("from forklift.extract import load; import forklift; assert callable(forklift.extract)")


def test_help_loads_no_heavy_module() -> None:
    code = """
import sys
from forklift.cli.main import main
sys.argv = ["forklift", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert heavy_modules_after(code) == []


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    import forklift

    with pytest.raises(AttributeError, match="no attribute 'extrude'"):
        forklift.extrude  # noqa: B018
    assert {"extract", "load", "Result", "Field", "__version__"} <= set(dir(forklift))
