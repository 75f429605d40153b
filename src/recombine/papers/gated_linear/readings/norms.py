"""Gated linear networks on images: which norm agrees with trained networks, and what two wrong norms do."""

from __future__ import annotations

from recombine.papers.claims import Outcome
from recombine.papers.gated_linear.readings.rows import change, on_digits, paired, percent, ten_units, verdict, where
from recombine.papers.gated_linear.readings.small_problems import claim
from recombine.papers.seeds import judged
from recombine.tables.table import Table


@judged
def _agreement(rows: Table) -> Outcome:
    chosen = ten_units(rows)
    network, group = (percent(chosen, "error", classifier=name) for name in ("network", "group"))
    apart, chance = (percent(chosen, name, classifier="group") for name in ("inconsistency", "chance"))
    zeta, wrong = (percent(chosen, "inconsistency", classifier=name) for name in ("zeta", "published group"))
    value = f"errors {network:.1f}% and {group:.1f}%, inconsistency {apart:.1f}%"
    detail = (
        f"{where(chosen)}; unrelated classifiers of these errors disagree on {chance:.1f}%; of two controls, "
        f"plain L2 on zeta disagrees on {zeta:.1f}%, groups of the wrong rows on {wrong:.1f}%"
    )
    return verdict(rows, value, apart < chance / 2, abs(network - group) < 2 and apart < 10 and apart < chance, detail)


@judged
def _plain_norm(rows: Table) -> Outcome:
    two = rows.only(layers=2)
    slow = two.only(momentum=0.0)
    pairs = paired(slow, "inconsistency", "classifier", "group", "zeta")
    group, zeta = pairs.mean(axis=0)
    closer, further = (int((sign * pairs[:, 1] < sign * pairs[:, 0]).sum()) for sign in (1, -1))
    value = f"{zeta:.1f}% against {group:.1f}% with the group norm"
    wrong = paired(slow, "inconsistency", "classifier", "group", "published group")[:, 1].mean()
    short = int((slow.only(classifier="network")["margin"] <= 0).sum())
    detail = (
        f"two layers, momentum 0: L2 on zeta is closer to {closer} of {len(pairs)} networks and further from {further}"
        f", {change(pairs)} (two standard errors); groups of the wrong rows {wrong:.1f}%; {short} of the networks "
        f"do not separate their training samples{_with_momentum(two)}"
    )
    return verdict(rows, value, zeta <= group, zeta <= group, detail)


def _with_momentum(rows: Table) -> str:
    """Say the same of networks trained with momentum, which are nearer to their limit, where there are some."""
    fast = rows.only(momentum=0.9)
    if not len(fast):
        return ""
    group, zeta = paired(fast, "inconsistency", "classifier", "group", "zeta").mean(axis=0)
    return f"; with momentum 0.9, {zeta:.1f}% against {group:.1f}%"


@judged
def _implicit_bias(rows: Table) -> Outcome:
    chosen = ten_units(rows)
    errors = {name: percent(chosen, "error", classifier=name) for name in ("group", "effective")}
    apart = {name: percent(chosen, "inconsistency", classifier=name) for name in errors}
    times = apart["effective"] / apart["group"]
    value = f"error {errors['effective'] - errors['group']:+.1f} points, inconsistency x {times:.2f}"
    numbers = abs(errors["effective"] - errors["group"]) < 3 and 1.3 <= times <= 2
    every = rows.only(layers=2, momentum=0.0)
    means = [
        f"{word} {right:.1f}% against {other:.1f}%"
        for word in sorted(set(every["thresholds"].tolist()))
        for right, other in [_means(every.only(thresholds=word))]
    ]
    detail = f"{where(chosen)}; inconsistency over all two-layer networks, by thresholds: {', '.join(means)}"
    return verdict(rows, value, times > 1, numbers, detail)


def _means(rows: Table) -> tuple[float, float]:
    """Mean inconsistency of the effective and of the group norm, over networks that have both."""
    effective, group = paired(rows, "inconsistency", "classifier", "effective", "group").mean(axis=0)
    return float(effective), float(group)


@judged
def _wrong_groups(rows: Table) -> Outcome:
    chosen = ten_units(rows)
    right, wrong = (percent(chosen, "error", classifier=name) for name in ("group", "published group"))
    value = f"error {right:.1f}% with the right groups, {wrong:.1f}% with the published ones"
    return verdict(rows, value, abs(right - wrong) < 2, abs(right - wrong) < 2, where(chosen))


@judged
def _wrong_formula(rows: Table) -> Outcome:
    chosen = ten_units(rows)
    right, wrong = (percent(chosen, "error", classifier=name) for name in ("effective", "published effective"))
    value = f"error {right:.1f}% with the norm, {wrong:.1f}% with the published formula"
    return verdict(rows, value, wrong - right > 3, 20 <= wrong <= 35 and wrong - right > 5, where(chosen))


@judged
def _published_gap(rows: Table) -> Outcome:
    chosen = ten_units(rows)
    group, right, wrong = (
        percent(chosen, "error", classifier=name) for name in ("group", "effective", "published effective")
    )
    value = f"SVM-GLN {group:.1f}%, SVM-L2 {right:.1f}% (by the published formula {wrong:.1f}%)"
    if on_digits(rows):
        return Outcome.not_run(f"needs MNIST (scale full); the 8x8 digits that stood in gave {value}")
    if right - group > 5:
        return Outcome.of(value, True, where(chosen))
    seeds = chosen.only(classifier="effective")["error"] - chosen.only(classifier="group")["error"]
    detail = (
        f"{where(chosen)}; seed by seed the difference is {100 * seeds.min():.1f} to {100 * seeds.max():.1f} points; "
        "the published gap comes from a column-major reshape and a wrong coefficient, which leave (H - 1) d weights "
        "without any penalty"
    )
    return Outcome.contradicting(value, detail)


_WHERE = "MNIST 0-4 against 5-9"


CLAIMS = (
    claim(
        "9a",
        f"Theory predicts trained two-layer networks ({_WHERE}): same error, few disagreements.",
        "Fig. 2",
        "errors within 2 points, inconsistency < 10% and < 2p(1-p)",
        "none",
        "two-layer",
        _agreement,
    ),
    claim(
        "9b",
        "Agreement does not single out the group norm: plain L2 on zeta, without groups, agrees with training as well.",
        "ours",
        "inconsistency no larger than with the group norm",
        "none",
        "two-layer",
        _plain_norm,
    ),
    claim(
        "10",
        "With median thresholds and 10 units, the effective L2 norm has a similar error but agrees less with training.",
        "Fig. 2, corrected",
        "error within 3 points, inconsistency 1.3 to 2 times",
        "none",
        "two-layer",
        _implicit_bias,
    ),
    claim(
        "16",
        "Grouping contexts of different units, as the published code does, hardly changes accuracy.",
        "authors' code",
        "errors within 2 points",
        "none",
        "two-layer",
        _wrong_groups,
    ),
    claim(
        "17",
        "The published formula of SVM-L2 is not the L2 norm, and classifies far worse than that does.",
        "authors' code",
        "> 5 points worse; 20-35% error",
        "none",
        "two-layer",
        _wrong_formula,
    ),
    claim(
        "18",
        "The implicit bias of small networks classifies far better than the effective L2 norm would.",
        "Fig. 2, published SVM-L2",
        "> 5 points better",
        "none",
        "two-layer",
        _published_gap,
    ),
)
