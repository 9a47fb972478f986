"""A schema from a Python class: a Pydantic model, dataclass or TypedDict, found by "package.module:Name"."""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
from typing import Any

from forklift.errors import SchemaError
from forklift.json_schema import walk

_PATH = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")


def is_model_path(text: str) -> bool:
    """Whether `text` reads "package.module:Name"."""
    return _PATH.fullmatch(text) is not None


def load_model(path: str) -> Any:
    """The class that "package.module:Name" names; modules of the current folder are found too.

    Importing runs the module's code. Raises SchemaError when there is no such module or class.
    """
    found = _PATH.fullmatch(path)
    if found is None:
        raise SchemaError(f"{path!r} names no class; write it as package.module:Name")
    module_name, name = found.groups()
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        value: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if module_name == missing or module_name.startswith(missing + "."):
            message = f"there is no module {missing}; looked in {folder} and among the installed packages"
        else:
            message = f"{module_name} needs the module {missing}, which is not installed"
        raise SchemaError(f"{path}: {message}") from None
    except Exception as error:
        raise SchemaError(f"{path}: importing {module_name} failed with {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    for step in name.split("."):
        if not hasattr(value, step):
            classes = sorted(key for key, one in vars(value).items() if not key.startswith("_") and _is_model(one))
            has = f"; it has {', '.join(classes)}" if classes else ""
            raise SchemaError(f"{path}: {module_name} has no {name}{has}")
        value = getattr(value, step)
    if not _is_model(value):
        raise SchemaError(f"{path}: {name} is no Pydantic model, dataclass or TypedDict")
    return value


def model_schema(model: Any) -> Any:
    """The JSON Schema of a class, without the titles that Pydantic makes up from the names: noise in a prompt.

    Raises SchemaError for a class with fields that JSON cannot hold.
    """
    import pydantic
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def decimal_schema(self, schema: Any) -> Any:
            # Pydantic also takes numbers as text, by a pattern that no grammar holds; a document's amounts are
            # numbers.
            number: dict[str, Any] = {"type": "number"}
            for ours, theirs in (
                ("multipleOf", "multiple_of"), ("minimum", "ge"), ("exclusiveMinimum", "gt"), ("maximum", "le"),
                ("exclusiveMaximum", "lt"),
            ):  # fmt: skip
                if schema.get(theirs) is not None:
                    value = schema[theirs]
                    number[ours] = int(value) if value == int(value) else float(value)
            return number

    name = getattr(model, "__name__", "the class")
    try:
        if hasattr(model, "model_json_schema"):
            source = model.model_json_schema(schema_generator=Generator)
        else:
            source = pydantic.TypeAdapter(model).json_schema(schema_generator=Generator)
    except pydantic.errors.PydanticUserError as error:
        raise SchemaError(f"{name}: {str(error).splitlines()[0]}") from None
    for _, node in list(walk(source)):
        if isinstance(node, dict) and isinstance(node.get("title"), str):
            del node["title"]
    return source


def _is_model(value: Any) -> bool:
    if not isinstance(value, type):
        return False
    model = hasattr(value, "model_json_schema") and value.__module__.partition(".")[0] != "pydantic"
    typed_dict = issubclass(value, dict) and hasattr(value, "__total__")  # typing's and typing_extensions' alike
    return model or dataclasses.is_dataclass(value) or typed_dict
