"""`forklift schema`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from forklift.cli.main import build_app
from forklift.schema_source import bundled_names, bundled_text

ROOT = Path(__file__).parent.parent.parent


def run(*arguments: object, stdin: str | None = None) -> Any:
    return CliRunner().invoke(build_app(), ["schema", *(str(argument) for argument in arguments)], input=stdin)


MIXED = {
    "type": "object",
    "properties": {
        "größe": {"type": "string", "maxLen": 3, "pattern": "^(?=a)"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
}


def test_check_says_by_pointer_what_becomes_of_each_keyword(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps(MIXED))
    result = run("check", path)
    assert (result.exit_code, result.stderr) == (0, "")
    head, *rows = result.stdout.split("\n\n")[0].splitlines()
    columns = [head.index(title) for title in ("enforced while decoding", "checked afterwards", "ignored", "why")]
    cells = {
        row.split()[0]: [row[start:end].strip() for start, end in zip(columns, [*columns[1:], None], strict=True)]
        for row in rows
    }
    assert cells["/"] == ["type, properties", "", "", ""]
    assert cells["/properties/größe"][:3] == ["type", "pattern", "maxLen"]
    assert "did you mean maxLength?" in cells["/properties/größe"][3]
    assert "look-around" in cells["/properties/größe"][3]
    assert cells["/properties/tags"][:3] == ["type, items", "uniqueItems", ""]
    assert (
        "mixed.json can be used: 6 keywords enforced while decoding, 2 checked afterwards, 1 ignored." in result.stdout
    )


def test_check_as_json() -> None:
    result = run("check", json.dumps(MIXED), "--json")
    report = json.loads(result.stdout)
    assert report["usable"] is True
    assert report["error"] is report["strict_error"] is None
    found = {(one["pointer"], one["keyword"]): one["treatment"] for one in report["findings"]}
    assert found[("/properties/tags", "uniqueItems")] == "checked"
    assert found[("/properties/größe", "maxLen")] == "ignored"
    assert found[("/properties/größe", "type")] == "enforced"


UNUSABLE = {"properties": {"a/b": {"$anchor": "x"}, "c": {"pattern": "("}, "d": {"type": "string"}}}


def test_a_schema_that_cannot_be_used_is_exit_code_2_with_all_that_is_refused() -> None:
    result = run("check", json.dumps(UNUSABLE))
    assert result.exit_code == 2
    assert "/properties/a~1b/$anchor: not supported" in result.stderr
    assert "/properties/c/pattern: '(' cannot be read" in result.stderr
    assert "can be used" not in result.stdout
    row = next(line for line in result.stdout.splitlines() if line.startswith("/properties/a~1b"))
    assert "$anchor" in row
    assert "refused" in result.stdout.splitlines()[0]
    report = json.loads(run("check", json.dumps(UNUSABLE), "--json").stdout)
    assert report["usable"] is False
    assert "$anchor" in report["error"]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ('{"type": "objekt"}', "/type: "),
        ("no-such.json", "no such schema file; the bundled schemas are"),
        ("{", "not JSON"),
        ('{"vendor": "string"}', "from-example"),
        ('{"type": "object", "required": ["a"], "properties": {"a": false}}', "no value is possible"),
        ("nowhere.module:Model", "there is no module nowhere"),
    ],
)
def test_what_is_no_schema_is_exit_code_2(schema: str, message: str) -> None:
    for options in ((), ("--json",)):
        result = run("check", schema, *options)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_what_strict_decoding_cannot_use_is_said() -> None:
    endless = {
        "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]}},
        "$ref": "#/$defs/N",
    }
    result = run("check", json.dumps(endless))
    assert result.exit_code == 0
    assert "not with --strict: " in result.stderr
    assert "always contains itself" in result.stderr


def test_check_takes_stdin_a_bundled_name_and_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "stdin can be used" in run("check", "-", stdin='{"type": "string"}').stdout
    assert "bank-statement can be used" in run("check", "bank_statement").stdout
    (tmp_path / "cli_models.py").write_text("import pydantic\n\nclass Bill(pydantic.BaseModel):\n    total: float\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "cli_models", raising=False)
    assert "cli_models:Bill can be used" in run("check", "cli_models:Bill").stdout
    printed = run("from-model", "cli_models:Bill")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout)["properties"] == {"total": {"type": "number"}}


def test_a_table_is_drawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from forklift.cli import schema as command

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    command._print_table(("where", "why"), [("/a[b]", "[bold]x")])
    drawn = sys.stdout.getvalue()  # type: ignore[attr-defined]
    assert "/a[b]" in drawn
    assert "[bold]x" in drawn  # not read as markup
    assert any(corner in drawn for corner in "┏╭+")


def test_list_names_every_bundled_schema() -> None:
    result = run("list")
    assert result.exit_code == 0
    head, *rows = result.stdout.splitlines()
    assert [row.split()[0] for row in rows] == list(bundled_names())
    assert all(len(row[head.index("what") :]) > 10 for row in rows)
    listed = json.loads(run("list", "--json").stdout)
    assert [one["name"] for one in listed] == list(bundled_names())
    assert all(one["title"] and one["description"] for one in listed)


@pytest.mark.parametrize("name", ["purchase-order", "purchase_order"])
def test_show_prints_a_schema_to_be_changed(name: str) -> None:
    assert run("show", name).stdout == bundled_text("purchase-order")


def test_show_of_an_unknown_name_lists_those_there_are() -> None:
    result = run("show", "invoices")
    assert result.exit_code == 2
    assert "there are bank-statement, contract" in result.stderr


def test_from_example_merges_files_and_says_what_is_open(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"größe": "x", "n": 1}')
    (tmp_path / "b.json").write_text('{"größe": null, "day": "2024-01-02"}')
    result = run("from-example", tmp_path / "a.json", tmp_path / "b.json")
    assert result.exit_code == 0
    assert "größe" in result.stdout  # not escaped
    assert json.loads(result.stdout) == {
        "type": "object",
        "properties": {
            "größe": {"type": ["string", "null"]},
            "day": {"type": ["string", "null"], "format": "date"},
            "n": {"type": ["integer", "null"]},
        },
    }
    assert "/n: whole in every example" in result.stderr
    required = json.loads(run("from-example", tmp_path / "a.json", "--required").stdout)
    assert required["required"] == ["größe", "n"]


def test_from_example_reads_stdin_and_gives_what_check_takes() -> None:
    text = (ROOT / "examples" / "receipt.json").read_text(encoding="utf-8")
    result = run("from-example", "-", stdin=text)
    assert result.exit_code == 0
    assert run("check", "-", stdin=result.stdout).exit_code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not JSON"),
        ('"text"', "a whole answer"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"a": 1e999}', "beyond what JSON readers hold"),
        ("[" * 100_000, "levels deep"),
    ],
)
def test_an_example_that_is_none_is_exit_code_2(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.json").write_text(content)
    result = run("from-example", tmp_path / "x.json")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_missing_example_is_exit_code_2(tmp_path: Path) -> None:
    result = run("from-example", tmp_path / "none.json")
    assert result.exit_code == 2
    assert "no such file" in result.stderr
    assert "bundled" not in result.stderr
