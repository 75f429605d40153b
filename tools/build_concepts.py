"""Draw the small pictures of docs/concepts.md: python tools/build_concepts.py [--check].

Verdicts, certificates and values in them are the program's; ``tests/architecture/test_entry_pages.py`` sees that the
committed pictures are what this file draws.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

import recombine as rc
from recombine.report.theme import ink_on
from recombine.verdicts import Verdict

FOLDER = Path(__file__).parents[1] / "docs" / "images"
#: Pixels of a cell of a grid, of the margin, and of a picture's height and width where there is no grid.
CELL, MARGIN, HEIGHT, WIDTH = 34, 60, 200, 420
INK, SOFT, LINE = "#1f2933", "#6b7480", "#9aa3ae"
SEEN, BLUE, ORANGE = Verdict.SEEN.colour, "#0072b2", "#d55e00"
#: Two drugs in two lines of their own, another drug in none of these, and one that no row has.
ROWS = [(0, 0), (0, 1), (1, 0), (2, 1), (3, 3)]


def drawn(shapes: Iterable[str], width: float, height: float, title: str) -> str:
    """Return a picture on white, so that it reads on a dark page too."""
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="sans-serif" font-size="13">\n<title>{title}</title>\n'
        f'<rect width="{width:g}" height="{height:g}" rx="6" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def box(x: float, y: float, fill: str, sign: str = "", size: float = CELL) -> str:
    """Return a cell of a grid with a sign in it."""
    frame = f'<rect x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" fill="{fill}" stroke="{LINE}"/>'
    ink = ink_on(fill)
    return frame + (said(x + size / 2, y + size / 2 + 5, sign, "middle", ink) if sign else "")


def said(x: float, y: float, text: str, anchor: str = "start", colour: str = INK) -> str:
    """Return a text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


def line(points: Sequence[tuple[float, float]], colour: str = INK, dashed: bool = False, width: float = 2) -> str:
    """Return a line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}/>'


def dot(x: float, y: float, colour: str = INK, filled: bool = True) -> str:
    """Return a dot."""
    fill = colour if filled else "#ffffff"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def grid(fills: dict[tuple[int, int], tuple[str, str]], rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return a grid of cells, rows and columns named."""
    shapes = [said(MARGIN - 8, 30 + CELL * (at + 0.65), name, "end") for at, name in enumerate(rows)]
    shapes += [said(MARGIN + CELL * (at + 0.5), 22, name, "middle") for at, name in enumerate(columns)]
    for (row, column), (fill, sign) in fills.items():
        shapes.append(box(MARGIN + CELL * column, 30 + CELL * row, fill, sign))
    return shapes


def legend(entries: Sequence[tuple[str, str, str]], x: float, y: float = 36) -> list[str]:
    """Return colours, signs and what they mean, below one another."""
    shapes = []
    for at, (fill, sign, text) in enumerate(entries):
        shapes += [box(x, y + 30 * at, fill, sign, 22), said(x + 30, y + 16 + 30 * at, text)]
    return shapes


def cells() -> str:
    """Draw a grid of which some cells were seen."""
    fills = {
        (row, column): (SEEN, "") if (row, column) in ROWS else ("#ffffff", "")
        for row in range(3)
        for column in range(3)
    }
    shapes = grid(fills, ("drug a", "drug b", "drug c"), ("x", "y", "z"))
    return drawn([*shapes, *legend([(SEEN, "", "seen"), ("#ffffff", "", "unseen")], 190)], WIDTH, 145, "Cells")


def adding() -> str:
    """Draw a table of sums."""
    effects, columns = (2, 5, 3), (0, 4, 1)
    fills = {(r, c): ("#ffffff", f"{effects[r] + columns[c]}") for r in range(3) for c in range(3)}
    shapes = grid(fills, [f"{name}: {e}" for name, e in zip("abc", effects, strict=True)], [f"+{c}" for c in columns])
    return drawn(
        [*shapes, said(190, 84, "every cell is the effect of its row"), said(190, 102, "plus that of its column")],
        WIDTH,
        145,
        "Adding",
    )


def verdicts() -> str:
    """Draw the verdicts that the audit gives."""
    levels = (5, 4)
    audit = rc.audit(rc.Design.from_cells(ROWS, sizes=levels))
    words = {verdict.word: verdict for verdict in Verdict}
    codes = {(int(row["factor 1"]), int(row["factor 2"])): words[row["verdict"]] for row in audit.verdicts.rows()}
    fills = {}
    for row in range(levels[0]):
        for column in range(levels[1]):
            verdict = codes.get((row, column), Verdict.SEEN)
            fills[row, column] = (verdict.colour, verdict.symbol)
    shapes = grid(fills, [f"drug {name}" for name in "abcde"], "xyzw")
    shown = (Verdict.SEEN, Verdict.DETERMINED, Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL)
    return drawn([*shapes, *legend([(v.colour, v.symbol, v.word) for v in shown], 230)], WIDTH, 215, "Verdicts")


def axes(across: str, up: str) -> list[str]:
    """Return two axes with their names."""
    return [
        line([(50, 20), (50, 160), (390, 160)], LINE, width=1.5),
        said(390, 182, across, "end", SOFT),
        said(56, 24, up, "start", SOFT),
    ]


def ordered() -> str:
    """Draw a factor on a line: straight between seen values, nothing beyond."""
    points = [(80, 140), (170, 100), (300, 50)]
    shapes = [
        *axes("dose", "effect"),
        line(points, BLUE),
        *(dot(x, y, BLUE) for x, y in points),
        dot(235, 75, BLUE, False),
    ]
    shapes += [
        said(235, 66, "in between: determined", "end"),
        line([(300, 50), (370, 23)], LINE, True),
        said(312, 76, "beyond: open"),
    ]
    return drawn(shapes, WIDTH, HEIGHT, "Ordered factors")


def shares() -> str:
    """Draw the variance of an outcome as one bar."""
    parts = (("drug", 46, BLUE), ("line", 24, "#56b4e9"), ("pairs", 12, "#e69f00"), ("noise", 18, "#d3d7de"))
    shapes, x = [], 20.0
    for at, (name, share, colour) in enumerate(parts):
        shapes.append(f'<rect x="{x:g}" y="30" width="{3.8 * share:g}" height="34" fill="{colour}" stroke="#ffffff"/>')
        shapes.append(said(x + 1.9 * share, 84 + 18 * (at % 2), f"{name} {share} %", "middle"))
        x += 3.8 * share
    return drawn(shapes, WIDTH, 118, "What carries the outcome")


def nested() -> str:
    """Draw plants inside treatments."""
    fills = {}
    for treatment in range(2):
        for plant in range(6):
            can = plant // 3 == treatment
            fills[treatment, plant] = ("#cfe3f1", "") if can else ("#f4f5f7", "–")
    shapes = grid(fills, ("cold", "warm"), [f"p{plant}" for plant in range(6)])
    return drawn(
        [*shapes, *legend([("#cfe3f1", "", "can exist"), ("#f4f5f7", "–", "cannot")], 285, 32)], WIDTH, 115, "Nesting"
    )


def certificate() -> str:
    """Draw the sum of seen cells that gives an unseen one, as the program finds it."""
    seen = [(0, 0), (0, 1), (1, 0)]
    audit = rc.audit(rc.Design.from_cells(seen, [3.0, 7.0, 6.0]))
    (value,) = (round(row["certified"]) for row in audit.verdicts.rows())
    fills = {
        (0, 0): (SEEN, "− 3"),
        (0, 1): (SEEN, "+ 7"),
        (1, 0): (SEEN, "+ 6"),
        (1, 1): (Verdict.DETERMINED.colour, f"{value}"),
    }
    shapes = grid(fills, ("drug a", "drug b"), ("x", "y"))
    return drawn(
        [*shapes, said(160, 62, "6 + 7 − 3 = 10:"), said(160, 82, "whatever the effects are, if they add")],
        WIDTH,
        110,
        "Certificates",
    )


def ranges() -> str:
    """Draw values with their ranges, of which nine in ten hold what was measured later."""
    rng = np.random.default_rng(3)
    shapes = axes("unseen cells", "value")
    for at, value in enumerate(rng.uniform(60, 120, 10)):
        x, half = 72 + 32 * at, 18 + 2 * (at % 4)
        later = value + (half + 9 if at == 6 else rng.uniform(-0.8, 0.8) * half)
        shapes += [line([(x, value - half), (x, value + half)], BLUE), dot(x, value, BLUE)]
        shapes.append(said(x + 7, later + 4, "×", "start", ORANGE))
    return drawn(
        [
            *shapes,
            said(60, 182, "● value and range", "start", BLUE),
            said(190, 182, "× measured later", "start", ORANGE),
        ],
        WIDTH,
        HEIGHT,
        "Ranges",
    )


def additivity() -> str:
    """Draw effects that add and effects that do not."""
    shapes = []
    for left, ends, text in (
        (40, ((120, 70), (80, 30)), "effects add"),
        (240, ((120, 70), (50, 110)), "they interact"),
    ):
        shapes += [
            line([(left, 20), (left, 140), (left + 140, 140)], LINE, width=1.5),
            said(left + 70, 164, text, "middle"),
        ]
        for (first, second), colour in zip(ends, (BLUE, ORANGE), strict=True):
            points = [(left + 25, first), (left + 115, second)]
            shapes += [line(points, colour), *(dot(x, y, colour) for x, y in points)]
    return drawn(shapes, WIDTH, 180, "Does additivity hold")


def curve() -> str:
    """Draw a curve from hidden sums to outcomes."""
    x = np.linspace(60, 250, 60)
    y = 150 - 110 / (1 + np.exp(-(x - 150) / 24))
    shapes = [
        *axes("hidden sum of effects", "outcome"),
        line(list(zip(x, y, strict=True)), BLUE),
        *(dot(x[at], y[at], BLUE) for at in range(4, 60, 8)),
    ]
    shapes += [line([(250, y[-1]), (385, y[-1] - 1)], LINE, True), said(388, 70, "beyond what was seen", "end", SOFT)]
    return drawn(shapes, WIDTH, HEIGHT, "A curve on the way out")


def leak() -> str:
    """Draw a slope of one beside that of a network."""
    shapes = [
        *axes("what the data determine", "prediction"),
        line([(70, 150), (300, 30)], LINE, True),
        line([(70, 125), (300, 60)], ORANGE),
    ]
    shapes += [said(305, 36, "all arrives", "start", SOFT), said(305, 64, "a leak", "start", ORANGE)]
    return drawn(
        [*shapes, *(dot(x, 125 - (x - 70) * 65 / 230, ORANGE) for x in range(80, 300, 40))],
        WIDTH,
        HEIGHT,
        "Memorization leak",
    )


PICTURES: dict[str, Callable[[], str]] = {
    f"concept-{draw.__name__}.svg": draw
    for draw in (cells, adding, verdicts, ordered, shares, nested, certificate, ranges, additivity, curve, leak)
}


def main() -> None:
    """Write every picture, or say which are stale."""
    texts = {name: draw() for name, draw in PICTURES.items()}
    stale = [
        name
        for name, text in texts.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != text
    ]
    if "--check" in sys.argv[1:]:
        sys.exit(f"stale: {', '.join(stale)}; run python tools/build_concepts.py" if stale else 0)
    for name in stale:
        (FOLDER / name).write_text(texts[name], encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
