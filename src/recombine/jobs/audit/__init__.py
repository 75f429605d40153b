"""The audit says what the seen cells of a design settle about the unseen ones, and what a model will make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.audit.additivity import AdditivityCheck as AdditivityCheck
    from recombine.jobs.audit.additivity import check_additivity as check_additivity
    from recombine.jobs.audit.audit import Audit as Audit
    from recombine.jobs.audit.audit import audit as audit
    from recombine.jobs.audit.coverage import Coverage as Coverage
    from recombine.jobs.audit.forecast import ErrorForecast as ErrorForecast
    from recombine.jobs.audit.forecast import Forecast as Forecast
    from recombine.jobs.audit.forecast import Shortcut as Shortcut
    from recombine.jobs.audit.forecast import forecast as forecast
    from recombine.jobs.audit.noise import CellNoise as CellNoise
    from recombine.jobs.audit.noise import LackOfFit as LackOfFit
    from recombine.jobs.audit.parts import AssumedStructure as AssumedStructure
    from recombine.jobs.audit.parts import Decided as Decided
    from recombine.jobs.audit.parts import Values as Values
    from recombine.jobs.audit.ranges import CellRanges as CellRanges
    from recombine.jobs.audit.ranges import Ranges as Ranges
    from recombine.jobs.audit.rivals import compare_models as compare_models

lazy_package(__name__)
