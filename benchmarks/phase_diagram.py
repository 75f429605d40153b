"""The phase diagram of context dependence: one batched sweep beside one scikit-learn SVC fit a kernel.

Three tasks (CD-1, CD-2, CD-3), 2,556 kernels each, hard margin; same kernels, same cells, one thread, one process.
The released code of the paper fits ``SVC(kernel="precomputed", C=1e10)`` kernel by kernel; only that fit and its
predictions are timed here, not its eigenvalue check, its regression on conjunctions or its files. Run
``python benchmarks/phase_diagram.py`` (half a minute); ``--every 10`` times every tenth fit and multiplies.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from recombine.lab.papers.kernel_theory.experiments.context import kappa, simplex
from recombine.lab.tasks import Task, context_dependence
from recombine.theory.kernels.solvers.orbits import Quotient, solve_kernels

Array = np.ndarray[Any, Any]


def one_by_one(task: Task, values: Array) -> Array:
    """Return the mean unseen margin of each kernel, one SVC at a time."""
    overlap = (task.cells[:, None] == task.cells[None, task.train]).sum(axis=2)
    margins = np.empty(len(values))
    for place, kernel in enumerate(values):
        gram = kernel[overlap]
        machine = SVC(kernel="precomputed", C=1e10).fit(gram[task.train], task.target[task.train])
        margins[place] = (machine.decision_function(gram[task.test]) * task.target[task.test]).mean()
    return margins


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="fit every n-th kernel in the loop")
    every = parser.parse_args().every
    points = simplex(70)
    # Without whole-cell weight a hard margin may not exist; the loop would never end there.
    values = kappa(points[points[:, 2] > 0])
    totals = np.zeros(3)
    print(f"{len(values):,} kernels a task; the loop fits every {every}. kernel; one thread")
    heads = ("task", "hinge", "squared", "SVC loop", "ratio", "signs differ", "margins differ by")
    print("".join(head.rjust(18) for head in heads))
    for left_out in (3, 2, 1):
        spent, wrong, gap = beside_the_loop(context_dependence(left_out), values, every)
        totals += spent
        texts = [f"CD-{left_out}", *(f"{seconds:.3f} s" for seconds in spent), f"{spent[2] / spent[0]:.0f}x"]
        print("".join(text.rjust(18) for text in [*texts, str(wrong), f"{gap:.1e}"]))
    print(
        f"in all: hard margin {totals[0]:.3f} s, squared loss {totals[1]:.3f} s, loop {totals[2]:.1f} s; "
        f"ratio {totals[2] / totals[0]:.0f}x (goal 20x)"
    )


def beside_the_loop(task: Task, values: Array, every: int) -> tuple[list[float], int, float]:
    """Return seconds (ours with both losses, the loop), sign disagreements and the largest difference of margins."""
    start = time.perf_counter()
    quotient = Quotient.of(task.cells, task.target, task.train)
    ours = solve_kernels(quotient, values, "hinge").margin
    middle = time.perf_counter()
    solve_kernels(quotient, values, "squared")
    end = time.perf_counter()
    loop = one_by_one(task, values[::every])
    spent = (time.perf_counter() - end) * len(values) / len(loop)
    # libsvm stops at a tolerance of 1e-3, so margins that close to zero say nothing.
    clear = np.abs(ours[::every]) > 2e-3
    wrong = int((np.sign(loop) != np.sign(ours[::every]))[clear].sum())
    return [middle - start, end - middle, spent], wrong, float(np.abs(loop - ours[::every]).max())


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
