"""What the training cells alone say of a model's error before it is trained, and of which models that is known."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from recombine.jobs.audit.audit import Audit, audit
from recombine.jobs.examination.rows import ExaminedRows

#: The forecast's name beside the models.
BEFORE = "forecast before training: network"


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
    """Return the family of a pipeline that makes an input of every level, as in the trials; None of all other models.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> family_of(make_pipeline(OneHotEncoder(), RandomForestRegressor())), family_of(RandomForestRegressor())
    (<ModelFamily.FOREST: 'forest'>, None)
    """
    if hasattr(model, "transformer") and hasattr(model, "regressor"):
        return family_of(model.regressor)
    if not (hasattr(model, "steps") and _encodes_levels(model)):
        return None
    last = model.steps[-1][1]
    return FAMILIES.get(type(getattr(last, "regressor", last)).__name__)


def _encodes_levels(step: Any) -> bool:
    """Say whether a step of a pipeline, or one inside it, is a one-hot encoding."""
    inside = [entry[1] for entry in getattr(step, "steps", getattr(step, "transformers", []))]
    from sklearn.preprocessing import OneHotEncoder

    return isinstance(step, OneHotEncoder) or any(map(_encodes_levels, inside))


def foretold_error(rows: ExaminedRows, train: Any, whole: Sequence[Audit], order: int | None) -> dict[str, float]:
    """Return the squared error that an audit of the ``train`` rows (N,) alone forecasts of a wide network, by name."""
    if rows.classes:
        return {}
    design, chosen = rows.designs(train)[0], whole[0]
    told = audit(design, order, structure=chosen.choice.name, seed=chosen.seed).forecast
    return {} if told.error is None else {BEFORE: told.error.ntk**2}
