"""`forklift`: assembles the commands. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def main() -> None:
    """The console script; leaves through SystemExit with the exit codes of `forklift.errors`."""
    # Until a command takes over (cli/interrupt.py), Ctrl-C ends the process at once and without a traceback.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    warnings.filterwarnings("ignore", module="PIL")  # its remarks on metadata would stand among our messages
    build_app()(prog_name="forklift")


def build_app() -> typer.Typer:
    """The command-line application, one command a file."""
    import typer

    from forklift.cli.bench import app as bench_app
    from forklift.cli.calibrate import calibrate
    from forklift.cli.convert import convert
    from forklift.cli.eval import app as eval_app
    from forklift.cli.extract import extract
    from forklift.cli.generate import generate
    from forklift.cli.quantize import quantize
    from forklift.cli.schema import app as schema_app
    from forklift.cli.serve import serve

    app = typer.Typer(
        help="Documents into JSON that matches your schema, on your own machine.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # plain help: rich would cost a tenth of a second
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ) -> None:
        pass

    app.command()(extract)
    app.command()(generate)
    app.command()(serve)
    app.command()(calibrate)
    app.command()(quantize)
    app.command()(convert)
    app.add_typer(eval_app, name="eval")
    app.add_typer(bench_app, name="bench")
    app.add_typer(schema_app, name="schema")
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        import typer

        from forklift import __version__

        sys.stdout.write(f"forklift {__version__}\n")
        raise typer.Exit


if __name__ == "__main__":
    main()
