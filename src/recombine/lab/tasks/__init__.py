"""Tasks whose truth is known on every cell, seen or not.

Every function returns a :class:`Task`: cells (N, C), which of them are seen, the right answer for all, factor names.

Examples
--------
>>> import recombine.lab.tasks as tasks
>>> tasks.symbolic_addition(anchors=[0, 8]).name
'symbolic addition'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.tasks.addition import dispersed_addition as dispersed_addition
    from recombine.lab.tasks.addition import symbolic_addition as symbolic_addition
    from recombine.lab.tasks.context import context_dependence as context_dependence
    from recombine.lab.tasks.context import context_substitution as context_substitution
    from recombine.lab.tasks.context import stimulus_composition as stimulus_composition
    from recombine.lab.tasks.equivalence import six_item_equivalence as six_item_equivalence
    from recombine.lab.tasks.equivalence import transitive_equivalence as transitive_equivalence
    from recombine.lab.tasks.exposure import invariance as invariance
    from recombine.lab.tasks.exposure import partial_exposure as partial_exposure
    from recombine.lab.tasks.ordering import transitive_ordering as transitive_ordering
    from recombine.lab.tasks.table import from_design as from_design
    from recombine.lab.tasks.task import Task as Task

lazy_package(__name__)
