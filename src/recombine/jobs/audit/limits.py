"""Thresholds of the audit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, auto

from recombine.errors import InputError, near_miss
from recombine.jobs.limits import Limits, limit

_EXPLAINED = "share of explainable variance"
_DEVIATIONS = "the outcome's standard deviations"


@dataclass(frozen=True)
class AuditLimits(Limits):
    """Audit."""

    share_holds: float = limit(0.9, _EXPLAINED, "effects add if seen cells predict each other so well")
    share_holds_roughly: float = limit(0.6, _EXPLAINED, "and add roughly from here on")
    min_cells_tested: int = limit(8, "cells", "errors on fewer cells say nothing")
    min_share_tested: float = limit(0.5, "share of the seen cells", "the cells that others determine are the easy ones")
    max_noise_share: float = limit(0.75, "share of the mean's squared error", "under more noise nothing can be checked")
    min_excess: float = limit(2.0, "times the squared error of noise", "without a test, what is not noise")
    p_value_shown: float = limit(0.01, "p-value", "replicates show that effects interact")
    p_value_hinted: float = limit(0.05, "p-value", "replicates hint at it")
    chance_overlooked: float = limit(0.05, "chance", "how often replicates may overlook what they are said to rule out")
    max_cells_left_out: int = limit(1_200, "seen cells", "each is left out in turn: a dense inverse per network")
    max_cells_fitted: int = limit(300_000, "seen cells", "networks of few factors fitted in seconds")
    few_factors: int = limit(5, "factors", "with more, networks take all pairs of cells")
    max_cells_of_many_factors: int = limit(4_000, "seen cells", "networks of more factors fitted in seconds")
    max_cells_by_depth: int = limit(20_000, "seen cells", "networks of two layers and more are fitted as well")
    max_cells_of_models: int = limit(800, "seen cells", "of which other models are trained on parts, in seconds")
    min_effect: float = limit(0.15, _DEVIATIONS, "the slope of a factor that varies less means nothing")
    min_slope: float = limit(0.9, "share of an effect", "if less arrives at unseen cells, the rest leaks")
    shortcut_pull: float = limit(0.1, "share of the way to the marginal", "a shortcut draws predictions this far")
    shortcut_size: float = limit(0.12, _DEVIATIONS, "and moves them by this much")
    shortcut_share: float = limit(0.15, "share of the squared error", "and makes up this part of what is missed")
    max_leverage: float = limit(4.0, "variances of one measurement", "a determined cell above it is called shaky")


AUDIT_LIMITS = AuditLimits()


class ForecastBy(StrEnum):
    """Who says what models will do: the theory and, where that takes seconds, trained models; or one of them alone."""

    AUTO = auto()
    THEORY = auto()
    TRAINED = auto()


def read_forecast_by(text: str) -> ForecastBy:
    """Return who is to forecast, by name.

    Examples
    --------
    >>> read_forecast_by("theory").value
    'theory'
    """
    if text not in set(ForecastBy):
        hint = near_miss(text, list(ForecastBy), "Ways: auto, theory, trained")
        raise InputError(f"--forecast {text!r} is no way to forecast;{hint}")
    return ForecastBy(text)
