"""Exact linear algebra for oracles, from textbooks and without the package: echelon forms and cones.

A row is a dictionary from names of columns to numbers: fractions, or integers modulo a prime. Nothing is rounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

Row = Mapping[Hashable, Fraction | int]
Reduced = dict[Hashable, Fraction | int]


class Echelon:
    """Rows in reduced echelon form: over the fractions, or over the integers modulo a prime."""

    def __init__(self, rows: Iterable[Row], modulus: int = 0) -> None:
        self.modulus = modulus
        self.pivots: dict[Hashable, Reduced] = {}
        for row in rows:
            self._add(self.residual(row))

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def residual(self, row: Row) -> Reduced:
        """What remains of a row once multiples of the rows are taken away; it has no pivot's column."""
        remainder = {column: self._number(value) for column, value in row.items() if self._number(value)}
        for column in [column for column in remainder if column in self.pivots]:
            self._subtract(remainder, self.pivots[column], remainder[column])
        return remainder

    def __contains__(self, row: Row) -> bool:
        return not self.residual(row)

    def null_vector(self, free: Hashable) -> Reduced:
        """The vector that is 1 at a column without pivot, 0 at other such columns, and orthogonal to all rows."""
        vector = {free: self._number(1)}
        for pivot, row in self.pivots.items():
            if free in row:
                vector[pivot] = self._number(-row[free])
        return vector

    def _add(self, residual: Reduced) -> None:
        if not residual:
            return
        pivot, value = next(iter(residual.items()))
        scale = Fraction(1) / value if not self.modulus else pow(int(value), -1, self.modulus)
        row = {column: self._number(entry * scale) for column, entry in residual.items()}
        for earlier in self.pivots.values():
            if pivot in earlier:
                self._subtract(earlier, row, earlier[pivot])
        self.pivots[pivot] = row

    def _subtract(self, target: Reduced, row: Row, times: Fraction | int) -> None:
        for column, value in row.items():
            difference = self._number(target.get(column, 0) - times * value)
            if difference:
                target[column] = difference
            else:
                target.pop(column, None)

    def _number(self, value: Fraction | int) -> Fraction | int:
        return int(value) % self.modulus if self.modulus else Fraction(value)


def product(row: Row, vector: Row) -> Fraction:
    return sum((Fraction(value) * vector[column] for column, value in row.items() if column in vector), Fraction(0))


def in_cone(generators: Sequence[Row], target: Row) -> bool:
    """Say whether the target is a sum of generators with weights that are not negative.

    The first phase of the simplex method with Bland's rule, which cannot cycle, on a tableau of fractions.
    """
    columns = sorted({column for row in [*generators, target] for column in row}, key=str)
    tableau = []
    for column in columns:
        entries = [Fraction(row.get(column, 0)) for row in [*generators, target]]
        tableau.append([-entry for entry in entries] if entries[-1] < 0 else entries)
    width = len(generators)
    # One artificial variable per row is the first basis; columns of artificials that left it are never asked for.
    basis = [width + 1 + number for number in range(len(tableau))]
    objective = [sum((row[column] for row in tableau), Fraction(0)) for column in range(width + 1)]
    while objective[-1] > 0:
        entering = next((column for column in range(width) if objective[column] > 0), None)
        if entering is None:
            return False
        ratios = [
            (row[-1] / row[entering], basis[number], number) for number, row in enumerate(tableau) if row[entering] > 0
        ]
        leaving = min(ratios)[2]
        _pivot(tableau, objective, leaving, entering)
        basis[leaving] = entering
    return True


def _pivot(tableau: list[list[Fraction]], objective: list[Fraction], leaving: int, entering: int) -> None:
    scale = tableau[leaving][entering]
    pivot_row = tableau[leaving] = [entry / scale for entry in tableau[leaving]]
    support = [column for column, entry in enumerate(pivot_row) if entry]
    for row in itertools.chain((row for number, row in enumerate(tableau) if number != leaving), [objective]):
        if times := row[entering]:
            for column in support:
                row[column] -= times * pivot_row[column]
