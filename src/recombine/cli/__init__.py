"""The command line: one module per command, imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.cli.program import main as main

open_room(__name__)
