"""The command line: one module per command, imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.cli.program import main as main

lazy_package(__name__)
