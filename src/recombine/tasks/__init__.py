"""Known-truth designs: one file a family.

Every function returns a :class:`Task`: cells (N, C), which of them are seen, the right answer for all, factor names.

Examples
--------
>>> import recombine.tasks as tasks
>>> tasks.symbolic_addition(anchors=[0, 8]).name
'symbolic addition'
"""

from recombine.tasks.addition import dispersed_addition, symbolic_addition
from recombine.tasks.context import context_dependence, context_substitution, stimulus_composition
from recombine.tasks.equivalence import six_item_equivalence, transitive_equivalence
from recombine.tasks.exposure import invariance, partial_exposure
from recombine.tasks.ordering import transitive_ordering
from recombine.tasks.task import Task

__all__ = [
    "Task",
    "context_dependence",
    "context_substitution",
    "dispersed_addition",
    "invariance",
    "partial_exposure",
    "six_item_equivalence",
    "stimulus_composition",
    "symbolic_addition",
    "transitive_equivalence",
    "transitive_ordering",
]
