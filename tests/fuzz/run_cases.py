"""Call the command line on thousands of drawn inputs and say what broke a rule, with the number that draws it again.

    python tests/fuzz/run_cases.py --cases 2000 --seed 0 --workers 2
    python tests/fuzz/run_cases.py --seed 0 --case 1234          # one case again, its files kept

Cases run many to a process; one that dies or hangs takes only itself along.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import pkgutil
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]

from judged import PATIENCE, draw_case, limit, plain, timed, violations  # noqa: E402

#: Cases per process.
BATCH = 50


def warm() -> None:
    """Import what commands import, once and before processes part."""
    import recombine

    skipped = (
        "recombine.lab.nets",
        "recombine.lab.papers.",
        "recombine.lab.runs.",
        "recombine.__main__",
        "recombine.lab.worlds",
    )
    for module in pkgutil.walk_packages(recombine.__path__, "recombine.", onerror=lambda name: None):
        if not module.name.startswith(skipped):
            importlib.import_module(module.name)
    for name in ("duckdb", "pandas", "matplotlib.pyplot", "sklearn.ensemble", "scipy.optimize", "pyarrow.parquet"):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    gc.freeze()


def _alone(work: Callable[[], object]) -> NoReturn:
    """Do the work of a child process and end it: nothing of the parent's is to be cleaned up here."""
    try:
        work()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
        os._exit(97)
    os._exit(0)


def batch(seed: int, numbers: list[int], root: Path, report: Path) -> None:
    """Run cases in this process, and write a line about each: when it begins, and when it is over."""
    limit()
    with report.open("a", encoding="utf-8") as lines:
        for number in numbers:
            lines.write(json.dumps({"began": number}) + "\n")
            lines.flush()
            case = draw_case(seed, number, root)
            code, seconds = timed(case)
            gc.collect()
            found = violations(case, code, seconds)
            about = {"done": number, "code": code, "seconds": seconds, "found": found, "story": case.story}
            about["words"] = plain(case, "stderr")[:300].strip()
            lines.write(
                json.dumps({**about, "command": case.drawn.arguments[0] if case.drawn.arguments else ""}) + "\n"
            )
            lines.flush()
            shutil.rmtree(case.folder, ignore_errors=True)


def watched(seed: int, numbers: list[int], root: Path) -> list[dict[str, object]]:
    """Run a batch in a process of its own, and go on after whatever ended it."""
    found: list[dict[str, object]] = []
    while numbers:
        report = root / f"report-{numbers[0]}"
        child = os.fork()
        if child == 0:
            _alone(partial(batch, seed, numbers, root, report))
        _, status = os.waitpid(child, 0)
        told = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
        done = [line for line in told if "done" in line]
        found += done
        left = numbers[len(done) :]
        if left and os.waitstatus_to_exitcode(status):
            how = f"ended by signal {-os.waitstatus_to_exitcode(status)} ({PATIENCE} s are over if 14)"
            shutil.rmtree(root / f"case-{left[0]}", ignore_errors=True)
            story = draw_case(seed, left[0], root).story
            found.append(
                {
                    "done": left[0],
                    "code": -1,
                    "seconds": 0.0,
                    "found": [how],
                    "story": story,
                    "command": "?",
                    "words": "",
                }
            )
            left = left[1:]
        numbers = left
    return found


def worker(seed: int, numbers: list[int], root: Path) -> int:
    """Run all batches of a worker; a line for each violation as soon as it is known."""
    root.mkdir()
    total: Counter[str] = Counter()
    for start in range(0, len(numbers), BATCH):
        for one in watched(seed, numbers[start : start + BATCH], root):
            total[f"exit {one['code']}"] += 1
            total[f"command {one['command']}"] += 1
            for what in one["found"]:  # type: ignore[attr-defined]
                total["violations"] += 1
                print(f"VIOLATION {what}\n    {one['story']}", flush=True)
            if one["code"] and os.environ.get("RECOMBINE_FUZZ_TALK"):
                print(one["words"], flush=True)
    (root / "total").write_text(json.dumps(total), encoding="utf-8")
    return total["violations"]


def again(seed: int, number: int) -> None:
    """Run one case and show all about it."""
    root = Path(tempfile.mkdtemp(prefix="fuzz-"))
    if os.fork() == 0:
        limit()
        case = draw_case(seed, number, root)
        code, seconds = timed(case)
        (root / "found").write_text("\n".join([f"exit {code} in {seconds:.2f} s", *violations(case, code, seconds)]))
        os._exit(0)
    print(draw_case(seed, number, Path(tempfile.mkdtemp())).story, os.waitstatus_to_exitcode(os.wait()[1]))
    for name in ("found", f"case-{number}/stderr", f"case-{number}/stdout"):
        print((root / name).read_text(errors="replace")[:3000] if (root / name).exists() else f"no {name}")
    print("files kept in", root)


def _run(seed: int, cases: int, workers: int) -> Counter[str]:
    """Share the cases out among processes, and return what they counted."""
    # Not a folder that removes itself: it would do so at the end of a child, too.
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    children = []
    for place in range(workers):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _alone(partial(worker, seed, list(range(place, cases, workers)), folder / f"worker-{place}"))
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    total: Counter[str] = Counter()
    for path in folder.glob("worker-*/total"):
        total.update(json.loads(path.read_text(encoding="utf-8")))
    shutil.rmtree(folder, ignore_errors=True)
    return total


def main() -> int:
    """Run the cases that the command line asks for; 1 if a rule was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("RECOMBINE_FUZZ_CASES", "2000")))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--case", type=int, help="run this one alone and keep its files")
    asked = parser.parse_args()
    if asked.case is not None:
        again(asked.seed, asked.case)
        return 0
    start = time.monotonic()
    warm()
    total = _run(asked.seed, asked.cases, asked.workers)
    cases = sum(count for name, count in total.items() if name.startswith("exit"))
    by = ", ".join(f"{name} {count}" for name, count in sorted(total.items()) if name != "violations")
    print(f"{cases:,} cases in {time.monotonic() - start:.0f} s, {total['violations']} violations; {by}")
    return 1 if total["violations"] or cases < asked.cases else 0


if __name__ == "__main__":
    sys.exit(main())
