"""What is asked of a split: what the test's cells shall be to the training rows, how many rows, under which order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Real

from recombine.checks import whole
from recombine.errors import InputError, near_miss
from recombine.table_spec import TableSpec, asked_structure
from recombine.tables.text_files import split_names
from recombine.theory.structures.all_structures import simplest_first
from recombine.verdicts import Verdict
from recombine.writing import listing

#: Part of a row that is trained on, and of one that is in neither part.
TRAIN, UNUSED = -1, -2

#: What a part of a test can be called, and the verdict that each of its cells then has.
PARTS = {
    "seen": Verdict.SEEN,
    "determined": Verdict.DETERMINED,
    "disconnected": Verdict.DISCONNECTED,
    "unseen level": Verdict.UNSEEN_LEVEL,
    "new level": Verdict.UNSEEN_LEVEL,
}

#: The part of unseen levels can name the factor whose levels are hidden.
_OF_FACTOR = re.compile(r"\s*((?:unseen|new)[\s_-]+level)s?[\s_-]+of\s+(.+?)\s*", re.IGNORECASE | re.DOTALL)

Mix = dict[Verdict, float]


def read_mix(test: str | Mapping[str, float]) -> Mix:
    """Read ``"determined:0.2,disconnected:0.1"``, or the same as a mapping: verdict -> share of the table's rows.

    Examples
    --------
    >>> {verdict.word: share for verdict, share in read_mix("determined:0.2, new-level:0.1").items()}
    {'determined': 0.2, 'unseen level': 0.1}
    >>> read_mix("determind:0.2")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: test part 'determind' is unknown; did you mean 'determined'? Parts: seen, determined,
        disconnected, unseen level, new level
    """
    mix: Mix = {}
    for name, share in _given(test):
        label = match[1] if (match := _OF_FACTOR.fullmatch(str(name))) else str(name)
        word = " ".join(label.replace("-", " ").replace("_", " ").split()).lower()
        if word not in PARTS:
            raise InputError(f"test part {name!r} is unknown;{near_miss(word, PARTS, f'Parts: {listing(PARTS)}')}")
        if share is None:
            raise InputError(f"test part {name!r} has no share of the rows; write it as {f'{name}:0.2'!r}")
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 < float(share) < 1:
            raise InputError(f"test part {name!r} has the share {share!r}; give a number between 0 and 1")
        if PARTS[word] in mix:
            raise InputError(f"test part {name!r} is named twice; name each part once")
        mix[PARTS[word]] = float(share)
    if not mix:
        raise InputError("the test has no part; name at least one, such as determined:0.2")
    if sum(mix.values()) >= 1:
        raise InputError(f"the test parts take {sum(mix.values()):g} of the rows, and nothing is left to train on")
    return {verdict: mix[verdict] for verdict in Verdict if verdict in mix}


def hidden_place(test: str | Mapping[str, float], factors: Sequence[object]) -> int | None:
    """Return the place of the factor that ``unseen level of ...`` names, or None where it is left open."""
    names = [str(name) for name in factors]
    for label, _ in _given(test):
        if match := _OF_FACTOR.fullmatch(str(label)):
            if match[2] not in names:
                hint = near_miss(match[2], names, f"Factors: {listing(names)}")
                raise InputError(f"test part {label!r}: {match[2]!r} is not a factor;{hint}")
            return names.index(match[2])
    return None


def split_order(spec: TableSpec) -> int:
    """Return the order at which a split is made: that of the structure, whose effects have to add.

    Examples
    --------
    >>> split_order(TableSpec()), split_order(TableSpec(structure="pairs"))
    (1, 2)
    """
    structure, order = asked_structure(spec, None, None, default="add")
    sums = {entry.name: entry for entry in simplest_first() if not entry.needs_outcome}
    if structure not in sums:
        raise InputError(
            f"splits are made for structures that add, {', '.join(sums)}, not for {structure!r}; its verdicts depend "
            "on outcomes, so make the split with one of these and look at it with --check"
        )
    named = sums[structure]
    if not named.adds and order not in (None, named.order):
        raise InputError(f"structure {structure} is of order {named.order}, not {order}; leave one of the two out")
    return named.order if order is None else whole(order, "order")


def _given(test: object) -> list[tuple[object, object]]:
    """Return the parts as they were named with their shares; None where a part has none."""
    if isinstance(test, Mapping):
        return list(test.items())
    if not isinstance(test, str):
        raise InputError(f"test is {test!r}; give a text such as 'determined:0.2' or a mapping of parts to shares")
    pairs: list[tuple[object, object]] = []
    for text in split_names(" ".join(test.splitlines())):
        name, colon, share = (word.strip() for word in text.rpartition(":"))
        if not colon or not share:
            pairs.append((text.rstrip(": "), None))
            continue
        try:
            pairs.append((name, float(share)))
        except ValueError:
            pairs.append((name, share))
    return pairs
