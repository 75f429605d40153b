"""Drawn tables of every kind, each with what the documentation says of its cells: an oracle that shares no code.

A world names the seen cells and those that can exist by their labels, as they were drawn; the package reads the table.
Verdicts follow from the definitions in docs/concepts.md: a cell is determined if its row, one entry per conjunction of
the stated order, lies in the row space of the seen rows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pandas as pd
from exact import Echelon

Cell = tuple[str, ...]
Levels = dict[str, list[str]]
Entry = tuple[Cell, str]

#: Words that stand for no member of a set.
CONTROLS = ("ctrl", "control", "none", "WT")


@dataclass(frozen=True)
class World:
    """Factors with their levels, the cells that were seen, and those that can exist."""

    levels: Levels
    seen: frozenset[Cell]
    possible: tuple[Cell, ...]
    order: int = 1

    def features(self, cell: Cell) -> Counter[object]:
        """How often a cell has each conjunction of as many factors as the order says."""
        chosen = itertools.combinations(enumerate(cell), min(self.order, len(cell)))
        return Counter(chosen)

    def verdicts(self) -> dict[Cell, str]:
        """The verdict of every cell that can exist."""
        span = Echelon(self.features(cell) for cell in sorted(self.seen))
        levels_seen = {entry for cell in self.seen for entry in enumerate(cell)}
        answers = {}
        for cell in self.possible:
            if cell in self.seen:
                answers[cell] = "seen"
            elif not levels_seen.issuperset(enumerate(cell)):
                answers[cell] = "unseen level"
            else:
                answers[cell] = "determined" if self.features(cell) in span else "disconnected"
        return answers


@dataclass(frozen=True)
class Drawn:
    """A table, the options it is read with, and its world; None where it has to be refused."""

    kind: str
    table: pd.DataFrame
    options: dict[str, Any]
    world: World | None
    #: From a row of the verdicts to a cell of the world, and from cells to a table of targets.
    read: Callable[[Mapping[str, Any]], Cell] = field(default=lambda row: ())
    targets: pd.DataFrame | None = None
    #: Cells that may not be collected, and cells that cannot exist (as levels, by factor).
    forbidden: frozenset[Cell] = frozenset()
    impossible: Cell | None = None


def draw_levels(draw: Random, factors: int, largest: int = 4) -> Levels:
    """Names and levels of factors; few have a single level."""
    sizes = [1 if draw.random() < 0.03 else draw.randint(2, largest) for _ in range(factors)]
    return {f"f{number}": [f"v{level}" for level in range(size)] for number, size in enumerate(sizes)}


def cells_of(levels: Levels) -> list[Cell]:
    return list(itertools.product(*levels.values()))


def draw_rows(draw: Random, cells: Sequence[Cell]) -> list[Entry]:
    """Rows in no order, some repeated, each "train" or "test": one cell, few, half, or all of them seen."""
    share = draw.choice([0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0])
    rows = [(cell, "train") for cell in cells if draw.random() < share] or [(draw.choice(cells), "train")]
    if share == 0 or draw.random() < 0.4:
        held_out = draw.choice([0.2, 0.5, 1.0])
        rows += [(cell, "test") for cell in cells if draw.random() < held_out]
    rows += [draw.choice(rows) for _ in range(draw.randint(0, 4))]
    draw.shuffle(rows)
    return rows


def _frame(rows: Sequence[Entry], names: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame([cell for cell, _ in rows], columns=list(names), dtype=object)
    table["purpose"] = [purpose for _, purpose in rows]
    return table


def _present(rows: Sequence[Entry], names: Sequence[str]) -> Levels:
    """Levels that some row has, held out or not."""
    return {name: sorted({cell[index] for cell, _ in rows}) for index, name in enumerate(names)}


def _seen(rows: Sequence[Entry]) -> frozenset[Cell]:
    return frozenset(cell for cell, purpose in rows if purpose == "train")


def _by_name(names: Sequence[str]) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda row: tuple(row[name] for name in names)


def _crossed_world(draw: Random, rows: Sequence[Entry], names: Sequence[str]) -> World | None:
    """The world in which all levels that rows have can meet; None where a factor has one level only."""
    levels = _present(rows, names)
    if min(map(len, levels.values())) < 2:
        return None
    return World(levels, _seen(rows), tuple(cells_of(levels)), _order(draw, len(names)))


def _order(draw: Random, factors: int) -> int:
    return min(draw.choice([1, 1, 2, 2, 3]), factors)


def crossed(draw: Random) -> Drawn:
    """Plain factors: the base of the kinds that add something to it."""
    levels = draw_levels(draw, draw.choice([2, 2, 3, 3, 4]), 5 if draw.random() < 0.2 else 4)
    names = list(levels)
    cells = cells_of(levels)
    if draw.random() < 0.1:  # two factors that are the same in every row, and yet crossed
        cells = [cell for cell in cells if cell[0] == cell[1]] or cells
    rows = draw_rows(draw, cells)
    world = _crossed_world(draw, rows, names)
    options = {"factors": names, "split": "purpose=train", "crossed": True}
    targets = pd.DataFrame(world.possible, columns=names) if world is not None and draw.random() < 0.3 else None
    return Drawn("crossed", _frame(rows, names), options, world, _by_name(names), targets)


def sequences(draw: Random) -> Drawn:
    """One column of texts of one length, one factor per position that varies, and at times a factor beside it."""
    letters = [draw.sample("ACGTacé-*0", draw.choice([1, 2, 2, 3, 4])) for _ in range(draw.randint(1, 5))]
    while len(list(itertools.product(*letters))) > 256:
        letters[draw.randrange(len(letters))] = ["Q"]
    beside = ["line"] if draw.random() < 0.35 else []
    texts = ["".join(text) for text in itertools.product(*letters)]
    cells = [(text, *line) for text in texts for line in ([("k",), ("m",), ("n",)] if beside else [()])]
    rows = draw_rows(draw, cells)
    varying = [index for index in range(len(letters)) if len({cell[0][index] for cell, _ in rows}) > 1]

    def split_up(cell: Cell) -> Cell:
        return (*cell[1:], *(cell[0][index] for index in varying))

    world = _apart(draw, [(split_up(cell), purpose) for cell, purpose in rows], len(varying))
    common = list(rows[0][0][0])

    def text_of(cell: Cell) -> str:
        for index, letter in zip(varying, cell[len(beside) :], strict=True):
            common[index] = letter
        return "".join(common)

    options = {"sequence": "s", "factors": beside or None, "split": "purpose=train"}
    targets = None
    if world is not None and draw.random() < 0.4:
        targets = pd.DataFrame([(text_of(cell), *cell[: len(beside)]) for cell in world.possible])
        targets.columns = ["s", *beside]
    return Drawn(
        "sequence",
        _frame(rows, ["s", *beside]),
        options,
        world,
        lambda row: split_up((row["s"], *(row[name] for name in beside))),
        targets,
    )


def _apart(draw: Random, rows: list[Entry], taken: int) -> World | None:
    """The world of a column taken apart; None where too little varies to recombine: no factor of its, or one in all."""
    factors = len(rows[0][0])
    if not taken or factors < 2:
        return None
    return _crossed_world(draw, rows, [f"p{index}" for index in range(factors)])


def set_text(draw: Random, members: Sequence[str], sign: str) -> str:
    """A set as a column writes it: in any order, members named twice or beside a control, blanks round signs."""
    pieces = list(members) + ([draw.choice(members)] if members and draw.random() < 0.1 else [])
    if not pieces or draw.random() < 0.2:
        pieces.append(draw.choice(CONTROLS))
    draw.shuffle(pieces)
    return draw.choice([sign, f" {sign} "]).join(pieces)


def sets(draw: Random) -> Drawn:
    """One column of sets of up to six members, each a factor that is absent or present, and at times one beside it."""
    members = [f"G{number}" for number in range(draw.randint(1, 6))]
    sign, beside = draw.choice("+;,|"), ["line"] if draw.random() < 0.35 else []
    subsets = list(itertools.product(("absent", "present"), repeat=len(members)))
    lines = [("k",), ("m",)] if beside else [()]
    rows = draw_rows(draw, [(*line, *subset) for subset in subsets for line in lines])

    def text_of(cell: Cell) -> str:
        levels = zip(members, cell[len(beside) :], strict=True)
        return set_text(draw, [member for member, level in levels if level == "present"], sign)

    texts = [text_of(cell) for cell, _ in rows]
    # Members that every row has, or that none has, are no factors.
    varying = [index for index in range(len(members)) if len({cell[len(beside) + index] for cell, _ in rows}) > 1]
    everywhere = [members[index] for index in range(len(members)) if rows[0][0][len(beside) + index] == "present"]
    everywhere = [member for member in everywhere if members.index(member) not in varying]

    def reduced(cell: Cell) -> Cell:
        return (*cell[: len(beside)], *(cell[len(beside) + index] for index in varying))

    world = _apart(draw, [(reduced(cell), purpose) for cell, purpose in rows], len(varying))
    if not any(sign in text for text in texts):
        world = None
    table = pd.DataFrame([cell[: len(beside)] for cell, _ in rows], columns=beside, dtype=object)
    table["s"], table["purpose"] = texts, [purpose for _, purpose in rows]

    def read(row: Mapping[str, Any]) -> Cell:
        named = {piece.strip() for piece in row["s"].split(sign)} - set(CONTROLS)
        assert named.issuperset(everywhere)
        levels = ("present" if members[index] in named else "absent" for index in varying)
        return (*(row[name] for name in beside), *levels)

    targets = None
    if world is not None and draw.random() < 0.4:
        present = [
            [members[index] for index, level in zip(varying, cell[len(beside) :], strict=True) if level == "present"]
            for cell in world.possible
        ]
        targets = pd.DataFrame([cell[: len(beside)] for cell in world.possible], columns=beside, dtype=object)
        targets["s"] = [set_text(draw, [*everywhere, *named], sign) for named in present]
    options = {"sets": "s", "separator": sign, "control": CONTROLS, "factors": beside or None, "split": "purpose=train"}
    return Drawn("set", table, options, world, read, targets)


def nested(draw: Random) -> Drawn:
    """Children in one parent each: one pair, a chain of three, or two children of one parent, with crossed factors."""
    form = draw.choice(["p/t", "p/t", "p/c/t", "p/t q/t"])
    chains = [text.split("/") for text in form.split()]
    tops = [f"t{number}" for number in range(draw.choice([1, 2, 2, 3, 3]))]
    levels, parent_of = {"t": tops}, {}
    for chain in chains:
        for child, parent in reversed(list(itertools.pairwise(chain))):
            levels[child] = [f"{child}{number}" for number in range(draw.randint(2, 8 if len(chains) == 1 else 5))]
            for label in levels[child]:
                parent_of[child, label] = (parent, draw.choice(levels[parent]))
    levels |= draw_levels(draw, draw.choice([0, 1, 1, 1, 2]) if len(levels) < 3 else draw.choice([0, 1, 1]), 4)
    names = draw.sample(list(levels), len(levels))

    def fits(cell: Cell) -> bool:
        by_name = dict(zip(names, cell, strict=True))
        pairs = [(parent_of[name, label], by_name) for name, label in by_name.items() if (name, label) in parent_of]
        return all(by_name[parent] == label for (parent, label), by_name in pairs)

    cells = [cell for cell in itertools.product(*(levels[name] for name in names)) if fits(cell)]
    if not cells:  # no child of one kind has a parent with a child of the other
        return nested(draw)
    rows = draw_rows(draw, cells)
    every = cells_of(_present(rows, names))
    world = _crossed_world(draw, rows, names)
    world = None if world is None else replace(world, possible=tuple(filter(fits, every)))
    options = {"factors": names, "split": "purpose=train", "nested": form.split()}
    impossible = next((cell for cell in every if not fits(cell)), None)
    return Drawn("nested", _frame(rows, names), options, world, _by_name(names), impossible=impossible)


def draw_rules(draw: Random, levels: Levels, rows: int) -> list[dict[str, str | None]]:
    """Rows of a table that names some levels; blanks match all, no row is blank."""
    rules: list[dict[str, str | None]] = []
    names = draw.sample(list(levels), draw.randint(1, len(levels)))
    blank = draw.choice([0.0, 0.3, 0.6])
    for _ in range(rows):
        rule: dict[str, str | None] = {
            name: None if draw.random() < blank else draw.choice(levels[name]) for name in names
        }
        if not any(rule.values()):
            rule[names[0]] = draw.choice(levels[names[0]])
        rules.append(rule)
    return rules


def matches(rule: Mapping[str, str | None], names: Sequence[str], cell: Cell) -> bool:
    return all(rule.get(name) in (None, label) for name, label in zip(names, cell, strict=True))


def possible(draw: Random) -> Drawn:
    """A list of cells that can exist, with blanks and with levels that no row has; seen cells need not be in it."""
    base = crossed(draw)
    while base.world is None:
        base = crossed(draw)
    names = list(base.world.levels)
    wider = {name: [*labels, *(["new"] if draw.random() < 0.3 else [])] for name, labels in base.world.levels.items()}
    rules = draw_rules(draw, wider, draw.randint(1, 12))
    listed = {name: {*labels, *(rule.get(name) for rule in rules)} - {None} for name, labels in wider.items()}
    levels = {name: sorted(labels & {*base.world.levels[name], "new"}) for name, labels in listed.items()}
    mentioned = {name: any(rule.get(name) == "new" for rule in rules) for name in names}
    levels = {name: [label for label in labels if label != "new" or mentioned[name]] for name, labels in levels.items()}
    rows = [tuple(row) for row in base.table[names].itertuples(index=False)]
    every = cells_of(levels)
    exist = [cell for cell in every if cell in rows or any(matches(rule, names, cell) for rule in rules)]
    world = World(levels, base.world.seen, tuple(exist), base.world.order)
    options = base.options | {"possible": pd.DataFrame(rules, dtype=object)}
    targets = pd.DataFrame(exist, columns=names) if draw.random() < 0.2 else None
    impossible = next((cell for cell in every if cell not in set(exist)), None)
    return Drawn("possible", base.table, options, world, base.read, targets, impossible=impossible)


def listed(draw: Random) -> Drawn:
    """A list of cells without blanks, in all of which the levels of one or two factors follow from another's.

    Nothing is said of nesting; a factor that follows has no effects of its own that could be told apart.
    """
    levels = draw_levels(draw, draw.choice([2, 3, 3, 4]), 5)
    names = draw.sample(list(levels), len(levels))
    child, *parents = draw.sample(range(len(names)), draw.choice([2, 2, 3]) if len(names) > 2 else 2)
    follows = {
        (parent, label): draw.choice(levels[names[parent]]) for parent in parents for label in levels[names[child]]
    }
    every = itertools.product(*(levels[name] for name in names))
    cells = [cell for cell in every if all(cell[parent] == follows[parent, cell[child]] for parent in parents)]
    rows = draw_rows(draw, cells)
    world = _crossed_world(draw, rows, names)
    share = draw.choice([0.2, 0.6, 1.0])
    extra = [cell for cell in cells if draw.random() < share] or cells[:1]
    if world is not None:
        exist = sorted({*extra, *(cell for cell, _ in rows)})
        present = {name: sorted({cell[index] for cell in exist}) for index, name in enumerate(names)}
        world = replace(world, possible=tuple(exist), levels=present)
    options = {"factors": names, "split": "purpose=train", "possible": pd.DataFrame(extra, columns=names, dtype=object)}
    return Drawn("listed", _frame(rows, names), options, world, _by_name(names))


def forbidden(draw: Random) -> Drawn:
    """Cells that may not be collected: verdicts are those without, and no plan has them."""
    base = crossed(draw)
    while base.world is None:
        base = crossed(draw)
    rules = draw_rules(draw, base.world.levels, draw.randint(1, 6))
    names = list(base.world.levels)
    barred = [cell for cell in base.world.possible if any(matches(rule, names, cell) for rule in rules)]
    options = base.options | {"forbidden": pd.DataFrame(rules, dtype=object)}
    return Drawn("forbidden", base.table, options, base.world, base.read, None, frozenset(barred))


def weighted(draw: Random) -> Drawn:
    """Weights of any size change no verdict; a row of weight 0 is no measurement, as if it were not there."""
    base = crossed(draw)
    while base.world is None:
        base = crossed(draw)
    names, table = list(base.world.levels), base.table.copy()
    choices = draw.choice([[1], [1, 2, 7], [0, 1, 3], [0, 0, 1], [0.25, 1e-6, 1e9], [0, 0.5, 3.0]])
    table["n"] = [draw.choice(choices) for _ in range(len(table))]
    if not ((table["n"] > 0) & (table["purpose"] == "train")).any():
        table.loc[table.index[table["purpose"] == "train"][0], "n"] = 1
    counted = table[table["n"] > 0]
    rows = [(tuple(row[:-1]), row[-1]) for row in counted[[*names, "purpose"]].itertuples(index=False)]
    world = _crossed_world(draw, rows, names)
    return Drawn("weighted", table, base.options | {"weight": "n"}, world, base.read)


#: Every kind of design that is drawn here, by name.
DESIGNS: dict[str, Callable[[Random], Drawn]] = {
    "crossed": crossed,
    "sequence": sequences,
    "set": sets,
    "nested": nested,
    "possible": possible,
    "listed": listed,
    "forbidden": forbidden,
    "weighted": weighted,
}
