"""RC108: a factor lies inside another."""

from __future__ import annotations

import pandas as pd
import pytest

import recombine as rc

PLANTS = pd.DataFrame(
    [
        {"plant": f"p{plant}", "treatment": "chilled" if plant < 4 else "warm", "dose": dose, "uptake": plant + dose}
        for plant in range(8)
        for dose in range(5)
        if (plant, dose) != (1, 1)
    ]
)


def plants(**options: object) -> rc.Design:
    return rc.Design.from_frame(PLANTS, factors=["plant", "treatment", "dose"], outcome="uptake", **options)


@pytest.mark.slow
def test_plants_lie_inside_treatments(found):
    finding = found(plants(), "RC108")
    assert finding.subjects == ("plant/treatment",)
    assert finding.message == (
        "plant lies inside treatment; 40 of the 80 combinations of levels would take a level out of the one it lies in "
        "and are taken to be impossible. To confirm: --nested plant/treatment; if they can exist: --crossed"
    )
    assert found(plants(), "RC101") is None


@pytest.mark.parametrize("options", [{"crossed": True}, {"nested": ["plant/treatment"]}])
def test_what_was_said_is_not_found(found, options):
    assert found(plants(**options), "RC108") is None


def test_crossed_factors_are_disconnected_instead(found):
    assert found(plants(crossed=True), "RC101").message.startswith("40 unseen cells are not settled by the data")


def test_targets_may_refute_it(found):
    targets = pd.DataFrame({"plant": ["p0"], "treatment": ["warm"], "dose": [0]})
    assert found(plants(), "RC108", targets=targets) is None
