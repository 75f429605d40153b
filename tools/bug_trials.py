"""Try one planted bug: run the tests that reach it in a copy of the checkout, the nearest and quickest ones first."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planted_bugs import SOURCE, Mutant

ROOT = Path(__file__).parents[1]
#: Loaded once, before every bug is tried in a process of its own: a second of each.
PRELOADED = (
    *(
        "numpy.testing",
        "scipy.linalg",
        "scipy.optimize",
        "scipy.stats",
        "scipy.sparse.linalg",
        "sklearn.base",
        "duckdb",
    ),
    *("narwhals", "pandas", "msgspec", "hypothesis.strategies", "hypothesis.extra.numpy", "pytest", "typer", "uvicorn"),
)
#: Seconds of the processor, of the clock, and of the clock without use of the processor, after which tests of a bug are
#: taken to hang, and bytes they may take.
CPU_SECONDS, CLOCK_SECONDS, IDLE_SECONDS, MEMORY_BYTES = 120, 900, 40, 16 * 2**30


@dataclass(eq=False)
class Chosen:
    """A plugin of pytest: run some tests in a given order, remember how each went and which lines it ran."""

    order: dict[str, int] | None = None
    coverage: Any = None
    outcomes: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what was not chosen."""
        if (order := self.order) is not None:
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Lines that run from here on are this test's."""
        if self.coverage is not None:
            self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember the worst of setup, call and teardown."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if self.outcomes.get(report.nodeid, "passed") == "passed":
            self.outcomes[report.nodeid] = report.outcome


class Waits:
    """Tells a process that waits for what never comes from one that the machine has no time for."""

    def __init__(self) -> None:
        self.ticks, self.since = "", time.monotonic()

    def too_long(self, pid: int) -> bool:
        """Say whether a process has not used the processor for long."""
        try:
            ticks = " ".join(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15])
        except OSError:  # elsewhere than on Linux the clock decides
            return False
        if ticks != self.ticks:
            self.ticks, self.since = ticks, time.monotonic()
        return time.monotonic() - self.since > IDLE_SECONDS


class Copy:
    """A copy of the checkout in which bugs are planted, and what is known about its tests."""

    def __init__(self, folder: Path, wide: int) -> None:
        self.wide = wide
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
        self.commit = head.stdout.strip()  # of the tests and the package when a bug was tried
        self.folder, self.tree = folder.resolve(), folder.resolve() / "tree"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        files = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
        for name in files:
            origin, target = ROOT / name, self.tree / name
            if not target.exists() or target.read_bytes() != origin.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(origin, target)
        for path in [*self.tree.glob("src/**/*.py"), *self.tree.glob("tests/**/*.py")]:
            if str(path.relative_to(self.tree)) not in files:
                path.unlink()
        os.environ.update(PYTHONPATH=str(self.tree / "src"), OMP_NUM_THREADS="1")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.path.insert(0, str(self.tree / "src"))
        os.chdir(self.tree)
        for module in PRELOADED:
            with contextlib.suppress(ImportError):
                importlib.import_module(module)
        self.maps: dict[str, dict[str, Any]] = {}

    def run(self, files: Iterable[str], order: dict[str, int] | None, measured: bool = False) -> dict[str, Any]:
        """Run tests in a process of their own, and return what came of them."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        begun = time.monotonic()
        if (pid := os.fork()) == 0:
            self._child(list(files), order, measured, report)
        status = usage = None
        waits = Waits()
        while status is None:
            done, code, usage = os.wait4(pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(code)
            elif time.monotonic() - begun > CLOCK_SECONDS or waits.too_long(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            else:
                time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):  # what tests have started
            os.killpg(pid, signal.SIGKILL)
        came = json.loads(report.read_text()) if report.exists() else {"outcomes": {}}
        came |= {"status": status, "cpu": round(usage.ru_utime + usage.ru_stime, 2) if usage else 0.0}
        return came

    def _child(self, files: list[str], order: dict[str, int] | None, measured: bool, report: Path) -> None:
        import pytest

        os.setsid()
        log = os.open(self.folder / "tests.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = 3
        try:
            chosen, lines = Chosen(order), {}
            arguments = [*files, "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "--tb=line"]
            arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is there already
            if measured:
                import coverage  # type: ignore[import-not-found, unused-ignore]

                chosen.coverage = coverage.Coverage(data_file=None, source=[f"{self.tree}/src"], config_file=False)
                chosen.coverage.start()
                status = pytest.main(arguments, plugins=[chosen])
                chosen.coverage.stop()
                data = chosen.coverage.get_data()
                for path in data.measured_files():
                    by_line = {
                        line: [name for name in names if name] for line, names in data.contexts_by_lineno(path).items()
                    }
                    lines[str(Path(path).relative_to(self.tree))] = {
                        line: names for line, names in by_line.items() if names
                    }
            else:
                sys.dont_write_bytecode = True
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # of processes that tests start
                resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
                status = pytest.main([*arguments, "-x"], plugins=[chosen])
            report.write_text(json.dumps({"outcomes": chosen.outcomes, "seconds": chosen.seconds, "lines": lines}))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(status))

    def measured(self, test: str) -> dict[str, Any]:
        """Return which tests of a file run which lines, measured now if the file has changed since."""
        digest = hashlib.sha256((self.tree / test).read_bytes()).hexdigest()
        stored = self._stored(test)
        if test not in self.maps and stored.exists():
            self.maps[test] = json.loads(stored.read_text())
        measures = self.maps.get(test)
        if measures is None or measures["digest"] != digest:
            measures = self.run([test], None, measured=True) | {"digest": digest}
            if measures["status"] not in (0, 1, 5):
                raise SystemExit(f"mutants: {test} does not run without any bug; see {self.folder / 'tests.log'}")
            sources = {path: self._digest(path) for path in measures.get("lines", {})}
            self.maps[test] = measures | {"sources": sources}
            stored.parent.mkdir(exist_ok=True)
            stored.write_text(json.dumps(self.maps[test]))
        return self.maps[test]

    def _digest(self, path: str) -> str:
        return hashlib.sha256((self.tree / path).read_bytes()).hexdigest()

    def covering(self, mutant: Mutant, tests: Iterable[str], everything: bool) -> dict[str, float]:
        """Return the tests of some files that run a bug, with the seconds each takes."""
        chosen: dict[str, float] = {}
        for test in tests:
            measures = self.measured(test)
            if measures.get("sources", {}).get(mutant.path, self._digest(mutant.path)) != self._digest(mutant.path):
                del self.maps[test]
                self._stored(test).unlink()
                measures = self.measured(test)
            names = set()
            by_line = measures.get("lines", {}).get(mutant.path, {})
            for line, of_line in by_line.items():
                # What runs at import is every test's that runs anything of the file.
                if "()" not in mutant.scope or mutant.lines[0] <= int(line) <= mutant.lines[1]:
                    names |= set(of_line)
            shared = re.search(r"scope=|cache|^@given", (self.tree / test).read_text(), re.MULTILINE)
            if (
                everything or (names and shared) or ("()" not in mutant.scope and not names)
            ):  # what one test has prepared may fail in another
                names = set(measures["outcomes"])
            chosen |= {name: measures["seconds"][name] for name in names if measures["outcomes"].get(name) == "passed"}
        return chosen

    def tiers(self, path: str) -> Iterator[tuple[list[str], bool]]:
        """Yield files of tests for a file of the package, the nearest ones first, and whether all of them are run."""
        near = [*self._mirroring(path), path]
        yield near, False
        folder = self._folder(path)
        beside = [test for test in self._tests(folder, "test_*.py") if test not in near and "browser" not in test]
        yield beside, False
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        importing = re.compile(rf"^\s*(from {re.escape(module)} import|import {re.escape(module)}\b)", re.MULTILINE)
        users = [
            str(user.relative_to(self.tree))
            for user in sorted((self.tree / SOURCE).rglob("*.py"))
            if "/papers/" not in str(user) and importing.search(user.read_text())
        ]
        wide = [
            str(test.relative_to(self.tree))
            for test in sorted((self.tree / "tests").rglob("test_*.py"))
            if "/papers/" not in str(test) and importing.search(test.read_text())
        ]
        wide += [test for user in users for test in [*self._mirroring(user), user]]
        wide = [test for test in dict.fromkeys(wide) if test not in near and self._folder(test) != folder]
        wide = [test for test in wide if "browser" not in test][: self.wide]
        yield wide, False
        # Which lines run in processes that a test starts is not seen.
        starting = [test for test in [*beside, *wide] if "subprocess" in (self.tree / test).read_text()]
        yield [*near, *starting], True

    def portions(self, path: str) -> Iterator[tuple[list[str], bool]]:
        """Yield the same files, of each tier those that were measured already before others, which take long."""
        for tests, everything in self.tiers(path):
            ready = [test for test in tests if self._stored(test).exists()]
            yield ready, everything
            yield from (([test], everything) for test in tests if test not in ready)

    def _stored(self, test: str) -> Path:
        return self.folder / "maps" / f"{test.replace('/', '+')}.json"

    def _folder(self, path: str) -> str:
        folder = Path(path.replace(SOURCE, "tests")).parent
        while not (self.tree / folder).is_dir():  # tests of a small package may stand beside those of the one around it
            folder = folder.parent
        return str(folder)

    def _tests(self, folder: str, pattern: str) -> list[str]:
        return [str(path.relative_to(self.tree)) for path in sorted((self.tree / folder).glob(pattern))]

    def _mirroring(self, path: str) -> list[str]:
        stem, folder = Path(path).stem, self._folder(path)
        tests = self._tests(folder, f"test_{stem}.py") + self._tests(folder, f"test_{stem}_by_example.py")
        if stem == "limits":  # every one stands in the docs, which are compared
            tests.append("tests/architecture/test_vocabulary.py")
        # A package may have one file of tests for all of its modules.
        return tests or self._tests(str(Path(folder).parent), f"test_{Path(folder).name}.py")

    def tried(self, mutant: Mutant) -> dict[str, Any]:
        """Plant a bug, and return whether a test has caught it, which ones ran, and how long that took."""
        target = self.tree / mutant.path
        source, times = target.read_bytes(), target.stat()
        changed = mutant.applied(source)
        begun, cpu, status, killer = time.monotonic(), 0.0, "survived", ""
        ran: dict[str, float] = {}
        try:
            for tests, everything in self.portions(mutant.path):
                chosen = {
                    name: seconds
                    for name, seconds in self.covering(mutant, tests, everything).items()
                    if name not in ran
                }
                if not chosen:
                    continue
                ran |= chosen
                order = {name: position for position, name in enumerate(sorted(chosen, key=chosen.__getitem__))}
                target.write_bytes(changed)
                # Byte code is told from other byte code by time and size: no two bugs may have the same.
                later = times.st_mtime + 10 + int(mutant.key[:6], 16)
                os.utime(target, (times.st_atime, later))
                came = self.run(dict.fromkeys(name.split("::")[0] for name in order), order)
                target.write_bytes(source)
                os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
                cpu += came["cpu"]
                failed = [name for name, outcome in came["outcomes"].items() if outcome == "failed"]
                if came["status"] == 0:
                    continue
                if came["status"] == 3:
                    raise SystemExit(f"mutants: tests of {mutant.key} do not run; see {self.folder / 'tests.log'}")
                status = "killed" if came["status"] > 0 else "timeout"
                killer = failed[0] if failed else f"pytest ended with {came['status']}"
                break
        finally:
            target.write_bytes(source)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
        result = {"status": status if ran else "untested", "by": killer, "cpu_s": round(cpu, 2), "tests": len(ran)}
        if status == "survived":
            result["ran"] = sorted(ran)[:40]
        return result | {"wall_s": round(time.monotonic() - begun, 2)}
