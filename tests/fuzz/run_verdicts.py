"""Judge drawn designs and structures of every kind by exact oracles, and print how many cells of each were compared.

    python tests/fuzz/run_verdicts.py --cells 100000 --seed 0 --workers 2
    python tests/fuzz/run_verdicts.py --kind multiplicative --seed 0 --case 36     # one design again, all differences

Every kind gets the same number of cells. What differs is printed with the number that draws it again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]

from oracles import Judged, judge_design  # noqa: E402
from structure_worlds import STRUCTURE_KINDS  # noqa: E402
from worlds import DESIGNS  # noqa: E402

#: Every kind of which verdicts are judged.
KINDS = (*DESIGNS, *STRUCTURE_KINDS)
#: Designs that a worker judges before it counts what was done.
BATCH = 10


def judge(kind: str, seed: int, number: int) -> Judged:
    """Draw and judge one design; the same three give the same one."""
    draw = Random(f"{seed}/{kind}/{number}")
    return judge_design(kind, draw) if kind in DESIGNS else STRUCTURE_KINDS[kind](kind, draw)


def _batch(task: tuple[str, int, int]) -> tuple[Judged, list[str], int]:
    """Judge some designs; return them as one, what differed with its number, and how many had cells."""
    kind, seed, start = task
    total, differences, designs = Judged(kind), [], 0
    for number in range(start, start + BATCH):
        judged = judge(kind, seed, number)
        total.cells += judged.cells
        total.verdicts += judged.verdicts
        total.checks += judged.checks
        total.wrong += judged.wrong[:1]
        designs += judged.cells > 0
        differences += [f"WRONG {kind} case {number} of seed {seed}: {text}" for text in judged.wrong[:3]]
    return total, differences, designs


def judge_kind(kind: str, seed: int, cells: int, pool: multiprocessing.pool.Pool) -> tuple[Judged, int]:
    """Judge designs of one kind until so many cells were compared."""
    total, designs, start = Judged(kind), 0, 0
    while total.cells < cells:
        # About as many designs as are still missing, by what those so far had.
        each = total.cells / designs if designs else 25
        batches = max(1, min(200, round((cells - total.cells) / each / BATCH)))
        tasks = [(kind, seed, start + BATCH * number) for number in range(batches)]
        for judged, differences, count in pool.imap_unordered(_batch, tasks):
            total.cells += judged.cells
            total.verdicts += judged.verdicts
            total.checks += judged.checks
            total.wrong += judged.wrong
            designs += count
            for text in differences:
                print(text[:400], flush=True)
        start += BATCH * batches
    return total, designs


def _line(name: str, designs: int, cells: int, wrong: int, verdicts: Counter[str], checks: Counter[str]) -> str:
    shown = ["seen", "determined", "disconnected", "unseen level", "beyond the seen range"]
    counts = " ".join(f"{verdicts[word]:>9,}" for word in shown)
    also = ", ".join(f"{word} {count:,}" for word, count in sorted(checks.items()))
    return f"{name:<15}{designs:>8,}{cells:>9,}{wrong:>7,}  {counts}  {also}"


def main() -> int:
    """Judge the kinds that are named, all unless any is; 1 if a verdict was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=20_000, help="cells to compare, shared by the kinds")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--case", type=int, help="judge this design alone")
    options = parser.parse_args()
    kinds = options.kind or list(KINDS)
    if options.case is not None:
        judged = [judge(kind, options.seed, options.case) for kind in kinds]
        print("\n".join(text for entry in judged for text in [f"{entry.kind}: {entry.cells} cells", *entry.wrong]))
        return 1 if any(entry.wrong for entry in judged) else 0
    begun, totals, designs = time.monotonic(), Judged("all"), 0
    print(f"{'kind':<15}{'designs':>8}{'cells':>9}{'wrong':>7}       seen   determ. disconn. uns.level   beyond  also")
    with multiprocessing.Pool(options.workers) as pool:
        for kind in kinds:
            entry, count = judge_kind(kind, options.seed, -(-options.cells // len(kinds)), pool)
            print(_line(kind, count, entry.cells, len(entry.wrong), entry.verdicts, entry.checks), flush=True)
            totals.cells += entry.cells
            totals.verdicts += entry.verdicts
            totals.wrong += entry.wrong
            designs += count
    print(_line("all", designs, totals.cells, len(totals.wrong), totals.verdicts, totals.checks))
    print(
        f"{totals.cells:,} cells of {designs:,} designs in {time.monotonic() - begun:.0f} s, {len(totals.wrong)} wrong"
    )
    return 1 if totals.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
