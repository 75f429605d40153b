"""What the served page asks and the audit answers: the table, windows of its map, levels, one cell, its proof."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import words
from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import canonical
from recombine.design.targets import why_impossible
from recombine.errors import InputError, SolverError
from recombine.explore.map_view import MapView
from recombine.explore.scene import scene_of, unshown
from recombine.jobs.audit.certificates import MAX_TERMS_WRITTEN, certificate_terms, certificate_variance
from recombine.report.audit.embedded_cells import IMPOSSIBLE
from recombine.table_spec import spec_command
from recombine.tables.grouping import RowsAre
from recombine.verdicts import Verdict
from recombine.writing import amount, printable, round_estimate, written_count

if TYPE_CHECKING:
    from recombine.jobs.advice.plan import Plan
    from recombine.jobs.audit.audit import Audit

#: Levels that a search returns at most.
MAX_LEVELS_FOUND = 20
#: Seconds that one certificate waits for another to be found.
ENGINE_WAIT_SECONDS = 20.0


class NotInTableError(InputError):
    """What is asked about is no factor, level or cell of the table."""


class BusyError(InputError):
    """Another certificate is still being looked for."""


class TableAnswers:
    """The audit of one table, asked by the page. Safe to ask from several threads.

    Everything that takes long is worked out when this is made; then only certificates of large designs do.

    ``plan`` is what to collect next, ``command`` what repeats the run; by default as the design's spec says.

    Examples
    --------
    >>> import recombine as rc
    >>> audit = rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], outcome=[1.0, 2.0, 4.0]))
    >>> asked = TableAnswers(audit, audit.plan(1))
    >>> asked.cell([1, 1])["word"], round(asked.cell([1, 1])["value"]["predicted"], 6)
    ('determined', 5.0)
    >>> [term["sign"] for term in asked.certificate([1, 1])["terms"]]
    ['+', '+', '−']
    """

    def __init__(self, audit: Audit, plan: Plan | None = None, command: str = "") -> None:
        self.audit, self.plan, self.command = audit, plan, command
        self.view = MapView(audit)
        self._engine, self._proofs = Lock(), Lock()
        self.record = self._record()
        # Threads then find worked out what they share.
        _ = audit.values.ranges, self._lowered
        if audit.values.fit is not None:
            audit.values.ranges_of(audit.design.seen[:1])
            with suppress(SolverError, InputError):
                audit.decided.leverage_of(audit.design.seen[:1])

    @cached_property
    def _lowered(self) -> list[list[str]]:
        return [[printable(label).lower() for label in factor.labels] for factor in self.audit.design.factors]

    def _record(self) -> dict[str, Any]:
        audit, design = self.audit, self.audit.design
        off, on_lines = unshown(design, audit.order), any(scale is not None for scale in design.scales)
        command = self.command or spec_command("explore", design.reading.source, design.spec)
        return {
            "source": printable(design.reading.source),
            "command": printable(command),
            "dropped": printable(words.page.DROPPED.format(command=command)),
            "factors": [{"name": printable(factor.name), "levels": len(factor.levels)} for factor in design.factors],
            "outcome": design.outcome_column.name and printable(design.outcome_column.name),
            "assumption": audit.choice.assumption,
            "rows": words.table.rows_phrase(audit.coverage),
            "cells": written_count(design.possible.count),
            "verdicts": [self._verdict(verdict) for verdict in Verdict],
            "sampled": audit.decided.counts.sampled,
            "answer": words.audit_answer.audit_answer(audit, self.plan).sentences,
            "findings": [item.record | {"subjects": list(map(printable, item.subjects))} for item in audit.findings],
            "left_out": [printable(sentence) for sentence in words.verdicts.left_out_sentences(audit)],
            "next": self._next(),
            "start": self.view.start,
            "by_name": words.page.level_orders(on_lines),
            "scene": None if off else scene_of(design, audit.order),
            "unpainted": printable(words.page.painting_off(off)),
        }

    def _verdict(self, verdict: Verdict) -> dict[str, Any]:
        counts = self.audit.decided.counts
        exact = counts.exact or verdict in (Verdict.SEEN, Verdict.UNSEEN_LEVEL) or not counts[verdict]
        count = counts[verdict] if exact else round_estimate(counts[verdict])
        return {
            "word": verdict.word,
            "symbol": verdict.symbol,
            "colour": verdict.colour,
            "meaning": self._meaning(verdict),
            "count": f"{'' if exact else 'about '}{written_count(count)}",
            "none": not counts[verdict],
        }

    def _meaning(self, verdict: Verdict) -> str:
        return words.verdicts.verdict_meaning(verdict, self.audit.choice.assumption)

    def _next(self) -> dict[str, Any]:
        plan = self.plan
        if plan is None:
            return {"text": "", "cells": []}
        cells = [
            {**self._named(np.array(pick.cell)), "gain": printable(words.plan.gain_text(plan, pick))}
            for pick in plan.picks
        ]
        text = f"{words.plan.plan_sentence(plan)} {words.plan.first_sentence(plan)}".strip()
        return {"text": printable(text), "cells": cells}

    def _named(self, cell: IntArray) -> dict[str, Any]:
        """Numbers and names of a cell's levels; of columns that were taken apart also the text they stand for."""
        design = self.audit.design
        labels = [factor.labels[int(level)] for factor, level in zip(design.factors, cell, strict=True)]
        text = {"text": design.label(cell)} if design.space.parts else {}
        return {"cell": cell.tolist(), "labels": list(map(printable, labels)), **text}

    def checked(self, levels: Sequence[int]) -> IntArray:
        """Return a cell (C,) given by its level numbers, or raise `NotInTableError`."""
        factors = self.audit.design.factors
        if len(levels) != len(factors):
            raise InputError(
                f"the cell has {len(levels)} levels, and the table {len(factors)} factors; give one of each"
            )
        return np.array([self._level(factor, level) for factor, level in enumerate(levels)], dtype=np.int64)

    def _level(self, factor: int, level: int) -> int:
        named = self.audit.design.factors[self.factor(factor)]
        if not 0 <= level < len(named.levels):
            raise NotInTableError(
                f"{named.name} has no level number {level}; they run from 0 to {len(named.levels) - 1}"
            )
        return level

    def factor(self, factor: int) -> int:
        """Return the place of a factor if there is such a one, or raise `NotInTableError`."""
        if not 0 <= factor < len(self.audit.design.factors):
            raise NotInTableError(f"the table has no factor number {factor}; it has {len(self.audit.design.factors)}")
        return factor

    def window(
        self, sides: tuple[int, int], at: Sequence[int], first: tuple[int, int] | None, shape: tuple[int, int], by: str
    ) -> dict[str, Any]:
        """Return a window of the map, so many rows and columns from ``first`` on, or around the cell ``at``."""
        sides = self._sides(sides)
        with self._engine:
            return self.view.window(sides, self.checked(at), first, shape, by)

    def bins(self, sides: tuple[int, int], at: Sequence[int], by: str) -> dict[str, Any]:
        """Return the whole slice of the map through the cell ``at``, levels gathered into bins."""
        sides = self._sides(sides)
        with self._engine:
            return self.view.bins(sides, self.checked(at), by)

    def _sides(self, sides: tuple[int, int]) -> tuple[int, int]:
        row, column = map(self.factor, sides)
        if row == column:
            raise InputError("rows and columns are the same factor; choose two")
        return row, column

    def levels(self, factor: int, text: str) -> list[dict[str, Any]]:
        """Return the levels whose names hold ``text``: the name itself first, then names that begin with it.

        Each by name, numbers by size.
        """
        labels, lowered = self.audit.design.factors[self.factor(factor)].labels, self._lowered[factor]
        wanted = text.strip().lower()
        ranks: tuple[list[int], ...] = ([], [], [])
        for level in self.view.orders["name"][factor].tolist():
            if wanted in (name := lowered[level]):
                ranks[0 if name == wanted else 1 if name.startswith(wanted) else 2].append(level)
                if len(ranks[0]) + len(ranks[1]) >= MAX_LEVELS_FOUND and not wanted:
                    break
        matches = [level for rank in ranks for level in rank][:MAX_LEVELS_FOUND]
        return [{"level": level, "label": printable(labels[level])} for level in matches]

    def beside(self, factor: int, level: int, by: str, *, back: bool) -> dict[str, Any]:
        """Return the level that stands before (``back``) or after another of its factor."""
        neighbour = self.view.beside(factor, self._level(factor, level), -1 if back else 1, by)
        return {"level": neighbour, "label": printable(self.audit.design.factors[factor].labels[neighbour])}

    def cell(self, levels: Sequence[int]) -> dict[str, Any]:
        """Return what is known of one cell but for its certificate: verdict, value and range, all as `Audit` has it."""
        design, asked = self.audit.design, self.checked(levels)
        cell, record = canonical(asked[None], design.symmetric)[0], self._named(asked)
        if reason := why_impossible(design, cell):
            sentence = printable(words.page.CANNOT_EXIST.format(reason=reason))
            return record | {"code": IMPOSSIBLE, "word": "cannot exist", "sentence": sentence}
        with self._engine:
            verdict = Verdict(int(self.audit.decided.verdicts_of(cell[None])[0]))
            record |= {"code": int(verdict), "word": verdict.word}
            if verdict is Verdict.SEEN:
                return record | {"sentence": self._meaning(verdict), **self._seen(cell)}
            value = self._value(cell, verdict)
            facts = words.page.value_facts(value, printable(design.outcome_column.name or ""))
            record |= {"value": value, "facts": [*facts, *self._held_out(cell)]}
            if verdict is Verdict.DETERMINED:
                return record | {"sentence": self._meaning(verdict)}
            lead, *more = words.certificates.explanation_lines(self.audit, cell)
        # The facts give value and range.
        more = [line for line in more if not line.startswith("90 % range")]
        return record | {"sentence": lead.removeprefix(f"{verdict.word}. "), "lines": more}

    def _value(self, cell: IntArray, verdict: Verdict) -> dict[str, float | None]:
        leverage, decided = np.array([np.nan]), self.audit.decided
        with suppress(SolverError):
            # Where each cell takes a solve of its own, it comes with the certificate.
            if verdict is Verdict.DETERMINED and not decided.leverages.solved_singly:
                leverage = decided.leverage_of(cell[None])
        ranges = self.audit.values.ranges_of(cell[None], leverage)
        columns = {"predicted": ranges.predicted, "error": ranges.standard_error, "low": ranges.low}
        columns |= {"high": ranges.high, "certified": ranges.certified, "leverage": leverage}
        return {name: None if np.isnan(column[0]) else float(column[0]) for name, column in columns.items()}

    def _row(self, cell: IntArray, *, train: bool) -> int | None:
        """The row of a cell (C,) among the training or the held-out ones; None if it has none there."""
        design = self.audit.design  # whose cells have interchangeable levels in order
        rows = np.flatnonzero((design.cells == cell).all(axis=1) & (design.train == train))
        return int(rows[0]) if len(rows) else None

    def _held_out(self, cell: IntArray) -> list[tuple[str, str]]:
        row, outcome = self._row(cell, train=False), self.audit.design.outcome
        return [] if row is None or outcome is None else [("measured, but held out", f"{outcome[row]:.6g}")]

    def _seen(self, cell: IntArray) -> dict[str, Any]:
        design, row = self.audit.design, self._row(cell, train=True)
        facts = [("rows", f"{int(design.observed.rows[row or 0]):,}")]
        if design.observed.rows_are is not RowsAre.MEASUREMENTS:
            facts.append(("measurements", amount(float(design.precision[row or 0]))))
        if design.outcome is None or row is None:
            return {"measured": None, "facts": facts}
        value = float(design.outcome[row])
        return {
            "measured": value,
            "facts": [(printable(f"mean {design.outcome_column.name or 'outcome'}"), f"{value:.6g}"), *facts],
        }

    def certificate(self, levels: Sequence[int]) -> dict[str, Any]:
        """Return the certificate of a determined cell: signed seen cells, and the lines of `Audit.explain`."""
        design = self.audit.design
        cell = canonical(self.checked(levels)[None], design.symmetric)[0]
        if reason := why_impossible(design, cell):
            raise NotInTableError(f"{design.label(cell)} cannot exist: {reason}")
        # Some searches take long; those that wait for one are not let pile up.
        if not self._proofs.acquire(timeout=ENGINE_WAIT_SECONDS):
            raise BusyError("another certificate is still being looked for; ask again")
        try:
            return self._proof(cell)
        finally:
            self._proofs.release()

    def _proof(self, cell: IntArray) -> dict[str, Any]:
        verdict = Verdict(int(self.audit.decided.verdicts_of(cell[None])[0]))
        if verdict is not Verdict.DETERMINED:
            raise NotInTableError(f"{self.audit.design.label(cell)} is {verdict.word}, so it has no certificate")
        try:
            certificate = self.audit.decided.identification.certificate_of(cell.tolist())
        except SolverError as error:
            return {"terms": [], "further": 0, "lines": [words.page.NO_CERTIFICATE.format(error=error)]}
        _, *lines = words.certificates.explanation_lines(self.audit, cell, certificate)
        terms = [
            {**self._named(row), "sign": term.sign, "weight": term.weight}
            | ({} if term.observed is None else {"observed": f"{term.observed:.6g}"})
            for row, term in zip(certificate.cells, certificate_terms(self.audit.decided, certificate), strict=True)
        ]
        # The first lines give the value and range, which the page has said.
        repeated = ("predicted", "90 % range", "certified", "leverage", "certificate")
        lines = [line for line in lines if not line.startswith(repeated)]
        variance = f"with variance {certificate_variance(self.audit.design, certificate):.3g}"
        lines = [line.replace(variance, f"{variance} {words.page.UNIT}") for line in lines]
        return {"terms": terms[:MAX_TERMS_WRITTEN], "further": max(len(terms) - MAX_TERMS_WRITTEN, 0), "lines": lines}
