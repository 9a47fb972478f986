"""`forklift extract` in process, over an engine that says what it is told."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from forklift.cli.extract import size_in_bytes
from forklift.cli.main import build_app
from forklift.documents import PagePolicy
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.errors import CheckpointError, DecodeError, UsageError
from forklift.extract import Extractor
from forklift.results import Outcome

pipeline = importlib.import_module("forklift.extract")

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "Verkäufer": {"type": "string"},
            "total": {"type": "number"},
            "note": {"type": "string"},
        },
        "required": ["Verkäufer", "total"],
    },
    ensure_ascii=False,
)
FULL = '{"Verkäufer": "Müller", "total": 12.50, "note": "日本"}'

Run = Callable[..., Any]


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "bill.png"
    Image.new("RGB", (60, 40), "white").save(path)
    return path


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedEngine]:
    """Puts a ScriptedEngine with these answers in the place of any model."""

    def install(*answers: Any) -> ScriptedEngine:
        engine = ScriptedEngine(list(answers))
        monkeypatch.setattr(
            pipeline, "load", lambda model, *, dtype=None: Extractor(engine, PagePolicy(shorter_side=0))
        )
        return engine

    return install


def run(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), [str(argument) for argument in arguments])


def test_one_file_goes_to_stdout_as_readable_utf8_in_schema_order(picture: Path, scripted: Run) -> None:
    engine = scripted(FULL)
    result = run("extract", picture, "--schema", SCHEMA)
    assert result.exit_code == 0, result.output
    assert result.stdout_bytes.decode() == ('{\n  "Verkäufer": "Müller",\n  "total": 12.5,\n  "note": "日本"\n}\n')
    assert result.stderr == ""  # no terminal: no progress bar
    assert engine.closed


def test_options_reach_the_request(tmp_path: Path, scripted: Run) -> None:
    frames = [Image.new("L", (60, 40), value) for value in (10, 20, 30)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    engine = scripted(FULL)
    result = run(
        "extract", tmp_path / "a.tif", "-s", SCHEMA, "--pages", "2-3", "--max-tokens", 99, "--strict",
        "--temperature", 0.5, "--top-p", 0.9, "--seed", 7,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (request,) = engine.requests
    assert [page.getpixel((0, 0)) for page in request.pages] == [(20,) * 3, (30,) * 3]
    assert (request.strict, request.max_new_tokens) == (True, 99)
    assert (request.sampling.temperature, request.sampling.top_p, request.sampling.seed) == (0.5, 0.9, 7)


def test_the_model_and_its_type_are_what_was_asked_for(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load(model: str, *, dtype: str | None = None) -> Extractor:
        asked.append((model, dtype))
        return Extractor(ScriptedEngine(FULL))

    monkeypatch.setattr(pipeline, "load", load)
    assert run("extract", picture, "-s", SCHEMA).exit_code == 0
    assert run("extract", picture, "-s", SCHEMA, "-m", "some/folder", "--dtype", "float32").exit_code == 0
    assert asked == [("nano", None), ("some/folder", "float32")]


def test_a_missing_required_field_fails_and_is_named(picture: Path, scripted: Run) -> None:
    scripted('{"Verkäufer": null, "total": null, "note": null}')
    result = run("extract", picture, "-s", SCHEMA)
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"Verkäufer": None, "total": None}
    assert "2 required fields are" in result.stderr
    assert "/Verkäufer, /total" in result.stderr
    assert "--allow-missing" in result.stderr
    allowed = run("extract", picture, "-s", SCHEMA, "--allow-missing")
    assert (allowed.exit_code, allowed.stdout, allowed.stderr) == (0, result.stdout, "")


def test_a_truncated_answer_is_printed_and_fails(picture: Path, scripted: Run) -> None:
    scripted(Answer('{"Verkäufer": "Müller", "total": 1', outcome=Outcome.TRUNCATED))
    result = run("extract", picture, "-s", SCHEMA)
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"Verkäufer": "Müller"}
    assert "was cut after" in result.stderr
    assert "--max-tokens" in result.stderr


def test_an_answer_without_anything_complete_prints_nothing(picture: Path, scripted: Run) -> None:
    scripted(FULL)
    result = run("extract", picture, "-s", SCHEMA, "--max-tokens", 1, "--strict")
    assert result.exit_code == 1
    assert json.loads(result.stdout or "{}") == {}


def test_data_that_fails_the_final_check_fails(picture: Path, scripted: Run) -> None:
    scripted('{"tags": [1, 1]}')
    schema = '{"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": true}}}'
    result = run("extract", picture, "-s", schema)
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"tags": [1, 1]}
    assert "does not match the schema: /tags" in result.stderr


def test_meta_gives_everything_beside_the_data(picture: Path, scripted: Run) -> None:
    scripted(FULL)
    details = json.loads(run("extract", picture, "-s", SCHEMA, "--meta").stdout)
    assert details["data"]["total"] == 12.5
    assert details["outcome"] == "complete"
    assert details["fields"][0]["pointer"] == "/Verkäufer"
    assert 0 < details["fields"][0]["confidence"] < 1
    assert details["pages"] == [1]
    assert details["timings"]["answer_tokens"] > 5
    assert {"missing", "problems", "warnings", "model"} <= details.keys()


# --- several files ---------------------------------------------------------------------------------------


def test_several_files_need_a_folder(picture: Path, scripted: Run) -> None:
    scripted(FULL)
    other = picture.with_name("other.png")
    other.write_bytes(picture.read_bytes())
    result = run("extract", picture, other, "-s", SCHEMA)
    assert result.exit_code == 2
    assert "--out DIR" in result.stderr
    assert result.stdout == ""


def test_the_same_file_twice_is_one(picture: Path, scripted: Run) -> None:
    engine = scripted(FULL)
    again = picture.parent / "." / ".." / picture.parent.name / picture.name
    assert run("extract", picture, again, "-s", SCHEMA).exit_code == 0
    assert len(engine.requests) == 1


def test_one_bad_file_never_stops_the_rest(picture: Path, tmp_path: Path, scripted: Run) -> None:
    scripted(FULL)
    (tmp_path / "page.pdf").write_text("<html>log in</html>")
    last = tmp_path / "last.png"
    last.write_bytes(picture.read_bytes())
    out = tmp_path / "results" / "deep"
    result = run("extract", tmp_path / "none.pdf", picture, tmp_path / "page.pdf", last, "-s", SCHEMA, "--out", out)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert sorted(path.name for path in out.glob("*")) == [
        "bill.json", "bill.meta.json", "last.json", "last.meta.json",
    ]  # fmt: skip
    assert json.loads((out / "bill.json").read_text(encoding="utf-8"))["note"] == "日本"
    first, second, third, fourth, summary, *failed = result.stderr.splitlines()
    assert "none.pdf: there is no such file" in first
    assert second.startswith("forklift: [2/4]")
    assert "page.pdf: is no document" in third
    assert "HTML" in third
    assert fourth.startswith("forklift: [4/4]")
    assert re.fullmatch(r"forklift: 4 documents in [0-9.]+ s: 2 extracted, 2 failed\.", summary)
    assert [line.split(": ")[1] for line in failed] == ["failed", "failed"]
    assert "none.pdf: there is no such file" in failed[0]
    assert "page.pdf: is no document" in failed[1]


@pytest.mark.parametrize("fault", [DecodeError("stuck"), ZeroDivisionError("a bug")])
def test_a_failing_generation_stops_only_its_file(
    picture: Path, tmp_path: Path, scripted: Run, fault: Exception
) -> None:
    scripted(fault, FULL)
    last = tmp_path / "last.png"
    last.write_bytes(picture.read_bytes())
    result = run("extract", picture, last, "-s", SCHEMA, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"last.json", "last.meta.json"}
    assert f"{picture}: " in result.stderr
    assert str(fault) in result.stderr


def test_all_good_files_are_a_success(picture: Path, tmp_path: Path, scripted: Run) -> None:
    engine = scripted(FULL)
    pages = [picture.with_name(f"{index}.png") for index in range(3)]
    for page in pages:
        page.write_bytes(picture.read_bytes())
    result = run("extract", *pages, "-s", SCHEMA, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "3 documents in" in result.stderr.splitlines()[-1]
    assert {path.name for path in (tmp_path / "out").glob("?.json")} == {"0.json", "1.json", "2.json"}
    assert len(engine.requests) == 3


def test_inputs_of_one_name_get_an_output_each(picture: Path, tmp_path: Path, scripted: Run) -> None:
    scripted(FULL)
    folder = tmp_path / "sub"
    folder.mkdir()
    twins = [picture, tmp_path / "bill.jpg", folder / "bill.png"]
    for twin in twins:
        twin.write_bytes(picture.read_bytes())
    result = run("extract", *twins, "-s", SCHEMA, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    names = sorted(path.name for path in (tmp_path / "out").iterdir() if ".meta." not in path.name)
    assert names == ["bill.jpg.json", "bill.json", "bill.png.json"]


@pytest.fixture
def scans(picture: Path) -> Path:
    folder = picture.parent / "scans"
    for name in ("2.png", "10.PNG", "sub/x.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture.read_bytes())
    return folder


def test_a_folder_becomes_a_table_on_stdout(scans: Path, scripted: Run) -> None:
    scripted(FULL)
    result = run("extract", scans, "-r", "-s", SCHEMA, "--format", "csv", "--bom", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout_bytes.decode("utf-8-sig").splitlines() == [
        "name,outcome,missing,problems,/Verkäufer,/total,/note",
        *(f"{scans / name},complete,,,Müller,12.5,日本" for name in ("2.png", "10.PNG", "sub/x.png")),
    ]
    lines = run("extract", scans, "-s", SCHEMA, "--format", "jsonl", "--meta", "-q").stdout.splitlines()
    assert [json.loads(line)["input"]["path"] for line in lines] == [str(scans / "2.png"), str(scans / "10.PNG")]


def test_a_second_run_skips_and_says_so_and_a_changed_schema_reads_again(scans: Path, scripted: Run) -> None:
    engine = scripted(FULL)
    arguments = ("extract", scans, "-r", "-s", SCHEMA, "--out", scans / "out")
    assert run(*arguments).exit_code == 0
    again = run(*arguments)
    assert (again.exit_code, len(engine.requests)) == (0, 3)
    (line,) = again.stderr.splitlines()
    assert line.startswith("forklift: 3 documents in ")
    assert line.endswith(": 0 extracted, 3 finished before (--force reads them again), 0 failed.")
    changed = run("extract", scans, "-r", "-s", '{"type": "object", "properties": {}}', "--out", scans / "out")
    assert changed.stderr.count("was read again, for the schema changed since") == 1
    assert "3 extracted (3 again, being outdated)" in changed.stderr
    one = run("extract", scans / "2.png", "-s", SCHEMA, "--out", scans / "other")
    assert one.stderr == ""
    one = run("extract", scans / "2.png", "-s", SCHEMA, "--out", scans / "other")
    assert "was finished before, and nothing changed since; --force reads it again" in one.stderr


def test_quiet_says_only_what_failed(scans: Path, scripted: Run) -> None:
    scripted(FULL)
    (scans / "1.pdf").write_bytes(b"")
    result = run("extract", scans, "-s", SCHEMA, "--out", scans / "out", "--quiet")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert "1.pdf" in line
    assert "empty (0 bytes)" in line


def test_a_warning_of_the_schema_is_told_once_and_inputs_without_a_document_fail(scans: Path, scripted: Run) -> None:
    scripted('{"a": "x"}')
    schema = '{"type": "object", "properties": {"a": {"type": "string", "maxLen": 3}}}'
    result = run("extract", scans, scans / "*.bmp", "-s", schema, "--out", scans / "out")
    assert result.exit_code == 1
    assert sum('"maxLen"' in line for line in result.stderr.splitlines()) == 1
    assert result.stderr.count("no document matches this pattern") == 2  # when it is found, and in the summary
    assert "2 extracted, 1 failed" in result.stderr


def test_annotated_pages_are_drawn_beside_whatever_is_printed(picture: Path, scripted: Run) -> None:
    scripted(FULL)
    result = run("extract", picture, "-s", SCHEMA, "--annotate", picture.parent / "seen" / "deep")
    assert (result.exit_code, json.loads(result.stdout)["note"]) == (0, "日本")
    with Image.open(picture.parent / "seen" / "deep" / "bill.page-1.png") as drawn:
        assert drawn.width >= 800


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("50MB", 50_000_000), ("1.5 GiB", 3 << 29), ("2k", 2000), ("7B", 7)]
)
def test_sizes(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "MB", "1 TB", "1e9", "5 apples"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="50MB"):
        size_in_bytes(text)


# --- errors and their exit codes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["{picture}"], 2, "--schema"),
        (["-s", SCHEMA], 2, "INPUT"),
        (["{picture}", "-s", "{picture}"], 2, "cannot be read"),
        (["{picture}", "-s", "nonesuch"], 2, "invoice"),
        (["{picture}", "-s", '{"type": "strin"}'], 2, "strin"),
        (["{picture}", "-s", "{"], 2, "not JSON"),
        (["{picture}", "-s", SCHEMA, "--pages", "3-1"], 2, "3-1"),
        (["none.pdf", "-s", SCHEMA, "--pages", "1,,2"], 2, "1,,2"),
        (["{picture}", "-s", SCHEMA, "--pages", "4"], 2, "has 1 page"),
        (["{picture}", "-s", SCHEMA, "--max-tokens", "0"], 2, "max-tokens"),
        (["{picture}", "-s", SCHEMA, "--dtype", "int4"], 2, "dtype"),
        (["{picture}", "-s", SCHEMA, "--out", "{picture}"], 2, "--out"),
        (["none.pdf", "-s", SCHEMA], 1, "none.pdf: there is no such file"),
        (["{folder}", "-s", SCHEMA], 2, "is a folder; give --out DIR"),
        (["{folder}/none*.pdf", "-s", SCHEMA], 2, "no document matches"),
        (["{folder}", "-s", SCHEMA, "--out", "{folder}/empty/x", "--max-file-size", "5 apples"], 2, "5 apples"),
        (["{picture}", "-s", SCHEMA, "--max-file-size", "20B"], 1, "more than the limit of 20"),
        (["{picture}", "-s", SCHEMA, "--max-pixels", "100"], 1, "more than the limit of 100"),
        (["{picture}", "-s", SCHEMA, "--rows", "/x"], 2, "--rows is for --format csv"),
        (["{picture}", "-s", SCHEMA, "--bom", "--format", "jsonl"], 2, "--bom is for --format csv"),
        (["{picture}", "-s", SCHEMA, "--format", "csv", "--rows", "/x"], 2, "no list there"),
        (["{picture}", "-s", SCHEMA, "--format", "csv", "--meta"], 2, "--meta is for JSON"),
        (["{picture}", "-s", SCHEMA, "--out", "{folder}/o", "--meta"], 2, "--meta prints what --out writes"),
        (["{picture}", "-s", SCHEMA, "--format", "csv", "--out", "{folder}"], 2, "is a folder"),
        (["{picture}", "-s", SCHEMA, "--format", "csv", "--out", "{folder}/no/t.csv"], 2, "make it first"),
        (["{picture}", "-s", SCHEMA, "--annotate", "{picture}"], 2, "--annotate"),
    ],
)
def test_errors_have_a_message_and_the_exit_code_of_their_kind(
    picture: Path, scripted: Run, arguments: list[str], code: int, says: str
) -> None:
    scripted(FULL)
    result = run(
        "extract",
        *(part.replace("{picture}", str(picture)).replace("{folder}", str(picture.parent)) for part in arguments),
    )
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_an_unknown_model_and_a_folder_that_is_none_are_model_errors(picture: Path, tmp_path: Path) -> None:
    unknown = run("extract", picture, "-s", SCHEMA, "--model", "nonesuch")
    assert unknown.exit_code == 3
    assert unknown.stderr.startswith("forklift: ")
    assert "nonesuch" in unknown.stderr
    empty = run("extract", picture, "-s", SCHEMA, "--model", tmp_path)
    assert empty.exit_code == 3
    assert "is no checkpoint" in empty.stderr


def test_a_model_that_fails_ends_the_run(picture: Path, tmp_path: Path, scripted: Run) -> None:
    engine = scripted(CheckpointError("weights are damaged"))
    last = tmp_path / "last.png"
    last.write_bytes(picture.read_bytes())
    result = run("extract", picture, last, "-s", SCHEMA, "--out", tmp_path / "out")
    assert result.exit_code == 3
    assert "weights are damaged" in result.stderr
    assert len(engine.requests) == 1


def test_an_encrypted_pdf_asks_for_its_password(tmp_path: Path, scripted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from reportlab.pdfgen.canvas import Canvas

    scripted(FULL)
    canvas = Canvas(str(tmp_path / "a.pdf"), encrypt="secret")
    canvas.drawString(50, 50, "x")
    canvas.save()
    refused = run("extract", tmp_path / "a.pdf", "-s", SCHEMA)
    assert refused.exit_code == 1
    assert "--password" in refused.stderr
    assert run("extract", tmp_path / "a.pdf", "-s", SCHEMA, "--password", "secret").exit_code == 0
    monkeypatch.setenv("FORKLIFT_PDF_PASSWORD", "secret")
    assert run("extract", tmp_path / "a.pdf", "-s", SCHEMA).exit_code == 0


def test_no_model_is_loaded_for_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(model: str, *, dtype: str | None = None) -> Extractor:
        raise AssertionError("loaded")

    monkeypatch.setattr(pipeline, "load", load)
    assert run("extract", tmp_path / "none.pdf", "-s", SCHEMA).exit_code == 1


def test_warnings_do_not_fail(tmp_path: Path, scripted: Run) -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("white", "black")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    scripted(FULL)
    result = run("extract", tmp_path / "a.gif", "-s", SCHEMA)
    assert result.exit_code == 0
    assert "animation of 2 frames" in result.stderr
