"""A plan as a picture: bits by layer and kind of matrix, as PNG or as a web page."""

from __future__ import annotations

import html
from pathlib import Path

from forklift.errors import UsageError
from forklift.quantize.plan import WIDTHS, Plan

# Dark is many bits; told apart in grey and by the colour-blind.
_COLOURS = {
    2: (255, 245, 200),
    3: (254, 217, 118),
    4: (253, 141, 60),
    5: (227, 74, 51),
    6: (165, 30, 60),
    8: (70, 5, 60),
}
_CELL, _MARGIN, _LABEL = 22, 12, 170


def write_picture(plan: Plan, path: Path) -> None:
    """`path` ends in .png or .html. Raises UsageError for another ending, or where it cannot be written."""
    if path.suffix not in (".png", ".html"):
        raise UsageError(f"{path}: a plan is drawn as .png or .html")
    try:
        if path.suffix == ".html":
            path.write_text(_as_html(plan), encoding="utf-8")
        else:
            _draw(plan, path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def _grid(plan: Plan) -> tuple[list[str], list[int | None], dict[tuple[str, int | None], int]]:
    """Kinds, layers (None for what stands outside of them), and the bits of each cell."""
    cells = {(planned.matrix.kind, planned.matrix.layer): planned.bits for planned in plan.matrices}
    kinds = list(dict.fromkeys(kind for kind, _ in cells))
    layers = sorted({layer for _, layer in cells if layer is not None})
    return kinds, [*layers, *([None] if any(layer is None for _, layer in cells) else [])], cells


def _title(plan: Plan) -> str:
    loss = "" if plan.loss is None else f", expected loss {plan.loss:.2e} nats per answer token"
    return f"{plan.level or 'plan'}: {plan.bits_per_weight:.3f} bits per weight, {plan.total_bytes / 1e9:.3f} GB{loss}"


def _draw(plan: Plan, path: Path) -> None:
    from PIL import Image, ImageDraw

    kinds, layers, cells = _grid(plan)
    width = max(_LABEL + _CELL * len(layers) + 2 * _MARGIN, 560)
    height = _CELL * (len(kinds) + 4) + 2 * _MARGIN
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.text((_MARGIN, _MARGIN), _title(plan), fill="black")
    top = _MARGIN + 2 * _CELL
    for column, layer in enumerate(layers):
        label = "-" if layer is None else str(layer)
        draw.text((_MARGIN + _LABEL + column * _CELL + 4, top - 14), label, fill="gray")
    for row, kind in enumerate(kinds):
        draw.text((_MARGIN, top + row * _CELL + 4), kind, fill="black")
        for column, layer in enumerate(layers):
            bits = cells.get((kind, layer))
            if bits is not None:
                _cell(draw, _MARGIN + _LABEL + column * _CELL, top + row * _CELL, bits)
    for index, bits in enumerate(WIDTHS):
        left = _MARGIN + index * 80
        _cell(draw, left, top + (len(kinds) + 1) * _CELL - 6, bits)
        draw.text((left + _CELL + 4, top + (len(kinds) + 1) * _CELL - 2), "bits", fill="black")
    image.save(path)


def _cell(draw: object, left: int, top: int, bits: int) -> None:
    from PIL import ImageDraw

    assert isinstance(draw, ImageDraw.ImageDraw)
    draw.rectangle((left, top, left + _CELL - 2, top + _CELL - 2), fill=_COLOURS[bits])
    draw.text((left + 7, top + 4), str(bits), fill="black" if bits < 5 else "white")


def _as_html(plan: Plan) -> str:
    kinds, layers, cells = _grid(plan)

    def cell(kind: str, layer: int | None) -> str:
        bits = cells.get((kind, layer))
        if bits is None:
            return "<td></td>"
        colour = "#{:02x}{:02x}{:02x}".format(*_COLOURS[bits])
        return f'<td style="background:{colour};color:{"black" if bits < 5 else "white"}">{bits}</td>'

    head = "".join(f"<th>{'-' if layer is None else layer}</th>" for layer in layers)
    body = "\n".join(
        f"<tr><th>{html.escape(kind)}</th>{''.join(cell(kind, layer) for layer in layers)}</tr>" for kind in kinds
    )
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Bits by layer</title>\n'
        "<style>body{font:14px sans-serif}td{width:22px;text-align:center}"
        "th{font-weight:normal;text-align:left}</style>\n"
        f"<h1>{html.escape(_title(plan))}</h1>\n<table><tr><th></th>{head}</tr>\n{body}\n</table>\n</html>\n"
    )
