"""What conjunctions contribute: a mapping that prints briefly and lists as a table."""

from __future__ import annotations

import numpy as np
import pytest

from known_tasks import context_dependence
from recombine import KernelClassifier
from recombine.cells import Contributions
from recombine.errors import InputError
from recombine.measures.outputs import conjunction_values


def test_the_table_has_every_conjunction_and_the_largest_first() -> None:
    task = context_dependence(2)
    values = conjunction_values(task.cells, task.train, np.stack([task.target, 3 * task.target]))
    table = values.table(task.factors)
    assert len(table) == sum(len(levels) for levels, _ in values.values())
    sizes = np.abs(table["value"])
    assert (np.diff(sizes) <= 1e-8 * sizes[0]).all()
    mean = conjunction_values(task.cells, task.train, 2 * task.target).table(task.factors)
    assert dict(zip(mean["conjunction"], mean["value"].round(9), strict=True)) == dict(
        zip(table["conjunction"], table["value"].round(9), strict=True)
    )
    assert "context 0, feature 1 3" in table["conjunction"]
    assert len(repr(values)) < 100


def test_a_kernel_models_values_list_alike() -> None:
    task = context_dependence(1)
    model = KernelClassifier().fit(task.cells[task.train], task.target[task.train])
    table = model.conjunction_values(1).table()
    assert sorted(table["conjunction"])[:2] == ["factor 1 0", "factor 1 1"]
    assert set(table["order"]) == {1}


def test_too_few_names_are_refused() -> None:
    with pytest.raises(InputError, match="1 names for 2 factors"):
        Contributions({(1,): (np.array([[0]]), np.array([1.0]))}).table(["only"])


def test_nothing_is_an_empty_table() -> None:
    assert len(Contributions({}).table()) == 0
