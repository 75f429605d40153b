"""The gallery's figures, each drawn from the committed results of one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import Table, Verdict
from recombine.lab.papers.plots import DASHES
from recombine.lab.report.figure import MARKERS
from recombine.report.figure import Figure
from recombine.report.theme import HAIR, INK, POINT, SOFT, inches, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Causes as the figure shows them: word, which of the score's causes it holds, colour. Scale is hatched, for grey ink.
CAUSES = (
    ("noise", ("noise", "seen noise"), HAIR),
    ("structure", ("structure",), "#8fc7e8"),
    ("scale", ("leak",), "#e58ab5"),
    ("offset", ("offset",), "#0071b2"),
    ("other causes", ("shortcut", "interaction", "memorization"), "#e8a33d"),
    ("no named cause", ("rest",), SOFT),
)
#: What is drawn beside GEARS: word, name in the results, colour.
BESIDE = (("GEARS", "gears", "#d55e00"), ("adding", "add", INK), ("link", "link", POINT))
#: Verdicts in the words of those who make suites.
WORDS = {
    Verdict.SEEN: "a goal of LIBERO-90 (seen)",
    Verdict.DETERMINED: "recombines its levels (determined)",
    Verdict.DISCONNECTED: "recombines its levels (disconnected)",
    Verdict.UNSEEN_LEVEL: "has a new level (unseen level)",
}
VIEWS = {"by scene": "in its scene", "any scene": "in any scene"}


def summed(row: Mapping[str, Any], causes: Sequence[str]) -> float:
    """Return the share of a file's error that these causes have together."""
    found = row["never trained on"]["causes"]
    return float(sum(found[name]["value"] for name in causes if name in found))


class GearsFigure(Figure):
    """Squared error of GEARS, adding and a link for every file, and where GEARS' error lies."""

    name = "gears"

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows
        self.seeds = list(dict.fromkeys(row["seed"] for row in rows))

    @property
    def table(self) -> Table:
        """One row per file."""
        columns: dict[str, list[Any]] = {name: [row[name] for row in self.rows] for name in ("seed", "size", "trained")}
        for word, name, _ in BESIDE:
            columns[f"error of {word}"] = [row["never trained on"]["error"][name] for row in self.rows]
        for word, causes, _ in CAUSES:
            columns[f"share of {word}"] = [summed(row, causes) for row in self.rows]
        return Table(columns)

    @property
    def alternative(self) -> str:
        """What is seen."""
        return (
            "Squared error of GEARS, adding and a link on pairs that were never trained on, for eight numbers of "
            "training pairs and three seeds: the link is lowest everywhere. Below it, shares of causes in the error of "
            "GEARS: scale and offset fill most bars."
        )

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=inches(self.width, 560), layout="constrained")
        axes = canvas.subplots(2, len(self.seeds), sharex="col", sharey="row", height_ratios=(1.15, 1))
        for place, seed in enumerate(self.seeds):
            rows = [row for row in self.rows if row["seed"] == seed]
            self._errors(axes[0, place], rows)
            self._causes(axes[1, place], rows)
            whence = "from scratch" if place == 0 else f"on from {self.seeds[place - 1]}"
            axes[0, place].set_title(f"seed {seed}\ntrained {whence}", fontsize=12)
            axes[1, place].set_xticks(range(len(rows)), [f"{row['size']:,}" for row in rows], rotation=55, fontsize=10)
        axes[0, 0].set_ylabel("mean squared error")
        axes[1, 0].set_ylabel("share of GEARS' error")
        axes[1, len(self.seeds) // 2].set_xlabel("training pairs asked for")
        for row in axes:
            row[-1].legend(
                *row[0].get_legend_handles_labels(),
                loc="upper left",
                bbox_to_anchor=(1.0, 1),
                frameon=False,
                fontsize=11,
            )
        return canvas

    def _errors(self, axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
        places = np.arange(len(rows))
        for (word, name, colour), marker, dash in zip(BESIDE, MARKERS, DASHES, strict=False):
            errors = [row["never trained on"]["error"][name] for row in rows]
            axes.plot(
                places, errors, color=colour, marker=marker, markersize=5, linestyle=dash, linewidth=1.4, label=word
            )
        for word, values, dash in (
            ("plain mean", [row["never trained on"]["error"]["plain mean"] for row in rows], (0, (1, 2))),
            ("noise", [row["never trained on"]["noise"] for row in rows], (0, (4, 3))),
        ):
            axes.plot(places, values, color=SOFT, linestyle=dash, linewidth=1.2, label=word)
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_yticks([0.001, 0.003, 0.01, 0.03, 0.1, 0.3], ["0.001", "0.003", "0.01", "0.03", "0.1", "0.3"])

    def _causes(self, axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
        places, above, below = np.arange(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
        for word, causes, colour in CAUSES:
            shares = np.array([summed(row, causes) for row in rows])
            start = np.where(shares >= 0, above, below)
            hatch = "////" if word == "scale" else None
            axes.bar(places, shares, bottom=start, width=0.78, color=colour, label=word, linewidth=0, hatch=hatch)
            above, below = above + np.maximum(shares, 0), below + np.minimum(shares, 0)
        axes.axhline(0, color=SOFT, linewidth=0.8)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.grid(visible=False, axis="x")


class LiberoFigure(Figure):
    """Goal atoms of each suite by verdict, with the scene and without."""

    name = "libero"
    width = 760

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows

    @property
    def table(self) -> Table:
        """One row per suite and view."""
        columns: dict[str, list[Any]] = {name: [row[name] for row in self.rows] for name in ("suite", "view", "atoms")}
        return Table(
            columns | {one.word: [row["verdicts"].get(one.word, 0) for row in self.rows] for one in self._shown}
        )

    @property
    def alternative(self) -> str:
        """What is seen."""
        return (
            "Goal atoms of four test suites against LIBERO-90 by verdict: of LIBERO-10 nearly all are seen; the other "
            "suites have a scene of their own, and most of their atoms are seen once the scene is ignored."
        )

    @property
    def _shown(self) -> list[Verdict]:
        return [one for one in Verdict if any(one.word in row["verdicts"] for row in self.rows)]

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=inches(self.width, 380), layout="constrained")
        axes = canvas.subplots()
        places = [-(place + 0.45 * (place // len(VIEWS))) for place in range(len(self.rows))]
        left = np.zeros(len(self.rows))
        for verdict in self._shown:
            counts = np.array([row["verdicts"].get(verdict.word, 0) for row in self.rows])
            axes.barh(places, counts, left=left, height=0.8, color=verdict.colour, label=WORDS[verdict], linewidth=0)
            for place, start, count in zip(places, left, counts, strict=True):
                if count:
                    axes.text(
                        start + count / 2, place, str(count), ha="center", va="center", color=ink_on(verdict.colour)
                    )
            left = left + counts
        axes.set_yticks(places, [f"{title(row['suite'])}, {VIEWS[row['view']]}" for row in self.rows])
        axes.set_xlabel("distinct goal atoms")
        axes.set_xlim(0, float(left.max()) + 0.5)
        axes.set_xticks(range(0, int(left.max()) + 1, 5))
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        canvas.legend(loc="outside upper center", ncols=len(self._shown), frameon=False)
        return canvas


def title(suite: str) -> str:
    """Return a suite's name as its authors write it."""
    first, _, second = suite.partition("_")
    return f"{first.upper()}-{second if second.isdigit() else second.capitalize()}"
