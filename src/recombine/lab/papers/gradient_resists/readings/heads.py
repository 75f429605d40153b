"""Gradient resists: what is read off the slopes of each output by each image."""

from __future__ import annotations

from collections.abc import Mapping

from recombine.lab.papers.gradient_resists.readings.images import LAST_STEP
from recombine.lab.papers.measured import Measured, stands_in
from recombine.lab.papers.seeds import Estimate, mean_over_seeds, networks_behind, require
from recombine.tables.table import Table

#: Output -> the image that it should ignore, and the one that decides it.
OTHER, OWN = {1: "right", 2: "left"}, {1: "left", 2: "right"}
#: The first step that was recorded.
FIRST_RECORDED_STEP = 10
#: How bounds and rows came about.
FIRST_RUN = (
    "Bounds came in one commit with the first rows, five seeds of 8x8 digits, so that those were no test; MNIST was "
    "run with the same bounds later."
)


def _at(rows: Table, column: str, heads: int, setting: str, output: int = 1, step: int = LAST_STEP) -> Estimate:
    return mean_over_seeds(rows, column, heads=heads, setting=setting, output=output, step=step)


def redundant_slopes(rows: Table) -> Measured:
    """Return E|dY_1/dX_2| of the paper's network: untrained, in A and in B, beside E|dY_1/dX_1|."""
    main = require(rows, heads=1)
    start = _at(main, "slope by right", 1, "A", step=0)
    ends = {setting: _at(main, "slope by right", 1, setting) for setting in "AB"}
    by_left = {setting: _at(main, "slope by left", 1, setting) for setting in "AB"}
    early = _at(main, "slope by right", 1, "A", step=FIRST_RECORDED_STEP)
    numbers = {
        "by the right image, untrained": start,
        f"by the right image, A at step {FIRST_RECORDED_STEP}": early,
        "by the right image, A": ends["A"],
        "by the right image, B": ends["B"],
        f"A at step {FIRST_RECORDED_STEP}, less two standard errors": early.mean - early.error,
        f"A at step {FIRST_RECORDED_STEP} over untrained": early.mean / start.mean,
        "A less two standard errors": ends["A"].mean - ends["A"].error,
        "A over untrained": ends["A"].mean / start.mean,
    }
    detail = (
        f"mean size of the derivative of the true class by the right image after {LAST_STEP} steps; by the left one "
        f"{by_left['A']} in A and {by_left['B']} in B; {networks_behind(ends.values())}. Untrained networks have "
        "slopes and so does B: outputs grow as a whole, so that no slope by itself tells a redundant image from a "
        "random one"
    )
    return Measured(numbers, detail, stands_in=stands_in(main))


def crossed_slopes(rows: Table) -> Measured:
    """Return M_12 and M_21 of networks with two outputs, in A, beside the untrained ones and B."""
    main = require(rows, heads=2)
    ends, starts, controls, early = (
        {
            f"M_{output}{3 - output}": _at(main, f"slope by {OTHER[output]}", 2, setting, output, step)
            for output in OTHER
        }
        for setting, step in (("A", LAST_STEP), ("A", 0), ("B", LAST_STEP), ("A", FIRST_RECORDED_STEP))
    )
    uncrossed = [_at(main, f"slope by {OWN[output]}", 2, "A", output) for output in OWN]
    numbers = {
        **{f"{name} in A": slope for name, slope in ends.items()},
        **{f"{name} in B": slope for name, slope in controls.items()},
        f"least of A at step {FIRST_RECORDED_STEP}, less two standard errors": _least(early),
        "least of A less two standard errors": _least(ends),
        "least of A over untrained": min(slope.mean / starts[name].mean for name, slope in ends.items()),
    }
    detail = (
        f"M_ij is the mean size of the derivative of output i by image j; M_11 and M_22 in A {uncrossed[0]} and "
        f"{uncrossed[1]}; {networks_behind(ends.values())}"
    )
    return Measured(numbers, detail, stands_in=stands_in(main))


def _least(slopes: Mapping[str, Estimate]) -> float:
    """The least of some means, each less its two standard errors."""
    return min(slope.mean - slope.error for slope in slopes.values())


def crossed_bits(rows: Table) -> Measured:
    """Return what each prediction tells about the other label beyond its own, in A and in B."""
    main = require(rows, heads=2)
    bits = {
        setting: {output: _at(main, "excess information", 2, setting, output) for output in OTHER} for setting in "AB"
    }
    right = {setting: [_at(main, "test accuracy", 2, setting, output) for output in OTHER] for setting in "AB"}
    # B is as good as nothing: below a hundredth of a bit, how often A has it says little.
    ratio = min(bits["A"][output].mean / max(bits["B"][output].mean, 0.01) for output in OTHER)
    numbers = {
        **{f"output {output} in {setting}": mean for setting, means in bits.items() for output, mean in means.items()},
        "A over B, the lesser": ratio,
        "networks per setting": min(mean.networks for mean in bits["A"].values()),
    }
    detail = (
        "bits about the other label beyond the own one and beyond chance, of which B counts as 0.01 at least. Right on "
        f"unseen pairs: A {right['A'][0]} and {right['A'][1]}, B {right['B'][0]} and {right['B'][1]}; "
        f"{networks_behind(bits['A'].values())}"
    )
    return Measured(numbers, detail, stands_in=stands_in(main))
