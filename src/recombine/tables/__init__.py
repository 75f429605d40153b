"""Tables in and out: any file or dataframe is read here, and `Table` is what the package hands back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.tables.frames import Source as Source
    from recombine.tables.frames import open_table as open_table
    from recombine.tables.guesses import Proposal as Proposal
    from recombine.tables.guesses import propose_factors as propose_factors
    from recombine.tables.table import Table as Table

lazy_package(__name__)
