"""The probe says which factors predictions depend on beyond those that they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.probe.probe import FactorTest as FactorTest
    from recombine.jobs.probe.probe import Probe as Probe
    from recombine.jobs.probe.probe import probe as probe
    from recombine.jobs.probe.swaps import AskedModel as AskedModel
    from recombine.jobs.probe.swaps import ColumnSwaps as ColumnSwaps
    from recombine.jobs.probe.swaps import LevelSwap as LevelSwap

lazy_package(__name__)
