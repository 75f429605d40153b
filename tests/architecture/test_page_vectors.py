"""The vectors that hold the page's engine to this package's answers: replayed here, so that they stay its answers."""

from __future__ import annotations

import importlib.util
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from recombine.theory.structures.kinds.link import LINK_SETTLED_SHARE

TOOL = Path(__file__).parents[2] / "tools" / "page_vectors.py"
#: Exact in the file and here.
WHOLE = ("verdicts", "rank", "deficit", "certificates")
PARTS = 12


@cache
def vectors():
    spec = importlib.util.spec_from_file_location("page_vectors", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def stored():
    return vectors().read()


def numbers(found):
    """Every number in an answer, in order; NaN for none."""
    if isinstance(found, dict):
        return [number for key in sorted(found) for number in numbers(found[key])]
    if isinstance(found, list):
        return [number for one in found for number in numbers(one)]
    return [] if isinstance(found, str) else [np.nan if found is None else float(found)]


def apart(found, wanted):
    """The largest difference as a share of the largest number, or of one; infinite where one of the two has none."""
    one, two = np.array(numbers(found)), np.array(numbers(wanted))
    if one.shape != two.shape or not np.array_equal(np.isnan(one), np.isnan(two)):
        return np.inf
    gap = np.abs(one - two)[~np.isnan(one)]
    return float(gap.max(initial=0.0) / np.abs(two).max(initial=1.0, where=~np.isnan(two)))


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
def test_this_package_still_gives_the_stored_answers(part):
    bent = []
    for number in range(part, len(stored()), PARTS):
        design = stored()[number]
        found = vectors().answers(design, number)
        assert {key: found[key] for key in WHOLE} == {key: design[key] for key in WHOLE}, number
        assert apart(found["leverage"], design["leverage"]) < 1e-9, number
        assert apart(found["additive"], design["additive"]) < 1e-9, number
        assert apart(found.get("networks"), design.get("networks")) < 1e-9, number
        if "link" in design:
            bent.append(apart(found["link"], design["link"]))
        assert [pick[1] for pick in found["picks"]] == [pick[1] for pick in design["picks"]], number
        connect = [pick for pick in found["picks"] if pick[1] == "connect"]
        assert connect == design["picks"][: len(connect)], number
        # Among cells that lower the variance alike rounding decides, and with it what later ones bring.
        following = slice(len(connect), len(connect) + 1)
        gains = [[pick[2] for pick in picks[following]] for picks in (found["picks"], design["picks"])]
        assert apart(*gains) < 1e-9, number
    # Rounds stop where little changes: a fit with hardly more cells than terms ends where rounding leaves it.
    assert max(bent, default=0.0) < LINK_SETTLED_SHARE
    assert max(sorted(bent)[:-1], default=0.0) < 1e-5
    assert np.median(bent or [0.0]) < 1e-9


def test_stored_designs_are_of_every_kind():
    designs = stored()
    assert len(designs) == 500
    assert min(Counter(design["kind"] for design in designs).values()) > 60
    assert {(len(design["sizes"]), design["order"]) for design in designs} >= {
        (factors, order) for factors in (2, 3, 4) for order in range(1, min(factors, 3) + 1)
    }
    verdicts = Counter("".join(design["verdicts"] for design in designs))
    assert min(verdicts[code] for code in "0123") > 3_000
    assert sum(bool(design["symmetric"]) for design in designs) > 50


def test_stored_designs_are_small():
    assert vectors().TARGET.stat().st_size < 1_500_000
