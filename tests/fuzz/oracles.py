"""Verdicts of the package beside those of a world: what was looked at, and every difference in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import Any

import pandas as pd
from exact import Echelon, product
from worlds import DESIGNS, Cell, Drawn, World

import recombine as rc
from recombine.errors import InputError

#: Determined cells of a design whose certificates are added up, and open ones for which two models are made.
CELLS_PROVEN = 2


@dataclass
class Judged:
    """Cells that were compared by verdict, what else was checked, and what differed."""

    kind: str
    cells: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def compare(self, what: object, given: object, wanted: object) -> None:
        if given != wanted:
            self.wrong.append(f"{what}: {given} and not {wanted}")

    def compare_verdicts(self, given: Mapping[Cell, str], wanted: Mapping[Cell, str]) -> None:
        self.compare("cells judged", sorted(given.keys() - wanted.keys()), sorted(wanted.keys() - given.keys()))
        for cell, verdict in wanted.items():
            self.compare(cell, given.get(cell), verdict)
        self.cells += len(wanted)
        self.verdicts.update(wanted.values())


def judge_design(kind: str, draw: Random) -> Judged:
    """Read a drawn table as users do, and compare verdicts, counts, certificates and plans with those of its world."""
    drawn, judged = DESIGNS[kind](draw), Judged(kind)
    try:
        design = rc.Design.from_frame(drawn.table, **drawn.options)
    except InputError as error:
        judged.checks["refused"] += 1
        if drawn.world is not None:
            judged.wrong.append(f"refused: {error}")
        return judged
    if drawn.world is None:
        judged.wrong.append("taken, though too little varies in it to recombine")
        return judged
    drawn = replace(drawn, world=_with_inferred(judged, drawn, design))
    assert drawn.world is not None
    audit = rc.audit(design, order=drawn.world.order, targets=drawn.targets)
    wanted, listed = drawn.world.verdicts(), list(audit.verdicts.rows())
    given = {drawn.read(row): row["verdict"] for row in listed}
    if drawn.targets is None:  # seen cells are not listed then
        given |= {cell: "seen" for cell, verdict in wanted.items() if verdict == "seen" and cell not in given}
    judged.compare_verdicts(given, wanted)
    counts = {verdict.word: count for verdict, count in audit.decided.counts.by_verdict.items() if count}
    judged.compare("counts", counts, dict(Counter(wanted.values())))
    rows = {drawn.read(row): number for number, row in enumerate(listed)}
    _prove(judged, drawn, audit, {cell: rows[cell] for cell in sorted(rows) if cell in wanted}, wanted)
    _refuse_impossible(judged, drawn, audit)
    if drawn.forbidden:
        _check_plan(judged, drawn, audit, wanted)
    return judged


def _with_inferred(judged: Judged, drawn: Drawn, design: rc.Design) -> World:
    """The world with nesting that was inferred beside what was said, which has to hold in all rows."""
    world = drawn.world
    assert world is not None
    names, possible = list(world.levels), world.possible
    for item in design.space.nesting:
        if item.inferred:
            pairs = set(zip(drawn.table[item.child], drawn.table[item.parent], strict=True))
            judged.checks["inferred nesting"] += 1
            judged.compare(f"{item} in all rows", len(pairs), drawn.table[item.child].nunique())
            child, parent = names.index(item.child), names.index(item.parent)
            possible = tuple(cell for cell in possible if (cell[child], cell[parent]) in pairs)
    return replace(world, possible=possible)


def _prove(judged: Judged, drawn: Drawn, audit: Any, rows: Mapping[Cell, int], wanted: Mapping[Cell, str]) -> None:
    """Add up certificates of determined cells, and make two models that differ at open ones."""
    assert drawn.world is not None
    determined = [cell for cell in rows if wanted[cell] == "determined"][:CELLS_PROVEN]
    for cell in determined:
        certificate = audit.certificate(rows[cell])
        columns = audit.design.space.decode(certificate.cells)
        seen = [drawn.read(dict(zip(columns, labels, strict=True))) for labels in zip(*columns.values(), strict=True)]
        add_up(judged, drawn.world, cell, dict(zip(seen, certificate.weights, strict=True)))
    two_models(judged, drawn.world, [cell for cell in wanted if wanted[cell] in ("disconnected", "unseen level")])


def add_up(judged: Judged, world: World, cell: Cell, weights: Mapping[Cell, Fraction]) -> None:
    """Check that seen cells with these weights have the conjunctions of the cell, each as often as it has."""
    total: Counter[object] = Counter()
    for seen, weight in weights.items():
        for conjunction, count in world.features(seen).items():
            total[conjunction] += weight * count  # type: ignore[assignment]
    judged.checks["certificates"] += 1
    judged.compare(f"certificate of {cell}, seen cells", set(weights) <= world.seen, True)
    judged.compare(f"certificate of {cell}", {name: n for name, n in total.items() if n}, dict(world.features(cell)))


def two_models(judged: Judged, world: World, opened: list[Cell], limit: int = CELLS_PROVEN) -> None:
    """Show for open cells effects that are zero at all seen cells and not there, so that two models differ there."""
    span = Echelon(world.features(cell) for cell in sorted(world.seen))
    for cell in opened[:limit]:
        residual = span.residual(world.features(cell))
        judged.checks["two models"] += 1
        if not residual:
            judged.wrong.append(f"{cell}: no second model")
            continue
        effects = span.null_vector(next(iter(residual)))
        judged.compare(f"{cell}, models at seen cells", {product(world.features(c), effects) for c in world.seen}, {0})
        judged.compare(f"{cell}, models differ", product(world.features(cell), effects) != 0, True)


def _refuse_impossible(judged: Judged, drawn: Drawn, audit: Any) -> None:
    """Look for a refusal of a cell that cannot exist, asked for alone and among targets."""
    if drawn.impossible is None:
        return
    assert drawn.world is not None
    judged.checks["impossible"] += 1
    try:
        audit.certificate(list(drawn.impossible))
        judged.wrong.append(f"{drawn.impossible} has a certificate and cannot exist")
    except InputError as error:
        judged.compare(f"{drawn.impossible} is refused", "cannot exist" in str(error), True)
    names = list(drawn.world.levels)
    try:
        rc.audit(audit.design, targets=pd.DataFrame([drawn.impossible], columns=names))
        judged.wrong.append(f"{drawn.impossible} is judged and cannot exist")
    except InputError:
        pass


def _check_plan(judged: Judged, drawn: Drawn, audit: Any, wanted: Mapping[Cell, str]) -> None:
    """Check that a plan has no forbidden cell, no cell too many, and determines what cells that are allowed can."""
    world = drawn.world
    assert world is not None
    plan = audit.plan(None)
    columns = audit.design.space.decode(audit.design.seen[:0])
    labels = [tuple(factor.labels[code] for factor, code in zip(audit.design.factors, pick.cell, strict=True))
              for pick in plan.picks]  # fmt: skip
    picks = [drawn.read(dict(zip(columns, cell, strict=True))) for cell in labels]
    judged.checks["plans"] += 1
    judged.compare("forbidden picks", sorted(set(picks) & drawn.forbidden), [])
    judged.compare("picks that are seen", sorted(set(picks) & world.seen), [])
    allowed = [cell for cell in world.possible if cell not in drawn.forbidden]
    reachable = Echelon(world.features(cell) for cell in [*sorted(world.seen), *allowed])
    planned = Echelon(world.features(cell) for cell in [*sorted(world.seen), *picks])
    judged.compare("rank after the plan", planned.rank, reachable.rank)
    judged.compare("picks", len(picks), reachable.rank - Echelon(map(world.features, sorted(world.seen))).rank)
    opened = [cell for cell in wanted if wanted[cell] in ("disconnected", "unseen level")]
    judged.compare("open for ever", plan.beyond, sum(world.features(cell) not in reachable for cell in opened))
