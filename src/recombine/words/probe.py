"""A probe in words: what the given columns settle, the verdict on each factor, and what limits it."""

from __future__ import annotations

import math

from recombine.jobs.probe.probe import FactorTest, Probe
from recombine.jobs.probe.swaps import LevelSwap
from recombine.measures.dependence.independence import DependenceState, Independence
from recombine.writing import few_digits, plural, whole_percent

#: Below this share of what the given factor leaves open, a dependence is called small.
SMALL_EFFECT_SHARE = 0.01
#: Numbers of bits and percentages below this are written as 0.
MIN_BITS_SHOWN = 5e-8


def probe_opening(probe: Probe) -> list[str]:
    """Say what was probed, and how much of the prediction the given columns settle."""
    given = " and ".join(probe.given)
    values, _, levels = probe.tests[0].test.levels
    return [
        f"{probe.prediction} ({plural(values, 'value')}) given {given} ({plural(levels, 'level')}); "
        f"{plural(probe.rows, 'row')}, {probe.permutations:,} shuffles",
        f"Of the {bits_text(probe.entropy)} bits of {probe.prediction}, {given} settles "
        f"{bits_text(probe.entropy - probe.left_open)} and leaves {bits_text(probe.left_open)} open.",
    ]


def probe_question(probe: Probe) -> str:
    """Ask what the tests answer."""
    return f"Does {probe.prediction} depend on a factor beyond {' and '.join(probe.given)}?"


def dependence_sentence(probe: Probe, tested: FactorTest) -> str:
    """Say whether the prediction depends on a factor, with its effect size and null; see `independence_sentence`."""
    columns = probe.prediction, tested.factor, " and ".join(probe.given)
    return independence_sentence(tested.test, *columns, level=probe.level, p_value=tested.adjusted)


def independence_sentence(
    test: Independence, prediction: str, factor: str, given: str, *, level: float = 0.05, p_value: float | None = None
) -> str:
    """Say what a test of independence found; names are those of the columns, and the p-value may be an adjusted one.

    Examples
    --------
    >>> from recombine.measures.dependence import independence_test
    >>> independence_sentence(independence_test([0, 1] * 9, [0, 0, 1] * 6, [0, 1] * 9), "guess", "size", "digit")
    'guess does not depend on size: digit settles it in every row.'
    """
    verdict, chance = test.verdict(level, p_value), test.p_value if p_value is None else p_value
    if verdict is DependenceState.CANNOT_TELL:
        return (
            f"Whether {prediction} depends on {factor} beyond {given} cannot be told: at each level of {given}, "
            f"{factor} has one level only. Probe on rows where both vary."
        )
    if test.entropy == 0:
        return f"{prediction} does not depend on {factor}: {given} settles it in every row."
    null = f"{bits_text(test.null_mean)} ± {bits_text(test.null_sd)}"
    numbers = f"{bits_text(test.estimate)} bits where chance gives {null}"
    if verdict is DependenceState.DEPENDS:
        size = " A small effect." if test.effect < SMALL_EFFECT_SHARE else ""
        return (
            f"{prediction} depends on {factor} beyond {given}: {bits_text(test.excess)} bits, "
            f"{share_text(test.effect)} of what {given} leaves open ({numbers}; p = {chance:.3g}).{size}"
        )
    # An adjusted p-value asks for more, in the proportion in which it was raised.
    needed = test.threshold(level * test.p_value / chance)
    return (
        f"No dependence of {prediction} on {factor} beyond {given} was found ({numbers}; p = {chance:.3g}); "
        f"{bits_text(needed)} bits above chance would have counted."
    )


def swap_sentence(swap: LevelSwap) -> str:
    """Say what swapping the level of a factor does to predictions.

    Examples
    --------
    >>> from recombine.jobs.score.amounts import Amount
    >>> swap_sentence(LevelSwap("colour", Amount(0.78, 0.74, 0.82), True, 500, float("nan")))
    'If only colour is swapped, 78 % of the predictions change (95 % range 74 to 82 %; 500 rows).'
    """
    change, rows = swap.change, plural(swap.rows, "row")
    if swap.classes:
        shown = f"{change.percent} of the predictions change ({change.percent_range}; {rows})"
    else:
        low, high = few_digits(change.low), few_digits(change.high)
        deviations = f", {whole_percent(change.value / swap.spread)} of their standard deviation" if swap.spread else ""
        shown = f"predictions move by {few_digits(change.value)} on average ({low} to {high}; {rows}){deviations}"
    return f"If only {swap.factor} is swapped, {shown}."


def probe_notes(probe: Probe) -> list[str]:
    """Say which columns were cut into bins, which rows were left out, and where only some of the rows can tell."""
    apart = {"sequence": probe.spec.sequence, "set": probe.spec.sets}
    notes = [
        f"{name} was not tested: a {kind} is many factors and a probe tests columns, so give each one of its own"
        for kind, name in apart.items()
        if name is not None
    ]
    notes += [f"{name} was cut into {bins} bins of about equal counts" for name, bins in probe.bins.items()]
    notes += [
        f"a factor that goes along with {name} inside a bin takes the blame for it: more bins lessen that"
        for name in probe.given
        if name in probe.bins
    ]
    notes += [
        f"{rows:,} rows without a value of {name} were left out" if rows > 1 else f"1 row without {name} was left out"
        for name, rows in probe.missing.items()
    ]
    return notes + [
        f"{tested.factor} varies at some levels of {' and '.join(probe.given)} only: "
        f"{whole_percent(tested.test.varied)} of the rows can tell"
        for tested in probe.tests
        if 0 < tested.test.varied < 1
    ]


def bits_text(value: float, decimals: int = 3) -> str:
    """Write a number of bits or of percent: so many decimals, and more only for what would vanish.

    Examples
    --------
    >>> bits_text(0.31249), bits_text(-0.00006), bits_text(1e-12), bits_text(12.34, 1)
    ('0.312', '−0.00006', '0.000', '12.3')
    """
    if abs(value) < MIN_BITS_SHOWN:
        return f"{0:.{decimals}f}"
    decimals = max(decimals, math.ceil(-math.log10(abs(value))))
    return f"{value:.{decimals}f}".replace("-", "−")


def share_text(value: float) -> str:
    """Write a share as a percentage, likewise."""
    return f"{bits_text(100 * value, 1)} %"
