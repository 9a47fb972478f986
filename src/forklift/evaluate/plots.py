"""Plots as inline SVG: they take their colours from the page, so that one drawing serves light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_WIDTH = 760
_LABEL = 300  # of the column of names
_VALUE = 60  # of the column of figures
_LABEL_CHARACTERS = 44


def bars(rows: Sequence[tuple[str, Sequence[float | None]]], *, title: str) -> str:
    """Horizontal bars from 0 to 1, for each row one for every series. rows: (name, shares)."""
    series = max((len(shares) for _, shares in rows), default=1)
    thickness = 14 if series == 1 else 9
    step = thickness * series + 10
    height = step * len(rows) + 26
    room = _WIDTH - _LABEL - _VALUE * series
    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = _LABEL + room * tick
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="4" x2="{x:.1f}" y2="{height - 20}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 5}" text-anchor="middle">{100 * tick:.0f} %</text>')
    for index, (name, shares) in enumerate(rows):
        top = 6 + step * index
        middle = top + thickness * series / 2 + 4
        parts.append(
            f'<text x="{_LABEL - 8}" y="{middle:.1f}" text-anchor="end">{escape(_shortened(name))}'
            f"<title>{escape(name)}</title></text>"
        )
        for number, share in enumerate(shares):
            if share is None:
                continue
            y = top + thickness * number
            parts.append(
                f'<rect class="series{number}" x="{_LABEL}" y="{y}" width="{max(room * share, 1):.1f}" '
                f'height="{thickness - 2}" rx="2"><title>{escape(name)}: {100 * share:.1f} %</title></rect>'
            )
        figures = [f"{100 * share:.1f}" if share is not None else "-" for share in shares]
        for number, figure in enumerate(figures):
            x = _WIDTH - _VALUE * (series - number - 1) - 4
            parts.append(f'<text class="figure" x="{x}" y="{middle:.1f}" text-anchor="end">{figure}</text>')
    return _svg(_WIDTH, height, title, parts)


def reliability(bins: Sequence[Mapping[str, Any]], *, title: str) -> str:
    """Share of right values against mean confidence, a dot for each tenth, larger where there are more values."""
    side, left, top = 300, 46, 10
    most = max((one["values"] for one in bins), default=1)
    parts = _square(side, left, top, "confidence", "share of values right")
    parts.append(f'<line class="ideal" x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}"/>')
    for one in bins:
        share = one["correct"] / one["values"]
        radius = 3 + 9 * (one["values"] / most) ** 0.5
        words = f"confidence {one['mean_confidence']:.2f}: {one['correct']} of {one['values']} right"
        parts.append(
            f'<circle class="dot" cx="{left + side * one["mean_confidence"]:.1f}" cy="{top + side * (1 - share):.1f}" '
            f'r="{radius:.1f}"><title>{words}</title></circle>'
        )
    return _svg(left + side + 14, top + side + 44, title, parts)


def pages_against_accuracy(points: Sequence[tuple[int, float, str]], *, title: str) -> str:
    """One dot a document. points: (pages, share of fields right, name)."""
    side, left, top = 300, 46, 10
    most = max((pages for pages, _, _ in points), default=1)
    parts = _square(side, left, top, "pages", "share of fields right", ticks=_page_ticks(most), scale=most + 1)
    for pages, share, name in points:
        x, y = left + side * pages / (most + 1), top + side * (1 - share)
        words = f"{escape(name)}: {pages} pages, {100 * share:.1f} %"
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{words}</title></circle>')
    return _svg(left + side + 14, top + side + 44, title, parts)


def _page_ticks(most: int) -> list[float]:
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if most / size <= 6)
    return [float(tick) for tick in range(step, most + 1, step)]


def _square(
    side: int,
    left: int,
    top: int,
    across: str,
    up: str,
    *,
    ticks: Sequence[float] = (0, 0.25, 0.5, 0.75, 1),
    scale: float = 1.0,
) -> list[str]:
    """Grid and axes; upwards always from 0 to 1."""
    bottom = top + side
    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - side * tick
        parts.append(f'<line class="grid" x1="{left}" y1="{y}" x2="{left + side}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="{left - 6}" y="{y + 4}" text-anchor="end">{100 * tick:.0f} %</text>')
    for tick in ticks:
        x = left + side * tick / scale
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<text x="{left + side / 2}" y="{bottom + 36}" text-anchor="middle">{across}</text>')
    parts.append(f'<text x="{left + 8}" y="{top + 16}" class="axis">{up}</text>')
    return parts


def _shortened(name: str) -> str:
    return name if len(name) <= _LABEL_CHARACTERS else "…" + name[1 - _LABEL_CHARACTERS :]


def _svg(width: int, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height:g}" '
        f'style="max-width:{width}px">' + "".join(parts) + "</svg>"
    )
