"""Gradient resists: what is read off the rows of networks that fit without a gradient.

Networks that fit the same samples are no independent draws, so each set of samples counts once, by its mean, and ways
to a network are compared set by set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Estimate, Interval, estimate, require
from recombine.tables.table import Table

#: The shape of the paper's network.
SHAPE = "8-8-8"
DRAWN, STEPS, FIRST_FIT, DESCENT = "drawn", "random steps", "gradient descent, first fit", "gradient descent"
WAYS = (DRAWN, STEPS, FIRST_FIT, DESCENT)
WORDS = {"code": "code's data", "text": "text's data", "digits": "digit pairs"}
PLANE = ("code", "text")
#: From which share on the held-out quadrant counts as right.
WHOLE_QUADRANT_ACCURACY = 0.95


def shares_by_seed(rows: Table, way: str, data: str, shape: str = SHAPE) -> dict[int, float]:
    """Return the share of the held-out cell that is right, by seed, of networks that came about one way.

    Examples
    --------
    >>> columns = {"search": ["drawn"] * 3, "data": ["code"] * 3, "hidden": ["8-8-8"] * 3, "seed": [0, 0, 1]}
    >>> shares_by_seed(Table({**columns, "held-out accuracy": [0.2, 0.4, 1.0]}), "drawn", "code")
    {0: 0.3, 1: 1.0}
    """
    chosen = require(rows, search=way.partition(",")[0], data=data, hidden=shape)
    if way == DESCENT:
        chosen = chosen.only(tries=int(chosen["tries"].max()))
    elif way == FIRST_FIT:
        chosen = chosen.where(chosen["train accuracy"] >= 1 - chosen["errors"])
    shares = {}
    for seed in sorted(chosen.by("seed")):
        networks = chosen.only(seed=seed)
        if way == FIRST_FIT:
            networks = networks.only(tries=int(networks["tries"].min()))
        shares[int(seed)] = round(float(networks["held-out accuracy"].mean()), 12)
    return shares


def lead(rows: Table, ahead: str, behind: str, data: str) -> Interval:
    """Return by how many points one way is ahead of another, set of samples by set of samples."""
    leader, follower = (shares_by_seed(rows, way, data) for way in (ahead, behind))
    common = sorted(leader.keys() & follower.keys())
    if len(common) < 2:
        raise MissingRowsError(f"no two sets of samples with networks of both kinds: {ahead} and {behind}")
    return Interval.of(100 * np.array([leader[seed] - follower[seed] for seed in common]))


def descent_and_search(
    rows: Table, search: str = DRAWN, data: Sequence[str] = PLANE, descent_ahead: bool = True
) -> Measured:
    """Return how much of the held-out cell is right without a gradient and with one, and who is ahead by how much."""
    numbers: dict[str, Estimate | Interval] = {}
    counts = []
    for name in data:
        numbers |= {
            f"{way}, {WORDS[name]}": estimate(shares_by_seed(rows, way, name).values(), way)
            for way in (search, FIRST_FIT, DESCENT)
        }
        ways = (DESCENT, search) if descent_ahead else (search, DESCENT)
        numbers[f"{ways[0]} ahead of {ways[1]}, {WORDS[name]}, points"] = lead(rows, *ways, name)
        numbers[f"{DESCENT} ahead at its first fit, {WORDS[name]}, points"] = lead(rows, FIRST_FIT, search, name)
        networks, epochs = rows.only(search=search, data=name, hidden=SHAPE), rows.only(search=DESCENT, data=name)
        spotless = networks.where(networks["train accuracy"] == 1)
        if len(spotless) < len(networks) and len(spotless.by("seed")) > 1:
            few = shares_by_seed(spotless, search, name)
            numbers[f"{search} without any error, {WORDS[name]}"] = estimate(few.values())
        allowed = f"{float(networks['errors'][0]):.0%} of errors allowed"
        counts.append(f"{len(networks):,} networks ({search}, {allowed}) on the {WORDS[name]}")
    last = int(epochs["tries"].max())
    detail = f"share of the held-out cell labelled right; {', '.join(counts)}; gradient descent after {last:,} epochs"
    return Measured(numbers, detail)


def shapes_that_fit(rows: Table) -> Measured:
    """Return how many drawn networks that fit are right on the whole held-out quadrant, by shape, at most."""
    drawn = require(rows, search=DRAWN)
    drawn = drawn.where(np.isin(drawn["data"], PLANE))
    shapes = sorted(set(drawn["hidden"].tolist()))
    means, complete = [], []
    for shape in shapes:
        for name in PLANE:
            networks = require(drawn, data=name, hidden=shape)
            means.append(estimate(shares_by_seed(drawn, DRAWN, name, shape).values()))
            right = [
                float((members["held-out accuracy"] >= WHOLE_QUADRANT_ACCURACY).mean())
                for members in networks.by("seed").values()
            ]
            complete.append(estimate(right))
    numbers = {
        "largest share right on the whole quadrant": max(complete),
        "the same plus two standard errors": max(share.mean + share.error for share in complete),
        "least share of the quadrant right": min(means),
        "largest share of the quadrant right": max(means),
        "shapes": len(shapes),
    }
    detail = (
        f"{len(drawn):,} networks that fit, of shapes {', '.join(shapes)}; the whole quadrant is "
        f"{WHOLE_QUADRANT_ACCURACY:.0%} of it"
    )
    return Measured(numbers, detail)
