"""First principles: how often decoders lose a slot, what warns of it and what prevents it; on blobs and on sprites."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.lab.papers.first_principles.experiments.lost_slots import FLOOR_SHARE
from recombine.lab.papers.first_principles.grids import FAST_RATE, NARROW_BANDS, SLOT_SUPPORTS, SLOW_RATE
from recombine.lab.papers.first_principles.readings.gates import DEAD_SHARE, LEAK_SHARE, paints_front
from recombine.lab.papers.first_principles.readings.scales import SPRITES, rows_at, scale_in_words
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table

#: A front whose error after this share of the training is at least this share of an unpainted one's is warned of: the
#: mark lies between those of painted and of lost fronts of other seeds.
WARNED_AFTER_SHARE, WARNING_SHARE = 0.25, 0.85
#: Where the gate shows less than this of the front on the front's own pixels, it is shut.
SHUT_GATE_SHARE = 0.05
#: Networks of a case and support without which rates are not compared.
MIN_NETWORKS = 10
NOTE = scale_in_words("tiny")


def rate_in_words(lost: int, networks: int) -> str:
    """Return a rate as a count with its interval of 95% by Wilson.

    Examples
    --------
    >>> rate_in_words(0, 40), rate_in_words(10, 40)
    ('0 of 40 (0% to 9%)', '10 of 40 (14% to 40%)')
    """
    low, high = interval_of(lost, networks)
    return f"{lost} of {networks} ({low:.0%} to {high:.0%})"


def interval_of(lost: int, networks: int) -> tuple[float, float]:
    """Return the bounds of a rate, 95% by Wilson.

    Examples
    --------
    >>> [round(bound, 3) for bound in interval_of(10, 40)]
    [0.142, 0.402]
    """
    from scipy.stats import binomtest

    interval = binomtest(lost, networks).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def probability_of_more(more: BoolArray, less: BoolArray) -> float:
    """Return how likely, by chance, the first networks would lose as many more than the second; Fisher, one-sided.

    Examples
    --------
    >>> round(probability_of_more(np.array([True] * 3), np.array([False] * 3)), 3)
    0.05
    """
    from scipy.stats import fisher_exact

    return float(fisher_exact(_two_by_two(more, less), alternative="greater").pvalue)


def _two_by_two(first: BoolArray, second: BoolArray) -> IntArray:
    return np.array([[lost.sum(), (~lost).sum()] for lost in (first, second)], dtype=np.int64)


def ends(rows: Table, **case: Any) -> Table:
    """Return the networks of a case as they ended, where there are enough of every support."""
    chosen = rows.only(**case)
    ended = chosen.where(chosen["step"] == chosen["steps"])
    for name in NARROW_BANDS if case["dtype"] == "float64" else SLOT_SUPPORTS:
        require(ended, MIN_NETWORKS, support=name)
    return ended


def front_lost(rows: Table) -> BoolArray:
    """Say of which networks the front is not painted at all.

    Examples
    --------
    >>> rows = Table({"front": [0.99, 0.5, 0.1], "back": [0.1, 0.1, 0.95]})
    >>> front_lost(rows).tolist(), back_lost(rows).tolist(), slot_lost(rows).tolist()
    ([True, False, False], [False, False, True], [True, False, True])
    """
    return np.asarray(rows["front"] >= DEAD_SHARE)


def back_lost(rows: Table) -> BoolArray:
    """Say of which networks the back is not painted at all."""
    return np.asarray(rows["back"] >= DEAD_SHARE)


def slot_lost(rows: Table) -> BoolArray:
    """Say of which networks a slot is not painted at all."""
    return front_lost(rows) | back_lost(rows)


def _rates(rows: Table, what: str = "front") -> dict[str, str]:
    lost = {"front": front_lost, "back": back_lost, "slot": slot_lost}[what]
    return {str(name): rate_in_words(int(lost(group).sum()), len(group)) for name, group in rows.by("support").items()}


def _soft(rows: Table, rate: float = FAST_RATE, gate: str = "soft") -> Table:
    return ends(rows, gate=gate, rate=rate, dtype="float32")


def rates_by_support(rows: Table) -> Measured:
    """Return whether soft decoders lose the front on narrow bands more often than on wider supports."""
    fast, slow = _soft(rows), _soft(rows, SLOW_RATE)
    probabilities = {}
    for rate, networks in ((FAST_RATE, fast), (SLOW_RATE, slow)):
        narrow = np.isin(networks["support"], NARROW_BANDS)
        lost = front_lost(networks)
        probabilities[f"rate {rate}"] = probability_of_more(lost[narrow], lost[~narrow])
    ended = fast.where(front_lost(fast))
    in_part = (fast["front"] >= LEAK_SHARE) & ~front_lost(fast)
    numbers = {
        "p that narrow bands lose no more": probabilities,
        "fronts lost": _rates(fast),
        "fronts lost at the lower rate": _rates(slow),
        "of these with a shut gate": f"{int((ended['gate on front'] < SHUT_GATE_SHARE).sum())} of {len(ended)}",
        "painted in part": f"{int(in_part.sum())} of {len(fast)}",
        "back's error, front lost": float(ended["back"].mean()) if len(ended) else "none",
        "R2 on all, front lost": float(ended["r2 all"].mean()) if len(ended) else "none",
        "R2 on all, front painted": float(fast.where(~front_lost(fast))["r2 all"].mean()),
        "networks": len(fast) + len(slow),
    }
    return Measured(numbers, "two learning rates", note=NOTE)


def precision(rows: Table) -> Measured:
    """Return whether soft decoders lose the front as often in float64."""
    from scipy.stats import fisher_exact

    double, soft = ends(rows, dtype="float64"), _soft(rows)
    single = soft.where(np.isin(soft["support"], double["support"]))
    lost = front_lost(single), front_lost(double)
    pairs = _by_network(single), _by_network(double)
    same = sum(state == pairs[1][name] for name, state in pairs[0].items())
    numbers = {
        "p of Fisher's exact test": float(fisher_exact(_two_by_two(*lost)).pvalue),
        "fronts lost in float32": _rates(single),
        "fronts lost in float64": _rates(double),
        "the same fate": f"{same} of {len(pairs[0])}",
        "networks": len(single) + len(double),
    }
    return Measured(numbers, "the same first weights and order of samples", note=NOTE)


def _by_network(rows: Table) -> dict[tuple[str, int], bool]:
    names = zip(rows["support"].tolist(), rows["seed"].tolist(), strict=True)
    return dict(zip(names, front_lost(rows).tolist(), strict=True))


def floors(rows: Table) -> Measured:
    """Return whether a gate with a floor loses fewer slots than one without."""
    soft, floor = _soft(rows), _soft(rows, gate="soft with a floor")
    numbers = {
        "p that a floor loses no fewer": probability_of_more(slot_lost(soft), slot_lost(floor)),
        "slots lost without a floor": _rates(soft, "slot"),
        "slots lost with a floor": _rates(floor, "slot"),
        "fronts lost with a floor": _rates(floor),
        "R2 on all without and with": [float(group["r2 all"].mean()) for group in (soft, floor)],
        "networks": len(soft) + len(floor),
    }
    return Measured(numbers, f"a floor of {FLOOR_SHARE}", note=NOTE)


def opacities(rows: Table) -> Measured:
    """Return whether an opacity of its own, through a sigmoid, loses fewer slots than soft occlusion."""
    soft, opacity = _soft(rows), _soft(rows, gate="opacity")
    black = front_lost(opacity) & back_lost(opacity)
    numbers = {
        "p that opacities lose no fewer": probability_of_more(slot_lost(soft), slot_lost(opacity)),
        "both slots lost, opacity": int(black.sum()),
        "slots lost, soft": _rates(soft, "slot"),
        "slots lost, opacity": _rates(opacity, "slot"),
        "fronts lost, opacity": int(front_lost(opacity).sum()),
        "backs lost, opacity": int(back_lost(opacity).sum()),
        "R2 on all, soft and opacity": [float(group["r2 all"].mean()) for group in (soft, opacity)],
        "networks": len(soft) + len(opacity),
    }
    return Measured(numbers, "a fourth channel, through a sigmoid", note=NOTE)


def lower_rates(rows: Table) -> Measured:
    """Return whether soft decoders lose fewer slots at a third of the learning rate."""
    fast, slow = _soft(rows), _soft(rows, SLOW_RATE)
    numbers = {
        "p that the lower rate loses no fewer": probability_of_more(slot_lost(fast), slot_lost(slow)),
        "slots lost": _rates(fast, "slot"),
        "slots lost at the lower rate": _rates(slow, "slot"),
        "R2 on all": [float(group["r2 all"].mean()) for group in (fast, slow)],
        "networks": len(fast) + len(slow),
    }
    return Measured(numbers, f"rates {FAST_RATE} and {SLOW_RATE}", note=NOTE)


def warnings(rows: Table) -> Measured:
    """Return how often the front's error early in the training tells whether the front will be lost."""
    numbers: dict[str, Any] = {}
    for words, rate, share in (
        ("", FAST_RATE, WARNED_AFTER_SHARE),
        (", after a tenth", FAST_RATE, 0.1),
        (", lower rate", SLOW_RATE, WARNED_AFTER_SHARE),
    ):
        case = {"gate": "soft", "rate": rate, "dtype": "float32"}
        ended, soft = ends(rows, **case), rows.only(**case)
        lost = front_lost(ended)
        warned = np.asarray(soft.where(np.isclose(soft["step"], share * soft["steps"]))["front"] >= WARNING_SHARE)
        if len(warned) != len(lost) or not lost.any() or lost.all():
            raise MissingRowsError("needs fronts that were lost and others, and what they were early on")
        numbers[f"warned of lost fronts{words}"] = float(warned[lost].mean())
        numbers[f"warned of others{words}"] = float(warned[~lost].mean())
        wrongly = ended.where(warned & ~lost)["front"]
        numbers[f"least error of others warned of{words}"] = float(wrongly.min()) if len(wrongly) else "none"
        numbers[f"networks{words}"] = len(lost)
        numbers[f"lost without a warning{words}"] = f"{int((lost & ~warned).sum())} of {int((~warned).sum())}"
    return Measured(numbers, "the mark was set on other seeds", note=NOTE)


# ---------------------------------------------------------------------------- on sprites, trained on a GPU


def sprite_rates(rows: Table) -> Measured:
    """Return how many soft decoders of sprites, of all lengths, lost the front on narrow bands and elsewhere."""
    lengths = [scale for scale in SPRITES if len(rows_at(rows, scale))]
    if lengths != [*SPRITES]:
        raise MissingRowsError(f"needs decoders of all lengths: {', '.join(SPRITES)}")
    soft = [rows_at(rows, scale).only(model="compositional") for scale in lengths]
    narrow = np.concatenate([np.isin(networks["support"], NARROW_BANDS) for networks in soft])
    lost = np.concatenate([~paints_front(networks) for networks in soft])
    rates = {
        word: rate_in_words(int(lost[networks].sum()), int(networks.sum()))
        for word, networks in (("narrow bands", narrow), ("other supports", ~narrow))
    }
    numbers = {
        "p that narrow bands lose no more": probability_of_more(lost[narrow], lost[~narrow]),
        "lost on other supports": int(lost[~narrow].sum()),
        "fronts dead or leaking": rates,
        "R2 on all, with those and without": {
            f"{name}, {scale}": _with_and_without(networks.only(support=name))
            for name in NARROW_BANDS
            for scale, networks in zip(lengths, soft, strict=True)
        },
    }
    return Measured(numbers, "nine supports, three lengths of training", note="on sprites")


def _with_and_without(networks: Table) -> str:
    painted = networks.where(paints_front(networks))["r2 all"]
    return f"{networks['r2 all'].mean():.3f} and {painted.mean():.3f}"


def band_rates(rows: Table) -> Measured:
    """Return how many decoders of sprites lost the front on either narrow band, and what that does to R2."""
    networks, lengths = {}, ("annealed", "short")
    for scale in lengths:
        for name in NARROW_BANDS:
            networks[f"{name}, {scale_in_words(scale)}"] = require(rows, MIN_NETWORKS, scale=scale, support=name)
    lost = {name: ~paints_front(group) for name, group in networks.items()}
    narrow, wider = (
        np.concatenate([values for name, values in lost.items() if name.startswith(band)]) for band in NARROW_BANDS
    )
    numbers = {
        "p that the narrower band loses no more": probability_of_more(narrow, wider),
        "fronts dead or leaking": {
            name: rate_in_words(int(values.sum()), len(values)) for name, values in lost.items()
        },
    }
    return Measured(numbers, "every seed alone and in a batch", note="on sprites")


def spread_of_lost(rows: Table) -> Measured:
    """Return how much of the variance of R2 between networks of the narrowest band lost fronts make, by length."""
    shares, spreads, means = {}, {}, {}
    for scale in ("annealed", "short"):
        group = require(rows, MIN_NETWORKS, scale=scale, support=NARROW_BANDS[0])
        lost, scores = ~paints_front(group), np.asarray(group["r2 all"])
        if lost.sum() < 2 or (~lost).sum() < 2:
            raise MissingRowsError(f"needs fronts that were lost and others, {scale}")
        within = sum(float(scores[which].var() * which.sum()) for which in (lost, ~lost))
        word = scale_in_words(scale)
        shares[word] = 1 - within / float(scores.var() * len(scores))
        spreads[word] = f"{scores.std(ddof=1):.3f} with and {scores[~lost].std(ddof=1):.3f} without"
        means[word] = f"{scores.mean():.3f} with and {scores[~lost].mean():.3f} without"
    numbers = {"share of the variance of R2": shares, "standard deviation of R2": spreads, "mean R2 on all": means}
    return Measured(numbers, f"{NARROW_BANDS[0]}, 80 networks of each length", note="on sprites")
