"""Terminal, JSON, CSV, page and notebook say the same numbers; any one that differs is caught."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from known_audits import flights
from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.audit.certificates import certificates_to_show
from recombine.report.audit.page import page
from recombine.report.audit.record import audit_json
from recombine.report.audit.sections import audit_sections
from recombine.report.notebook import notebook
from recombine.report.screen import plain_text
from recombine.theory.structures import STRUCTURES
from recombine.verdicts import Verdict
from recombine.words.additivity import STATE_WORDS
from recombine.words.forecast import ROWS, TRAINED
from recombine.words.forecast import VALUES as GIVEN
from recombine.writing import round_estimate

WORDS = [verdict.word for verdict in Verdict]
NUMBER = r"[-−+]?[\d,]*\.?\d+(?:e[-−+]?\d+)?"


class Reader(HTMLParser):
    """Reads a page: its tables by id (rows as dictionaries by column head), and all its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, list[dict[str, str]]] = {}
        self.texts: list[str] = []
        self._rows: list[list[str]] = []
        self._identity, self._inside = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "table":
            self._rows = []
        if tag == "caption":
            self._identity = str(named["id"])
        if tag == "tr":
            self._rows.append([])
        if tag in ("th", "td") and self._rows:
            self._rows[-1].append("")
            self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self._inside = ""
        if tag == "table":
            heads = next(place for place in (1, 0) if place < len(self._rows) and _is_head(self._rows, place))
            self.tables[self._identity] = [
                dict(zip(self._rows[heads], row, strict=True)) for row in self._rows[heads + 1 :]
            ]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._inside:
            self._rows[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def _is_head(rows: list[list[str]], place: int) -> bool:
    """Only the table of models has a line above its column heads."""
    return place == 0 or "your data settle it" in rows[0]


@dataclass(frozen=True)
class Outputs:
    record: dict[str, Any]
    rows: list[dict[str, str]]
    terminal: str
    reader: Reader
    notebook: str


def outputs(audit: rc.Audit, folder: Any, models: rc.Table | None = None) -> Outputs:
    plan = audit.plan()
    audit.verdicts.to_csv(folder / "verdicts.csv")
    with (folder / "verdicts.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    terminal = plain_text(audit_sections(audit, plan, models), width=4_000)
    reader = Reader(page(audit, plan=plan, models=models))
    return Outputs(json.loads(audit_json(audit, plan, models)), rows, terminal, reader, Reader(notebook(audit)).text)


def agrees(text: str, value: float | None) -> bool:
    """Whether a number as it is written is the value, rounded to the digits written."""
    text = text.strip().replace("−", "-").replace("%", " %")
    if value is None:
        return text.rstrip(".") in ("–", "not varied", "nan", "")
    if text.startswith("about "):
        return float(text[6:].replace(",", "")) == round_estimate(int(value))
    if text.startswith(("< 0.1", "> 99.9")):
        return 0 < value < 0.001 if text[0] == "<" else 0.999 < value < 1
    found = re.match(rf"({NUMBER})(\s*%)?$", text)
    if not found:
        return False
    digits, percent = found[1].replace(",", ""), found[2]
    mantissa, _, power = digits.partition("e")
    unit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2])) / (100 if percent else 1)
    whole = abs(value) >= 100 and "." not in mantissa and "e" not in digits  # three or four digits, the rest in full
    shown = float(digits) / (100 if percent else 1)
    return abs(shown - value) <= 0.5000001 * unit + (1e-9 * abs(value) if whole else 1e-12 * abs(value))


Check = tuple[str, str | None, float | None]


def compared(found: Outputs) -> Iterator[Check]:
    """Every number of the record that another output shows: where, as it is written there, and its value."""
    yield from _answers(found)
    yield from _counts(found)
    yield from _coverage(found)
    yield from _additivity(found)
    yield from _values(found)
    yield from _forecast(found)
    yield from _advice(found)
    yield from _models(found)


def _same(where: str, text: str, among: str) -> Check:
    """A sentence that is the same in two outputs."""
    return f"{where}: {text!r}", "0" if text in among else "1", 0.0


def _find(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return None if found is None else found[1]


def _answers(found: Outputs) -> Iterator[Check]:
    record = found.record
    for sentence in [*answer_texts(record), *(item["message"] for item in record["findings"])]:
        for where, text in (("terminal", found.terminal), ("notebook", found.notebook), ("page", found.reader.text)):
            # The page begins the message of a finding with a capital.
            yield _same(where, sentence[1:], text)
    error, numbers, together = record["forecast"]["error"], record["numbers"], "\n".join(record["answer"])
    leads = {"values": "Values: miss by", "mean": "the plain mean by", "noise": "noise alone by"}
    leads["network"] = "(?:one trained|by theory):"
    for name, lead in leads.items():
        if f"miss of {name}" in numbers and (name != "network" or "A network: " in together):
            written = _find(rf"{lead} ({NUMBER})", together)
            yield f"answer: {name}", (written or "").rstrip(".,:"), numbers[f"miss of {name}"]
    if error is not None and error["values"] is not None:
        known = {"values": "values", "mean": "mean", "noise": "noise", "network": "ntk"}
        for name, field in known.items():
            if error[field] is not None and f"miss of {name}" in numbers:
                trained = record["forecast"]["trained"] if name == "network" else None
                value = error[field] if trained is None else trained["models"][0]["error"]
                yield f"numbers: {name}", f"{numbers[f'miss of {name}']:.6g}", value
    for item in record["findings"]:
        yield from _finding(item, record)


def answer_texts(record: dict[str, Any]) -> list[str]:
    """What the lines of the answer say, without what they are about."""
    return [sentence.partition(": ")[2] for sentence in record["answer"]]


def _finding(item: dict[str, Any], record: dict[str, Any]) -> Iterator[Check]:
    message = item["message"]
    if item["code"] == "RC101" and record["listing"]["note"].startswith("All"):
        yield "RC101", _find(r"^((?:about )?[\d,]+) unseen", message), record["counts"]["disconnected"]
    if item["code"] == "RC201":
        slopes = {repr(row["factor"]): row for row in record["forecast"]["slopes"]}
        row = slopes[str(_find(r"effect of ('[^']*')", message))]
        own = (record["forecast"]["trained"] or {"slopes": {}})["slopes"].get(row["factor"], row["slope"])
        yield "RC201", _find(r"carries about (\S+ %) of", message), (row["slope"] + own) / 2
    if item["code"] == "RC202":
        row = next(row for row in record["forecast"]["shortcuts"] if f"{row['factor']!r}" in message)
        yield "RC202 pull", _find(r"' (\S+ %) of the way", message), row["pull"]
        yield "RC202 share", _find(r"determine, (\S+ %) of its", message), row["share"]


def _counts(found: Outputs) -> Iterator[Check]:
    counts, targets = found.record["counts"], found.record["listing"]["note"].endswith("target cells are listed.")
    asked = {word: sum(row["verdict"] == word for row in found.rows) for word in WORDS} if targets else counts
    if targets:
        for row in found.reader.tables["t-counts"]:
            word = row["verdict"].partition(" ")[2]  # after its symbol
            yield f"page, t-counts {word}", row["cells"], counts[word]
    for word in WORDS:
        if asked[word]:
            count = rf"((?:about )?[\d,]+) {word} "
            yield f"page, {word}", _find(rf"{count}[\d<>]", found.reader.text), asked[word]
            yield f"notebook, {word}", _find(rf"{count}\([\d<>]", found.notebook), asked[word]
        if counts[word] and word != "seen":
            lines = re.findall(rf"{word} +((?:about )?[\d,]+)  ", found.terminal)
            yield f"terminal, {word}", lines[-1] if lines else None, counts[word]
    yield "terminal, seen", _find(r"cells, ([\d,]+) seen", found.terminal), counts["seen"]
    yield "terminal, total", _find(r": ([\d,]+) cells, [\d,]+ seen", found.terminal), counts["total"]
    yield "page, total", _find(r"seen combinations? out of ([\d,]+)", found.reader.text), counts["total"]


def _coverage(found: Outputs) -> Iterator[Check]:
    rows = {(row["t"], row["factors"]): row for row in found.record["coverage"]}
    names = {"all levels": "all", "all pairs": "all", "all triples": "all"}
    for row in found.reader.tables["t-ways"]:
        truth = rows[int(row["t"]), names.get(row["levels of"], row["levels of"])]
        for head, name in {"seen": "seen", "possible": "possible", "covered": "share"}.items():
            yield f"page, coverage of {row['levels of']}, {head}", row[head], truth[name]
    for t in {t for t, _ in rows}:
        yield f"terminal, {t}-way", _find(rf"{t}-way ([<>]? ?{NUMBER} %)", found.terminal), rows[t, "all"]["share"]


def _additivity(found: Outputs) -> Iterator[Check]:
    check = found.record["additivity"]
    if check is None:
        return
    yield _same("terminal", check["statement"], found.terminal)
    yield _same("page", check["statement"], found.reader.text)
    heads = {"cells tested": "cells tested", "error": "error", "plain mean": "mean baseline"}
    heads |= {"if effects add": "error if effects add", "share explained": "share explained"}
    for row, truth in zip(found.reader.tables["t-orders"], check["orders"], strict=True):
        for head, name in heads.items():
            yield f"page, additivity, {head}", row.get(head, "–"), truth[name]
        tested = row.get("lack of fit", "–").removeprefix("p = ")
        p_value = truth["lack of fit p"]
        yield "page, lack of fit", "–" if tested == "p < 1e-12" else tested, None if (p_value or 0) < 1e-12 else p_value
        yield _same("page, word", row["additivity"], STATE_WORDS[AdditivityState(truth["additivity"])])
    for row, truth in zip(found.reader.tables.get("t-breakers", []), check["breakers"], strict=False):
        for name in ("observed", "predicted", "difference"):
            yield f"page, breaker {name}", row[name], truth[name]
    shown = _find(r"Cells that depart most from adding: (.*)", found.terminal)
    for text, truth in zip(re.findall(rf"\(({NUMBER})\)", shown or ""), check["breakers"], strict=False):
        yield "terminal, breaker", text.replace("+", ""), truth["difference"]
    for place, row in enumerate(found.record["held_out"] or []):
        entry = found.reader.tables["t-held-out"][place]
        for name in ("cells", "value error", "mean error"):
            yield f"page, held-out {name}", entry.get(name, "–"), row[name]
        pattern = rf"{row['verdict']}, off by ({NUMBER}) \(the plain mean by ({NUMBER})\)"
        both = re.search(pattern, str(_find(r"Held-out cells: (.*)", found.terminal)))
        if row["value error"] is not None:
            yield "terminal, held-out error", None if both is None else both[1], row["value error"]
            yield "terminal, held-out mean", None if both is None else both[2], row["mean error"]


VALUES = {"leverage": "leverage", "predicted": "predicted", "standard error": "standard error"}
VALUES |= {"low": "90 % range from", "high": "to"}


def _values(found: Outputs) -> Iterator[Check]:
    """The verdicts of the record are those of the file, in full; the file's are those of page and terminal."""
    factors = [item["name"] for item in found.record["factors"]]
    for row, truth in zip(found.rows, found.record["verdicts"], strict=False):
        yield _same("file, verdict", row["verdict"], truth["verdict"])
        for name in set(VALUES) & set(truth):
            yield f"file, {name}", "0" if (float(row[name] or "nan") == truth[name] or truth[name] is None) else "1", 0
    by_cell = {tuple(row[name] for name in factors): row for row in found.rows}
    for row in found.reader.tables.get("t-values", []):
        truth = by_cell[tuple(row[name] for name in factors)]
        for name, head in VALUES.items():
            value = float(truth[name] or "nan")
            yield f"page, {name}", row.get(head, "–"), None if np.isnan(value) else value
    cell = _find(r"The shakiest determined cell: (.*)", found.terminal)
    if cell is not None:
        truth = by_cell[tuple(cell.split(" · "))]
        texts = {"predicted": r"predicted ([^,;\n]+)", "standard error": r"standard error ([^\s;]+)"}
        texts |= {
            "leverage": r"leverage ([^:,\s]+)",
            "low": r"90 % range (\S+) to",
            "high": r"90 % range \S+ to ([^,\s]+)",
        }
        after = found.terminal.partition("The shakiest determined cell")[2].partition("Findings")[0]
        for name in set(texts) & set(truth):
            value = float(truth[name] or "nan")
            if not np.isnan(value):
                yield f"terminal, shakiest {name}", _find(texts[name], after), value


def _forecast(found: Outputs) -> Iterator[Check]:
    told, tables = found.record["forecast"], found.reader.tables
    if told["error"] is not None:
        shown = {row["model"]: row["off by"] for row in tables["t-errors"]}
        for name, text in {"values": GIVEN, **ROWS}.items():
            if told["error"][name] is not None:
                label = next(model for model in shown if model.startswith(text))  # the noise has its standard error
                yield f"page, error {name}", shown[label], told["error"][name]
                line = _find(rf"{re.escape(label)} +({NUMBER})[ \n]", found.terminal)
                yield f"terminal, error {name}", line, told["error"][name]
        yield (
            "terminal, cells",
            _find(r"square over ([\d,]+) (?:determined|cells)", found.terminal),
            told["error"]["cells"],
        )
        yield (
            "page, cells",
            _find(r"square over ([\d,]+) (?:determined|cells)", found.reader.text),
            told["error"]["cells"],
        )
    for row, truth in zip(tables.get("t-depths", []), told["depths"], strict=False):
        yield "page, NTK by depth", row["all layers learn (NTK)"], truth["ntk"]
        yield "page, NNGP by depth", row["its readout learns (NNGP)"], truth["nngp"]
    for model in (told["trained"] or {"models": []})["models"]:
        shown_model = next(row for row in tables["t-errors"] if row["model"] == TRAINED[model["model"]])
        yield f"page, trained {model['model']}", shown_model["off by"], model["error"]
        if model["low"] is not None:
            low, _, high = shown_model["the next one"].partition(" to ")
            yield f"page, low end {model['model']}", low, model["low"]
            yield f"page, high end {model['model']}", high, model["high"]
        line = _find(rf"{re.escape(TRAINED[model['model']])} +({NUMBER})[ \n]", found.terminal)
        yield f"terminal, trained {model['model']}", line, model["error"]
    slopes = {row["factor"]: row for row in told["slopes"]}
    share = r"(\S+ %|not varied)"
    for row in tables.get("t-slopes", []):
        truth = slopes[row["factor"]]
        own = (told["trained"] or {"slopes": {}})["slopes"].get(row["factor"])
        truth = truth | {"arrives": truth["slope"] if own is None else (truth["slope"] + own) / 2}
        heads = {"effect (standard deviation)": "effect", "arrives": "arrives", "NTK": "ntk", "NNGP": "nngp"}
        for head, name in heads.items():
            yield f"page, slope {head}", row[head], truth[name]
        shares = rf" +{share}" * (4 if "in the trained network" in row else 3)
        line = re.search(rf"\n +{re.escape(row['factor'])} +\S+{shares}\n", found.terminal)
        for name, place in {"arrives": 1, "ntk": -2, "nngp": -1}.items():
            yield f"terminal, slope {name}", None if line is None else line.groups()[place - (place > 0)], truth[name]
    for row, truth in zip(tables.get("t-shortcuts", []), told["shortcuts"], strict=True):
        heads = {"share of the way": "pull", "moves predictions by (SD)": "size", "share of squared error": "share"}
        for head, name in heads.items():
            yield f"page, shortcut {head}", row[head], truth[name]


def _advice(found: Outputs) -> Iterator[Check]:
    told = found.record["plan"]
    yield _same("terminal, plan", told["text"] if told["needed"] else "", found.terminal)
    for row, truth in zip(found.reader.tables.get("t-plan", []), told["cells"], strict=True):
        yield _same("page, gain", row["gain"], truth["text"])
        yield _same("terminal, gain", truth["text"], found.terminal)
        for name, level in truth["cell"].items():
            yield _same("page, cell", row[name], level)
        written = _find(rf"({NUMBER} ?%?)", truth["text"])
        if written is not None and "about" not in truth["text"]:
            yield "gain", written.lstrip("-−").replace(" ", ""), truth["gain"]


def _models(found: Outputs) -> Iterator[Check]:
    for row, truth in zip(found.reader.tables.get("t-models", []), found.record["models"] or [], strict=True):
        line = re.search(rf"{re.escape(truth['model'])} +{100 * truth['share']:.0f} % of cells +(.*)", found.terminal)
        texts = re.findall(rf"{NUMBER}|–", re.sub(r"\(n = [\d,]+\)", "", line[1])) if line else [None] * 3
        for place, word in enumerate(WORDS[1:4]):
            yield f"page, {truth['model']}", row[word].partition(" n = ")[0], truth[word]
            yield f"terminal, {truth['model']}", texts[place], truth[word]


def wrong(found: Outputs) -> Iterator[str]:
    for where, text, value in compared(found):
        if text is None or not agrees(text, value):
            yield f"{where}: {text!r} is not {value!r}"


@cache
def held_out() -> rc.Audit:
    """Blocks that nothing links, replicates, a level that only held-out rows have."""
    generator = np.random.default_rng(3)
    rows = [
        (f"p{i}", f"b{j}", i - j + 0.3 * generator.normal(), "test" if i == 11 or (i + j) % 4 == 0 else "train")
        for i in range(12)
        for j in range(14)
        for _ in range(2)
        if i // 6 == j // 7
    ]
    frame = pd.DataFrame(rows, columns=["plate", "batch", "diameter", "fold"])
    return rc.audit(rc.Design.from_frame(frame, factors=["plate", "batch"], outcome="diameter", split="fold=train"))


@cache
def targets() -> rc.Audit:
    asked = pd.DataFrame({"plate": ["p0", "p0", "p1", "p7"], "batch": ["b13", "b0", "b2", "b7"]})
    return rc.audit(held_out().design, targets=asked)


@cache
def chances() -> rc.Audit:
    """A table of counts with a two-valued outcome."""
    generator = np.random.default_rng(5)
    rows = [
        (f"c{i}", f"s{j}", f"a{k}", won, int(generator.integers(2, 30)))
        for i in range(4)
        for j in range(4)
        for k in range(3)
        for won in ("no", "yes")
        if (i + 2 * j + k) % 5
    ]
    frame = pd.DataFrame(rows, columns=["class", "sex", "age", "won", "n"])
    return rc.audit(rc.Design.from_frame(frame, factors=["class", "sex", "age"], outcome="won", weight="n"))


@cache
def no_outcome() -> rc.Audit:
    cells = np.random.default_rng(0).integers([6, 7, 3], size=(30, 3))
    return rc.audit(rc.Design.from_cells(cells, sizes=(6, 7, 3), names=["a", "b", "c"]))


@cache
def sampled() -> rc.Audit:
    cells = np.random.default_rng(0).integers(0, 120, size=(220, 3))
    outcome = cells.sum(axis=1) + np.random.default_rng(1).normal(size=220)
    return rc.audit(rc.Design.from_cells(cells, outcome, sizes=(120,) * 3, names=["a", "b", "c"]))


CASES: dict[str, Callable[[], rc.Audit]] = {
    "flights": flights,
    "held out": held_out,
    "targets": targets,
    "chances": chances,
    "no outcome": no_outcome,
    "sampled": sampled,
}


@pytest.fixture(scope="module", autouse=True)
def without_figures() -> Iterator[None]:
    """Figures have numbers of their own, and tests (test_figures.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.report.figure.Figure.svg", lambda figure, width=None: "<svg></svg>")
        yield


@pytest.fixture(scope="module", params=CASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    audit = CASES[request.param]()
    models = audit.compare_models(draws=1) if request.param == "held out" else None
    return outputs(audit, tmp_path_factory.mktemp("outputs"), models)


def test_every_output_says_the_same_numbers(found: Outputs) -> None:
    assert list(wrong(found)) == []


@cache
def real_tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((Path(__file__).parent / "real_tables.json").read_text())["tables"]
    return tables


def real_audit(name: str, split: bool, structure: str | None = None) -> rc.Audit:
    """Audit a real table of which three combinations in ten are left out, or held out."""
    table = real_tables()[name]
    frame, factors = pd.DataFrame(table["columns"]), table["factors"]
    cells = frame.groupby(factors).ngroup().to_numpy()
    gone = (np.random.default_rng(len(frame)).random(cells.max() + 1) < 0.3)[cells]
    if not split:
        return rc.audit(frame[~gone], factors=factors, outcome=table["outcome"], structure=structure)
    frame["part"] = np.where(gone, "test", "train")
    return rc.audit(frame, factors=factors, outcome=table["outcome"], split="part=train", structure=structure)


def _often(cases: list[Any], few: int) -> list[Any]:
    """The first cases always, the others with the slow tests."""
    return [*cases[:few], *(pytest.param(*case, marks=pytest.mark.slow) for case in cases[few:])]


@pytest.mark.parametrize(
    ("name", "split"), _often([(name, split) for name in real_tables() for split in (True, False)], 2)
)
def test_outputs_of_real_tables_say_the_same_numbers(name: str, split: bool, tmp_path: Path) -> None:
    assert len(real_tables()) >= 15
    assert list(wrong(outputs(real_audit(name, split), tmp_path))) == []


@pytest.mark.parametrize(
    ("structure", "name", "split"),
    _often(
        [
            (structure, name, split)
            for structure in STRUCTURES.names
            for name in ("datasets/HairEyeColor", "lattice/barley", "MASS/immer")
            for split in (True, False)
        ],
        1,
    ),
)
def test_outputs_under_every_structure_say_the_same_numbers(
    structure: str, name: str, split: bool, tmp_path: Path
) -> None:
    try:
        audit = real_audit(name, split, structure)
    except rc.RecombineError as error:
        pytest.skip(str(error))
    assert list(wrong(outputs(audit, tmp_path))) == []


def shown_numbers(found: Outputs) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every number of the record that other outputs show, but of the verdicts only some."""
    record, told = found.record, found.record["forecast"]
    yield from (("counts", word) for word in [*WORDS, "total"] if record["counts"][word])
    for place, row in enumerate(record["coverage"]):
        if row["factors"] == "all":
            yield "coverage", place, "share"
    if record["additivity"]:
        names = ["cells tested", "error", "mean baseline", "error if effects add", "share explained"]
        for place in range(len(record["additivity"]["orders"])):
            yield from (("additivity", "orders", place, name) for name in names)
        if "t-breakers" in found.reader.tables:
            yield from (("additivity", "breakers", place, "difference") for place in range(5))
    for place in range(len(record["held_out"] or [])):
        yield from (("held_out", place, name) for name in ("cells", "value error", "mean error"))
    yield from (("forecast", "error", name) for name in ["values", *ROWS, "cells"] if told["error"])
    if "t-depths" in found.reader.tables:
        yield from (
            ("forecast", "depths", place, name) for place in range(len(told["depths"])) for name in ("ntk", "nngp")
        )
    for place, row in enumerate(told["slopes"]):
        if row["told"]:
            yield from (("forecast", "slopes", place, name) for name in ("effect", "slope", "ntk", "nngp"))
    for place in range(len(told["shortcuts"])):
        yield from (("forecast", "shortcuts", place, name) for name in ("pull", "size", "share"))
    for index, row in enumerate(record["plan"]["cells"]):
        if re.match(rf"mean|{NUMBER}", row["text"]):
            yield "plan", "cells", index, "gain"
    for place in range(0, len(record["verdicts"]), 97):
        yield from (("verdicts", place, name) for name in set(VALUES) & set(record["verdicts"][place]))
    for place in range(len(record["models"] or [])):
        yield from (("models", place, word) for word in WORDS[1:4])


@pytest.mark.slow
@pytest.mark.trains
@pytest.mark.parametrize("split", [True, False])
def test_outputs_of_trained_models_say_the_same_numbers(split: bool, tmp_path: Path) -> None:
    cells = np.indices((7, 6)).reshape(2, -1).T
    outcome = cells[:, 0] + 2.0 * cells[:, 1] + np.random.default_rng(0).normal(size=len(cells))
    train = np.random.default_rng(1).random(len(cells)) < 0.7
    design = rc.Design.from_cells(cells, outcome, train=train)
    if not split:
        design = rc.Design.from_cells(cells[train], outcome[train], sizes=(7, 6))
    found = outputs(rc.audit(design), tmp_path)
    assert found.record["forecast"]["trained"]["models"][0]["model"] == "network"
    assert list(wrong(found)) == []


@pytest.mark.parametrize("start", [0, *(pytest.param(start, marks=pytest.mark.slow) for start in (1, 2))])
def test_a_number_that_differs_is_caught(found: Outputs, start: int) -> None:
    record = copy.deepcopy(found.record)
    changed = Outputs(record, found.rows, found.terminal, found.reader, found.notebook)
    for path in list(shown_numbers(found))[start::3]:
        *way, last = path
        holder: Any = record
        for key in way:
            holder = holder[key]
        value = holder[last]
        if value is not None:
            holder[last] = type(value)(value * 1.11 + 2)
            assert next(wrong(changed), None), f"{path} could be anything"
            holder[last] = value


def test_the_file_is_what_page_and_terminal_show(found: Outputs) -> None:
    if "t-values" not in found.reader.tables:
        return
    for name in VALUES:
        if not all(row[name] for row in found.rows if row["verdict"] == "determined"):
            continue
        rows = [row | {name: str(float(row[name]) * 1.1 + 1) if row[name] else ""} for row in found.rows]
        changed = Outputs(found.record, rows, found.terminal, found.reader, found.notebook)
        assert any(text.startswith("page, ") for text in wrong(changed)), name


def test_a_few_sentences_open_every_output(found: Outputs) -> None:
    names = [sentence.partition(": ")[0] for sentence in found.record["answer"]]
    assert names[0] == "Read"
    assert {"Seen", "Predictable"} <= set(names)
    assert len(names) <= 11
    together = " ".join(f"{name} {text}" for name, text in zip(names, answer_texts(found.record), strict=True))
    assert together in " ".join(found.terminal.split())
    assert together in found.reader.text
    assert found.reader.text.index(together) < found.reader.text.index("Findings")


def test_without_an_outcome_only_what_can_be_known_is_said() -> None:
    lines = {line.name: line.text for line in no_outcome().answer.lines}
    assert lines["Predictable"].endswith("unseen, if effects add, which nothing checks without an outcome")
    assert not {"Values", "A network", "Careful"} & lines.keys()


def test_certificates_of_the_page_are_those_of_the_audit() -> None:
    audit = held_out()
    text = Reader(page(audit)).text
    for item in certificates_to_show(audit.values):
        written = _find(rf"{re.escape(item.label)} .*?The sum gives ({NUMBER}), with variance", text)
        assert written is not None
        assert agrees(written, item.by_sum)


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ("5.11", 5.114, True),
        ("5.11", 5.116, False),
        ("−83.47", -83.469, True),
        ("1,234", 1234.4, True),
        ("65 %", 0.652, True),
        ("65 %", 0.66, False),
        ("> 99.9 %", 0.9999, True),
        ("about 12,000", 12_345, True),
        ("–", None, True),
        ("3", None, False),
        ("1e-05", 1.02e-5, True),
    ],
)
def test_numbers_are_read_with_the_digits_they_have(text: str, value: float | None, same: bool) -> None:
    assert agrees(text, value) is same


def test_console_of_any_width_says_the_same() -> None:
    audit = held_out()
    wide, narrow = (plain_text(audit_sections(audit), width) for width in (4_000, 60))
    # A label that takes two rows of its cell stands on both sides of the number beside it.
    assert sorted(re.findall(NUMBER, wide)) == sorted(re.findall(NUMBER, narrow))
    assert io.StringIO(narrow).readline().startswith("Recombine audit")
