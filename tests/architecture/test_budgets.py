"""Budgets: sizes, names and strings that stand for objects stay below the ceilings in ceilings.toml."""

from __future__ import annotations

from functools import cache

import pytest

import measures


@cache
def measured() -> dict[str, float]:
    return measures.measured()


@pytest.mark.parametrize("name", measures.ceilings())
def test_a_number_stays_below_its_ceiling(name: str) -> None:
    value, ceiling = measured()[name], measures.ceilings()[name]
    where = f"; python tests/architecture/measures.py --where {name!r}" if name in measures.LISTED else ""
    assert value <= ceiling, f"{name}: {value:g} is above the ceiling of {ceiling:g} in ceilings.toml{where}"


@pytest.mark.parametrize("name", measures.ceilings())
def test_a_ceiling_is_lowered_with_its_number(name: str) -> None:
    value, ceiling = measured()[name], measures.ceilings()[name]
    assert value >= 0.98 * ceiling, f"{name}: {value:g} is well below {ceiling:g}; measures.py --lower lowers ceilings"


def test_a_constant_tells_its_unit_by_a_plural_a_unit_or_a_quantity() -> None:
    telling = ["CELLS", "SECONDS", "PX", "SHARE"]
    assert [word for word in [*telling, "NEAR", "SMALL", "LESS"] if measures.tells_quantity(word)] == telling


def test_every_measure_has_a_ceiling() -> None:
    assert set(measures.ceilings()) == set(measured())


def test_product_library_and_lab_are_all_there_is() -> None:
    parts = [measures.product(), measures.library(), measures.lab()]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(measures.modules())
    assert {"recombine.cli.audit", "recombine.jobs.audit.audit", "recombine.report.audit.page"} <= measures.product()
    assert {"recombine.theory.diagonal.flow", "recombine.theory.gated.norms"} <= measures.library()
    assert measures.loaded_by_audit() <= measures.product()
