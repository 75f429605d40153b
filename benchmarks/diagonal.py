"""Diagonal linear networks: theory beside training, and columns of one matrix beside one network at a time.

``python benchmarks/diagonal.py`` (about five minutes on two cores) does three things at D = 1000 inputs.

1. The test loss of a finetuned network: the dual Newton solver, beside gradient descent on the same network to a
   training loss of 1e-10 as in the paper (float32, rate 0.1, hand-written steps: faster than autograd).
2. Time per network and step: autograd on one network at a time, beside 64 networks as columns. The losses are compared.
   Times are those of the best of many short pieces, as other work on the machine only ever adds to them.
3. With ``--study``, the whole published study by theory, 4,824 predictions: how long it takes.

``--quick`` trains 5,000 steps and scales their time up to all that training takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from recombine.lab.nets.by_hand.diagonal import Schedule, reduce_weights, single_task
from recombine.lab.nets.by_hand.diagonal_training import train_diagonal
from recombine.lab.papers.multitask.experiments.theory import nested, overlap
from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.teachers import linear_teachers, sphere_inputs
from recombine.theory.diagonal.generalization import predict
from recombine.theory.diagonal.penalties import pretrained_weights

N, D = 64, 1000
#: Steps of gradient descent to a training loss of 1e-10, as printed without --quick, and those of --quick.
ALL_STEPS, FEW_STEPS = 62_800, 5000
#: Pieces that steps are timed in.
PIECES = 20


def best_of(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    best, answer = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
    return best, answer


def columns(networks: int, dtype: str = "float32") -> Any:
    pair = linear_teachers(0)
    plus, minus = (part[:, None] for part in pretrained_weights(pair.auxiliary, 1e-3))
    teachers = np.repeat(pair.main[:, None], networks, axis=1)
    return single_task(
        sphere_inputs(0, "main inputs", N, D), teachers, reduce_weights(plus, minus, 1e-3, 1e-3), dtype=dtype
    )


def theory_beside_training(steps: int) -> None:
    pair, X = linear_teachers(0), sphere_inputs(0, "main inputs", N, D)
    seconds, found = best_of(lambda: predict(X, pair.main, auxiliary=pair.auxiliary), 5)
    start = time.perf_counter()
    trained = train_diagonal(columns(1), Schedule(steps=steps))
    spent = time.perf_counter() - start
    print(f"\n1. One finetuned network, D = {D}, n = {N}, 40 features, all shared\n")
    print(f"{'':24} {'seconds':>9} {'test loss':>10}")
    print(f"{'theory':24} {seconds:9.4f} {found.test_loss:10.3e}   {found.interpolator.steps} Newton steps")
    taken, word = int(trained.steps[0]), "to 1e-10"
    if not trained.stopped[0]:
        spent *= ALL_STEPS / taken
        word = f"to a loss of {trained.loss[0]:.0e}; time scaled up to the {ALL_STEPS:,} that lead to 1e-10"
    print(f"{'gradient descent':24} {spent:9.2f} {trained.test[0]:10.3e}   {taken:,} steps, {word}")
    print(f"theory is {spent / seconds:,.0f} times faster")


def paced(step: Callable[[], None], steps: int) -> float:
    """Return seconds per step in the best of some pieces, after a few steps to get going."""
    for _ in range(20):
        step()
    size = steps // PIECES
    return best_of(lambda: [step() for _ in range(size)], PIECES)[0] / size


def autograd(steps: int) -> tuple[float, float]:
    """Return seconds per step and the loss after all steps of one network written with autograd."""
    pair, X = linear_teachers(0), torch.tensor(sphere_inputs(0, "main inputs", N, D), dtype=torch.float32)
    y = X @ torch.tensor(pair.main, dtype=torch.float32)
    parts = [*pretrained_weights(pair.auxiliary, 1e-3), np.full(D, 1e-3), np.full(D, 1e-3)]
    wp, wm, vp, vm = leaves = [torch.tensor(part, dtype=torch.float32, requires_grad=True) for part in parts]

    def step() -> None:
        # Updates by hand: torch.optim.SGD would take longer.
        slopes = torch.autograd.grad((X @ (wp * vp - wm * vm) - y).square().mean(), leaves)
        with torch.no_grad():
            for leaf, slope in zip(leaves, slopes, strict=True):
                leaf.sub_(slope, alpha=0.1)

    spent = paced(step, steps)
    with torch.no_grad():
        return spent, float((X @ (wp * vp - wm * vm) - y).square().mean())


def batched(networks: int, steps: int) -> tuple[float, float]:
    """Return seconds per network and step, and the loss after all steps."""
    group, pace = columns(networks), torch.full((networks,), 0.1)
    with torch.no_grad():
        return paced(lambda: group.step(pace), steps) / networks, float(group.loss()[0])


def beside_autograd(steps: int) -> None:
    print(f"\n2. One step of one network, D = {D}, n = {N}, float32, {torch.get_num_threads()} threads\n")
    one, loss = min(autograd(steps) for _ in range(3))
    print(f"{'networks':>10} {'us a net-step':>14} {'faster':>8} {'loss':>12}")
    print(f"{'autograd':>10} {1e6 * one:14.1f} {'':>8} {loss:12.6e}")
    for networks in (1, 16, 64, 256):
        spent, same = min(batched(networks, steps) for _ in range(3))
        print(f"{networks:10} {1e6 * spent:14.1f} {one / spent:7.1f}x {same:12.6e}", flush=True)


def _part(setting: dict[str, Any]) -> tuple[int, int]:
    function = nested if "active" in setting else overlap
    with threadpool_limits(1):
        rows = function(Unit("benchmark", 1, setting))
    return len(rows), sum(row["method"] == "mtl" for row in rows)


def study(workers: int) -> None:
    samples = (512, 256, 128, 64, 32, 16)
    settings: list[dict[str, Any]] = []
    for n in samples:
        for seed in range(6):
            settings.append({"n": n, "overlaps": [40, 30, 20, 0], "mtl": True, "seeds": [seed]})
            about = {"n": n, "active": [5, 10, 20, 30, 40], "scalings": [1.0, 0.1, 0.01, 0.001], "mtl": True}
            settings.append({**about, "seeds": [seed]})
    start = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        counts: list[tuple[int, int]] = []
        for part in as_completed([pool.submit(_part, setting) for setting in settings]):
            counts.append(part.result())
            print(f"{len(counts)} of {len(settings)} parts of the study", file=sys.stderr)
    spent = time.perf_counter() - start
    runs, cones = (sum(count[place] for count in counts) for place in (0, 1))
    print(f"\n3. The whole study by theory, {workers} processes\n")
    print(f"{runs:,} predictions ({cones:,} cone programs) in {spent / 60:.1f} minutes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="train 5,000 steps, scaled up, instead of to the end")
    parser.add_argument("--study", action="store_true", help="predict the whole published study as well")
    parser.add_argument("--workers", type=int, default=2, help="processes of the study")
    options = parser.parse_args()
    theory_beside_training(FEW_STEPS if options.quick else 200_000)
    beside_autograd(200 if options.quick else 1000)
    if options.study:
        study(options.workers)


if __name__ == "__main__":
    main()
