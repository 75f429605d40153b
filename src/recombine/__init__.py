"""Recombine: will a model that has seen these combinations of factors get the unseen ones right?

>>> import recombine as rc
>>> design = rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])
>>> rc.audit(design).verdicts
colour  shape  verdict     leverage
1       1      determined  3.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine import report as _report  # noqa: F401 - plugs the faces into Audit
from recombine import tasks as tasks
from recombine._version import __version__ as __version__
from recombine.audit.audit import Audit as Audit

# The function takes the place of the subpackage of the same name, whose modules stay importable.
from recombine.audit.audit import audit as audit
from recombine.design import Design as Design
from recombine.errors import InputError as InputError
from recombine.errors import RecombineError as RecombineError
from recombine.factors import Factor as Factor
from recombine.tables import Table as Table
from recombine.theory.identify import identify as identify
from recombine.theory.overlap import OverlapKernel as OverlapKernel
from recombine.verdicts import Verdict as Verdict

if TYPE_CHECKING:
    from recombine.audit.inspection import inspect as inspect
    from recombine.audit.probe import probe as probe
    from recombine.theory import compositions as compositions
    from recombine.theory import supports as supports
    from recombine.theory.diagonal_generalization import predict_generalization as predict_generalization
    from recombine.theory.finite_support import finite_identifiability as finite_identifiability
    from recombine.theory.gated_model import GatedLinearSVC as GatedLinearSVC
    from recombine.theory.kernel_model import KernelClassifier as KernelClassifier
    from recombine.theory.kernel_model import KernelRegressor as KernelRegressor
    from recombine.theory.peeling import peel as peel
    from recombine.theory.reconstruction import reconstruct_components as reconstruct_components
    from recombine.theory.refit import refit as refit
    from recombine.theory.support import compositional_support as compositional_support
    from recombine.theory.support import gauge_aware_support as gauge_aware_support
    from recombine.theory.support import sufficient_support as sufficient_support

#: Names of the theory that are imported when first asked for, and the module each stands in.
_THEORY = {
    "GatedLinearSVC": "gated_model",
    "KernelClassifier": "kernel_model",
    "KernelRegressor": "kernel_model",
    "compositional_support": "support",
    "finite_identifiability": "finite_support",
    "gauge_aware_support": "support",
    "peel": "peeling",
    "predict_generalization": "diagonal_generalization",
    "reconstruct_components": "reconstruction",
    "refit": "refit",
    "sufficient_support": "support",
}
#: All names that are imported when first asked for.
_LAZY = {*_THEORY, "compositions", "inspect", "probe", "supports"}


def __getattr__(name: str) -> Any:
    """Import what not every use needs when it is first asked for: scikit-learn alone takes a second to load."""
    if name == "probe":
        from recombine.audit.probe import probe
        from recombine.report import probe_terminal  # noqa: F401 - plugs its words into Probe

        return probe
    if name == "inspect":
        from recombine.audit.inspection import inspect
        from recombine.report import inspect_terminal  # noqa: F401 - plugs its words into Inspection

        return inspect
    if name in _LAZY:
        from importlib import import_module

        module = import_module(f"recombine.theory.{_THEORY.get(name, name)}")
        return getattr(module, name) if name in _THEORY else module
    raise AttributeError(f"module 'recombine' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List names not asked for yet too, for completion, and leave out those that only annotations need."""
    return sorted({*globals(), *_LAZY} - {"Any", "TYPE_CHECKING", "annotations"})
