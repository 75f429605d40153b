"""What to measure on a model: its outputs, its activations, and what depends on what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.measures import activations as activations
    from recombine.measures import dependence as dependence
    from recombine.measures import outputs as outputs

lazy_package(__name__)
