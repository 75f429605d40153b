"""Multi-task learning and pretraining: what theory says, each statement with the check that can refute it.

Numbers 1 to 17 are statements of the paper or follow from its formulas; from 18 on they are ours. Checks ask for the
rows that a statement names (`needed`), and are not run without them.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.papers.claims import Check, Outcome
from recombine.papers.multitask.readings.rows import FEWEST_SEEDS, claim, mean_of, needed
from recombine.papers.seeds import several
from recombine.tables.table import Table

#: Group norm of the cone program on P2, and where flow from weights of 1e-6 ends.
GROUP_NORM, FLOW_NORM = 2.865619, 3.2024
#: Penalties that obey the conservation law.
LAWFUL = ("MTL", "PT+FT, k = B", "PT+FT, k = B/2", "ReLU, cosine 1", "ReLU, cosine 0.9", "ReLU, cosine 0")


def _q(rows: Table) -> Outcome:
    near, far = mean_of(rows, "over square", z=1e-3), mean_of(rows, "over z ln z", z=1e6)
    holds = abs(near - 1) < 1e-6 and abs(far - 1) < 0.1
    return Outcome.of(f"{near:.8f}, {far:.3f}", holds, "at z = 0.001 and 1e6")


def _flow(kind: str, starts: int) -> Check:
    def check(rows: Table) -> Outcome:
        chosen = needed(rows, starts, kind=kind)
        worst = float(chosen["difference"].max())
        detail = f"{several(len(chosen), 'start')} of the weights; largest difference of a coefficient"
        return Outcome.of(f"{worst:.1e}", worst < 1e-8, detail)

    return check


def _published_formula(rows: Table) -> Outcome:
    chosen = needed(rows, 4, kind="PT+FT")
    worst = chosen["symmetric difference"].argmax()
    off, exact = float(chosen["symmetric difference"][worst]), float(chosen["difference"].max())
    if not (exact < 1e-8 and off >= 0.1):
        # Without a flow that meets the exact form, a difference says nothing about the published one.
        return Outcome.of(f"{off:.1e}", off < 1e-8, f"{chosen['start'][worst]}; from the exact form {exact:.0e}")
    detail = (
        f"integrated gradient flow ({chosen['start'][worst]}) ends {off:.2f} away from the minimiser of the published "
        f"penalty in one coefficient and {exact:.0e} from that of k^2 = (m^2 alpha^2 + gamma^2)^2 + m^4 B^2 / 4, which "
        "is half the published k for small alpha and gamma. The published k is that of a network with both paths at "
        "sqrt|B|; pretraining leaves one of them at alpha^2 / sqrt|B|. Certain: two exact methods agree. Read in the "
        "code of the figures; the paper's text was not at hand"
    )
    return Outcome.contradicting(f"{off:.2f}", detail)


def _conserved(rows: Table) -> Outcome:
    worst = float(needed(rows, 9)["drift"].max())
    return Outcome.of(f"{worst:.1e}", worst < 1e-9, f"{len(rows)} starts, from beginning to end of training")


def _drift(rows: Table) -> Outcome:
    order = np.argsort(needed(rows, 3)["rate"])
    rate, drift = rows["rate"][order], rows["drift"][order]
    # Slope of a straight line through the logarithms.
    x, y = (np.log(values) - np.log(values).mean() for values in (rate, drift))
    power = float((x @ y) / (x @ x))
    return Outcome.of(f"{power:.3f}", abs(power - 1) < 0.05, f"drift {drift[0]:.1e} at a rate of {rate[0]:g}")


def _law(rows: Table) -> Outcome:
    parts = [needed(rows, penalty=name) for name in LAWFUL]
    worst = float(np.max([np.abs(part["order"] + part["dependence"] - 1).max() for part in parts]))
    places = sum(len(part) for part in parts)
    return Outcome.of(f"{worst:.1e}", worst < 1e-5, f"{len(parts)} penalties at {places} places, by differences")


def _law_broken(rows: Table) -> Outcome:
    kept = needed(rows, penalty="PT+FT, gamma = 0.001")
    total = kept["order"] + kept["dependence"]
    most = float(total.max() - 1)
    return Outcome.of(f"{most:.1e}", most > 1e-4 and float(total.min()) > 1 - 1e-6, "largest excess over one")


def _orders(rows: Table) -> Outcome:
    below = rows.where(rows["ratio"] < 1)
    tuned, joint, exact = (needed(below, penalty=name) for name in ("PT+FT, k = B", "MTL", "PT+FT, k = B/2"))
    found = [_near(part, "order", "ratio", 1e-3) for part in (tuned, joint)]
    known = abs(found[0] - 1.151) < 5e-4 and abs(found[1] - 1.001) < 5e-4
    holds = known and bool(np.all(tuned["order"] > joint["order"]) and np.all(exact["order"] > joint["order"]))
    return Outcome.of(f"{found[0]:.3f}, {found[1]:.3f}", holds, f"larger at all {len(joint)} places with B < beta")


def _near(rows: Table, column: str, name: str, value: float) -> float:
    """Return a column where another has a value, up to rounding."""
    return mean_of(rows.where(np.isclose(rows[name], value)), column)


def _probing(rows: Table) -> Outcome:
    found = _near(rows, "from probe", "scaling", 100)
    return Outcome.of(f"{found:.1e}", found < 1e-5, "at m = 100; largest coefficient 7.6")


def _pursuit(rows: Table) -> Outcome:
    found = _near(rows, "over l1", "scaling", 1e-4)
    gaps = ", ".join(f"{gap:.2%} at {m:g}" for m, gap in zip(rows["scaling"], rows["over l1"], strict=True) if m < 0.5)
    return Outcome.of(f"{found:.3%}", 0 <= found < 1e-3, f"cost over the least possible: {gaps}")


def _decay(rows: Table) -> Outcome:
    norms = needed(rows, 6, route="weight decay")["group norm"]
    cone = mean_of(rows, "group norm", route="cone program")
    worst = float(np.abs(norms - GROUP_NORM).max())
    detail = f"{len(norms)} random starts, all within {worst:.0e}; the cone program gives {cone:.6f}"
    return Outcome.of(f"{norms.mean():.6f}", worst < 1e-5 and abs(cone - GROUP_NORM) < 1e-6, detail)


def _small_weights(rows: Table) -> Outcome:
    flow = needed(rows, 3, route="gradient flow")
    order = np.argsort(-flow["start"])
    norms = flow["group norm"][order]
    last = _near(flow, "group norm", "start", 1e-6)
    listed = ", ".join(f"{norm:.4f}" for norm in norms)
    holds = bool(np.all(np.diff(norms) > 0)) and abs(last - FLOW_NORM) < 0.005 and last > 1.1 * GROUP_NORM
    return Outcome.of(f"{last:.4f}", holds, f"from weights of {flow['start'].max():g} down: {listed}")


def _losses(rows: Table, **values: object) -> FloatArray:
    """Return the predicted losses of at least three seeds with 64 samples and all features shared."""
    chosen = needed(rows, FEWEST_SEEDS, n=64, overlap=40, **values)
    return np.asarray(chosen["loss"][np.argsort(chosen["seed"])])


def _helps(rows: Table) -> Outcome:
    tuned, alone = (_losses(rows, form="exact", method=name) for name in ("pt+ft", "stl"))
    spread = f"PT+FT from {tuned.min():.1e} to {tuned.max():.1e}, STL from {alone.min():.2f} to {alone.max():.2f}"
    value = f"{tuned.mean():.1e}, {alone.mean():.2f}"
    return Outcome.of(value, 1e-6 < tuned.mean() < 1e-4 and alone.min() > 0.8, f"{len(tuned)} seeds; {spread}")


def _too_low(rows: Table) -> Outcome:
    exact, published = (_losses(rows, method="pt+ft", form=form) for form in ("exact", "symmetric"))
    ratios = exact / published
    detail = f"exact over published form, {len(ratios)} seeds: {ratios.min():.0f} to {ratios.max():.0f}"
    return Outcome.of(f"{ratios.mean():.0f}", bool(ratios.min() > 10), detail)


def _relative(rows: Table, scaling: float, active: int, place: str) -> float:
    about = {"scaling": scaling, "active": active, "place": place}
    return mean_of(rows, "relative loss", FEWEST_SEEDS, n=64, method="pt+ft", **about)


def _seeds(rows: Table) -> str:
    return f"theory, means of {len(set(rows.only(n=64)['seed'].tolist()))} seeds"


def _sparsity(rows: Table) -> Outcome:
    ratios = {m: _relative(rows, m, 40, "inside") / _relative(rows, m, 5, "inside") for m in (1.0, 0.1, 0.01)}
    holds = ratios[1.0] < 10 and ratios[0.1] > 1e3 and ratios[0.01] > 1e5
    return Outcome.of(", ".join(f"{ratio:.2g}" for ratio in ratios.values()), holds, _seeds(rows))


def _reuse(rows: Table) -> Outcome:
    ratios = [_relative(rows, m, 5, "outside") / _relative(rows, m, 5, "inside") for m in (0.1, 0.01)]
    holds = all(ratio > 1e4 for ratio in ratios)
    return Outcome.of(", ".join(f"{ratio:.1e}" for ratio in ratios), holds, f"at m = 0.1 and 0.01; {_seeds(rows)}")


def _outside(rows: Table) -> Outcome:
    losses = [_relative(rows, m, 5, "outside") for m in (1.0, 0.1, 0.01)]
    holds = losses[0] > losses[1] > losses[2] and losses[0] > 0.8 and losses[2] < 0.05
    detail = f"at m = 1, 0.1, 0.01; final losses; {_seeds(rows)}"
    return Outcome.of(", ".join(f"{loss:.3f}" for loss in losses), holds, detail)


OURS = "derived from the protocol"
CLAIMS = (
    claim(
        "1",
        "The penalty q is quadratic near zero and z ln z far from it.",
        "Woodworth et al. 2020",
        "1, 1",
        "1e-6, 10%",
        "q-limits",
        _q,
    ),
    claim(
        "2",
        "Gradient flow on a single task ends at the interpolator of least potential.",
        "Azulay et al. 2021",
        "difference 0",
        "1e-8",
        "flow",
        _flow("single task", 4),
    ),
    claim(
        "3a",
        "After pretraining, gradient flow ends at the interpolator of least potential with the exact k and start.",
        OURS,
        "difference 0",
        "1e-8",
        "flow",
        _flow("PT+FT", 4),
    ),
    claim(
        "3b",
        "After pretraining, finetuning minimises the published penalty, k = |B| + gamma^2.",
        "code of the figures",
        "difference 0",
        "1e-8",
        "flow",
        _published_formula,
    ),
    claim(
        "3c",
        "The published penalty is exact where both paths carry sqrt|B|.",
        OURS,
        "difference 0",
        "1e-8",
        "flow",
        _flow("two equal paths", 1),
    ),
    claim("4a", "w^2 - v^2 is conserved by gradient flow.", OURS, "0", "1e-9", "flow", _conserved),
    claim(
        "4b", "With steps of finite size it drifts in proportion to them.", OURS, "power 1", "0.05", "descent", _drift
    ),
    claim(
        "5a",
        "Order and feature dependence add to one: MTL, PT+FT without readouts at the start, turning a ReLU unit.",
        "abstract: conservation law",
        "0",
        "1e-5",
        "penalties",
        _law,
    ),
    claim("5b", "Readouts that start above zero break that law.", OURS, "> 1e-4", "none", "penalties", _law_broken),
    claim(
        "6",
        "The order of PT+FT is above that of MTL wherever B < beta.",
        "code of Fig. order",
        "1.151, 1.001 at B/beta = 0.001",
        "5e-4",
        "penalties",
        _orders,
    ),
    claim(
        "7a", "Large scaling turns finetuning into linear probing.", OURS, "0", "1e-5 at m = 100", "limits", _probing
    ),
    claim(
        "7b",
        "Small scaling turns finetuning into basis pursuit with cheaper known features.",
        OURS,
        "cost over the least 0",
        "0.1% at m = 1e-4",
        "limits",
        _pursuit,
    ),
    claim(
        "8a",
        "Multi-task training with vanishing weight decay ends at the least group norm.",
        OURS,
        "2.865619",
        "1e-5",
        "group-norm",
        _decay,
    ),
    claim(
        "8b",
        "Multi-task gradient flow from small weights without decay does not; it moves away as weights shrink.",
        "ours",
        "3.2024 at 1e-6",
        "0.005",
        "group-norm",
        _small_weights,
    ),
    claim(
        "9a",
        "With 64 samples, pretraining on the same 40 of 1000 features leaves hardly any error, one task all (theory).",
        "data of Fig. overlap",
        "PT+FT 1e-6 to 1e-4, STL > 0.8",
        "PT+FT the mean of seeds, STL every seed",
        "overlap",
        _helps,
    ),
    claim(
        "11",
        "Rescaled weights prefer few of the known features: error with 40 over error with 5 (theory).",
        "data of Fig. nested",
        "< 10, > 1e3, > 1e5 at m = 1, 0.1, 0.01",
        "none",
        "nested",
        _sparsity,
    ),
    claim(
        "12a",
        "Rescaled weights still prefer known features: error with 5 new over 5 known ones (theory).",
        "data of Fig. nested",
        "> 1e4, > 1e4",
        "none",
        "nested",
        _reuse,
    ),
    claim(
        "12b",
        "Rescaling makes 5 new features learnable (theory).",
        "data of Fig. nested",
        "falls from 1.0 to about 0.01",
        "> 0.8, < 0.05",
        "nested",
        _outside,
    ),
    claim(
        "22",
        "The published PT+FT penalty predicts a test loss that is far too low (64 samples, same 40 features).",
        "ours",
        "ratio > 10",
        "none",
        "overlap",
        _too_low,
    ),
)
