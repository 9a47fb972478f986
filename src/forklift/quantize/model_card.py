"""README.md of a quantised checkpoint: what it is, how it was made, what it costs."""

from __future__ import annotations

import re
from pathlib import Path

from forklift import __version__
from forklift.errors import UsageError
from forklift.quantize.plan import WIDTHS, Plan

_START, _END = "<!-- measured loss -->", "<!-- end of measured loss -->"


def model_card(name: str, plan: Plan, source: Path, command: str) -> str:
    """Markdown. source: folder of the checkpoint that it is made from, whose licence is passed on."""
    licence = _licence(source)
    front = ["---", f"license: {licence}" if licence else "license: other", "library_name: mlx", "tags: [mlx]", "---"]
    uniform = plan.uniform(plan.base_bits)
    rows = [
        ("weight files", f"{plan.total_bytes / 1e9:.3f} GB ({plan.total_bytes / 2**30:.3f} GiB)"),
        ("bits per weight of the quantised matrices", f"{plan.bits_per_weight:.3f}, scales and biases included"),
        ("matrices by width", _counts(plan)),
        ("vision tower", "bfloat16" if plan.vision_bits is None else f"{plan.vision_bits} bits"),
    ]
    if plan.loss is not None:
        rows.append(("expected loss", f"{plan.loss:.2e} nats per answer token (mean KL divergence from the source)"))
        rows.append(
            (
                f"expected loss of {plan.base_bits} bits everywhere",
                f"{uniform[1]:.2e}, {(plan.fixed_bytes + uniform[0]) / 1e9:.3f} GB, rounded by the same method",
            )
        )
    method = {
        "calibrated": "widths chosen by calibration, codes, scales and biases fitted to it",
        "uniform": "one width for all matrices, rounded between minimum and maximum",
    }[plan.method]
    return "\n".join(
        [
            *front,
            "",
            f"# {name}",
            "",
            f"Quantised from `{source.name}` by Forklift {__version__}: {method}. Affine groups of 64, MLX's layout; "
            "it loads in Forklift, in mlx-vlm and in whatever reads that layout.",
            "",
            "| | |",
            "|---|---|",
            *(f"| {label} | {value} |" for label, value in rows),
            "",
            _START,
            "Loss on documents: not measured yet. `forklift bench loss SOURCE THIS --card` writes it here.",
            _END,
            "",
            "Made by:",
            "",
            "```sh",
            command,
            "```",
            "",
            "The widths of all matrices stand in `forklift_plan.json`. "
            + (
                f"Licence: that of the source, {licence}."
                if licence
                else "Licence: that of the source, whose folder names none; see where you got it from."
            ),
            "",
        ]
    )


def add_measured_loss(folder: Path, text: str) -> None:
    """Put a measurement into the folder's card. Raises UsageError where it has none or cannot be written."""
    path = folder / "README.md"
    try:
        card = path.read_text(encoding="utf-8")
        before, start, rest = card.partition(_START)
        _, end, after = rest.partition(_END)
        if not (start and end):
            raise UsageError(f"{path}: is no model card of Forklift's; leave out --card")
        path.write_text(f"{before}{_START}\n{text}\n{_END}{after}", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: no measurement can be written into it: {error.strerror}") from error


def _counts(plan: Plan) -> str:
    counts = {bits: sum(planned.bits == bits for planned in plan.matrices) for bits in WIDTHS}
    return ", ".join(f"{count} of {bits} bits" for bits, count in counts.items() if count)


def _licence(source: Path) -> str:
    """As the source's own card or licence file says it; empty where neither does."""
    card = source / "README.md"
    if card.is_file():
        text = card.read_text(encoding="utf-8", errors="replace")
        front = re.match(r"---\n(.*?)\n---", text, re.S)
        stated = (
            re.search(r"^license:\s*(\S+)", front[1], re.M)
            if front
            else re.search(r"^- licen[cs]e: (\S+?)[,.]?\s", text, re.M)
        )
        if stated:
            return stated[1]
    names = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE")
    file = next((source / name for name in names if (source / name).is_file()), None)
    first = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()[:1] if file else []
    return first[0].strip() if first else ""
