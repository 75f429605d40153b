"""Sheets drawn at random, as messy as people make them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

CELLS: dict[str, Sequence[str]] = {
    "plain": ["1", "2.5", "-3", "0", "1e3", "12", "7.25", "100", "3", "44"],
    "written": [
        "5%",
        "7 %",
        "$1,234.50",
        "(5)",
        "−4",
        "1,5",
        "2,75",
        "1.234,5",
        "1 234",
        "12 uM",
        "12 µM",
        "3 mM",
        "0.5mg/ml",
        "€ 5",
        "1,234",
        "10 hrs",
        "5 kgs",
    ],
    "nothing": ["", "", "NA", "n/a", "-", "?", "NaN", "nan", "#N/A", "null", "none", "x"],
    "limits": ["<5", "n.d.", "> 100", "<LOD", "not detected", "≤ 2"],
    "labels": [
        "control",
        "Control",
        "CONTROL ",
        " treated",
        "treated",
        "TP53",
        "SEPT2",
        "2-Sep",
        "Mar-1",
        "BRCA1",
        "A",
        "b",
        "yes",
        "No",
        "day 3",
        "ß",
        "Straße",
        "µ",
        "m",
    ],
    "dates": ["31/12/2020", "1/2/2020", "03.04.2021", "2020-01-02", "13/1/2020"],
    "amounts": ["1 mM", "1000 uM", "1000 µM", "10 uM", "10uM", "5 min", "5 minutes", "2 h", "2 hr", "0 uM", "0"],
    "odd": [
        "Total",
        "mean",
        "Source: book",
        "* note",
        "a sentence with an end.",
        "0012",
        "1.2.3",
        "x,y",
        "\u00a05\u00a0",
        "1\u202f234",
        "line\nbreak",
        "²",
    ],
}
NAMES = [
    "drug",
    "dose",
    "cell line",
    "gain",
    "y",
    "10 uM",
    "20 uM",
    "day 1",
    "day 2",
    "A",
    "B",
    "male",
    "female",
    "",
    "value",
    "age",
    "notes",
    "1",
    "2",
    "3",
    "x1",
    "plate",
    "weight (kg)",
    "",
    "drug",
    "column",
    "yield",
]


def drawn_column(chance: random.Random, rows: int) -> list[str]:
    """Draw the cells of a column: of one kind or two, with some of another among them."""
    kinds = chance.choices(list(CELLS), weights=[6, 2, 0.3, 0.3, 4, 0.5, 1.5, 0.3], k=chance.choice([1, 1, 1, 2]))
    pool = [text for kind in kinds for text in chance.sample(CELLS[kind], chance.randint(1, len(CELLS[kind])))]
    if kinds == ["plain"] and chance.random() < 0.5:
        pool = [f"{chance.gauss(50, 20):.{chance.randint(0, 3)}f}" for _ in range(rows)]
    spice = chance.choice([None, None, "nothing", "limits", "odd"])
    cells = [chance.choice(CELLS[spice] if spice and chance.random() < 0.15 else pool) for _ in range(rows)]
    if chance.random() < 0.2:  # blocks
        cells = sorted(cells)
        cells = [cell if not at or cell != cells[at - 1] else "" for at, cell in enumerate(cells)]
    return cells


def drawn_rows(chance: random.Random) -> list[list[str]]:
    """Draw a sheet: names and columns, with titles, units, totals, footnotes and gaps around them."""
    if chance.random() < 0.05:
        return drawn_plates(chance)
    width, height = chance.randint(1, 7), chance.choice([0, 1, 2, 3, 5, 8, 13, 30, 70])
    columns = [drawn_column(chance, height) for _ in range(width)]
    if width > 2 and height and chance.random() < 0.3:  # a column of keys
        columns[0] = [f"k{at}" for at in range(height)]
    names = chance.sample(NAMES, width)
    rows = [names, *([column[at] for column in columns] for at in range(height))]
    if chance.random() < 0.15:
        rows.insert(1, [chance.choice(["", "(mg)", "uM", "[kg]", "%"]) for _ in names])
    if chance.random() < 0.2:
        rows.insert(0, [chance.choice(["", "", "group", "dose"]) for _ in names])
    if chance.random() < 0.2:
        rows.append(
            [chance.choice(["Total", "mean", "Sum", "b"]), *(chance.choice(["", "5", "6.5"]) for _ in names[1:])]
        )
    if chance.random() < 0.2:
        rows += [
            [""] * width,
            [chance.choice(["Source: field book", "* as reported", "note: none", "b"]), *[""] * (width - 1)],
        ]
    if chance.random() < 0.2:
        rows = [["Table 1: gains"], [], *rows]
    if chance.random() < 0.1 and len(rows) > 3:
        rows.insert(chance.randrange(1, len(rows)), chance.choice([list(names), [""] * width, []]))
    if chance.random() < 0.1:
        rows = (
            [list(cells) for cells in zip(*(row + [""] * (width - len(row)) for row in rows), strict=True)]
            if rows
            else rows
        )
    if chance.random() < 0.05 and rows:
        chance.choice(rows).append(chance.choice(["", "extra"]))
    return rows


def drawn_plates(chance: random.Random) -> list[list[str]]:
    """Draw plates, some of a size that none has."""
    height, width = chance.choice([(2, 3), (4, 6), (8, 12), (3, 3)])
    rows: list[list[str]] = []
    for plate in range(chance.randint(1, 3)):
        if chance.random() < 0.6:
            rows.append([f"plate {plate}", *[""] * width])
        rows.append([chance.choice(["", "", "P"]), *map(str, range(1, width + 1))])
        rows += [
            [chr(65 + row), *(chance.choice(["1.5", "2", "", "<5"]) for _ in range(width))] for row in range(height)
        ]
        rows.append([""] * (width + 1))
    return rows


def drawn_question(chance: random.Random) -> dict[str, Any]:
    """Draw a sheet and how it is asked for."""
    rows = drawn_rows(chance)
    delimiter = chance.choice(["", ",", ";", "\t"])
    merged = []
    if not delimiter and chance.random() < 0.3 and rows:
        top, left = chance.randrange(len(rows)), chance.randrange(7)
        merged.append([top, left, top + chance.randrange(3), left + chance.randrange(3)])
    question: dict[str, Any] = {"grid": {"rows": rows, "merged": merged, "delimiter": delimiter}}
    if chance.random() < 0.2:
        question["wide"] = chance.choice(["cell=gain", "cell=gain", "drug=value", "nonsense", "y = y"])
    if chance.random() < 0.1:
        question["header"] = chance.choice([1, 2, 99])
    return question


def drawn_table(chance: random.Random, words: Sequence[str]) -> dict[str, Any]:
    """Draw a plain table whose names are made of some words: labels, codes, measurements, notes and dates."""
    kinds: list[Callable[[int], str]] = [
        lambda row: chance.choice("abc"),
        lambda row: chance.choice(["yes", "no"]),
        lambda row: chance.choice(["train", "test"]),
        lambda row: str(chance.randrange(3)),
        lambda row: str(chance.randrange(12)),
        lambda row: str(chance.randrange(100)),
        lambda row: f"{chance.gauss(5, 2):.2f}",
        lambda row: str(row),
        lambda row: f"{row / 7:.3f}",
        lambda row: chance.choice(["NA", "1", "2"]),
        lambda row: f"s{row}",
        lambda row: f"see page {chance.randrange(99)} of the lab book",
        lambda row: f"2020-01-{chance.randrange(1, 28):02}",
        lambda row: str(1 + row % 4),
        lambda row: "same",
    ]
    names = [
        chance.choice([*chance.sample(words, 3), "x", "y", "childid", "acid", "n1"])
        for _ in range(chance.randint(2, 9))
    ]
    ends = ["", "", "", "s", "Value", "_2", f".{chance.choice(words)}"]
    names = list(dict.fromkeys(name + chance.choice(ends) for name in names))
    columns: list[list[str]] = []
    for _ in names:
        cells = list(
            map(chance.choice(kinds), range(chance.choice([4, 9, 13, 24, 60]) if not columns else len(columns[0])))
        )
        told = [f"{cell}q" for cell in chance.choice(columns)] if columns else cells
        columns.append(told if chance.random() < 0.1 else cells)
    return {"columns": names, "rows": [list(row) for row in zip(*columns, strict=True)]}


def drawn_blocks(chance: random.Random) -> dict[str, Any]:
    """Draw a sheet whose rows may sum up others, in blocks below names, or with settings and answers above them."""
    comma = chance.random() < 0.2
    names = ["drug", "line", *chance.sample(["gain", "DMSO", "0,1 µM", "1", "10", "control"], chance.randint(1, 4))]
    rows = drawn_sums(chance, len(names) - 2)
    if chance.random() < 0.2:  # blocks of a merged label
        rows = [["" if at and rows[at - 1][0] == row[0] else row[0], *row[1:]] for at, row in enumerate(rows)]
    if chance.random() < 0.2:  # one column of labels
        rows, names = [row[1:] for row in rows], names[1:]
    if comma:
        rows = [[cell.replace(".", ",") for cell in row] for row in rows]
    blank = [""] * (len(names) - 1)
    if chance.random() < 0.4:
        said, again = chance.choice(["{}", "Cell line: {}", "Cell line|{}"]), chance.random() < 0.6
        blocks: list[list[str]] = [] if again else [names]
        for at, name in enumerate(chance.sample(["A549", "HeLa", "MCF7", "x"], chance.randint(1, 3))):
            blocks += [["", *blank]] * (at and chance.randrange(2))
            blocks += [[*said.format(name).split("|"), *blank][: len(names)], *[names] * again, *rows]
        rows = blocks
    else:
        settings = [["Time [s]", *blank], ["Temp. [°C]", *blank]]
        rows = [names, *chance.choice([[], [], [["Response"] * len(names)], settings]), *rows]
    for labels in (["Total: all", "State", "Insgesamt"], ["Gesamt", "Grand total"]):
        if chance.random() < 0.3:
            rows.append([chance.choice(labels), *(chance.choice(["--", "--", "all", "5.5", "7"]) for _ in blank)])
    grid = {"rows": rows, "merged": [], "delimiter": ";" if comma else chance.choice(["", ",", "\t"])}
    return {"grid": grid, **({"wide": "cell=value"} if chance.random() < 0.1 else {})}


def drawn_sums(chance: random.Random, measured: int) -> list[list[str]]:
    """Draw rows of drugs, lines and numbers, of which the last of each drug may sum up or average the others."""
    digits = chance.choice([0, 1, 1, 2])
    lines = chance.sample(["a", "b", "c", "DMSO", "10-19", "2-Sep", "TP53"], chance.randint(2, 5))
    total = chance.choice(["", "Total", "Mean", "All lines", "Fruit", "Summe", "all"])
    rows = []
    for drug in chance.sample(["x", "y", "z", "Total", "1"], chance.randint(1, 4)):
        columns = [
            [round(10 ** chance.randint(1, 5) * chance.random(), digits) for _ in lines] for _ in range(measured)
        ]
        block = {line: [column[at] for column in columns] for at, line in enumerate(lines)}
        if total:
            block[total] = [sum(column) / (len(column) if total == "Mean" else 1) for column in columns]
        if total and chance.random() < 0.2:
            block["SD"] = [column[0] for column in columns]
        rows += [[drug, line, *(f"{number:.{digits}f}" for number in numbers)] for line, numbers in block.items()]
    return rows
