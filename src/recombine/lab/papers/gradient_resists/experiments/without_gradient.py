"""Gradient resists: networks that fit without a gradient, beside those that gradient descent trained on the same data.

Three ways to a network that is right on all seen data. Drawn: first weights as in training, again and again, and what
happens to fit is kept. Random steps: all weights move at random, and a step stays if it makes no more errors. Gradient
descent: the paper's. All see three cells of (Y_1, Y_2) and are asked about the fourth, where the right label is 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, FloatArray, IntArray
from recombine.errors import InputError, near_miss
from recombine.lab.nets.by_hand.playground import BIAS, Playground, train_playground
from recombine.lab.papers.gradient_resists.experiments.images import DIGITS_TO_TRAIN_ON
from recombine.lab.papers.gradient_resists.experiments.plane import accuracy, recorded_epochs
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds import plane as world
from recombine.lab.worlds.images.sources import load_images
from recombine.writing import listing

Rows = list[dict[str, Any]]

DIGITS = "digits"
#: The brightest pixel.
WHITE_PIXEL = 255
#: Pairs of digits that a network sees, as many as there are samples in two dimensions, and pairs that are held out.
DIGIT_PAIRS, HELD_OUT_PAIRS = 187, 1000
#: Part of every seed, so that searches share no draws with training.
SEARCH_SEED = 2020
#: Weights that are drawn at once, and samples that a network has to pass before it meets all of them.
WEIGHTS_AT_ONCE, FIRST_SAMPLES = 2_000_000, 24
#: What a setting may leave out. "errors" is the share of seen samples that may be wrong, "step" the spread of a step.
DEFAULTS: dict[str, Any] = {"hidden": [8, 8, 8], "errors": 0.0, "step": 0.1}


def without_gradient(unit: Unit) -> Rows:
    """Networks that fit, however they came about: one row per network, of gradient descent one per recorded epoch.

    The setting names the "search" ("drawn", "random steps" or "gradient descent"), the "data" ("code", "text" or
    "digits"), how many "tries" there are (draws, steps or epochs) and "seeds", each with samples of its own; it may
    change any of ``DEFAULTS``. The column "tries" says after how many of them a network was found.

    Examples
    --------
    >>> setting = {"search": "drawn", "data": "code", "tries": 4000, "seeds": [0, 1]}
    >>> rows = without_gradient(Unit("without-gradient", 1, setting))
    >>> {row["train accuracy"] for row in rows}
    {1.0}
    """
    setting = {**DEFAULTS, **unit.setting}
    if setting["search"] not in SEARCHES:
        raise InputError(
            f"search {setting['search']!r} is not one of {listing(SEARCHES)};{near_miss(setting['search'], SEARCHES)}"
        )
    about = {name: setting[name] for name in ("search", "data", "errors")}
    about["hidden"] = "-".join(map(str, setting["hidden"]))
    problems = [draw_problem(setting["data"], seed) for seed in unit.seeds]
    samples, held_out = (
        world.stack_samples([seen for seen, _ in problems]),
        np.stack([points for _, points in problems]),
    )
    return [
        {
            **about,
            "seed": unit.seeds[network],
            "tries": tries,
            "train accuracy": float(right),
            "held-out accuracy": float(share),
        }
        for tries, members, networks in SEARCHES[setting["search"]](samples, unit.seeds, setting)
        for network, right, share in zip(
            members.tolist(),
            accuracy(world.PlaneSamples(samples.points[members], samples.labels[members]), networks),
            (networks.outputs(held_out[members]) > 0).mean(axis=1),
            strict=True,
        )
    ]


def draw_problem(data: str, seed: int) -> tuple[world.PlaneSamples, FloatArray]:
    """Return what a network sees, and points (N, inputs) of the held-out cell.

    "digits" are pairs of 8x8 digits, 0 or 1 each, side by side: the left one decides, and a pair of ones is held out.

    Examples
    --------
    >>> seen, held_out = draw_problem("digits", seed=0)
    >>> seen.points.shape, held_out.shape, sorted(set(seen.labels.tolist()))
    ((187, 128), (1000, 128), [-1.0, 1.0])
    """
    if data != DIGITS:
        return world.draw_training(data, seed), world.draw_held_out(data)
    generator = np.random.default_rng([SEARCH_SEED, seed])
    images = load_images(DIGITS)
    pixels, digits = images.pixels.reshape(len(images.labels), -1) / WHITE_PIXEL, images.labels
    seen = slice(DIGITS_TO_TRAIN_ON)
    cells = np.array(world.SEEN)[generator.integers(len(world.SEEN), size=DIGIT_PAIRS)]
    points = _pairs(pixels[seen], digits[seen], cells, generator)
    ones = np.ones((HELD_OUT_PAIRS, 2), dtype=np.int64)
    held_out = _pairs(pixels[DIGITS_TO_TRAIN_ON:], digits[DIGITS_TO_TRAIN_ON:], ones, generator)
    return world.PlaneSamples(points, np.where(cells[:, 0] == 1, 1.0, -1.0)), held_out


def _pairs(pixels: FloatArray, digits: IntArray, cells: IntArray, generator: np.random.Generator) -> FloatArray:
    """Draw two images for each pair of digits, and put them side by side in one line (N, 2 * pixels)."""
    rows = np.empty_like(cells)
    for digit in np.unique(cells):
        chosen = cells == digit
        rows[chosen] = generator.choice(np.flatnonzero(digits == digit), chosen.sum())
    pairs: FloatArray = pixels[rows].reshape(len(cells), -1)
    return pairs


Found = Iterator[tuple[int, IntArray, Playground]]


def _drawn(samples: world.PlaneSamples, seeds: Sequence[int], setting: dict[str, Any]) -> Found:
    """Draw first weights for each seed, and hand back what fits its samples."""
    sizes = [samples.points.shape[-1], *setting["hidden"], 1]
    at_once = max(1, WEIGHTS_AT_ONCE // sum(inputs * units for inputs, units in pairwise(sizes)))
    for member, seed in enumerate(seeds):
        generator = np.random.default_rng([SEARCH_SEED, seed, 1])
        there = samples.labels[member] != 0
        points, labels = samples.points[member][there], samples.labels[member][there]
        allowed = setting["errors"] * len(labels)
        for start in range(0, setting["tries"], at_once):
            networks = first_weights(generator, min(at_once, setting["tries"] - start), sizes)
            kept_rows = np.arange(len(networks))
            # A few samples first: what has too many errors there has too many of all.
            for some in (slice(FIRST_SAMPLES), slice(None)):
                fits = _wrong(networks, points[some], labels[some]).sum(axis=1) <= allowed
                networks, kept_rows = _chosen(networks, fits), kept_rows[fits]
            for row, tries in enumerate((start + kept_rows + 1).tolist()):
                yield tries, np.array([member]), _chosen(networks, np.arange(len(networks)) == row)


def _random_steps(samples: world.PlaneSamples, seeds: Sequence[int], setting: dict[str, Any]) -> Found:
    """From the first weights of training, move all weights at random and keep a step that makes no more errors."""
    generators = [np.random.default_rng([SEARCH_SEED, seed, 2]) for seed in seeds]
    networks = Playground.initial(seeds, setting["hidden"], inputs=samples.points.shape[-1])
    allowed = setting["errors"] * (samples.labels != 0).sum(axis=1)
    searching = np.arange(len(seeds))
    wrong = _wrong(networks, samples.points, samples.labels).sum(axis=1)
    for tries in range(setting["tries"] + 1):
        fits = wrong <= allowed[searching]
        if fits.any():
            yield tries, searching[fits], _chosen(networks, fits)
        searching, wrong, networks = searching[~fits], wrong[~fits], _chosen(networks, ~fits)
        if not len(searching) or tries == setting["tries"]:
            return
        moved = _moved(networks, [generators[member] for member in searching.tolist()], setting["step"])
        then = _wrong(moved, samples.points[searching], samples.labels[searching]).sum(axis=1)
        better = then <= wrong
        for old, new in zip((*networks.weights, *networks.biases), (*moved.weights, *moved.biases), strict=True):
            old[better] = new[better]
        wrong = np.where(better, then, wrong)


def _descended(samples: world.PlaneSamples, seeds: Sequence[int], setting: dict[str, Any]) -> Found:
    """The paper's training, after each recorded epoch, whether or not it fits."""
    networks = Playground.initial(seeds, setting["hidden"], inputs=samples.points.shape[-1])
    record = recorded_epochs(setting["tries"])
    for epoch, trained in train_playground(networks, samples.points, samples.labels, record=record).items():
        yield epoch, np.arange(len(seeds)), trained


SEARCHES = {"drawn": _drawn, "random steps": _random_steps, "gradient descent": _descended}


def first_weights(generator: np.random.Generator, count: int, sizes: Sequence[int]) -> Playground:
    """Draw networks as training starts with them: weights uniform on [-0.5, 0.5), biases 0.1.

    Examples
    --------
    >>> networks = first_weights(np.random.default_rng(0), 3, [2, 8, 1])
    >>> [weight.shape for weight in networks.weights], float(networks.biases[0].max())
    ([(3, 2, 8), (3, 8, 1)], 0.1)
    """
    shapes = [(count, *shape) for shape in pairwise(sizes)]
    weights = tuple(generator.random(shape) - 0.5 for shape in shapes)
    return Playground(weights, tuple(np.full((count, 1, units), BIAS) for _, _, units in shapes))


def _moved(networks: Playground, generators: Sequence[np.random.Generator], spread: float) -> Playground:
    """Return the networks with all weights and biases moved, each by draws of its own."""
    arrays = (*networks.weights, *networks.biases)
    ends = np.cumsum([array[0].size for array in arrays])
    steps = spread * np.stack([generator.standard_normal(ends[-1]) for generator in generators])
    moved = [
        array + step.reshape(array.shape)
        for array, step in zip(arrays, np.split(steps, ends[:-1], axis=1), strict=True)
    ]
    layers = len(networks.weights)
    return Playground(tuple(moved[:layers]), tuple(moved[layers:]))


def _wrong(networks: Playground, points: FloatArray, labels: FloatArray) -> BoolArray:
    """Say which samples are wrong (E, N); those that only fill up are not, and an output of 0 says -1."""
    wrong: BoolArray = (labels != 0) & ((networks.outputs(points) > 0) != (labels > 0))
    return wrong


def _chosen(networks: Playground, members: BoolArray) -> Playground:
    return Playground(
        tuple(weight[members] for weight in networks.weights), tuple(bias[members] for bias in networks.biases)
    )
