"""Draw the pictures of docs/for from what its pages compute: python tools/build_trade_pictures.py [PAGE ...]."""

from __future__ import annotations

import doctest
import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from build_trade_tables import (
    AUDIENCES,
    CHANNELS,
    LANDING_SEED,
    PAGES,
    SITES,
    TRIAL_SEED,
    VARIETIES,
    landing_effects,
    trial_cells,
)
from matplotlib.colors import ListedColormap
from PIL import Image

import recombine as rc
from recombine.report.theme import HAIR, INK, PAPER, SOFT, inches, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FOLDER = Path(__file__).parents[1] / "docs" / "for"
#: What a page has worked out, by name.
Said = dict[str, Any]


def worked_out(page: str) -> Said:
    """Run the examples of a page, as the tests do, and return what they named."""
    names: Said = {}
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    with redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(text):
            exec(compile(example.source, page, "single"), names)
    return names


def blank(width: float, height: float, panels: int = 1) -> tuple[Canvas, Any]:
    """Return a canvas of some pixels and its panels."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=inches(width, height), layout="constrained")
    return canvas, canvas.subplots(1, panels)


def beside(axes: Axes, table: Any, truth: Any, names: dict[str, str]) -> None:
    """Draw values with their ranges over what is true, by verdict."""
    ends = [min(truth.min(), table["low"].min()), max(truth.max(), table["high"].max())]
    axes.plot(ends, ends, color=SOFT, linewidth=0.8, zorder=1)
    for word, name in names.items():
        some = (table["verdict"] == word).to_numpy()
        verdict = next(verdict for verdict in rc.Verdict if verdict.word == word)
        rows, true = table[some], np.asarray(truth, dtype=float)[some]
        axes.vlines(true, rows["low"], rows["high"], color=verdict.colour, alpha=0.35, linewidth=1.6)
        inside = int(((rows["low"] <= true) & (true <= rows["high"])).sum())
        label = f"{name}: {inside} of {len(rows)} in their range"
        axes.plot(true, rows["predicted"], "o", ms=5, mfc=verdict.colour, mec=INK, mew=0.4, label=label)
    axes.legend(frameon=False, loc="upper left", handletextpad=0.1)


def upright(axes: Axes) -> Canvas:
    """Return the canvas of a map, the names below it turned so that long ones have room."""
    axes.tick_params(axis="x", rotation=90)
    return axes.figure


def screens(said: Said) -> dict[str, Canvas]:
    """The wells; their values beside what was measured later; the pairs."""
    values, axes = blank(640, 400)
    beside(axes, said["wells"], said["wells"]["activity"], {"determined": "predictable", "disconnected": "open"})
    axes.set(xlabel="activity, measured later", ylabel="predicted, with 90 % range")
    pairs, axes = blank(640, 400)
    rows = list(said["knockouts"].structure.additivity.breakers(100).rows())
    axes.plot([-2.2, 0.3], [-2.2, 0.3], color=SOFT, linewidth=0.8)
    observed, expected = (np.array([row[name] for row in rows]) for name in ("observed", "predicted"))
    axes.plot(expected, observed, "o", ms=5, mfc=HAIR, mec=SOFT, mew=0.6)
    colour = rc.Verdict.DISCONNECTED.colour
    for row in rows[:3]:
        axes.plot(row["predicted"], row["observed"], "o", ms=9, mfc=colour, mec=INK)
        words = f"{row['gene_a']} · {row['gene_b']}"
        axes.annotate(words, (row["predicted"], row["observed"]), (8, -4), textcoords="offset points")
    axes.set(xlabel="log growth expected from the other pairs", ylabel="log growth measured")
    return {"map": said["audit"].plot().figure, "values": values, "pairs": pairs}


def experiments(said: Said) -> dict[str, Canvas]:
    """Pages by channels; arms that never ran beside their truth; the profiles to add."""
    page, audience, channel = landing_effects(np.random.default_rng(LANDING_SEED))
    table = said["values"]
    parts = [
        (table["page"], PAGES, page),
        (table["audience"], AUDIENCES, audience),
        (table["channel"], CHANNELS, channel),
    ]
    truth = 4 + sum(effect[[names.index(level) for level in column]] for column, names, effect in parts)
    values, axes = blank(640, 400)
    beside(axes, table, truth, {"determined": "predictable", "disconnected": "open"})
    axes.set(xlabel="what an arm is worth (drawn, so known)", ylabel="predicted, with 90 % range")
    by_channel = upright(said["audit"].plot(factors=("page", "channel")))
    return {"map": by_channel, "values": values, "plan": said["study"].plan(k=8).plot().figure}


def splits(said: Said) -> dict[str, Canvas]:
    """The pairs of the split; where and why the network missed; the robot's scenes."""
    causes, (left, right) = blank(900, 380, 2)
    rows = said["rows"].assign(miss=said["rows"]["net"] - said["rows"]["sum"])
    misses = rows[rows["part"] == "test"].groupby(["left", "right"])["miss"].mean().unstack()
    largest = float(np.nanmax(np.abs(misses.to_numpy())))
    image = left.imshow(misses.reindex(range(10)), cmap="PuOr", vmin=-largest, vmax=largest)
    left.set(
        xlabel="right digit", ylabel="left digit", title="Off by, on unseen pairs", xticks=range(10), yticks=range(10)
    )
    left.grid(visible=False)
    causes.colorbar(image, ax=left, shrink=0.8)
    shown = [row for row in said["score"].causes.rows() if row["share"] > 0.01]
    right.barh([row["cause"] for row in shown], [row["amount"] for row in shown], color=rc.Verdict.DETERMINED.colour)
    right.invert_yaxis()
    right.set(xlabel="squared error", title="The same error by cause")
    right.grid(axis="y", visible=False)
    robot = upright(said["robot"].plot(factors=("object", "place")))
    pairs, axes = blank(400, 420)
    trained = np.array(
        [[pair in said["train"] for pair in said["cells"][10 * left : 10 * left + 10]] for left in range(10)]
    )
    axes.imshow(trained, cmap=ListedColormap([rc.Verdict.DETERMINED.colour, rc.Verdict.SEEN.colour]))
    axes.set(xlabel="right digit", ylabel="left digit", xticks=range(10), yticks=range(10))
    axes.set_title("Grey: trained on. Blue: unseen, determined")
    axes.set_xticks(np.arange(9) + 0.5, minor=True)
    axes.set_yticks(np.arange(9) + 0.5, minor=True)
    axes.grid(visible=False)
    axes.grid(which="minor", color=PAPER)
    axes.tick_params(which="minor", length=0)
    return {"map": pairs, "causes": causes, "robot": robot}


def mixed_models(said: Said) -> dict[str, Canvas]:
    """Grown and estimable cells; the same numbers in R; values beside their truth."""
    both = said["both"]
    numbers, panels = blank(900, 380, 2)
    columns = [("emmean", "certified", "Estimable: least-squares means"), ("lmer", "predicted", "All: shrunk values")]
    for axes, (theirs, ours, title) in zip(panels, columns, strict=True):
        ends = [both[theirs].min(), both[theirs].max()]
        axes.plot(ends, ends, color=SOFT, linewidth=0.8)
        for verdict in (rc.Verdict.DETERMINED, rc.Verdict.DISCONNECTED):
            some = both[both["verdict"] == verdict.word]
            axes.plot(some[theirs], some[ours], "o", ms=6, mfc=verdict.colour, mec=INK, mew=0.4)
        axes.set(xlabel=f"{theirs}, in R", ylabel=f"{ours}, here", title=title)
    expected = trial_cells(np.random.default_rng(TRIAL_SEED))
    places = [(VARIETIES.index(row["variety"]), SITES.index(row["site"])) for _, row in both.iterrows()]
    truth, axes = blank(640, 400)
    true = np.array([expected[place] for place in places])
    beside(axes, both, true, {"determined": "estimable", "disconnected": "not estimable"})
    axes.set(xlabel="expected yield (drawn, so known)", ylabel="predicted, with 90 % range")
    return {"map": said["audit"].plot().figure, "beside": numbers, "truth": truth}


PAGES_DRAWN: dict[str, Callable[[Said], dict[str, Canvas]]] = {
    "screens": screens,
    "experiments": experiments,
    "splits": splits,
    "mixed-models": mixed_models,
}


def main() -> None:
    """Write the pictures of the pages that are named, or of all, in few colours: they are flat."""
    for page in sys.argv[1:] or PAGES_DRAWN:
        said = worked_out(page)
        with theme():
            for name, canvas in PAGES_DRAWN[page](said).items():
                path = FOLDER / f"{page}-{name}.png"
                written = io.BytesIO()
                canvas.savefig(written, dpi=130, bbox_inches="tight", format="png")
                Image.open(written).convert("RGB").quantize(128).save(path, optimize=True)
                print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
