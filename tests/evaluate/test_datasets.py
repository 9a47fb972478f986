"""Datasets on disk: the three layouts, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from forklift.errors import DatasetError
from forklift.evaluate.datasets import read_dataset

SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}, "seller": {"type": "string"}}}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (30, 20), "white").save(path)
    return path


def test_a_folder_with_one_schema_for_all(tmp_path: Path) -> None:
    write(tmp_path / "schema.json", SCHEMA)
    for name in ("b", "a.1"):
        picture(tmp_path / f"{name}.png")
        write(tmp_path / f"{name}.gold.json", {"total": 5})
    write(tmp_path / "notes.txt", "not part of it")
    examples = read_dataset(tmp_path)
    assert [(one.id, one.document, one.kind) for one in examples] == [
        ("a.1", tmp_path / "a.1.png", ""),
        ("b", tmp_path / "b.png", ""),
    ]
    assert examples[0].gold == {"total": 5}
    assert examples[0].expected.complete(examples[0].gold) == {"total": 5, "seller": None}
    assert [one.id for one in read_dataset(tmp_path, limit=1)] == ["a.1"]


def test_a_schema_of_its_own_goes_before_that_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "schema.json", SCHEMA)
    write(tmp_path / "deep" / "a.gold.json", {"x": 1})
    write(tmp_path / "deep" / "a.schema.json", {"type": "object", "properties": {"x": {"type": "integer"}}})
    write(tmp_path / "deep" / "b.gold.json", {"total": 1})
    one, other = read_dataset(tmp_path)
    assert (one.id, one.kind, one.document) == ("deep__a", "deep", None)
    assert set(one.schema.source["properties"]) == {"x"}
    assert set(other.schema.source["properties"]) == {"total", "seller"}


def test_labels_stand_beside_gold_and_name_the_kind(tmp_path: Path) -> None:
    write(tmp_path / "schema.json", SCHEMA)
    write(tmp_path / "a.gold.json", {"total": 5})
    labels = {"kind": "invoice", "labels": {"/total": ["distractor"]}, "near_misses": {"/total": [4]}}
    write(tmp_path / "a.labels.json", labels)
    (example,) = read_dataset(tmp_path)
    assert (example.kind, example.labels, example.near_misses) == (
        "invoice",
        {"/total": ("distractor",)},
        {"/total": (4,)},
    )


def test_the_layout_of_contextual_ai(tmp_path: Path) -> None:
    wrapped = {"name": "Resume", "description": "of a person", "schema_definition": SCHEMA}
    for domain, kind, schema in (("finance", "10kq", SCHEMA), ("hiring", "resume", wrapped)):
        folder = tmp_path / domain / kind
        write(folder / f"{kind}-schema.json", schema)
        for name in ("[fan24] survey", "two"):
            write(folder / "pdf+gold" / f"{name}.gold.json", {"total": 1})
            picture(folder / "pdf+gold" / f"{name}.pdf.png").rename(folder / "pdf+gold" / f"{name}.pdf")
    examples = read_dataset(tmp_path)
    assert [(one.id, one.kind) for one in examples] == [
        ("finance__10kq__[fan24] survey", "finance/10kq"),
        ("finance__10kq__two", "finance/10kq"),
        ("hiring__resume__[fan24] survey", "hiring/resume"),
        ("hiring__resume__two", "hiring/resume"),
    ]
    assert all(one.document is not None and one.document.suffix == ".pdf" for one in examples)
    assert examples[2].schema.source == SCHEMA
    (alone, _) = read_dataset(tmp_path / "hiring" / "resume")
    assert (alone.id, alone.kind) == ("resume__[fan24] survey", "resume")


def test_a_manifest(tmp_path: Path) -> None:
    picture(tmp_path / "files" / "a.png")
    write(tmp_path / "gold" / "a.json", {"total": 1})
    write(tmp_path / "s.json", SCHEMA)
    lines = [
        {"document": "files/a.png", "gold": "gold/a.json", "schema": "s.json", "kind": "slip"},
        {"id": "second", "gold": {"total": 2}, "schema": SCHEMA, "labels": {"/total": ["derived"]}},
        {"id": "third", "gold": {}, "schema": "receipt"},
    ]
    path = write(tmp_path / "set.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    first, second, third = read_dataset(path)
    assert (first.id, first.document, first.gold, first.kind) == ("a", tmp_path / "files/a.png", {"total": 1}, "slip")
    assert (second.id, second.document, second.labels) == ("second", None, {"/total": ("derived",)})
    assert "vendor" in third.schema.source["properties"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no gold answers"),
        ({"a.gold.json": {}}, "has no schema"),
        ({"a.gold.json": "{", "schema.json": SCHEMA}, "a.gold.json: not JSON"),
        ({"a.gold.json": '{"total": NaN}', "schema.json": SCHEMA}, "NaN is no JSON number"),
        ({"a.gold.json": {}, "schema.json": {"type": "nonsense"}}, "schema.json: /type"),
        ({"a.gold.json": {}, "schema.json": SCHEMA, "a.labels.json": {"labels": {"/x": "y"}}}, '"labels" maps'),
        ({"a.gold.json": {}, "schema.json": SCHEMA, "a.pdf": "x", "a.png": "y"}, "a.pdf, a.png share one gold"),
        ({"k/pdf+gold/a.gold.json": {}}, "0 files end in -schema.json"),
    ],
)
def test_a_folder_that_is_no_dataset_says_why(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    for name, content in files.items():
        write(tmp_path / name, content)
    with pytest.raises(DatasetError, match=message):
        read_dataset(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: not JSON"),
        ('{"gold": {}}', 'an object with "gold" and "schema"'),
        ('{"gold": {}, "schema": {}}', 'neither "document" nor "id"'),
        ('{"gold": {}, "schema": {}, "id": "a/b"}', "cannot be a file name"),
        ('{"gold": "none.json", "schema": {}, "id": "a"}', "none.json: there is no such file"),
        (
            '{"gold": {}, "schema": {}, "id": "a"}\n{"gold": {}, "schema": {}, "id": "a"}',
            'two documents are called "a"',
        ),
    ],
)
def test_a_manifest_that_is_malformed_says_where(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_dataset(write(tmp_path / "set.jsonl", line))


def test_a_place_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no such dataset"):
        read_dataset(tmp_path / "nowhere")
