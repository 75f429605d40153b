"""Recombine: will a model that has seen these combinations of factors get the unseen ones right?

>>> import recombine as rc
>>> design = rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], names=["colour", "shape"])
>>> rc.audit(design).verdicts
colour  shape  verdict     leverage
1       1      determined  3.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package
from recombine._version import __version__ as __version__

if TYPE_CHECKING:
    from recombine import data as data
    from recombine import lab as lab
    from recombine import measures as measures
    from recombine import theory as theory
    from recombine.design.design import Design as Design
    from recombine.design.factors import Factor as Factor
    from recombine.errors import InputError as InputError
    from recombine.errors import RecombineError as RecombineError
    from recombine.jobs.advice.plan import plan as plan
    from recombine.jobs.audit.audit import Audit as Audit
    from recombine.jobs.audit.audit import audit as audit
    from recombine.jobs.comparison.comparison import compare as compare
    from recombine.jobs.estimators.classifier import CompositionalClassifier as CompositionalClassifier
    from recombine.jobs.estimators.regressor import CompositionalRegressor as CompositionalRegressor
    from recombine.jobs.examination.examine import examine as examine
    from recombine.jobs.probe.probe import probe as probe
    from recombine.jobs.score.score import Score as Score
    from recombine.jobs.score.score import score as score
    from recombine.jobs.split.splitter import CellKFold as CellKFold
    from recombine.jobs.split.splitter import CellSplit as CellSplit
    from recombine.jobs.split.table_files import split_table as split  # noqa: F401 - the verb of the first page
    from recombine.lab.inspection.inspection import inspect as inspect
    from recombine.table_spec import TableSpec as TableSpec
    from recombine.tables.table import Table as Table
    from recombine.theory.identification.identify import identify as identify
    from recombine.theory.kernels.estimators import KernelClassifier as KernelClassifier
    from recombine.theory.kernels.estimators import KernelRegressor as KernelRegressor
    from recombine.theory.kernels.overlap import OverlapKernel as OverlapKernel
    from recombine.verdicts import Verdict as Verdict

lazy_package(__name__)

from recombine import report as _report  # noqa: E402, F401 - registers the outputs of what jobs return
