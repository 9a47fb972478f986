"""`forklift eval`: how well a model, or any other tool, extracts a dataset whose answers are known."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class _ScoresByDefault(TyperGroup):
    """`forklift eval DATASET` is `forklift eval score DATASET`; the other commands go by their names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["score", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ScoresByDefault,
    no_args_is_help=True,
    help="Measure extraction on documents whose answers are known.",
    rich_markup_mode=None,
)


@app.command()
def score(dataset: str) -> None:
    """Extract a dataset and score the answers."""
