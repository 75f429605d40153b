"""Will a model with the right composition generalise from a support? The conditions of Wiedemer et al. 2023.

The learner knows C and fits components phi_k on the support. *Compositional support*: every value of every slot was
seen. *Sufficient support*: at every value z_k the Jacobians dC/dphi_k at its anchors, stacked, have full column rank.
Both together, with one point where the components are known, imply generalisation to all combinations (theorem 1),
if the data show derivatives by each slot alone and a path inside its values leads from the known one to every other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recombine.cells.arrays import BoolArray, FloatArray
from recombine.cells.brief import record
from recombine.checks import reals, whole
from recombine.errors import InputError
from recombine.sample_checks import callable_or_refuse, generator
from recombine.theory.compositions.composition import Composition, as_composition
from recombine.theory.compositions.jacobians import Function
from recombine.theory.sufficiency.anchor_stacks import Anchored, AnchorStacks, Component
from recombine.theory.sufficiency.finite import follow_on_drawn_grid
from recombine.theory.sufficiency.rank_reports import RankTest, SlotRank
from recombine.theory.supports.known import Finite
from recombine.theory.supports.latents import as_text, as_value, slot_number
from recombine.theory.supports.sets import Seed, Support, require_support
from recombine.verdicts import Verdict
from recombine.writing import listing

#: Values of each slot at which ranks are tested when none are given.
PROBES_PER_SLOT = 16
#: Combinations per value that stand for all when gauge freedom is judged.
COMBINATIONS_PER_VALUE = 64


@record
class CompositionalSupport:
    """Whether every value of the test support occurs in training; see `compositional_support`.

    Attributes
    ----------
    missing : float array, (K,)
        Share of test points whose value of a slot never occurs in training.
    unused : float array, (K,)
        Share of training points whose value of a slot never occurs in the test. Harmless, but the paper's definition
        asks for none.
    example : FloatArray or None, (K, D)
        A test point with a value that was never seen.

    Examples
    --------
    >>> CompositionalSupport(np.array([0.0, 0.0]), np.array([0.0, 0.5]), None).holds
    True
    """

    missing: FloatArray
    unused: FloatArray
    example: FloatArray | None

    @property
    def holds(self) -> bool:
        """True if every tested value was seen: what the theorem's proof needs."""
        return bool((self.missing == 0).all())

    @property
    def equal(self) -> bool:
        """True if the marginal supports agree, as the paper's definition says."""
        return self.holds and bool((self.unused == 0).all())

    @property
    def verdict(self) -> Verdict:
        """Unseen level where a value is missing; otherwise undecided, until the rank is known."""
        return Verdict.UNDECIDED if self.holds else Verdict.UNSEEN_LEVEL

    def __str__(self) -> str:
        if self.holds:
            return f"compositional: {len(self.missing)} slots"
        slot = int(self.missing.argmax())
        assert self.example is not None
        lost = f"{self.missing[slot]:.1%} of points"
        return f"{self.verdict.word}: {lost}, slot {slot}" + f", such as {as_text(self.example[slot])}"


def compositional_support(
    support: Support, test: Support, *, probes: int = 1000, seed: Seed = 0
) -> CompositionalSupport:
    """Say whether every value of every slot in the test support occurs in the training support.

    Parameters
    ----------
    support, test : Support
        Where the training data lie, and what is asked of the model.
    probes : int
        Points drawn from each; a missing range with a share of 1 % is overlooked with probability 4e-5 at 1000.

    Examples
    --------
    >>> from recombine.theory.supports import box, gap, planes
    >>> corner = planes({0: [[1.0]], 1: [[0.0]]})
    >>> print(compositional_support(corner, box(2)))
    compositional: 2 slots
    >>> print(compositional_support(gap(corner, 0, 0, 0.2, 0.4), box(2)))
    unseen level: 19.0% of points, slot 0, such as 0.299712
    """
    _alike(support, test)
    _positive(probes=probes)
    rng = generator(seed)
    points, seen = test.sample(probes, rng), support.sample(probes, rng)
    absent = np.stack([~support.has_value(slot, points[:, slot]) for slot in range(support.slots)])
    idle = np.stack([~test.has_value(slot, seen[:, slot]) for slot in range(support.slots)])
    worst = absent[absent.mean(axis=1).argmax()]
    example = points[worst.argmax()] if worst.any() else None
    return CompositionalSupport(absent.mean(axis=1), idle.mean(axis=1), example)


def sufficient_support(
    support: Support,
    composition: Composition | Function,
    components: Sequence[Component],
    *,
    values: Mapping[int, npt.ArrayLike] | None = None,
    probes: int = PROBES_PER_SLOT,
    anchors: int | None = None,
    combine: str = "stack",
    seed: Seed = 0,
) -> RankTest:
    """Test the sufficient-support condition: full column rank of the stacked Jacobians at every probed value.

    Parameters
    ----------
    support : Support
        Where the training data lie.
    composition : Composition or callable
        K arrays (..., M_k) -> (..., N); see `recombine.theory.compositions`.
    components : sequence of K callables
        Values of a slot (P, D) -> (P, ..., M_k).
    values : mapping of slot to array (V, D), optional
        Where to test; by default ``probes`` values of every slot, drawn from the support.
    anchors : int, optional
        Use this many anchors for each value. By default they are doubled until the rank stays the same.
    combine : {"stack", "sum"}
        The sum over anchors has at most the rank of the stack, which is what the theorem's proof needs.

    Returns
    -------
    RankTest
        ``.holds``, ``.verdict``, ``.table``, and ``.slots`` with the ranks block by block.

    Notes
    -----
    The condition is sufficient, not necessary, and needs the components at one point to be known (assumption A4).
    It is also void where a slot never moves alone (the exact diagonal) or its values are in pieces (a list of points,
    a gap in the middle): then the answer is undecided, and ``.full_rank`` still tells the ranks. Of a `region`, or
    what is `around` samples, paths are looked for between drawn points; see there how narrow a gap is found.
    Ranks are those of all anchors of a value, whichever of them a path from the known point reaches first. So it is
    also asked, to first order, whether a grid of up to 256 drawn values of each slot follows from its cells in the
    support; where it does not, as where parts meet in a single point, the answer is undecided. Of known supports
    with several coordinates this is not asked. `finite_identifiability` is exact to first order on your own grid.

    Examples
    --------
    >>> from recombine.theory.compositions import product
    >>> from recombine.theory.supports import planes
    >>> waves = [lambda z: np.sin(z + [0.0, 1.0, 2.0]), lambda z: np.cos(z * [1.0, 2.0, 3.0])]
    >>> print(sufficient_support(planes({0: [[0.2]], 1: [[0.5]]}), product(), waves))
    determined (given one point): full rank, 32 values, 1 anchor each, errors grow 2.09-fold
    """
    _positive(probes=probes, anchors=anchors)
    if combine not in ("stack", "sum"):
        raise InputError(f"combine is {combine!r}; give 'stack' or 'sum'")
    rng = generator(seed)
    stacks = AnchorStacks(support, as_composition(composition), _as_many(components, support), combine == "sum")
    ranks: list[SlotRank] = []
    failing: dict[int, FloatArray] = {}
    for slot, chosen in _values(support, values, probes, rng).items():
        rows = [stacks.at(slot, value, anchors, rng) for value in chosen]
        good = [row.full(stacks.precision) for row in rows]
        ranks.append(_slot_rank(stacks, slot, chosen, rows, good))
        short = [value for value, passed in zip(chosen, good, strict=True) if not passed.all()]
        failing |= {slot: short[0]} if short else {}
    lacking = _missing(stacks, ranks, rng)
    return RankTest(tuple(ranks), False, lacking, _gauges(stacks, failing, rng), isinstance(support, Finite))


def gauge_aware_support(
    support: Support,
    composition: Composition | Function,
    components: Sequence[Component],
    *,
    test: Support | None = None,
    probes: int = PROBES_PER_SLOT,
    anchors: int | None = None,
    combinations: int = COMBINATIONS_PER_VALUE,
    seed: Seed = 0,
) -> RankTest:
    """Test a weaker condition: what the anchors of a value leave open must be open for all combinations with it.

    A direction that no combination shows (the colour of a transparent pixel) is a gauge: it cannot be known and does
    not matter. A block passes if the kernel of its stack lies in the kernel of the stack over all combinations.

    Parameters
    ----------
    support, composition, components, probes, anchors, seed
        As for `sufficient_support`.
    test : Support, optional
        The combinations that matter; by default all of values that occur.
    combinations : int
        How many of them to draw for each value.

    Examples
    --------
    >>> from recombine.theory.compositions import occlude
    >>> from recombine.theory.supports import planes
    >>> bumps = [lambda z: (np.abs(z - [0.1, 0.5, 0.9]) < 0.3)[..., None] * 1.0] * 2
    >>> corner = planes({0: [[0.9]], 1: [[0.1], [0.9]]})
    >>> sufficient_support(corner, occlude(), bumps).holds, gauge_aware_support(corner, occlude(), bumps).holds
    (False, True)
    """
    _positive(probes=probes, anchors=anchors, combinations=combinations)
    rng = generator(seed)
    if test is not None:
        _alike(support, test)
    several, rule = _as_many(components, support), as_composition(composition)
    stacks = AnchorStacks(support, rule, several, False)
    everything = AnchorStacks(support.product() if test is None else test, rule, several, False)
    ranks = []
    for slot, chosen in _values(support, None, probes, rng).items():
        rows = [stacks.at(slot, value, anchors, rng) for value in chosen]
        good = [
            _no_more(row, everything.at(slot, value, combinations, rng), stacks.precision)
            for row, value in zip(rows, chosen, strict=True)
        ]
        ranks.append(_slot_rank(stacks, slot, chosen, rows, good))
    return RankTest(tuple(ranks), True, _missing(stacks, ranks, rng), (), isinstance(support, Finite))


def _missing(stacks: AnchorStacks, ranks: list[SlotRank], rng: np.random.Generator) -> tuple[str, ...]:
    """What the proof of theorem 1 needs beside ranks: it integrates df/dz_k along a path of z_k from a known value."""
    support, rule = stacks.support, stacks.composition
    if rule.shows_parts and not any(slot.radius.any() for slot in ranks):
        # Stacking: f at any point with the value is the component there, next to the others.
        return ()
    everything = range(support.slots)
    still = [slot for slot in everything if not support.has_slices(slot)]
    pieces = [slot for slot in everything if not support.connected(slot)]
    skipped = sorted(set(everything) - {slot.slot for slot in ranks})
    # Of a region only drawn points are known, so that a path may be there and was not found.
    apart = "no path was found" if support.sampled else "values in pieces"
    reasons = [(still, "cannot move alone"), (pieces, apart), (skipped, "not probed")]
    named = [(f"slot{'s' * (len(slots) > 1)} {listing(slots)}", words) for slots, words in reasons if slots]
    lacking = [f"{slots}: {words}" for slots, words in named]
    # Without a crossing no path leads from the known point into all parts.
    parted = "no path between parts" if support.sampled else "some planes never cross"
    if lacking or not support.crosses():
        return tuple(lacking or [parted])
    # Along that path the anchors are those that are known by then, not all that a value has.
    full = all(slot.passed == len(slot.values) for slot in ranks)
    # Values of several coordinates seldom meet in a known support that is narrow: there ranks decide alone.
    drawn = support.sampled or support.dimensions == 1
    open_grid = full and drawn and not follow_on_drawn_grid(stacks, rng)
    return ("other components fit, too",) if open_grid else ()


def _gauges(stacks: AnchorStacks, failing: Mapping[int, FloatArray], rng: np.random.Generator) -> tuple[int, ...]:
    """Slots with a value at which all combinations together have no full rank: no support could pass there."""
    everything = AnchorStacks(stacks.support.product(), stacks.composition, stacks.components)
    return tuple(
        slot
        for slot, value in failing.items()
        if not everything.at(slot, value, None, rng).full(stacks.precision).all()
    )


def _no_more(row: Anchored, everything: Anchored, precision: float) -> BoolArray:
    """Whether all combinations together have no higher rank than the anchors alone, (*blocks,)."""
    both = row.stacked.joined(everything.stacked)
    scale = float(both.singular_values().max())
    same: BoolArray = row.stacked.ranks(precision, scale) == both.ranks(precision, scale)
    return same


def _slot_rank(
    stacks: AnchorStacks, slot: int, values: FloatArray, rows: list[Anchored], good: list[BoolArray]
) -> SlotRank:
    return SlotRank(
        slot,
        values,
        np.array([row.anchors for row in rows]),
        np.stack(good),
        np.array([row.stacked.smallest if passed.all() else 0.0 for row, passed in zip(rows, good, strict=True)]),
        np.array([stacks.support.radius(slot, value) for value in values]),
    )


def _alike(support: Support, test: Support) -> None:
    require_support(support, "support")
    require_support(test, "test")
    if (support.slots, support.dimensions) != (test.slots, test.dimensions):
        raise InputError(
            f"training latents are ({support.slots}, {support.dimensions}) and test latents ({test.slots}, "
            f"{test.dimensions}); give supports with the same slots and coordinates"
        )


def _positive(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None:
            whole(number, name)


def _as_many(components: Sequence[Component], support: Support) -> Sequence[Component]:
    require_support(support, "support")
    if not isinstance(components, Sequence):
        raise InputError(f"components are {components!r}; give a list with one function for each slot")
    for slot, component in enumerate(components):
        callable_or_refuse(component, f"component {slot}")
    if len(components) != support.slots:
        raise InputError(f"{len(components)} components were given for {support.slots} slots; give one for each")
    return components


def _values(
    support: Support, values: Mapping[int, npt.ArrayLike] | None, probes: int, rng: np.random.Generator
) -> dict[int, FloatArray]:
    """Which values of which slots to test, each (V, D)."""
    if values is None:
        points = support.product().sample(probes, rng)
        return {slot: points[:, slot] for slot in range(support.slots)}
    if not isinstance(values, Mapping) or not values:
        raise InputError(f"values are {values!r}; map a slot to the values to test, as {{0: [[0.5]]}}")
    chosen = {}
    for slot, listed in values.items():
        rows = reals(listed, f"values of slot {slot}")
        if not rows.size:
            raise InputError(f"values of slot {slot} are empty; give at least one, or leave the slot out")
        rows = rows[:, None] if rows.ndim == 1 and support.dimensions == 1 else np.atleast_2d(rows)
        chosen[slot_number(slot, support.slots)] = np.stack([as_value(row, support.dimensions) for row in rows])
    return chosen
