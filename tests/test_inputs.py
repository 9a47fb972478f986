"""Files, folders and globs: what is found, what is left out, and in which order."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest
from PIL import Image

from forklift.errors import UsageError
from forklift.inputs import ANNOTATED_MARK, Input, find_inputs, natural_key


def make(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (4, 4)).save(path, "PNG")
    return path


def places(*names: object, recursive: bool = False, outside: tuple[Path, ...] = ()) -> list[str]:
    found = find_inputs([Path(str(name)) for name in names], recursive=recursive, outside=outside)
    return [str(item.place) for item in found.documents]


def test_a_folder_gives_its_documents_in_natural_order_whatever_their_suffix_is_written_like(tmp_path: Path) -> None:
    for name in ("page 10.png", "page 9.PNG", "Page 1.TIFF", "a.heic", "b.jfif", "c.Pdf", "d.webp"):
        make(tmp_path / name)
    assert places(tmp_path) == ["a.heic", "b.jfif", "c.Pdf", "d.webp", "Page 1.TIFF", "page 9.PNG", "page 10.png"]


def test_a_folder_is_looked_through_by_content_too(tmp_path: Path) -> None:
    make(tmp_path / "scan-without-suffix")
    make(tmp_path / "scan.dat")
    (tmp_path / "damaged.pdf").write_bytes(b"")  # named like one: reading it will say what is wrong
    for name in ("notes.txt", "a.json", "a.meta.json", "table.csv"):
        (tmp_path / name).write_text("{}")
    assert places(tmp_path) == ["damaged.pdf", "scan-without-suffix", "scan.dat"]


def test_hidden_files_and_folders_are_left_out_and_subfolders_are_read_on_demand(tmp_path: Path) -> None:
    for name in (".hidden.png", "z.png", "in/.x/a.png", "in/b.png", "in/a/2.png", "in/a/10.png", ".git/c.png"):
        make(tmp_path / name)
    assert places(tmp_path) == ["z.png"]
    # The files of a folder, then the folders in it.
    assert places(tmp_path, recursive=True) == ["z.png", "in/b.png", "in/a/2.png", "in/a/10.png"]


def test_our_own_outputs_are_left_out(tmp_path: Path) -> None:
    make(tmp_path / "a.png")
    make(tmp_path / "out" / "a.page-1.png")
    annotated = make(tmp_path / "a.page-1.png")
    annotated.write_bytes(annotated.read_bytes() + ANNOTATED_MARK)
    assert places(tmp_path, recursive=True) == ["a.png", "out/a.page-1.png"]
    assert places(tmp_path, recursive=True, outside=(tmp_path / "out",)) == ["a.png"]
    assert places(tmp_path, recursive=True, outside=(tmp_path,)) == ["a.png", "out/a.page-1.png"]
    assert places(tmp_path / "**/*.png", outside=(tmp_path / "out",)) == ["a.png"]
    assert places(annotated) == ["a.page-1.png"]  # named itself, it is meant


def test_a_pattern_is_expanded_for_shells_that_do_not(tmp_path: Path) -> None:
    for name in ("in/a2.png", "in/A10.PNG", "in/b.tif", "in/deep/a3.png", "in/.a4.png", "other/a5.png"):
        make(tmp_path / name)
    (tmp_path / "in" / "a.txt").write_text("x")
    assert places(tmp_path / "in" / "*.png") == ["a2.png", "A10.PNG"]
    assert places(tmp_path / "in" / "a*") == ["a2.png"]  # the text is no document
    assert places(tmp_path / "in" / "**" / "*.png") == ["a2.png", "A10.PNG", "deep/a3.png"]
    assert places(tmp_path / "*" / "a?.png") == ["in/a2.png", "other/a5.png"]


def test_a_name_that_looks_like_a_pattern_but_is_there_is_that_file(tmp_path: Path) -> None:
    make(tmp_path / "scan [1].png")
    make(tmp_path / "scan 1.png")
    assert places(tmp_path / "scan [1].png") == ["scan [1].png"]


def test_the_same_file_is_taken_once_whatever_it_is_called(tmp_path: Path) -> None:
    first = make(tmp_path / "a.png")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.png").symlink_to(first)
    assert places(first, tmp_path / "sub" / ".." / "a.png", tmp_path / "link.png", tmp_path, tmp_path / "*.png") == [
        "a.png"
    ]
    os.link(first, tmp_path / "hard.png")  # a file of its own to whoever made it
    assert places(tmp_path) == ["a.png", "hard.png"]


def test_links_to_folders_make_no_circle(tmp_path: Path) -> None:
    make(tmp_path / "in" / "a.png")
    (tmp_path / "in" / "again").symlink_to(tmp_path / "in")
    assert places(tmp_path / "in", recursive=True) == ["a.png"]


def test_a_file_that_is_not_there_is_left_for_its_reader_to_refuse(tmp_path: Path) -> None:
    (tmp_path / "dangling.pdf").symlink_to(tmp_path / "gone.pdf")
    assert places(tmp_path / "none.pdf") == ["none.pdf"]
    assert places(tmp_path) == ["dangling.pdf"]


def test_what_gives_nothing_is_told_and_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    make(tmp_path / "a.png")
    (tmp_path / "empty" / "deep").mkdir(parents=True)
    found = find_inputs([tmp_path / "a.png", tmp_path / "empty", tmp_path / "*.bmp"])
    assert found.documents == (Input(tmp_path / "a.png", PurePosixPath("a.png")),)
    assert "--recursive" in found.problems[0]
    assert "no document matches" in found.problems[1]
    with pytest.raises(UsageError, match="no document in this folder"):
        find_inputs([tmp_path / "empty"], recursive=True)


def test_natural_order() -> None:
    names = ["b", "a10", "A9", "a", "a9b", "a09"]
    assert sorted(names, key=natural_key) == ["a", "a09", "A9", "a9b", "a10", "b"]
