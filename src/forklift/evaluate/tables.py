"""A run, and two runs side by side, as tables for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from forklift.evaluate.comparison import Comparison
from forklift.evaluate.report import Run, calibration_error, counts_of, ratios
from forklift.evaluate.score import Counts

WORST_FIELDS = 15
NAMES = {
    "field_accuracy": "fields right",
    "field_accuracy_strict": "fields right, strictly",
    "document_accuracy": "whole documents right",
    "document_accuracy_strict": "whole documents right, strictly",
    "precision": "precision of values",
    "recall": "recall of values",
    "f1": "F1 of values",
    "null_accuracy": "nulls left null",
    "anls_star": "ANLS*",
    "schema_valid": "answers valid by schema",
    "truncated": "answers cut at the token limit",
    "failed": "documents failed (count as zero)",
}


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def run_tables(run: Run) -> Group:
    counts = run.counts()
    title = f"{run.name} on {run.content['dataset']}: {counts.documents:,} documents, {counts.fields:,} fields"
    parts: list[Any] = [Text(title, style="bold"), _figures(run), Text(_mistakes(counts, run))]
    kinds = run.content["kinds"]
    if len(kinds) > 1:
        parts.append(_groups("by kind", [("kind", row["kind"] or "(none)", counts_of(row)) for row in kinds]))
    labels = run.content["labels"]
    if labels:
        parts.append(_groups("by label", [("label", row["label"], counts_of(row)) for row in labels]))
    worst = worst_fields(run)
    if worst:
        several = len(kinds) > 1
        rows = [("field", field_name(row, several), counts_of(row)) for row in worst[:WORST_FIELDS]]
        parts.append(_groups(f"the {len(rows)} fields with the most mistakes", rows))
    return Group(*(part for one in parts for part in (one, Text())))


def worst_fields(run: Run) -> list[dict[str, Any]]:
    """The fields with any mistake, most mistakes first."""
    rows: list[tuple[int, dict[str, Any]]] = []
    for row in run.content["fields"]:
        counts = counts_of(row)
        mistakes = counts.fields + counts.surplus - counts.correct
        if mistakes:
            rows.append((mistakes, row))
    return [row for _, row in sorted(rows, key=lambda pair: -pair[0])]


def field_name(row: dict[str, Any], with_kind: bool) -> str:
    pointer = row["field"] or "/"
    return f"{row['kind']} {pointer}" if with_kind and row["kind"] else pointer


def comparison_tables(comparison: Comparison) -> Group:
    first, second = comparison.first, comparison.second
    table = Table("", "A", "B", "B - A", "95 % interval", title_justify="left", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    figures = [figures_over_documents(run) for run in (first, second)]
    for name, interval in comparison.differences.items():
        if interval is None:
            continue
        change = f"{100 * interval.value:+.1f}"
        between = f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}"
        clear = interval.low > 0 or interval.high < 0
        style = ("green" if interval.value > 0 else "red") if clear else ""
        table.add_row(NAMES[name], percent(figures[0][name]), percent(figures[1][name]), Text(change, style), between)
    better = sum(_more_right(one, other) for one, other in comparison.changed_documents())
    changed = len(comparison.changed_documents())
    lines: list[Any] = [
        Text(f"A: {first.name}\nB: {second.name}\n{len(first.documents):,} documents in both", style="bold"),
        table,
        Text(f"documents with more fields right in B: {better:,}; in A: {changed - better:,}"),
    ]
    if comparison.left_out:
        lines.append(Text(f"left out, being in one run only: {len(comparison.left_out):,} documents"))
    return Group(*lines)


def _more_right(one: dict[str, Any], other: dict[str, Any]) -> bool:
    right = [document["counts"]["correct"] - document["counts"]["surplus"] for document in (one, other)]
    return bool(right[1] > right[0])


def figures_over_documents(run: Run) -> dict[str, float | None]:
    """Figures over the documents that are left in a run of a comparison."""
    figures: dict[str, float | None] = {}
    for name, (parts, wholes) in ratios(run.documents).items():
        figures[name] = sum(parts) / sum(wholes) if sum(wholes) else None
    return figures


def _figures(run: Run) -> Table:
    table = Table("", "", "95 % interval", box=None, pad_edge=False, show_header=True)
    table.columns[1].justify = table.columns[2].justify = "right"
    for name, words in NAMES.items():
        interval = run.content["intervals"].get(name)
        between = f"{100 * interval[0]:.1f} - {100 * interval[1]:.1f}" if interval else ""
        table.add_row(words, percent(run.content["figures"][name]), between)
    error = calibration_error(run.content["confidence"])
    if error is not None:
        table.add_row("confidence and accuracy apart", percent(error), "")
    seconds = run.content["figures"]["seconds_per_document"]
    if seconds is not None:
        table.add_row("seconds a document", f"{seconds:.2f}", "")
    return table


def _mistakes(counts: Counts, run: Run) -> str:
    near_misses = run.content["near_misses"]
    taken = f"; {near_misses:,} near misses were taken" if near_misses else ""
    return (
        f"mistakes: {counts.omissions:,} omissions, {counts.wrong:,} wrong values, {counts.inventions:,} inventions "
        f"({counts.surplus:,} of them outside the expected fields){taken}"
    )


def _groups(title: str, rows: Sequence[tuple[str, str, Counts]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column(rows[0][0], overflow="fold")
    documents = any(counts.documents for _, _, counts in rows)
    numbers = ["fields", "right", "strictly", "omitted", "wrong", "invented"]
    for name in (["documents", "whole"] if documents else []) + numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for _, name, counts in rows:
        cells = [f"{counts.documents:,}", percent(counts.whole_accuracy)] if documents else []
        cells += [f"{counts.fields:,}", percent(counts.accuracy), percent(counts.strict_accuracy)]
        cells += [f"{number:,}" for number in (counts.omissions, counts.wrong, counts.inventions)]
        table.add_row(Text(name), *cells)
    return table


def rendered(parts: Iterable[Any], *, width: int, colour: bool) -> str:
    """Text for a terminal of `width` columns."""
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=colour, no_color=not colour, highlight=False)
    for part in parts:
        console.print(part)
    return text.getvalue()
