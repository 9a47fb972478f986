"""Documents into JSON that matches your schema, on your own machine.

    import forklift
    result = forklift.extract("invoice.pdf", schema="invoice")
    result.data, result.fields, result.missing

`load` keeps a model in memory for many documents. Importing this package loads neither torch nor a model: the
attributes below are looked up when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forklift.extract import extract as extract
    from forklift.extract import load as load
    from forklift.results import Field as Field
    from forklift.results import Result as Result

__version__ = "0.1.0"
__all__ = ["Field", "Result", "__version__", "extract", "load"]

_HOMES = {"Field": "forklift.results", "Result": "forklift.results", "load": "forklift.extract"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'forklift' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps `forklift.extract` the function.

    Python binds a submodule to its package when it is first imported, which would put the module
    forklift/extract.py in the function's place; the property takes that assignment and drops it.
    `from forklift.extract import ...` reaches the module all the same.
    """

    @property
    def extract(self) -> Any:
        return import_module("forklift.extract").extract

    @extract.setter
    def extract(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
