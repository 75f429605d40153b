"""Sheets as people send them: cells of text in, a plain table out, with notes of all that was read otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.sheets.grid import Grid as Grid
    from recombine.sheets.notes import Note as Note
    from recombine.sheets.tidy import Tidy as Tidy
    from recombine.sheets.tidy import tidy as tidy

lazy_package(__name__)
