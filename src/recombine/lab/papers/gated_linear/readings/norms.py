"""Gated linear networks on images: which norm agrees with trained networks, and what two wrong norms do."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.lab.papers.gated_linear.readings.networks import best_gaps, network_pairs, setting_of, ten_units
from recombine.lab.papers.gated_linear.readings.published import published
from recombine.lab.papers.measured import Measured, MissingRowsError, stands_in
from recombine.lab.papers.seeds import estimate, mean_over_seeds
from recombine.tables.table import Table


def _means(rows: Table, column: str, *classifiers: str) -> list[float]:
    return [mean_over_seeds(rows, column, classifier=name).mean for name in classifiers]


def agreement(rows: Table) -> Measured:
    """Return how often the limit disagrees with networks of 10 units, and how far their errors are apart."""
    chosen = ten_units(rows)
    network, group = _means(chosen, "error", "network", "group")
    apart, zeta, wrong = _means(chosen, "inconsistency", "group", "zeta", "published group")
    (chance,) = _means(chosen, "chance", "group")
    numbers = {
        "network's error": f"{network:.1%} (published 16.6%)",
        "limit's error": f"{group:.1%} (published 16.2%)",
        "errors apart": 100 * abs(network - group),
        "inconsistency": apart,
        "inconsistency / chance": apart / chance,
    }
    detail = (
        f"{setting_of(chosen)}; chance: unrelated classifiers of these errors disagree on {chance:.1%}; of two "
        f"controls, plain L2 on zeta disagrees on {zeta:.1%}, groups of the wrong rows on {wrong:.1%}"
    )
    return Measured(numbers, detail, stands_in=stands_in(rows))


def plain_norm(rows: Table) -> Measured:
    """Return how much more often the limit of plain L2 on zeta disagrees with networks than that of the group norm."""
    two = rows.only(layers=2)
    slow = two.only(momentum=0.0)
    group, zeta = network_pairs(slow, "inconsistency", "classifier", "group", "zeta")
    _, wrong = network_pairs(slow, "inconsistency", "classifier", "group", "published group")
    numbers = {
        "inconsistency of L2 on zeta": f"{zeta.mean():.1f}%",
        "of the group norm": f"{group.mean():.1f}%",
        "L2 on zeta less group norm": float(zeta.mean() - group.mean()),
    }
    networks = slow.only(classifier="network")
    short = int((networks["margin"] <= 0).sum())
    numbers["networks that do not separate their images"] = f"{short} of {len(networks)}"
    detail = (
        f"two layers, momentum 0: L2 on zeta is closer to {int((zeta < group).sum())} of {len(zeta)} networks and "
        f"further from {int((zeta > group).sum())}, by {estimate(zeta - group)} points; groups of the wrong rows "
        f"{wrong.mean():.1f}%"
    )
    # Networks trained with momentum are nearer to their limit.
    if len(fast := two.only(momentum=0.9)):
        group, zeta = network_pairs(fast, "inconsistency", "classifier", "group", "zeta")
        detail += f"; with momentum 0.9, {zeta.mean():.1f}% against {group.mean():.1f}%"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def disagreements(rows: Table) -> Measured:
    """Return how often both limits disagree with networks, over all that Fig. 2b shows: median thresholds."""
    by_word = {
        word: network_pairs(every, "inconsistency", "classifier", "effective", "group")
        for word, every in sorted(rows.only(layers=2, momentum=0.0).by("thresholds").items())
    }
    if "median" not in by_word:
        raise MissingRowsError("needs two-layer networks with median thresholds")
    wide, narrow = by_word["median"]
    numbers = {
        "SVM-GLN disagrees on": f"{narrow.mean():.1f}%",
        "SVM-L2 disagrees on": f"{wide.mean():.1f}%",
        "SVM-L2 less SVM-GLN": float(np.mean(wide - narrow)),
    }
    texts = [
        f"with {word} thresholds {far.mean():.1f}% against {near.mean():.1f}%, apart by {estimate(far - near)} points"
        for word, (far, near) in by_word.items()
    ]
    return Measured(numbers, f"{len(wide)} networks; {'; '.join(texts)}", stands_in=stands_in(rows))


def predicted_errors(rows: Table) -> Measured:
    """Return the correlation of a limit's error with that of the trained network, by norm, and the published ones."""
    networks = rows.only(layers=2, momentum=0.0, thresholds="median")
    names = {
        "SVM-GLN": "group",
        "L2 on zeta": "zeta",
        "SVM-L2": "effective",
        "SVM-L2 by the released formula": "published effective",
    }
    correlations = {words: _correlation(networks.only(classifier=name)) for words, name in names.items()}
    theirs = {words: f"{_published_correlation(name):.2f}" for words, name in PUBLISHED_AS.items()}
    numbers: dict[str, Any] = {f"correlation, {words}": value for words, value in correlations.items()}
    numbers |= {f"published correlation, {words}": value for words, value in theirs.items()}
    within = {
        name: {f"{size}": _correlation(group) for size, group in sorted(of_norm.by("samples").items())}
        for name in ("SVM-GLN", "SVM-L2")
        for of_norm in [networks.only(classifier=names[name])]
    }
    numbers |= {f"{name}, within images": listed for name, listed in within.items()}
    gap = 100 * (networks.only(classifier="group")["error"] - networks.only(classifier="group")["network error"])
    detail = f"{len(gap)} networks with median thresholds; SVM-GLN less network {estimate(gap)} points"
    return Measured(numbers, detail, stands_in=stands_in(rows))


#: Which classifiers the published SVMs are.
PUBLISHED_AS = {"SVM-GLN": "published group", "SVM-L2": "published effective"}


def _correlation(rows: Table) -> float:
    if len(rows) < 3:
        raise MissingRowsError("needs two-layer networks with median thresholds")
    return float(np.corrcoef(rows["error"], rows["network error"])[0, 1])


def _published_correlation(classifier: str) -> float:
    condition = {"thresholds": "median", "momentum": 0.0}
    limits, networks = (published("two layers", classifier=name, **condition) for name in (classifier, "network"))
    pairs = limits.paired(networks, "error", on=["units", "bits", "samples", "seed"])
    return float(np.corrcoef(*pairs)[0, 1])


def effective_norm(rows: Table) -> Measured:
    """Return error and inconsistency of the effective norm, compared with those of the group norm."""
    chosen = ten_units(rows)
    group, effective = _means(chosen, "error", "group", "effective")
    close, far = _means(chosen, "inconsistency", "group", "effective")
    numbers = {
        "SVM-GLN's error": f"{group:.1%}",
        "SVM-L2's error": f"{effective:.1%}",
        "errors apart": 100 * abs(effective - group),
        "inconsistency / group norm's": far / close,
    }
    return Measured(numbers, setting_of(chosen), stands_in=stands_in(rows))


def grouping_errors(rows: Table) -> Measured:
    """Return how far errors with the right and with the published groups are apart."""
    chosen = ten_units(rows)
    right, wrong = _means(chosen, "error", "group", "published group")
    numbers = {
        "error with the right groups": f"{right:.1%}",
        "with the released ones": f"{wrong:.1%}",
        "errors apart": 100 * abs(right - wrong),
    }
    return Measured(numbers, setting_of(chosen), stands_in=stands_in(rows))


def published_formula(rows: Table) -> Measured:
    """Return the error by the published formula, and how much worse it is than that of the norm."""
    chosen = ten_units(rows)
    right, wrong = _means(chosen, "error", "effective", "published effective")
    numbers = {"error by the norm": f"{right:.1%}", "error by the published formula": wrong}
    return Measured(numbers | {"worse by": 100 * (wrong - right)}, setting_of(chosen), stands_in=stands_in(rows))


def published_gap(rows: Table) -> Measured:
    """Return how much larger the error of the effective norm is than that of the group norm, by number of samples."""
    chosen = rows.only(layers=2, units=10, bits=1, thresholds="median", momentum=0.0)
    pairs = {
        f"{size} images": network_pairs(group, "error", "classifier", "effective", "group")
        for size, group in sorted(chosen.by("samples").items())
    }
    if not pairs:
        raise MissingRowsError("no two-layer networks with 10 units, one bit and median thresholds")
    gaps = {words: float(np.mean(wide - narrow)) for words, (wide, narrow) in pairs.items()}
    seeds = [f"{words} {(far - near).min():.1f} to {(far - near).max():.1f}" for words, (far, near) in pairs.items()]
    return Measured(
        {"SVM-L2 less SVM-GLN": gaps}, f"10 units, seed by seed: {', '.join(seeds)} points", stands_in=stands_in(rows)
    )


def best_shapes_elsewhere(rows: Table) -> Measured:
    """Return how much larger the error of the best shape is under the L2 norm than under the group norm."""
    gaps, errors = best_gaps(rows.only(layers=2, momentum=0.0), ("group", "effective"))
    numbers: dict[str, Any] = {
        f"with {max(gaps)} images": float(gaps[max(gaps)].mean()),
        "largest": max(float(values.mean()) for values in gaps.values()),
    }
    listed = [
        f"{size} images {errors['effective'][size].mean():.1f}% against {errors['group'][size].mean():.1f}%, apart by "
        f"{estimate(values)} points"
        for size, values in gaps.items()
    ]
    return Measured(numbers, f"{rows['images'][0]}; {'; '.join(listed)}", stands_in=stands_in(rows))
