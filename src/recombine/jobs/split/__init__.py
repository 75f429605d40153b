"""Splits are named by what they prove: test cells that training determines, cannot determine, or never met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.split.check import SplitCheck as SplitCheck
    from recombine.jobs.split.check import check_split as check_split
    from recombine.jobs.split.leaks import Leak as Leak
    from recombine.jobs.split.rows import CellFolds as CellFolds
    from recombine.jobs.split.rows import RowSplit as RowSplit
    from recombine.jobs.split.rows import fold_rows as fold_rows
    from recombine.jobs.split.rows import split_rows as split_rows
    from recombine.jobs.split.splitter import CellKFold as CellKFold
    from recombine.jobs.split.splitter import CellSplit as CellSplit
    from recombine.jobs.split.table_files import TableSplit as TableSplit
    from recombine.jobs.split.table_files import split_table as split_table

lazy_package(__name__)
