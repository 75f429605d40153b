"""What the training cells alone say of a model's error before it is trained, and of which models that is known."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from recombine.jobs.audit.audit import Audit, audit
from recombine.jobs.examination.rows import ExaminedRows

#: The forecast's name beside the models.
BEFORE = "forecast before training: wide network"


class ModelFamily(StrEnum):
    """Families of models that the forecast of a wide network was scored on."""

    NETWORK = "network"
    FOREST = "forest"
    BOOSTING = "boosting"


#: Class of a model -> its family.
FAMILIES = {
    "MLPRegressor": ModelFamily.NETWORK,
    "RandomForestRegressor": ModelFamily.FOREST,
    "ExtraTreesRegressor": ModelFamily.FOREST,
    "GradientBoostingRegressor": ModelFamily.BOOSTING,
    "HistGradientBoostingRegressor": ModelFamily.BOOSTING,
}


def family_of(model: Any) -> ModelFamily | None:
    """Return the family of a model, inside pipelines and transformations of the outcome; None of all others.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> family_of(make_pipeline(RandomForestRegressor())), family_of(Ridge())
    (<ModelFamily.FOREST: 'forest'>, None)
    """
    if isinstance(model, tuple):
        return ModelFamily.NETWORK  # a torch module with the function that trains it
    if hasattr(model, "steps"):
        return family_of(model.steps[-1][1])
    if hasattr(model, "transformer") and hasattr(model, "regressor"):
        return family_of(model.regressor)
    return FAMILIES.get(type(model).__name__)


def foretold_error(rows: ExaminedRows, train: Any, whole: Sequence[Audit], order: int | None) -> dict[str, float]:
    """Return the squared error that an audit of the ``train`` rows (N,) alone forecasts of a wide network, by name."""
    if rows.classes:
        return {}
    design, chosen = rows.designs(train)[0], whole[0]
    told = audit(design, order, structure=chosen.choice.name, seed=chosen.seed).forecast
    return {} if told.error is None else {BEFORE: told.error.ntk**2}
