"""Gated linear networks: our margin solver beside cvxpy with a conic solver, and looked-up weights beside masked ones.

One thread, one process, one run each. Run ``python benchmarks/gated.py`` (about two minutes; the images are random
unless MNIST is found) or with ``--quick`` (seconds, small sizes).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from recombine.errors import InputError
from recombine.lab.nets.by_hand.gated import GatedNetworks
from recombine.lab.nets.by_hand.gated_training import schedule_of, train_gated
from recombine.lab.worlds.images.halves import label_halves
from recombine.lab.worlds.images.sources import load_images
from recombine.theory.gated.contexts import HalfSpaces
from recombine.theory.gated.features import context_indicators
from recombine.theory.gated.margin import largest_margin

Array = np.ndarray[Any, Any]


def samples(count: int, width: int) -> tuple[Array, Array, str]:
    """Return MNIST, lower digits against upper, or random numbers of the same shape where it is missing."""
    if width == 785:
        try:
            halves = label_halves(load_images("mnist"), [count], 100)
            return halves.X[:count], halves.y[:count], "MNIST"
        except InputError:
            pass
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 1, size=(count, width - 1)), np.ones(count)])
    return X, np.where(rng.random(count) < 0.5, -1.0, 1.0), "random numbers"


def by_cvxpy(X: Array, y: Array, ids: Array, contexts: int) -> tuple[float, float]:
    """Return the value and the seconds of the same problem, stated in cvxpy and solved by Clarabel."""
    import cvxpy

    begin = time.perf_counter()
    units = ids.shape[1]
    rows = context_indicators(ids, contexts)
    weights = [cvxpy.Variable((contexts, X.shape[1])) for _ in range(units)]
    blocks = [rows[:, unit * contexts : (unit + 1) * contexts] for unit in range(units)]
    values = sum(
        cvxpy.sum(cvxpy.multiply(block, X @ weight.T), axis=1) for block, weight in zip(blocks, weights, strict=True)
    )
    norm = sum(cvxpy.norm(weight, "fro") for weight in weights)
    problem = cvxpy.Problem(cvxpy.Minimize(norm), [cvxpy.multiply(y, values) >= 1])
    problem.solve(solver=cvxpy.CLARABEL, max_threads=1)
    return float(problem.value), time.perf_counter() - begin


def margins(count: int, units: int, width: int) -> None:
    X, y, source = samples(count, width)
    contexts = HalfSpaces.balanced(units, 1, X, seed=1)
    ids = contexts.ids(X)
    begin = time.perf_counter()
    found = largest_margin(X, y, ids, contexts=2)
    ours = time.perf_counter() - begin
    print(f"\nlargest margin, group norm: n = {count}, H = {units}, d = {width}, {source}")
    print(f"  ours    {ours:8.2f} s   value {found.norm:.8f}   duality gap {found.gap:.0e}")
    value, theirs = by_cvxpy(X, y, ids, 2)
    print(f"  cvxpy   {theirs:8.2f} s   value {value:.8f}")
    print(f"  {theirs / ours:.0f} times faster; values differ by {abs(value / found.norm - 1):.0e} (relative)")


class Masked(torch.nn.Module):
    """One layer as published: all contexts are multiplied, then all but one are masked."""

    def __init__(self, weights: torch.Tensor) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(weights.clone())

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Multiply inputs by every row, and keep the one in use."""
        return ((inputs @ self.weights.T) * mask).sum(1)


def masked_seconds(start: GatedNetworks, X: Array, y: Array, plan: Array, rate: float) -> tuple[float, torch.Tensor]:
    ids = start.contexts[0].ids(X)[:, 0]
    inputs, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    mask = torch.nn.functional.one_hot(torch.tensor(ids), start.weights.shape[2]).float()
    network = Masked(start.weights[0, 0])
    optimiser = torch.optim.SGD(network.parameters(), lr=rate)
    begin = time.perf_counter()
    for step, padded in enumerate(plan):
        own = torch.tensor(padded[padded >= 0])
        optimiser.param_groups[0]["lr"] = rate * (0.25 if step >= len(plan) // 2 else 1.0)
        loss = torch.nn.functional.softplus(-labels[own] * network(inputs[own], mask[own])).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.perf_counter() - begin, network.weights.detach()


def lookups(count: int, bits: int, width: int, steps: int) -> None:
    X, y, source = samples(count, width)
    start = GatedNetworks.initial("one-layer", [0], width, contexts=[HalfSpaces.balanced(1, bits, X, seed=1)])
    rows = [np.arange(count)]
    train_gated(start, X, y, schedule_of(rows, [0], 2))
    begin = time.perf_counter()
    trained = train_gated(start, X, y, schedule_of(rows, [0], steps))
    ours = time.perf_counter() - begin
    theirs, weights = masked_seconds(start, X, y, schedule_of(rows, [0], steps, 128)[0], 0.04)
    apart = float((trained.weights[0, 0] - weights).abs().max())
    print(f"\none-layer training: s = {bits} ({2**bits} contexts), n = {count}, d = {width}, {steps} steps, {source}")
    print(f"  looked up  {1e3 * ours / steps:8.3f} ms per step (contexts and schedule included)")
    print(f"  masked     {1e3 * theirs / steps:8.3f} ms per step")
    print(f"  {theirs / ours:.0f} times faster; weights differ by {apart:.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, seconds")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    with threadpool_limits(1):
        lookups(*((100, 6, 20, 50) if quick else (500, 10, 785, 400)))
        margins(*((60, 5, 20) if quick else (500, 20, 785)))


if __name__ == "__main__":
    main()
