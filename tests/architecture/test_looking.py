"""Looking is free: what the package hands out shows itself in one line, arrays by their shapes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import recombine as rc
from recombine.lab import runs, worlds
from recombine.lab.nets.by_hand import Playground
from recombine.lab.worlds import images, rendered

UNIT = runs.Unit("squares", 1, {"x": 2})
DIGITS = images.load_images("digits")


def trained() -> object:
    pytest.importorskip("torch")
    from recombine.lab.nets.architectures import MLP
    from recombine.lab.nets.ensemble import Ensemble

    return Ensemble(MLP(2, (3,)), seeds=range(500)).train(np.eye(2), [1.0, -1.0], rate=0.1, steps=1, record=[0, 1])


def continued() -> object:
    pytest.importorskip("torch")
    from recombine.lab.nets.architectures import Continued, ReluStudent

    student = ReluStudent(3, 4)
    given = {name: tensor.expand(300, *tensor.shape) for name, tensor in student.initial(0, 1.0).items()}
    return Continued(student, tuple(range(300)), given)


def experiment() -> runs.Experiment:
    return runs.Experiment("squares", len, quick=runs.grid(x=range(1000)), full=runs.grid(x=range(9000)))


def failure() -> runs.Failure:
    return runs.Failure(UNIT, "ValueError: no", "Traceback\n" * 50, 2)


DESIGN = rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [1, 1]], outcome=[1.0, 2.0, 3.0, 4.5], names=["a", "b"])

THINGS: dict[Callable[[], object], str] = {
    lambda: rc.audit(DESIGN): "Audit(a × b, order 1; 4 of 4 cells seen)",
    lambda: rc.audit(DESIGN).structure.additivity.at(1): "OrderCheck(order=1, tested=4, error=",
    lambda: rc.Factor("drug", tuple(range(10_000))): "Factor('drug', 10,000 levels)",
    lambda: rc.audit(DESIGN).findings: "(Finding(RC302 additivity not checked, note),)",
    lambda: rc.lab.papers.find("kernel-theory"): "Paper('kernel-theory', Lippl and Stachenfeld, ICLR 2025)",
    lambda: rc.lab.papers.find("kernel-theory").claim("4"): "Claim('kernel-theory/4', reads 'leak')",
    lambda: rc.lab.papers.find("kernel-theory").figures[0]: "Plot('salience' of salience)",
    trained: "Trained(500 networks of MLP(inputs=2, hidden=(3,), outputs=1), 2 records, by hand)",
    continued: "Continued(architecture=ReluStudent(inputs=3, hidden=4, tasks=1), seeds=300 items)",
    lambda: Playground.initial(range(100)): "Playground(weights=(float64[100, 2, 8], ",
    experiment: "Experiment('squares', 1000 quick and 9000 full settings)",
    failure: "Failure(unit=Unit(experiment='squares', schema=1, setting={'x': 2}, count=1, device='cpu'), error=",
    lambda: runs.Sweep("squares", "quick", 4, 2, 1, (failure(),), 3.0): "Sweep('squares', quick: 2 run, 1 found, 1 f",
    lambda: runs.Result([{"x": 1}] * 500, {"w": np.zeros(9)}): "Result(500 rows, 1 arrays)",
    lambda: runs.Run("ab12", UNIT.spec, [{}] * 9, {}, Path()): "Run('ab12' of 'squares', 9 rows)",
    lambda: runs.Store("here"): "Store(root='here', ",
    lambda: DIGITS: "Images('digits', 1,797 of shape (1, 8, 8), 10 classes)",
    worlds.commands: "Commands(texts=20,910 items, words=int64[20910, 10], actions=int64[20910, 49], ",
    lambda: worlds.scan_split("length"): "ScanSplit(name='length', train=int64[16990], test=int64[3920])",
    lambda: worlds.linear_teachers(0): "LinearTeachers(auxiliary=float64[1000], main=float64[1000])",
    lambda: worlds.relu_teachers(0, [1.0])[0]: "ReluTeacher(weights=float64[6, 15], readouts=float64[6])",
    lambda: worlds.gated_problem("toy"): "GatedProblem(name='toy', X=float64[16, 3], y=float64[16], ids=int64[16, 2])",
    lambda: worlds.draw_training("text", 0): "PlaneSamples(points=float64[187, 2], labels=float64[187])",
    lambda: rendered.BumpWorld(8).stripes(): "BumpSamples(centres=float64[16, 2], codes=float64[16, 16], images=flo",
    lambda: rendered.RotationWorld(np.eye(8), (10, 20)): "RotationWorld(image=float64[8, 8], gap=(10, 20))",
    lambda: images.label_halves(DIGITS, [10], 20): "Halves(X=float64[30, 65], y=float64[30], validation=int64[20])",
}


@pytest.mark.parametrize("make", THINGS)
def test_a_thing_shows_itself_in_one_line(make: Callable[[], object]) -> None:
    text = repr(make())
    assert text.startswith(THINGS[make])
    assert "\n" not in text
    assert len(text) < 200
