"""Audit: what the seen cells of a design say about the unseen ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.jobs.audit.additivity import AdditivityCheck as AdditivityCheck
    from recombine.jobs.audit.audit import Audit as Audit
    from recombine.jobs.audit.audit import audit as audit
    from recombine.jobs.audit.coverage import Coverage as Coverage
    from recombine.jobs.audit.forecast import Forecast as Forecast
    from recombine.jobs.audit.rivals import compare_models as compare_models

open_room(__name__)
