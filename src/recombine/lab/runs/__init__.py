"""Runs: experiments as grids of units, a store of finished ones, and sweeps that can be stopped and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.runs.collect import Merged as Merged
    from recombine.lab.runs.collect import collect as collect
    from recombine.lab.runs.collect import load_table as load_table
    from recombine.lab.runs.collect import merge_stores as merge_stores
    from recombine.lab.runs.collect import opened_store as opened_store
    from recombine.lab.runs.collect import save_table as save_table
    from recombine.lab.runs.executors import make_executor as make_executor
    from recombine.lab.runs.experiment import Experiment as Experiment
    from recombine.lab.runs.experiment import Result as Result
    from recombine.lab.runs.experiment import Unit as Unit
    from recombine.lab.runs.experiment import grid as grid
    from recombine.lab.runs.outcome import Failure as Failure
    from recombine.lab.runs.outcome import Sweep as Sweep
    from recombine.lab.runs.store import Run as Run
    from recombine.lab.runs.store import Store as Store
    from recombine.lab.runs.store import StoreWarning as StoreWarning
    from recombine.lab.runs.sweep import ExecutorError as ExecutorError
    from recombine.lab.runs.sweep import run as run
    from recombine.lab.runs.worker import RunLimits as RunLimits

lazy_package(__name__)
