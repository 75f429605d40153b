"""What the architecture is measured by. ``python tests/architecture/measures.py`` prints every number and its ceiling.

A measure is a number that may only fall; ``ceilings.toml`` holds how high each may be, and test_budgets.py compares.
``python tests/architecture/measures.py --where NAME`` lists what a measure counts, with file and line.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "recombine"
CEILINGS = Path(__file__).with_name("ceilings.toml")

MAX_BODY_LINES = 40
MAX_PARAMETERS = 8
MAX_IMPORTED_MODULES = 15
MAX_MEMBERS = 24
#: Words that say nothing of what a variable holds, worst first.
FILLER = frozenset(["found", "one", "place", "known", "kept", "left", "part"])
VAGUE = FILLER | {"said", "own", "other", "whole", "most", "least", "where", "out", "asked", "held", "rest", "first"}
#: A literal of at least so many words is a sentence.
SENTENCE_WORDS = 5
STRUCTURES = frozenset(["add", "pairs", "triples", "log", "logit", "multiplicative", "link", "link-pairs"])
#: What a number measures, as its name may say it; a plural says what is counted.
UNITS = frozenset(["BIT", "BYTE", "DEGREE", "HZ", "INCH", "MS", "PERCENT", "PIXEL", "PX", "SECOND"])
QUANTITIES = frozenset(
    re.findall(
        r"\w+",
        """
        ACCURACY ACTIVATION ANGLE CHANCE CHILDREN CORRELATION COST DENOMINATOR DEPTH DIMENSION DISTANCE EIGENVALUE EPOCH
        EPSILON ERROR FACTOR GAIN GAP GROWTH HEIGHT ID IMPORTANCE INPUT INTEGER JITTER LEVEL LEVERAGE LIKENESS LOSS
        MARGIN MOMENTUM NORM ORDER OUTCOME PIVOT POWER PRECISION PRICE PRIME PULL R2 RADIUS RANK RATE RATIO RESIDUAL
        RIDGE ROUNDING SALIENCE SCALE SCHEMA SCORE SD SEED SHARE SHORTFALL SIDE SIGMA SIZE SLACK SLOPE STEP SUM TIME
        TOLERANCE VALUE VARIANCE VERSION WEIGHT WIDTH WORK
        """,
    )
)
#: Registries say sentences of their own: what each entry means.
REGISTRIES = ("recombine.jobs.findings", "recombine.jobs.score.causes", "recombine.theory.structures.kinds")

Place = str  # "jobs/audit/audit.py:12 name"
Function = ast.FunctionDef | ast.AsyncFunctionDef


# Modules and what they import


@cache
def modules() -> dict[str, Path]:
    """Name with dots -> file, of every module."""

    def dotted(path: Path) -> str:
        parts = ("recombine", *path.relative_to(SOURCE).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    return {dotted(path): path for path in sorted(SOURCE.rglob("*.py"))}


@cache
def parsed(text: str) -> ast.Module:
    """Parse a text once, whichever test asks for it."""
    return ast.parse(text)


@cache
def tree(name: str) -> ast.Module:
    return parsed(modules()[name].read_text(encoding="utf-8"))


@cache
def nodes(name: str) -> tuple[ast.AST, ...]:
    """Every node of a module, walked once for all measures."""
    return tuple(ast.walk(tree(name)))


@cache
def lines(name: str) -> int:
    return len(modules()[name].read_text(encoding="utf-8").splitlines())


def at(name: str, node: ast.AST, what: object = "") -> Place:
    return f"{modules()[name].relative_to(SOURCE)}:{getattr(node, 'lineno', 1)} {what}".rstrip()


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imported_names(name: str, *, types: bool = False) -> Iterator[str]:
    """Names with dots that a module imports anywhere when it runs; with ``types`` also those for type checkers."""
    path, waiting = modules()[name], list[ast.AST]([tree(name)])
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    while waiting:
        node = waiting.pop()
        if _for_types(node) and not types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(word for word in (start, node.module) if word)
            yield from (f"{module}.{alias.name}" for alias in node.names)
        waiting += ast.iter_child_nodes(node)


@cache
def contents(package: str) -> dict[str, str]:
    """Entry -> name with dots, of a package's table of contents."""
    if package not in modules() or modules()[package].name != "__init__.py":
        return {}
    blocks = (node for node in tree(package).body if _for_types(node))
    listed = (line for block in blocks for line in ast.walk(block) if isinstance(line, ast.ImportFrom))
    return {alias.asname or alias.name: f"{line.module}.{alias.name}" for line in listed for alias in line.names}


def resolved(name: str) -> str:
    """The module that a name with dots comes from, followed through tables of contents; empty if it is not ours."""
    if name in modules():
        return name
    package, _, entry = name.rpartition(".")
    if not package:
        return ""
    if entry in contents(package):
        return resolved(contents(package)[entry])
    return package if package in modules() else resolved(package)


@cache
def imports(name: str, *, types: bool = False) -> frozenset[str]:
    """Modules that a module imports, through tables of contents, without the packages they stand in."""
    found = {resolved(target) for target in imported_names(name, types=types) if target.startswith("recombine")}
    return frozenset(found - {"", name})


def _owner(node: ast.Attribute) -> str:
    """The name that a chain of attributes starts with, or nothing where it starts with something else."""
    value = node.value
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _by_attribute(name: str) -> Iterator[str]:
    """Modules reached by attributes of packages of ours: ``rc.audit``, ``theory.kernels.OverlapKernel``."""
    packages = {}
    for node in nodes(name):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            packages |= {alias.asname or alias.name: f"{start}{alias.name}" for alias in node.names}
    for node in nodes(name):
        if isinstance(node, ast.Attribute) and _owner(node) in packages:
            words = ast.unparse(node).split(".")
            start = packages.get(words[0], "")
            if start.startswith("recombine") and contents(resolved(start)):
                yield resolved(".".join([start, *words[1:]]))


def _by_string(name: str) -> Iterator[str]:
    """Modules named in strings, as in tables of commands and of outputs: ``recombine.cli.audit:audit_command``."""
    for node in nodes(name):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = node.value.partition(":")[0]
            if module.startswith("recombine.") and module in modules():
                yield module


@cache
def product() -> frozenset[str]:
    """Modules that commands, estimators, `CellSplit` and notebooks can reach, without the laboratory."""
    waiting = {"recombine.__main__", "recombine.cli", "recombine.cli.program", "recombine.explore.notebook"}
    waiting |= {"recombine.jobs.split.splitter", *map(resolved, contents("recombine.jobs.estimators").values())}
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in reached or name not in modules() or in_package(name, "recombine.lab"):
            continue
        reached.add(name)
        words = name.split(".")
        waiting |= {".".join(words[:count]) for count in range(1, len(words))}
        waiting |= {*imports(name), *_by_attribute(name), *_by_string(name)}
        waiting |= set(map(resolved, contents(name).values())) if name in REGISTRIES else set()
    return frozenset(reached)


def in_package(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def lab() -> set[str]:
    return {name for name in modules() if in_package(name, "recombine.lab")}


def library() -> set[str]:
    return set(modules()) - lab() - product()


def lines_of(names: Iterable[str]) -> int:
    return sum(map(lines, names))


def package_lines() -> dict[str, int]:
    """Lines of each package of the plan; what stands alone in the root is ground."""
    counted: Counter[str] = Counter()
    for name in modules():
        words = name.split(".")[1:]
        nested = words[:1] in (["lab"], ["theory"]) and len(words) > 1
        ground = not words or len(words) == 1 or words[0] in ("design", "tables", "sheets", "formats", "cells", "data")
        ground = ground and (not words or words[0] not in ("cli", "explore", "report", "words", "jobs", "measures"))
        counted[".".join(words[:2]) if nested else "ground" if ground else words[0]] += lines(name)
    return dict(counted)


@cache
def loaded_by_audit() -> frozenset[str]:
    """Modules that ``recombine audit`` of the bundled table has loaded when it is done."""
    code = """
import json, sys
from recombine.cli import main
from pathlib import Path
import recombine
words = ["--factors", "carrier,origin,dest", "--outcome", "air_time", "--weight", "n", "--sd", "sd"]
try:
    main(["audit", str(Path(recombine.__file__).parent / "data" / "flights.csv"), *words])
except SystemExit as stop:
    assert not stop.code, stop.code
print("\\n" + json.dumps([name for name in sys.modules if name.partition(".")[0] == "recombine"]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, cwd=SOURCE.parent)
    return frozenset(json.loads(done.stdout.splitlines()[-1]))


# Sizes


@cache
def functions() -> list[tuple[str, Function]]:
    return [(name, node) for name in modules() for node in nodes(name) if isinstance(node, Function)]


def _body_lines(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_functions() -> list[Place]:
    """Functions whose body, without signature and docstring, is longer than 40 lines."""
    sizes = [(name, node, _body_lines(node)) for name, node in functions()]
    return [at(name, node, f"{node.name} {size}") for name, node, size in sizes if size > MAX_BODY_LINES]


def _parameters(function: Function) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len([argument for argument in named if argument.arg not in ("self", "cls")])


def long_signatures() -> list[Place]:
    """Functions with more than eight parameters; kernels of a GPU take their pointers and strides one by one."""
    return [
        at(name, node, f"{node.name} {_parameters(node)}")
        for name, node in functions()
        if _parameters(node) > MAX_PARAMETERS and not any("jit" in ast.unparse(mark) for mark in node.decorator_list)
    ]


def wide_imports() -> list[Place]:
    """Modules that import more than 15 modules of this package when they run; tables of contents do not."""
    counts = {name: len(imports(name)) for name in modules()}
    return [f"{at(name, tree(name))} {count}" for name, count in counts.items() if count > MAX_IMPORTED_MODULES]


def _members(node: ast.ClassDef) -> set[str]:
    named = {child.name for child in node.body if isinstance(child, Function)}
    named |= {child.target.id for child in node.body if isinstance(child, ast.AnnAssign) and _is_name(child.target)}
    named |= {
        target.id
        for child in node.body
        if isinstance(child, ast.Assign)
        for target in child.targets
        if _is_name(target)
    }
    return named


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def wide_classes() -> list[Place]:
    """Classes with more than 24 members: attributes, properties and methods, private ones too."""
    return [
        at(name, node, f"{node.name} {len(_members(node))}")
        for name in modules()
        for node in nodes(name)
        if isinstance(node, ast.ClassDef) and len(_members(node)) > MAX_MEMBERS
    ]


# Names


@cache
def local_names() -> list[tuple[str, Function, str]]:
    """Every name that a function stores, once; those of a function inside another count for both."""
    stored = {
        name: [node for node in nodes(name) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        for name in modules()
    }
    listed = []
    for name, function in functions():
        last = function.end_lineno or function.lineno
        inside = {node.id for node in stored[name] if function.lineno <= node.lineno <= last}
        listed += [(name, function, local) for local in sorted(inside)]
    return listed


def filler_locals(words: frozenset[str] = FILLER) -> list[Place]:
    """Locals named by a word that says nothing of what they hold."""
    return [at(name, node, f"{node.name}: {local}") for name, node, local in local_names() if local in words]


def filler_parameters(words: frozenset[str] = FILLER) -> list[Place]:
    """Parameters named by such a word."""
    return [
        at(name, node, f"{node.name}({argument.arg})")
        for name, node in functions()
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if argument.arg in words
    ]


def constants_with_two_values() -> list[Place]:
    """Public names of numbers that have different values in different files."""
    values: defaultdict[str, dict[str, Place]] = defaultdict(dict)
    for name in modules():
        for node in tree(name).body:
            for constant, value in _numbers(node):
                values[constant].setdefault(value, at(name, node, f"{constant} = {value}"))
    return [", ".join(places.values()) for places in values.values() if len(places) > 1]


def constants_without_unit() -> list[Place]:
    """Numbers of modules whose name holds neither a plural, nor a unit, nor a quantity: ``NEAR``, ``FINE``.

    A negative whole number is a mark, as -1 for "any", and measures nothing.
    """
    return [
        at(name, node, f"{constant} = {value}")
        for name in modules()
        for node in tree(name).body
        for constant, value in _numbers(node)
        if not value.startswith("-") or "." in value
        if not any(tells_quantity(word) for word in constant.split("_"))
    ]


def tells_quantity(word: str) -> bool:
    plural = len(word) > 3 and word.endswith("S") and not word.endswith("SS")
    return plural or word in UNITS or word in QUANTITIES


def _numbers(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Name and value of each public constant that a statement sets to a number."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs += zip(target.elts, node.value.elts, strict=True) if several else [(target, node.value)]
    for target, value in pairs:
        if _is_name(target) and re.fullmatch(r"[A-Z][A-Z0-9_]*", target.id):
            try:
                number = eval(ast.unparse(value), {"__builtins__": {}})  # a literal, or arithmetic on literals
            except Exception:
                continue
            if isinstance(number, int | float) and not isinstance(number, bool):
                yield target.id, repr(number)


# Objects instead of strings


def _above_theory() -> list[str]:
    return [
        name
        for name in modules()
        if in_package(name, *(f"recombine.{layer}" for layer in ("jobs", "words", "report", "explore", "cli")))
    ]


def _compared_strings(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Compare):
        nodes = ast.walk(node)
    elif isinstance(node, ast.MatchValue):
        nodes = ast.walk(node.value)
    else:
        return set()
    return {child.value for child in nodes if isinstance(child, ast.Constant) and isinstance(child.value, str)}


def structure_names_compared() -> list[Place]:
    """Comparisons with the name of a structure above `theory.structures`."""
    return [
        at(name, node, ast.unparse(node))
        for name in _above_theory()
        for node in nodes(name)
        if _compared_strings(node) & STRUCTURES
    ]


def cause_names_compared() -> list[Place]:
    """Comparisons with the name of a cause outside the causes; "structure" is also an option of tables, and passes."""
    causes = {
        node.value.value
        for name in modules()
        if in_package(name, "recombine.jobs.score.causes")
        for entry in tree(name).body
        if isinstance(entry, ast.ClassDef)
        for node in entry.body
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "name"
        and isinstance(node.value, ast.Constant)
    }
    for node in tree("recombine.table_spec").body:
        causes -= _members(node) if isinstance(node, ast.ClassDef) else set()
    return [
        at(name, node, ast.unparse(node))
        for name in _above_theory()
        if not in_package(name, "recombine.jobs.score.causes")
        for node in nodes(name)
        if _compared_strings(node) & causes
    ]


def fits_told_apart() -> list[Place]:
    """``isinstance`` of a class of `theory.structures` above it."""
    kinds = {
        node.name
        for name in modules()
        if in_package(name, "recombine.theory.structures")
        for node in tree(name).body
        if isinstance(node, ast.ClassDef)
    }
    return [
        at(name, node, ast.unparse(node))
        for name in _above_theory()
        for node in nodes(name)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
        if {child.id for child in ast.walk(node.args[1]) if _is_name(child)} & kinds
    ]


def codes_compared() -> list[Place]:
    """Comparisons with the code of a finding outside the findings themselves."""
    return [
        at(name, node, ast.unparse(node))
        for name in _above_theory()
        if not in_package(name, *REGISTRIES)
        for node in nodes(name)
        if any(re.fullmatch(r"RC\d{3}", word) for word in _compared_strings(node))
    ]


def _sentence(node: ast.AST) -> bool:
    """Whether a literal, with a word for each hole of an f-string, is a sentence."""
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts = [node.value]
    else:
        return False
    words = "".join(parts).split()
    return len([word for word in words if re.search(r"[A-Za-z]", word)]) >= SENTENCE_WORDS


def _sentences_in(node: ast.AST) -> Iterator[ast.AST]:
    """Literals that are sentences, but for docstrings, reprs, errors, help of options and reasons of limits."""
    for child in ast.iter_child_nodes(node):
        docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        called = ast.unparse(child.func) if isinstance(child, ast.Call) else ""
        of_error = isinstance(child, ast.ClassDef) and child.name.endswith("Error")
        if docstring or of_error or isinstance(child, ast.Raise) or getattr(child, "name", "") == "__repr__":
            continue
        if called.endswith(("Error", "Option", "Argument", "limit", "warn")):
            continue
        if _sentence(child):
            yield child
        else:
            yield from _sentences_in(child)


def sentences() -> list[Place]:
    """Sentences in jobs outside registries, theory, measures, report, explore; they belong to `words` or an entry."""
    return [
        at(name, node, ast.unparse(node)[:60])
        for name in modules()
        if in_package(name, *(f"recombine.{layer}" for layer in ("jobs", "theory", "measures", "report", "explore")))
        if not in_package(name, *REGISTRIES)
        for node in _sentences_in(tree(name))
    ]


def edited_sentences() -> list[Place]:
    """Calls of ``.replace`` that look for two words or more: a sentence edited as a string."""
    return [
        at(name, node, ast.unparse(node)[-60:])
        for name in modules()
        if not in_package(name, "recombine.lab")
        for node in nodes(name)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
        if node.args and isinstance(node.args[0], ast.Constant) and len(str(node.args[0].value).split()) > 1
    ]


def tests_that_need_the_lab() -> list[Place]:
    """Test files outside tests/lab that import the laboratory, so that they cannot run without it."""
    tests = SOURCE.parents[1] / "tests"
    return [
        str(path.relative_to(tests))
        for path in sorted(tests.rglob("*.py"))
        if path.relative_to(tests).parts[0] not in ("lab", "architecture")
        and re.search(r"^\s*(from|import) recombine\.lab\b|rc\.lab\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


#: What is counted place by place.
LISTED: dict[str, Callable[[], list[Place]]] = {
    "functions longer than 40 lines": long_functions,
    "functions of more than 8 parameters": long_signatures,
    "modules importing more than 15": wide_imports,
    "classes of more than 24 members": wide_classes,
    "filler parameters": filler_parameters,
    "constants with two values": constants_with_two_values,
    "numeric constants without unit": constants_without_unit,
    "names of structures compared": structure_names_compared,
    "names of causes compared": cause_names_compared,
    "fits told apart by isinstance": fits_told_apart,
    "codes of findings compared": codes_compared,
    "sentences outside words": sentences,
    "sentences edited as strings": edited_sentences,
    "tests outside tests/lab that need the lab": tests_that_need_the_lab,
}


def measured() -> dict[str, float]:
    """Every measure by name."""
    count = len(local_names())
    numbers: dict[str, float] = {
        "lines of product": lines_of(product()),
        "lines of library": lines_of(library()),
        "lines of lab": lines_of(lab()),
        "lines loaded by audit": lines_of(loaded_by_audit()),
        "filler locals, percent": round(100 * len(filler_locals()) / count, 2),
        "vague locals, percent": round(100 * len(filler_locals(VAGUE)) / count, 2),
    }
    numbers |= {name: len(places()) for name, places in LISTED.items()}
    return numbers | {f"lines of {name}": size for name, size in sorted(package_lines().items())}


def ceilings() -> dict[str, float]:
    """The ceiling of every measure."""
    read: dict[str, float] = tomllib.loads(CEILINGS.read_text(encoding="utf-8"))
    return read


def lower_ceilings() -> None:
    """Write every ceiling that is above what is measured anew; none rises."""
    text, allowed = CEILINGS.read_text(encoding="utf-8"), ceilings()
    for name, value in measured().items():
        if name in allowed and value < allowed[name]:
            text = text.replace(f'"{name}" = {allowed[name]:g}', f'"{name}" = {value:g}')
    CEILINGS.write_text(text, encoding="utf-8")


#: What is counted module by module.
SETS: dict[str, Callable[[], Iterable[str]]] = {
    "product": product,
    "library": library,
    "loaded by audit": loaded_by_audit,
}


def main() -> None:
    """Print every number beside its ceiling, or what one of them counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--where", choices=[*LISTED, "filler locals", *SETS])
    parser.add_argument("--lower", action="store_true", help="Lower ceilings to what is measured.")
    options = parser.parse_args()
    wanted = options.where
    if options.lower:
        lower_ceilings()
    elif wanted is None:
        allowed = ceilings() if CEILINGS.exists() else {}
        for name, value in measured().items():
            print(f"{name:45} {value:9g} {allowed.get(name, float('nan')):9g}")
    elif wanted in SETS:
        print(*(f"{lines(name):5} {name}" for name in sorted(SETS[wanted]())), sep="\n")
    else:
        print(*(filler_locals() if wanted == "filler locals" else LISTED[wanted]()), sep="\n")


if __name__ == "__main__":
    main()
