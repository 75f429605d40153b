"""From which scale of weights to finetune: a rule for each of four regimes, from what is known before training.

Two questions name a regime: should few features be used or many, and should known ones come before new ones? The order
of the penalty answers the first, the size of readouts and of what pretraining left the second. The rule needs the
pretrained coefficients and the labels; features are taken to have mean square one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import FloatArray
from recombine.checks import known_or_refuse, real, reals
from recombine.errors import InputError
from recombine.theory.diagonal.regimes import scaling_of_order

#: What networks can be made to prefer: known features and many, known and few, any and few, any and many.
REGIMES = ("lazy", "nested", "rich", "ridge")
#: Regime -> order of the penalty on a feature that explains the labels alone, from near lasso (1) to near ridge (2).
#: Chosen on two sets of inputs, and judged on two others.
ORDERS = dict(zip(REGIMES, (1.8, 1.2, 1.06, 1.8), strict=True))
#: Readouts over the scaling where known features come first: small, so that a new feature costs more.
READOUT_SHARE = 0.01


@dataclass(frozen=True)
class FinetuningScale:
    """What to multiply pretrained hidden weights by, and what to set readouts to, before finetuning.

    Examples
    --------
    >>> FinetuningScale(scaling=0.0, gamma=0.1)
    FinetuningScale(scaling=0.0, gamma=0.1)
    """

    scaling: float
    gamma: float


def typical_size(auxiliary: npt.ArrayLike) -> float:
    """Return the size of a pretrained coefficient, each counting by its share of the squares.

    Examples
    --------
    >>> typical_size([0.3, -0.3, 0.0]), round(typical_size([0.3, -0.3, 0.001]), 3)
    (0.3, 0.3)
    """
    B: FloatArray = reals(auxiliary, "auxiliary")
    if B.ndim != 1 or not B.any():
        raise InputError(f"auxiliary has shape {B.shape} and {np.count_nonzero(B)} that are not 0; give (D,), some not")
    relative = np.abs(B) / np.abs(B).max()
    return float(np.abs(B).max() * np.sqrt((relative**4).sum() / (relative**2).sum()))


def scale_for(wanted: str, auxiliary: npt.ArrayLike, targets: npt.ArrayLike, *, alpha: float = 1e-3) -> FinetuningScale:
    """Return the scale to finetune from so that a network is in the wanted regime: a rule for what to try first.

    A penalty of order 1.2 or less prefers few features and one of 1.8 many; the rule gives it to a coefficient as large
    as the labels (root mean square), which a feature of mean square one needs if it explains them alone. Labels ten
    times as large ask for weights sqrt(10) times as large.

    Parameters
    ----------
    wanted : {"lazy", "nested", "rich", "ridge"}
        Lazy: use the known features as they are. Nested: few of the known ones. Rich: few, known or not. Ridge: many,
        known or not. The last two forget what was pretrained: their scaling is 0.
    auxiliary : array (D,)
        Coefficients after pretraining.
    targets : array (n,)
        Labels of the main task, of mean zero.
    alpha : float
        Weights before pretraining.

    Examples
    --------
    >>> known, labels = [0.5, -0.5, 0.0, 0.0], [1.0, -1.0, 1.0]
    >>> for wanted in ("lazy", "nested", "rich", "ridge"):
    ...     scale = scale_for(wanted, known, labels)
    ...     print(wanted, round(scale.scaling, 4), round(scale.gamma, 6))
    lazy 1.5894 0.015894
    nested 0.143 0.00143
    rich 0.0 0.000206
    ridge 0.0 0.794692
    """
    known_or_refuse(wanted, "wanted", REGIMES)
    labels = reals(targets, "targets")
    size = float(np.sqrt(np.mean(labels**2))) if labels.size else 0.0
    if not size:
        raise InputError(
            "targets are all 0 or missing, so that there is nothing to learn; give labels of the main task"
        )
    if wanted in ("rich", "ridge"):
        return FinetuningScale(0.0, scaling_of_order(ORDERS[wanted], 0.0, size, alpha=0.0, gamma=1.0))
    start = real(alpha, "alpha", at_least=0)
    m = scaling_of_order(ORDERS[wanted], typical_size(auxiliary), size, alpha=start, gamma=READOUT_SHARE)
    return FinetuningScale(m, READOUT_SHARE * m)
