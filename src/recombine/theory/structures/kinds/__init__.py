"""Kinds of structures, one file each: what effects do in words, which data carry it, how it is fitted, what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.structures.kinds.link import Link as Link
    from recombine.theory.structures.kinds.log import Log as Log
    from recombine.theory.structures.kinds.logit import Logit as Logit
    from recombine.theory.structures.kinds.multiplicative import Multiplicative as Multiplicative
    from recombine.theory.structures.kinds.sums import Sum as Sum

lazy_package(__name__)
