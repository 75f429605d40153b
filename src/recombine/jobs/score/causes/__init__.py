"""Causes of a model's error, one class each, in the order in which every output lists them.

One more cause is one more subclass of `Cause`, and a line in the registry below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package
from recombine.jobs.score.causes.data import NoiseCause, SeenNoiseCause, StructureCause
from recombine.jobs.score.causes.model import (
    InteractionCause,
    LeakCause,
    MemorizationCause,
    OffsetCause,
    RestCause,
    ShortcutCause,
)
from recombine.registry import Registry

if TYPE_CHECKING:
    from recombine.jobs.score.causes.cause import Cause as Cause
    from recombine.jobs.score.causes.cause import CauseColumns as CauseColumns
    from recombine.jobs.score.causes.cause import Coefficient as Coefficient

CAUSES: Registry[Cause] = Registry(
    "cause",
    [
        NoiseCause(),
        SeenNoiseCause(),
        StructureCause(),
        LeakCause(),
        ShortcutCause(),
        InteractionCause(),
        MemorizationCause(),
        OffsetCause(),
        RestCause(),
    ],
)

lazy_package(__name__)
