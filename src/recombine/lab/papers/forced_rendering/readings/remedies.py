"""Forced rendering: what is read off decoders with a remedy, and off the controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.lab.papers.forced_rendering.experiments.training import IMAGES
from recombine.lab.papers.forced_rendering.readings.rows import (
    NAN,
    RAMPS,
    donut_learned,
    image_size,
    means_of,
    picture_of,
    ratios_of,
    reads_one_target,
    row_mean,
    trained_on,
)
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import rank_correlation, several
from recombine.lab.papers.values import text_of
from recombine.tables.table import Table

#: Share of their energy from which embeddings are called stripes.
STRIPED_SHARE = 0.9
#: Mean share of peaks in the hole above which low-rank networks of a penalty are said to compose.
MIN_PENALTY_PEAKS = 0.85


def _population(rows: Table) -> Table:
    """Convolutional decoders of one-hot and bump codes."""
    chosen = rows.only(model="cnn")
    return chosen.where(~np.isin(chosen["code"], RAMPS))


def _in_the_hole(groups: Mapping[str, Table]) -> dict[str, dict[str, float]]:
    return {"peaks in the hole": means_of(groups, "unseen peaks"), "correlation": means_of(groups, "correlation")}


@reads_one_target
def peaks_with_stripes(rows: Table) -> Measured:
    """Return how right decoders of population codes are in the hole, with stripes."""
    after = _population(rows).but(stripes=0)
    peaks, correlation = (min(after[name], default=NAN) for name in ("unseen peaks", "correlation"))
    worst = max(after["relative error"], default=NAN)
    depths = {f"{depth} layers": networks for depth, networks in after.by("depth").items()}
    error = text_of(means_of(depths, "relative error"), decimals=2)
    detail = (
        f"{several(len(after), 'network')}, lowest peaks {peaks:.2f}, lowest correlation {correlation:.2f}; neither "
        f"sees how bright images are: error over that of a blank image {error}, at worst {worst:.2f}"
    )
    return Measured(_in_the_hole(after.by("code")), detail)


@reads_one_target
def peaks_without_stripes(rows: Table) -> Measured:
    """Return how right decoders of population codes are in the hole, without stripes."""
    before = _population(rows).only(stripes=0)
    inner = text_of(means_of(before.by("code"), "inner peaks"), decimals=2)
    detail = f"{several(len(before), 'network')}; peaks in the inner hole, away from the edge: {inner}"
    return Measured(_in_the_hole(before.by("code")), detail, scale=image_size(rows))


@reads_one_target
def peaks_with_stripes_elsewhere(rows: Table) -> Measured:
    """Return how right MLPs, and convolutional decoders of ramps, are in the hole, with stripes."""
    after = rows.but(stripes=0)
    dense, ramps = after.only(model="mlp"), after.where(np.isin(after["code"], RAMPS)).only(model="cnn")
    detail = f"{several(len(dense), 'MLP')}, {several(len(ramps), 'CNN')}"
    return Measured(_in_the_hole({"MLP": dense, "CNN on a ramp": ramps}), detail)


@reads_one_target
def peaks_by_canvas(rows: Table) -> Measured:
    """Return how much more peaks are in place with the canvas of the released stripe script."""
    groups = {"without": rows.only(margin=0), "with the canvas": rows.but(margin=0)}
    without, canvas = (row_mean(networks, "unseen peaks") for networks in groups.values())
    numbers = {"more with the canvas": canvas - without, **_in_the_hole(groups)}
    return Measured(numbers, f"{several(len(groups['with the canvas']), 'network')} each")


def peaks_with_penalties(rows: Table) -> Measured:
    """Return peaks of low-rank networks without a penalty and with both: of all, and where the donut was learned."""
    # The released script of this network paints G.
    rows = trained_on(rows, IMAGES)
    both = rows.only(penalty="both")
    learned = both.where(both["seen error"] < donut_learned(rows))
    numbers = {
        "peaks, no penalty": row_mean(rows, "unseen peaks", penalty="none"),
        "peaks, both": row_mean(both, "unseen peaks"),
        "networks with that many peaks": f"{int((both['unseen peaks'] >= MIN_PENALTY_PEAKS).sum())} of {len(both)}",
        "lowest peaks, both": min(both["unseen peaks"], default=NAN),
        "peaks, both, donut learned": row_mean(learned, "unseen peaks"),
        "share with both that learned the donut": len(learned) / len(both) if len(both) else NAN,
        "components, no penalty": row_mean(rows, "rank", penalty="none"),
        "components, both": row_mean(both, "rank"),
    }
    error = text_of(means_of(rows.by("penalty"), "relative error"), decimals=2)
    single = text_of(sorted(both["unseen peaks"].tolist()), decimals=2)
    detail = (
        f"peaks of the {several(len(both), 'network')} with both: {single}; {len(learned)} of these have an error on "
        f"the donut below {donut_learned(rows):.3g}, as claim 2 asks; error over that of a blank image {error}"
    )
    return Measured(numbers, detail, scale=image_size(rows))


def peaks_with_one_penalty(rows: Table) -> Measured:
    """Return peaks and components of low-rank networks with one penalty, and how far apart the two are."""
    rows = trained_on(rows, IMAGES)
    # The column "rank" counts components, exp of the entropy of their weights; a stripe has rank one at any count.
    entropy, variance = (rows.only(penalty=name) for name in ("entropy", "variance"))
    best, worst = max(entropy["unseen peaks"], default=NAN), min(variance["unseen peaks"], default=NAN)
    numbers = {
        "peaks, entropy alone": row_mean(entropy, "unseen peaks"),
        "components, entropy alone": row_mean(entropy, "rank"),
        "peaks, variance alone": row_mean(variance, "unseen peaks"),
        "components, variance alone": row_mean(variance, "rank"),
        "worst with variance less best with entropy": worst - best,
    }
    striped = text_of(means_of(rows.by("penalty"), "striped"), decimals=2)
    detail = (
        f"{several(len(variance), 'network')} each; best with entropy alone {best:.2f}, worst with variance alone "
        f"{worst:.2f}. Share of the embeddings that is a stripe in either direction: {striped}"
    )
    return Measured(numbers, detail, scale=image_size(rows))


def striped_embeddings(rows: Table) -> Measured:
    """Return how peaks of low-rank networks go with the share of their embeddings that is a stripe."""
    rows = trained_on(rows, IMAGES)
    share, peaks = rows["striped"], rows["unseen peaks"]
    inside = rows.where(share > STRIPED_SHARE)
    numbers = {
        "rank correlation of stripes and peaks": rank_correlation(share, peaks) if len(rows) > 2 else NAN,
        "lowest peaks of stripes": min(inside["unseen peaks"], default=NAN),
        "networks of stripes": len(inside),
    }
    detail = f"{several(len(rows), 'network')} with no, one or both penalties; stripes: a share above {STRIPED_SHARE}"
    return Measured(numbers, detail, scale=image_size(rows))


def released_seed(rows: Table) -> Measured:
    """Return peaks of low-rank networks that start from the seed of the released notebook, by penalty."""
    peaks = means_of(rows.only(picture="output").by("penalty"), "unseen peaks")
    numbers = {"peaks, both": peaks.get("both", NAN), "peaks by penalty": peaks}
    seeds = ", ".join(str(seed) for seed in sorted(set(rows["seed"].tolist())))
    return Measured(numbers, f"seed {seeds}; one network per penalty", scale=image_size(rows))


def embedding_ranks(rows: Table) -> Measured:
    """Return how much of the images that one x and one y own is an outer product, by penalty.

    That is the largest squared singular value over the sum of all, 1 of an image of rank one.
    """
    images = trained_on(rows, IMAGES)
    shares = {
        penalty: float(np.mean([_outer_share(pictures.only(picture=name)) for name in ("x", "y")]))
        for penalty, pictures in images.by("penalty").items()
    }
    numbers: dict[str, Any] = {f"share, {name} alone": shares.get(name, NAN) for name in ("variance", "entropy")}
    numbers |= {"share, no penalty": shares.get("none", NAN), "share, both": shares.get("both", NAN)}
    return Measured(numbers, "one network per penalty, means over the image of one x and that of one y")


def _outer_share(picture: Table) -> float:
    squares = np.linalg.svd(picture_of(picture), compute_uv=False) ** 2
    return float(squares[0] / squares.sum())


def gap_blends(rows: Table) -> Measured:
    """Return how far images at angles in a gap are from a blend of its edges, over how far from the truth."""
    gaps = {f"{gap} degrees": networks for gap, networks in rows.by("gap").items()}
    truth, span = (means_of(gaps, name) for name in ("error to truth", "in span"))
    seen = f"error on seen angles {row_mean(rows, 'seen error'):.1e}, to the truth {text_of(truth, decimals=4)}"
    detail = f"{seen}; energy in the span of the two edges {text_of(span, decimals=2)}"
    return Measured({"error to blend over truth": ratios_of(gaps, "error to blend", "error to truth")}, detail)


def gap_blends_of_digits(rows: Table) -> Measured:
    """Return the same of networks that turn several digits, by gap and digit."""
    gaps = {f"{gap} degrees, {digit}": networks for (gap, digit), networks in sorted(rows.by("gap", "digit").items())}
    numbers = {
        "error to blend over truth": ratios_of(gaps, "error to blend", "error to truth"),
        "error on seen angles over blend's": row_mean(rows, "seen error") / row_mean(rows, "blend to truth"),
    }
    sides = f"{rows['side'][0]} x {rows['side'][0]} pixels"
    return Measured(numbers, f"{len(rows.by('gap', 'seed'))} networks of {len(rows.by('digit'))} digits, {sides}")


def encoder_errors(rows: Table) -> Measured:
    """Return how much worse encoders read images in the hole than on the donut, by code."""
    codes = rows.by("code")
    numbers = {
        "error, hole over donut": ratios_of(codes, "unseen error", "seen error"),
        "places right on the donut": means_of(codes, "seen right"),
        "places right in the hole": means_of(codes, "unseen right"),
    }
    return Measured(numbers, several(len(rows), "network"))
