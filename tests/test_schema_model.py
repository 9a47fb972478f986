"""Schemas from Python classes."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import sys
import threading
from pathlib import Path

import pydantic
import pytest
from typing_extensions import TypedDict

from forklift.errors import SchemaError
from forklift.schema import Schema
from forklift.schema_model import is_model_path, load_model, model_schema


class Line(pydantic.BaseModel):
    price: decimal.Decimal = pydantic.Field(ge=0, multiple_of=decimal.Decimal("0.01"), description="Price of one unit")
    page: pydantic.HttpUrl
    when: datetime.date | None = None


@dataclasses.dataclass
class Bill:
    größe: int
    lines: list[Line]


class Note(TypedDict):
    text: str


def test_decimals_are_numbers_and_everything_of_a_model_is_enforced() -> None:
    schema = Schema.load(Line)
    price = {"type": "number", "minimum": 0, "multipleOf": 0.01, "description": "Price of one unit"}
    assert schema.source["properties"]["price"] == price
    assert schema.unenforced == ()
    assert schema.warnings == ()


def test_dataclasses_and_typed_dicts() -> None:
    assert list(model_schema(Bill)["properties"]) == ["größe", "lines"]
    assert Schema.load(model_schema(Bill)).unenforced == ()
    assert model_schema(Note)["properties"] == {"text": {"type": "string"}}


def test_a_model_that_json_cannot_hold_is_an_error() -> None:
    class Odd(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
        path: Path
        worker: threading.Thread

    with pytest.raises(SchemaError, match="Odd"):
        model_schema(Odd)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a module in it."""
    (tmp_path / "my_models.py").write_text(
        "import pydantic\n\nclass Invoice(pydantic.BaseModel):\n    total: float\n\n"
        "    class Part(pydantic.BaseModel):\n        n: int\n\nLIMIT = 3\n"
    )
    (tmp_path / "broken.py").write_text("raise RuntimeError('no database')\n")
    (tmp_path / "lacking.py").write_text("import no_such_package_anywhere\n")
    monkeypatch.chdir(tmp_path)
    for name in ("my_models", "broken", "lacking"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_model_is_found_in_the_current_folder(module: Path) -> None:
    before = list(sys.path)
    assert model_schema(load_model("my_models:Invoice"))["required"] == ["total"]
    assert model_schema(load_model("my_models:Invoice.Part"))["required"] == ["n"]
    assert sys.path == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("my_models", "write it as package.module:Name"),
        ("no_such_module:X", "there is no module no_such_module; looked in .* and among the installed packages"),
        ("json.no_part:X", "there is no module json.no_part"),
        ("my_models:Receipt", "my_models has no Receipt; it has Invoice"),
        ("my_models:LIMIT", "LIMIT is no Pydantic model"),
        ("broken:X", "importing broken failed with RuntimeError: no database"),
        ("lacking:X", "lacking needs the module no_such_package_anywhere, which is not installed"),
    ],
)
def test_errors_say_what_is_not_there(module: Path, path: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        load_model(path)


@pytest.mark.parametrize("text", ["a:B", "a.b_c.d:E.F", "ä:Ö"])
def test_model_paths(text: str) -> None:
    assert is_model_path(text)


@pytest.mark.parametrize("text", ["a", "a:", ":B", "C:\\schemas\\a.json", "dir/a:B", "{}", "a b:C", "a.json"])
def test_what_is_no_model_path(text: str) -> None:
    assert not is_model_path(text)
