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
#: What rings the cell that a page is about.
RING = "#c2185b"
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


class Board(Figure):
    """A table's cells as a board of squares, coloured by verdict, with a word in each; one square may be ringed."""

    width = 800
    #: Pixels beside and below the board, for names, and its height.
    beside, below, tall = 120, 60, 420

    def __init__(self, name: str, said: str, board: Mapping[str, Any], look: Mapping[str, Any]) -> None:
        self.name, self._said, self.board, self.look = name, said, board, look
        self.tall = look.get("tall", self.tall)

    @property
    def alternative(self) -> str:
        """What is seen."""
        return self._said

    @property
    def table(self) -> Table:
        """One row per square."""
        squares = [
            (row, column, value)
            for row, line in zip(self.board["rows"], self.board["values"], strict=True)
            for column, value in zip(self.board["columns"], line, strict=True)
        ]
        return Table({name: [one[place] for one in squares] for place, name in enumerate(("row", "column", "verdict"))})

    def _draw(self) -> Canvas:
        from matplotlib.colors import to_rgb
        from matplotlib.figure import Figure as Canvas
        from matplotlib.patches import Patch, Rectangle

        canvas = Canvas(figsize=inches(self.width, self.tall), layout="constrained")
        axes = canvas.subplots()
        words = {verdict.word: verdict.colour for verdict in Verdict} | {None: "#ffffff"}
        values = self.board["values"]
        axes.imshow([[to_rgb(words[one]) for one in line] for line in values], aspect="auto", interpolation="nearest")
        rows, columns = self.board["rows"], self.board["columns"]
        for place, line in enumerate(self.look.get("texts") or []):
            for across, text in enumerate(line):
                colour = ink_on(words[values[place][across]]) if values[place][across] else SOFT
                axes.text(
                    across, place, text, ha="center", va="center", color=colour, fontsize=self.look.get("size", 13)
                )
        shown = [Patch(color=words[word], label=label) for word, label in self.look["legend"].items()]
        if "ring" in self.look:
            down, across, tall, wide = self.look["ring"]
            drawn: dict[str, Any] = {"fill": False, "ec": RING, "lw": 3}
            axes.add_patch(Rectangle((across - wide / 2, down - 0.5), wide, tall, clip_on=False, zorder=5, **drawn))
            shown.append(Patch(**drawn, label=self.look["note"]))
        axes.set_yticks(range(len(rows)), rows)
        if self.look.get("named", True):
            axes.set_xticks(range(len(columns)), columns)
        else:
            axes.set_xticks([])
        axes.set(xlabel=self.look["across"], ylabel=self.look["down"])
        if len(columns) < 50:
            axes.set_xticks(np.arange(0.5, len(columns) - 1), minor=True)
        axes.set_yticks(np.arange(0.5, len(rows) - 1), minor=True)
        axes.grid(visible=False)
        axes.grid(which="minor", color="#ffffff", linewidth=1.5)
        axes.tick_params(which="both", length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        canvas.legend(handles=shown, loc="outside upper center", ncols=len(shown), frameon=False)
        return canvas


class PairsFigure(Figure):
    """Hidden pairs of genes: growth as measured beside what a fifth of the pairs says."""

    name = "pairs"
    width = 800

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.points, self.named = np.array(found["points"]), found["named"]

    @property
    def alternative(self) -> str:
        """What is seen."""
        return "Growth of every hidden pair of genes against its prediction: the points hug the diagonal."

    @property
    def table(self) -> Table:
        """One row per pair."""
        return Table({"predicted": self.points[:, 0], "measured": self.points[:, 1]})

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=inches(self.width, 480), layout="constrained")
        axes = canvas.subplots()
        ends = [float(self.points.min()) - 0.05, float(self.points.max()) + 0.05]
        axes.plot(ends, ends, color=SOFT, linewidth=1)
        axes.plot(*self.points.T, "o", ms=5, mfc=POINT, mec="#ffffff", mew=0.5)
        for one in self.named:
            axes.plot(one["predicted"], one["growth"], "o", ms=9, mfc="#e69f00", mec=INK)
            below = one["left"] < 0
            axes.annotate(
                f"{one['gene_a']} · {one['gene_b']}",
                (one["predicted"], one["growth"]),
                (10, -14) if below else (-10, 10),
                textcoords="offset points",
                ha="left" if below else "right",
            )
        axes.set(xlabel="log2 growth that the measured fifth predicts", ylabel="log2 growth, hidden and then measured")
        axes.set(xlim=ends, ylim=ends)
        return canvas


class MutationsFigure(Figure):
    """Sequences by number of mutations: what double mutants settle, alone and with the wild type."""

    name = "gb1"
    width = 800

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.variants, self.length = found["variants"], len(found["wild type"])

    @property
    def alternative(self) -> str:
        """What is seen."""
        return (
            "Sequences by number of mutations, on a logarithmic scale. From double mutants alone only other double "
            "mutants follow; with the wild type, all do."
        )

    @property
    def table(self) -> Table:
        """One row per number of mutations."""
        from math import comb

        counts = range(6)
        return Table({"mutations": [*counts], "sequences": [comb(self.length, one) * 19**one for one in counts]})

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=inches(self.width, 380), layout="constrained")
        panels = canvas.subplots(1, 2, sharey=True)
        blue, orange, grey = (one.colour for one in (Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.SEEN))
        rows = list(self.table.rows())
        for axes, mended in zip(panels, (False, True), strict=True):
            for row in rows:
                number = row["mutations"]
                colour = grey if number == 2 or (mended and number == 0) else blue if mended else orange
                axes.bar(number, row["sequences"], bottom=0.3, width=0.8, color=colour, linewidth=0)
            axes.set_yscale("log")
            axes.set_ylim(0.3, 1e14)
            axes.set_yticks([1, 1e3, 1e6, 1e9, 1e12], ["1", "a thousand", "a million", "a billion", "a trillion"])
            axes.minorticks_off()
            axes.grid(visible=False, axis="x")
            axes.set(xticks=range(6), xlabel="mutations")
            axes.set_title(
                f"{self.variants:,} double mutants" if not mended else "the same and one wild-type row", fontsize=13
            )
        panels[0].set_ylabel("sequences")
        panels[0].bar(0, 0, color=grey, label="measured")
        panels[0].bar(0, 0, color=orange, label="open")
        panels[0].bar(0, 0, color=blue, label="follow, if effects add on one curve")
        canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
        return canvas


class ScenesFigure(Figure):
    """The tables of LIBERO-90 from above: the squares in which objects start, in training and in the test."""

    name = "scenes"
    width = 800

    def __init__(self, squares: Sequence[Mapping[str, Any]]) -> None:
        self.squares = squares
        self.scenes = sorted({one["scene"] for one in squares}, key=lambda name: (name[:3], len(name), name))

    @property
    def alternative(self) -> str:
        """What is seen."""
        return (
            "Twenty tables from above. On each, the small squares in which objects start are the same in every task; "
            "the scenes that the test uses are ringed, and their squares are those of training."
        )

    @property
    def table(self) -> Table:
        """One row per scene and object."""
        return Table({name: [one[name] for one in self.squares] for name in ("scene", "object", "x", "y", "test")})

    def _draw(self) -> Canvas:
        from matplotlib.figure import Figure as Canvas
        from matplotlib.patches import Rectangle

        canvas = Canvas(figsize=inches(self.width, 560), layout="constrained")
        panels = canvas.subplots(4, 5, sharex=True, sharey=True)
        for axes, scene in zip(panels.flat, self.scenes, strict=True):
            some = [one for one in self.squares if one["scene"] == scene]
            tested = any(one["test"] for one in some)
            for one in some:
                side = max(one["side"], 0.02)
                corner = (one["y"] - side / 2, one["x"] - side / 2)
                axes.add_patch(Rectangle(corner, side, side, fc=POINT, ec="#d55e00" if tested else "none", lw=2))
            axes.set(xlim=(-0.4, 0.4), ylim=(0.3, -0.35), xticks=[], yticks=[], aspect="equal")
            axes.set_title(scene.replace("_SCENE", " ").replace("_", " ").lower(), fontsize=11, pad=3)
            axes.grid(visible=False)
            for side in axes.spines.values():
                side.set(visible=True, color="#d55e00" if tested else HAIR, linewidth=2 if tested else 1)
        return canvas
