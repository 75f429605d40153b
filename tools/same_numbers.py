"""Show that two states of this package give the same numbers, whatever sentences and files have become.

``python tools/same_numbers.py --before CLONE --after CLONE`` runs audits, scores, splits and comparisons of the bundled
table and of tables made here, estimators, and the verdicts on all papers in two clones, each with the python of its
``.venv``, and prints every path at which they differ; then it ends with 1. What ``--record FILE`` wrote, run by a
clone's own python, may stand in place of a clone. ``--only nested`` runs the cases with that word in their name.

Numbers are equal to 1e-12, codes as texts. Left out are sentences, the table's specification, versions and names of
files. What was renamed on purpose stands in the four tables below; an entry that is not used does no harm.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

#: Options before and after, of any command; the new one is used where the help of the command has it.
RENAMED_OPTIONS = {"--suggest": "--plan"}
#: Keys of JSON documents before and after; the new one is looked for where the old one is gone.
RENAMED_KEYS = {"suggestions": "plan", "word": "state"}
#: Keys that documents of splits and probes have beside those of before.
NEW_KEYS = {"findings", "kind"}
#: Settings that a comparison lists beside those of before, by their name: it tells how tables were read differently.
NEW_SETTINGS = {"table read with"}
#: Codes before and after, wherever they stand.
RENAMED_CODES = {
    "holds roughly": "holds_roughly",
    "does not hold": "fails",
    "is not shown to hold": "not_shown",
    "cannot be checked": "unchecked",
    "two values": "two_values",
    "two values, replicates": "two_values_replicates",
    "held-out rows": "held_out_rows",
    "seen cells, each predicted from the others": "seen_cells",
    "seen cells, a tenth held out at random": "held_out_cells",
}
#: Keys whose values are sentences or speak of files and versions, not of what was computed.
LEFT_OUT = {
    *("answer", "answers", "assumes", "assumption", "help", "message", "note", "not_tried", "obstacle", "remarks"),
    *("sentence", "sentences", "statement", "summary", "text", "title"),
    *("libraries", "recombine", "schema", "source", "table"),
}
#: A text of more words than this is a sentence.
MOST_WORDS = 5
#: Relative difference of numbers that are equal, and the absolute one, for those that are nothing but rounding.
RELATIVE, ABSOLUTE = 1e-12, 1e-13

KINDS = ("low", "mid", "high")
Rows = list[dict[str, Any]]


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which two JSON documents differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _keys_apart(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        after = [entry for entry in after if not (isinstance(entry, dict) and entry.get("what") in NEW_SETTINGS)]
        if len(before) != len(after):
            yield f"{path}: {len(before)} entries before, {len(after)} after"
        for position, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from differences(old, new, f"{path}[{position}]")
    elif not _equal(before, after):
        yield f"{path}: {_brief(before)} before, {_brief(after)} after"


def _keys_apart(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[str]:
    names = {old: old if old in after else RENAMED_KEYS.get(old, old) for old in before}
    names = {old: new if new in after else RENAMED_CODES.get(old, old) for old, new in names.items()}
    for old, new in names.items():
        if LEFT_OUT.isdisjoint({old, new}):
            if new in after:
                yield from differences(before[old], after[new], f"{path}.{new}")
            else:
                yield f"{path}.{old}: missing after"
    for new in after.keys() - set(names.values()) - LEFT_OUT - NEW_KEYS:
        yield f"{path}.{new}: not there before"


def _equal(before: Any, after: Any) -> bool:
    if isinstance(before, str) and isinstance(after, str):
        sentences = len(before.split()) > MOST_WORDS and len(after.split()) > MOST_WORDS
        return sentences or after in (before, RENAMED_CODES.get(before))
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (before, after))
    if numbers:
        return (math.isnan(before) and math.isnan(after)) or math.isclose(
            before, after, rel_tol=RELATIVE, abs_tol=ABSOLUTE
        )
    return bool(before == after)


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _crossed(sizes: dict[str, int], share: float, seed: int) -> tuple[Rows, Rows]:
    """Return seen and unseen cells of a product as rows of labels such as a0, b3."""
    draw = random.Random(seed)
    cells = [
        {name: f"{name[0]}{level}" for name, level in zip(sizes, levels, strict=True)}
        for levels in itertools.product(*(range(size) for size in sizes.values()))
    ]
    draw.shuffle(cells)
    middle = round(share * len(cells))
    return cells[:middle], cells[middle:]


def _sum(row: dict[str, Any]) -> float:
    """Return a sum of effects that its labels fix."""
    return sum(math.sin(1.7 * int(label[1:]) + len(name)) for name, label in row.items())


def additive(curve: Callable[[float], float], seed: int, noise: float = 0.1) -> Rows:
    """Return three crossed factors, repeated in training, held out once, with predictions of three models."""
    draw = random.Random(seed)
    train, test = _crossed({"alloy": 6, "bath": 5, "coat": 4}, 0.65, seed)
    rows: Rows = []
    for part, cells in (("train", train), ("test", test)):
        for cell in cells:
            total = _sum(cell)
            for _ in range(draw.choice([1, 2, 3]) if part == "train" else 1):
                y = curve(total) + noise * draw.gauss(0, 1)
                shy = curve(0.7 * total) + 0.02 * draw.gauss(0, 1)
                wild = y + 0.3 * draw.gauss(0, 1)
                kind = KINDS[min(2, max(0, round(total + draw.gauss(0, 0.4)) + 1))]
                rows.append({**cell, "part": part, "y": y, "shy": shy, "wild": wild, "kind": kind, "guess": kind})
    for row in rows:
        if draw.random() < 0.3:
            row["guess"] = draw.choice(KINDS)
    return rows


def two_valued() -> Rows:
    """Return an outcome of yes and no whose chance is a logistic curve of a sum."""
    draw = random.Random(5)
    seen, _ = _crossed({"age": 5, "book": 5, "city": 3}, 0.7, 5)
    return [
        {**cell, "bought": "yes" if draw.random() < 1 / (1 + math.exp(-2 * _sum(cell))) else "no"}
        for cell in seen
        for _ in range(6)
    ]


def aggregated() -> Rows:
    """Return means with counts and standard deviations, and an importance per row."""
    draw = random.Random(6)
    seen, _ = _crossed({"soil": 7, "rain": 6}, 0.6, 6)
    return [
        {**cell, "mean": _sum(cell) + 0.1 * draw.gauss(0, 1), "n": draw.randint(2, 30), "sd": draw.uniform(0.2, 0.4)}
        for cell in seen
    ]


def islands() -> Rows:
    """Return two blocks of levels that share nothing, and a level that is met once."""
    rows = [
        {"left": f"l{a}", "right": f"r{b}", "y": 1.0 * a - 0.5 * b + 0.1 * ((a * b) % 3)}
        for a in range(6)
        for b in range(6)
        if (a < 3) == (b < 3) and (a + b) % 4
    ]
    return [*rows, {"left": "l6", "right": "r6", "y": 2.0}]


def sequences() -> Rows:
    """Return texts of four letters with additive effects of each position."""
    draw = random.Random(7)
    words = ["".join(letters) for letters in itertools.product("ACGT", repeat=4)]
    return [
        {"seq": word, "y": sum(math.cos(ord(letter) * (1 + place)) for place, letter in enumerate(word))}
        for word in draw.sample(words, 120)
    ]


def sets() -> Rows:
    """Return pairs of genes and single ones, with an interaction now and then."""
    draw = random.Random(8)
    genes = [f"G{number}" for number in range(8)]
    members = [("ctrl",), *((gene,) for gene in genes), *draw.sample(list(itertools.combinations(genes, 2)), 18)]
    return [
        {"genes": "+".join(member), "y": sum(math.sin(int(gene[1:]) + 1) for gene in member if gene != "ctrl")}
        for member in members
    ]


def nested() -> Rows:
    """Return plants inside treatments, measured on several days."""
    draw = random.Random(9)
    rows: Rows = []
    for plant in range(12):
        for day in draw.sample(range(5), 4):
            y = math.sin(plant) + 0.5 * (plant % 3) + 0.2 * day + 0.05 * draw.gauss(0, 1)
            rows.append({"treatment": f"t{plant % 3}", "plant": f"p{plant}", "day": f"d{day}", "y": y})
    return rows


def symmetric() -> Rows:
    """Return pairs of the same genes in both orders."""
    draw = random.Random(10)
    pairs = draw.sample(list(itertools.combinations(range(9), 2)), 24)
    return [
        {"gene_a": f"g{a}", "gene_b": f"g{b}", "y": math.sin(a) + math.sin(b) + 0.05 * draw.gauss(0, 1)}
        for a, b in ((pair if draw.random() < 0.5 else pair[::-1]) for pair in pairs)
        for _ in range(2)
    ]


def doses() -> Rows:
    """Return a dose with order and size beside two factors of labels."""
    draw = random.Random(11)
    cells = [(dose, drug, line) for dose in (0, 1, 2, 4, 8, 16, 32) for drug in range(4) for line in range(4)]
    return [
        {"dose": dose, "drug": f"d{drug}", "line": f"c{line}", "y": math.log1p(dose) + drug + math.sin(line) + noise}
        for dose, drug, line in draw.sample(cells, 70)
        for noise in (0.1 * draw.gauss(0, 1), 0.1 * draw.gauss(0, 1))
    ]


def make_tables(folder: Path) -> None:
    """Write every table that the cases name into a folder."""
    tables: dict[str, Rows] = {
        "sums": additive(lambda total: total, 1),
        "logs": additive(math.exp, 2, 0.02),
        "link": additive(lambda total: 1 / (1 + math.exp(-3 * total)), 3, 0.03),
        "coins": two_valued(),
        "means": aggregated(),
        "islands": islands(),
        "sequences": sequences(),
        "sets": sets(),
        "nested": nested(),
        "symmetric": symmetric(),
        "doses": doses(),
    }
    tables["train"] = [row for row in tables["sums"] if row["part"] == "train"]
    tables["test"] = [row for row in tables["sums"] if row["part"] == "test"]
    tables["possible"] = [{"left": f"l{a}", "right": ""} for a in range(5)] + [{"left": "l6", "right": "r6"}]
    tables["importance"] = [
        {"alloy": "a0", "bath": "", "importance": 5},
        {"alloy": "", "bath": "b1", "importance": 2},
    ]
    tables["cost"] = [{"left": "l0", "right": f"r{b}", "cost": 9} for b in range(6)]
    tables["forbidden"] = [{"left": "l1", "right": ""}]
    tables["targets"] = [{"alloy": f"a{a}", "bath": f"b{a % 5}", "coat": "c1"} for a in range(6)]
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


#: A name and a command line of each case; cases that compare read what the cases before them gave.
CASES = """
audit flights            | audit flights.csv --factors carrier,origin,dest --outcome air_time --weight n --sd sd
audit flights guessed    | audit flights.csv --outcome air_time --weight n --sd sd --seed 3
audit flights pairs      | audit flights.csv --factors carrier,origin --outcome air_time --weight n --structure pairs
audit sums               | audit sums.csv --factors alloy,bath,coat --outcome y --split part=train --models --suggest 7
audit sums order 2       | audit sums.csv --factors alloy,bath,coat --outcome y --split part=train --order 2
audit sums order 3       | audit sums.csv --factors alloy,bath,coat --outcome y --split part=train --order 3
audit sums add           | audit sums.csv --factors alloy,bath,coat --outcome y --structure add --split part=train
audit sums pairs         | audit sums.csv --factors alloy,bath,coat --outcome y --structure pairs --split part=train
audit sums triples       | audit sums.csv --factors alloy,bath,coat --outcome y --structure triples --split part=train
audit sums multiplicative | audit sums.csv --factors alloy,bath,coat --outcome y --structure multiplicative \
--split part=train
audit sums no outcome    | audit sums.csv --factors alloy,bath,coat --split part=train
audit sums importance    | audit sums.csv --factors alloy,bath,coat --outcome y --split part=train \
--importance importance.csv
audit sums targets       | audit sums.csv --factors alloy,bath,coat --outcome y --split part=train --targets targets.csv
audit logs               | audit logs.csv --factors alloy,bath,coat --outcome y --split part=train
audit logs log           | audit logs.csv --factors alloy,bath,coat --outcome y --structure log --split part=train
audit link               | audit link.csv --factors alloy,bath,coat --outcome y --split part=train
audit link link          | audit link.csv --factors alloy,bath,coat --outcome y --structure link --split part=train
audit link link-pairs    | audit link.csv --factors alloy,bath,coat --outcome y --structure link-pairs \
--split part=train
audit coins              | audit coins.csv --factors age,book,city --outcome bought
audit coins logit        | audit coins.csv --factors age,book,city --outcome bought --structure logit
audit means              | audit means.csv --factors soil,rain --outcome mean --weight n --sd sd
audit means counts       | audit means.csv --factors soil,rain --outcome mean --weight n --counts
audit islands            | audit islands.csv --factors left,right --outcome y --cost cost.csv --forbidden forbidden.csv
audit islands possible   | audit islands.csv --factors left,right --outcome y --possible possible.csv
audit sequences          | audit sequences.csv --sequence seq --outcome y
audit sequences pairs    | audit sequences.csv --sequence seq --outcome y --structure pairs
audit sets               | audit sets.csv --set genes --outcome y
audit nested             | audit nested.csv --factors treatment,plant,day --outcome y
audit nested named       | audit nested.csv --factors treatment,plant,day --outcome y --nested plant/treatment
audit nested crossed     | audit nested.csv --factors treatment,plant,day --outcome y --crossed
audit symmetric          | audit symmetric.csv --factors gene_a,gene_b --outcome y --symmetric gene_a,gene_b \
--self-pairs
audit doses              | audit doses.csv --factors dose,drug,line --outcome y
audit doses as levels    | audit doses.csv --factors dose,drug,line --outcome y --as-levels dose
audit doses ordered      | audit doses.csv --factors dose,drug,line --outcome y --ordered dose
audit doses numeric      | audit doses.csv --factors dose,drug,line --outcome y --numeric dose
score sums               | score sums.csv --factors alloy,bath,coat --outcome y --prediction shy,wild --split part=train
score sums importance    | score sums.csv --factors alloy,bath,coat --outcome y --prediction shy --split part=train \
--importance importance.csv --seed 2
score sums train         | score test.csv --factors alloy,bath,coat --outcome y --prediction shy,wild --train train.csv
score sums pairs         | score sums.csv --factors alloy,bath,coat --outcome y --prediction shy --split part=train \
--structure pairs
score logs               | score logs.csv --factors alloy,bath,coat --outcome y --prediction shy,wild \
--split part=train --structure log
score link               | score link.csv --factors alloy,bath,coat --outcome y --prediction shy,wild --split part=train
score classes            | score sums.csv --factors alloy,bath,coat --outcome kind --prediction guess --split part=train
split sums               | split sums.csv --factors alloy,bath,coat --test determined:0.2,disconnected:0.05 --seed 1
split sums level         | split sums.csv --factors alloy,bath,coat --test unseen level:0.1,seen:0.1 --stratify kind
split sums pairs         | split sums.csv --factors alloy,bath,coat --test determined:0.1 --structure pairs
split symmetric          | split symmetric.csv --factors gene_a,gene_b --symmetric gene_a,gene_b --test determined:0.2
check sums               | split sums.csv --factors alloy,bath,coat --check part=train --outcome y
check link               | split link.csv --factors alloy,bath,coat --check part=train --outcome y --structure link
probe sums               | probe sums.csv --prediction guess --outcome kind --factors alloy,bath,coat --permutations 200
compare audits           | compare audit_sums.json audit_sums_add.json
compare audits order     | compare audit_sums_order_2.json audit_sums.json
compare scores           | compare score_sums.json score_sums_importance.json
"""


def cases(only: str = "") -> dict[str, list[str]]:
    """Return the arguments of each case by its name."""
    lines = [line.split("|") for line in CASES.strip().splitlines()]
    listed = {name.strip(): _arguments(command) for name, command in lines}
    return {name: arguments for name, arguments in listed.items() if only in name}


def _arguments(command: str) -> list[str]:
    """Split a command line; the words up to the next option belong together."""
    command, *options = command.strip().split(" --")
    pairs = [option.split(" ", 1) for option in options]
    return [*command.split(), *(word for name, *value in pairs for word in (f"--{name}", *value))]


def run(arguments: list[str]) -> Any:
    """Run a command in this process; return its JSON document, or what it complained of."""
    from recombine.cli import main

    shown, complaint = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(complaint):
        try:
            main(arguments)
        except SystemExit as stop:
            code = stop.code or 0
        shown.flush()
    text = shown.buffer.getvalue().decode()
    if "--help" in arguments:
        return text
    return json.loads(text) if code == 0 else {"code": code, "complaint": complaint.getvalue().strip()}


def record(only: str) -> dict[str, Any]:
    """Return what every case gives with the package that this python imports."""
    documents: dict[str, Any] = {}
    help_texts: dict[str, str] = {}
    os.environ["COLUMNS"] = "200"
    for name, arguments in cases(only).items():
        command = arguments[0]
        if command not in help_texts:
            help_texts[command] = run([command, "--help"])
        renamed = {old: new for old, new in RENAMED_OPTIONS.items() if new in help_texts[command]}
        print(name, file=sys.stderr, flush=True)
        documents[name] = run([*(renamed.get(word, word) for word in arguments), "--json"])
        Path(f"{name.replace(' ', '_')}.json").write_text(json.dumps(documents[name]))
    if only in "estimators":
        documents["estimators"] = estimators()
    if only in "papers":
        documents["papers"] = papers()
    return documents


def estimators() -> dict[str, Any]:
    """Return what estimators fit, predict and say of every cell, for several structures."""
    import numpy as np

    import recombine as rc

    fitted: dict[str, Any] = {}
    for table, structures in (("sums", "auto add pairs multiplicative"), ("logs", "log"), ("link", "auto link")):
        with Path(f"{table}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        cells = np.array([[row["alloy"], row["bath"], row["coat"]] for row in rows])
        seen = np.array([row["part"] == "train" for row in rows])
        y = np.array([float(row["y"]) for row in rows])
        for structure in structures.split():
            model = rc.CompositionalRegressor(structure=structure).fit(cells[seen], y[seen])
            values = [column.tolist() for column in model.predict(cells[~seen], return_range=True)]
            fitted[f"{table} {structure}"] = [model.structure_, values, model.verdicts(cells[~seen]).tolist()]
        kinds = np.array([row["kind"] for row in rows])
        chooser = rc.CompositionalClassifier().fit(cells[seen], kinds[seen])
        fitted[f"{table} classes"] = chooser.predict_proba(cells[~seen]).tolist()
    return fitted


def papers() -> dict[str, Any]:
    """Return the verdicts on all claims, judged again from the results of the clone, which its record has to equal."""
    import msgspec

    import recombine

    root = Path(recombine.__file__).parents[2]
    package = "recombine.lab.papers" if (root / "src/recombine/lab").is_dir() else "recombine.papers"
    judged: dict[str, Any] = {}
    for paper in import_module(package).available().values():
        judged |= import_module(f"{package}.record").record_of(paper, root / "results")
    again = msgspec.to_builtins(judged)
    stored = json.loads((root / "results" / "verdicts.json").read_text())
    return {"judged": again, "as recorded": again == stored}


def outputs(source: Path, only: str) -> dict[str, Any]:
    """Return the documents of a clone, run by its own python, or those of a file that ``--record`` wrote."""
    if source.is_file():
        stored: dict[str, Any] = json.loads(source.read_text())
        return {name: document for name, document in stored.items() if only in name}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "recorded.json"
        python = source.resolve() / ".venv" / "bin" / "python"
        subprocess.run([python, Path(__file__).resolve(), "--record", target, "--only", only], check=True)
        return outputs(target, only)


def write_record(target: Path, only: str) -> None:
    """Run all cases in a folder of their own and write what they give to a file."""
    import recombine

    with tempfile.TemporaryDirectory() as folder:
        make_tables(Path(folder))
        shutil.copy(Path(recombine.__file__).parent / "data" / "flights.csv", folder)
        with contextlib.chdir(folder):
            documents = record(only)
    target.write_text(json.dumps(documents))


def main(arguments: list[str] | None = None) -> int:
    """Compare two states of the package, or record one; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, help="a clone with its .venv, or a file written by --record")
    parser.add_argument("--after", type=Path, help="likewise")
    parser.add_argument("--record", type=Path, help="write what the package of this python gives to this file")
    parser.add_argument("--only", default="", help="only the cases with this text in their name")
    given = parser.parse_args(arguments)
    if given.record is not None:
        write_record(given.record.resolve(), given.only)
        return 0
    if given.before is None or given.after is None:
        parser.error("name --before and --after, or a file to --record")
    before, after = outputs(given.before, given.only), outputs(given.after, given.only)
    failed = [f"{name}: {text['complaint']}" for name, text in before.items() if "complaint" in text]
    apart = [line for name in before for line in differences(before[name], after.get(name), name)]
    for line in [*failed, *apart]:
        print(line)
    print(f"{len(before)} cases, {len(failed)} of them failed before, {len(apart)} differences", file=sys.stderr)
    return 1 if failed or apart else 0


if __name__ == "__main__":
    sys.exit(main())
