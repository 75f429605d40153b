"""Causes of a model's error, one file each, in the order in which every output lists them.

One more cause is one more file: a subclass of `Cause`, and a line in the registry below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package
from recombine.jobs.score.causes.interaction import InteractionCause
from recombine.jobs.score.causes.leak import LeakCause
from recombine.jobs.score.causes.memorization import MemorizationCause
from recombine.jobs.score.causes.noise import NoiseCause
from recombine.jobs.score.causes.offset import OffsetCause
from recombine.jobs.score.causes.rest import RestCause
from recombine.jobs.score.causes.seen_noise import SeenNoiseCause
from recombine.jobs.score.causes.shortcut import ShortcutCause
from recombine.jobs.score.causes.structure import StructureCause
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
