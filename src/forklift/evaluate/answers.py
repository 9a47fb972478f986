"""Answers to the documents of a dataset: kept on disk while a model works through them, or made by another tool."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forklift.errors import DatasetError, OutputError
from forklift.evaluate.datasets import Example, read_json
from forklift.outputs.files import as_json, write_whole
from forklift.results import Outcome, Result

_FORMAT = "forklift-answer/1"


@dataclass(frozen=True)
class Place:
    """Where a value stands. page: 1-based. box: left, top, right, bottom, relative to the page as shown, 0-1."""

    page: int
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Answer:
    """What came out for one document.

    data: None where there is no answer; `error` then says why. truncated: whether it was cut at the token limit;
    None where the answer does not say. confidences, places: by JSON Pointer in data. seconds: of extraction alone.
    """

    data: Any = None
    error: str | None = None
    truncated: bool | None = None
    confidences: Mapping[str, float] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    seconds: float | None = None
    answer_tokens: int | None = None
    model: str = ""


class AnswerStore:
    """A folder with one file a document. An answer is taken up again only if nothing has changed that it rests on.

    settings: of the run: model, its files, token limit.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self._folder = folder
        self._settings = dict(settings)

    def load(self, example: Example) -> Answer | None:
        """The answer of an earlier run; None if there is none, if it failed, or if it was made in another way."""
        path = self._path(example)
        if not path.exists():
            return None
        try:
            record = read_json(path)
        except DatasetError:
            return None  # cut off by a crash: made again
        if not isinstance(record, dict) or record.get("made_from") != self._made_from(example):
            return None
        return _from_details(record["result"]) if record.get("result") else None

    def save(self, example: Example, result: Result | None, error: str | None) -> None:
        """Raises OutputError when the file cannot be written."""
        record = {
            "format": _FORMAT,
            "made_from": self._made_from(example),
            "error": error,
            "result": dataclasses.asdict(result) if result is not None else None,
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error_:
            raise OutputError(f"{self._folder}: the answers cannot be kept there: {error_.strerror}.") from None
        write_whole(self._path(example), as_json(record, indent=None))

    def _path(self, example: Example) -> Path:
        return self._folder / f"{example.id}.json"

    def _made_from(self, example: Example) -> dict[str, Any]:
        schema = json.dumps(example.schema.source, ensure_ascii=False)
        return {
            **self._settings,
            "schema": hashlib.sha256(schema.encode("utf-8", "surrogatepass")).hexdigest(),
            "document": _digest(example.document),
        }


def _digest(path: Path | None) -> str | None:
    try:
        with open(path or os.devnull, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def model_files(folder: Path) -> str:
    """A digest of the names, sizes and times of a checkpoint's files: a retrained model is another model."""
    facts = [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.iterdir()) if path.is_file()
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def answer_of(result: Result) -> Answer:
    return _from_details(dataclasses.asdict(result))


def read_predictions(folder: Path, examples: Sequence[Example]) -> dict[str, Answer]:
    """An answer for each example, by id, from files that another tool or an earlier run wrote.

    A file is called <id>.json, or after its document as `forklift extract --out` does: <document name>.json or, where
    no other document has that stem, <stem>.json. It holds the data alone, `forklift extract --meta` or a kept answer.
    Raises DatasetError when the folder holds no answer for any example.
    """
    if not folder.is_dir():
        raise DatasetError(f"--predictions {folder}: there is no such folder.")
    stems = Counter(example.document.stem for example in examples if example.document is not None)
    answers = {}
    found = 0
    for example in examples:
        names = [example.id]
        if example.document is not None:
            names += [example.document.name]
            names += [example.document.stem] * (stems[example.document.stem] == 1)
        path = next((folder / f"{name}.json" for name in names if (folder / f"{name}.json").is_file()), None)
        if path is None:
            answers[example.id] = Answer(error=f"no answer: {example.id}.json is not in {folder}")
            continue
        found += 1
        try:
            answers[example.id] = _from_file(read_json(path))
        except DatasetError as error:
            answers[example.id] = Answer(error=str(error).rstrip("."))
    if not found:
        raise DatasetError(
            f"--predictions {folder}: holds an answer for none of the {len(examples)} documents; "
            f"the first should be called {examples[0].id}.json."
        )
    return answers


def _from_file(content: Any) -> Answer:
    if isinstance(content, dict):
        if content.get("format") == _FORMAT:
            if content.get("result") is None:
                return Answer(error=str(content.get("error")))
            return _from_details(content["result"])
        if {"data", "outcome", "fields", "timings"} <= content.keys():
            return _from_details(content)
    return Answer(content, error=None if content is not None else "the answer is null")


def _from_details(details: Mapping[str, Any]) -> Answer:
    """details: a `Result` as JSON."""
    truncated = details["outcome"] == Outcome.TRUNCATED.value
    data = details["data"]
    error = None
    if data is None:
        error = "the answer was cut before any of it was complete" if truncated else "the answer is null"
    timings = details.get("timings", {})
    seconds = [timings.get(name, 0.0) for name in ("document_seconds", "prefill_seconds", "decode_seconds")]
    confidences, places = {}, {}
    for one in details.get("fields", ()):
        if one.get("confidence") is not None:
            confidences[one["pointer"]] = float(one["confidence"])
        for citation in one.get("citations") or ():
            box = citation["relative"]
            places[one["pointer"]] = Place(citation["page"], (box["left"], box["top"], box["right"], box["bottom"]))
            break
    return Answer(
        data=data,
        error=error,
        truncated=truncated,
        confidences=confidences,
        places=places,
        seconds=sum(seconds),
        answer_tokens=timings.get("answer_tokens"),
        model=str(details.get("model", "")),
    )
