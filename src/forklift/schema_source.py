"""Where a schema comes from: a bundled name, a file, JSON text or a Pydantic model -> JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from forklift.errors import SchemaError
from forklift.json_schema import MAX_NESTING, walk


@lru_cache(maxsize=1)
def bundled_names() -> tuple[str, ...]:
    """Names of the schemas that come with the package."""
    folder = resources.files("forklift") / "schemas"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".json")))


def read_source(source: Any, name: str | None = None) -> tuple[Any, str]:
    """The JSON of a dict, a file (Path or str), JSON text, a Pydantic model class or a bundled name; and its name.

    Raises SchemaError when it cannot be read; whether it is a schema is not looked at.
    """
    if isinstance(source, Mapping | bool):
        return copy.deepcopy(source), name or "schema"
    if isinstance(source, type) and hasattr(source, "model_json_schema"):
        return from_pydantic(source), name or source.__name__
    if isinstance(source, Path):
        return parse(read_text(source), source.name), name or source.name
    if isinstance(source, str):
        text = source.strip()
        if text.startswith("{"):
            return parse(text, name or "schema"), name or "schema"
        bundled = bundled_name(text)
        if bundled is not None:
            return parse(bundled_text(bundled), bundled), name or bundled
        path = Path(text).expanduser()
        return parse(read_text(path), path.name), name or path.name
    raise SchemaError(
        f"a schema is a dict, a file, JSON text, a Pydantic model or a bundled name, not {type(source).__name__}"
    )


def bundled_name(text: str) -> str | None:
    """The bundled schema that is meant, with hyphens or underscores; None for none."""
    name = text.replace("_", "-")
    return name if name in bundled_names() else None


def bundled_text(name: str) -> str:
    return (resources.files("forklift") / "schemas" / f"{name}.json").read_text(encoding="utf-8")


def read_text(path: Path) -> str:
    """Raises SchemaError when there is no such file or it is no text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        names = ", ".join(bundled_names())
        raise SchemaError(f"{path}: no such schema file; the bundled schemas are {names}") from None
    except (OSError, ValueError) as error:
        raise SchemaError(f"{path}: cannot be read as a schema: {error}") from None


def parse(text: str, name: str) -> Any:
    """JSON of a schema. Raises SchemaError, with line and column, for what is none or names a key twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            repeated = next(key for key, _ in pairs if sum(other == key for other, _ in pairs) > 1)
            raise SchemaError(f"{name}: the key {repeated!r} stands twice in one object")
        return result

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise SchemaError(f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise SchemaError(f"{name}: nested more than {MAX_NESTING} levels deep; flatten it") from None


def from_pydantic(model: Any) -> Any:
    """The model's JSON Schema without the titles that Pydantic makes up from the names: noise in a prompt."""
    source = model.model_json_schema()
    for _, node in list(walk(source)):
        if isinstance(node, dict) and isinstance(node.get("title"), str):
            del node["title"]
    return source
