"""First principles: what is read off the rows of trained decoders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from recombine.cells.arrays import FloatArray
from recombine.lab.papers.first_principles.experiments.ranks import amplifications
from recombine.lab.papers.first_principles.grids import LENGTHS
from recombine.lab.papers.first_principles.readings.gates import FAILED_BELOW_R2, paints_front
from recombine.lab.papers.first_principles.readings.scales import (
    MIN_ALIVE_R2,
    SPRITES,
    Case,
    DecoderRows,
    living_rows,
    rows_at,
    scale_in_words,
)
from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, estimate, require, several
from recombine.tables.table import Table

PLANES, MONOLITHIC = ("orthogonal", "compositional"), ("orthogonal", "monolithic")
RANDOM, RANDOM_MONOLITHIC = ("random", "compositional"), ("random", "monolithic")
HOLED, STAR = ("orthogonal gap", "compositional"), ("orthogonal*", "compositional")
WIDE, NARROW = ("diagonal 0.2", "compositional"), ("diagonal 0.05", "compositional")
NORMAL = ("orthogonal normal", "compositional")
RGBA, SIGMOID = ("orthogonal", "rgba"), ("orthogonal", "rgba sigmoid")
PLUS, MIDDLE = ("orthogonal+", "compositional"), ("diagonal 0.1", "compositional")
#: R2 on the support and on all combinations in the released table: means over five seeds, of RGBa over three.
PUBLISHED: dict[Case, tuple[float, float]] = {
    RANDOM_MONOLITHIC: (0.9314, 0.9314),
    RANDOM: (0.9575, 0.9575),
    MONOLITHIC: (0.9476, -0.500),
    PLANES: (0.9572, 0.9509),
    NORMAL: (0.9566, 0.9508),
    WIDE: (0.9574, 0.9551),
    NARROW: (0.867, 0.589),
    RGBA: (0.9835, 0.9792),
    PLUS: (0.9595, 0.9538),
    HOLED: (0.9544, 0.8953),
    STAR: (0.9543, 0.8692),
    MIDDLE: (0.9536, 0.9448),
}
#: R2 on all combinations in the released table, of the authors' networks of seeds 0 to 4.
RELEASED: dict[Case, tuple[float, ...]] = {
    RANDOM: (0.9579, 0.9575, 0.9558, 0.9584, 0.9579),
    RANDOM_MONOLITHIC: (0.9320, 0.9306, 0.9320, 0.9312, 0.9313),
    PLANES: (0.9488, 0.9500, 0.9520, 0.9519, 0.9519),
    MONOLITHIC: (-0.4398, -0.4693, -0.6137, -0.4961, -0.4790),
    PLUS: (0.9548, 0.9528, 0.9524, 0.9555, 0.9537),
    NORMAL: (0.9505, 0.9497, 0.9517, 0.9519, 0.9499),
    HOLED: (0.8910, 0.9062, 0.8880, 0.8995, 0.8920),
    STAR: (0.8756, 0.8735, 0.8778, 0.8573, 0.8619),
    WIDE: (0.9572, 0.9552, 0.9541, 0.9543, 0.9547),
    MIDDLE: (0.9541, 0.9500, 0.9502, 0.9535, 0.9163),
    NARROW: (0.3933, 0.8960, 0.8986, 0.3929, 0.3622),
}
#: How many standard deviations of a released row a network of its own may be off.
SPREADS_APART = 3
#: Supports of planes, whose anchors are known exactly; and the error on all over that on planes in the released table.
GROWN = {PLANES: 1.79, PLUS: 1.79, HOLED: 3.59, STAR: 4.79}


def _published(runs: DecoderRows) -> str:
    """Say what R2 on all combinations was published, which is after more steps than most of ours."""
    scores = ", ".join(f"{PUBLISHED[case][1]:.4g}" for case in runs.cases)
    return f"published after {LENGTHS['full']['steps']:,} steps: {scores}"


def _listed(values: Iterable[float], decimals: int = 3) -> str:
    return ", ".join(f"{value:.{decimals}f}" for value in values)


def random_scores(rows: Table) -> Measured:
    """Return the R2 of both models, trained on all combinations."""
    runs = DecoderRows.largest(rows, RANDOM, RANDOM_MONOLITHIC)
    ours, plain = runs.means("r2 all")
    measured = runs.measure({"R2, compositional": ours, "R2, monolithic": plain}, _published(runs))
    if runs.scale == "full":
        return measured
    return replace(measured, stands_in=f"{measured.note}, stand in, so only the direction is judged")


def plane_scores(rows: Table) -> Measured:
    """Return the R2 of both models, trained on planes, and how far apart they are on all combinations and on planes."""
    runs = DecoderRows.largest(rows, PLANES, MONOLITHIC)
    (ours, plain), (ours_seen, plain_seen) = runs.means("r2 all"), runs.means("r2 id")
    numbers = {
        "R2 on all, compositional": ours,
        "R2 on all, monolithic": plain,
        "R2 apart on all": ours.mean - plain.mean,
        "R2 on planes": {"compositional": ours_seen, "monolithic": plain_seen},
        "R2 apart on planes": abs(ours_seen.mean - plain_seen.mean),
    }
    return runs.measure(numbers, _published(runs))


def shape_losses(rows: Table) -> Measured:
    """Return how far the R2 of a wide diagonal and of normal planes is below that of all combinations."""
    why = "on blobs single stuck pixels decide how close supports come"
    runs = DecoderRows.largest(rows, RANDOM, WIDE, NORMAL, scales=SPRITES, why=why)
    base, wide, normal = runs.means("r2 all")
    numbers = {
        "R2": {"everything": base, "wide diagonal": wide, "normal planes": normal},
        "loss of R2": {"wide diagonal": base.mean - wide.mean, "normal planes": base.mean - normal.mean},
        "loss by seed, wide diagonal": _losses(runs, RANDOM, WIDE),
        "loss by seed, normal planes": _losses(runs, RANDOM, NORMAL),
    }
    return runs.measure(numbers, _published(runs))


def _losses(runs: DecoderRows, more: Case, less: Case) -> str:
    """By how much R2 on all combinations is lower in one case than in another, for each seed that both have."""
    high, low = (_by_seed(runs.of(case)) for case in (more, less))
    return _listed(high[seed] - low[seed] for seed in sorted(high.keys() & low.keys()))


def gap_costs(rows: Table) -> Measured:
    """Return what a gap costs on the support and on all combinations, and how much larger the error in it is."""
    runs = DecoderRows.largest(rows, PLANES, HOLED)
    (seen, seen_holed), (every, every_holed) = runs.means("r2 id"), runs.means("r2 all")
    inside, outside = runs.means("mse in gap"), runs.means("mse out of gap")
    usual, ratio = (in_gap.mean / off_gap.mean for in_gap, off_gap in zip(inside, outside, strict=True))
    numbers = {
        "change of R2 on the support": seen_holed.mean - seen.mean,
        "loss of R2 on all": every.mean - every_holed.mean,
        "error in the gap / outside": ratio,
    }
    return runs.measure(numbers, f"without the gap the same images have a ratio of {usual:.2f}; {_published(runs)}")


def gap_loss(rows: Table) -> Measured:
    """Return what a gap costs on all combinations."""
    runs = DecoderRows.largest(rows, PLANES, HOLED)
    every, holed = runs.means("r2 all")
    numbers = {"R2": {"planes": every, "with a gap": holed}, "loss of R2 on all": every.mean - holed.mean}
    numbers |= {"loss by seed": _losses(runs, PLANES, HOLED)}
    return runs.measure(numbers, _published(runs))


def gap_thirds(rows: Table) -> Measured:
    """Return how much the error in the gap differs between thirds of the other sprite's x, relative to its mean."""
    runs = DecoderRows.largest(rows, HOLED)
    thirds = np.array([runs.means(f"mse in gap, other {third}")[0].mean for third in range(3)])
    detail = f"errors in the gap with the other sprite left, middle, right: {_listed(thirds, 4)}"
    single = np.array([runs.of(HOLED)[f"mse in gap, other {third}"] for third in range(3)])
    numbers = {
        "thirds differ by": float(np.ptp(thirds) / thirds.mean()),
        "by seed": _listed(np.ptp(single, axis=0) / single.mean(axis=0), 2),
    }
    return runs.measure(numbers, detail)


def diagonal_scores(rows: Table) -> Measured:
    """Return how far the R2 of a narrow diagonal is below that of a wide one, and the same of networks that paint."""
    runs = DecoderRows.largest(rows, NARROW, WIDE)
    narrow, wide = (_by_seed(runs.of(case)) for case in runs.cases)
    alive = [_by_seed(runs.of(case).where(paints_front(runs.of(case)))) for case in runs.cases]
    numbers = {
        "R2": dict(zip(("narrow", "wide"), runs.means("r2 all"), strict=True)),
        "R2, front painted": {
            name: estimate([*scores.values()]) for name, scores in zip(("narrow", "wide"), alive, strict=True)
        },
        "wide less narrow, points of R2": _interval(wide, narrow),
        "the same, front painted": _interval(alive[1], alive[0]),
    }
    return runs.measure(numbers, f"narrow, by seed: {_listed(runs.of(NARROW)['r2 all'])}; {_published(runs)}")


def _by_seed(rows: Table) -> dict[int, float]:
    return {int(row["seed"]): float(row["r2 all"]) for row in rows.rows()}


def _interval(more: Mapping[int, float], less: Mapping[int, float]) -> Interval:
    """The mean difference, in hundredths, over seeds that both have; of one seed it has no bounds."""
    both = sorted(more.keys() & less.keys())
    if not both:
        raise MissingRowsError("needs a seed that both rows have")
    differences = 100 * np.array([more[seed] - less[seed] for seed in both])
    return Interval.of(differences) if len(both) > 1 else Interval(float(differences[0]), -np.inf, np.inf)


def diagonal_seeds(rows: Table) -> Measured:
    """Return how many seeds of a narrow diagonal end below and above the middle."""
    runs = DecoderRows.largest(rows, NARROW, scales=("full",), why="five seeds of each")
    scores = runs.of(NARROW, at_least=5)["r2 all"]
    sides = {"seeds below 0.5": int((scores < 0.5).sum()), "seeds above 0.8": int((scores > 0.8).sum())}
    detail = f"by seed: {_listed(scores)}; published: 3 of 5 below 0.5"
    return runs.measure({"R2": runs.means("r2 all")[0], **sides}, detail)


def one_plane_errors(rows: Table) -> Measured:
    """Return the error with one plane for each slot over that with two for the back."""
    runs = DecoderRows.largest(rows, STAR, PLANES)
    star, two = (error.mean for error in runs.means("mse all"))
    back, front = (runs.means(f"share on {name}")[0].mean for name in ("B", "O"))
    detail = f"errors {star:.4f} and {two:.4f}; shares on the pixels of B and O with one plane: {back:.1%}, {front:.1%}"
    return runs.measure({"error with one plane / two": star / two}, f"{detail}; R2 {_published(runs)}")


def ghost_shares(rows: Table) -> Measured:
    """Return which share of the error lies on the anchors' pixels with one plane for each slot, and what is left."""
    why = "blobs are composed softly, so another anchor may leave the ghost"
    runs = DecoderRows.largest(rows, STAR, PLANES, scales=SPRITES, why=why)
    errors, back = runs.means("mse all"), runs.means("share on B")
    off, base = (error.mean * (1 - share.mean) for error, share in zip(errors, back, strict=True))
    numbers = {"error on B": back[0].mean, "error on O": runs.means("share on O")[0].mean}
    on_b = runs.means("mse on B")[0].mean
    words = f"error on B's pixels {on_b:.3f}; without them {off:.4f}, two planes {base:.4f}"
    two = runs.of(PLANES)
    others = (two["mse all"] * (1 - two["share on B"]))[np.argsort(two["mse all"])][:-1]
    numbers |= {"rest / two planes": off / base, "rest, without the worst": off / float(others.mean())}
    return runs.measure(numbers, f"{words}; 47.5% and 0.3% were expected")


def collapses(rows: Table) -> Measured:
    """Return how many RGBa models collapsed, or did not, against what their first weights foretell."""
    runs = DecoderRows.largest(rows, RGBA, scales=SPRITES, why="small RGBa models use another opacity than the paper's")
    models = runs.of(RGBA)
    doomed, dead = models["opaque at start"] == 0, models["r2 id"] <= MIN_ALIVE_R2
    numbers = {
        "seeds foretold wrongly": int((doomed != dead).sum()),
        "seeds that start black": int(doomed.sum()),
        "seeds that do not": int((~doomed).sum()),
    }
    seeds = [f"{r['r2 id']:.3f} (seed {r['seed']}, {r['opaque at start']:.2f} opaque)" for r in models.rows()]
    return runs.measure(numbers, f"R2 on the support {', '.join(seeds)}")


def sigmoid_scores(rows: Table) -> Measured:
    """Return the R2 of every RGBa model with a sigmoid, and how far their mean is below that of living clamped ones."""
    runs = DecoderRows.largest(rows, RGBA, SIGMOID, scales=SPRITES)
    # That all with a sigmoid collapsed would be a failure; the clamped ones are only compared with.
    soft, hard = runs.of(SIGMOID)["r2 all"], replace(runs, cases=(RGBA,)).means("r2 all")[0]
    numbers = {"R2, sigmoid": soft.tolist(), "R2, clamp": hard, "clamp less sigmoid": hard.mean - float(soft.mean())}
    return runs.measure(numbers, "means of 0.869 and, clamped, 0.944 were expected after 3,300 steps")


def rgba_scores(rows: Table) -> Measured:
    """Return the R2 of RGBa composition and of soft addition, and the ratio of their errors."""
    runs = DecoderRows.largest(rows, RGBA, PLANES)
    (clear, soft), errors = runs.means("r2 all"), runs.means("mse all")
    numbers = {
        "R2": {"RGBa": clear, "soft": soft},
        "RGBa less soft": clear.mean - soft.mean,
        "collapsed": int((runs.of(RGBA)["r2 id"] <= MIN_ALIVE_R2).sum()),
        "errors, RGBa / soft": errors[0].mean / errors[1].mean,
    }
    return runs.measure(numbers, _published(runs))


def seed_spreads(rows: Table) -> Measured:
    """Return the standard deviation of R2 over seeds on sufficient supports and on the narrow diagonal."""
    runs = DecoderRows.largest(rows, RANDOM, PLANES, NORMAL, WIDE, NARROW, scales=("full",), why="three seeds of each")
    *steady, narrow = (float(runs.of(case, at_least=3)["r2 all"].std(ddof=1)) for case in runs.cases)
    names = ("everything", "planes", "normal planes", "wide diagonal", "narrow diagonal")
    numbers = {
        "R2": dict(zip(names, runs.means("r2 all"), strict=True)),
        "spread over seeds": dict(zip(names, steady, strict=False)),
        "spread on the narrow diagonal": narrow,
    }
    return runs.measure(numbers, "published: 0.0014 at most, and 0.28")


def row_order(rows: Table) -> Measured:
    """Return how alike the rows of the table are ranked here and in the released one, all and living against living."""
    runs = DecoderRows.largest(rows, *PUBLISHED, scales=SPRITES, why="blobs are not the paper's images")
    ours, theirs = ([score.mean for score in runs.means("r2 all")], [PUBLISHED[case][1] for case in runs.cases])
    ranks = _ranks(ours, theirs)
    moved = np.abs(ranks[0] - ranks[1])
    support, model = runs.cases[int(moved.argmax())]
    alive = [_living_mean(runs.of(case), case) for case in runs.cases]
    released = [float(np.mean(_painted_scores(case))) for case in runs.cases]
    numbers = {
        "rank correlation with the released rows": _correlation(ranks),
        "the same, living against living": _correlation(_ranks(alive, released)),
        "places by which a row moves at most": int(moved.max()),
    }
    return runs.measure(numbers, f"{len(ours)} rows; {support} ({model}) moves most")


def _ranks(*listed: Sequence[float]) -> FloatArray:
    return np.asarray([np.argsort(np.argsort(values)) for values in listed], dtype=float)


def _correlation(ranks: FloatArray) -> float:
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def _living_mean(rows: Table, case: Case) -> float:
    """Mean R2 of networks that trained and, where the rule is soft occlusion, paint the front."""
    trained = living_rows(rows)
    if case[1] == "compositional":
        trained = trained.where(paints_front(trained))
    return float(estimate(trained["r2 all"], f"{case[0]}, living").mean)


def _painted_scores(case: Case) -> list[float]:
    """Released R2 of a row, less that of networks which by it alone look dead or leaking; of RGBa the row's mean."""
    scores = RELEASED.get(case, (PUBLISHED[case][1],))
    return [score for score in scores if case[1] != "compositional" or score >= FAILED_BELOW_R2]


def networks_of_its_length(rows: Table) -> int:
    """Return how many networks of the table were trained as long as the paper's."""
    return len(rows_at(rows, "full"))


def released_differences(rows: Table) -> Measured:
    """Return by row the network of the paper's length furthest from the authors' of its seed, in the row's SDs."""
    networks = [row for row in rows_at(rows, "full").rows() if (row["support"], row["model"]) in RELEASED]
    if not networks:
        raise MissingRowsError(f"needs networks trained for {LENGTHS['full']['steps']:,} steps")
    gains: dict[Case, list[float]] = {}
    for row in networks:
        case = row["support"], row["model"]
        gains.setdefault(case, []).append(row["r2 all"] - RELEASED[case][int(row["seed"])])
    furthest = {case: max(values, key=abs) for case, values in gains.items()}
    spreads = {case: float(np.std(RELEASED[case], ddof=1)) for case in gains}
    within = sum(abs(gain) <= SPREADS_APART * spreads[case] for case, values in gains.items() for gain in values)
    numbers = {
        "furthest, in SDs": {
            f"{name} ({model})": furthest[name, model] / spreads[name, model] for name, model in gains
        },
        "networks": len(networks),
        "networks within 3 SDs": within,
    }
    listed = ", ".join(f"{name} ({model}) {gain:+.3f}" for (name, model), gain in furthest.items())
    return Measured(
        numbers, f"{several(len(networks), 'network')}; furthest, R2: {listed}", note=scale_in_words("full")
    )


def error_growth(rows: Table) -> Measured:
    """Return how much larger errors are on all combinations than on planes, beside how much they may be by slot."""
    runs = DecoderRows.largest(rows, *GROWN, scales=SPRITES, why="blobs have other anchors")
    growths = {case[0]: runs.growth(case) for case in GROWN}
    front, back = ({case[0]: amplifications(case[0])[slot] for case in GROWN} for slot in (0, 1))
    numbers = {
        "growth": growths,
        "amplification, front": front,
        "amplification, back": back,
        "grows most": max(growths, key=lambda name: growths[name].mean),
        "front amplified most": _largest(front),
        "back amplified most": _largest(back),
    }
    released = ", ".join(f"{case[0]} {value}" for case, value in GROWN.items())
    return runs.measure(numbers, f"growth in the released table: {released}")


def _largest(values: Mapping[str, float]) -> list[str]:
    """Names of the largest values, but for rounding."""
    return [name for name, value in values.items() if value > 0.999 * max(values.values())]


def additive_ratios(rows: Table) -> Measured:
    """Return how much more additive models trained on three planes err on all combinations than on the planes."""
    three, two = (require(rows, support=case[0])["ratio"] for case in (PLANES, STAR))
    detail = f"seeds: {_listed(three, 2)}; with one plane for each slot {two.mean():.2f}"
    return Measured({"error on all / on planes": three.mean()}, detail, note=scale_in_words("tiny"))
