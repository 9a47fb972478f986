"""`forklift schema`: what a schema enforces, the bundled ones, and making one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from forklift.cli.console import reported_errors, say
from forklift.cli.output import write_stdout
from forklift.errors import SchemaError, UsageError

app = typer.Typer(
    help="Check schemas, show the bundled ones, make one from examples or a Python class.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_AS_JSON = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command()
def check(
    schema: Annotated[
        str,
        typer.Argument(
            metavar="SCHEMA",
            help="A file, - for stdin, a bundled name, JSON text, or package.module:Model.",
            show_default=False,
        ),
    ],
    as_json: _AS_JSON = False,
) -> None:
    """Print what of a schema is enforced while decoding, what is checked afterwards, and what is ignored."""
    with reported_errors():
        from forklift.schema_survey import Treatment

        source, name = _read(schema)
        findings, error, strict_error = _examine(source, name)
        if as_json:
            report = {
                "schema": name,
                "usable": error is None,
                "error": error,
                "strict_error": strict_error,
                "findings": [
                    {"pointer": one.pointer, "keyword": one.keyword, "treatment": str(one.treatment), "note": one.note}
                    for one in findings
                ],
            }
            _print(json.dumps(report, indent=2, ensure_ascii=False))
        else:
            heads, cells = _by_pointer(findings)
            _print_table(heads, cells)
        if error is not None:
            raise SchemaError(error)
        if not as_json:
            counts = {kind: sum(one.treatment is kind and one.keyword != "" for one in findings) for kind in Treatment}
            _print(
                f"\n{name} can be used: {counts[Treatment.ENFORCED]} keywords enforced while decoding, "
                f"{counts[Treatment.CHECKED]} checked afterwards, {counts[Treatment.IGNORED]} ignored."
            )
        if strict_error is not None:
            say(f"not with --strict: {strict_error}")


@app.command("list")
def list_schemas(as_json: _AS_JSON = False) -> None:
    """List the bundled schemas."""
    with reported_errors():
        from forklift.schema_source import bundled_names, bundled_summary

        rows = [(name, *bundled_summary(name)) for name in bundled_names()]
        if as_json:
            listed = [{"name": name, "title": title, "description": about} for name, title, about in rows]
            _print(json.dumps(listed, indent=2, ensure_ascii=False))
        else:
            _print_table(("name", "what it holds"), [(name, about) for name, _, about in rows])


@app.command()
def show(name: Annotated[str, typer.Argument(metavar="NAME", help="A bundled schema.", show_default=False)]) -> None:
    """Print a bundled schema, to use or to change."""
    with reported_errors():
        from forklift.schema_source import bundled_name, bundled_names, bundled_text

        bundled = bundled_name(name)
        if bundled is None:
            raise UsageError(f"{name!r} is no bundled schema; there are {', '.join(bundled_names())}")
        _print(bundled_text(bundled).rstrip("\n"))


@app.command("from-example")
def from_example(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Answers as JSON, one or more; - for stdin.", show_default=False),
    ],
    required: Annotated[
        bool, typer.Option("--required", help="What no example lacks is required and may not be null.")
    ] = False,
) -> None:
    """Infer a schema from example answers and print it; what they leave open is said on stderr."""
    with reported_errors():
        from forklift.schema import Schema
        from forklift.schema_example import infer
        from forklift.schema_source import parse

        examples = [parse(_text(file), "stdin" if file == "-" else file) for file in files]
        inferred, notes = infer(examples, required=required)
        Schema.load(inferred)
        _print(json.dumps(inferred, indent=2, ensure_ascii=False))
        for note in notes:
            say(note)


@app.command("from-model")
def from_model(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="package.module:Model, imported and run.", show_default=False)
    ],
) -> None:
    """Print the schema of a Pydantic model, dataclass or TypedDict; the current folder's modules are found."""
    with reported_errors():
        from forklift.schema import Schema
        from forklift.schema_model import load_model, model_schema

        source = model_schema(load_model(model))
        Schema(source, name=model)
        _print(json.dumps(source, indent=2, ensure_ascii=False))


def _read(schema: str) -> tuple[Any, str]:
    """The JSON of whatever names a schema on the command line, and its name."""
    from forklift.schema_model import is_model_path, load_model, model_schema
    from forklift.schema_source import parse, read_source

    if schema == "-":
        return parse(_text("-"), "stdin"), "stdin"
    if is_model_path(schema) and not Path(schema).exists():
        return model_schema(load_model(schema)), schema
    return read_source(schema)


def _examine(source: Any, name: str) -> tuple[Sequence[Any], str | None, str | None]:
    """The findings; why the schema cannot be used, and why not with `--strict`."""
    from forklift.decoding.grammar import grammar_error
    from forklift.json_schema import Document
    from forklift.schema import Schema
    from forklift.schema_check import check_schema
    from forklift.schema_survey import survey

    try:
        schema = Schema(source, name=name)
        if reason := grammar_error(schema.decoded()):
            raise SchemaError(f"{name}: cannot be decoded: {reason}")
    except SchemaError as error:
        try:
            check_schema(source)
            return survey(Document(source)), str(error), None
        except (SchemaError, RecursionError):
            return (), str(error), None
    try:
        reason = grammar_error(schema.decoded(strict=True))
    except SchemaError as error:
        reason = str(error)
    return schema.findings, None, reason or None


def _text(file: str) -> str:
    from forklift.schema_source import read_text

    if file != "-":
        return read_text(Path(file), "file")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except ValueError as error:
        raise SchemaError(f"stdin: not UTF-8: {error}") from None


def _by_pointer(findings: Sequence[Any]) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """One row for each place, one column for each treatment that occurs, the reasons in a last one."""
    from forklift.schema_survey import Treatment

    titles = {
        Treatment.ENFORCED: "enforced while decoding",
        Treatment.CHECKED: "checked afterwards",
        Treatment.IGNORED: "ignored",
        Treatment.REFUSED: "refused",
    }
    used = [kind for kind in titles if kind is Treatment.ENFORCED or any(one.treatment is kind for one in findings)]
    rows: dict[str, dict[Any, list[str]]] = {}
    notes: dict[str, list[str]] = {}
    for one in findings:
        rows.setdefault(one.pointer, {}).setdefault(one.treatment, []).append(one.keyword or "all of it")
        if one.note:
            notes.setdefault(one.pointer, []).append(f"{one.keyword}: {one.note}" if one.keyword else one.note)
    cells = [
        (pointer or "/", *(", ".join(row.get(kind, ())) for kind in used), "; ".join(notes.get(pointer, ())))
        for pointer, row in rows.items()
    ]
    heads = ("where", *(titles[kind] for kind in used), "why")
    return (heads, cells) if notes else (heads[:-1], [row[:-1] for row in cells])


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A drawn table on a terminal; columns aligned with spaces, one line a row, for everything else."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*heads)
        for row in rows:
            table.add_row(*(Text(cell, overflow="fold") for cell in row))
        Console().print(table)
        return
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for row in (heads, *rows):
        _print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print(text: str) -> None:
    write_stdout(f"{text}\n".encode())
