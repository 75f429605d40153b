"""The margin problems that the authors solved: their images and their context functions, drawn again from their seeds.

Their generator is PyTorch's, which gives the same numbers today: images are a permutation of the 60,000 of MNIST, the
first to train on and the last 12,000 to validate with; hyperplanes of a context seed are what is drawn after the first
weights of a linear layer. So limits can be compared one by one with the published errors, with nothing left to chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.cells.arrays import FloatArray, IntArray
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.halves import Halves
from recombine.lab.worlds.images.sources import Images, load_images
from recombine.theory.gated.contexts import NORMAL_SD, THRESHOLD_SD
from recombine.theory.gated.margin import largest_margin

if TYPE_CHECKING:
    from torch import Tensor

Rows = list[dict[str, Any]]
#: Norms of two layers: as defined, as published, and with one of the two defects of the published SVM-L2 alone.
NORMS = (
    "group",
    "published group",
    "effective",
    "published effective",
    "published effective groups",
    "published effective coefficient",
    "zeta",
)


def authors_split(images: int, size: int, validation: int, seed: int = 1) -> tuple[IntArray, IntArray]:
    """Return which images the authors train on and validate with, as PyTorch's ``random_split`` chooses them.

    Examples
    --------
    >>> train, validation = authors_split(images=10, size=3, validation=4)
    >>> len(train), len(validation), len({*train, *validation})
    (3, 4, 7)
    """
    import torch

    order = torch.randperm(images, generator=torch.Generator().manual_seed(seed)).numpy()
    return order[:size], order[images - validation :]


def authors_contexts(X: Tensor, units: int, bits: int, thresholds: str, seed: int) -> IntArray:
    """Return the contexts (n, H) of all inputs ``X`` (n, d) for a context seed of the authors.

    Examples
    --------
    >>> import torch
    >>> X = torch.linspace(-1, 1, 20).reshape(10, 2)
    >>> authors_contexts(X, units=3, bits=1, thresholds="median", seed=1).mean(axis=0).tolist()
    [0.5, 0.5, 0.5]
    """
    import torch

    if not bits:
        return np.zeros((len(X), units), dtype=np.int64)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        # First weights of the layer are drawn and overwritten: they only move the generator on.
        plane = torch.nn.Linear(X.shape[1], units * bits, bias=False)
        torch.nn.init.normal_(plane.weight, std=NORMAL_SD)
        limits = torch.nn.init.normal_(torch.zeros(units * bits), std=THRESHOLD_SD)
        projected = plane(X)
        if thresholds == "median":
            limits = torch.quantile(projected, 0.5, dim=0)
        above = (projected > limits).reshape(len(X), units, bits).numpy()
    ids: IntArray = above @ (2 ** np.arange(bits, dtype=np.int64)[::-1])
    return ids


def authors_inputs(images: Images) -> tuple[Tensor, FloatArray]:
    """Return inputs (n, d) in 32 bits, pixels from -1 to 1 and a column of ones, and signs (n,) by half of labels.

    Examples
    --------
    >>> X, y = authors_inputs(load_images("digits"))
    >>> tuple(X.shape), sorted(set(y.tolist()))
    ((1797, 65), [-1.0, 1.0])
    """
    import torch

    pixels = torch.tensor(images.pixels.reshape(len(images.pixels), -1)) / 255
    inputs = torch.cat([(pixels - 0.5) / 0.5, torch.ones(len(pixels), 1)], dim=1)
    return inputs, np.where(images.labels < images.classes / 2, 1.0, -1.0)


def authors_halves(images: Images, size: int, validation: int) -> Halves:
    """Return the authors' samples: the first ``size`` rows to train on, then those to validate with.

    Examples
    --------
    >>> halves = authors_halves(load_images("digits"), size=100, validation=500)
    >>> halves.X.shape, len(halves.validation)
    ((600, 65), 500)
    """
    inputs, y = authors_inputs(images)
    rows = np.concatenate(authors_split(len(y), size, validation))
    return Halves(inputs.numpy()[rows].astype(np.float64), y[rows], np.arange(size, size + validation))


def authors_limits(unit: Unit) -> Rows:
    """Limits on the authors' images and contexts: one row per context seed and norm.

    The setting has "images", "size", "validation", "layers" (1 or 2), "units", "bits", "thresholds" and "seeds" of
    contexts. "error" counts an input in a context without training samples by the sign that we give it (negative),
    "error, zero wrong" counts it as wrong, as the authors' code does, where the sign of zero is neither label.

    Examples
    --------
    >>> setting = {"images": "digits", "size": 100, "validation": 200, "layers": 2, "units": 5, "bits": 1}
    >>> rows = authors_limits(Unit("authors", 1, setting | {"thresholds": "median", "seeds": [1]}))
    >>> [row["classifier"] for row in rows][:2], rows[0]["error"] == rows[0]["error, zero wrong"]
    (['group', 'published group'], True)
    """
    setting = unit.setting
    inputs, y = authors_inputs(load_images(setting["images"]))
    train, test = authors_split(len(y), setting["size"], setting["validation"])
    X = inputs.numpy().astype(np.float64)
    shape = setting["units"], setting["bits"], setting["thresholds"]
    about = {name: setting[name] for name in ("images", "layers", "units", "bits", "thresholds")}
    about |= {"samples": setting["size"], "momentum": 0.0}
    rows: Rows = []
    for seed in unit.seeds:
        ids = authors_contexts(inputs, *shape, seed)
        for norm in ("one-layer",) if setting["layers"] == 1 else NORMS:
            limit = largest_margin(
                X[train], y[train], ids[train], contexts=2 ** setting["bits"], norm=norm, tolerance=1e-7
            )
            values = limit.decision(X[test], ids[test])
            errors = {
                "error": float(np.mean(np.where(values > 0, 1, -1) != y[test])),
                "error, zero wrong": float(np.mean(np.sign(values) != y[test])),
            }
            rows.append(about | {"seed": seed, "classifier": norm} | errors)
    return rows
