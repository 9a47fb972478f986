"""Many documents through the pipeline, over an engine that says what it is told."""

from __future__ import annotations

import errno
import gc
import json
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from forklift import batch
from forklift.batch import Report, Results, Status, Summary, extract_batch
from forklift.engines.base import Request, Statistics, Token
from forklift.engines.scripted import Answer, ScriptedEngine
from forklift.errors import CheckpointError, DiskFullError, OutputError, UsageError
from forklift.extract import Extractor
from forklift.inputs import Input, find_inputs
from forklift.outputs import files as output_files
from forklift.outputs.annotated_pages import AnnotatedPages
from forklift.outputs.files import write_whole
from forklift.outputs.folder import ResultFolder
from forklift.outputs.record import Record
from forklift.outputs.settings import Settings, weights_digest
from forklift.outputs.table import Csv, JsonLines
from forklift.outputs.table_file import StreamedTable, TableFile
from forklift.results import Box, Citation, Field, Outcome, Result
from forklift.schema import Schema

SCHEMA = Schema({"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]})
SETTINGS = Settings(SCHEMA)


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    folder = tmp_path / "scans"
    for index, name in enumerate(("1.png", "2.png", "sub/3.png")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (40, 40), index).save(path)
    return folder


class Runner:
    """Runs batches over `scans`, and remembers what the engine was asked and what was reported."""

    def __init__(self, scans: Path) -> None:
        self.scans = scans
        self.reports: list[Report] = []

    def __call__(self, results: Results, *answers: Any, settings: Settings = SETTINGS, **options: Any) -> Summary:
        self.engine = ScriptedEngine(list(answers) or ['{"n": "x"}'])
        self.reports = []
        inputs = find_inputs([self.scans], recursive=True).documents
        return extract_batch(
            inputs, settings, results, extractor=Extractor(self.engine), on_report=self.reports.append, **options
        )

    @property
    def read(self) -> int:
        return len(self.engine.requests)


@pytest.fixture
def run(scans: Path) -> Runner:
    return Runner(scans)


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


ALL = ["1.json", "1.meta.json", "2.json", "2.meta.json", "sub/3.json", "sub/3.meta.json"]

# --- a folder of results -----------------------------------------------------------------------------------


def test_each_document_gets_its_data_and_its_record_below_its_own_folder(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = run(ResultFolder(out))
    assert (summary.inputs, summary.extracted, summary.skipped, summary.failed, summary.incomplete) == (3, 3, 0, [], [])
    assert tree(out) == ALL
    assert (out / "sub" / "3.json").read_text() == '{\n  "n": "x"\n}\n'
    record = json.loads((out / "sub" / "3.meta.json").read_text())
    assert list(record) == [
        "record_version", "forklift", "input", "settings", "finished", "seconds", "outcome", "model", "pages",
        "missing", "problems", "warnings", "timings", "fields",
    ]  # fmt: skip
    assert record["input"]["path"] == "../../scans/sub/3.png"  # from where the record lies
    assert record["input"]["bytes"] == (run.scans / "sub" / "3.png").stat().st_size
    assert record["settings"]["schema"]["name"] == "schema"
    assert record["fields"][0].keys() >= {"pointer", "value", "confidence", "citations", "grounded"}
    assert record["timings"]["answer_tokens"] > 3


def test_finished_documents_are_skipped_until_forced(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(ResultFolder(out))
    before = (out / "1.json").stat().st_mtime_ns
    summary = run(ResultFolder(out))
    assert (summary.extracted, summary.skipped, run.read) == (0, 3, 0)
    assert (out / "1.json").stat().st_mtime_ns == before
    assert [report.status for report in run.reports] == [Status.SKIPPED] * 3
    summary = run(ResultFolder(out), '{"n": "y"}', force=True)
    assert (summary.extracted, summary.skipped, summary.again) == (3, 0, 0)
    assert json.loads((out / "1.json").read_text()) == {"n": "y"}


def test_no_model_is_loaded_when_everything_is_finished(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(ResultFolder(tmp_path / "out"))
    monkeypatch.setattr(batch._Run, "_loaded", lambda self: pytest.fail("loaded"))
    inputs = find_inputs([run.scans], recursive=True).documents
    assert extract_batch(inputs, SETTINGS, ResultFolder(tmp_path / "out")).skipped == 3


@pytest.mark.parametrize(
    ("settings", "change"),
    [
        (Settings(Schema({"type": "object", "properties": {"n": {"type": "string", "maxLength": 9}}})), "the schema"),
        (Settings(SCHEMA, pages="1"), "--pages"),
        (Settings(SCHEMA, strict=True), "--strict"),
        (Settings(SCHEMA, dtype="bfloat16"), "--dtype"),
    ],
)
def test_what_decides_the_answer_makes_a_result_outdated(
    run: Runner, tmp_path: Path, settings: Settings, change: str
) -> None:
    run(ResultFolder(tmp_path / "out"))
    summary = run(ResultFolder(tmp_path / "out"), settings=settings)
    assert (summary.extracted, summary.again, summary.skipped) == (3, 3, 0)
    assert run.reports[0].changes == (change,)


@pytest.mark.parametrize("settings", [Settings(SCHEMA, password="p"), Settings(SCHEMA, max_new_tokens=99)])
def test_what_does_not_decide_the_answer_leaves_it_standing(run: Runner, tmp_path: Path, settings: Settings) -> None:
    run(ResultFolder(tmp_path / "out"))
    assert run(ResultFolder(tmp_path / "out"), settings=settings).skipped == 3


def test_a_changed_file_is_read_again_and_a_touched_one_is_not(run: Runner, tmp_path: Path) -> None:
    run(ResultFolder(tmp_path / "out"))
    Image.new("L", (40, 40), 99).save(run.scans / "1.png")
    os.utime(run.scans / "2.png", (1, 1))
    summary = run(ResultFolder(tmp_path / "out"))
    assert (summary.extracted, summary.skipped) == (1, 2)
    assert run.reports[0].changes == ("the file",)


def test_a_cut_answer_is_read_again_with_more_tokens_only(run: Runner, tmp_path: Path) -> None:
    cut = Answer('{"n": "x', outcome=Outcome.TRUNCATED)
    few = Settings(SCHEMA, max_new_tokens=50)
    assert len(run(ResultFolder(tmp_path / "out"), cut, settings=few).incomplete) == 3
    again = run(ResultFolder(tmp_path / "out"), settings=few)
    assert (again.skipped, len(again.incomplete)) == (3, 3)  # skipped, and still no success
    more = run(ResultFolder(tmp_path / "out"), settings=SETTINGS)
    assert (more.extracted, more.incomplete, run.reports[0].changes) == (3, [], ("--max-tokens",))


def test_a_missing_field_counts_until_it_is_allowed(run: Runner, tmp_path: Path) -> None:
    summary = run(ResultFolder(tmp_path / "out"), '{"n": null}')
    assert [name for name, _ in summary.incomplete] == [str(run.scans / n) for n in ("1.png", "2.png", "sub/3.png")]
    assert "1 required field is not in the document" in summary.incomplete[0][1]
    assert run(ResultFolder(tmp_path / "out"), allow_missing=True).incomplete == []
    assert run.read == 0


def test_a_result_without_its_record_is_not_finished(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(ResultFolder(out))
    (out / "1.meta.json").unlink()  # as when the process was killed between the two
    (out / "2.meta.json").write_text("{")
    (out / "sub" / "3.json").write_text("")  # as after a power cut
    assert run(ResultFolder(out)).extracted == 3


def test_a_failure_leaves_no_outdated_result_behind_but_a_valid_one_stays(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(ResultFolder(out))
    (run.scans / "1.png").write_bytes(b"damaged")
    summary = run(ResultFolder(out), '{"n": "y"}')
    assert [name for name, _ in summary.failed] == [str(run.scans / "1.png")]
    assert tree(out) == ALL[2:]
    summary = run(ResultFolder(out), RuntimeError("stuck"), force=True)
    assert len(summary.failed) == 3
    assert "unexpected RuntimeError: stuck" in summary.failed[1][1]
    assert tree(out) == ALL[2:]  # what they hold is still true


def test_inputs_of_one_name_from_two_folders_keep_their_outputs_in_every_order(tmp_path: Path) -> None:
    inputs = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        Image.new("L", (40, 40)).save(tmp_path / folder / "a.png")
        inputs.append(Input.of(tmp_path / folder / "a.png"))

    def read(*items: Input, answer: str) -> Summary:
        extractor = Extractor(ScriptedEngine(f'{{"n": "{answer}"}}'))
        return extract_batch(items, SETTINGS, ResultFolder(tmp_path / "out"), extractor=extractor)

    read(inputs[0], answer="first")
    read(inputs[1], answer="second")
    assert read(*reversed(inputs), answer="none").skipped == 2
    data = [path for path in (tmp_path / "out").iterdir() if ".meta" not in path.name]
    assert sorted(json.loads(path.read_text())["n"] for path in data) == ["first", "second"]


def test_results_of_inputs_that_moved_are_taken_over(run: Runner, tmp_path: Path) -> None:
    run(ResultFolder(tmp_path / "out"))
    run.scans = run.scans.rename(tmp_path / "elsewhere")
    assert run(ResultFolder(tmp_path / "out")).skipped == 3
    assert tree(tmp_path / "out") == ALL


def test_no_output_replaces_a_named_input(tmp_path: Path) -> None:
    Image.new("L", (40, 40)).save(tmp_path / "c.png")
    (tmp_path / "c.json").write_text("mine")
    inputs = [Input.of(tmp_path / "c.png"), Input.of(tmp_path / "c.json")]
    results = ResultFolder(tmp_path, inputs)
    summary = extract_batch(inputs, SETTINGS, results, extractor=Extractor(ScriptedEngine('{"n": "x"}')))
    assert (summary.extracted, len(summary.failed)) == (1, 1)
    assert (tmp_path / "c.json").read_text() == "mine"
    assert results.data_path(inputs[0]).name.startswith("c-")


# --- what goes wrong -----------------------------------------------------------------------------------------


def test_a_full_disk_ends_the_run_and_what_was_written_stays(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = output_files.tempfile.mkstemp
    calls = iter(range(100))

    def full(*args: Any, **options: Any) -> Any:
        if next(calls) >= 2:  # room for the two files of the first document
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **options)

    monkeypatch.setattr(output_files.tempfile, "mkstemp", full)
    with pytest.raises(DiskFullError, match=r"2\.json: cannot be written: No space left"):
        run(ResultFolder(tmp_path / "out"))
    assert run.read == 2  # and not the third
    assert tree(tmp_path / "out") == ALL[:2]
    monkeypatch.setattr(output_files.tempfile, "mkstemp", real)
    assert run(ResultFolder(tmp_path / "out")).skipped == 1


def test_an_output_that_cannot_be_written_fails_its_own_input_only(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "out" / "1.json").mkdir(parents=True)
    summary = run(ResultFolder(tmp_path / "out"))
    assert (summary.extracted, len(summary.failed)) == (2, 1)
    assert "cannot be written" in summary.failed[0][1]


def test_a_model_that_cannot_be_used_ends_the_run(run: Runner, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError):
        run(ResultFolder(tmp_path / "out"), '{"n": "x"}', CheckpointError("damaged"))
    assert tree(tmp_path / "out") == ALL[:2]


def test_cancelling_keeps_what_is_done(run: Runner, tmp_path: Path) -> None:
    cancel = threading.Event()

    def on_token(token: Token) -> None:
        if run.read == 2:
            cancel.set()

    summary = run(ResultFolder(tmp_path / "out"), cancel=cancel, on_token=on_token)
    assert (summary.cancelled, summary.extracted, summary.done) == (True, 1, 1)
    assert tree(tmp_path / "out") == ALL[:2]
    assert run(ResultFolder(tmp_path / "out")).extracted == 2


def test_a_file_is_replaced_whole_and_no_trace_is_left(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(OutputError, match=r"taken\.json: cannot be written"):
        write_whole(tmp_path / "taken.json", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "taken.json"]


def test_memory_does_not_grow_with_the_number_of_documents(scans: Path) -> None:
    class Counting:
        """Counts the results, and thereby all that hangs on them, that are alive at once."""

        def __init__(self) -> None:
            self.alive: list[weakref.ref[Result]] = []
            self.most = 0

        def earlier(self, item: Input) -> Record | None:
            return None

        def write(self, item: Input, record: Record) -> None:
            self.alive = [one for one in self.alive if one() is not None] + [weakref.ref(record.result)]
            self.most = max(self.most, len(self.alive))

        def keep(self, item: Input, record: Record) -> None:
            raise AssertionError

        def fail(self, item: Input, message: str, *, outdated: bool) -> None:
            raise AssertionError(message)

        def close(self) -> None:
            pass

    class Forgetful(ScriptedEngine):
        def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]:
            tokens = super().generate(request, statistics)
            self.requests.clear()
            return tokens

    results = Counting()
    gc.disable()  # no cycles: references alone have to free them
    try:
        summary = extract_batch(
            [Input.of(scans / "1.png")] * 50, SETTINGS, results, extractor=Extractor(Forgetful('{"n": "x"}'))
        )
    finally:
        gc.enable()
    assert summary.extracted == 50
    assert results.most <= 2


# --- records -------------------------------------------------------------------------------------------------


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    box = Box(1, 2, 3, 4)
    fields = (Field("/n", "x", 0.5, (Citation(1, box, box, "x"),), True), Field("/m", None))
    result = Result({"n": "x"}, Outcome.TRUNCATED, fields, ("/m",), ("p",), ("w",), (1, 3), "nano")
    (tmp_path / "a.png").write_bytes(b"abc")
    from forklift.outputs.record import FileState

    record = Record.of(tmp_path / "a.png", result, SETTINGS, state=FileState.of(tmp_path / "a.png"), seconds=1.5)
    described = json.loads(json.dumps(record.described(tmp_path)))
    assert Record.read(described, {"n": "x"}, tmp_path) == record
    described["fields"][0]["new_in_a_later_version"] = 1
    assert Record.read(described, {"n": "x"}, tmp_path) == record
    for damaged in ({**described, "record_version": 2}, {}, [], None, {**described, "fields": [{"pointer": 1}]}):
        with pytest.raises(ValueError, match="record"):
            Record.read(damaged, None, tmp_path)


def test_weights_are_told_apart_by_content_and_not_by_place(tmp_path: Path) -> None:
    for name, last in (("a", b"1"), ("b", b"1"), ("c", b"2")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "tokenizer.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"x" * 3_000_000 + last)
    first, same, other = (weights_digest(str(tmp_path / name)) for name in "abc")
    assert first == same
    assert first != other
    assert weights_digest(str(tmp_path / "none")) is None


# --- tables --------------------------------------------------------------------------------------------------


def names(path: Path) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(Path(line["name"]).name, line["outcome"]) for line in lines]


def test_a_table_has_a_line_for_every_input_and_goes_on_where_it_was_interrupted(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    cancel = threading.Event()
    run(TableFile(path, JsonLines()), cancel=cancel, on_start=lambda item: item.path.name == "2.png" and cancel.set())
    assert names(path) == [("1.png", "complete")]
    (run.scans / "2.png").write_bytes(b"")
    summary = run(TableFile(path, JsonLines()))
    assert (summary.skipped, summary.extracted, len(summary.failed), run.read) == (1, 1, 1, 1)
    assert names(path) == [("1.png", "complete"), ("2.png", "failed"), ("3.png", "complete")]
    assert json.loads(path.read_text().splitlines()[0])["data"] == {"n": "x"}


def test_outdated_lines_are_replaced_and_swept_up(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table = Csv(SCHEMA)
    run(TableFile(path, table))
    summary = run(TableFile(path, table), '{"n": "y"}', settings=Settings(SCHEMA, pages="1"))
    assert summary.again == 3
    assert path.read_text().count("complete,,,y") == 3
    journal = path.with_name("t.csv.meta.jsonl")
    assert journal.read_bytes().count(b"\n") == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["scans", "t.csv", "t.csv.meta.jsonl"]


def test_a_table_of_a_subset_is_a_subset_and_loses_nothing(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    run(TableFile(path, JsonLines()))
    one = [Input.of(run.scans / "2.png")]
    extract_batch(one, SETTINGS, TableFile(path, JsonLines()), extractor=Extractor(ScriptedEngine("{}")))
    assert names(path) == [("2.png", "complete")]
    assert run(TableFile(path, JsonLines())).skipped == 3


def test_a_line_that_was_cut_is_dropped_and_a_foreign_file_is_refused(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    run(TableFile(path, JsonLines()))
    journal = path.with_name("t.jsonl.meta.jsonl")
    journal.write_bytes(journal.read_bytes()[:-20])
    summary = run(TableFile(path, JsonLines()))
    assert (summary.skipped, summary.extracted) == (2, 1)
    assert len(names(path)) == 3
    journal.write_text("not ours\n")
    with pytest.raises(UsageError, match="move it away"):
        TableFile(path, JsonLines())
    assert journal.read_text() == "not ours\n"


def test_a_full_disk_under_a_table_keeps_what_stood_before(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"

    class Full:
        """A journal that takes half of a line."""

        def __init__(self, file: Any) -> None:
            self._file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def write(self, line: bytes) -> int:
            self._file.write(line[: len(line) // 2])
            self._file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

    table = TableFile(path, JsonLines())

    def fill_up(item: Input) -> None:
        if item.path.name == "2.png":
            table._journal = Full(table._journal)  # type: ignore[assignment]

    with pytest.raises(DiskFullError, match="No space left"):
        run(table, on_start=fill_up)
    assert path.with_name("t.jsonl.meta.jsonl").read_bytes().count(b"\n") == 1
    assert names(path) == [("1.png", "complete")]
    assert run(TableFile(path, JsonLines())).skipped == 1


def test_a_streamed_table_has_its_head_once(run: Runner) -> None:
    written: list[bytes] = []
    run(StreamedTable(Csv(SCHEMA), written.append))
    assert [part.count(b"\n") for part in written] == [1, 1, 1, 1]
    assert written[0].startswith(b"name,")


# --- annotated pages -----------------------------------------------------------------------------------------


def test_pages_are_drawn_once_also_for_documents_that_were_finished_before(run: Runner, tmp_path: Path) -> None:
    run(ResultFolder(tmp_path / "out"))
    pages = tmp_path / "pages"
    assert run(ResultFolder(tmp_path / "out"), annotated=AnnotatedPages(pages)).skipped == 3
    assert tree(pages) == ["1.page-1.png", "2.page-1.png", "sub/3.page-1.png"]
    before = (pages / "1.page-1.png").stat().st_mtime_ns
    run(ResultFolder(tmp_path / "out"), annotated=AnnotatedPages(pages))
    assert (pages / "1.page-1.png").stat().st_mtime_ns == before
    run(ResultFolder(tmp_path / "out"), '{"n": "y"}', force=True, annotated=AnnotatedPages(pages))
    assert (pages / "1.page-1.png").stat().st_mtime_ns > before


def test_drawn_pages_are_no_inputs_and_replace_no_picture_of_the_user(run: Runner, tmp_path: Path) -> None:
    Image.new("L", (40, 40), 77).save(run.scans / "1.page-1.png")
    run(ResultFolder(tmp_path / "out"), annotated=AnnotatedPages(run.scans))
    with Image.open(run.scans / "1.page-1.png") as picture:
        assert picture.getpixel((0, 0)) == 77
    assert len(list(run.scans.glob("1-*.page-1.png"))) == 1
    assert len(find_inputs([run.scans], recursive=True).documents) == 4  # 1, 2, 3 and the user's own


def test_a_page_that_cannot_be_drawn_leaves_the_result(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "pages" / "1.page-1.png").mkdir(parents=True)
    annotated = AnnotatedPages(tmp_path / "pages")
    annotated._earlier[tmp_path / "pages"] = {}  # as if it had come in between
    summary = run(ResultFolder(tmp_path / "out"), annotated=annotated)
    assert (summary.extracted, summary.failed) == (3, [])
    assert "could not be annotated" in summary.incomplete[0][1]
    assert tree(tmp_path / "out") == ALL
