"""What the served page is told is what the audit says: verdicts, values, ranges and certificates, cell by cell."""

from __future__ import annotations

import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import known_audits
import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.errors import InputError
from recombine.explore.answers import NotInTableError, TableAnswers
from recombine.report.audit.embedded_cells import IMPOSSIBLE
from recombine.verdicts import Verdict


def islands() -> rc.Design:
    cells = [[a, b] for a in range(3) for b in range(3)] + [[a, b] for a in range(3, 6) for b in range(3, 5)]
    kept = [cell for place, cell in enumerate(cells) if place % 4]
    return rc.Design.from_cells(kept, sizes=(7, 6), outcome=[float(a * 2 + b) for a, b in kept])


def twins() -> rc.Design:
    return rc.Design.from_cells([[0, 1], [0, 2], [1, 2], [2, 3]], sizes=(5, 5), symmetric=[[0, 1]])


def dose(tmp_path: Path) -> rc.Design:
    path = tmp_path / "dose.csv"
    rows = [
        f"{plant},{amount},{amount * 0.5 + plant}" for plant in range(3) for amount in (1, 2, 4) if plant + amount != 3
    ]
    path.write_text("plant,dose,y\n" + "\n".join([*rows, "2,8,6"]) + "\n")
    return rc.Design.from_frame(path, factors=["plant", "dose"], outcome="y", ordered=["dose"], split=None)


def nested(tmp_path: Path) -> rc.Design:
    path = tmp_path / "nested.csv"
    rows = [
        f"p{plant},{'ab'[plant % 2]},s{site},{plant + site}" for plant in range(6) for site in range(3) if plant != site
    ]
    path.write_text("plant,treatment,site,y\n" + "\n".join(rows) + "\n")
    return rc.Design.from_frame(path, factors=["plant", "treatment", "site"], outcome="y", nested=["plant/treatment"])


def asked(design: rc.Design, **options: Any) -> TableAnswers:
    audit = rc.audit(design, **options)
    return TableAnswers(audit, audit.plan(3))


@cache
def of_flights() -> TableAnswers:
    audit = known_audits.flights()
    return TableAnswers(audit, audit.plan(3))


DESIGNS = {"islands": islands, "twins": twins, "dose": dose, "nested": nested}


@pytest.fixture(params=["flights", *DESIGNS], scope="module")
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TableAnswers:
    if request.param == "flights":
        return of_flights()
    make = DESIGNS[request.param]
    folder = tmp_path_factory.mktemp("tables")
    return asked(make(folder) if request.param in ("dose", "nested") else make())


def opening(design: rc.Design) -> tuple[list[int], np.ndarray]:
    """Where the map opens, and the number of unseen cells in every slice of the factors it holds."""
    start = asked(design).record["start"]
    unseen = np.full(design.sizes, 1)
    unseen[~design.possible.holds(every_cell(design.sizes)).reshape(design.sizes)] = 0
    unseen[tuple(design.seen.T)] = 0
    for symmetric in design.symmetric:
        unseen *= unseen.swapaxes(*symmetric)
    held = [factor for factor in range(len(design.sizes)) if factor not in start["sides"]]
    return [start["at"][factor] for factor in held], unseen.sum(axis=tuple(start["sides"]))


def test_the_map_opens_where_most_is_unseen() -> None:
    cells = every_cell((4, 6, 5))
    full = ((cells[:, 0] != 2) | (cells[:, 1] + cells[:, 2] < 7)) & ((cells[:, 0] != 3) | (cells[:, 1] > 0))
    at, unseen = opening(rc.Design.from_cells(cells[full]))
    assert (at, unseen.tolist()) == ([2], [0, 0, 6, 5])
    at, unseen = opening(rc.Design.from_cells(cells[cells[:, 1] + cells[:, 2] < 9]))
    assert (at, unseen.tolist()) == ([0], [1, 1, 1, 1]), "of several the first"


def test_the_map_opens_at_the_same_slice_where_some_cells_cannot_exist(tmp_path: Path) -> None:
    path = tmp_path / "nested.csv"
    rows = [f"{'abc'[plant // 2]},p{plant},s{site},{plant + site}" for plant in range(6) for site in range(7)]
    path.write_text("treatment,plant,site,y\n" + "\n".join(rows[:23] + rows[24:37] + rows[39:]) + "\n")
    nest = rc.Design.from_frame(path, factors=["treatment", "plant", "site"], outcome="y", nested=["plant/treatment"])
    at, unseen = opening(nest)
    assert (at, unseen.tolist()) == ([2], [0, 1, 2])
    trio = [[a, b, c] for a in range(5) for b in range(a, 5) for c in range(3) if ((a + b + c) % 4 and c < 2) or a == b]
    at, unseen = opening(rc.Design.from_cells(trio, symmetric=[[0, 1]]))
    assert at == [int(np.argmax(unseen))] == [2]


@pytest.mark.parametrize("by", ["name", "connected"])
def test_a_window_has_the_audit_s_verdicts(answers: TableAnswers, by: str) -> None:
    design, audit = answers.audit.design, answers.audit
    start = answers.record["start"]
    row, column = start["sides"]
    found = answers.window((row, column), start["at"], (1, 1), (9, 40), by)
    cells = np.array([[start["at"]] * len(found["levels"][1])] * len(found["levels"][0]))
    cells[:, :, row] = np.array(found["levels"][0])[:, None]
    cells[:, :, column] = np.array(found["levels"][1])[None, :]
    flat = cells.reshape(-1, len(design.sizes))
    exists = design.possible.holds(flat)
    expected = np.where(exists, audit.decided.verdicts_of(flat), IMPOSSIBLE)
    assert found["codes"] == "".join(map(str, expected.tolist()))
    for side, place in enumerate((row, column)):
        assert found["labels"][side] == [design.factors[place].labels[level] for level in found["levels"][side]]


def test_every_listed_cell_has_the_audit_s_value_and_range(answers: TableAnswers) -> None:
    audit = answers.audit
    columns = {
        "predicted": "predicted",
        "error": "standard error",
        "low": "low",
        "high": "high",
        "leverage": "leverage",
    }
    rows = np.linspace(0, len(audit.decided.listing.cells) - 1, 150).astype(int)
    for row in np.unique(rows).tolist():
        told = answers.cell(audit.decided.listing.cells[row].tolist())
        assert told["code"] == audit.decided.codes[row]
        assert told["word"] == audit.verdicts["verdict"][row]
        if told["code"] != Verdict.DETERMINED:
            continue
        for name, column in columns.items():
            if column in audit.verdicts.columns and (name == "predicted" or audit.values.ranges is not None):
                value = np.nan if told["value"][name] is None else told["value"][name]
                assert value == pytest.approx(audit.verdicts[column][row], rel=1e-7, abs=1e-7, nan_ok=True)


def test_certificates_are_the_audit_s(answers: TableAnswers) -> None:
    audit = answers.audit
    for row in np.flatnonzero(audit.decided.codes == Verdict.DETERMINED)[:5].tolist():
        cell = audit.decided.listing.cells[row]
        told, found = answers.certificate(cell.tolist()), audit.decided.identification.certificate_of(cell.tolist())
        assert [term["cell"] for term in told["terms"]] == found.cells.tolist()[:24]
        assert [term["sign"] == "−" for term in told["terms"]] == [weight < 0 for weight in found.weights][:24]
        plain = {line.replace(" in units of one measurement's", "") for line in told["lines"]}
        assert plain <= {line.strip() for line in audit.explain(row).splitlines()}


def test_the_whole_in_bins_counts_every_cell_of_a_small_map(answers: TableAnswers) -> None:
    start = answers.record["start"]
    sides = (start["sides"][0], start["sides"][1])
    bins = answers.bins(sides, start["at"], "name")
    sizes = [answers.audit.design.sizes[side] for side in sides]
    if max(sizes) > 100:
        return
    assert bins["shape"] == sizes
    window = answers.window(sides, start["at"], (0, 0), (sizes[0], sizes[1]), "name")
    assert bins["leading"] == window["codes"]
    assert [digit == "9" for digit in bins["seen"]] == [code == "0" for code in window["codes"]]


def test_counts_findings_and_plan_are_the_audit_s(answers: TableAnswers) -> None:
    audit, record = answers.audit, answers.record
    assert [item["code"] for item in record["findings"]] == [item.code for item in audit.findings]
    assert [item["count"] for item in record["verdicts"]] == [
        f"{audit.decided.counts[verdict]:,}" for verdict in Verdict
    ]
    assert [tuple(item["cell"]) for item in record["next"]["cells"]] == [pick.cell for pick in audit.plan(3).picks]


def test_a_seen_cell_says_what_was_measured() -> None:
    answers = asked(islands())
    design = answers.audit.design
    told = answers.cell(design.seen[3].tolist())
    assert told["word"] == "seen"
    assert told["measured"] == design.outcome[3]
    assert dict(told["facts"])["rows"] == "1"
    assert "measurements" not in dict(told["facts"])


def test_held_out_cells_say_what_was_measured_there(tmp_path: Path) -> None:
    path = tmp_path / "split.csv"
    path.write_text("a,b,y,part\nx,p,1,train\nx,q,2,train\nz,p,3,train\nz,q,4.5,test\n")
    answers = asked(rc.Design.from_frame(path, factors=["a", "b"], outcome="y", split="part=train"))
    told = answers.cell([1, 1])
    assert told["word"] == "determined"
    assert ("measured, but held out", "4.5") in told["facts"]


def test_what_cannot_exist_says_why(tmp_path: Path) -> None:
    answers = asked(nested(tmp_path))
    told = answers.cell([0, 1, 0])
    assert (told["code"], told["word"]) == (IMPOSSIBLE, "cannot exist")
    assert "plant" in told["sentence"]
    with pytest.raises(NotInTableError, match="cannot exist"):
        answers.certificate([0, 1, 0])


@pytest.mark.parametrize(
    ("cell", "kind", "words"), [([0], InputError, "1 levels"), ([0, 99], NotInTableError, "0 to 5")]
)
def test_wrong_cells_are_refused_by_name(cell: list[int], kind: type[Exception], words: str) -> None:
    answers = asked(islands())
    for ask in (answers.cell, answers.certificate):
        with pytest.raises(kind, match=words):
            ask(cell)


def test_only_determined_cells_have_certificates() -> None:
    answers = asked(islands())
    disconnected = answers.audit.decided.listing.cells[answers.audit.decided.codes == Verdict.DISCONNECTED][0]
    with pytest.raises(NotInTableError, match="is disconnected, so it has no certificate"):
        answers.certificate(disconnected.tolist())


@pytest.mark.parametrize(
    ("sides", "shape", "by", "words"),
    [
        ((0, 0), (2, 2), "name", "same factor"),
        ((0, 7), (2, 2), "name", "no factor number 7"),
        ((0, 1), (0, 2), "name", "1 to 400"),
        ((0, 1), (400, 400), "name", "40,000 cells"),
        ((0, 1), (2, 2), "size", "not by 'size'"),
    ],
)
def test_wrong_windows_are_refused(sides: tuple[int, int], shape: tuple[int, int], by: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        asked(islands()).window(sides, [0, 0], None, shape, by)


def test_a_window_around_a_cell_holds_it_and_stays_inside() -> None:
    answers = of_flights()
    for dest in (0, 50, 101):
        found = answers.window((0, 2), [3, 0, dest], None, (5, 20), "connected")
        assert dest in found["levels"][1]
        assert 3 in found["levels"][0]
        assert len(found["levels"][1]) == 20


def test_levels_are_found_by_part_of_their_names() -> None:
    answers = of_flights()
    assert [one["label"] for one in answers.levels(2, "lax")] == ["LAX"]
    first = [one["label"] for one in answers.levels(2, "s")]
    assert all(label.startswith("S") for label in first[:5])
    assert len(answers.levels(2, "")) == 20
    assert answers.levels(2, "no such airport") == []


def numbered() -> rc.Design:
    """Sites 0 to 24 in three plots, each row a mean of some measurements."""
    rows = [(f"site {a}", f"p{b}", a + b + a * b % 3, 2 + a) for a in range(25) for b in range(3) if (a + b) % 4]
    table = pd.DataFrame(rows, columns=["site", "plot", "y", "n"])
    return rc.Design.from_frame(table, factors=["site", "plot"], outcome="y", weight="n", counts=False)


def test_levels_stand_by_name_with_numbers_by_size() -> None:
    answers = asked(numbered())
    names = [f"site {number}" for number in range(25)]
    assert answers.window((0, 1), [0, 0], (0, 0), (25, 3), "name")["labels"][0] == names
    assert [one["label"] for one in answers.levels(0, "")] == names[:20]
    assert [one["label"] for one in answers.levels(0, "site 1")] == ["site 1", *names[10:20]]
    level = answers.levels(0, "site 9")[0]["level"]
    assert answers.beside(0, level, "name", back=False)["label"] == "site 10"
    assert answers.beside(0, level, "name", back=True)["label"] == "site 8"
    assert answers.beside(0, answers.levels(0, "site 24")[0]["level"], "name", back=False)["label"] == "site 0"
    with pytest.raises(NotInTableError, match="0 to 24"):
        answers.beside(0, 25, "name", back=False)
    with pytest.raises(InputError, match="not by 'size'"):
        answers.beside(0, 0, "size", back=False)
    assert answers.record["by_name"] == "by name, numbers by size"


def test_the_record_says_how_the_run_is_repeated_and_how_little_a_dropped_table_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"], "y": [1.0, 2.0, 3.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    record = asked(rc.Design.from_frame(tmp_path / "t.csv", factors=["a", "b"], outcome="y", crossed=True)).record
    assert record["command"].startswith("recombine explore ")
    assert {"--factors", "a,b", "--outcome", "y", "--crossed"} <= set(shlex.split(record["command"]))
    assert record["dropped"].endswith(record["command"])
    assert "factors and outcome only" in record["dropped"]


def test_factors_on_a_line_stand_as_they_lie_there(tmp_path: Path) -> None:
    answers = asked(dose(tmp_path))
    assert answers.window((0, 1), [0, 0], (0, 0), (3, 4), "name")["labels"][1] == ["1", "2", "4", "8"]
    assert answers.record["by_name"].endswith("or as ordered")


def test_numbers_come_with_their_units() -> None:
    answers = asked(numbered())
    audit = answers.audit
    rows, measurements = audit.coverage.rows, audit.coverage.measurements
    assert answers.record["rows"] == f"{rows} training rows ({measurements:,.0f} measurements)"
    row = 3
    facts = dict(answers.cell(audit.design.seen[row].tolist())["facts"])
    assert (facts["rows"], facts["measurements"]) == ("1", f"{audit.design.precision[row]:.0f}")
    known = audit.decided.listing.cells[audit.decided.codes == Verdict.DETERMINED][0].tolist()
    leverage = dict(answers.cell(known)["facts"])["leverage"]
    assert leverage.endswith(": the certified value's variance in units of one measurement's")
    lines = " ".join(answers.certificate(known)["lines"])
    assert re.search(r"with variance [0-9.]+ in units of one measurement's; a proof", lines)


def test_several_threads_get_the_same_answers() -> None:
    answers = of_flights()
    known = answers.audit.decided.listing.cells[::450].tolist()
    questions = [lambda cell=cell: answers.cell(cell) for cell in known]
    questions += [lambda cell=cell: answers.certificate(cell) for cell in known]
    questions += [lambda cell=cell: answers.window((0, 2), cell, None, (10, 30), "connected") for cell in known]
    one_by_one = [ask() for ask in questions]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda ask: ask(), questions * 3)) == one_by_one * 3


@pytest.mark.slow
def test_a_curved_structure_answers_for_every_verdict() -> None:
    cells = every_cell((8, 7))
    kept = np.array([cell for place, cell in enumerate(cells.tolist()) if place % 5])
    hidden = kept[:, 0] * 0.4 + kept[:, 1] * 0.5
    answers = asked(rc.Design.from_cells(kept, outcome=1 / (1 + np.exp(3 - hidden))), structure="link")
    for row, cell in enumerate(answers.audit.decided.listing.cells.tolist()):
        told = answers.cell(cell)
        assert told["code"] == answers.audit.decided.codes[row]
        if told["code"] == Verdict.DETERMINED:
            assert all("observed" not in term for term in answers.certificate(cell)["terms"])


def test_sets_are_named_as_the_table_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "sets.csv"
    path.write_text("genes,y\nA+ctrl,1\nB+ctrl,2\nC+ctrl,3\nA+B,3.1\nB+C,5\nctrl+ctrl,0\n")
    answers = asked(rc.Design.from_frame(path, factors=None, outcome="y", sets="genes"))
    told = answers.cell([1, 0, 1])
    assert told["text"] == answers.audit.design.label([1, 0, 1])
    assert "text" in answers.certificate([1, 0, 1])["terms"][0]
