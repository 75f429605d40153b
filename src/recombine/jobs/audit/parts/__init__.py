"""The parts of an audit: what is decided, the values that follow, and the structure that is assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.audit.parts.assumed import AssumedStructure as AssumedStructure
    from recombine.jobs.audit.parts.decided import Decided as Decided
    from recombine.jobs.audit.parts.values import Values as Values

lazy_package(__name__)
