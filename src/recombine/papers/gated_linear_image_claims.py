"""Gated linear networks on images: what trained networks share with their limits, and what three defects do.

Numbers belong to MNIST with 500, 1000 and 2000 training images. Where the 8x8 digits stood in, a check judges the
direction alone and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from recombine.papers.claims import Claim, Outcome
from recombine.papers.results import matching
from recombine.tables import Table


class _NothingRunError(Exception):
    """A check needs networks that have not been trained."""


def _judged(check: Callable[[Table], Outcome]) -> Callable[[Table], Outcome]:
    """Turn a missing condition into ``not run``."""

    @wraps(check)
    def judged(rows: Table) -> Outcome:
        try:
            return check(rows)
        except _NothingRunError as error:
            return Outcome.not_run(str(error))

    return judged


def _mean(rows: Table, column: str, **condition: Any) -> float:
    """Mean of a column over the networks of a condition, in percent; those without a hard margin do not count."""
    values = matching(rows, **condition)[column]
    values = values[np.isfinite(values)]
    if not len(values):
        words = ", ".join(f"{name} {value}" for name, value in condition.items())
        raise _NothingRunError(f"nothing was run, or nothing is separable, at {words}")
    return 100 * float(values.mean())


def _twice_error(rows: Table, **condition: Any) -> float:
    """Two standard errors of the mean error over the networks of a condition, in percent."""
    values = matching(rows, **condition)["error"]
    return 200 * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0


def _within(value: float, least: float, most: float, slack: float) -> bool:
    return least - slack <= value <= most + slack


def _digits(rows: Table) -> bool:
    return set(rows["images"].tolist()) == {"digits"}


def _verdict(rows: Table, value: str, direction: bool, numbers: bool, detail: str) -> Outcome:
    """Judge direction and numbers, or on digits the direction alone."""
    if _digits(rows):
        note = "8x8 digits stand in for MNIST, so only the direction is judged"
        return Outcome.of(f"{value} (digits: direction only)", direction, f"{detail}; {note}")
    return Outcome.of(value, direction and numbers, detail)


def _balanced(rows: Table) -> Table:
    """Return the setting in which most statements are made: 10 units, one bit, median thresholds, fewest samples."""
    chosen = matching(rows, layers=2, units=10, bits=1, thresholds="median", momentum=0.0)
    if not len(chosen):
        raise _NothingRunError("no two-layer networks with 10 units, one bit and median thresholds")
    return matching(chosen, samples=int(chosen["samples"].min()))


def _where(rows: Table) -> str:
    return f"{rows['images'][0]}, {rows['samples'][0]} samples, {len(set(rows['seed'].tolist()))} seeds"


@_judged
def _agreement(rows: Table) -> Outcome:
    chosen = _balanced(rows)
    network, group = (_mean(chosen, "error", classifier=name) for name in ("network", "group"))
    apart, chance = (_mean(chosen, name, classifier="group") for name in ("inconsistency", "chance"))
    value = f"errors {network:.1f}% and {group:.1f}%, inconsistency {apart:.1f}%"
    detail = f"{_where(chosen)}; unrelated classifiers of these errors disagree on {chance:.1f}%"
    return _verdict(rows, value, apart < chance / 2, abs(network - group) < 2 and apart < 10 and apart < chance, detail)


@_judged
def _implicit_bias(rows: Table) -> Outcome:
    chosen = _balanced(rows)
    errors = {name: _mean(chosen, "error", classifier=name) for name in ("group", "effective", "zeta")}
    apart = {name: _mean(chosen, "inconsistency", classifier=name) for name in errors}
    times = apart["effective"] / apart["group"]
    value = f"error {errors['effective'] - errors['group']:+.1f} points, inconsistency x {times:.2f}"
    numbers = abs(errors["effective"] - errors["group"]) < 3 and 1.3 <= times <= 2
    detail = f"{_where(chosen)}; plain L2 on zeta: error {errors['zeta']:.1f}%, inconsistency {apart['zeta']:.1f}%"
    return _verdict(rows, value, times > 1, numbers, detail)


@_judged
def _lost_thresholds(rows: Table) -> Outcome:
    chosen = _balanced(rows)
    kept, lost = (_mean(chosen, name, classifier="group") for name in ("inconsistency", "reloaded"))
    value = f"{kept:.1f}% becomes {lost:.1f}%"
    return _verdict(rows, value, lost >= 1.5 * kept, 12 <= lost <= 17, _where(chosen))


@_judged
def _lost_thresholds_shallow(rows: Table) -> Outcome:
    chosen = matching(rows, layers=1, bits=8, thresholds="median", momentum=0.0)
    if not len(chosen):
        raise _NothingRunError("no one-layer networks with 8 bits and median thresholds")
    chosen = matching(chosen, samples=int(chosen["samples"].min()))
    kept, lost = (_mean(chosen, name, classifier="one-layer") for name in ("inconsistency", "reloaded"))
    return _verdict(rows, f"{kept:.1f}% becomes {lost:.1f}%", lost >= 1.5 * kept, lost > 40, _where(chosen))


@_judged
def _median_thresholds(rows: Table) -> Outcome:
    networks = matching(rows, layers=2, momentum=0.0, classifier="network")
    both = [_mean(networks, "error", thresholds=word) for word in ("median", "random")]
    ten = matching(networks, units=10, bits=1)
    few = matching(ten, samples=int(ten["samples"].min())) if len(ten) else ten
    median, random = (_mean(few, "error", thresholds=word) for word in ("median", "random"))
    slack = {word: _twice_error(few, thresholds=word) for word in ("median", "random")}
    value = f"{both[0]:.1f}% against {both[1]:.1f}%; 10 units {median:.1f}% against {random:.1f}%"
    numbers = _within(median, 15, 17, slack["median"]) and _within(random, 17, 18.5, slack["random"])
    detail = f"mean over {len(networks)} networks of all sizes; 10 units at {_where(few)}"
    return _verdict(rows, value, both[0] < both[1], numbers, detail)


@_judged
def _shape_in_bits(rows: Table) -> Outcome:
    chosen = matching(rows, layers=1, thresholds="median", momentum=0.0, classifier="network")
    few = matching(chosen, samples=int(chosen["samples"].min())) if len(chosen) else chosen
    bits = sorted(set(few["bits"].tolist()))
    if not {0, 2, 4, 8, 10} <= set(bits):
        raise _NothingRunError(f"needs one-layer networks with 0, 2, 4, 8 and 10 bits; there are {bits}")
    errors = {bit: _mean(few, "error", bits=bit) for bit in bits}
    best = min(errors, key=lambda bit: errors[bit])
    many = min(errors[bit] for bit in bits if bit >= 10)
    value = f"least {errors[best]:.1f}% at s = {best}; {errors[0]:.1f}% at 0, {many:.1f}% from 10 on"
    return _verdict(rows, value, 1 <= best <= 4 and many > errors[0], many > 40, _where(few))


@_judged
def _two_layers_win(rows: Table) -> Outcome:
    chosen = matching(rows, thresholds="median", momentum=0.0, classifier="network")
    gains = {}
    for size in sorted(set(chosen["samples"].tolist())):
        best = []
        for layers in (1, 2):
            here = matching(chosen, samples=size, layers=layers)
            shapes = sorted(set(zip(here["units"].tolist(), here["bits"].tolist(), strict=True)))
            best.append(min((_mean(here, "error", units=u, bits=b) for u, b in shapes), default=float("nan")))
        gains[size] = best[0] - best[1]
    if not gains or not np.isfinite(list(gains.values())).all():
        raise _NothingRunError("needs networks of one and of two layers")
    value = ", ".join(f"{gain:.1f} points at {size}" for size, gain in gains.items())
    least = min(gains.values())
    return _verdict(
        rows, value, least > 0, least > 4, f"{rows['images'][0]}, best of each kind at each number of samples"
    )


@_judged
def _relu(rows: Table) -> Outcome:
    kinds = ("network", "hidden layer", "learned contexts", "random contexts")
    fast = matching(rows, momentum=0.9)
    fast = fast.where((fast["units"] >= 20) & (fast["units"] <= 100))
    whole = _complete(fast, kinds)
    error = {kind: _mean(whole, "error", classifier=kind) for kind in kinds}
    apart = {kind: _mean(whole, "inconsistency", classifier=kind) for kind in kinds[1:]}
    hidden, learned, random = (apart[kind] for kind in kinds[1:])
    value = f"hidden layer {hidden:.2f}%, learned contexts {learned:.1f}%, random contexts {random:.1f}%"
    close = abs(error["hidden layer"] - error["network"]) < 0.5
    order = error["network"] < error["learned contexts"] < error["random contexts"]
    numbers = hidden < 1 and 3 <= learned <= 9 and 6 <= random <= 16 and close and order
    listed = ", ".join(f"{kind} {number:.1f}%" for kind, number in error.items())
    settings = len(whole) // len(kinds)
    detail = f"{rows['images'][0]}, {settings} networks with 20 to 100 units, all separable; errors {listed}"
    return _verdict(rows, value, hidden < learned < random, numbers, detail)


def _complete(rows: Table, kinds: tuple[str, ...]) -> Table:
    """Return the networks for which every one of ``kinds`` has a hard margin."""
    rows = rows.where(np.isin(rows["classifier"], kinds))
    keys = list(zip(rows["units"].tolist(), rows["samples"].tolist(), rows["seed"].tolist(), strict=True))
    lacking = {key for key, error in zip(keys, rows["error"].tolist(), strict=True) if not np.isfinite(error)}
    return rows.where(np.array([key not in lacking for key in keys], dtype=bool))


@_judged
def _gates_only(rows: Table) -> Outcome:
    fast = matching(rows, momentum=0.9)
    gates = matching(fast, classifier="gates only")
    there = gates.where(np.isfinite(gates["error"]))
    if not len(there):
        raise _NothingRunError("no network whose gates alone separate its training samples; it takes hundreds of units")
    wide = fast.where(np.isin(fast["units"], there["units"]) & np.isin(fast["samples"], there["samples"]))
    error, network = _mean(there, "error"), _mean(wide, "error", classifier="network")
    value = f"{error:.1f}% against {network:.1f}% of the networks"
    detail = f"{rows['images'][0]}, {len(there)} of {len(gates)} networks are separable by their gates"
    return _verdict(rows, value, error > 1.5 * network, 25 <= error <= 33, detail)


@_judged
def _wrong_groups(rows: Table) -> Outcome:
    chosen = _balanced(rows)
    right, wrong = (_mean(chosen, "error", classifier=name) for name in ("group", "published group"))
    value = f"error {right:.1f}% with the right groups, {wrong:.1f}% with the published ones"
    return _verdict(rows, value, abs(right - wrong) < 2, abs(right - wrong) < 2, _where(chosen))


@_judged
def _wrong_formula(rows: Table) -> Outcome:
    chosen = _balanced(rows)
    right, wrong = (_mean(chosen, "error", classifier=name) for name in ("effective", "published effective"))
    value = f"error {right:.1f}% with the norm, {wrong:.1f}% with the published formula"
    return _verdict(rows, value, wrong - right > 3, 20 <= wrong <= 35 and wrong - right > 5, _where(chosen))


@_judged
def _published_gap(rows: Table) -> Outcome:
    chosen = _balanced(rows)
    group, right, wrong = (
        _mean(chosen, "error", classifier=name) for name in ("group", "effective", "published effective")
    )
    value = f"SVM-GLN {group:.1f}%, SVM-L2 {right:.1f}% (by the published formula {wrong:.1f}%)"
    if _digits(rows):
        return Outcome.not_run(f"needs MNIST (scale full); the 8x8 digits that stood in gave {value}")
    if right - group > 5:
        return Outcome.of(value, True, _where(chosen))
    seeds = matching(chosen, classifier="effective")["error"] - matching(chosen, classifier="group")["error"]
    detail = (
        f"{_where(chosen)}; seed by seed the difference is {100 * seeds.min():.1f} to {100 * seeds.max():.1f} points; "
        "the published gap comes from a column-major reshape and a wrong coefficient, which leave (H - 1) d weights "
        "without any penalty"
    )
    return Outcome.contradicting(value, detail)


_WHERE = "MNIST 0-4 against 5-9"


def _claim(
    number: str,
    statement: str,
    source: str,
    expected: str,
    tolerance: str,
    name: str,
    check: Callable[[Table], Outcome],
) -> Claim:
    return Claim(f"gated-linear/{number}", statement, source, expected, tolerance, name, check)


CLAIMS = (
    _claim(
        "9",
        f"Theory predicts trained two-layer networks ({_WHERE}): same error, few disagreements.",
        "Fig. 2",
        "errors within 2 points, inconsistency < 10% and < 2p(1-p)",
        "none",
        "two-layer",
        _agreement,
    ),
    _claim(
        "10",
        "The effective L2 norm in place of the implicit bias hardly changes the error but agrees less with training.",
        "Fig. 2, corrected",
        "error within 3 points, inconsistency 1.3 to 2 times",
        "none",
        "two-layer",
        _implicit_bias,
    ),
    _claim(
        "11a",
        "A network reloaded without its thresholds, as published, seems to disagree with theory far more than it does.",
        "authors' code",
        "at least 1.5 times; 12% to 17%",
        "none",
        "two-layer",
        _lost_thresholds,
    ),
    _claim(
        "11b",
        "The same for one layer with 8 bits: the published inconsistency is that of a scrambled network.",
        "authors' code",
        "> 40%",
        "none",
        "shallow",
        _lost_thresholds_shallow,
    ),
    _claim(
        "12",
        "Thresholds at the median beat random ones in two-layer networks.",
        "Fig. 2",
        "15-17% against 17-18.5% (10 units, 500 samples)",
        "two standard errors",
        "two-layer",
        _median_thresholds,
    ),
    _claim(
        "13a",
        "The error of one-layer networks is U-shaped in the number of hyperplanes.",
        "Fig. 2",
        "least at s = 1 to 4, > 40% from s = 10 on",
        "none",
        "shallow",
        _shape_in_bits,
    ),
    _claim(
        "13b",
        "Two layers beat one at every number of samples.",
        "Fig. 2c",
        "> 4 points",
        "none",
        "two-layer",
        _two_layers_win,
    ),
    _claim(
        "14",
        "Theory with frozen gates explains part of ReLU networks: the more of the network it is given, the more.",
        "Fig. 3",
        "inconsistency < 1%, 3-9%, 6-16%; error of network = hidden layer < learned < random contexts",
        "0.5 points",
        "relu",
        _relu,
    ),
    _claim(
        "15",
        "Gates alone do not make the classifier: the maximum margin on binary gates is far worse.",
        "Fig. 3",
        "25-33% error",
        "none",
        "relu",
        _gates_only,
    ),
    _claim(
        "16",
        "Grouping contexts of different units, as the published code does, hardly changes accuracy.",
        "authors' code",
        "errors within 2 points",
        "none",
        "two-layer",
        _wrong_groups,
    ),
    _claim(
        "17",
        "The published formula of SVM-L2 is not the L2 norm, and classifies far worse than that does.",
        "authors' code",
        "> 5 points worse; 20-35% error",
        "none",
        "two-layer",
        _wrong_formula,
    ),
    _claim(
        "18",
        "The implicit bias of small networks classifies far better than the effective L2 norm would.",
        "Fig. 2, published SVM-L2",
        "> 5 points better",
        "none",
        "two-layer",
        _published_gap,
    ),
)
