"""Verdicts of a million cells, and statsmodels' `isestimable` side by side where it can run at all.

Run: ``python benchmarks/identify.py``. One thread; times are the best of three, memory is the peak of Python's
allocations in a separate run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.cells import Conjunctions, every_cell
from recombine.theory.identification.identify import Identification, identify
from recombine.verdicts import Verdict

#: (sizes, order, share of cells seen, seconds the goal allows)
GOALS = [
    ((1000, 1000), 1, 0.5, 0.1),
    ((100, 100, 100), 2, 0.05, 1.5),
    ((100, 100, 100), 2, 0.5, 1.5),
    ((32, 32, 32, 32), 3, 0.15, 10.0),
]

SIDE_BY_SIDE = [((10, 10), 1, 0.2), ((6, 6, 6), 1, 0.1), ((6, 6, 6), 2, 0.45), ((10, 10, 10), 2, 0.35)]


def random_seen(sizes: tuple[int, ...], share: float, seed: int = 0) -> np.ndarray:
    cells = every_cell(sizes)
    return cells[np.random.default_rng(seed).random(len(cells)) < share]


def best_of(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def peak_of(call: Callable[[], Any]) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def judged(seen: np.ndarray, sizes: tuple[int, ...], order: int) -> Identification:
    answer = identify(seen, order=order, sizes=sizes)
    _ = answer.verdicts
    return answer


def goals(repeats: int) -> None:
    print("All verdicts of a product of about a million cells, one thread")
    print(f"{'sizes':>20} order  seen   route       time    goal    peak   determined  undecided  gap")
    for sizes, order, share, limit in GOALS:
        seen = random_seen(sizes, share)
        judged(seen[:50], sizes, order)  # imports
        seconds, answer = best_of(lambda seen=seen, sizes=sizes, order=order: judged(seen, sizes, order), repeats)
        peak = peak_of(lambda seen=seen, sizes=sizes, order=order: judged(seen, sizes, order))
        share_of = [float(np.mean(answer.verdicts == v)) for v in (Verdict.DETERMINED, Verdict.UNDECIDED)]
        gap = "exact" if answer.gap is None else f"{answer.gap.zero:.0e} | {answer.gap.nonzero:.0e}"
        mark = "ok" if seconds <= limit else "OVER"
        print(
            f"{'x'.join(map(str, sizes)):>20} {order:5d} {share:5.0%}   {answer.route:10s} {seconds:6.3f} s "
            f"{limit:4.1f} s {mark} {peak:5.0f} MB {share_of[0]:9.1%} {share_of[1]:9.1%}   {gap}"
        )


def by_statsmodels(seen: np.ndarray, unseen: np.ndarray, sizes: tuple[int, ...], order: int) -> np.ndarray:
    from statsmodels.tools.tools import isestimable

    features = Conjunctions(sizes, order)
    design, rows = features.incidence(seen).toarray(), features.incidence(unseen).toarray()
    return np.array([isestimable(row, design) for row in rows])


def side_by_side(repeats: int) -> None:
    print(
        "\nAll unseen cells, ours and statsmodels' isestimable (dense rank, one call a cell), best of the same repeats;"
    )
    print("statsmodels is timed on the stated number of cells and its time scaled up, since every call costs the same")
    print(f"{'sizes':>20} order  seen  unseen     ours   statsmodels (timed)   ratio  agree on timed cells")
    by_statsmodels(*[every_cell((2, 2))] * 2, (2, 2), 1)  # imports
    for sizes, order, share in SIDE_BY_SIDE:
        cells = every_cell(sizes)
        mask = np.random.default_rng(1).random(len(cells)) < share
        seen, unseen = cells[mask], cells[~mask]
        ours, answer = best_of(
            lambda seen=seen, unseen=unseen, sizes=sizes, order=order: (
                identify(seen, unseen, order, sizes=sizes).verdicts
            ),
            repeats,
        )
        some = unseen[:: max(len(unseen) // 40, 1)]
        theirs, expected = best_of(
            lambda seen=seen, some=some, sizes=sizes, order=order: by_statsmodels(seen, some, sizes, order), repeats
        )
        theirs *= len(unseen) / len(some)
        agree = np.array_equal(answer[:: max(len(unseen) // 40, 1)] == Verdict.DETERMINED, expected)
        print(
            f"{'x'.join(map(str, sizes)):>20} {order:5d} {share:5.0%} {len(unseen):7d} {ours * 1e3:6.1f} ms "
            f"{theirs:10.2f} s ({len(some):3d})  {theirs / ours:9.0f}x  {'yes' if agree else 'NO'}"
        )


def exact_reach() -> None:
    print("\nThe exact route by size (three factors)")
    for size, order, share in [(200, 1, 0.0003), (600, 1, 1e-5), (600, 1, 2e-5), (18, 2, 0.3), (24, 2, 0.17)]:
        generator = np.random.default_rng(0)
        seen = generator.integers(0, size, (int(share * size**3), 3))
        seconds, answer = best_of(
            lambda seen=seen, size=size, order=order: identify(seen, seen[:1], order, sizes=(size,) * 3, route="exact"),
            1,
        )
        columns = len(answer.null.columns)
        print(
            f"  {size}^3 order {order}: {len(answer.seen)} seen, {columns} columns, rank {answer.rank}: {seconds:.2f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    goals(arguments.repeats)
    side_by_side(arguments.repeats)
    exact_reach()


if __name__ == "__main__":
    main()
