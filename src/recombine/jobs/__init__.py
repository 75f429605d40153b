"""Jobs answer what users ask: audit a design, split it, score models, compare, advise, estimate, probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs import advice as advice
    from recombine.jobs import audit as audit
    from recombine.jobs import comparison as comparison
    from recombine.jobs import estimators as estimators
    from recombine.jobs import findings as findings
    from recombine.jobs import probe as probe
    from recombine.jobs import score as score
    from recombine.jobs import split as split
    from recombine.jobs.importance import Importance as Importance
    from recombine.jobs.importance import read_importance as read_importance

lazy_package(__name__)
