"""Gated linear networks on images: which norm agrees with trained networks, and what two wrong norms do."""

from __future__ import annotations

from recombine.papers.gated_linear.readings.networks import network_pairs, setting_of, ten_units
from recombine.papers.measured import Measured, MissingRowsError, stands_in
from recombine.papers.seeds import estimate, mean_over_seeds
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
        "errors": f"network {network:.1%}, limit {group:.1%}",
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
    means = f"{zeta.mean():.1f}% against {group.mean():.1f}% with the group norm"
    numbers = {"inconsistency": means, "L2 on zeta less group norm": float(zeta.mean() - group.mean())}
    short = int((slow.only(classifier="network")["margin"] <= 0).sum())
    detail = (
        f"two layers, momentum 0: L2 on zeta is closer to {int((zeta < group).sum())} of {len(zeta)} networks and "
        f"further from {int((zeta > group).sum())}, by {estimate(zeta - group)} points; groups of the wrong rows "
        f"{wrong.mean():.1f}%; {short} of the networks do not separate their training samples"
    )
    # Networks trained with momentum are nearer to their limit.
    if len(fast := two.only(momentum=0.9)):
        group, zeta = network_pairs(fast, "inconsistency", "classifier", "group", "zeta")
        detail += f"; with momentum 0.9, {zeta.mean():.1f}% against {group.mean():.1f}%"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def effective_norm(rows: Table) -> Measured:
    """Return error and inconsistency of the effective norm, compared with those of the group norm."""
    chosen = ten_units(rows)
    group, effective = _means(chosen, "error", "group", "effective")
    close, far = _means(chosen, "inconsistency", "group", "effective")
    numbers = {
        "errors": f"group norm {group:.1%}, effective {effective:.1%}",
        "errors apart": 100 * abs(effective - group),
        "inconsistency / group norm's": far / close,
    }
    means = []
    for word, every in sorted(rows.only(layers=2, momentum=0.0).by("thresholds").items()):
        wide, narrow = network_pairs(every, "inconsistency", "classifier", "effective", "group")
        means.append(f"{word} {wide.mean():.1f}% against {narrow.mean():.1f}%")
    detail = f"{setting_of(chosen)}; inconsistency over all two-layer networks, by thresholds: {', '.join(means)}"
    return Measured(numbers, detail, stands_in=stands_in(rows))


def grouping_errors(rows: Table) -> Measured:
    """Return how far errors with the right and with the published groups are apart."""
    chosen = ten_units(rows)
    right, wrong = _means(chosen, "error", "group", "published group")
    errors = f"right groups {right:.1%}, published ones {wrong:.1%}"
    numbers = {"errors": errors, "errors apart": 100 * abs(right - wrong)}
    return Measured(numbers, setting_of(chosen), stands_in=stands_in(rows))


def published_formula(rows: Table) -> Measured:
    """Return the error by the published formula, and how much worse it is than that of the norm."""
    chosen = ten_units(rows)
    right, wrong = _means(chosen, "error", "effective", "published effective")
    numbers = {"error by the norm": f"{right:.1%}", "error by the published formula": wrong}
    return Measured(numbers | {"worse by": 100 * (wrong - right)}, setting_of(chosen), stands_in=stands_in(rows))


def published_gap(rows: Table) -> Measured:
    """Return how much larger the error of the effective norm is than that of the group norm, on MNIST."""
    chosen = ten_units(rows)
    group, right, wrong = _means(chosen, "error", "group", "effective", "published effective")
    errors = f"SVM-GLN {group:.1%}, SVM-L2 {right:.1%} (by the published formula {wrong:.1%})"
    if stands_in(rows):
        raise MissingRowsError(f"needs MNIST (scale full); the 8x8 digits that stood in gave {errors}")
    seeds = 100 * (chosen.only(classifier="effective")["error"] - chosen.only(classifier="group")["error"])
    detail = f"{setting_of(chosen)}; seed by seed {seeds.min():.1f} to {seeds.max():.1f} points"
    return Measured({"errors": errors, "SVM-L2 worse by": 100 * (right - group)}, detail)
