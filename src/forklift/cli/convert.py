"""`forklift convert`: a checkpoint of Hugging Face's layout in bfloat16 and MLX's."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer

from forklift.cli.calibrate import interruptible
from forklift.cli.console import reported_errors, say
from forklift.cli.interrupt import Interrupted
from forklift.cli.steps import StepBar


def convert(
    source: Annotated[
        str, typer.Argument(metavar="HF_DIR", help="Folder of the checkpoint to convert.", show_default=False)
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.", show_default=False)],
) -> None:
    """Rewrite a checkpoint in bfloat16 and MLX's layout.

    Both end tokens are named, multi-token prediction is left out. Interrupted, the same command goes on.
    """
    with reported_errors(), StepBar() as bar:
        fresh = interruptible(lambda cancel: _convert(source, out, bar, cancel), bar)
        bar.stop()
        say(f"{out} is complete" if fresh else f"{out} is there already, made by the same recipe")


def _convert(source: str, out: Path, bar: StepBar, cancel: threading.Event) -> bool:
    from forklift.checkpoint.catalog import resolve_model
    from forklift.checkpoint.config_reader import read_config

    folder = resolve_model(source)
    config = read_config(folder)
    bar.show(0, 1, "loading")
    from forklift.checkpoint.tensors import TensorReader
    from forklift.quantize.write import write_checkpoint

    def on_step(done: float, total: float, label: str) -> None:
        if cancel.is_set():
            raise Interrupted
        bar.show(done, total, label)

    return write_checkpoint(TensorReader(folder, config), out, None, on_step=on_step)
