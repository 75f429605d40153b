"""Estimators use what adds: scikit-learn models on raw factor columns that say which rows the data do not determine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.estimators.classifier import CompositionalClassifier as CompositionalClassifier
    from recombine.jobs.estimators.regressor import CompositionalRegressor as CompositionalRegressor
    from recombine.jobs.estimators.structure_fits import FoldRanges as FoldRanges

lazy_package(__name__)
