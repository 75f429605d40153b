"""RC304: no unseen cell has a better value than the mean."""

from __future__ import annotations

import numpy as np

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.jobs.findings import Severity

CELLS = every_cell((6, 6))[:-4]
NOISE = np.random.default_rng(0).standard_normal(len(CELLS))


def test_noise_is_told_by_its_mean_and_says_no_more_of_additivity(found):
    design = rc.Design.from_cells(CELLS, NOISE)
    finding = found(design, "RC304")
    assert finding.severity is Severity.WARNING
    told, mean = finding.message.rsplit(" ", 1)
    assert told == "taken together, the effects in 32 seen cells predict no other beyond chance: all get the mean,"
    assert float(mean.replace("−", "-")) == float(f"{NOISE.mean():.3g}")
    assert found(design, "RC303") is None


def test_effects_beyond_chance_and_tables_without_unseen_cells_have_none(found):
    assert found(rc.Design.from_cells(CELLS, CELLS[:, 0] + NOISE), "RC304") is None
    whole = every_cell((6, 6))
    assert found(rc.Design.from_cells(whole, np.random.default_rng(0).standard_normal(36)), "RC304") is None
