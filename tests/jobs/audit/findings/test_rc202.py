"""RC202: a factor that predicts seen outcomes and misleads on unseen ones."""

from __future__ import annotations

import recombine as rc


def design_of(task) -> rc.Design:
    return rc.Design.from_cells(task.cells, task.target, train=task.train, names=list(task.factors))


def test_context_misleads_where_every_incongruent_cell_is_left_out(found):
    message = found(design_of(rc.tasks.context_dependence(left_out=3)), "RC202").message
    assert message == (
        "'context' alone explains 9% of the outcome on seen cells but is worse than the mean on unseen ones "
        "(R² -0.78, held-out rows)"
    )


def test_context_is_harmless_where_few_are(found):
    assert found(design_of(rc.tasks.context_dependence(left_out=1)), "RC202") is None


def test_a_sum_has_no_shortcut(found):
    assert found(design_of(rc.tasks.symbolic_addition(n=9, anchors=[2, 6])), "RC202") is None
