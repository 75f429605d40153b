"""Plant small bugs one at a time in a copy of the package, and see which of them no test catches.

    make mutants                                                     300 bugs, 50 in each package
    make mutants ARGS="--packages guard,store --count 10 --seed 7"   other ones
    make mutants ARGS="--again survived"                             those that survived, after tests were written
    make mutants ARGS="--judge 1f0c2a9b 'reason'"                    say why a survivor changes no behaviour

Each bug changes one expression or statement of a file that decides something. Tests that run the changed line are
tried, the quickest before others, until one fails: first those that mirror the file and its examples, then those of its
folder, those of files that import it, and at last all that mirror the file or start processes. Which tests run which
lines is measured once per test file and remembered. The checkout is only read; what came of it is written after every
bug to one JSON per package, from which the same command goes on. A bug after which tests hang counts as caught.
mutmut 3.8 and cosmic-ray 8.7 neither draw samples nor choose tests for each file.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import difflib
import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = "src/recombine"
#: What decides, and the files in which it does.
PACKAGES = {
    "verdicts": (
        "verdicts.py",
        "theory/identification/*.py",
        "theory/identification/scaled/*.py",
        "jobs/audit/parts.py",
        "jobs/audit/certificates.py",
    ),
    "ranges": ("jobs/audit/ranges.py", "jobs/audit/noise.py", "jobs/structure/*.py"),
    "causes": ("jobs/score/*.py", "jobs/score/causes/*.py"),
    "store": ("lab/runs/store.py", "lab/runs/leases.py", "lab/runs/collect.py"),
    "guard": ("explore/guard.py", "explore/server.py"),
    "readers": ("tables/*.py", "design/*.py", "table_spec.py"),
}
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
COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
SWAPPED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor", "zeros": "ones", "ones": "zeros",
    "startswith": "endswith", "endswith": "startswith", "zeros_like": "ones_like", "logical_and": "logical_or",
    "union": "intersection", "cumsum": "cumprod", "add": "discard", "issubset": "issuperset", "std": "var",
    "mean": "sum",
    "lstrip": "rstrip", "partition": "rpartition",
}  # fmt: skip
#: Calls that give way to their first argument.
REMOVED = {"abs", "sqrt", "sorted", "round", "reversed", "unique", "square", "exp", "log", "clip", "isfinite"}
#: Keywords that only say what is so anyway, unless there is another bug, or that only a rare platform needs.
HARMLESS = {"strict", "encoding", "stacklevel", "name", "repr", "newline", "doc", "help"}
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_comment", "bases"}


@dataclass(frozen=True)
class Mutant:
    """One planted bug: bytes ``start`` to ``end`` of a file become ``after``."""

    path: str
    scope: str  # dotted name of the function or class around it
    kind: str
    start: int
    end: int
    lines: tuple[int, int]
    before: str
    after: str
    turn: int  # of several alike in one scope

    @property
    def key(self) -> str:
        """Stays the same while other parts of the file change."""
        text = "|".join([self.path, self.scope, self.kind, self.before, self.after, str(self.turn)])
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def applied(self, source: bytes) -> bytes:
        """Return the text of the file with the bug in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def is_code(self, source: bytes) -> bool:
        """Say whether the text of the file is still one of Python."""
        try:
            ast.parse(self.applied(source))
        except SyntaxError:
            return False
        return True


class Planter:
    """All bugs that can be planted in one file."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.mutants: list[Mutant] = []
        self.seen: Counter[tuple[str, ...]] = Counter()
        self._body(ast.parse(source), "")

    def _plant(self, node: Any, scope: str, kind: str, after: str) -> None:
        start, end = (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )
        before = self.source[start:end].decode()
        self.seen[scope, kind, before, after] += 1
        turn = self.seen[scope, kind, before, after]
        mutant = Mutant(self.path, scope, kind, start, end, (node.lineno, node.end_lineno), before, after, turn)
        self.mutants.append(mutant)

    def _change(self, node: ast.expr, scope: str, kind: str, **fields: Any) -> None:
        changed = copy.copy(node)
        for name, value in fields.items():
            setattr(changed, name, value)
        self._plant(node, scope, kind, f"({ast.unparse(changed)})")

    def _body(self, node: ast.AST, scope: str) -> None:
        for name, value in ast.iter_fields(node):
            if name in SKIPPED_FIELDS or (name == "args" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._visit(child, scope)

    def _visit(self, node: ast.AST, scope: str) -> None:
        if isinstance(node, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.keyword) and node.arg in HARMLESS:
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_repr") or node.name == "__repr__":
                return
            if not isinstance(node, ast.ClassDef):
                self._body(node.args, scope)  # defaults are made where the function is
            scope = f"{scope}.{node.name}{'' if isinstance(node, ast.ClassDef) else '()'}".lstrip(".")
        if isinstance(node, ast.stmt):
            self._statement(node, scope)
            if isinstance(node, ast.Raise):
                return
        else:
            self._expression(node, scope)
        self._body(node, scope)

    def _statement(self, node: ast.stmt, scope: str) -> None:
        if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
            self._plant(node, scope, "return None", "return None")
        elif isinstance(node, ast.Raise) and node.exc is not None:
            self._plant(node, scope, "no raise", "pass")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._plant(node, scope, "no call", "pass")
        elif isinstance(node, ast.Continue | ast.Break):
            self._plant(node, scope, "loop", "break" if isinstance(node, ast.Continue) else "continue")
        elif isinstance(node, ast.If | ast.While):
            self._plant(node.test, scope, "condition", f"(not ({ast.unparse(node.test)}))")
        elif isinstance(node, ast.AugAssign) and type(node.op) in COMPUTED:
            changed = ast.AugAssign(node.target, COMPUTED[type(node.op)](), node.value)
            self._plant(node, scope, "arithmetic", ast.unparse(changed))

    def _expression(self, node: ast.AST, scope: str) -> None:
        match node:
            case ast.Compare(ops=operators):
                for position, operator in enumerate(operators):
                    for changed in COMPARED[type(operator)]:
                        self._change(
                            node,
                            scope,
                            "comparison",
                            ops=[*operators[:position], changed(), *operators[position + 1 :]],
                        )
            case ast.BinOp(op=operator, left=left, right=right):
                if type(operator) in COMPUTED and not any(is_text(side) for side in (left, right)):
                    self._change(node, scope, "arithmetic", op=COMPUTED[type(operator)]())
            case ast.BoolOp(op=operator):
                self._change(node, scope, "and, or", op=ast.Or() if isinstance(operator, ast.And) else ast.And())
            case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
                self._plant(node, scope, "sign", f"({ast.unparse(operand)})")
            case ast.IfExp(test=test):
                self._plant(test, scope, "condition", f"(not ({ast.unparse(test)}))")
            case ast.Constant(value=bool(value)):
                self._plant(node, scope, "constant", str(not value))
            case ast.Constant(value=int(value) | float(value)):
                self._plant(
                    node, scope, "constant", "1" if value == 0 else "0" if value == 1 else f"({value!r} * 2 + 1)"
                )
            case ast.Slice(lower=lower, upper=upper):
                for bound, step in ((lower, "+ 1"), (upper, "- 1")):
                    if bound is not None:
                        self._plant(bound, scope, "slice", f"({ast.unparse(bound)}) {step}")
            case ast.Call(func=function):
                self._call(node, function, scope)
            case ast.comprehension(ifs=conditions):
                for condition in conditions:
                    self._plant(condition, scope, "condition", "True")

    def _call(self, node: ast.Call, function: ast.expr, scope: str) -> None:
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("cast", "TypeVar", "getLogger"):
            return
        if name in SWAPPED:
            swapped = copy.copy(function)
            setattr(swapped, "attr" if isinstance(function, ast.Attribute) else "id", SWAPPED[name])
            self._plant(function, scope, "function", ast.unparse(swapped))
        if name in REMOVED and node.args:
            self._plant(node, scope, "function", f"({ast.unparse(node.args[0])})")
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in HARMLESS:
                self._change(node, scope, "keyword", keywords=[each for each in node.keywords if each is not keyword])


def is_text(node: ast.expr) -> bool:
    """Say whether an operand is a text, which has no other arithmetic."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_none(node: ast.expr) -> bool:
    """Say whether an expression is None."""
    return isinstance(node, ast.Constant) and node.value is None


def drawn(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Return mutants in the order in which they are tried: one of every line in random order, then second ones."""
    rng = random.Random(seed)
    by_line: defaultdict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_line[mutant.path, mutant.lines[0]].append(mutant)
    ranked = []
    for alike in by_line.values():
        rng.shuffle(alike)
        ranked += [(rank, rng.random(), mutant) for rank, mutant in enumerate(alike)]
    return [mutant for *_, mutant in sorted(ranked, key=lambda entry: entry[:2])]


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
                if came["status"] in (3, 4):
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


def candidates(root: Path, patterns: Iterable[str]) -> list[Mutant]:
    """Return all bugs that can be planted in files of the package."""
    paths = sorted(
        {path for pattern in patterns for path in (root / SOURCE).glob(pattern) if path.name != "__init__.py"}
    )
    return [mutant for path in paths for mutant in Planter(str(path.relative_to(root)), path.read_bytes()).mutants]


def counts(records: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return how many bugs were killed, survived, ..."""
    return dict(Counter("equivalent" if record.get("equivalent") else record["status"] for record in records))


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
    earlier = {record["key"]: record for record in stored(path) if record["key"] in planted}
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
        if former is not None and not again:
            continue
        records[key] = described(planted[key], tree) | tree.tried(planted[key])
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
    if record["status"] in ("survived", "untested") and not record.get("equivalent"):
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
            if record["status"] in ("survived", "untested"):
                shown(record)
                if record.get("equivalent"):
                    print(f"    changes nothing: {record['equivalent']}")
    for package, records in everything.items():
        times = sorted(record["cpu_s"] for record in records)
        print(f"{package}: {counts(records)}, median {times[len(times) // 2] if times else 0:.1f} CPU s")
    total = counts(record for records in everything.values() for record in records)
    caught, missed = (
        sum(total.get(name, 0) for name in names) for names in (("killed", "timeout"), ("survived", "untested"))
    )
    print(f"caught {caught} of {caught + missed} ({caught / max(caught + missed, 1):.1%})")
    return int(missed > 0)


def judge(key: str, reason: str, options: argparse.Namespace) -> int:
    """Write down why a survivor changes no behaviour."""
    for path in sorted((ROOT / options.out).glob("*/*.json")):
        records = stored(path)
        for record in records:
            if record["key"] == key and record["status"] in ("survived", "untested"):
                record["equivalent"] = reason
                options.seed = json.loads(path.read_text(encoding="utf-8"))["seed"]
                written(path, path.stem, options, records)
                return 0
    raise SystemExit(f"mutants: {options.out} holds no survivor {key!r}")


if __name__ == "__main__":
    sys.exit(main())
