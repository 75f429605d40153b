"""Draw the pictures of README and docs from the bundled table and stored trials: python tools/build_pictures.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.data import flights_path, screen_path
from recombine.report.audit import VerdictMap
from recombine.report.figure import Figure
from recombine.report.plots import draw_map_panel, map_panel
from recombine.report.theme import HAIR, INK, PIXELS_PER_INCH, SOFT, inches, symbol_marker, theme
from recombine.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROOT = Path(__file__).parents[1]
IMAGES, TRIALS = ROOT / "docs" / "images", ROOT / "results" / "audit" / "forecast.json"
#: Rows of the first panel: as the comparison of models names them, and as the picture does.
MODELS = {
    "additive least squares": "effects added",
    "random forest": "random forest",
    "neural network (MLP)": "network, trained",
    "theory: network, NTK": "network, forecast",
}
VERDICTS = (rc.Verdict.DETERMINED, rc.Verdict.DISCONNECTED, rc.Verdict.UNSEEN_LEVEL)


class Summary(Figure):
    """What two models do by verdict, and what was forecast of networks beside what trained ones did."""

    name = "summary"

    def __init__(self, models: Table, trials: dict[str, Any]) -> None:
        self.models = [row for row in models.rows() if row["share"] == 0.2 and row["model"] in MODELS]
        rows = trials["rows"]
        self._table = Table({name: np.array([row[name] for row in rows]) for name in rows[0]})

    @property
    def table(self) -> Table:
        """The trials of the second panel."""
        return self._table

    @property
    def alternative(self) -> str:
        """The picture in a sentence."""
        return "Errors of models by verdict; and errors of networks as forecast against those of trained ones."

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=inches(820, 275))
        left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.15, 1]})
        figure.subplots_adjust(left=0.16, right=0.985, top=0.9, bottom=0.185, wspace=0.28)
        self._by_verdict(left)
        self._forecasts(right)
        return figure

    def _by_verdict(self, axes: Axes) -> None:
        heights = {name: place for place, name in enumerate(MODELS)}
        for row in self.models:
            errors = [float(row[verdict.word]) for verdict in VERDICTS]
            axes.plot([min(errors), max(errors)], [heights[row["model"]]] * 2, color=HAIR, linewidth=2, zorder=1)
            for verdict, error in zip(VERDICTS, errors, strict=True):
                look: dict[str, Any] = {"ms": 9, "mfc": verdict.colour, "mec": INK, "mew": 0.5, "zorder": 3}
                look["label"] = verdict.word if heights[row["model"]] == 0 else None
                axes.plot(
                    [error],
                    [heights[row["model"]]],
                    linestyle="none",
                    marker=symbol_marker(verdict),
                    clip_on=False,
                    **look,
                )
        axes.set_yticks(range(len(MODELS)), list(MODELS.values()))
        axes.set_ylim(len(MODELS) - 0.5, -0.5)
        axes.set_xlim(0, 119)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("error on unseen combinations, minutes")
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.42, 1.0), ncols=3, frameon=False, fontsize=11, handletextpad=0.1,
            columnspacing=1.0,
        )  # fmt: skip

    def _forecasts(self, axes: Axes) -> None:
        said, did = (self._table[name] / self._table["scale"] for name in ("forecast", "trained"))
        ends = np.array([0.1, 8])
        axes.fill_between(ends, ends / 1.2, ends / 0.8, color=HAIR, alpha=0.6, linewidth=0, zorder=0)
        axes.plot(ends, ends, color=SOFT, linewidth=0.8, zorder=1)
        axes.plot(said, did, linestyle="none", marker="o", ms=5, mfc=rc.Verdict.DETERMINED.colour, mec=INK, mew=0.4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(*ends)
        axes.set_ylim(*ends)
        ticks = [0.1, 0.3, 1, 3]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("forecast error (in standard deviations)")
        axes.set_ylabel("error of the trained network", labelpad=2)
        close = int((np.abs(said / did - 1) <= 0.2).sum())
        words = f"{close} of {len(said)}\nreal tables\nwithin 20 %"
        axes.text(0.04, 0.96, words, transform=axes.transAxes, va="top", fontsize=11.5)


class Screen(Figure):
    """The map of the bundled screen in a reader's words, with the well to measure next."""

    name = "screen"

    def __init__(self, audit: rc.Audit) -> None:
        self.audit = audit

    @property
    def table(self) -> Table:
        """The verdict of every well."""
        return self.audit.verdicts

    @property
    def alternative(self) -> str:
        """The picture in a sentence."""
        return "Map of drugs by cell lines: measured, predictable and open wells, and the one to measure next."

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        chart, figure = VerdictMap(self.audit), Canvas(figsize=inches(980, 520))
        axes, panel = figure.add_axes((0.115, 0.2, 0.875, 0.73)), map_panel(chart)
        draw_map_panel(chart, axes, panel)
        cell = self.audit.design.space.decode(np.array([self.audit.plan(k=1).picks[0].cell]))
        down, across = (axis.labels.index(str(cell[axis.factor][0])) for axis in (panel.row, panel.column))
        axes.plot([across + 0.5], [down + 0.5], marker="*", ms=30, mfc="#ffffff", mec=INK, mew=1.4, clip_on=False)
        for x, text, verdict in ((0, "measured", rc.Verdict.SEEN), (0.14, "predictable", rc.Verdict.DETERMINED)):
            self._entry(axes, x, text, verdict)
        self._entry(axes, 0.3, "open", rc.Verdict.DISCONNECTED)
        axes.plot([0.402], [1.045], marker="*", ms=17, mfc="#ffffff", mec=INK, transform=axes.transAxes, clip_on=False)
        axes.text(0.42, 1.045, "measure next", transform=axes.transAxes, va="center")
        axes.set(xlabel="", ylabel="")
        return figure

    def _entry(self, axes: Axes, x: float, text: str, verdict: rc.Verdict) -> None:
        look: dict[str, Any] = {"transform": axes.transAxes, "clip_on": False, "mec": "none"}
        axes.plot([x + 0.012], [1.045], marker="s", ms=14, mfc=verdict.colour, **look)
        axes.text(x + 0.03, 1.045, text, transform=axes.transAxes, va="center")


def preview(audit: rc.Audit) -> Canvas:
    """Draw what a link to the documentation shows where it is passed around: a grid, and what it is about."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=inches(1200, 630))
    chart, axes = VerdictMap(audit), canvas.add_axes((0.55, 0.06, 0.42, 0.8))
    draw_map_panel(chart, axes, map_panel(chart))
    axes.set(xlabel="", ylabel="", xticks=[], yticks=[], aspect="equal")
    canvas.text(0.05, 0.84, "Recombine", fontsize=52, fontweight="bold")
    sentence = (
        "Some combinations in your\ntable were measured,\nmost were not.\n\nWhich of the others\ndo your data predict?"
    )
    canvas.text(0.05, 0.75, sentence, fontsize=31, va="top", linespacing=1.35)
    entries = {"measured": rc.Verdict.SEEN, "predictable": rc.Verdict.DETERMINED, "open": rc.Verdict.DISCONNECTED}
    for text, verdict, x in zip(entries, entries.values(), (0.552, 0.7, 0.867), strict=True):
        canvas.text(x, 0.905, "■", fontsize=26, color=verdict.colour, va="center")
        canvas.text(x + 0.03, 0.905, text, fontsize=21, va="center")
    return canvas


def main() -> None:
    """Write summary.png, map.png, screen.png and preview.png into docs/images."""
    design = rc.Design.from_frame(
        flights_path(), factors=["carrier", "origin", "dest"], outcome="air_time", weight="n", sd="sd"
    )
    audit, trials = rc.audit(design), json.loads(TRIALS.read_text(encoding="utf-8"))
    IMAGES.mkdir(exist_ok=True)
    Summary(audit.compare_models(), trials).save(IMAGES / "summary.png")
    VerdictMap(audit).save(IMAGES / "map.png")
    columns = {"factors": ["drug", "cell_line"], "outcome": "activity", "split": "split=measured"}
    Screen(rc.audit(screen_path(), **columns)).save(IMAGES / "screen.png")
    draw_preview()


def draw_preview() -> None:
    """Write docs/images/preview.png: two groups of levels that were never seen together."""
    groups = [(row, column) for row in range(11) for column in range(11) if (row % 11 < 6) == (column % 11 < 7)]
    chosen = np.random.default_rng(2).random(len(groups)) < 0.55
    with theme():
        canvas = preview(
            rc.audit(rc.Design.from_cells([cell for cell, kept in zip(groups, chosen, strict=True) if kept]))
        )
        canvas.savefig(IMAGES / "preview.png", dpi=PIXELS_PER_INCH)


if __name__ == "__main__":
    main()
