"""Multi-task learning and pretraining, an atlas: from which scale of weights to finetune, on inputs of real data.

Inputs are rows of bundled sets. An auxiliary task of some of their features is known; a main task needs all of these,
few of them, as few new ones, or all features there are. Each of the four kinds of task is made for one regime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.bundled import bundled_inputs
from recombine.theory.diagonal.flow import Weights, gradient_flow
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.scales import REGIMES, FinetuningScale, scale_for

Rows = list[dict[str, Any]]

#: Sets that constants were chosen on, those of the rule and those it is compared with, and sets that judge.
DEVELOPMENT, HELD_OUT = ("products of diabetes", "products of wine"), ("breast cancer", "digits")
#: Kind of main task -> the regime that it is made for.
MADE_FOR = dict(zip(("all known", "few known", "few new", "all features"), REGIMES, strict=True))
#: One in so many known features is needed by a task of few.
KNOWN_FEATURES_PER_NEEDED = 4
#: Standard deviation of what is added to labels, over that of labels without it.
NOISE_SD = 0.1
#: Weights before pretraining.
START_WEIGHT = 1e-3
#: The plane: decimal logarithms of the scaling, or of readouts where it is 0, and readouts over the scaling.
LOG_SCALES, LOG_READOUTS = np.arange(-6, 4) / 2, np.arange(-8, 4) / 2
READOUT_SHARES = {"0.001": 1e-3, "0.01": 0.01, "0.1": 0.1, "1": 1.0}
#: How readouts of networks from scratch, and of those that the rule scales, are called in rows.
ALONE, BY_RULE = "from scratch", "rule"
#: Where trained networks have arrived: deviation from a label, in pretraining and after it; precision of their steps.
PRETRAINING_TOLERANCE, TRAINING_TOLERANCE, STEP_PRECISION = 1e-6, 1e-8, 1e-8


@dataclass(frozen=True, eq=False)
class Problem:
    """A main task on real inputs: rows to learn from with labels, and all others to test on.

    Attributes
    ----------
    auxiliary : ndarray (D,)
        Coefficients of the auxiliary task.
    X, y : ndarray (n, D), (n,)
    X_test, y_test : ndarray (N - n, D), (N - n,)
        Labels to test on are without noise.
    """

    task: str
    share: float
    samples: float
    auxiliary: FloatArray
    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray

    @property
    def about(self) -> dict[str, Any]:
        """What rows say of it."""
        return {"share known": self.share, "samples": self.samples, "n": len(self.X), "task": self.task}

    def error(self, value: FloatArray) -> float:
        """Return the squared error of coefficients on new, noisy labels over the variance of these."""
        power = float(np.mean(self.y_test**2))
        missed = float(np.mean((self.X_test @ value - self.y_test) ** 2))
        return (missed / power + NOISE_SD**2) / (1 + NOISE_SD**2)


def coefficients(draw: np.random.Generator, width: int, share: float) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Draw coefficients of 0 and ±1 (D,): of an auxiliary task with a share of all features, and of four main tasks.

    Examples
    --------
    >>> known, tasks = coefficients(np.random.default_rng(0), 40, 0.2)
    >>> {task: (int((main != 0).sum()), int((main * known != 0).sum())) for task, main in tasks.items()}
    {'all known': (8, 8), 'few known': (2, 2), 'few new': (2, 0), 'all features': (40, 8)}
    """
    order = draw.permutation(width)
    many = max(round(width * share), 1)
    few = max(many // KNOWN_FEATURES_PER_NEEDED, 1)
    chosen = {"known": order[:many], "few known": order[:few], "few new": order[many : many + few]}
    chosen |= {"all known": order[:many], "all features": order}
    drawn = {}
    for name, places in chosen.items():
        drawn[name] = np.zeros(width)
        drawn[name][places] = draw.choice([-1.0, 1.0], len(places))
    return drawn["known"], {task: drawn[task] for task in MADE_FOR}


def problems(setting: Any, seed: int) -> Iterator[Problem]:
    """Yield the main tasks of one seed on one set of inputs."""
    inputs = bundled_inputs(setting["inputs"])
    for share in setting["shares known"]:
        draw = np.random.default_rng([seed, round(1 / share)])
        pretrained, tasks = coefficients(draw, inputs.shape[1], share)
        rows, noise = draw.permutation(len(inputs)), draw.standard_normal(len(inputs))
        for samples in setting["samples"]:
            train, test = np.split(rows, [round(samples * inputs.shape[1])])
            for task, main in tasks.items():
                auxiliary, wanted = (beta / np.sqrt(np.mean((inputs @ beta) ** 2)) for beta in (pretrained, main))
                y = inputs[train] @ wanted + NOISE_SD * noise[: len(train)]
                yield Problem(task, share, samples, auxiliary, inputs[train], y, inputs[test], inputs[test] @ wanted)


def _plane() -> Iterator[tuple[str, float, FinetuningScale]]:
    """Yield every scale of the plane with what its readouts are called and its logarithm."""
    for log in LOG_SCALES.tolist():
        for name, share in READOUT_SHARES.items():
            yield name, log, FinetuningScale(10**log, share * 10**log)
    for log in LOG_READOUTS.tolist():
        yield ALONE, log, FinetuningScale(0.0, 10**log)


def atlas(unit: Unit) -> Rows:
    """Error of exact theory at every scale of the plane, and at the four that the rule gives."""
    rows: Rows = []
    for seed in unit.seeds:
        for problem in problems(unit.setting, seed):
            about = {"inputs": unit.setting["inputs"], "seed": seed, **problem.about}
            for readouts, log, scale in _plane():
                rows.append({**about, "readouts": readouts, "log scale": log, "wanted": "", **_ends(problem, scale)})
            for wanted in REGIMES:
                scale = scale_for(wanted, problem.auxiliary, problem.y, alpha=START_WEIGHT)
                log = float(np.log10(scale.scaling or scale.gamma))
                at = {"readouts": BY_RULE, "log scale": round(log, 4), "wanted": wanted}
                rows.append({**about, **at, **_ends(problem, scale, by_rule=True)})
    return rows


def _ends(problem: Problem, scale: FinetuningScale, *, by_rule: bool = False) -> dict[str, float]:
    """Return the error where training ends; at scales of the rule also that on samples left out, and what is used."""
    about: dict[str, Any] = {"auxiliary": problem.auxiliary, "alpha": START_WEIGHT}
    about |= {"scaling": scale.scaling, "gamma": scale.gamma, "targets": problem.y}
    test = (problem.X_test, problem.y_test)
    beta = predict(problem.X, test=test, **about).beta
    measured = {"error": problem.error(beta), "left out": np.nan, "known in use": np.nan, "share on new": np.nan}
    if by_rule:
        measured["left out"] = predict(problem.X, **about).test_loss / float(np.mean(problem.y**2))
        squares = beta**2
        reused = squares[problem.auxiliary != 0]
        # The participation ratio: how many known features carry the squared coefficients.
        measured["known in use"] = float(reused.sum() ** 2 / (reused**2).sum())
        measured["share on new"] = float(1 - reused.sum() / squares.sum())
    return {name: float(f"{value:.4g}") for name, value in measured.items()}


def atlas_networks(unit: Unit) -> Rows:
    """Networks whose weights are trained by gradient flow, before and after rescaling, beside theory."""
    rows: Rows = []
    for seed in unit.seeds:
        pretrained: dict[float, Weights] = {}
        for problem in problems(unit.setting, seed):
            if problem.share not in pretrained:
                pretrained[problem.share] = _pretrained(unit.setting["inputs"], problem.auxiliary)
            scale = scale_for(MADE_FOR[problem.task], problem.auxiliary, problem.y, alpha=START_WEIGHT)
            hidden = scale.scaling * pretrained[problem.share].hidden
            start = Weights(hidden, np.full((*hidden.shape, 1), scale.gamma))
            task = [(problem.X, problem.y)]
            end = gradient_flow(task, start, tolerance=TRAINING_TOLERANCE, precision=STEP_PRECISION).beta[:, 0]
            errors = {"trained": problem.error(end), "theory": _ends(problem, scale)["error"]}
            rows.append({"inputs": unit.setting["inputs"], "seed": seed, **problem.about, **errors})
    return rows


def _pretrained(name: str, auxiliary: FloatArray) -> Weights:
    """Train a network on the auxiliary task, on as many combinations of all rows as there are features."""
    inputs = bundled_inputs(name)
    _, sizes, directions = np.linalg.svd(inputs, full_matrices=False)
    combined = directions * sizes[:, None] / np.sqrt(len(inputs))
    start = Weights.alike(inputs.shape[1], START_WEIGHT)
    return gradient_flow(
        [(combined, combined @ auxiliary)], start, tolerance=PRETRAINING_TOLERANCE, precision=STEP_PRECISION
    )
