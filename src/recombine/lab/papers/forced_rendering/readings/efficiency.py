"""Forced rendering: how many bumps are needed, alone and with stripes, by the side of the image."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.forced_rendering.readings.rows import MIN_SEEDS_OF_AN_INTERVAL, reads_one_target, row_mean
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Ratio, several
from recombine.tables.table import Table

#: The score at which data efficiency is compared.
GOAL_SCORE = 0.9


def bumps_needed(bumps: FloatArray, scores: FloatArray, goal: float = GOAL_SCORE) -> float:
    """Return how many bumps reach a score, log-linear between those that were tried; NaN if none does.

    Where the fewest bumps tried already reach it, that many are said to be needed.

    Examples
    --------
    >>> round(bumps_needed(np.array([10.0, 100.0]), np.array([0.8, 1.0])), 6)
    31.622777
    """
    order = np.argsort(bumps)
    size, score = bumps[order], scores[order]
    reached = np.flatnonzero(score >= goal)
    if not len(reached):
        return float("nan")
    above = int(reached[0])
    if above == 0:
        return float(size[0])
    share = (goal - score[above - 1]) / (score[above] - score[above - 1])
    return float(np.exp(np.log(size[above - 1]) + share * np.log(size[above] / size[above - 1])))


def bumps_by_side(rows: Table, stripes: int) -> dict[int, float]:
    """Return how many bumps reach the goal at each side, from means over seeds."""
    amounts = {}
    for side, networks in sorted(rows.only(stripes=stripes).by("side").items()):
        scores = {size: row_mean(line, "correlation") for size, line in networks.by("bumps").items()}
        amounts[side] = bumps_needed(np.array([*scores], dtype=float), np.array([*scores.values()]))
    return amounts


def power_law(bumps: Mapping[int, float]) -> tuple[float, float, float]:
    """Return the exponent of the bumps needed by side, its standard error and half its 95 % interval (Student's t).

    Sides without a number do not count; with two of them there is an exponent alone.

    Examples
    --------
    >>> [round(number, 6) for number in power_law({8: 64.0, 16: 256.0, 32: 1024.0, 64: float("nan")})]
    [2.0, 0.0, 0.0]
    """
    from scipy.special import stdtrit

    finite = {side: amount for side, amount in bumps.items() if np.isfinite(amount)}
    across, up = np.log([*finite]), np.log([*finite.values()])
    centred = across - across.mean()
    power = float(centred @ up / (centred @ centred))
    residuals, degrees = up - up.mean() - power * centred, len(finite) - 2
    error = float(np.sqrt(residuals @ residuals / degrees / (centred @ centred))) if degrees > 0 else float("nan")
    return power, error, error * float(stdtrit(max(degrees, 1), 0.975))


@reads_one_target
def stripe_saving(rows: Table) -> Measured:
    """Return how many times fewer bumps are needed with stripes, at the largest side: an interval over seeds.

    Seeds are averaged as logarithms, so that three times fewer and three times more cancel.
    """
    side = max(rows["side"].tolist())
    by_seed = {
        seed: bumps_by_side(networks, 0)[side] / bumps_by_side(networks, 1)[side]
        for seed, networks in sorted(rows.only(side=side).by("seed").items())
    }
    if len(by_seed) < MIN_SEEDS_OF_AN_INTERVAL:
        raise MissingRowsError("an interval needs two seeds at the largest side; these results have one")
    times = Ratio.of(np.array([*by_seed.values()]))
    bare, helped = bumps_by_side(rows, 0), bumps_by_side(rows, 1)
    numbers = {
        "times fewer bumps": times,
        "by seed": {f"seed {seed}": ratio for seed, ratio in by_seed.items()},
        "by mean curves": bare[side] / helped[side],
    }
    listed = f"alone {_listed(bare)}; with stripes {_listed(helped)} (side: bumps)"
    detail = f"side {side}; bumps for a correlation of {GOAL_SCORE} on unseen places, by mean curves: {listed}"
    return Measured(numbers, detail)


@reads_one_target
def bumps_exponent(rows: Table) -> Measured:
    """Return the power of the side that the bumps needed without stripes grow with."""
    bare, helped = bumps_by_side(rows, 0), bumps_by_side(rows, 1)
    count = sum(np.isfinite(amount) for amount in bare.values())
    if count < 3:
        raise MissingRowsError(f"an exponent needs three sides of the image; these results have {count}")
    power, error, half = power_law(bare)
    numbers = {"exponent": power, "standard error": error, "95 % interval": {"from": power - half, "to": power + half}}
    seeds = {side: len(networks.by("seed")) for side, networks in sorted(rows.by("side").items())}
    power, error, half = power_law(helped)
    settled = "" if abs(power - 1) > half else ": in proportion to the side or not is not settled"
    detail = (
        f"bumps needed {_listed(bare)} (side: bumps; seeds {_listed(seeds)}); interval by Student's t with "
        f"{several(count - 2, 'degree')} of freedom; with stripes {power:.2f} (standard error {error:.2f}; "
        f"± {half:.2f}) from {_listed(helped)}{settled}"
    )
    return Measured(numbers, detail)


def _listed(amounts: Mapping[int, float]) -> str:
    return ", ".join(f"{side}: {amount:.0f}" for side, amount in amounts.items())
