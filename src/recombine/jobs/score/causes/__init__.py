"""Causes of a model's error, one class each, in the order in which every output lists them.

One more cause is one more subclass of `Cause`, among those of the data or of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package
from recombine.jobs.score.causes.data import DATA_CAUSES
from recombine.jobs.score.causes.model import MODEL_CAUSES
from recombine.registry import Registry

if TYPE_CHECKING:
    from recombine.jobs.score.causes.cause import Cause as Cause
    from recombine.jobs.score.causes.cause import CauseColumns as CauseColumns
    from recombine.jobs.score.causes.cause import Coefficient as Coefficient

CAUSES: Registry[Cause] = Registry("cause", (*DATA_CAUSES, *MODEL_CAUSES))

lazy_package(__name__)
