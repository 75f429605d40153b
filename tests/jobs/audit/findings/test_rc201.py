"""RC201: a network would lose part of an effect on unseen cells."""

from __future__ import annotations

import recombine as rc
from recombine.theory.kernels.leak import slope
from recombine.theory.kernels.overlap import OverlapKernel


def design_of(task) -> rc.Design:
    return rc.Design.from_cells(task.cells, task.target, train=task.train, names=["left", "right"])


def test_one_anchor_leaks_by_the_slope_of_equation_3(found):
    message = found(design_of(rc.tasks.symbolic_addition(n=9, anchors=[4])), "RC201").message
    shown = [f"{float(slope(OverlapKernel.relu(depth=depth, factors=2).salience[0], 1)):.0%}" for depth in (1, 4)]
    assert f"about {shown[0]} of the effect of 'left'" in message
    assert f"{shown[1]} with four" in message


def test_many_anchors_leak_little(found):
    assert found(design_of(rc.tasks.symbolic_addition(n=9, anchors=[0, 2, 4, 6, 8])), "RC201") is None


def test_the_factor_that_loses_most_is_the_one_named(found):
    cells = [[i, j] for i in range(8) for j in range(3) if i < 3 or j == 0]
    assert "'wide'" in found(rc.Design.from_cells(cells, names=["wide", "narrow"]), "RC201").message
