"""Names of outputs: never shared, and the same whatever subset of a folder is read."""

from __future__ import annotations

import itertools
from pathlib import Path, PurePosixPath

import pytest

from forklift.inputs import Input
from forklift.outputs.names import LONGEST_NAME, OutputNames


def names(*items: Input) -> list[str]:
    outputs = OutputNames(lambda name, item: False)
    return [str(outputs.of(item)) for item in items]


def make(folder: Path, *files: str) -> list[Input]:
    folder.mkdir(exist_ok=True)
    for file in files:
        (folder / file).write_bytes(b"%PDF-")
    return [Input.of(folder / file) for file in files]


def test_the_suffix_is_left_out_where_nothing_else_has_the_stem(tmp_path: Path) -> None:
    assert names(*make(tmp_path, "bill.pdf", "Bill 2.PNG", "scan.v1.tif", "plain")) == [
        "bill", "Bill 2", "scan.v1", "plain",
    ]  # fmt: skip


def test_a_name_is_the_same_whatever_subset_is_read(tmp_path: Path) -> None:
    items = make(tmp_path, "a.pdf", "a.png", "A.tif", "a", "b.pdf", "b.txt.pdf")
    together = names(*items)
    assert together == ["a.pdf", "a.png", "A.tif", "a", "b", "b.txt"]
    for size in (1, 2, 5):
        for subset in itertools.permutations(range(len(items)), size):
            assert names(*(items[index] for index in subset)) == [together[index] for index in subset]


def test_files_that_are_no_documents_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "a.txt").write_text("words")
    assert names(*make(tmp_path, "a.pdf")) == ["a"]


def test_names_that_differ_in_capitals_alone_are_marked(tmp_path: Path) -> None:
    items = make(tmp_path, "a.pdf", "A.pdf")
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("this file system ignores capitals")
    both = names(*items)
    assert both[0].startswith("a.pdf-")
    assert both[1].startswith("A.pdf-")
    assert both[0].casefold() != both[1].casefold()
    assert [names(items[0])[0], names(items[1])[0]] == both


def test_files_of_one_name_from_two_folders_are_told_apart(tmp_path: Path) -> None:
    first, second = make(tmp_path / "x", "a.pdf") + make(tmp_path / "y", "a.pdf")
    plain, marked = names(first, second)
    assert plain == "a"
    assert marked.startswith("a-")
    assert len(marked) == 10
    # In one folder of results, the first owner keeps its name in every later run.
    owned = OutputNames(lambda name, item: str(name) == "a" and item != first)
    assert str(owned.of(second)) == marked
    assert str(owned.of(first)) == "a"
    assert str(owned.of(second)) == marked  # asked again


def test_long_names_are_cut_between_characters_and_stay_apart(tmp_path: Path) -> None:
    items = [Input(tmp_path / f"{'ü' * 120}{end}.pdf", PurePosixPath(f"{'ü' * 120}{end}.pdf")) for end in "ab"]
    first, second = names(*items)
    assert first != second
    assert all(len(name.encode()) <= LONGEST_NAME + 9 for name in (first, second))


def test_no_data_lands_on_the_record_of_another(tmp_path: Path) -> None:
    plain, meta = names(*make(tmp_path, "x.pdf", "x.meta.pdf"))
    assert plain == "x"
    assert meta.startswith("x.meta-")
