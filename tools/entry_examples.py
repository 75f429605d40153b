"""An example of every finding, cause and structure: a small table that raises it, run when its page is written.

Each is a sentence that says why it happens there, and the Python code; what the code prints is never typed. An entry
without an example has a page without one, and ``tests/architecture/test_entry_pages.py`` names it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import textwrap
from typing import NamedTuple

#: Letters of a line of output, as wide as a page shows them; doctests take any line breaks.
WIDTH = 84


class Example(NamedTuple):
    """Why an entry shows in this table, and the code that makes it show."""

    why: str
    code: str


def doctest_of(code: str) -> str:
    r"""Return ``code`` as a doctest with what it prints, run statement by statement.

    Examples
    --------
    >>> print(doctest_of("x = 2\nx + 1"))
    >>> x = 2
    >>> x + 1
    3
    """
    source = textwrap.dedent(code).strip()
    names: dict[str, object] = {"__name__": "__main__"}
    lines, rows = [], source.splitlines()
    for statement in ast.parse(source).body:
        first = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", []))])
        written = rows[first - 1 : statement.end_lineno]
        lines += [f"{'... ' if number else '>>> '}{row}".rstrip() for number, row in enumerate(written)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(ast.Interactive([statement]), "<example>", "single"), names)  # examples of this file
        for row in printed.getvalue().splitlines():
            lines += textwrap.wrap(row, WIDTH, break_long_words=False, break_on_hyphens=False) or ["<BLANKLINE>"]
    return "\n".join(lines)


def _finding(code: str) -> str:
    return f'print(*(finding for finding in audit.findings if finding.code == "{code}"))'


def _audit(table: str, options: str, code: str) -> str:
    head = f"import pandas as pd, recombine as rc\ntable = pd.DataFrame({table})"
    return f"{head}\naudit = rc.audit(table, {options})\n{_finding(code)}"


#: Two drugs that were never given to the same line: nothing ties their effects together.
ISLANDS = '{"drug": ["a", "a", "b", "c", "c"], "line": ["x", "y", "y", "z", "w"]}'
DRUGS = 'factors=["drug", "line"]'
#: A grid of drugs and lines, of which a random half is held out; predictions are made from its effects.
GRID = """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.repeat(np.indices((9, 7)).reshape(2, -1).T, 2, axis=0)
train = np.repeat(rng.random(63) < 0.5, 2)
y = cells @ [1.0, 2.0] + 0.1 * rng.normal(size=126)
design = rc.Design.from_cells(cells, y, train=train, names=["drug", "line"])
drug, line = design.held_out.T
"""
SCORED = 'score = rc.score(design, {"net": net}, structure="add")\n'


def _scored(net: str, code: str) -> str:
    return f'{GRID}net = {net}\n{SCORED}print(*(item for item in score.findings if item.code == "{code}"))'


def _amount(cause: str) -> str:
    return (
        f'amount = score.models[0].causes["{cause}"]\n'
        'print(f"{amount.value:.3f}, 95 % range {amount.low:.3f} to {amount.high:.3f}")'
    )


def _cause(net: str, cause: str) -> str:
    return f"{GRID}net = {net}\n{SCORED}{_amount(cause)}"


def _check(rows: str, code: str, options: str = "") -> str:
    return f"""
import pandas as pd
from recombine.jobs.split import check_split
rows = {rows}
table = pd.DataFrame(rows, columns=["drug", "line", "y", "part"])
check = check_split(table, factors=["drug", "line"], split="part"{options})
print(*(finding for finding in check.findings if finding.code == "{code}"))
"""


TRAIN_ROWS = '("drug-c", "x", 1.0, "train"), ("a", "x", 2.0, "train"), ("a", "drug-c", 3.0, "train")'
FINDING_EXAMPLES = {
    "RC101": Example(
        "Drug c was never given to a line that a or b was given to: no sum of seen rows carries its effect over there.",
        _audit(ISLANDS, DRUGS, "RC101"),
    ),
    "RC102": Example(
        "No training row has drug c: its rows are all held out.",
        _audit(
            '{"drug": ["a", "a", "b", "c"], "line": ["x", "y", "y", "x"], "part": ["train"] * 3 + ["test"]}',
            f'{DRUGS}, split="part=train"',
            "RC102",
        ),
    ),
    "RC103": Example(
        "One row names no line, and another has no outcome.",
        _audit(
            '{"drug": ["a", "a", "b", "b", "a"], "line": ["x", "y", "x", None, "y"], "y": [1.0, None, 2.0, 3.0, 4.0]}',
            f'{DRUGS}, outcome="y"',
            "RC103",
        ),
    ),
    "RC104": Example(
        "The columns were not named, so that they are told apart by their values.",
        """
import pandas as pd, recombine as rc
columns = {"drug": ["a", "a", "b", "b"] * 3, "line": ["x", "y", "z"] * 4, "y": [0.1 * row * row for row in range(12)]}
table = pd.DataFrame(columns)
audit = rc.audit(table)
"""
        + _finding("RC104"),
    ),
    "RC105": Example(
        "Small tables are decided exactly. Here arithmetic is made to distrust itself, as with tens of thousands of "
        "levels.",
        """
from unittest.mock import patch
import recombine as rc
rows = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [2, 2, 1], [2, 3, 1], [3, 2, 1], [3, 3, 1]]
where = "recombine.theory.identification"
with (
    patch(f"{where}.nullspace.MAX_EXACT_COLUMNS", -1),
    patch(f"{where}.nullspace.MAX_COLUMNS_WITHOUT_FLINT", -1),
    patch(f"{where}.judgement.MIN_NONZERO_DISTANCE", 10.0),
):
    audit = rc.audit(rc.Design.from_cells(rows, names=["drug", "line", "plate"]))
    print(*(finding for finding in audit.findings if finding.code == "RC105"))
""",
    ),
    "RC106": Example(
        "Labs share one batch with the next only: the first lab and the last batch are an alternating sum of seven "
        "measurements.",
        """
import recombine as rc
chain = [[lab, lab] for lab in range(4)] + [[lab + 1, lab] for lab in range(3)]
audit = rc.audit(rc.Design.from_cells(chain, names=["lab", "batch"]))
"""
        + _finding("RC106"),
    ),
    "RC107": Example(
        "The same town is written in two ways.",
        _audit(
            '{"site": ["Lyon", "lyon", "Paris", "Rome"], "arm": ["u", "v", "u", "v"]}',
            'factors=["site", "arm"]',
            "RC107",
        ),
    ),
    "RC108": Example(
        "Every plant has one treatment only, in rows enough that this is no accident.",
        """
import pandas as pd, recombine as rc
rows = [(f"p{plant}", "cold" if plant < 4 else "warm", dose) for plant in range(8) for dose in range(5)]
table = pd.DataFrame(rows, columns=["plant", "treatment", "dose"])
audit = rc.audit(table, factors=["plant", "treatment", "dose"])
"""
        + _finding("RC108"),
    ),
    "RC109": Example(
        "A column of variants was taken apart into positions.",
        _audit('{"variant": ["ACG", "AGG", "TCG"], "y": [1.0, 2.0, 3.0]}', 'sequence="variant", outcome="y"', "RC109"),
    ),
    "RC110": Example(
        "Dose 80 is asked about, and training ends at 40.",
        _audit(
            '{"drug": ["a", "a", "a", "b", "b"], "dose": [0, 10, 40, 0, 10]}',
            'factors=["drug"], ordered=["dose"], targets=pd.DataFrame({"drug": ["b"], "dose": [80]})',
            "RC110",
        ),
    ),
    "RC111": Example(
        "Descriptors of drugs are given; one drug of the table lacks them, and one that they name has no row.",
        """
import pandas as pd, recombine as rc
rows = [("a", "low", 1.0), ("a", "high", 2.0), ("b", "low", 3.0), ("c", "low", 4.0)]
table = pd.DataFrame(rows, columns=["drug", "dose", "y"])
drugs = pd.DataFrame({"drug": ["a", "b", "z"], "mass": [1.0, None, 3.0], "logP": [0.1, 0.2, 0.3]})
audit = rc.audit(table, factors=["drug", "dose"], outcome="y", features={"drug": drugs})
"""
        + _finding("RC111"),
    ),
    "RC201": Example(
        "Numbers are added, but only sums with a 4 in them were seen: a network keeps much of each effect with whole "
        "combinations.",
        """
import recombine as rc
cells = [[left, right] for left in range(9) for right in range(9)]
seen = [4 in cell for cell in cells]
design = rc.Design.from_cells(cells, [float(sum(cell)) for cell in cells], train=seen, names=["left", "right"])
audit = rc.audit(design, forecast="theory")
"""
        + _finding("RC201"),
    ),
    "RC202": Example(
        "The treatment decides, and the hospital goes along with it in nearly all seen combinations.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(1)
cells = np.indices((2, 12, 5)).reshape(3, -1).T
agree = cells[:, 0] == (cells[:, 1] >= 6)
seen = rng.random(len(cells)) < np.where(agree, 0.9, 0.045)
y = cells[:, 1] + 0.1 * rng.normal(size=len(cells))
design = rc.Design.from_cells(cells, y, train=seen, names=["hospital", "treatment", "ward"])
audit = rc.audit(design, forecast="theory")
"""
        + _finding("RC202"),
    ),
    "RC301": Example(
        "What a drug does depends on the line without any pattern, and each combination was measured three times.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices((6, 6)).reshape(2, -1).T[:-4]
y = np.repeat(rng.normal(size=32), 3) + 0.05 * rng.normal(size=96)
audit = rc.audit(rc.Design.from_cells(np.repeat(cells, 3, axis=0), y), forecast="theory")
"""
        + _finding("RC301"),
    ),
    "RC302": Example("No outcome is named.", _audit(ISLANDS, DRUGS, "RC302")),
    "RC303": Example(
        "One factor has an effect, the rest differs from cell to cell, and no row repeats: noise and interaction look "
        "alike.",
        """
import numpy as np, recombine as rc
cells = np.indices((6, 6)).reshape(2, -1).T[:-4]
y = 0.5 * cells[:, 0] + np.random.default_rng(0).normal(size=32)
audit = rc.audit(rc.Design.from_cells(cells, y), forecast="theory")
"""
        + _finding("RC303"),
    ),
    "RC304": Example(
        "The outcome is noise.",
        """
import numpy as np, recombine as rc
cells = np.indices((6, 6)).reshape(2, -1).T[:-4]
audit = rc.audit(rc.Design.from_cells(cells, np.random.default_rng(0).normal(size=32)))
"""
        + _finding("RC304"),
    ),
    "RC401": Example(
        "The combination a, x is on both sides.",
        _check(f'[{TRAIN_ROWS}, ("a", "x", 2.1, "test")]', "RC401"),
    ),
    "RC402": Example(
        "The two columns are one factor used twice, and the test turns a pair of training around.",
        _check(f'[{TRAIN_ROWS}, ("x", "a", 2.1, "test")]', "RC402", ', symmetric=["drug", "line"]'),
    ),
    "RC403": Example(
        "The test writes drug-c in capitals.",
        _check(f'[{TRAIN_ROWS}, ("DRUG C", "x", 1.1, "test")]', "RC403"),
    ),
    "RC404": Example(
        "The test has drug new, whose outcomes are those of drug d0 to the last digit.",
        """
import numpy as np, pandas as pd
from recombine.jobs.split import check_split
rng = np.random.default_rng(0)
y = rng.normal(size=(6, 12))
rows = [(f"d{drug}", f"l{line}", y[drug, line], "train") for drug in range(6) for line in range(12)]
rows += [("new", f"l{line}", y[0, line], "test") for line in range(12)]
table = pd.DataFrame(rows, columns=["drug", "line", "y", "part"])
check = check_split(table, factors=["drug", "line"], split="part", outcome="y")
print(*(finding for finding in check.findings if finding.code == "RC404"))
""",
    ),
    "RC501": Example(
        "A row went missing, and with it a cell that followed from it.",
        """
import recombine as rc
rows = [[0, 0], [0, 1], [1, 0], [2, 1]]
designs = [rc.Design.from_cells(seen, sizes=(3, 2), names=["drug", "line"]) for seen in (rows, rows[:3])]
before, after = map(rc.audit, designs)
print(rc.jobs.findings.FINDINGS["RC501"].find(rc.compare(before, after)))
""",
    ),
    "RC502": Example(
        "Drug c does not occur any more.",
        """
import pandas as pd, recombine as rc
table = pd.DataFrame({"drug": ["a", "a", "b", "c"], "line": ["x", "y", "x", "x"]})
before, after = (rc.audit(rows, factors=["drug", "line"]) for rows in (table, table[:3]))
print(rc.jobs.findings.FINDINGS["RC502"].find(rc.compare(before, after)))
""",
    ),
    "RC503": Example(
        "A drug that was measured in a line of its own has come in.",
        """
import pandas as pd, recombine as rc
table = pd.DataFrame({"drug": ["a", "a", "b", "b", "c"], "line": ["x", "y", "x", "y", "z"]})
before, after = (rc.audit(rows, factors=["drug", "line"]) for rows in (table[:4], table))
print(rc.jobs.findings.FINDINGS["RC503"].find(rc.compare(before, after)))
""",
    ),
    "RC504": Example(
        "The later model loses half of an effect.",
        f"""{GRID}nets = (drug + 2 * line, drug + line)
before, after = (rc.score(design, {{"net": net}}, structure="add") for net in nets)
print(rc.jobs.findings.FINDINGS["RC504"].find(rc.compare(before, after)))
""",
    ),
    "RC505": Example(
        "The forest was scored before, and is not now.",
        f"""{GRID}models = {{"net": drug + 2 * line, "forest": drug + 1.8 * line}}
before, after = (rc.score(design, told, structure="add") for told in (models, {{"net": models["net"]}}))
print(rc.jobs.findings.FINDINGS["RC505"].find(rc.compare(before, after)))
""",
    ),
    "RC506": Example(
        "The same cells were measured again with five times the noise.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.repeat(np.indices((5, 4)).reshape(2, -1).T, 3, axis=0)
designs = (rc.Design.from_cells(cells, cells.sum(axis=1) + size * rng.normal(size=60)) for size in (0.1, 0.5))
before, after = (rc.audit(design, structure="add", forecast="theory") for design in designs)
print(rc.jobs.findings.FINDINGS["RC506"].find(rc.compare(before, after)))
""",
    ),
    "RC601": Example(
        "The model carries half of the effect of the line; the seen cells say all of it.",
        _scored("drug + line + 3.0", "RC601"),
    ),
    "RC602": Example(
        "The model carries half of the effect of the line: a leak.",
        _scored("drug + line + 3.0", "RC602"),
    ),
    "RC603": Example(
        "The model was pulled to the very measurements that it is scored on.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = rng.permutation(np.indices((9, 8, 6)).reshape(3, -1).T)[:260]
truth = np.sum([rng.normal(size=size)[cells[:, at]] for at, size in enumerate((9, 8, 6))], axis=0)
y = np.repeat(truth, 2) + 0.4 * rng.normal(size=520)
seen = rng.random(260) < 0.6
design = rc.Design.from_cells(np.repeat(cells, 2, axis=0), y, train=np.repeat(seen, 2), names=["drug", "line", "dose"])
at = [int(np.flatnonzero((cells == cell).all(axis=1))[0]) for cell in design.held_out]
net = (0.3 * truth + 0.7 * y.reshape(-1, 2).mean(axis=1))[at]
score = rc.score(design, {"net": net}, structure="add")
print(*(finding for finding in score.findings if finding.code == "RC603"))
""",
    ),
    "RC604": Example(
        "The model is right everywhere but for one line.",
        _scored("drug + 2 * line + 2.0 * (line == 3)", "RC604"),
    ),
    "RC701": Example(
        "One prediction in ten copies the colour, which has nothing to do with the digit.",
        """
import numpy as np, pandas as pd, recombine as rc
rng = np.random.default_rng(0)
digit, colour = rng.integers(5, size=(2, 2000))
guess = np.where(rng.random(2000) < 0.1, colour, digit)
table = pd.DataFrame({"guess": guess, "digit": digit, "colour": colour})
probe = rc.probe(table, "guess", outcome="digit", factors=["colour"])
print(*probe.findings)
""",
    ),
}
#: Cells of two levels, of which chances are predicted.
CHANCES = """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices((8, 6, 5)).reshape(3, -1).T
odds = 0.6 * (cells - cells.mean(axis=0)).sum(axis=1)
seen = rng.random(240) < 0.5
y = (rng.random((240, 10)) < 1 / (1 + np.exp(-odds[:, None]))).astype(float)
design = rc.Design.from_cells(np.repeat(cells, 10, axis=0), y.ravel(), train=np.repeat(seen, 10))
net = 1 / (1 + np.exp(-3 * odds[~seen]))
score = rc.score(design, {"net": net})
"""
#: Effects add but for pairs of levels, which one of two models knows.
PAIRED = """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices((12, 10)).reshape(2, -1).T
beyond = rng.normal(size=120)
seen = rng.random(120) < 0.6
design = rc.Design.from_cells(cells, cells @ [1.0, 0.5] + beyond, train=seen, names=["drug", "line"])
"""
CAUSE_EXAMPLES = {
    "noise": Example(
        "Each held-out cell is the mean of two rows, which differ by chance.", _cause("drug + 2 * line", "noise")
    ),
    "seen noise": Example(
        "The model is the sum of seen effects and carries the noise of the seen rows; how much is hard to tell, so "
        "that the range is wide.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.repeat(np.indices((20, 20)).reshape(2, -1).T, 2, axis=0)
seen = np.repeat(rng.random(400) < 0.3, 2)
y = cells.sum(axis=1) + 2 * rng.normal(size=800)
design = rc.Design.from_cells(cells, y, train=seen, names=["drug", "line"])
net = rc.CompositionalRegressor(structure="add").fit(cells[seen], y[seen]).predict(design.held_out)
score = rc.score(design, {"net": net}, structure="add")
"""
        + _amount("seen noise"),
    ),
    "structure": Example(
        "Each combination departs from the sum of its effects, which no seen one tells.",
        PAIRED
        + """
net = design.held_out @ [1.0, 0.5]
score = rc.score(design, {"net": net}, structure="add")
"""
        + _amount("structure"),
    ),
    "learnable": Example(
        "The other model knows what combinations do beyond their effects.",
        PAIRED
        + """
models = {"net": design.held_out @ [1.0, 0.5], "other": design.held_out @ [1.0, 0.5] + 0.8 * beyond[~seen]}
score = rc.score(design, models, structure="add")
"""
        + _amount("learnable"),
    ),
    "over-confidence": Example(
        "The model's log odds are three times what the outcomes bear out.",
        CHANCES + _amount("over-confidence"),
    ),
    "leak": Example("Half of the effect of the line arrives in the predictions.", _cause("drug + line + 3.0", "leak")),
    "shortcut": Example(
        "The drug decides; the model takes part of the raw mean of the line, which goes along with the drug.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices((8, 8, 4)).reshape(3, -1).T
tied = np.abs(cells[:, 0] - cells[:, 1]) <= 1
seen = rng.random(256) < np.where(tied, 0.9, 0.2)
y = 1.0 * cells[:, 0] + 0.1 * rng.normal(size=256)
design = rc.Design.from_cells(cells, y, train=seen, names=["drug", "line", "dose"])
means = np.array([y[seen & (cells[:, 1] == level)].mean() for level in range(8)])
net = cells[~seen, 0] + 0.4 * (means[cells[~seen, 1]] - means.mean())
score = rc.score(design, {"net": net}, structure="add")
"""
        + _amount("shortcut"),
    ),
    "interaction": Example(
        "Pairs of drug and line interact, as the seen cells at three doses tell; the model only adds.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices((5, 5, 6)).reshape(3, -1).T
pairs = rng.normal(size=(5, 5))
y = cells[:, 2] + pairs[cells[:, 0], cells[:, 1]] + 0.1 * rng.normal(size=150)
seen = rng.random(150) < 0.7
design = rc.Design.from_cells(cells, y, train=seen, names=["drug", "line", "dose"])
net = cells[~seen, 2] + pairs.mean()
score = rc.score(design, {"net": net}, structure="pairs")
"""
        + _amount("interaction"),
    ),
    "memorization": Example(
        "The model answers with what the most similar seen cells were.",
        """
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices((8, 8, 8)).reshape(3, -1).T
y = cells.sum(axis=1) + 4 * rng.normal(size=512)
seen = rng.random(512) < 0.6
design = rc.Design.from_cells(cells, y, train=seen, names=["drug", "line", "dose"])
alike = (cells[~seen][:, None] == cells[seen]).sum(axis=2) == 2
net = np.array([y[seen][row].mean() for row in alike])
score = rc.score(design, {"net": net}, structure="add")
"""
        + _amount("memorization"),
    ),
    "offset": Example("All predictions are one too high.", _cause("drug + 2 * line + 1.0", "offset")),
    "rest": Example(
        "The model errs by chance, from cell to cell.",
        _cause("drug + 2 * line + 0.5 * rng.normal(size=len(drug))", "rest"),
    ),
}


#: Most of a grid is seen, and the rest is predicted under a structure and under another one.
FITTED = """
for name in ({names}):
    model = rc.CompositionalRegressor(structure=name).fit(cells[seen], y[seen])
    miss = model.predict(cells[~seen]) - y[~seen]
    print(f"{{name}}: off by {{np.sqrt(np.mean(miss**2)):.2f}}")
print(f"plain mean: off by {{np.std(y[~seen]):.2f}}")
"""


def _fitted(names: tuple[str, ...], y: str, sizes: tuple[int, ...] = (6, 5, 4), seen: float = 0.7) -> str:
    head = f"""
import numpy as np, recombine as rc
rng = np.random.default_rng(0)
cells = np.indices({sizes}).reshape({len(sizes)}, -1).T
{y}
seen = rng.random(len(cells)) < {seen}"""
    return head + FITTED.format(names=", ".join(f'"{name}"' for name in names) + "," * (len(names) == 1))


STRUCTURE_EXAMPLES = {
    "add": Example(
        "Every level adds its own effect.",
        _fitted(("add",), "y = cells.sum(axis=1) + 0.1 * rng.normal(size=len(cells))"),
    ),
    "logit": Example(
        "Every level adds to the log odds of a chance.",
        _fitted(
            ("logit", "add"),
            "odds = 1.5 * (cells - cells.mean(axis=0)).sum(axis=1)\ny = rng.binomial(50, 1 / (1 + np.exp(-odds))) / 50",
        ),
    ),
    "log": Example(
        "Every level multiplies a positive outcome.",
        _fitted(("log", "add"), "y = 1.6 ** cells.sum(axis=1) * np.exp(0.05 * rng.normal(size=len(cells)))"),
    ),
    "multiplicative": Example(
        "Levels multiply, some by a negative number.",
        _fitted(
            ("multiplicative", "add"),
            "factors = [rng.normal(size=size) for size in (6, 5, 4)]\n"
            "y = np.prod([factor[column] for factor, column in zip(factors, cells.T)], axis=0)",
        ),
    ),
    "link": Example(
        "Effects add on a hidden scale, and saturate on the way out.",
        _fitted(
            ("link", "add"),
            "hidden = cells @ [1.0, 0.8, 1.2]\ny = 10 / (1 + np.exp(5 - hidden)) + 0.05 * rng.normal(size=len(cells))",
        ),
    ),
    "pairs": Example(
        "What the first factor does depends on the second.",
        _fitted(
            ("pairs", "add"),
            "pairs = rng.normal(size=(6, 5))\ny = pairs[cells[:, 0], cells[:, 1]] + 0.5 * cells[:, 2]",
            (6, 5, 8),
            0.85,
        ),
    ),
    "link-pairs": Example(
        "The first two factors interact on a hidden scale, which saturates on the way out.",
        _fitted(
            ("link-pairs", "pairs", "link"),
            "pairs = rng.normal(size=(6, 5))\nhidden = 2 * pairs[cells[:, 0], cells[:, 1]] + cells[:, 2]\n"
            "y = 10 / (1 + np.exp(-hidden)) + 0.02 * rng.normal(size=len(cells))",
            (6, 5, 12),
            0.95,
        ),
    ),
    "triples": Example(
        "Three factors act together, and a fourth one adds.",
        _fitted(
            ("triples", "pairs"),
            "together = rng.normal(size=(4, 3, 3))\ny = together[tuple(cells.T[:3])] + 0.5 * cells[:, 3]",
            (4, 3, 3, 9),
            0.95,
        ),
    ),
}
