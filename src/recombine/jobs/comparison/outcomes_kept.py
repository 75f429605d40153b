"""What an audit keeps of outcomes, so that a later one is told renamed levels and louder noise from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.design.design import Design
from recombine.jobs.audit.audit import Audit
from recombine.jobs.limits import STRUCTURE_LIMITS

#: Different outcomes by which a level is known again, and digits of an outcome that count.
MIN_OUTCOMES_KNOWN, DIGITS_COUNTED = 3, 10
#: Degrees of freedom that a miss on a left-out cell is worth.
WORTH_OF_MISS_WEIGHT = 0.5
#: Chance of a rise of the noise that is told, standard errors of its logarithm, and by how much variances differ.
MAX_CHANCE_OF_RISE, MIN_ERRORS_OF_RISE, MIN_VARIANCE_RATIO = 1e-3, 3.5, 1.5


class NoiseRecord(msgspec.Struct, frozen=True):
    """Variance of one measurement, its degrees of freedom and standard error over cells, and what tells it."""

    of: str  #: ``rows that repeat``, or ``misses`` of values on left-out cells where none do.
    variance: float
    freedom: float
    error: float


@dataclass(frozen=True)
class NoiseRise:
    """How much larger the noise is, as a standard deviation before and after."""

    of: str
    before: float
    after: float


def noise_record(audit: Audit) -> NoiseRecord | None:
    """Return the noise of an audit; None of two values, whose noise follows from their mean, or where nothing tells it.

    Examples
    --------
    >>> import recombine as rc
    >>> noise_record(rc.audit(rc.Design.from_cells([[0, 0], [0, 0], [0, 1], [1, 0]], [1.0, 3.0, 5.0, 6.0])))
    NoiseRecord(of='rows that repeat', variance=2.0, freedom=1.0, error=0.0)
    """
    design = audit.design
    if design.outcome_column.two_values is not None or design.outcome is None:
        return None
    spread, freedom = (values[design.train] for values in design.observed.replicates)
    if freedom.sum() > 0:
        return _noise("rows that repeat", spread, freedom)
    ranges = audit.values.ranges
    if ranges is None or len(ranges.misses) < STRUCTURE_LIMITS.min_misses:
        return None
    # Misses share the effects that predict them, so that they count for less than they are.
    worth = np.full(len(ranges.misses), WORTH_OF_MISS_WEIGHT)
    return _noise("misses", worth * ranges.misses**2, worth)


def _noise(of: str, squares: FloatArray, freedom: FloatArray) -> NoiseRecord:
    variance = float(squares.sum() / freedom.sum())
    error = float(np.sqrt(np.sum((squares - variance * freedom) ** 2)) / freedom.sum())
    return NoiseRecord(of, variance, float(freedom.sum()), error)


def noise_rise(before: NoiseRecord | None, after: NoiseRecord | None) -> NoiseRise | None:
    """Return by how much the noise rose, if it did beyond chance, whether it is normal (F) or has heavy tails.

    Examples
    --------
    >>> noise_rise(NoiseRecord("misses", 1.0, 40.0, 0.2), NoiseRecord("misses", 9.0, 40.0, 2.0))
    NoiseRise(of='misses', before=1.0, after=3.0)
    """
    if before is None or after is None or before.of != after.of or min(before.freedom, after.freedom) <= 0:
        return None
    if not 0 < before.variance * MIN_VARIANCE_RATIO <= after.variance < np.inf:
        return None
    from scipy.special import fdtrc

    ratio = after.variance / before.variance
    error = np.hypot(before.error / before.variance, after.error / after.variance)
    far = np.log(ratio) >= MIN_ERRORS_OF_RISE * error
    if not far or fdtrc(after.freedom, before.freedom, ratio) > MAX_CHANCE_OF_RISE:
        return None
    return NoiseRise(after.of, float(np.sqrt(before.variance)), float(np.sqrt(after.variance)))


def level_digests(design: Design) -> dict[str, list[str]] | None:
    """Return for each factor a digest of every level's seen cells and their outcomes; empty where they prove little.

    It is the same for the same cells of the other factors and outcomes, whatever the level is called.

    Examples
    --------
    >>> design = Design.from_cells([[0, 0], [0, 1], [0, 2], [1, 0]], [1.0, 2.0, 3.0, 1.0], names=["drug", "line"])
    >>> {name: [len(digest) for digest in digests] for name, digests in level_digests(design).items()}
    {'drug': [16, 0], 'line': [0, 0, 0]}
    """
    if design.outcome is None or design.symmetric:
        return None
    cells = design.cells[design.train]
    rounded = [float(f"{value:.{DIGITS_COUNTED}g}") for value in design.observed.seen_outcome.tolist()]
    outcome = np.unique(rounded, return_inverse=True)
    values = _hashed([repr(value) for value in outcome[0].tolist()])[outcome[1]]
    terms = []
    for position, factor in enumerate(design.factors):
        named = _hashed([f"{factor.name}\0{label}" for label in factor.labels])
        terms.append(named[cells[:, position]])
    total = np.sum(terms, axis=0, dtype=np.uint64)
    digests = {}
    for position, factor in enumerate(design.factors):
        sums = np.zeros(len(factor.labels), dtype=np.uint64)
        context = total - terms[position]
        np.add.at(sums, cells[:, position], (context ^ values) * (context | np.uint64(1)))
        pairs = np.unique(np.stack([cells[:, position], outcome[1]], axis=1), axis=0)
        known_again = np.bincount(pairs[:, 0], minlength=len(sums)) >= MIN_OUTCOMES_KNOWN
        digests[factor.name] = [
            f"{total:016x}" if recognised else "" for total, recognised in zip(sums.tolist(), known_again, strict=True)
        ]
    return digests


def _hashed(texts: Sequence[str]) -> Any:
    """Return 64 bits per text, (N,)."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def renamed_levels(
    before: Mapping[str, str], after: Mapping[str, str], gone: Sequence[str], new: Sequence[str]
) -> list[tuple[str, str]]:
    """Return (level that is gone, level that is new) of one digest, which no other level has; levels to digests.

    Examples
    --------
    >>> renamed_levels({"drug2": "f3", "drug1": "a0"}, {"compound-B": "f3", "drug1": "a0"}, ["drug2"], ["compound-B"])
    [('drug2', 'compound-B')]
    """
    pairs = []
    for old in gone:
        digest = before.get(old, "")
        twins = [name for name, other in after.items() if digest and other == digest]
        if len(twins) == 1 and twins[0] in new and list(before.values()).count(digest) == 1:
            pairs.append((old, twins[0]))
    return pairs
