"""Kernel regression on seen cells: the structured solver beside dense Cholesky and scikit-learn's KernelRidge.

Same kernel, same cells, same outcomes, one thread, one process. Run ``python benchmarks/kernel_solver.py`` (about ten
minutes, 12 GB) or with ``--quick`` (half a minute). Peak memory is what the call allocates over its inputs; the Gram
matrix the peers need is counted as theirs.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.solve import Solution, kernel_expansion, solve
from recombine.theory.kernels.solvers.spectrum import FullGrid

Array = np.ndarray[Any, Any]


def half_of(sizes: tuple[int, ...], rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return a random half of the product as seen cells, their random outcomes, and up to 2000 unseen cells."""
    size = int(np.prod(sizes))
    places = rng.permutation(size)
    seen = np.stack(np.unravel_index(places[: size // 2], sizes), axis=1)
    unseen = np.stack(np.unravel_index(places[size // 2 :][:2000], sizes), axis=1)
    return seen, rng.standard_normal(len(seen)), unseen


def timed(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the best time of ``repeats`` runs and the last answer."""
    best, answer = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
    return best, answer


def peak(call: Callable[[], Any]) -> float:
    """Return the largest memory, in MB, that ``call`` holds at once."""
    tracemalloc.start()
    call()
    _, top = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return top / 1e6


def gram_of(kernel: OverlapKernel, cells: Array) -> Array:
    """Form the Gram matrix in blocks of rows, so that nothing but the matrix itself is large."""
    gram = np.empty((len(cells), len(cells)))
    for start in range(0, len(cells), 500):
        gram[start : start + 500] = kernel(cells[start : start + 500], cells)
    return gram


def cholesky(kernel: OverlapKernel, cells: Array, outcome: Array) -> Array:
    dual: Array = cho_solve(cho_factor(gram_of(kernel, cells), lower=True, overwrite_a=True), outcome)
    return dual


def kernel_ridge(kernel: OverlapKernel, cells: Array, outcome: Array) -> Array:
    gram = gram_of(kernel, cells)
    start = time.perf_counter()
    # alpha=0 is the interpolant that the others compute.
    dual: Array = KernelRidge(alpha=0.0, kernel="precomputed").fit(gram, outcome).dual_coef_
    kernel_ridge.fit_seconds = time.perf_counter() - start  # type: ignore[attr-defined]
    return dual


def beside_peers(levels: list[int], largest_ridge: int) -> None:
    print("\nthree factors, half of the product seen, ReLU depth 1, interpolation, one thread")
    print("KernelRidge is given its Gram matrix ready-made; Cholesky's time includes forming it. difference: largest")
    print("difference of the predictions at 2000 unseen cells, relative to their largest value\n")
    print(f"{'cells':>8} {'ours s':>9} {'MB':>7} {'route':>10} {'steps':>5} {'residual':>9} |", end="")
    print(f" {'Cholesky s':>10} {'MB':>7} {'ratio':>7} {'difference':>10} |", end="")
    print(f" {'KernelRidge s':>13} {'MB':>7} {'ratio':>7} {'difference':>10} |")
    kernel = OverlapKernel.relu(depth=1, factors=3)
    for level in levels:
        cells, outcome, unseen = half_of((level,) * 3, np.random.default_rng(level))
        ours, solution = timed(lambda c=cells, y=outcome: solve(kernel, c, y), 5)
        memory = peak(lambda c=cells, y=outcome: solve(kernel, c, y))
        found = kernel_expansion(kernel, cells, solution.value, unseen)
        print(f"{len(cells):>8} {ours:>9.4f} {memory:>7.1f} {solution.route:>10} {solution.steps:>5}", end="")
        print(f" {solution.residual:>9.1e} |", end="", flush=True)
        for peer in (cholesky, kernel_ridge):
            if peer is kernel_ridge and len(cells) > largest_ridge:
                print(f"   skipped beyond {largest_ridge} cells", end="")
                continue
            tracemalloc.start()
            seconds, dual = timed(lambda p=peer, c=cells, y=outcome: p(kernel, c, y), 1)
            seconds = kernel_ridge.fit_seconds if peer is kernel_ridge else seconds  # type: ignore[attr-defined]
            top = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
            theirs = kernel_expansion(kernel, cells, dual, unseen)
            gap = np.abs(theirs - found).max() / np.abs(theirs).max()
            width = 10 if peer is cholesky else 13
            print(f" {seconds:>{width}.3f} {top:>7.0f} {seconds / ours:>6.0f}x {gap:>10.1e} |", end="", flush=True)
        print()


def alone(designs: list[tuple[int, ...]]) -> None:
    print("\nours alone, half of the product seen\n")
    print(
        f"{'product':>16} {'cells':>9} {'s':>8} {'MB':>7} {'steps':>6} {'residual':>9} {'predict whole product s':>24}"
    )
    for sizes in designs:
        kernel = OverlapKernel.relu(depth=1, factors=len(sizes))
        cells, outcome, _ = half_of(sizes, np.random.default_rng(0))
        seconds, solution = timed(lambda k=kernel, c=cells, y=outcome: solve(k, c, y), 2)
        memory = peak(lambda k=kernel, c=cells, y=outcome: solve(k, c, y))
        print_alone(sizes, cells, seconds, memory, solution, kernel)


def print_alone(
    sizes: tuple[int, ...], cells: Array, seconds: float, memory: float, solution: Solution, kernel: OverlapKernel
) -> None:
    whole = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
    predicting, _ = timed(lambda: kernel_expansion(kernel, cells, solution.value, whole), 1)
    name = f"{sizes[0]}^{len(sizes)}"
    print(f"{name:>16} {len(cells):>9} {seconds:>8.3f} {memory:>7.0f} {solution.steps:>6}", end="")
    print(f" {solution.residual:>9.1e} {predicting:>24.2f}", flush=True)


def full_products(designs: list[tuple[int, ...]]) -> None:
    print("\nfull products, closed form: 50 ridges with all leave-one-out residuals of each\n")
    print(f"{'product':>16} {'cells':>9} {'one solve s':>12} {'50 x all residuals s':>21}")
    for sizes in designs:
        grid = FullGrid(OverlapKernel.relu(depth=1, factors=len(sizes)), sizes)
        outcome = np.random.default_rng(0).standard_normal(sizes)
        ridges = np.geomspace(1e-4, 1e4, 50)
        once, _ = timed(lambda g=grid, y=outcome: g.solve(y, 0.1), 3)
        every, _ = timed(lambda g=grid, y=outcome, r=ridges: [np.mean(g.leave_one_out(y, one) ** 2) for one in r], 1)
        name = f"{sizes[0]}^{len(sizes)}"
        print(f"{name:>16} {outcome.size:>9} {once:>12.4f} {every:>21.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller peers: half a minute instead of ten")
    parser.add_argument("--largest-ridge", type=int, default=20_500, help="largest number of cells for KernelRidge")
    options = parser.parse_args()
    # 1k, 2k, 5k, 10k, 20k seen cells.
    levels = [13, 16, 22] if options.quick else [13, 16, 22, 28, 34]
    with threadpool_limits(1):
        beside_peers(levels, options.largest_ridge)
        wide: list[tuple[int, ...]] = [(1000, 1000), (32,) * 4, (10,) * 6]
        alone([(60,) * 3, (126,) * 3] + ([] if options.quick else wide))
        full_products([(100,) * 3] if options.quick else [(1000,) * 2, (100,) * 3, (32,) * 4, (10,) * 6])


if __name__ == "__main__":
    main()
