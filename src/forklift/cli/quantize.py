"""`forklift quantize`: a checkpoint of the size you want, at the least loss."""

from __future__ import annotations

import shlex
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forklift.cli import output as stdout
from forklift.cli.calibrate import (
    AnswersFrom,
    CalibrationJob,
    Device,
    DocumentsFolder,
    SchemaName,
    chosen_device,
    interruptible,
    run_calibration,
)
from forklift.cli.console import reported_errors, say
from forklift.cli.interrupt import Interrupted
from forklift.cli.steps import StepBar
from forklift.errors import UsageError

if TYPE_CHECKING:
    from forklift.checkpoint.config import ModelConfig
    from forklift.quantize.plan import Plan


@dataclass(frozen=True)
class _Job:
    model: str
    out: Path
    levels: tuple[str, ...]  # names; empty for a budget without one
    bits_per_weight: float | None
    size: int | None
    calibration: Path | None
    uniform: bool
    vision_bits: int | None
    plan_only: bool
    calibrating: CalibrationJob


def quantize(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="nano, or a checkpoint's folder.", show_default=False)],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.", show_default=False)],
    level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="oQ8, oQ6, oQ5, oQ4, oQ3.5, oQ3; or all, into OUT/LEVEL.")
    ] = None,
    bits_per_weight: Annotated[
        float | None, typer.Option(metavar="X", help="Instead of a level: 2.5 to 8.5, scales and biases included.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="SIZE", help="Instead of a level: of the files, as 6GB.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="From forklift calibrate; made first if not given.")
    ] = None,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="The same width everywhere, plainly rounded; no calibration.")
    ] = False,
    vision_bits: Annotated[int | None, typer.Option(metavar="8", help="Quantise the vision tower too.")] = None,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Print the plan; write OUT.plan.json, .png and .html, no weights.")
    ] = False,
    documents: DocumentsFolder = None,
    schema: SchemaName = None,
    samples: Annotated[int, typer.Option(min=1, help="Documents to calibrate on.")] = 32,
    answers_from: AnswersFrom = None,
    device: Device = None,
) -> None:
    """Write a quantised checkpoint that Forklift, mlx-vlm and others load.

    Interrupted, the same command goes on where it stood; OUT appears when it is whole.
    """
    with reported_errors():
        job = _parse(
            model,
            out,
            level,
            bits_per_weight,
            size,
            calibration,
            uniform,
            vision_bits,
            plan_only,
            CalibrationJob(documents, schema, samples, answers_from, device=device),
        )
        with StepBar() as bar:
            report = interruptible(lambda cancel: _quantize(job, bar, cancel), bar)
        if report:
            stdout.write_stdout(report.encode())


def _parse(
    model: str,
    out: Path,
    level: str | None,
    bits_per_weight: float | None,
    size: str | None,
    calibration: Path | None,
    uniform: bool,
    vision_bits: int | None,
    plan_only: bool,
    calibrating: CalibrationJob,
) -> _Job:
    from forklift.checkpoint.config import QUANTIZATION_BITS
    from forklift.quantize.levels import LEVELS, parse_size

    given = [
        name for name, value in (("--level", level), ("--bits-per-weight", bits_per_weight), ("--size", size)) if value
    ]
    if len(given) != 1:
        raise UsageError(
            f"say how large it is to be with one of --level, --bits-per-weight and --size, not {len(given)}"
        )
    levels: tuple[str, ...] = ()
    if level is not None:
        known = {name.lower(): name for name in LEVELS}
        if level.lower() not in (*known, "all"):
            raise UsageError(f"--level {level}: the levels are {', '.join(LEVELS)} and all")
        levels = tuple(LEVELS) if level.lower() == "all" else (known[level.lower()],)
    if uniform and calibration is not None:
        raise UsageError("--uniform and --calibration exclude each other")
    if vision_bits is not None and vision_bits not in QUANTIZATION_BITS:
        raise UsageError(f"--vision-bits {vision_bits}: the widths are {', '.join(map(str, QUANTIZATION_BITS))}; use 8")
    size_bytes = None if size is None else parse_size(size)
    return _Job(
        model, out, levels, bits_per_weight, size_bytes, calibration, uniform, vision_bits, plan_only, calibrating
    )


def _quantize(job: _Job, bar: StepBar, cancel: threading.Event) -> str:
    """Returns what is to be printed."""
    from forklift.checkpoint.catalog import resolve_model
    from forklift.checkpoint.config_reader import read_config

    folder = resolve_model(job.model)
    config = read_config(folder)
    budgets = _budgets(job, config)
    bar.show(0, 1, "loading")
    from forklift.checkpoint.tensors import TensorReader
    from forklift.quantize.calibration_file import Calibration, read_calibration
    from forklift.quantize.fingerprint import model_fingerprint
    from forklift.quantize.model_card import model_card
    from forklift.quantize.plan import write_plan
    from forklift.quantize.plan_picture import write_picture
    from forklift.quantize.write import WritingSettings, write_checkpoint

    reader = TensorReader(folder, config)
    calibration: Calibration | None = None
    if not job.uniform:
        path = job.calibration or job.out.with_name(f"{job.out.name}.calibration.safetensors")
        if job.calibration is None and not path.exists():
            run_calibration(job.model, path, job.calibrating, bar, cancel)
        calibration = read_calibration(path)
        calibration.check_model(model_fingerprint(reader))
    reports = []
    for name, budget in budgets.items():
        plan = _plan(job, config, name, budget, calibration)
        target = job.out / name if len(budgets) > 1 else job.out
        reports.append(plan_text(plan))
        if job.plan_only:
            base = job.out.with_name(f"{job.out.name}-{name}.plan" if len(budgets) > 1 else f"{job.out.name}.plan")
            write_plan(plan, base.with_name(f"{base.name}.json"))
            write_picture(plan, base.with_name(f"{base.name}.png"))
            write_picture(plan, base.with_name(f"{base.name}.html"))
            continue

        def on_step(done: float, total: float, label: str, prefix: str = name) -> None:
            if cancel.is_set():
                raise Interrupted
            bar.show(done, total, f"{prefix} {label}".strip())

        card = model_card(f"{folder.name}-{name}" if name else target.name, plan, folder, _command(job, name))
        target.parent.mkdir(parents=True, exist_ok=True)
        settings = WritingSettings(device=chosen_device(job.calibrating.device), extra={"README.md": card})
        if write_checkpoint(reader, target, plan, calibration, settings, on_step):
            say(f"{target} is complete: {plan.total_bytes:,} bytes, {plan.bits_per_weight:.3f} bits per weight")
        else:
            say(f"{target} is there already, made by the same recipe")
    return "\n".join(reports) if job.plan_only else ""


def _budgets(job: _Job, config: ModelConfig) -> dict[str, int]:
    """Bytes of the language matrices by name of the level; "" where the budget has none."""
    from forklift.quantize.levels import LEVELS, budget_for_bits, budget_for_size

    if job.levels:
        return {name: budget_for_bits(config, LEVELS[name].bits_per_weight) for name in job.levels}
    if job.bits_per_weight is not None:
        return {"": budget_for_bits(config, job.bits_per_weight)}
    assert job.size is not None
    return {"": budget_for_size(config, job.size, job.vision_bits)}


def _plan(job: _Job, config: ModelConfig, name: str, budget: int, calibration: Any) -> Plan:
    from forklift.quantize.levels import fixed_bytes, language_matrices
    from forklift.quantize.plan import make_plan, uniform_plan

    matrices = language_matrices(config)
    fixed = fixed_bytes(config, job.vision_bits)
    if calibration is None:
        return uniform_plan(matrices, budget, fixed_bytes=fixed, level=name, vision_bits=job.vision_bits)
    return make_plan(
        matrices,
        calibration.losses,
        budget,
        fixed_bytes=fixed,
        level=name,
        calibration=calibration.id,
        vision_bits=job.vision_bits,
    )


def _command(job: _Job, name: str) -> str:
    """How to make it again, without the names of this machine's folders."""
    words = ["forklift", "quantize", Path(job.model).name, job.out.name]
    if name:
        words += ["--level", name]
    elif job.bits_per_weight is not None:
        words += ["--bits-per-weight", f"{job.bits_per_weight:g}"]
    else:
        words += ["--size", str(job.size)]
    if job.uniform:
        words.append("--uniform")
    if job.vision_bits is not None:
        words += ["--vision-bits", str(job.vision_bits)]
    return shlex.join(words)


def plan_text(plan: Plan) -> str:
    """A plan for people: totals, uniform widths beside it, and the width of each matrix."""
    from forklift.quantize.plan import WIDTHS

    def loss(value: float | None) -> str:
        return "not measured" if value is None else f"{value:.3e}"

    lines = [
        f"{plan.level or 'plan'}: {plan.bits_per_weight:.3f} bits per weight, {plan.total_bytes:,} bytes "
        f"({plan.total_bytes / 2**30:.3f} GiB), expected loss {loss(plan.loss)} nats per answer token",
        "",
        "the same width everywhere, rounded by the same method:",
    ]
    for bits in WIDTHS:
        stored, expected = plan.uniform(bits)
        lines.append(f"  {bits} bits  {plan.fixed_bytes + stored:>16,} bytes  expected loss {loss(expected)}")
    lines += ["", f"{'bits':>4}  {'bytes':>13}  {'expected loss':>13}  matrix"]
    for planned in plan.matrices:
        lines.append(f"{planned.bits:>4}  {planned.stored_bytes:>13,}  {loss(planned.loss):>13}  {planned.matrix.path}")
    return "\n".join(lines) + "\n"
