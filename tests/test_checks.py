"""Bad input to supports, compositions and criteria is one sentence that names it, never a traceback or a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.compositions import add, bilinear, occlude, own, product
from recombine.theory.sufficiency.conditions import compositional_support, gauge_aware_support, sufficient_support
from recombine.theory.sufficiency.finite import finite_identifiability
from recombine.theory.sufficiency.peeling import peel
from recombine.theory.sufficiency.reconstruction import reconstruct_components
from recombine.theory.sufficiency.refit import Refit, refit
from recombine.theory.supports import band, box, finite, gap, planes

NAN, INF = float("nan"), float("inf")
ONES: Any = [np.ones((2, 1))] * 2
HOLED: Any = [np.array([[1.0], [NAN]]), np.ones((2, 1))]
CELLS = [[0, 0], [0, 1], [1, 0]]
SAME: Any = [lambda z: z, lambda z: z]
CORNER = planes({0: [[0.0]], 1: [[0.0]]})


def broken(*parts: Any) -> Any:
    raise KeyError("colour")


def rebuilt(observed: Any = lambda z: z.sum(axis=1), **options: Any) -> Any:
    given = {"composition": add(), "start": [[0.0], [0.0]], "start_components": [[0.0], [0.0]]} | options
    return reconstruct_components(observed, support=CORNER, **given)


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda: finite_identifiability(CELLS, add(), HOLED), r"component 0 are not all finite: \[1, 0\] is nan"),
    (lambda: peel(CELLS, add(), HOLED, (0, 0)), "component 0 are not all finite"),
    (lambda: finite_identifiability(CELLS, add(), ONES, tolerance=2.0), "tolerance is 2.0"),
    (lambda: finite_identifiability(CELLS, add(), ONES, tolerance=NAN), "tolerance is nan"),
    (lambda: peel(CELLS, add(), ONES, (0, 0), tolerance=0.0), "tolerance is 0.0"),
    (lambda: finite_identifiability(CELLS, add(), None), "components are None"),
    (lambda: finite_identifiability(CELLS, broken, ONES), "broken raised KeyError: 'colour'"),
    (lambda: refit(CELLS, add(), ONES, move=0), "move is 0"),
    (lambda: refit(CELLS, add(), ONES, move="far"), "move is 'far'"),
    (lambda: gauge_aware_support(box(2), add(), SAME, test=box(3)), "same slots"),
    (lambda: gauge_aware_support(box(2), add(), SAME, test=[[0, 0]]), "test is a list, not a support"),
    (lambda: sufficient_support([[0, 0]], add(), SAME), "support is a list, not a support"),
    (lambda: sufficient_support(box(2), 3, SAME), "the composition is 3, which cannot be called"),
    (lambda: sufficient_support(box(2), add(), [SAME[0], 3]), "component 1 is 3, which cannot be called"),
    (lambda: sufficient_support(box(2), add(), None), "components are None"),
    (lambda: sufficient_support(box(2), add(), [SAME[0], broken]), "component 1 raised KeyError: 'colour'"),
    (
        lambda: sufficient_support(box(2), add(), [SAME[0], lambda z: z * NAN]),
        "outputs of component 1 .* not all finite",
    ),
    (lambda: sufficient_support(box(2), broken, SAME), "slot 0 at .*: broken raised KeyError: 'colour'"),
    (lambda: sufficient_support(box(2), own(np.add, jacobian=broken), SAME), "Jacobian of add raised KeyError"),
    (lambda: sufficient_support(box(2), add(), SAME, probes="many"), "probes is 'many'"),
    (lambda: sufficient_support(box(2), add(), SAME, anchors=1.5), "anchors is 1.5"),
    (lambda: sufficient_support(box(2), add(), SAME, values=[0.5]), r"values are \[0.5\]; map a slot"),
    (lambda: sufficient_support(box(2), add(), SAME, values={}), "values are {}; map a slot"),
    (lambda: sufficient_support(box(2), add(), SAME, values={0: []}), "values of slot 0 are empty"),
    (lambda: sufficient_support(box(2), add(), SAME, values={0: ["low"]}), "values of slot 0 are not real numbers"),
    (lambda: sufficient_support(box(2), add(), SAME, values={0: [[[0.5]]]}), "give 1 coordinates"),
    (lambda: sufficient_support(box(2), add(), SAME, values={"x": [0.5]}), "slot is 'x'"),
    (lambda: compositional_support(box(2), box(2), probes=0), "probes is 0"),
    (lambda: compositional_support(box(2), None), "test is a NoneType, not a support"),
    (lambda: planes({0: [[NAN]]}), "held values are not all finite"),
    (lambda: planes({0: 1.0}), "map each free slot to a list"),
    (lambda: planes([[1.0]]), "map each free slot to a list"),
    (lambda: planes({0: [[1.0]]}, spread=NAN), "spread is nan"),
    (lambda: planes({0: [[1.0]]}, high=INF), "bounds are not all finite"),
    (lambda: band(NAN), "width is nan"),
    (lambda: band("wide"), "width is 'wide'"),
    (lambda: band(0.1, dimensions=0), "dimensions is 0"),
    (lambda: band(0.1, dimensions=1.5), "dimensions is 1.5"),
    (lambda: band(0.1, high=INF), "high is inf"),
    (lambda: gap(box(2), 0, 0, NAN, 1), "end of the gap is nan"),
    (lambda: gap([[0, 0]], 0, 0, 0, 1), "is a list, not a support"),
    (lambda: gap(box(2), 0, 0.5, 0, 1), "coordinate is 0.5"),
    (lambda: box(0), "slots is 0"),
    (lambda: box("2"), "slots is '2'"),
    (lambda: box(2, high=INF), "bounds are not all finite"),
    (lambda: box(2).has_value(0, ["low"]), "values are not real numbers"),
    (lambda: box(2).has_value(0, [[0.5, 0.5]]), r"values have shape \(1, 2\)"),
    (lambda: finite("points"), "points are not real numbers"),
    (lambda: finite([[0, 1], [0]]), "points are not real numbers"),
    (lambda: finite([[0, 1]], neighbours=0.5), "neighbours is 0.5"),
    (lambda: bilinear([[NAN]], [[1.0]], [[[1.0]]]), "weights are not all finite"),
    (lambda: occlude("soft", gain="high"), "gain is 'high'"),
    (lambda: own(3), "the composition is 3"),
    (lambda: own(np.add).jacobian("a", [[1.0], [1.0]]), "slot is 'a'"),
    (lambda: box(2).sample(3, -1), "seed is -1"),
    (lambda: refit(CELLS, add(), ONES, seed="today"), "seed is 'today'"),
    (lambda: rebuilt(start_components=None), "start components are None"),
    (lambda: rebuilt(start_components=[[[0.0]], [[0.0]]]), "start components have shapes"),
    (lambda: gap(box(2), 0, 0, np.zeros(2), 1), "end of the gap is array"),
    (lambda: rebuilt(steps=1), "steps is 1; give a whole number of at least 3"),
    (lambda: rebuilt(3), "the observed function is 3"),
    (lambda: rebuilt(broken), "the observed function raised KeyError"),
    (lambda: rebuilt(lambda z: z.sum(axis=1) * NAN), "observations are not all finite"),
    (lambda: rebuilt(lambda z: z.sum()), r"the observed function gave shape \(\) for 1 points"),
    (
        lambda: rebuilt(lambda z: np.zeros((len(z), 3))),
        "add makes 1 numbers of the start components but 3 were observed",
    ),
    (lambda: rebuilt(start=[[NAN], [0.0]]), "coordinates of the start are not all finite"),
    (lambda: rebuilt(start_components=[[NAN], [0.0]]), "start components are not all finite"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=range(len(REFUSED)))
def test_bad_input_is_one_sentence(call: Callable[..., Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize("support", [box(2), CORNER, band(0.1), gap(box(2), 0, 0, 0, 0.5), finite([[0, 1]])])
def test_no_support_draws_a_negative_number_of_points(support: Any) -> None:
    with pytest.raises(InputError, match="count is -1"):
        support.sample(-1)
    with pytest.raises(InputError, match="count is -1"):
        support.product().sample(-1)
    assert support.sample(0).shape == (0, 2, 1)


def test_a_gap_may_be_open_at_one_end() -> None:
    assert gap(box(2), 0, 0, -INF, 0.2).connected(0)
    assert (gap(box(2), 0, 0, -INF, 0.2).sample(50)[:, 0] > 0.2).all()


def test_results_say_what_they_are_in_one_line() -> None:
    fine = refit([[0, 0], [0, 1], [1, 0]], product(), [np.array([[1.0], [2.0]])] * 2, move=0.01)
    assert str(fine).startswith("other cells follow: ")
    assert str(Refit((), 0.1, 0.3)) == "not fitted: 0.1 left"
    assert repr(rebuilt()).startswith("Reconstruction(2 slots under add, 2 planes, ")
