"""Multi-task learning and pretraining: the figure of rescaled networks by rule of running statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.lab.papers.measured import MissingRowsError
from recombine.lab.papers.multitask.experiments.norms import AFTER, KEPT, NO_STATISTICS
from recombine.lab.papers.multitask.published import PUBLISHED_IMAGES
from recombine.lab.papers.multitask.readings.images import PUBLISHED_FACTOR_GAINS, PUBLISHED_GAINS
from recombine.lab.papers.multitask.readings.norms import FEW_SAMPLES, norm_gains
from recombine.lab.papers.paper import Plot
from recombine.lab.papers.results import Evidence
from recombine.lab.papers.seeds import Interval
from recombine.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

PUBLISHED = "published"
#: What is drawn, its panel, its words, and its look.
SERIES: dict[str, tuple[int, str, dict[str, Any]]] = {
    PUBLISHED: (0, "statistics kept", {"color": "#d55e00", "marker": "o", "linestyle": "-"}),
    KEPT: (1, "statistics kept", {"color": "#d55e00", "marker": "o", "linestyle": "-"}),
    AFTER: (1, "same networks, set anew", {"color": "#0072b2", "marker": "s", "linestyle": "--"}),
    NO_STATISTICS: (1, "group normalisation", {"color": "0.4", "marker": "D", "linestyle": ":"}),
}
PANELS = ("Published: ResNet-18, CIFAR-100", "Here: small ResNets, 8x8 digits")
#: Series stand beside each other, by so many powers of two.
SHIFTS = {KEPT: -0.06, NO_STATISTICS: 0.06}
FACTOR_WORDS = {0.125: "1/8", 0.25: "1/4", 0.5: "1/2", 1.0: "1", 2.0: "2"}


def _norms_table(results: Mapping[str, Evidence]) -> Table:
    """Return gains over plain finetuning, means over 10 to 50 samples of a seed, one-sided 95% bounds over seeds."""
    rows = results["rescaling-norms"].table
    listed = []
    for factor in FACTOR_WORDS:
        published = (
            PUBLISHED_GAINS if factor == 0.125 else PUBLISHED_FACTOR_GAINS.get(factor, (0.0,) * len(PUBLISHED_IMAGES))
        )
        by_samples = dict(zip(PUBLISHED_IMAGES, published, strict=True))
        mean = float(np.mean([by_samples[n] for n in FEW_SAMPLES]))
        listed.append({"series": PUBLISHED, "factor": factor, "gain": mean, "low": np.nan, "high": np.nan, "n": 50})
        for rule in (KEPT, AFTER, NO_STATISTICS):
            try:
                gains, seeds = norm_gains(rows, factor, rule, FEW_SAMPLES)
            except MissingRowsError:
                continue
            gain = Interval.of(gains.mean(1))
            about = {"gain": gain.mean, "low": gain.low, "high": gain.high, "n": len(seeds)}
            listed.append({"series": rule, "factor": factor, **about})
    return Table.from_rows(listed)


def _draw_norms(canvas: Canvas, table: Table) -> None:
    panels = canvas.subplots(1, 2, sharey=True, width_ratios=(1, 1.3))
    canvas.subplots_adjust(left=0.085, right=0.985, wspace=0.07, bottom=0.16, top=0.88)
    for series, (panel, words, look) in SERIES.items():
        line = table.only(series=series)
        if len(line):
            _draw_gains(panels[panel], line, words, look, SHIFTS.get(series, 0.0))
    for axes, title in zip(panels, PANELS, strict=True):
        axes.axhline(0, color="0.6", linewidth=0.9, zorder=0, label="_")
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(FACTOR_WORDS), list(FACTOR_WORDS.values()))
        axes.minorticks_off()
        axes.set_title(title, fontsize=12)
        axes.set_xlabel("pretrained weights times s")
        axes.legend(frameon=False, fontsize=11, loc="lower left")
    panels[0].set_ylabel("gain in accuracy over s = 1, points")


def _draw_gains(axes: Axes, line: Table, words: str, look: dict[str, Any], shift: float) -> None:
    at = line["factor"] * 2.0**shift
    axes.plot(at, line["gain"], label=words, **look)
    bars = np.nan_to_num(np.stack([line["gain"] - line["low"], line["high"] - line["gain"]]))
    some = bars.sum(axis=0) > 0
    style = {"color": look["color"], "linestyle": "", "capsize": 3, "elinewidth": 1.2, "label": "_"}
    axes.errorbar(at[some], line["gain"][some], bars[:, some], **style)


def _say_norms(table: Table) -> str:
    halves = {row["series"]: row["gain"] for row in table.only(factor=0.5).rows()}
    here = ", ".join(
        f"{SERIES[rule][1]} {halves[rule]:+.1f}" for rule in SERIES if rule in halves and rule != PUBLISHED
    )
    return f"Gain by factor. From half of the weights, points: published {halves[PUBLISHED]:+.1f}; here {here}."


FIGURES = (
    Plot(
        "rescaling-norms",
        title="What rescaling gains, by what becomes of batch-norm statistics",
        caption=(
            "What finetuning from weights times s gains over plain finetuning (s = 1), mean over 10, 20 and 50 "
            "samples. Left: the authors' networks, from their result files (50 seeds). Right: ResNets of an eighth of "
            "the width on two of ten digits. Statistics kept: those of pretraining, as finetuning moved them. Set "
            "anew: the same networks with the statistics of their training samples, set after finetuning. Bars: 95% "
            "bounds over n seeds."
        ),
        experiments=("rescaling-norms",),
        table=_norms_table,
        draw=_draw_norms,
        alternative=_say_norms,
    ),
)
