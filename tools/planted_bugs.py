"""Small bugs that can be planted in the package's files: changed expressions and statements, in random order."""

from __future__ import annotations

import ast
import copy
import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = "src/recombine"
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


def candidates(root: Path, patterns: Iterable[str]) -> list[Mutant]:
    """Return all bugs that can be planted in files of the package."""
    paths = sorted(
        {path for pattern in patterns for path in (root / SOURCE).glob(pattern) if path.name != "__init__.py"}
    )
    return [mutant for path in paths for mutant in Planter(str(path.relative_to(root)), path.read_bytes()).mutants]
