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
from forklift.json_schema import MAX_NESTING
from forklift.schema_model import model_schema

# The schemas that nano learned to read; every word of theirs is in its prompt, so they say no more than it knows.
_UNTITLED = {
    "invoice": ("Invoice", "The main fields and lines of an invoice; what the bundled model nano was trained on."),
    "receipt": ("Receipt", "The main fields and lines of a receipt; what the bundled model nano was trained on."),
}


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
        return model_schema(source), name or source.__name__
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


def bundled_summary(name: str) -> tuple[str, str]:
    """Title and description of a bundled schema."""
    schema = json.loads(bundled_text(name))
    title, description = _UNTITLED.get(name, ("", ""))
    return schema.get("title", title), schema.get("description", description)


def read_text(path: Path, kind: str = "schema file") -> str:
    """Raises SchemaError when there is no such file or it is no text. kind: what to call it then."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        names = f"; the bundled schemas are {', '.join(bundled_names())}" if kind == "schema file" else ""
        raise SchemaError(f"{path}: no such {kind}{names}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SchemaError(f"{path}: cannot be read as text: {reason}") from None


def parse(text: str, name: str) -> Any:
    """JSON of a schema. Raises SchemaError, with line and column, for what is none or names a key twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            repeated = next(key for key, _ in pairs if sum(other == key for other, _ in pairs) > 1)
            raise SchemaError(f"{name}: the key {repeated!r} stands twice in one object")
        return result

    def refused(constant: str) -> None:
        raise SchemaError(f"{name}: {constant} is no JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refused)
    except json.JSONDecodeError as error:
        raise SchemaError(f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise SchemaError(f"{name}: nested more than {MAX_NESTING} levels deep; flatten it") from None
