"""Plant small bugs one at a time in a copy of the package, and see which of them no test catches.

    make mutants                                                     300 bugs, 50 in each package
    make mutants ARGS="--packages guard,store --count 10 --seed 7"   other ones
    make mutants ARGS="--again survived"                             those that survived, after tests were written
    make mutants ARGS="--judge 1f0c2a9b 'reason'"                    say why a survivor changes no behaviour

Each bug changes one expression or statement of a file that decides something. Tests that run the changed line are
tried, the quickest before others, until one fails: first those that mirror the file and its examples, then those of its
folder, those of files that import it, and at last all that mirror the file or start processes. Which tests run which
lines is measured once per test file and remembered. The checkout is only read; what came of it is written after every
bug to one JSON per seed and package, from which the same command goes on. No bug is drawn under two seeds, and one that
was missed until a test was written against it stays marked. A bug after which tests hang counts as caught.
mutmut 3.8 and cosmic-ray 8.7 neither draw samples nor choose tests for each file.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bug_trials import ROOT, Copy
from planted_bugs import SOURCE, Mutant, candidates, drawn

MISSED = ("survived", "untested")
#: What decides, and the files in which it does.
PACKAGES = {
    "verdicts": (
        "verdicts.py",
        "theory/identification/*.py",
        "theory/identification/scaled/*.py",
        "jobs/audit/parts.py",
        "jobs/audit/certificates.py",
    ),
    "ranges": ("jobs/audit/ranges.py", "jobs/audit/noise.py", "jobs/structure/*.py", "jobs/values/*.py"),
    "causes": ("jobs/score/*.py", "jobs/score/causes/*.py"),
    "store": ("lab/runs/store.py", "lab/runs/leases.py", "lab/runs/collect.py"),
    "guard": ("explore/guard.py", "explore/server.py"),
    "readers": ("tables/*.py", "design/*.py", "table_spec.py"),
}


def described(mutant: Mutant, tree: Copy) -> dict[str, Any]:
    """Return what is written about a bug."""
    source = (tree.tree / mutant.path).read_bytes()
    before, after = (text.decode().splitlines() for text in (source, mutant.applied(source)))
    diff = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    return {
        "key": mutant.key,
        "file": mutant.path,
        "line": mutant.lines[0],
        "scope": mutant.scope,
        "kind": mutant.kind,
        "diff": diff,
        "commit": tree.commit,
    }


def counts(records: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return how many bugs were killed, survived, ..."""
    return dict(Counter("equivalent" if record.get("equivalent") else record["status"] for record in records))


def is_caught_since(record: dict[str, Any]) -> bool:
    """Say whether a bug was caught only after tests were written against it."""
    return record["status"] not in MISSED and "survived_at" in record


def written(path: Path, package: str, options: argparse.Namespace, records: list[dict[str, Any]]) -> None:
    """Write the results of one package."""
    versions = {
        name: importlib.metadata.version(name) for name in ("numpy", "scipy", "pytest", "hypothesis", "coverage")
    }
    head = {
        "command": f"make mutants ARGS='--packages {package} --count {options.count} --seed {options.seed}'",
        "package": package,
        "seed": options.seed,
        "versions": {"python": platform.python_version(), **versions},
        "counts": counts(records),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**head, "mutants": records}, indent=1) + "\n", encoding="utf-8")


def stored(path: Path) -> list[dict[str, Any]]:
    """Return the results of one package that were written before."""
    return json.loads(path.read_text(encoding="utf-8"))["mutants"] if path.exists() else []


def run_package(package: str, options: argparse.Namespace, tree: Copy) -> list[dict[str, Any]]:
    """Try the bugs of one package that were not tried before, and those that are to be tried again."""
    path = ROOT / options.out / f"seed-{options.seed}" / f"{package}.json"
    planted = {mutant.key: mutant for mutant in candidates(tree.tree, PACKAGES[package])}
    earlier = {record["key"]: record for record in stored(path)}
    queue = list(earlier)[: options.count]
    # Tests were written against the bugs of other seeds: only new ones say how many bugs would be caught.
    before = {record["key"] for file in (ROOT / options.out).glob(f"*/{package}.json") for record in stored(file)}
    for mutant in drawn(planted.values(), options.seed):
        if len(queue) >= options.count:
            break
        if mutant.key not in before and mutant.is_code((tree.tree / mutant.path).read_bytes()):
            queue.append(mutant.key)
    records: dict[str, dict[str, Any]] = {key: earlier[key] for key in queue if key in earlier}
    for key in queue:
        former = earlier.get(key)
        again = former is not None and options.again in ("all", former["status"]) and not former.get("equivalent")
        if former is not None and not (again and key in planted):  # its line may have been rewritten since
            continue
        records[key] = described(planted[key], tree) | tree.tried(planted[key])
        if former is not None and former["status"] in MISSED:
            records[key]["survived_at"] = former.get("survived_at", former["commit"])
        written(path, package, options, list(records.values()))
        shown(records[key])
    written(path, package, options, list(records.values()))
    return list(records.values())


def shown(record: dict[str, Any]) -> None:
    """Print one bug: a line, and for one that survived its diff and the tests that ran."""
    spot = f"{record['file'].removeprefix(SOURCE + '/')}:{record['line']}"
    cost = f"{record['tests']} tests, {record['cpu_s']:.1f} CPU s, {record['wall_s']:.1f} s"
    killer = record["by"].split("/")[-1][:70]
    print(f"{record['status']:<9} {record['key']} {spot} ({record['kind']}), {cost}  {killer}", flush=True)
    if record["status"] in MISSED and not record.get("equivalent"):
        print("\n".join(f"    {line}" for line in record["diff"]))
        print("\n".join(f"    ran {name}" for name in record.get("ran", [])[:8]), flush=True)


def main() -> int:
    """Return 1 if bugs survived that are not called equivalent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="bugs in each package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", default=",".join(PACKAGES), help="some of " + ", ".join(PACKAGES))
    parser.add_argument("--again", default="", help="try these again: survived, untested, timeout, killed or all")
    parser.add_argument("--wide", type=int, default=6, help="files of tests that are tried because of what they import")
    parser.add_argument("--work", type=Path, default=ROOT / ".venv-mutants" / "work", help="where the copy is made")
    parser.add_argument("--out", default="results/mutants", help="folder of results")
    parser.add_argument("--judge", nargs=2, metavar=("KEY", "REASON"), help="say why a survivor changes no behaviour")
    options = parser.parse_args()
    packages = options.packages.split(",")
    if options.judge:
        key, reason = options.judge
        return judge(key, reason, options)
    options.work.mkdir(parents=True, exist_ok=True)
    tree = Copy(options.work, options.wide)
    everything = {package: run_package(package, options, tree) for package in packages}
    print()
    for records in everything.values():
        for record in records:
            if record["status"] in MISSED:
                shown(record)
                if record.get("equivalent"):
                    print(f"    changes nothing: {record['equivalent']}")
    for package, records in everything.items():
        times = sorted(record["cpu_s"] for record in records)
        print(f"{package}: {counts(records)}, median {times[len(times) // 2] if times else 0:.1f} CPU s")
    total = counts(record for records in everything.values() for record in records)
    caught, missed = (sum(total.get(name, 0) for name in names) for names in (("killed", "timeout"), MISSED))
    since = sum(1 for records in everything.values() for record in records if is_caught_since(record))
    print(
        f"caught {caught} of {caught + missed} ({caught / max(caught + missed, 1):.1%}), "
        f"{since} of them only by tests written after they had survived"
    )
    return int(missed > 0)


def judge(key: str, reason: str, options: argparse.Namespace) -> int:
    """Write down why a survivor changes no behaviour."""
    for path in sorted((ROOT / options.out).glob("*/*.json")):
        records = stored(path)
        for record in records:
            if record["key"] == key and record["status"] in MISSED:
                record["equivalent"] = reason
                options.seed = json.loads(path.read_text(encoding="utf-8"))["seed"]
                options.count = len(records)
                written(path, path.stem, options, records)
                return 0
    raise SystemExit(f"mutants: {options.out} holds no survivor {key!r}")


if __name__ == "__main__":
    sys.exit(main())
