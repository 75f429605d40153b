"""Write the vectors by which the page's engine and this package are held to the same answers.

Run ``python tools/page_vectors.py``. The file ``page/test/vectors/designs.json.gz`` holds 500 designs of every kind
with what this package says of each: verdicts, ranks, leverages, values that follow, what networks say, slopes and cells
to collect. ``tests/architecture/test_page_vectors.py`` replays it here and ``page/test/vectors.test.ts`` in the page.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import comb

from recombine.cells.conjunctions import Conjunctions, canonical, every_arrangement, every_cell
from recombine.design.design import Design
from recombine.jobs.advice.plan import plan
from recombine.jobs.audit.forecast import read_factors
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.identification.identify import Identification, identify
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.solvers.solve import kernel_expansion, solve
from recombine.theory.structures.kinds.link import fit_link
from recombine.verdicts import Verdict

TARGET = Path(__file__).parents[1] / "page" / "test" / "vectors" / "designs.json.gz"
NUMBER = 500
LARGEST_PRODUCT = {2: 150, 3: 130, 4: 140}
DEPTHS = (1, 2, 5, 20)
KERNELS = {"ntk": OverlapKernel.ntk, "nngp": OverlapKernel.relu}
#: Every so many designs what networks say is stored, and the fit of a curve: they are long lists.
NETWORK_EVERY, LINK_EVERY = 3, 3
#: In every so many designs the seen cells were measured one to five times.
WEIGHTS_EVERY = 4
#: Noise below this share of the outcome's variance: as many terms as cells, where rounding decides among curves.
EXACT_FIT = 1e-9

Flags = npt.NDArray[np.bool_]
Stored = dict[str, Any]


def sparse(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """A few cells at random."""
    return generator.random(sizes) < generator.uniform(0.08, 0.3)


def dense(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """Most cells at random."""
    return generator.random(sizes) < generator.uniform(0.5, 0.95)


def islands(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """Blocks of levels that share no cell, with a bridge now and then."""
    sides = [generator.integers(2 + generator.integers(2), size=size) for size in sizes]
    grids = np.meshgrid(*sides, indexing="ij")
    together = np.logical_and.reduce([grid == grids[0] for grid in grids])
    bridged = generator.random(sizes) < generator.choice([0.0, 0.02])
    return (together & (generator.random(sizes) < 0.8)) | bridged


def holes(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """Everything but a rectangle, and a level that is never seen now and then."""
    hole = np.ix_(*[generator.random(size) < 0.6 for size in sizes])
    seen = np.ones(sizes, dtype=bool)
    seen[hole] = False
    if generator.random() < 0.4:
        seen[generator.integers(sizes[0])] = False
    return seen


def nested(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """Each level of the second factor goes with one level of the first."""
    home = generator.integers(sizes[0], size=sizes[1])
    inside = home[None, :] == np.arange(sizes[0])[:, None]
    return (generator.random(sizes) < 0.8) & inside.reshape(inside.shape + (1,) * (len(sizes) - 2))


def anchors(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """Cells with at least one of a few anchor levels: the task of adding numbers."""
    level = np.stack(np.meshgrid(*[generator.random(size) < 1.5 / size for size in sizes], indexing="ij"))
    return np.asarray(level.any(axis=0))


def diagonal(generator: np.random.Generator, sizes: list[int]) -> Flags:
    """Levels near one another: long chains, so that values are shaky."""
    places = np.stack(np.meshgrid(*[np.arange(size) / size for size in sizes], indexing="ij"))
    return np.asarray(np.ptp(places, axis=0) < generator.uniform(0.25, 0.6))


KINDS: dict[str, Callable[[np.random.Generator, list[int]], Flags]] = {
    kind.__name__: kind for kind in (sparse, dense, islands, holes, nested, anchors, diagonal)
}


def draw_design(generator: np.random.Generator, number: int) -> Stored:
    """Return sizes, order, seen cells and outcomes; every eighth design has two interchangeable factors."""
    names = list(KINDS)
    factors = int(generator.choice([2, 2, 3, 3, 4]))
    while True:
        sizes = [int(size) for size in generator.integers(2, {2: 14, 3: 8, 4: 5}[factors], size=factors)]
        symmetric = [[0, 1]] if number % 8 == 7 else []
        if symmetric:
            sizes[1] = sizes[0]
        if math.prod(sizes) <= LARGEST_PRODUCT[factors]:
            break
    order = int(generator.integers(1, min(factors, 3) + 1)) if generator.random() < 0.85 else 1
    kind = names[number % len(names)]
    seen = KINDS[kind](generator, sizes)
    seen.reshape(-1)[generator.integers(seen.size)] = True
    if symmetric:
        seen |= seen.swapaxes(0, 1)
    outcome = _outcome(generator, sizes, bool(symmetric))
    often = generator.integers(1, 6, size=seen.size) if number % WEIGHTS_EVERY == 0 else None
    return {
        "kind": kind,
        "sizes": sizes,
        "order": order,
        "symmetric": symmetric,
        "seen": _digits(seen),
        "outcome": outcome.reshape(-1).tolist(),
        "weights": None if often is None else often.tolist(),
    }


def _outcome(generator: np.random.Generator, sizes: list[int], twins: bool) -> npt.NDArray[np.int64]:
    """Whole numbers: effects, bent upwards, and noise."""
    effects = [generator.normal(size=size) for size in sizes]
    if twins:
        effects[1] = effects[0]
    total = np.sum(np.meshgrid(*effects, indexing="ij"), axis=0)
    value = np.rint(40 * np.sinh(total / 2) + 3 * generator.normal(size=sizes)).astype(np.int64)
    return value + value.swapaxes(0, 1) if twins else value


def _digits(codes: npt.NDArray[Any]) -> str:
    return "".join(str(int(code)) for code in codes.reshape(-1))


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Thirteen digits; None where there is no number."""
    return [None if math.isnan(value) else float(f"{value:.13g}") for value in map(float, values)]


def answers(stored: Stored, number: int) -> Stored:
    """Return what this package says of a stored design."""
    sizes, order, groups = stored["sizes"], stored["order"], [tuple(group) for group in stored["symmetric"]]
    cells = every_cell(sizes)
    seen = np.array(list(stored["seen"])) == "1"
    outcome = np.array(stored["outcome"], dtype=float)
    kept = seen & (cells == canonical(cells, groups)).all(axis=1)
    found = identify(cells[kept], order=order, sizes=sizes, symmetric=groups)
    codes = found.verdicts
    told = codes <= Verdict.DETERMINED
    often = _weights(stored)
    fit = fit_additive(Conjunctions(tuple(sizes), order, tuple(groups)), cells[kept], outcome[kept], often[kept])
    design = Design.from_cells(
        np.repeat(cells[kept], often[kept], axis=0),
        np.repeat(outcome[kept], often[kept]),
        sizes=sizes,
        symmetric=groups,
    )
    result: Stored = {
        "verdicts": _digits(codes),
        "rank": found.rank,
        "deficit": found.deficit,
        "leverage": _numbers(found.leverage_of(cells[told])),
        "additive": _numbers(fit.predict(cells[told])),
        "certificates": _lengths(found, cells, codes),
        "picks": _picks(design, order),
    }
    if number % NETWORK_EVERY == 0:
        result["networks"] = _networks(stored, number, design, cells, kept)
    if number % LINK_EVERY == 1 and kept.sum() >= 12:
        result["link"] = _link(stored, cells, kept, outcome, groups)
    return result


def _lengths(found: Identification, cells: npt.NDArray[np.int64], codes: npt.NDArray[np.uint8]) -> list[int]:
    """Return how many seen cells the certificates of the first determined cells have; two factors at order 1 only."""
    if found.route != "graph":
        return []
    return [len(found.certificate_of(cell.tolist())) for cell in cells[codes == Verdict.DETERMINED][:12]]


def _weights(stored: Stored) -> npt.NDArray[np.int64]:
    """Return how often each cell was measured."""
    return np.array(stored["weights"] or [1] * len(stored["outcome"]), dtype=np.int64)


def _picks(design: Design, order: int) -> list[list[Any]]:
    found = plan(design, order, 4)
    places = [int(np.ravel_multi_index(pick.cell, design.sizes)) for pick in found.picks]
    return [[at, pick.reason, *_numbers([pick.gain])] for at, pick in zip(places, found.picks, strict=True)]


def _networks(stored: Stored, number: int, design: Design, cells: npt.NDArray[np.int64], kept: Flags) -> Stored:
    groups, outcome = list(design.symmetric), np.array(stored["outcome"], dtype=float)
    depth = DEPTHS[number // NETWORK_EVERY % len(DEPTHS)]
    told: dict[tuple[str, int], npt.NDArray[np.float64]] = {}
    shown = every_arrangement(cells[kept], groups)
    answer = outcome[np.ravel_multi_index(tuple(shown.T), stored["sizes"])]
    found: Stored = {"depth": depth}
    for name, make in KERNELS.items():
        kernel = make(depth, cells.shape[1])
        solution = solve(kernel, shown, answer, intercept=True)
        told[name, 1] = kernel_expansion(kernel, shown, solution.value, cells) + float(solution.intercept)
        found[name] = {"kernel": _numbers(kernel.table), "predictions": _numbers(told[name, 1])}
    first = identify(design.seen, sizes=stored["sizes"], symmetric=groups)
    rows = np.flatnonzero((first.verdicts == Verdict.DETERMINED) & (cells == canonical(cells, groups)).all(axis=1))
    if len(rows) < 8 or np.ptp(outcome[kept]) == 0:
        return found | {"slopes": None}
    fit = fit_additive(design.features(1), cells[kept], outcome[kept], _weights(stored)[kept])
    for truth in (None, outcome[rows]):
        table, shortcuts = read_factors(
            design, fit, cells[rows], {key: one[rows] for key, one in told.items()}, truth, None
        )
        found["slopes" if truth is None else "slopes with truth"] = {
            "ntk": _numbers(table["ntk"]),
            "nngp": _numbers(table["nngp"]),
            "effect": _numbers(table["effect"]),
            "pull": _numbers(one.pull for one in shortcuts),
            "size": _numbers(one.size for one in shortcuts),
            "share": _numbers(one.share for one in shortcuts),
        }
    return found


def _link(
    stored: Stored,
    cells: npt.NDArray[np.int64],
    kept: Flags,
    outcome: npt.NDArray[np.float64],
    groups: list[tuple[int, ...]],
) -> Stored | None:
    order = min(stored["order"], 2)
    fit = fit_link(cells[kept], outcome[kept], order, weights=_weights(stored)[kept], symmetric=groups)
    if fit.noise < EXACT_FIT * outcome[kept].var():
        return None
    departing = (cells != fit.terms.reference).sum(axis=1)
    covered = fit.terms.matrix(cells).sum(axis=1) == sum(comb(departing, size) for size in range(1, order + 1))
    return {
        "order": order,
        "values": _numbers(np.where(covered, fit.predict(cells), np.nan)),
        "knots": len(fit.curve.knots),
        "rounds": fit.rounds,
        "noise": _numbers([fit.noise])[0],
    }


def read() -> list[Stored]:
    """Return the stored designs with their answers."""
    found: list[Stored] = json.loads(gzip.decompress(TARGET.read_bytes()))
    return found


def main() -> None:
    """Write the file."""
    generator = np.random.default_rng(20261116)
    designs = [draw_design(generator, number) for number in range(NUMBER)]
    lines = [json.dumps(one | answers(one, number), separators=(",", ":")) for number, one in enumerate(designs)]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(gzip.compress(("[\n" + ",\n".join(lines) + "\n]\n").encode(), 9, mtime=0))
    cells = sum(len(one["seen"]) for one in designs)
    print(f"{TARGET.name}: {NUMBER} designs, {cells:,} cells, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
