"""The mix that a test shall have: what its cells shall be to the training rows, and how many of the table's rows."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

from recombine.errors import InputError, listing, near_miss
from recombine.verdicts import Verdict

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
    given = list(test.items()) if isinstance(test, Mapping) else [_pair(part) for part in _parts(test)]
    mix: Mix = {}
    for name, share in given:
        word = " ".join(str(name).replace("-", " ").replace("_", " ").split()).lower()
        if word not in PARTS:
            raise InputError(f"test part {name!r} is unknown;{near_miss(word, PARTS)} Parts: {listing(PARTS)}")
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


def written_mix(mix: Mix) -> str:
    """Write a mix as `read_mix` reads it.

    Examples
    --------
    >>> written_mix({Verdict.DETERMINED: 0.2, Verdict.UNSEEN_LEVEL: 0.1})
    'determined:0.2,unseen level:0.1'
    """
    return ",".join(f"{verdict.word}:{share:g}" for verdict, share in mix.items())


def _parts(test: object) -> list[str]:
    if not isinstance(test, str):
        raise InputError(f"test is {test!r}; give a text such as 'determined:0.2' or a mapping of parts to shares")
    return [part for part in test.split(",") if part.strip()]


def _pair(text: str) -> tuple[str, float]:
    name, colon, share = text.strip().rpartition(":")
    try:
        return (name.strip(), float(share)) if colon else (text.strip(), float("nan"))
    except ValueError:
        raise InputError(f"test part {text.strip()!r} has no share; write it as determined:0.2") from None
