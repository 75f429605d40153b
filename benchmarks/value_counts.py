"""Planted tables of counts: is a log scale chosen where effects multiply, and not where they add?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

#: Levels of the factors, mean count, and tables of each pair.
SHAPES = ((8, 8), (12, 10), (6, 5, 4))
MEANS = (5.0, 20.0, 100.0)
TABLES = 10
SEEN_SHARE = 0.6
#: Standard deviation of effects on the log scale; added effects have the same spread relative to the mean.
SPREAD = 0.6
LOGS = ("log", "log of counts", "counts")
GOAL_MULTIPLY, GOAL_ADD = 80, 2


def planted(multiply: bool, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield cells (M, C), expected counts (M,) and counts (M,) of the tables whose effects multiply or add."""
    for shape in SHAPES:
        for mean in MEANS:
            for number in range(TABLES):
                rng = np.random.default_rng([seed, int(multiply), len(shape), shape[0], int(mean), number])
                cells = np.indices(shape).reshape(len(shape), -1).T
                effects = [rng.normal(0, SPREAD, size) for size in shape]
                total = np.sum([effect[cells[:, place]] for place, effect in enumerate(effects)], axis=0)
                rate = mean * np.exp(total) if multiply else mean * np.maximum(1 + 2 * _scaled(total), 0.05)
                yield cells, rate, rng.poisson(rate).astype(float)


def _scaled(total: np.ndarray) -> np.ndarray:
    """Return sums of effects so that the smallest expected count is a tenth of the mean."""
    centred = total - total.mean()
    return centred * 0.45 / max(float(-centred.min()), 1e-9)


def print_counts(seed: int) -> None:
    """Print how often each way of effects had a log scale chosen, and how far values of unseen cells are off."""
    from recombine.theory.components import fit_components

    for multiply, goal in ((True, f"at least {GOAL_MULTIPLY}"), (False, f"at most {GOAL_ADD}")):
        chosen, errors = [], []
        for number, (cells, rate, counts) in enumerate(planted(multiply, seed)):
            seen = np.random.default_rng([seed, number]).random(len(cells)) < SEEN_SHARE
            fit = fit_components(cells[seen], counts[seen])
            chosen.append(fit.scale.name)
            away = fit.predict(cells[~seen]).mean - rate[~seen]
            errors.append(float(np.sqrt(np.mean(away**2)) / np.std(rate[~seen])))
        logs = sum(name in LOGS for name in chosen)
        names = ", ".join(f"{name} {chosen.count(name)}" for name in sorted(set(chosen)))
        way = "multiply" if multiply else "add"
        print(f"effects {way}: log scale in {logs} of {len(chosen)} (goal: {goal}); {names}; ", end="")
        print(f"median error of expected counts {np.median(errors):.3f} of their spread", flush=True)
