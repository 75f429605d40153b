"""Gated linear networks: what is read off the rows of small problems, where the limit is known exactly."""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.lab.papers.gated_linear.experiments.theory import NORMS
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table
from recombine.theory.gated.flow import MAX_MARGIN

#: Limits of the two small problems by norm, to six digits.
KNOWN = {
    "toy": (7.665719, 7.710847, 73.273028, 30.268285, 58.053628, 12.920444),
    "G1": (11.792589, 12.096077, 317.385546, 52.657818, 134.023775, 17.874491),
}
#: Costs of the weights `ZETA` and `BETA`, to six digits.
COSTS = {
    "own contexts": 4.733743,
    "shared contexts": 2.236388,
    "gated readout": 3.029613,
    "convolution": 2.147050,
    "chain of three": 3.543223 / 2,
}
TOY = KNOWN["toy"][0]
#: How far above the optimum of G1 the function is that plain L2 on zeta ends in: the group norm of it, least over
#: shifts, is 12.491758. On the toy that function is the optimum itself, so only G1 tells these two norms apart.
PLAIN_NORM_ON_G1 = 12.491758 / KNOWN["G1"][0] - 1
#: A flow is at its limit if its ratio is nearer than this.
LIMIT_TOLERANCE = 1e-3
#: What tells one flow from another.
FLOW = ("problem", "sharing", "scale", "seed")
#: Rates are judged beyond this margin, and reported from an earlier one on, where they do not yet tell problems apart.
LARGE_MARGIN, EARLIER_MARGIN = 1e3, 1e2
#: Rates are measured where the excess is above the accuracy of the optimum.
OPTIMUM_ACCURACY = 1e-9


def last_of_flows(rows: Table, until: float = np.inf) -> Table:
    """Return the last row of every flow up to the rescaled time ``until``.

    Examples
    --------
    >>> columns = {"problem": ["toy", "toy", "G1"], "sharing": [False] * 3, "scale": [0.1] * 3, "seed": [0] * 3}
    >>> last_of_flows(Table(columns | {"tau": [0.0, 75.0, 110.0]}))["tau"].tolist()
    [75.0, 110.0]
    """
    flows = rows.where(rows["tau"] <= until).by(*FLOW).values()
    return Table.from_rows(list(flow.rows())[np.argmax(flow["tau"])] for flow in flows)


def ends_of_flows(rows: Table) -> Measured:
    """Return whether flows only ever approach the optimum from above, and how near to it they end."""
    flows = [_rising(flow) for flow in require(rows, sharing=False).by(*FLOW).values()]
    excess = [flow["ratio"] / flow["optimum"] - 1 for flow in flows]
    ends = {
        name: [float(e[-1]) for e, f in zip(excess, flows, strict=True) if f["problem"][0] == name] for name in KNOWN
    }
    small = require(require(last_of_flows(require(rows, problem="toy", sharing=False), until=75)), scale=0.1)
    numbers = {
        "flows": len(flows),
        "times at which a flow moves away from the optimum": sum(int((np.diff(e) >= 0).sum()) for e in excess),
        "furthest below the optimum": -min(float(e.min()) for e in excess),
        "on Fig. 1's points, median above the optimum at the end": float(np.median(_all(ends["toy"]))),
        "on Fig. 1's points, most above the optimum at the end": f"{max(_all(ends['toy'])):.2%}",
        "on G1, median above the optimum at the end": float(np.median(_all(ends["G1"]))),
        "on G1, least and most above": f"{min(ends['G1']):.2%} and {max(ends['G1']):.1%}",
        "on G1, below the limit of plain L2": f"{sum(end < PLAIN_NORM_ON_G1 for end in ends['G1'])} flows",
        "half the squared parameters off by": np.abs(small["half square"] - small["ratio"]).max(),
    }
    detail = (
        f"{len(ends['toy'])} flows on Fig. 1's points and {len(ends['G1'])} on G1, whose limit switches a unit off, "
        f"each at {sum(map(len, flows)) // len(flows)} times on average, from separation to a margin of "
        f"{MAX_MARGIN:.0e}"
    )
    return Measured(numbers, detail)


def _rising(flow: Table) -> Table:
    """Return the rows of a flow in time, once all samples are on the right side by a margin of one."""
    ordered = flow.where(np.argsort(flow["tau"]))
    # What is not a number stays: it must not pass for a flow that does not move away.
    separated = ordered.where(~(ordered["margin"] <= 1))
    return require(separated, at_least=2)


def _all(ends: list[float]) -> list[float]:
    if not ends:
        raise MissingRowsError("needs flows of both problems")
    return ends


def early_flows(rows: Table) -> Measured:
    """Return how many flows on the toy are at its limit by rescaled time 75, by scale of the first weights."""
    last = require(last_of_flows(require(rows, problem="toy", sharing=False), until=75))
    far = ~_at_limit(last)
    by_scale = {f"scale {scale:g}": group for scale, group in sorted(last.by("scale").items())}
    numbers = {
        "flows at the limit": {name: float(_at_limit(group).mean()) for name, group in by_scale.items()},
        "flows": {name: len(group) for name, group in by_scale.items()},
        "at the limit, all scales": f"{(~far).sum()} of {len(last)}",
    }
    detail = (
        f"at the limit: within {LIMIT_TOLERANCE:g} of {TOY}; ratios up to {last['ratio'].max():.6f} at tau = 75, "
        f"or where the margin reached 4e6 (tau {last['tau'].min():.0f} at the earliest); "
        f"in {(last['waiting'][far] > 0).sum()} of the {far.sum()} flows that are further away "
        "a support vector of the limit does not act yet"
    )
    return Measured(numbers, detail)


def _at_limit(rows: Table) -> BoolArray:
    return np.abs(rows["ratio"] - TOY) < LIMIT_TOLERANCE


def flow_drift(rows: Table) -> Measured:
    """Return the largest change of what each unit conserves, relative to the unit's squared size."""
    numbers = {"largest drift": np.abs(require(rows)["drift"]).max()}
    return Measured(numbers, f"{len(last_of_flows(rows))} flows, relative to the unit's squared size")


def limit_values(rows: Table) -> Measured:
    """Return how far both solvers are from our dual bound, and how far limits are from known values."""
    group = require(rows.where(np.isin(rows["norm"], ("group", "frozen"))))
    values = [[require(rows, problem=name, norm=norm)["value"][0] for norm in NORMS] for name in KNOWN]
    numbers = {
        "conic program from the dual": np.abs(group["conic"] - group["bound"]).max(),
        "ours from the dual": np.abs(group["value"] - group["bound"]).max(),
        "from known values": np.abs(np.subtract(values, [*KNOWN.values()])).max(),
    }
    return Measured(numbers, f"{len(rows)} limits")


def effective_kernel(rows: Table) -> Measured:
    """Return how far the kernel machine of the effective norm is from a minimisation without the kernel."""
    plain = require(rows, norm="effective")
    values = ", ".join(f"{value:.6f}" for value in plain["value"])
    detail = f"kernel machine against the sum over joint contexts, minimised without the kernel; values {values}"
    return Measured({"largest difference": np.abs(plain["value"] - plain["conic"]).max()}, detail)


def shared_contexts(rows: Table) -> Measured:
    """Return where flows end when all units share their contexts."""
    last = require(last_of_flows(require(rows, problem="toy", sharing=True), until=75))
    numbers = {"1 - cosine": 1 - last["cosine"].min(), "ratio": last["ratio"]}
    return Measured(numbers, f"{len(last)} flows with 3 units in 4 joint contexts; cosine with the limit of one layer")


def cost_formulas(rows: Table) -> Measured:
    """Return how far the least squared norm of parameters is from formulas, and from known values."""
    reached = rows.where(np.isfinite(rows["direct"]))
    groups = [require(reached, architecture=name) for name in COSTS]
    # A random start can end in a local minimum, or nowhere; the least of the others is the answer.
    direct = np.array([group["direct"].min() for group in groups])
    numbers = {
        "from the formulas": np.abs(direct - [group["formula"][0] for group in groups]).max(),
        "from known values": np.abs(direct - [*COSTS.values()]).max(),
        "starts that did not reach the weights": f"{len(rows) - len(reached)} of {len(rows)}",
    }
    return Measured(numbers, "augmented Lagrangians")


def switched_unit(rows: Table) -> Measured:
    """Return which unit the limit of G1 switches off, and what is left of it."""
    limit = require(rows, problem="G1", norm="group")
    numbers = {"unit": int(limit["least place"][0]), "its norm": float(limit["least unit"][0])}
    return Measured(numbers, f"optimum {limit['value'][0]:.6f}, duality gap {limit['gap'][0]:.0e}")


def approach_rates(rows: Table) -> Measured:
    """Return by which powers of the margin the excess falls on both problems, and the gap between them."""
    by_problem = [require(rows, problem=name, sharing=False) for name in ("toy", "G1")]
    toy, switched = (_approaches(flows, LARGE_MARGIN) for flows in by_problem)
    if toy.keys() != switched.keys():
        raise MissingRowsError("needs flows of both problems from the same scales and seeds")
    (fast, near), (slow, far) = (np.array(list(approaches.values())).T for approaches in (toy, switched))
    early_fast, early_slow = (np.array(list(_approaches(flows, EARLIER_MARGIN).values()))[:, 0] for flows in by_problem)
    numbers = {
        "on G1 against the toy": _powers(slow, fast),
        "slowest on the toy less fastest on G1": fast.min() - slow.max(),
    }
    detail = (
        f"how the excess falls beyond a margin of {LARGE_MARGIN:.0f}; from {EARLIER_MARGIN:.0f} on "
        f"{_powers(early_slow, early_fast)}, where {(early_slow >= early_fast.min()).sum()} of {len(toy)} on G1 "
        f"are as fast as the slowest on the toy; {len(toy)} flows on each problem, same scales and seeds, all to a "
        f"margin of {MAX_MARGIN:.0e}: there G1 is {far.min():.2%} to {far.max():.1%} above the optimum (median "
        f"{np.median(far):.1%}), the toy {near.min():.0e} to {near.max():.2%} (median {np.median(near):.0e}); "
        f"{(near > far.min()).sum()} on the toy are further away than the closest on G1"
    )
    return Measured(numbers, detail)


def _powers(slow: FloatArray, fast: FloatArray) -> str:
    return f"margin^-{slow.min():.2f} to -{slow.max():.2f} against -{fast.min():.2f} to -{fast.max():.2f}"


def _approaches(rows: Table, beyond: float) -> dict[tuple[float, int], tuple[float, float]]:
    """Return b of excess ~ margin^-b beyond a margin, and the last excess over the optimum, by scale and seed."""
    approaches = {}
    for (scale, seed), flow in rows.by("scale", "seed").items():
        excess = flow["ratio"] / flow["optimum"] - 1
        large = (flow["margin"] > beyond) & (excess > OPTIMUM_ACCURACY)
        if not flow["margin"].max() > 0.99 * MAX_MARGIN or large.sum() < 3:
            raise MissingRowsError(f"the flow of seed {seed} was not followed to a margin of {MAX_MARGIN:.0e}")
        slope, _ = np.polyfit(np.log(flow["margin"][large]), np.log(excess[large]), 1)
        approaches[scale, seed] = -float(slope), float(excess[np.argmax(flow["margin"])])
    return approaches
