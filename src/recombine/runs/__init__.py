"""Runs: experiments as grids of units, a store of finished ones, and sweeps that can be stopped and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.runs.collect import Merged as Merged
    from recombine.runs.collect import collect as collect
    from recombine.runs.collect import load_table as load_table
    from recombine.runs.collect import merge_stores as merge_stores
    from recombine.runs.collect import opened_store as opened_store
    from recombine.runs.collect import save_table as save_table
    from recombine.runs.executors import make_executor as make_executor
    from recombine.runs.experiment import Experiment as Experiment
    from recombine.runs.experiment import Result as Result
    from recombine.runs.experiment import Unit as Unit
    from recombine.runs.experiment import grid as grid
    from recombine.runs.outcome import Failure as Failure
    from recombine.runs.outcome import Sweep as Sweep
    from recombine.runs.store import Run as Run
    from recombine.runs.store import Store as Store
    from recombine.runs.store import StoreWarning as StoreWarning
    from recombine.runs.sweep import ExecutorError as ExecutorError
    from recombine.runs.sweep import run as run

open_room(__name__)
