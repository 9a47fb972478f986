"""What README, CHANGELOG and docs/ say, held against the code: options, snippets, names and links."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import io
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import typer.main

import forklift
from forklift import errors, results
from forklift.cli.main import build_app
from forklift.engines.base import Request, Statistics, Token
from forklift.engines.scripted import ScriptedEngine
from forklift.extract import Extractor
from forklift.page_policy import Limits
from forklift.schema import Schema
from forklift.schema_source import bundled_names

pipeline = importlib.import_module("forklift.extract")

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "forklift"
DOCUMENTS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/api.md",
    "docs/architecture.md",
    "docs/batch.md",
    "docs/cli.md",
    "docs/evaluate.md",
    "docs/evidence.md",
    "docs/files.md",
    "docs/log.md",
    "docs/quantize.md",
    "docs/schemas.md",
    "docs/server.md",
    "training/README.md",
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str, *languages: str) -> list[str]:
    return [body for language, body in _FENCE.findall(text_of(document)) if language in languages]


def section(document: str, heading: str) -> str:
    """The text under `heading`, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", without_fences(text_of(document)), re.M | re.S)
    assert found, f"{document} has no heading {heading!r}"
    return found[1]


def without_fences(text: str) -> str:
    """Comments of shell snippets look like headings."""
    return _FENCE.sub("", text)


def table_rows(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    return [row for row in cells if not set("".join(row)) <= set("-")]


# The command line


def command_group() -> Any:
    return typer.main.get_command(build_app())


def commands() -> dict[str, Any]:
    """Heading of docs/cli.md -> command; those of a group follow it."""
    found = {"forklift": command_group()}
    for name, command in command_group().commands.items():
        found[f"forklift {name}"] = command
        for part, inside in getattr(command, "commands", {}).items():
            found[f"forklift {name} {part}"] = inside
    return found


def test_every_command_has_its_section_and_every_section_its_command() -> None:
    headings = re.findall(r"^###? (forklift.*)$", without_fences(text_of("docs/cli.md")), re.M)
    assert headings == list(commands())


@pytest.mark.parametrize("heading", list(commands()))
def test_the_table_of_a_command_names_exactly_its_options(heading: str) -> None:
    described = {
        option
        for row in table_rows(section("docs/cli.md", heading))
        for option in re.findall(r"`(--?[a-z][a-z-]*)`", row[0])
    }
    options = [p for p in commands()[heading].params if p.param_type_name == "option"]
    existing = {spelling for option in options for spelling in (*option.opts, *option.secondary_opts)}
    assert described - {"--help"} == existing - {"--help"}


@pytest.mark.parametrize(
    "heading", ["forklift extract", "forklift generate", "forklift eval score", "forklift eval make"]
)
def test_the_table_of_a_command_gives_the_true_defaults(heading: str) -> None:
    options = {spelling: p for p in commands()[heading].params for spelling in p.opts}
    rows = [row for row in table_rows(section("docs/cli.md", heading)) if row[0].startswith("`--")]
    assert len(rows) >= 5
    for name, default, _ in rows:
        option = options[name.split("`")[1]]
        if option.required:
            assert default == "required"
        elif isinstance(option.default, bool):
            assert default == ("on" if option.default else "off")
        elif isinstance(option.default, int | float):
            assert float(default) == option.default
        elif isinstance(option.default, str):
            assert default == f"`{option.default}`"


def invocations(document: str, program: str) -> Iterator[list[str]]:
    """The words of each shell command that begins with `program`, up to a pipe or redirection."""
    for block in blocks(document, "sh", "console", "bash", ""):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.strip().removeprefix("$ ")
            if not re.match(rf"(\S*/)?{program}(?=\s)", line):
                continue
            words = shlex.split(line, comments=True)
            ends = [index for index, word in enumerate(words) if word in ("|", ">", ">>", "&&", ";", "2>")]
            yield words[: min(ends, default=len(words))]


COMMANDS = [
    pytest.param(words[1:], id=f"{document}: {' '.join(words)[:70]}")
    for document in DOCUMENTS
    for words in invocations(document, "forklift")
]


def test_the_documents_show_commands() -> None:
    # Without this, a broken search would leave the tests below with nothing to do.
    shown = {words[0] for (words,) in (parameter.values for parameter in COMMANDS)}
    assert shown >= {"extract", "generate"}
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_shown_is_one_that_the_command_line_takes(words: list[str]) -> None:
    group = command_group()
    if words[0] in ("--version", "--help"):
        assert {"--version", "--help"} >= set(words)
        return
    context = group.make_context("forklift", [words[0]])
    _, command, _ = group.resolve_command(context, [words[0]])
    # Parses and converts, and runs nothing; raises what the user would be told.
    values = command.make_context(words[0], words[1:], parent=context).params
    for path in [*values.get("files", ()), *(values.get("image") or ())]:
        assert any(ROOT.glob(str(path))), f"{path} is not there"
    schema = values.get("schema")
    if schema is not None and not schema.endswith(".json"):
        assert schema.startswith("{") or schema in bundled_names()
        Schema.load(schema)


def test_exit_codes_are_those_of_the_errors() -> None:
    codes = {str(error.exit_code) for error in error_classes()} | {"0", "130"}
    for document, heading in (("README.md", "What comes out"), ("docs/cli.md", "forklift extract")):
        described = {row[0] for row in table_rows(section(document, heading)) if row[0].isdigit()}
        assert described == codes, document


# The Python interface


class _ReadsExamples(ScriptedEngine):
    """Answers any schema with what the example invoice and receipt say under the same names, else null."""

    def __init__(self) -> None:
        super().__init__("{}")
        self._known: dict[str, Any] = {}
        for name in ("receipt", "invoice"):
            self._known |= json.loads((ROOT / "examples" / f"{name}.json").read_text(encoding="utf-8"))

    def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]:
        assert request.schema is not None
        properties = request.schema.decoded()["properties"]
        self._answers = [json.dumps({name: self._known.get(name) for name in properties})]
        return super().generate(request, statistics)


SNIPPETS = [
    pytest.param(code, id=f"{document}-{index}")
    for document in DOCUMENTS
    for index, code in enumerate(blocks(document, "python"))
]


def test_readme_and_interface_show_snippets() -> None:
    assert len(blocks("README.md", "python")) >= 2
    assert len(blocks("docs/api.md", "python")) >= 5


@pytest.mark.parametrize("code", SNIPPETS)
def test_each_snippet_runs_and_prints_what_its_comments_say(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # what a snippet writes stays out of the repository
    monkeypatch.setattr(pipeline, "load", lambda model="nano", *, dtype=None: Extractor(_ReadsExamples()))
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
    expected = re.findall(r"^\s*print\(.*\)  # (.*)$", code, re.M)
    assert printed.getvalue().splitlines() == expected


@pytest.mark.parametrize("kind", [results.Result, results.Field, results.Timings])
def test_the_interface_describes_every_part_of_a_result(kind: Any) -> None:
    rows = table_rows(section("docs/api.md", "Result"))
    first = next(index for index, row in enumerate(rows) if row[0] == f"`{kind.__name__}`") + 1
    names = [name for row in rows[first:] for name in row[0].replace("`", "").split(", ")]
    ends = [index for index, name in enumerate(names) if name[:1].isupper()]  # the next table
    described = names[: min(ends, default=len(names))]
    assert sorted(described) == sorted(field.name for field in dataclasses.fields(kind))


def test_the_interface_describes_every_parameter_of_extract() -> None:
    rows = table_rows(section("docs/api.md", "forklift.extract"))
    described = {row[0].strip("`") for row in rows} - {"parameter"}
    assert described == set(inspect.signature(forklift.extract).parameters) - {"path"}
    of_extractor = set(inspect.signature(Extractor.extract).parameters) - {"self", "document"}
    assert described - {"model", "dtype"} == of_extractor


def test_the_interface_describes_every_public_part_of_a_schema() -> None:
    described = "\n".join(row[0] for row in table_rows(section("docs/api.md", "Schema")))
    public = {name for name in vars(Schema) if not name.startswith("_")}
    public |= {name for name in vars(Schema.load({"type": "string"})) if not name.startswith("_")}
    assert {name for name in public if not re.search(rf"\b{name}\b", described)} == set()


def error_classes() -> list[type[errors.ForkliftError]]:
    return [
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.ForkliftError)
    ]


def test_the_interface_describes_every_error_with_its_exit_code() -> None:
    described = {
        row[0].strip("`"): int(row[1]) for row in table_rows(section("docs/api.md", "Errors")) if row[1].isdigit()
    }
    assert described == {error.__name__: error.exit_code for error in error_classes()}


def test_the_limits_of_files_are_the_true_ones() -> None:
    rows = table_rows(section("docs/files.md", "Limits"))[1:]
    described = {re.findall(r"\((\w+)=", row[3])[0]: row[1].replace(",", "") for row in rows}
    limits = dataclasses.asdict(Limits())
    assert described.pop("max_file_bytes") == f"{limits.pop('max_file_bytes') >> 30} GiB"
    assert described == {name: str(value) for name, value in limits.items()}


# Names and places


def entries(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if not path.name.startswith((".", "__")) and path.name != "py.typed":
            yield path


def test_the_readme_names_every_entry_of_the_package() -> None:
    tree = next(block for block in blocks("README.md", "") if "src/forklift/" in block)
    named = set(re.findall(r"[\w.]+/?", tree))
    names = [path.name + "/" * path.is_dir() for path in entries(PACKAGE)]
    assert [name for name in names if name not in named] == []


def test_the_architecture_names_every_file_of_code() -> None:
    text = text_of("docs/architecture.md")
    files = [path for path in PACKAGE.rglob("*.py") if not path.name.startswith("__")]
    assert len(files) > 30
    names = [path.relative_to(PACKAGE).as_posix() for path in files]
    assert [name for name in names if f"`{name}`" not in text] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_named_in_code_quotes_exists(document: str) -> None:
    homes = (ROOT, PACKAGE, (ROOT / document).parent)
    named = set(re.findall(r"`([\w/]+\.(?:py|json|md|lock|jinja|toml))`", text_of(document)))
    made_later = {  # parts of any checkpoint folder or dataset
        "config.json",
        "forklift_plan.json",
        "generation_config.json",
        "schema.json",
        "training_record.json",
    }
    missing = [name for name in sorted(named - made_later) if not any((home / name).exists() for home in homes)]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text_of(document)):
        if not target.startswith("https://"):
            assert ((ROOT / document).parent / target).exists(), f"{document} links to {target}"


def test_every_make_target_shown_exists() -> None:
    targets = set(re.findall(r"^(\w+):", text_of("Makefile"), re.M))
    shown = {words[1] for document in DOCUMENTS for words in invocations(document, "make") if len(words) > 1}
    assert shown
    assert shown <= targets


def test_every_training_command_shown_exists_with_its_options() -> None:
    shown = 0
    for words in invocations("training/README.md", "python"):
        assert words[1] == "-m"
        source = text_of(words[2].replace(".", "/") + ".py")
        for option in (word for word in words[3:] if _OPTION.fullmatch(word)):
            assert f'"{option}"' in source, f"{words[2]} has no {option}"
        shown += 1
    assert shown >= 4
