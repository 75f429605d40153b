"""RC202: a factor whose mean outcomes a network follows against what the data determine."""

from __future__ import annotations

import numpy as np

import recombine as rc
from known_tasks import symbolic_addition
from recombine.cells.conjunctions import every_cell
from recombine.data import hit_rate


def tied(strength: float) -> rc.Design:
    """Treatment decides; hospital does nothing, but goes along with it in all seen cells but a few."""
    generator = np.random.default_rng(1)
    cells = every_cell((2, 12, 5))
    agree = cells[:, 0] == (cells[:, 1] >= 6)
    train = generator.random(len(cells)) < np.where(agree, 0.9, 0.9 * (1 - strength))
    outcome = cells[:, 1] * 1.0 + 0.1 * generator.normal(size=len(cells))
    return rc.Design.from_cells(cells, outcome, train=train, names=["hospital", "treatment", "ward"])


def test_a_tied_factor_is_named_with_its_hit_rate(found):
    finding = found(tied(0.95), "RC202")
    message = finding.message
    assert finding.subjects == ("hospital",)
    assert message.startswith("a network follows the mean outcome of 'hospital'")
    assert "treatment" not in message
    assert f"right in {hit_rate('shortcut')}" in message


def test_untied_it_is_none(found):
    assert found(tied(0.0), "RC202") is None


def test_a_sum_has_no_shortcut(found):
    task = symbolic_addition(n=9, anchors=[2, 6])
    design = rc.Design.from_cells(task.cells, task.target, train=task.train, names=list(task.factors))
    assert found(design, "RC202") is None
