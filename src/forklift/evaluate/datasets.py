"""Documents with known answers: three layouts on disk, read as they are.

folder         <name>.<ext> beside <name>.gold.json; <name>.schema.json, or one schema.json for all; subfolders count
ContextualAI   <domain>/<kind>/<kind>-schema.json with <domain>/<kind>/pdf+gold/<name>.pdf and <name>.gold.json
manifest       a .jsonl file: one object a line with "document", "gold", "schema", and "id", "kind", "labels" at will

<name>.labels.json may stand beside a gold file: {"kind": "invoice", "labels": {"/total": ["distractor"]},
"near_misses": {"/total": [119.0]}}.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from forklift.errors import DatasetError, SchemaError
from forklift.evaluate.expected import ExpectedFields
from forklift.schema import Schema

GOLD, SCHEMA, LABELS = ".gold.json", ".schema.json", ".labels.json"
DOCUMENT_ENDINGS = tuple("pdf png jpg jpeg tif tiff webp gif bmp jp2 avif heic".split())
CONTEXTUAL_FOLDER = "pdf+gold"


@dataclass(frozen=True)
class Example:
    """One document and its right answer.

    id: unique in its dataset, of letters that file names allow ("/" as "__"). document: None where there is none,
    which is enough to score answers that were made elsewhere. kind: of document, "" where nothing says it.
    labels: JSON Pointer in gold -> what makes the field special. near_misses: JSON Pointer in gold -> values in the
    document that are easily taken for the right one.
    """

    id: str
    document: Path | None
    schema: Schema
    expected: ExpectedFields
    gold: Any
    kind: str = ""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    near_misses: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def read_dataset(path: Path, *, limit: int | None = None) -> list[Example]:
    """The examples of `path`, by id; the first `limit` of them. Raises DatasetError naming the file at fault."""
    if path.is_file():
        found = _manifest(path)
    elif path.is_dir():
        found = _folder(path)
    else:
        raise DatasetError(f"{path}: there is no such dataset; give a folder, or a manifest that ends in .jsonl.")
    examples: dict[str, Example] = {}
    for example_id, read in found:
        if example_id in examples:
            raise DatasetError(f'{path}: two documents are called "{example_id}"; ids have to be unique.')
        if limit is not None and len(examples) == limit:
            break
        examples[example_id] = read()
    if not examples:
        raise DatasetError(f"{path}: holds no gold answers; a document x.pdf needs x{GOLD} beside it.")
    return list(examples.values())


_Found = Iterator[tuple[str, Callable[[], Example]]]


def _folder(root: Path) -> _Found:
    for gold_path in sorted(root.rglob(f"*{GOLD}")):
        place = gold_path.parent.relative_to(root)
        stem = gold_path.name[: -len(GOLD)]
        if gold_path.parent.name == CONTEXTUAL_FOLDER:
            steps = place.parts[:-1] or (root.resolve().name,)
            schema_path = _one_schema(gold_path.parent.parent)
        else:
            steps = place.parts
            schema_path = _nearest_schema(gold_path, stem, root)
        example_id, kind = "__".join((*steps, stem)), "/".join(steps)
        yield example_id, _reader(gold_path, example_id, stem, schema_path, kind)


def _reader(gold_path: Path, example_id: str, stem: str, schema_path: Path, kind: str) -> Callable[[], Example]:
    def read() -> Example:
        labels_path = gold_path.with_name(stem + LABELS)
        labels = read_json(labels_path) if labels_path.exists() else {}
        return _example(
            example_id=example_id,
            document=_document(gold_path.parent, stem),
            schema=_schema(schema_path),
            gold=read_json(gold_path),
            kind=kind,
            labels=labels,
            name=str(labels_path),
        )

    return read


def _one_schema(folder: Path) -> Path:
    found = sorted(folder.glob("*-schema.json"))
    if len(found) != 1:
        raise DatasetError(f"{folder}: {len(found)} files end in -schema.json; there has to be one.")
    return found[0]


def _nearest_schema(gold_path: Path, stem: str, root: Path) -> Path:
    own = gold_path.with_name(stem + SCHEMA)
    if own.exists():
        return own
    folder = gold_path.parent
    while True:
        if (folder / "schema.json").exists():
            return folder / "schema.json"
        if folder == root:
            raise DatasetError(f"{gold_path}: has no schema; add {own.name} beside it, or one schema.json for all.")
        folder = folder.parent


def _document(folder: Path, stem: str) -> Path | None:
    found = [
        path
        for path in sorted(folder.glob(_literal(stem) + ".*"))
        if path.name[len(stem) + 1 :].casefold() in DOCUMENT_ENDINGS and path.is_file()
    ]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise DatasetError(f"{folder}: {names} share one gold answer; keep one of them.")
    return found[0] if found else None


def _literal(name: str) -> str:
    return "".join(f"[{character}]" if character in "[*?" else character for character in name)


def _manifest(path: Path) -> _Found:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read as a manifest: {error}.") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name = f"{path}, line {number}"
        try:
            entry = loads(line)
        except ValueError as error:
            raise DatasetError(f"{name}: not JSON: {error}.") from None
        if not isinstance(entry, dict) or "gold" not in entry or "schema" not in entry:
            raise DatasetError(f'{name}: has to be an object with "gold" and "schema", and "document".')
        document = entry.get("document")
        if document is not None and not isinstance(document, str):
            raise DatasetError(f'{name}: "document" is a path, not {type(document).__name__}.')
        if document is None and "id" not in entry:
            raise DatasetError(f'{name}: names neither "document" nor "id".')
        example_id = str(entry.get("id", Path(document or "").stem))
        if not example_id or any(character in example_id for character in '/\\:\0"<>|?*'):
            raise DatasetError(f'{name}: the id "{example_id}" cannot be a file name; give another "id".')
        yield example_id, _entry_reader(entry, example_id, path.parent, name)


def _entry_reader(entry: dict[str, Any], example_id: str, folder: Path, name: str) -> Callable[[], Example]:
    def read() -> Example:
        gold, labels, schema = entry["gold"], entry.get("labels", {}), entry["schema"]
        if isinstance(schema, str) and (folder / schema).is_file():
            loaded = _schema(folder / schema)
        else:  # a bundled name, or the schema itself
            loaded = _load_schema(schema, name)
        if isinstance(labels, str):
            labels = read_json(folder / labels)
        elif labels and "labels" not in labels:
            labels = {"labels": labels}
        document = entry.get("document")
        return _example(
            example_id=example_id,
            document=folder / document if document is not None else None,
            schema=loaded,
            gold=read_json(folder / gold) if isinstance(gold, str) else gold,
            kind=str(entry.get("kind", "")),
            labels=labels,
            name=name,
        )

    return read


def _example(
    *,
    example_id: str,
    document: Path | None,
    schema: tuple[Schema, ExpectedFields],
    gold: Any,
    kind: str,
    labels: Any,
    name: str,
) -> Example:
    by_pointer = _lists(labels, "labels", name)
    near_misses = _lists(labels, "near_misses", name)
    return Example(
        id=example_id,
        document=document,
        schema=schema[0],
        expected=schema[1],
        gold=gold,
        kind=str(labels.get("kind", kind)),
        labels={pointer: tuple(map(str, values)) for pointer, values in by_pointer.items()},
        near_misses={pointer: tuple(values) for pointer, values in near_misses.items()},
    )


def _lists(labels: Any, part: str, name: str) -> dict[str, list[Any]]:
    by_pointer = labels.get(part, {}) if isinstance(labels, dict) else None
    if not isinstance(by_pointer, dict) or not all(isinstance(value, list) for value in by_pointer.values()):
        raise DatasetError(f'{name}: "{part}" maps JSON Pointers to lists.')
    return by_pointer


@lru_cache(maxsize=64)
def _schema(path: Path) -> tuple[Schema, ExpectedFields]:
    """One schema serves many documents, and its checks are costly to make."""
    return _load_schema(read_json(path), str(path))


def _load_schema(source: Any, name: str) -> tuple[Schema, ExpectedFields]:
    if isinstance(source, dict) and isinstance(source.get("schema_definition"), dict):
        source = source["schema_definition"]  # ContextualAI wraps some of its schemas
    try:
        schema = Schema.load(source, name=name)
    except SchemaError as error:
        raise DatasetError(str(error)) from None
    return schema, ExpectedFields(schema.source)


def read_json(path: Path) -> Any:
    """Raises DatasetError for what is no JSON file."""
    try:
        return loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: not JSON: {error}.") from None


def loads(text: str) -> Any:
    """JSON without NaN and infinities, which are none. Raises ValueError."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON number")

    return json.loads(text, parse_constant=refuse)
