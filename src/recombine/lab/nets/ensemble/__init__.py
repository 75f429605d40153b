"""Ensembles: many networks of one architecture, or of a module of your own, trained together as stacked weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets.ensemble.ensemble import Ensemble as Ensemble
    from recombine.lab.nets.ensemble.ensemble import Trained as Trained
    from recombine.lab.nets.ensemble.modules import Module as Module
    from recombine.lab.nets.ensemble.optimisers import SGD as SGD
    from recombine.lab.nets.ensemble.optimisers import Adam as Adam
    from recombine.lab.nets.ensemble.optimisers import AdamW as AdamW
    from recombine.lab.nets.ensemble.samples import Gather as Gather
    from recombine.lab.nets.ensemble.schedules import Cosine as Cosine

lazy_package(__name__)
