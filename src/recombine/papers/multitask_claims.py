"""Multi-task learning and pretraining: what theory says, each statement with the check that can refute it.

Numbers 1 to 17 are statements of the paper or follow from its formulas; from 18 on they are ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.papers.claims import Check, Claim, Outcome
from recombine.papers.results import matching
from recombine.tables import Table

#: Group norm of the cone program on P2, and where flow from weights of 1e-6 ends.
GROUP_NORM, FLOW_NORM = 2.865619, 3.2024


def mean_of(rows: Table, column: str, **values: Any) -> float:
    """Mean of a column over chosen rows; NaN when there are none, which no comparison accepts.

    Examples
    --------
    >>> mean_of(Table({"n": [16, 16, 32], "loss": [1.0, 2.0, 5.0]}), "loss", n=16)
    1.5
    """
    chosen = matching(rows, **values)
    return float(chosen[column].mean()) if len(chosen) else float("nan")


def _q(rows: Table) -> Outcome:
    small, large = rows["z"].argmin(), rows["z"].argmax()
    near, far = float(rows["over square"][small]), float(rows["over z ln z"][large])
    detail = f"at z = {rows['z'][small]:g} and {rows['z'][large]:g}"
    return Outcome.of(f"{near:.8f}, {far:.3f}", abs(near - 1) < 1e-6 and abs(far - 1) < 0.1, detail)


def _flow(kind: str) -> Check:
    def check(rows: Table) -> Outcome:
        chosen = matching(rows, kind=kind)
        worst = float(chosen["difference"].max(initial=0.0))
        detail = f"{len(chosen)} starts of the weights; largest difference of a coefficient"
        return Outcome.of(f"{worst:.1e}", len(chosen) > 0 and worst < 1e-8, detail)

    return check


def _published_formula(rows: Table) -> Outcome:
    chosen = matching(rows, kind="PT+FT")
    worst = chosen["symmetric difference"].argmax()
    off, exact = float(chosen["symmetric difference"][worst]), float(chosen["difference"].max())
    if off < 0.1:
        return Outcome.of(f"{off:.1e}", off < 1e-8, chosen["start"][worst])
    detail = (
        f"integrated gradient flow ({chosen['start'][worst]}) ends {off:.2f} away from the minimiser of the published "
        f"penalty in one coefficient and {exact:.0e} from that of k^2 = (m^2 alpha^2 + gamma^2)^2 + m^4 B^2 / 4, which "
        "is half the published k for small alpha and gamma. The published k is that of a network with both paths at "
        "sqrt|B|; pretraining leaves one of them at alpha^2 / sqrt|B|. Certain: two exact methods agree"
    )
    return Outcome.contradicting(f"{off:.2f}", detail)


def _conserved(rows: Table) -> Outcome:
    worst = float(rows["drift"].max())
    return Outcome.of(f"{worst:.1e}", worst < 1e-9, f"{len(rows)} starts, from beginning to end of training")


def _drift(rows: Table) -> Outcome:
    order = np.argsort(rows["rate"])
    rate, drift = rows["rate"][order], rows["drift"][order]
    power = float(np.polyfit(np.log(rate), np.log(drift), 1)[0])
    return Outcome.of(f"{power:.3f}", abs(power - 1) < 0.05, f"drift {drift[0]:.1e} at a rate of {rate[0]:g}")


def _law(rows: Table) -> Outcome:
    free = rows.where(rows["penalty"] != "PT+FT, gamma = 0.001")
    worst = float(np.abs(free["order"] + free["dependence"] - 1).max())
    kinds = len(set(free["penalty"].tolist()))
    return Outcome.of(f"{worst:.1e}", worst < 1e-5, f"{kinds} penalties at {len(free)} places, by differences")


def _law_broken(rows: Table) -> Outcome:
    kept = matching(rows, penalty="PT+FT, gamma = 0.001")
    total = kept["order"] + kept["dependence"]
    most = float(total.max() - 1)
    return Outcome.of(f"{most:.1e}", most > 1e-4 and float(total.min()) > 1 - 1e-6, "largest excess over one")


def _orders(rows: Table) -> Outcome:
    below = rows.where(rows["ratio"] < 1)
    tuned, joint = (matching(below, penalty=name)["order"] for name in ("PT+FT, k = B", "MTL"))
    exact = matching(below, penalty="PT+FT, k = B/2")["order"]
    at = np.argmin(np.abs(np.log10(matching(below, penalty="MTL")["ratio"]) + 3))
    found = float(tuned[at]), float(joint[at])
    known = abs(found[0] - 1.151) < 5e-4 and abs(found[1] - 1.001) < 5e-4
    holds = bool(np.all(tuned > joint) and np.all(exact > joint)) and known
    return Outcome.of(f"{found[0]:.3f}, {found[1]:.3f}", holds, f"larger at all {len(joint)} places with B < beta")


def _probing(rows: Table) -> Outcome:
    largest = rows["scaling"].argmax()
    found = float(rows["from probe"][largest])
    return Outcome.of(f"{found:.1e}", found < 1e-5, f"at m = {rows['scaling'][largest]:g}; largest coefficient 7.6")


def _pursuit(rows: Table) -> Outcome:
    smallest = rows["scaling"].argmin()
    found = float(rows["over l1"][smallest])
    gaps = ", ".join(f"{gap:.2%} at {m:g}" for m, gap in zip(rows["scaling"], rows["over l1"], strict=True) if m < 0.5)
    return Outcome.of(f"{found:.3%}", 0 <= found < 1e-3, f"cost over the least possible: {gaps}")


def _decay(rows: Table) -> Outcome:
    norms = matching(rows, route="weight decay")["group norm"]
    cone = float(matching(rows, route="cone program")["group norm"][0])
    worst = float(np.abs(norms - GROUP_NORM).max())
    detail = f"{len(norms)} random starts, all within {worst:.0e}; the cone program gives {cone:.6f}"
    return Outcome.of(f"{norms.mean():.6f}", worst < 1e-5 and abs(cone - GROUP_NORM) < 1e-6, detail)


def _small_weights(rows: Table) -> Outcome:
    flow = matching(rows, route="gradient flow")
    order = np.argsort(-flow["start"])
    norms = flow["group norm"][order]
    listed = ", ".join(f"{norm:.4f}" for norm in norms)
    holds = bool(np.all(np.diff(norms) > 0)) and abs(norms[-1] - FLOW_NORM) < 0.005 and norms[-1] > 1.1 * GROUP_NORM
    return Outcome.of(f"{norms[-1]:.4f}", holds, f"from weights of {flow['start'].max():g} down: {listed}")


def _helps(rows: Table) -> Outcome:
    one = matching(rows, n=64, overlap=40, form="exact")
    tuned, alone = (matching(one, method=name)["loss"] for name in ("pt+ft", "stl"))
    spread = f"PT+FT from {tuned.min():.1e} to {tuned.max():.1e}, STL from {alone.min():.2f}"
    value = f"{tuned.mean():.1e}, {alone.mean():.2f}"
    return Outcome.of(value, 1e-6 < tuned.mean() < 1e-4 and alone.min() > 0.8, f"{len(tuned)} seeds; {spread}")


def _too_low(rows: Table) -> Outcome:
    one = matching(rows, n=64, overlap=40, method="pt+ft")
    exact, published = (matching(one, form=form)["loss"] for form in ("exact", "symmetric"))
    ratios = exact / published
    detail = f"exact over published form, {len(ratios)} seeds: {ratios.min():.0f} to {ratios.max():.0f}"
    return Outcome.of(f"{ratios.mean():.0f}", bool(ratios.min() > 10), detail)


def _relative(rows: Table, scaling: float, active: int, place: str) -> float:
    return mean_of(rows, "relative loss", n=64, method="pt+ft", scaling=scaling, active=active, place=place)


def _sparsity(rows: Table) -> Outcome:
    ratios = {m: _relative(rows, m, 40, "inside") / _relative(rows, m, 5, "inside") for m in (1.0, 0.1, 0.01)}
    holds = ratios[1.0] < 10 and ratios[0.1] > 1e3 and ratios[0.01] > 1e5
    seeds = len(set(matching(rows, n=64)["seed"].tolist()))
    return Outcome.of(", ".join(f"{ratio:.2g}" for ratio in ratios.values()), holds, f"means of {seeds} seeds")


def _reuse(rows: Table) -> Outcome:
    ratios = {m: _relative(rows, m, 5, "outside") / _relative(rows, m, 5, "inside") for m in (0.1, 0.01)}
    holds = min(ratios.values()) > 1e4
    return Outcome.of(", ".join(f"{ratio:.1e}" for ratio in ratios.values()), holds, "at m = 0.1 and 0.01")


def _outside(rows: Table) -> Outcome:
    losses = [_relative(rows, m, 5, "outside") for m in (1.0, 0.1, 0.01)]
    holds = losses[0] > losses[1] > losses[2] and losses[0] > 0.8 and losses[2] < 0.05
    return Outcome.of(", ".join(f"{loss:.3f}" for loss in losses), holds, "at m = 1, 0.1, 0.01; final losses")


def _claim(number: str, statement: str, source: str, expected: str, tolerance: str, name: str, check: Check) -> Claim:
    return Claim(f"multitask/{number}", statement, source, expected, tolerance, name, check)


OURS = "derived from the protocol"
CLAIMS = (
    _claim(
        "1",
        "The penalty q is quadratic near zero and z ln z far from it.",
        "Woodworth et al. 2020",
        "1, 1",
        "1e-6, 10%",
        "q-limits",
        _q,
    ),
    _claim(
        "2",
        "Gradient flow on a single task ends at the interpolator of least potential.",
        "Azulay et al. 2021",
        "difference 0",
        "1e-8",
        "flow",
        _flow("single task"),
    ),
    _claim(
        "3a",
        "After pretraining, gradient flow ends at the interpolator of least potential with the exact k and start.",
        OURS,
        "difference 0",
        "1e-8",
        "flow",
        _flow("PT+FT"),
    ),
    _claim(
        "3b",
        "After pretraining, finetuning minimises the published penalty, k = |B| + gamma^2.",
        "penalty of the figures",
        "difference 0",
        "1e-8",
        "flow",
        _published_formula,
    ),
    _claim(
        "3c",
        "The published penalty is exact where both paths carry sqrt|B|.",
        OURS,
        "difference 0",
        "1e-8",
        "flow",
        _flow("two equal paths"),
    ),
    _claim("4a", "w^2 - v^2 is conserved by gradient flow.", "Sec. 3", "0", "1e-9", "flow", _conserved),
    _claim(
        "4b", "With steps of finite size it drifts in proportion to them.", OURS, "power 1", "0.05", "descent", _drift
    ),
    _claim(
        "5a",
        "Order and feature dependence add to one: MTL, PT+FT without readouts at the start, turning a ReLU unit.",
        "conservation law",
        "0",
        "1e-5",
        "penalties",
        _law,
    ),
    _claim("5b", "Readouts that start above zero break that law.", OURS, "> 1e-4", "none", "penalties", _law_broken),
    _claim(
        "6",
        "The order of PT+FT is above that of MTL wherever B < beta.",
        "Fig. order",
        "1.151, 1.001 at B/beta = 0.001",
        "5e-4",
        "penalties",
        _orders,
    ),
    _claim(
        "7a", "Large scaling turns finetuning into linear probing.", OURS, "0", "1e-5 at m = 100", "limits", _probing
    ),
    _claim(
        "7b",
        "Small scaling turns finetuning into basis pursuit with cheaper known features.",
        OURS,
        "cost over the least 0",
        "0.1% at m = 1e-4",
        "limits",
        _pursuit,
    ),
    _claim(
        "8a",
        "Multi-task training with vanishing weight decay ends at the least group norm.",
        "group lasso",
        "2.865619",
        "1e-5",
        "group-norm",
        _decay,
    ),
    _claim(
        "8b",
        "Multi-task gradient flow from small weights without decay does not; it moves away as weights shrink.",
        "ours",
        "3.2024 at 1e-6",
        "0.005",
        "group-norm",
        _small_weights,
    ),
    _claim(
        "9a",
        "With 64 samples, pretraining on the same 40 of 1000 features leaves almost no error, a single task all.",
        "Fig. overlap",
        "PT+FT 1e-6 to 1e-4, STL > 0.8",
        "none",
        "overlap",
        _helps,
    ),
    _claim(
        "11",
        "Rescaled weights prefer few of the known features: error with 40 over error with 5, m = 1, 0.1, 0.01.",
        "Fig. nested",
        "< 10, > 1e3, > 1e5",
        "none",
        "nested",
        _sparsity,
    ),
    _claim(
        "12a",
        "Rescaled weights still prefer known features: error with 5 new over error with 5 known ones.",
        "Fig. nested",
        "> 1e4, > 1e4",
        "none",
        "nested",
        _reuse,
    ),
    _claim(
        "12b",
        "Rescaling makes 5 new features learnable.",
        "Fig. nested",
        "falls from 1.0 to about 0.01",
        "> 0.8, < 0.05",
        "nested",
        _outside,
    ),
    _claim(
        "22",
        "The published PT+FT penalty foretells a test loss that is far too low (64 samples, same 40 features).",
        "ours",
        "ratio > 10",
        "none",
        "overlap",
        _too_low,
    ),
)
