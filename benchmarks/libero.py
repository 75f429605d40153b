"""What do LIBERO's test suites recombine? Goals of each suite against LIBERO-90, by the audit's verdicts.

LIBERO (Liu et al., NeurIPS 2023, arXiv 2306.03310; MIT licence) defines 130 tasks in files that name scene, objects and
goal. A goal is a conjunction of atoms such as ``(In black_book desk_caddy_back_region)``; an atom is a cell of four
factors: scene, predicate, object, target. Training is LIBERO-90. ``--write`` writes ``results/gallery/libero.json``::

    pip download libero==0.1.1 --no-deps --no-binary :all:
    python benchmarks/libero.py libero-0.1.1.tar.gz [--tables FOLDER] [--write]

Objects are counted by type: ``moka_pot_1`` and ``moka_pot_2`` are both ``moka_pot``. ``--tables`` keeps the tables that
the audit reads, one per suite.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any

import recombine as rc

FACTORS = ("scene", "predicate", "object", "target")
TRAINING, SUITES = "libero_90", ("libero_10", "libero_goal", "libero_object", "libero_spatial")
#: Two ways to look at an atom: where it happens counts, or does not.
VIEWS = {"by scene": FACTORS, "any scene": FACTORS[1:]}
#: What stands in the place of the target where a predicate has one argument.
NOTHING = "nothing"
RESULTS = Path(__file__).parents[1] / "results" / "gallery" / "libero.json"

Atom = tuple[str, str, str, str]


@dataclass(frozen=True)
class Task:
    """A task's suite, name, and the atoms of its goal, sorted; two objects of one type give one atom twice."""

    suite: str
    name: str
    goal: tuple[Atom, ...]


def parse(text: str) -> list[Any]:
    """Return a bracketed text as nested lists of words."""
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text)):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return list(stack[0][0])


def typed(words: Sequence[str]) -> dict[str, str]:
    """Return instance -> type of a list such as ``a_1 a_2 - a  b_1 - b``."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    places = iter(words)
    for word in places:
        if word == "-":
            found |= dict.fromkeys(waiting, next(places))
            waiting = []
        else:
            waiting.append(word)
    return found


def by_type(name: str, types: dict[str, str]) -> str:
    """Return an instance, or a region of one, with the instance's type in its place."""
    for instance in sorted(types, key=len, reverse=True):
        if name == instance or name.startswith(f"{instance}_"):
            return types[instance] + name[len(instance) :]
    raise ValueError(f"{name!r} is no object, fixture or region of one; check the file it comes from")


def task_of(path: str, text: str) -> Task:
    """Return the task that a file defines. Suites whose files name no scene have one of their own."""
    file = PurePosixPath(path)
    suite = file.parent.name
    parts = {part[0].lower(): part[1:] for part in parse(text)[1:]}
    types = typed(parts[":fixtures"]) | typed(parts[":objects"])
    (goal,) = parts[":goal"]
    named = re.match(r"[A-Z_]+_SCENE\d+", file.stem)
    atoms = goal[1:] if goal[0].lower() == "and" else [goal]
    found = []
    for predicate, *arguments in atoms:
        first, second = [*(by_type(name, types) for name in arguments), NOTHING][:2]
        found.append((named[0] if named else suite, predicate.lower(), first, second))
    return Task(suite, file.stem, tuple(sorted(found)))


def tasks(source: Path) -> list[Task]:
    """Return every task of an sdist (``.tar.gz``)."""
    found = []
    with tarfile.open(source) as archive:
        for member in archive.getmembers():
            if member.name.endswith(".bddl") and (file := archive.extractfile(member)) is not None:
                found.append(task_of(member.name, file.read().decode("utf-8")))
    return sorted(found, key=lambda task: (task.suite, task.name))


def write_table(path: Path, chosen: Sequence[Task]) -> None:
    """Write one row per atom of a task's goal: its factors, the task, and whether it was trained on."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*FACTORS, "task", "part"])
        for task in chosen:
            part = "train" if task.suite == TRAINING else "test"
            writer.writerows([*atom, task.name, part] for atom in task.goal)


def verdicts(path: Path, factors: Sequence[str], order: int) -> list[dict[str, Any]]:
    """Return the held-out cells with the audit's verdict, and the levels that were never seen."""
    design = rc.Design.from_frame(path, factors=list(factors), outcome=None, split="part=train")
    codes = rc.audit(design, order).decided.verdicts_of(design.held_out)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == "train"]
    seen = {name: {row[name] for row in rows} for name in factors}
    found = []
    for cell, code in zip(design.held_out, codes, strict=True):
        levels = {factor.name: factor.labels[place] for factor, place in zip(design.factors, cell, strict=True)}
        fresh = [name for name, level in levels.items() if level not in seen[name]]
        found.append({"levels": levels, "verdict": rc.Verdict(int(code)).word, "never seen": fresh})
    return found


def whole_tasks(chosen: Sequence[Task], training: Sequence[Task], view: Sequence[str]) -> dict[str, int]:
    """Return how many tasks, and how many of them have goals, atoms or pairs of atoms that were trained on."""

    def cut(task: Task) -> tuple[tuple[str, ...], ...]:
        return tuple(sorted(atom[len(FACTORS) - len(view) :] for atom in task.goal))

    goals = {cut(task) for task in training}
    atoms = {atom for goal in goals for atom in goal}
    together = {pair for goal in goals for pair in combinations(goal, 2)}
    pairs = {pair for task in chosen for pair in combinations(cut(task), 2)}
    return {
        "tasks": len(chosen),
        "whole goal seen": sum(cut(task) in goals for task in chosen),
        "every atom seen": sum(atoms.issuperset(cut(task)) for task in chosen),
        "pairs of atoms": len(pairs),
        "pairs seen together": len(pairs & together),
        "pairs of seen atoms": sum(atoms.issuperset(pair) for pair in pairs),
    }


def judge(source: Path, tables: Path) -> Iterator[dict[str, Any]]:
    """Yield one record per suite and view."""
    every = tasks(source)
    training = [task for task in every if task.suite == TRAINING]
    for suite in SUITES:
        chosen = [task for task in every if task.suite == suite]
        path = tables / f"{suite}.csv"
        write_table(path, [*training, *chosen])
        for view, factors in VIEWS.items():
            found = verdicts(path, factors, 1)
            closer = verdicts(path, factors, 2)
            yield {
                "suite": suite,
                "view": view,
                "atoms": len(found),
                "verdicts": dict(Counter(one["verdict"] for one in found)),
                "verdicts if pairs count": dict(Counter(one["verdict"] for one in closer)),
                "never seen": dict(Counter(name for one in found for name in one["never seen"])),
                "not seen": [one for one in found if one["verdict"] != rc.Verdict.SEEN.word],
                "tasks": whole_tasks(chosen, training, factors),
            }


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    print("Distinct goal atoms of each suite against LIBERO-90, by verdict; then tasks")
    words = [verdict.word for verdict in rc.Verdict if any(verdict.word in row["verdicts"] for row in rows)]
    print(f"{'suite':<15} {'view':<10} {'atoms':>6}" + "".join(f"{word:>14}" for word in words) + f"{'goals seen':>14}")
    for row in rows:
        counts = "".join(f"{row['verdicts'].get(word, 0):>14}" for word in words)
        whole = f"{row['tasks']['whole goal seen']} of {row['tasks']['tasks']}"
        print(f"{row['suite']:<15} {row['view']:<10} {row['atoms']:>6}{counts}{whole:>14}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, help="libero-0.1.1.tar.gz from PyPI")
    parser.add_argument("--tables", type=Path, help="keep the tables that the audit reads in this folder")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} into results/gallery")
    given = parser.parse_args()
    if given.source is None or not given.source.is_file():
        print("No libero-0.1.1.tar.gz: pip download libero==0.1.1 --no-deps --no-binary :all:")
        return
    with tempfile.TemporaryDirectory() as temporary:
        tables = given.tables or Path(temporary)
        tables.mkdir(parents=True, exist_ok=True)
        rows = list(judge(given.source, tables))
    print_table(rows)
    training = [task for task in tasks(given.source) if task.suite == TRAINING]
    if given.write:
        found = {
            "command": "python benchmarks/libero.py libero-0.1.1.tar.gz --write",
            "source": "the package libero 0.1.1 (sdist, *.bddl)",
            "versions": {name: version(name) for name in ("recombine", "numpy", "scipy", "scikit-learn")},
            "python": ".".join(map(str, sys.version_info[:3])),
            "date": date.today().isoformat(),
            "device": "cpu",
            "seed": 0,
            "training": {
                "tasks": len(training),
                "atoms by scene": len({atom for task in training for atom in task.goal}),
                "goals of one atom": sum(len(task.goal) == 1 for task in training),
            },
            "rows": rows,
        }
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
