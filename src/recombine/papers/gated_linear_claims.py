"""Gated linear networks: what theory says of small problems, each statement with the check that can refute it."""

from __future__ import annotations

import numpy as np

from recombine.nets.gated_flow import LARGEST_MARGIN
from recombine.papers.claims import Check, Claim, Outcome
from recombine.papers.results import matching
from recombine.tables import Table

#: Limits of the two small problems, to six digits.
KNOWN = {
    ("toy", "group"): 7.665719,
    ("toy", "published group"): 7.710847,
    ("toy", "effective"): 73.273028,
    ("toy", "zeta"): 30.268285,
    ("toy", "one-layer"): 58.053628,
    ("toy", "frozen"): 12.920444,
    ("G1", "group"): 11.792589,
    ("G1", "published group"): 12.096077,
    ("G1", "effective"): 317.385546,
    ("G1", "zeta"): 52.657818,
    ("G1", "one-layer"): 134.023775,
    ("G1", "frozen"): 17.874491,
}
#: Costs of the weights `ZETA` and `BETA`, to six digits.
COSTS = {
    "own contexts": 4.733743,
    "shared contexts": 2.236388,
    "gated readout": 3.029613,
    "convolution": 2.147050,
    "chain of three": 3.543223 / 2,
}
TOY = KNOWN["toy", "group"]


def _ends(rows: Table) -> Table:
    """Last row of each seed and scale."""
    seeds, scales = rows["seed"], rows["scale"]
    last = [rows["tau"][(seeds == seed) & (scales == scale)].max() for seed, scale in zip(seeds, scales, strict=True)]
    return rows.where(rows["tau"] == np.array(last))


def _toy_flow(rows: Table) -> Outcome:
    ends = _ends(matching(rows, problem="toy", sharing=False))
    words, enough = [], True
    for scale in np.unique(ends["scale"]).tolist():
        ratios = matching(ends, scale=scale)["ratio"]
        close = int((np.abs(ratios - TOY) < 1e-3).sum())
        enough &= close >= 3 and len(ratios) >= 5
        words.append(f"{close} of {len(ratios)} at scale {scale:g}")
    small = matching(ends, scale=0.1)
    balance = float(np.abs(small["half square"] - small["ratio"]).max())
    never_below = float(ends["ratio"].min()) > TOY - 1e-5
    detail = (
        f"ratios {ends['ratio'].min():.6f} to {ends['ratio'].max():.6f} at tau = 75, or where the margin reached 4e6 "
        f"(tau {ends['tau'].min():.0f} at the earliest); half the squared parameters differ by {balance:.0e}"
    )
    return Outcome.of("; ".join(words), enough and balance < 1e-4 and never_below, detail)


def _conserved(rows: Table) -> Outcome:
    worst = float(rows["drift"].max())
    flows = len(_ends(rows))
    return Outcome.of(
        f"{worst:.0e}", worst < 1e-6, f"{flows} flows, largest change relative to the unit's squared size"
    )


def _primal_dual(rows: Table) -> Outcome:
    group = rows.where(np.isin(rows["norm"], ("group", "frozen")))
    apart = float(np.abs(group["conic"] - group["bound"]).max())
    own = float(np.abs(group["value"] - group["bound"]).max())
    misses = [
        abs(float(matching(rows, problem=name, norm=norm)["value"][0]) - value) for (name, norm), value in KNOWN.items()
    ]
    detail = (
        f"{len(rows)} limits; ours from its own bound {own:.0e}; largest difference to known values {max(misses):.0e}"
    )
    return Outcome.of(f"{apart:.0e}", max(apart, own) < 1e-6 and max(misses) < 1e-6, detail)


def _grouping(rows: Table) -> Outcome:
    right, wrong = (float(matching(rows, order=word)["norm"][0]) for word in ("by unit", "as published"))
    holds = abs(right - 168.407117) < 1e-6 and abs(wrong - 168.402395) < 1e-6
    return Outcome.of(
        f"{right:.6f}, {wrong:.6f}", holds, "RandomState(1).randn(785, 3, 4), groups over the second axis"
    )


def _closed_form(rows: Table) -> Outcome:
    worst = float(np.abs(rows["closed form"] / rows["by sum"] - 1).max())
    shapes = len(set(zip(rows["units"].tolist(), rows["contexts"].tolist(), strict=True)))
    detail = (
        f"{len(rows)} draws, {shapes} shapes up to {rows['units'].max()} units and {rows['contexts'].max()} contexts"
    )
    return Outcome.of(f"{worst:.0e}", worst < 1e-12 and rows["units"].max() >= 6, detail)


def _effective_kernel(rows: Table) -> Outcome:
    plain = matching(rows, norm="effective")
    apart = float(np.abs(plain["value"] - plain["conic"]).max())
    values = ", ".join(f"{value:.6f}" for value in plain["value"])
    return Outcome.of(f"{apart:.0e}", apart < 1e-5, f"kernel machine against conic program; values {values}")


def _sharing(rows: Table) -> Outcome:
    ends = _ends(matching(rows, problem="toy", sharing=True))
    cosine = float(ends["cosine"].min())
    miss = float(np.abs(ends["ratio"] - 7.619293).max())
    value = f"cosine {cosine:.7f}, ratio {ends['ratio'].mean():.6f}"
    return Outcome.of(value, cosine > 0.9999 and miss < 1e-4, f"{len(ends)} flows with 3 units in 4 joint contexts")


def _costs(rows: Table) -> Outcome:
    worst, missing = 0.0, [name for name in COSTS if name not in set(rows["architecture"].tolist())]
    for name, known in COSTS.items():
        found = matching(rows, architecture=name)
        if len(found):
            # A random start can end in a local minimum; the least of them is the answer.
            direct = float(found["direct"].min())
            worst = max(worst, abs(direct - float(found["formula"][0])), abs(direct - known))
    if missing:
        return Outcome.not_run(f"no results for {', '.join(missing)}")
    return Outcome.of(f"{worst:.0e}", worst < 1e-5, f"{len(COSTS)} architectures, augmented Lagrangians on parameters")


def _unit_off(rows: Table) -> Outcome:
    one = matching(rows, problem="G1", norm="group")
    least, gap = float(one["least unit"][0]), float(one["gap"][0])
    return Outcome.of(f"{least:.0e}", least < 1e-4, f"optimum {one['value'][0]:.6f}, duality gap {gap:.0e}")


def _slow_flow(rows: Table) -> Outcome:
    ends = _ends(matching(rows, sharing=False))
    excess = ends["ratio"] / ends["optimum"] - 1
    far = ends["margin"] > 0.99 * LARGEST_MARGIN
    toy, switched = (excess[(ends["problem"] == name) & far] for name in ("toy", "G1"))
    if not len(toy) or not len(switched):
        return Outcome.not_run(f"needs flows of both problems that reach a margin of {LARGEST_MARGIN:.0e}")
    times = float(switched.min() / toy.max())
    ratios = matching(ends, problem="G1")["ratio"]
    detail = (
        f"at a margin of {LARGEST_MARGIN:.0e}, {len(switched)} flows on G1 are {switched.min():.2%} to "
        f"{switched.max():.1%} above the optimum, {len(toy)} on the toy at most {toy.max():.0e}; "
        f"{int((ratios > 12).sum())} of {len(ratios)} on G1 end above 12, where an earlier calculation had all of them"
    )
    return Outcome.of(f"{times:.0f} times", times > 100, detail)


def _claim(number: str, statement: str, source: str, expected: str, tolerance: str, name: str, check: Check) -> Claim:
    return Claim(f"gated-linear/{number}", statement, source, expected, tolerance, name, check)


CLAIMS = (
    _claim(
        "1",
        "Gradient flow on a two-layer gated network ends at the least group norm over the margin.",
        "main theorem, Fig. 1",
        "7.665719 for at least 3 of 5 seeds",
        "1e-3; balanced to 1e-4",
        "flow",
        _toy_flow,
    ),
    _claim(
        "2",
        "Each unit's squared readout minus squared hidden weights does not change along the flow.",
        "follows from the flow",
        "drift 0",
        "1e-6",
        "flow",
        _conserved,
    ),
    _claim(
        "3",
        "The margin problem is multiple-kernel learning: a conic program in the weights has the value of our dual.",
        "ours",
        "difference 0",
        "1e-6",
        "limits",
        _primal_dual,
    ),
    _claim(
        "4",
        "Reading rows in column-major order, as the published code does, changes the group norm.",
        "authors' code",
        "168.407117, 168.402395",
        "1e-6",
        "grouping",
        _grouping,
    ),
    _claim(
        "5a",
        "The squared norm of effective weights over all C^H contexts has a closed form.",
        "ours",
        "difference 0",
        "1e-12 (relative)",
        "effective",
        _closed_form,
    ),
    _claim(
        "5b",
        "The largest margin under the effective norm is a machine with kernel K o (1 + sum_h (C [c_h = c_h'] - 1)).",
        "ours",
        "difference 0",
        "1e-5",
        "limits",
        _effective_kernel,
    ),
    _claim(
        "6",
        "If all units share one context function, depth adds nothing: the limit is that of one layer.",
        "follows from the theorem",
        "cosine > 0.9999, ratio 7.61929",
        "1e-4",
        "flow",
        _sharing,
    ),
    _claim(
        "7",
        "Five architectures cost what the formulas say: the least squared norm of their parameters.",
        "derived from the theorem",
        "difference 0",
        "1e-5",
        "costs",
        _costs,
    ),
    _claim("8a", "On G1 the limit switches a unit off.", "ours", "norm 0", "1e-4", "limits", _unit_off),
    _claim(
        "8b",
        "Where the limit switches a unit off, the flow does not get there in practice.",
        "ours",
        "100 times further from the optimum than the toy at the same margin",
        "none",
        "flow",
        _slow_flow,
    ),
)
