"""Networks that fit without a gradient: what is kept fits, by brute force, and networks do not depend on company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.lab.papers.gradient_resists.experiments.plane import plane
from recombine.lab.papers.gradient_resists.experiments.without_gradient import (
    SEARCH_SEED,
    draw_problem,
    first_weights,
    without_gradient,
)
from recombine.lab.papers.gradient_resists.readings.without_gradient import (
    DESCENT,
    DRAWN,
    FIRST_FIT,
    lead,
    shares_by_seed,
)
from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import load_images
from recombine.tables.table import Table


def unit(**changes: Any) -> Unit:
    base = {"search": "drawn", "data": "code", "tries": 3000, "seeds": [0, 1]}
    return Unit("without-gradient", 1, base | changes)


@pytest.mark.slow
@pytest.mark.parametrize(("data", "errors"), [("code", 0.0), ("text", 0.02), ("text", 0.1)])
def test_drawn_networks_are_all_that_fit_and_no_others(data: str, errors: float) -> None:
    rows = without_gradient(unit(data=data, errors=errors, seeds=[3]))
    seen, held_out = draw_problem(data, 3)
    networks = first_weights(np.random.default_rng([SEARCH_SEED, 3, 1]), 3000, [2, 8, 8, 8, 1])
    wrong = ((networks.outputs(seen.points) > 0) != (seen.labels > 0)).sum(axis=1)
    fitting = np.flatnonzero(wrong <= errors * len(seen.labels))
    assert len(fitting)
    assert [row["tries"] for row in rows] == (fitting + 1).tolist()
    shares = (networks.outputs(held_out) > 0).mean(axis=1)[fitting]
    assert [row["held-out accuracy"] for row in rows] == pytest.approx(shares.tolist())


@pytest.mark.parametrize("search", ["drawn", "random steps", "gradient descent"])
def test_a_network_is_the_same_alone_and_in_company(search: str) -> None:
    tries = {"drawn": 3000, "random steps": 600, "gradient descent": 8}[search]
    setting = {"search": search, "data": "text", "errors": 0.05, "tries": tries}
    together = without_gradient(unit(**setting, seeds=[0, 1, 2]))
    alone = without_gradient(unit(**setting, seeds=[1]))
    assert alone
    assert [row for row in together if row["seed"] == 1] == alone


def test_random_steps_stop_where_they_first_fit() -> None:
    rows = without_gradient(unit(search="random steps", data="text", errors=0.05, tries=600, seeds=list(range(6))))
    assert rows
    assert len({row["seed"] for row in rows}) == len(rows)
    assert all(row["train accuracy"] >= 0.95 and row["tries"] <= 600 for row in rows)
    again = without_gradient(unit(search="random steps", data="text", errors=0.05, tries=300, seeds=list(range(6))))
    assert again == [row for row in rows if row["tries"] <= 300]


def test_gradient_descent_is_that_of_the_plane() -> None:
    rows = without_gradient(unit(search="gradient descent", tries=16))
    setting = {"reading": "code", "setting": "A", "model": "network", "epochs": 16, "seeds": [0, 1]}
    columns = ("seed", "train accuracy", "held-out accuracy")
    assert [(row["tries"], *map(row.get, columns)) for row in rows] == [
        (row["epoch"], *map(row.get, columns)) for row in plane(Unit("plane", 1, setting))
    ]


def test_pairs_of_digits_are_what_they_say() -> None:
    """Each half is an image of the digit that its cell names, of images to train on or of others."""
    images = load_images("digits")
    pixels = [tuple(image) for image in images.pixels.reshape(len(images.labels), -1)]
    row_of = {image: row for row, image in reversed(list(enumerate(pixels)))}
    seen, held_out = draw_problem("digits", seed=4)
    halves = [np.rint(points * 255).astype(int).reshape(-1, 2, 64) for points in (seen.points, held_out)]
    rows = [np.array([[row_of[tuple(half)] for half in pair] for pair in part]) for part in halves]
    digits = images.labels[rows[0]]
    assert np.array_equal(digits[:, 0] == 1, seen.labels > 0)
    assert {tuple(pair) for pair in digits.tolist()} == {(0, 0), (0, 1), (1, 0)}
    assert (images.labels[rows[1]] == 1).all()
    assert rows[0].max() < 1300 <= rows[1].min()


def test_each_set_of_samples_counts_once() -> None:
    table = Table(
        {
            "search": ["drawn"] * 3 + ["gradient descent"] * 6,
            "data": ["code"] * 9,
            "hidden": ["8-8-8"] * 9,
            "errors": [0.0] * 9,
            "seed": [0, 0, 1, 0, 0, 0, 1, 1, 1],
            "tries": [5, 9, 7, 1, 4, 16, 1, 4, 16],
            "train accuracy": [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 0.8, 0.9, 1.0],
            "held-out accuracy": [0.2, 0.6, 0.1, 0.0, 0.3, 0.5, 0.0, 0.2, 0.7],
        }
    )
    assert shares_by_seed(table, DRAWN, "code") == {0: 0.4, 1: 0.1}
    assert shares_by_seed(table, FIRST_FIT, "code") == {0: 0.3, 1: 0.7}
    assert shares_by_seed(table, DESCENT, "code") == {0: 0.5, 1: 0.7}
    assert lead(table, DESCENT, DRAWN, "code").mean == pytest.approx(35.0)
    with pytest.raises(MissingRowsError, match="no two sets"):
        lead(table.where(table["seed"] == 0), DESCENT, DRAWN, "code")


def test_unknown_searches_are_named() -> None:
    with pytest.raises(InputError, match="did you mean 'drawn'"):
        without_gradient(unit(search="draws"))
