"""A probe in words: what the given columns settle, the verdict on each factor, and what limits it."""

from __future__ import annotations

from recombine.jobs.probe.probe import FactorTest, Probe
from recombine.measures.dependence.contingency import binned_words
from recombine.measures.dependence.independence import bits_text
from recombine.writing import plural


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
    """Say whether the prediction depends on a factor, with the effect size and its null.

    Examples
    --------
    >>> import numpy as np, pandas as pd, recombine as rc
    >>> digit, size, guess = np.random.default_rng(0).integers(3, size=(3, 2000))
    >>> frame = pd.DataFrame({"guess": digit, "digit": digit, "size": size}).assign(guess=guess)
    >>> probe = rc.probe(frame, prediction="guess", outcome="digit", factors=["size"])
    >>> dependence_sentence(probe, probe.tests[0]).partition(" (")[0]
    'No dependence of guess on size beyond digit was found'
    """
    given = " and ".join(probe.given)
    return tested.test.sentence(probe.prediction, tested.factor, given, level=probe.level, p_value=tested.adjusted)


def probe_notes(probe: Probe) -> list[str]:
    """Say which columns were cut into bins, which rows were left out, and where only some of the rows can tell."""
    notes = [binned_words(name, bins) for name, bins in probe.bins.items()]
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
        f"{tested.factor} varies at some levels of {' and '.join(probe.given)} only: {tested.test.varied:.0%} of the "
        "rows can tell"
        for tested in probe.tests
        if 0 < tested.test.varied < 1
    ]
