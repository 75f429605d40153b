"""Lazy packages: their ``__init__`` is a table of contents, each entry imported when it is first asked for.

The table stands under ``if TYPE_CHECKING``, so that every name is written once and type checkers read the same lines::

    if TYPE_CHECKING:
        from recombine.theory.kernels.overlap import OverlapKernel as OverlapKernel

    lazy_package(__name__)
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package that hands out what its table of contents lists; a file named like one of its entries stays hidden."""

    _entries: dict[str, tuple[str, str]]

    def __getattr__(self, name: str) -> Any:
        try:
            module, entry = vars(self)["_entries"][name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None
        is_subpackage = module == self.__name__
        vars(self)[name] = (
            import_module(f"{module}.{entry}") if is_subpackage else getattr(import_module(module), entry)
        )
        return vars(self)[name]

    def __setattr__(self, name: str, value: object) -> None:
        # Importing `solvers.solve` binds the file in its package, where that name has to stay the function.
        listed = vars(self).get("_entries", {}).get(name, (self.__name__, name))
        if not isinstance(value, ModuleType) or listed == (self.__name__, name):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(vars(self)["_entries"])


def lazy_package(name: str) -> None:
    """Make the package ``name`` hand out what it lists under ``if TYPE_CHECKING``.

    Examples
    --------
    >>> from recombine import cells
    >>> "every_cell" in dir(cells), cells.every_cell.__name__
    (True, 'every_cell')
    """
    package = sys.modules[name]
    vars(package)["_entries"] = _table_of_contents(package.__loader__.get_source(name))  # type: ignore[union-attr]
    vars(package)["__all__"] = sorted(vars(package)["_entries"])
    package.__class__ = LazyPackage


def _table_of_contents(source: str) -> dict[str, tuple[str, str]]:
    """Return entry -> (module, its name there) of all imports under ``if TYPE_CHECKING``."""
    blocks = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    imports = (line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom))
    return {alias.asname or alias.name: (str(line.module), alias.name) for line in imports for alias in line.names}
