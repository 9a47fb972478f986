"""What the documents of one batch are read with, and whether an earlier result was read with the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from forklift.documents import Limits
from forklift.engines.base import Sampling
from forklift.errors import ModelError
from forklift.extract import DEFAULT_MAX_NEW_TOKENS
from forklift.page_ranges import parse_page_ranges
from forklift.schema import Schema

_SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True)
class Settings:
    """The parameters of `forklift.load` and `Extractor.extract`, for every document alike."""

    schema: Schema
    model: str = "nano"
    dtype: str | None = None
    pages: str | None = None
    password: str | None = field(default=None, repr=False)
    max_new_tokens: int = DEFAULT_MAX_NEW_TOKENS
    strict: bool = False
    text_layer: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def described(self) -> dict[str, Any]:
        """What a record keeps: all that decides the answer, as JSON."""
        schema = json.dumps(self.schema.source, ensure_ascii=False)
        sampling = self.sampling
        return {
            "schema": {"name": self.schema.name, "sha256": hashlib.sha256(schema.encode(errors="replace")).hexdigest()},
            "model": self.model,
            "weights": weights_digest(self.model),
            "dtype": self.dtype,
            "pages": None if self.pages is None else _canonical_pages(self.pages),
            "strict": self.strict,
            "text_layer": self.text_layer,
            "max_new_tokens": self.max_new_tokens,
            "sampling": None
            if sampling.temperature == 0
            else {"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed},
        }

    def changes_since(self, described: Mapping[str, Any], *, truncated: bool) -> tuple[str, ...]:
        """In words, what differs from the settings of an earlier record; empty when its answer still holds.

        truncated: whether that answer was cut, for then another limit on tokens gives another answer.
        """
        now, changes = self.described, []
        if _at(described, "schema", "sha256") != now["schema"]["sha256"]:
            changes.append("the schema")
        known = now["weights"] is not None and described.get("weights") is not None
        if described.get("weights" if known else "model") != now["weights" if known else "model"]:
            changes.append("the model")
        for name in ("pages", "strict", "dtype", "sampling"):
            if described.get(name) != now[name]:
                changes.append(f"--{name}" if name != "sampling" else "the sampling")
        if described.get("text_layer", True) != now["text_layer"]:
            changes.append("--text-layer")
        if truncated and described.get("max_new_tokens") != now["max_new_tokens"]:
            changes.append("--max-tokens")
        return tuple(changes)


def weights_digest(model: str) -> str | None:
    """A digest of a checkpoint's files, with samples in place of whole weights; None for what is no folder.

    The same for copies of a checkpoint wherever they lie; other weights of the same shapes differ.
    """
    from forklift.checkpoint.catalog import resolve_model

    try:
        folder = resolve_model(model)
        digest = hashlib.sha256()
        for path in sorted(folder.iterdir()):
            if path.suffix in (".safetensors", ".json", ".jinja") and path.is_file():
                digest.update(f"{path.name}:{path.stat().st_size}\n".encode())
                _sample(path, digest)
    except (ModelError, OSError):  # loading it says what is wrong
        return None
    return digest.hexdigest()


def _sample(path: Path, digest: Any) -> None:
    size = path.stat().st_size
    pieces = 16
    with path.open("rb") as file:
        if size <= _SAMPLE_BYTES * pieces:
            digest.update(file.read())
            return
        for index in range(pieces):
            file.seek((size - _SAMPLE_BYTES) * index // (pieces - 1))
            digest.update(file.read(_SAMPLE_BYTES))


def _canonical_pages(pages: str) -> str:
    ranges = parse_page_ranges(pages)
    return ",".join(str(first) if last == first else f"{first}-{last or ''}" for first, last in ranges)


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
