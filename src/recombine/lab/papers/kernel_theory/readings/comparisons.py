"""Kernel theory: our means beside published ones, each with its errors.

One rule for all: two means differ where they are further apart than their two errors together (two standard errors
each, added in quadrature). Of many equal means some differ by chance, one in twenty; `most_by_chance` says how many.
Where no error of a published mean over networks is drawn, its networks are taken to spread as ours do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.kernel_theory.readings import images, published
from recombine.lab.papers.kernel_theory.readings.images import PUBLISHED_DISTANCES
from recombine.lab.papers.kernel_theory.readings.published import Pair
from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import Estimate, estimate, mean_over_seeds, networks_behind
from recombine.tables.table import Table

#: Two equal means differ by more than two standard errors this often.
CHANCE_OF_A_DIFFERENCE = 0.05
#: Networks behind a published mean on images, and behind one of networks on one-hot inputs.
PUBLISHED_NETWORKS_ON_IMAGES, PUBLISHED_NETWORKS_ON_ONE_HOT = 10, 6
#: Additivity is read from the drawing to within this much.
READ_TO_WITHIN_R2 = 0.0005
#: Heights of bars are read to within this much.
READ_TO_WITHIN_HEIGHT = 0.0005
#: The drawn mean over a network's rows before and after training halves a bar, as untrained networks add next to
#: nothing; where one network of six has no row after training, five of eleven rows are left.
RATIO_OF_HALVED_BARS, RATIO_WITH_A_ROW_MISSING = 2.0, 11 / 5
#: Figure 11's two groups of bars that are lower than half.
GROUPS_WITH_A_ROW_MISSING = (("CD-2", 4), ("CD-1", 2))


def most_by_chance(means: int) -> int:
    """Return how many of some pairs of equal means may differ before it is more than chance (at 5 in 100).

    Examples
    --------
    >>> [most_by_chance(means) for means in (6, 10, 15, 40, 60)]
    [1, 2, 2, 4, 6]
    """
    from scipy.stats import binom

    return int(binom.ppf(1 - CHANCE_OF_A_DIFFERENCE, means, CHANCE_OF_A_DIFFERENCE))


def _error(mean: Estimate) -> float:
    return float(np.nan_to_num(mean.error))


def differs(ours: Estimate, theirs: Pair, reading: float = 0.0) -> bool:
    """Say whether a mean is further from a published one than both errors and the reading of a drawing.

    Examples
    --------
    >>> differs(Estimate(0.80, 0.05, 10), (0.84, 0.03)), differs(Estimate(0.80, 0.01, 10), (0.84, 0.03))
    (False, True)
    """
    return bool(abs(ours.mean - theirs[0]) > np.hypot(_error(ours), theirs[1]) + reading)


def spread_alike(ours: Estimate, mean: float, networks: int = PUBLISHED_NETWORKS_ON_IMAGES) -> Pair:
    """Return a published mean with the error that it has if its networks spread as ours do.

    Examples
    --------
    >>> spread_alike(Estimate(0.5, 0.02, 5), 0.48, networks=20)
    (0.48, 0.01)
    """
    return mean, _error(ours) * float(np.sqrt(ours.networks / networks))


def _paper_images(rows: Table) -> Table:
    if stands_in(rows):
        raise MissingRowsError("published means are of the paper's images; digits stood in for them")
    return rows


def _beside(pairs: Mapping[str, tuple[Estimate, Pair]]) -> str:
    return "; ".join(f"{name}: {ours}, published {theirs[0]:g}" for name, (ours, theirs) in pairs.items())


def _compared(pairs: Mapping[str, tuple[Estimate, Pair]], what: str = "means", reading: float = 0.0) -> Measured:
    """Count the means that differ, and name them."""
    outside = {name: pair for name, pair in pairs.items() if differs(*pair, reading)}
    numbers = {"outside both errors": len(outside), what: len(pairs)}
    words = [f"outside: {_beside(outside)}"] if outside else []
    return Measured(numbers, "; ".join([*words, networks_behind(ours for ours, _ in pairs.values())]))


def context_on_mnist(rows: Table) -> Measured:
    """Return accuracies on CD-k by distance, and how many differ from figure 12a."""
    measured = images.context_accuracies(rows)
    if stands_in(rows):
        return measured
    chosen = rows.only(loss="logistic")
    pairs = {
        f"{task} at {distance}": (mean_over_seeds(chosen, "accuracy", task=task, distance=distance), theirs)
        for task, series in published.CONTEXT_ACCURACY.items()
        for distance, theirs in zip(PUBLISHED_DISTANCES, series, strict=True)
        if len(chosen.only(task=task, distance=distance))
    }
    compared = _compared(pairs)
    return Measured({**measured.numbers, **compared.numbers}, f"{compared.detail}; {measured.detail}")


def errors_on_mnist(rows: Table) -> Measured:
    """Return how many squared errors differ from figure 9a, on seen and on unseen pairs, at all distances."""
    chosen = _paper_images(rows)
    pairs = {
        f"{'unseen' if column == 'mse' else 'seen'} pairs, {name} at {distance}": (
            mean_over_seeds(chosen, column, set=name, distance=distance),
            theirs,
        )
        for column, sets in published.SUM_ERRORS.items()
        for name, series in sets.items()
        for distance, theirs in zip(PUBLISHED_DISTANCES, series, strict=True)
    }
    return _compared(pairs)


def _photos(rows: Table, column: str, key: str, listed: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Our means on photographs, each with the published one, by network and condition."""
    pairs = {}
    for network, conditions in listed.items():
        for name, theirs in conditions.items():
            ours = mean_over_seeds(_paper_images(rows), column, architecture=network, **{key: name})
            pairs[f"{network}, {name}"] = (ours, spread_alike(ours, theirs))
    return pairs


def photo_slopes(rows: Table) -> Measured:
    """Return how many slopes on photographs differ from figure 10c, the largest one, and how many steps fall."""
    pairs = _photos(rows, "slope", "set", published.PHOTO_SLOPES)
    curves = [
        _steps(rows.only(architecture=network, set=name))
        for network, slopes in published.PHOTO_SLOPES.items()
        for name in slopes
    ]
    means, errors = (np.concatenate(values) for values in zip(*curves, strict=True))
    compared = _compared(pairs, "slopes")
    numbers = {
        "largest slope": max(ours.mean for ours, _ in pairs.values()),
        **compared.numbers,
        "steps that do not rise": int((means <= 0).sum()),
        "steps that fall by more than their errors": int((means < -errors).sum()),
        "steps": len(means),
    }
    return Measured(numbers, f"{_beside(pairs)}; {compared.detail}")


def _steps(rows: Table) -> tuple[FloatArray, FloatArray]:
    """Steps between the values of neighbouring unseen items: mean over networks, and two standard errors."""
    values = np.stack([rows[f"value {item}"] for item in range(9)], axis=1)[np.isfinite(rows["slope"])]
    steps = np.diff(values[:, np.isfinite(values).all(axis=0)], axis=1)
    each = [estimate(column) for column in steps.T]
    return np.array([step.mean for step in each]), np.array([_error(step) for step in each])


def photo_errors(rows: Table) -> Measured:
    """Return how many squared errors on photographs differ from the last epoch of figure 10a."""
    chosen = _paper_images(rows)
    pairs = {
        f"{'unseen' if column == 'mse' else 'seen'} pairs, {network}, {name}": (
            mean_over_seeds(chosen, column, architecture=network, set=name),
            theirs,
        )
        for column, networks in published.PHOTO_ERRORS.items()
        for network, sets in networks.items()
        for name, theirs in sets.items()
    }
    return _compared(pairs)


def photo_accuracies(rows: Table) -> Measured:
    """Return how many accuracies on photographs differ from the last epoch of figure 13a."""
    chosen = _paper_images(rows)
    pairs = {
        f"{network}, {task}": (mean_over_seeds(chosen, "accuracy", architecture=network, task=task), theirs)
        for network, tasks in published.PHOTO_ACCURACY.items()
        for task, theirs in tasks.items()
    }
    compared = _compared(pairs)
    return Measured(compared.numbers, f"{_beside(pairs)}; {compared.detail}")


def _additive(pairs: Mapping[str, tuple[Estimate, Pair]]) -> Measured:
    """Count the means that are less additive than published, and name those that are more."""
    less = [name for name, (ours, theirs) in pairs.items() if differs(ours, theirs) and ours.mean < theirs[0]]
    more = [name for name, (ours, theirs) in pairs.items() if differs(ours, theirs) and ours.mean > theirs[0]]
    numbers = {"less additive than published": len(less), "more additive": len(more), "means": len(pairs)}
    return Measured(numbers, f"{_beside(pairs)}; {networks_behind(ours for ours, _ in pairs.values())}")


def photo_sum_additivity(rows: Table) -> Measured:
    """Return how many means of additivity of sums on photographs are below figure 10b."""
    return _additive(_photos(rows, "published additivity", "set", published.PHOTO_SUM_ADDITIVITY))


def photo_context_additivity(rows: Table) -> Measured:
    """Return how many means of additivity of context dependence on photographs are below figure 13b."""
    return _additive(_photos(rows, "published additivity", "task", published.PHOTO_CONTEXT_ADDITIVITY))


def photo_leaning(rows: Table) -> Measured:
    """Return what networks on photographs lean on: context over the right pair, network by network."""
    chosen = _paper_images(rows)
    ratio: dict[str, dict[str, Estimate]] = {}
    for network, tasks in published.PHOTO_RATIOS.items():
        ratio[network] = {}
        for task in tasks:
            cells = chosen.only(architecture=network, task=task)
            ratio[network][task] = estimate(cells["context"] / cells["right"], f"{network}, {task}")
    hard = {name: ratio[name]["CD-3"] for name in ratio}
    leads = {name: hard[name].mean - max(ratio[name][task].mean for task in ("CD-2", "CD-1")) for name in ratio}
    differing = [n for n, o in hard.items() if differs(o, spread_alike(o, published.PHOTO_RATIOS[n]["CD-3"]))]
    words = "; ".join(
        f"{network}, {task}: {ours}, published {published.PHOTO_RATIOS[network][task]:g}"
        for network, tasks_of in ratio.items()
        for task, ours in tasks_of.items()
    )
    return Measured({"CD-3 less CD-2 and CD-1": leads, "CD-3 outside both errors": len(differing)}, words)


def additivity_by_scale(rows: Table) -> Measured:
    """Return how many means of additivity by initial scale differ from figure 8a."""
    return _on_one_hot(
        rows, "sigma", {name: {10.0**s: m for s, m in by.items()} for name, by in published.ADDITIVITY_BY_SCALE.items()}
    )


def additivity_by_depth(rows: Table) -> Measured:
    """Return how many means of additivity by depth differ from figure 8e."""
    listed = {name: dict(enumerate(series, 1)) for name, series in published.ADDITIVITY_BY_DEPTH.items()}
    return _on_one_hot(rows, "depth", listed)


def _on_one_hot(rows: Table, key: str, listed: Mapping[str, Mapping[Any, float]]) -> Measured:
    """Compare additivity of networks on one-hot inputs, set by set."""
    pairs = {}
    for name, series in listed.items():
        for value, theirs in series.items():
            chosen = rows.only(set=name).where(np.isclose(rows.only(set=name)[key], value))
            ours = estimate(chosen["published additivity"], f"{name}, {key} {value:g}")
            pairs[f"{name}, {key} {value:g}"] = (ours, spread_alike(ours, theirs, PUBLISHED_NETWORKS_ON_ONE_HOT))
    compared = _compared(pairs, reading=READ_TO_WITHIN_R2)
    furthest = max(abs(ours.mean - theirs[0]) for ours, theirs in pairs.values())
    return Measured({**compared.numbers, "furthest": furthest}, compared.detail)


def deep_bars(rows: Table) -> Measured:
    """Return how figure 11's bars go with what networks lean on, as they are and divided as they were drawn."""
    chosen = rows.only(loss="logistic")
    ours, heights, differing = [], [], 0
    for task, kinds in published.DEEP_BARS.items():
        for kind, series in kinds.items():
            for depth, height in enumerate(series, 1):
                mean = mean_over_seeds(chosen, kind, task=task, depth=depth)
                drawn = _divided(
                    mean,
                    RATIO_WITH_A_ROW_MISSING if (task, depth) in GROUPS_WITH_A_ROW_MISSING else RATIO_OF_HALVED_BARS,
                )
                theirs = spread_alike(drawn, height, PUBLISHED_NETWORKS_ON_ONE_HOT)
                differing += differs(drawn, theirs, READ_TO_WITHIN_HEIGHT)
                ours.append(mean.mean)
                heights.append(height)
    numbers = {
        "correlation": float(np.corrcoef(ours, heights)[0, 1]),
        "ours over published, median": float(np.median(np.divide(ours, heights))),
        "outside both errors": differing,
        "bars": len(heights),
    }
    return Measured(numbers, f"{len(chosen)} networks")


def _divided(mean: Estimate, by: float) -> Estimate:
    return Estimate(mean.mean / by, mean.error / by, mean.networks)


def dispersed_by_distance(rows: Table) -> Measured:
    """Return how slopes and errors on dispersed sets change with distance."""
    names = sorted({str(name) for name in rows["set"].tolist() if str(name).startswith("dispersed")})
    if not names:
        raise MissingRowsError("there are no networks on dispersed sets")
    series = {name: [_at(rows, "slope", name, d) for d in _distances(rows, name)] for name in names}
    errors = {name: [_at(rows, "mse", name, d) for d in _distances(rows, name)] for name in names}
    numbers = {
        "slope gained": {name: of[-1].mean - of[0].mean for name, of in series.items()},
        "error lost": {name: of[0].mean - of[-1].mean for name, of in errors.items()},
        "steepest": max(names, key=lambda name: series[name][-1].mean),
    }
    listed = "; ".join(f"{name}: {', '.join(map(str, of))}" for name, of in series.items())
    count = sum(str(name) in names for name in rows["set"].tolist())
    return Measured(numbers, f"{count} networks; slopes {listed}", stands_in=stands_in(rows))


def _distances(rows: Table, name: str) -> list[int]:
    return sorted(rows.only(set=name).by("distance"))


def _at(rows: Table, column: str, name: str, distance: int) -> Estimate:
    return mean_over_seeds(rows, column, set=name, distance=distance)
