"""The page's TypeScript beside this package: the same sentences, the same cells."""

from __future__ import annotations

import csv
import json
import random
import shutil
import subprocess
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from messy_sheets import drawn_blocks, drawn_question, drawn_table
from recombine.errors import InputError
from recombine.formats.workbooks import read_workbook
from recombine.sheets import Grid, Note, tidy
from recombine.sheets.notes import KINDS
from recombine.sheets.rules import role_rules, rule_pattern, rule_section
from recombine.table_spec import TableSpec
from recombine.tables import open_table
from recombine.tables.guesses import propose_factors
from recombine.words.reading import reading_sentence

PAGE = Path(__file__).parents[2] / "page"
NODE = shutil.which("node")
ESBUILD = PAGE / "node_modules" / ".bin" / "esbuild"
Ask = Callable[[list[dict[str, Any]]], list[Any]]
pytestmark = pytest.mark.skipif(
    NODE is None or not ESBUILD.exists(), reason="needs node and the page's tools: cd page && npm ci"
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Return what asks the page's code many questions at once."""
    program = tmp_path_factory.mktemp("page") / "read.mjs"
    flags = ["--bundle", "--platform=node", "--format=esm", "--log-level=warning"]
    subprocess.run([ESBUILD, PAGE / "test" / "read.ts", *flags, f"--outfile={program}"], check=True)

    def asked(questions: list[dict[str, Any]]) -> list[Any]:
        told = subprocess.run(
            [str(NODE), str(program)], input=json.dumps(questions), capture_output=True, encoding="utf-8", check=True
        )
        return json.loads(told.stdout)

    return asked


#: Letters that every version of Unicode has.
LETTERS = st.characters(max_codepoint=0x2FFF, exclude_categories=["Cc", "Cn"])
TEXTS = st.text(LETTERS, max_size=6) | st.sampled_from(["::x", "##w[", "a, b", "it's", 'a"b', "\u202e"])
NOTES = st.builds(
    Note,
    st.sampled_from(sorted(KINDS)),
    TEXTS,
    st.lists(st.integers(1, 10**6), max_size=6).map(tuple),
    st.lists(TEXTS, max_size=6).map(tuple),
    st.integers(0, 9_999),
)


#: Each example is many questions, since node takes long to start: what fails is named, and not made smaller.
MANY = settings(max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@MANY
@given(notes=st.lists(NOTES, min_size=100, max_size=100))
def test_sentences_are_the_same(ask: Ask, notes: list[Note]) -> None:
    fields = ("kind", "column", "lines", "values", "count")
    told = ask([{"note": {name: getattr(note, name) for name in fields}} for note in notes])
    for note, sentence in zip(notes, told, strict=True):
        assert sentence == reading_sentence(note), note


def facts(note: Any) -> tuple[Any, ...]:
    """Return what a note says, of this package or of the page, which leaves out what is empty."""
    if isinstance(note, Note):
        return note.kind, note.column, note.lines, note.values, note.count
    lines, values = (tuple(note.get(name, ())) for name in ("lines", "values"))
    return note["kind"], note.get("column", ""), lines, values, note.get("count", 0)


def read_here(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of this package in the form of the page's."""
    grid = question["grid"]
    try:
        table = tidy(
            Grid(grid["rows"], tuple(map(tuple, grid["merged"])), delimiter=grid["delimiter"]),
            wide=question.get("wide"),
            header=question.get("header"),
        )
    except InputError as refusal:
        return {"refusal": str(refusal)}
    found = {"columns": list(table.columns), "rows": table.rows, "notes": list(map(facts, table.notes))}
    return found | {"factors": list(table.factors), "outcome": table.outcome}


def read_alike(ask: Ask, questions: list[dict[str, Any]]) -> tuple[set[str], int]:
    """Return the kinds of the notes on some sheets, and how many are refused, where the page reads all as Python."""
    kinds, refusals = set(), 0
    for question, told in zip(questions, ask(questions), strict=True):
        if "refusal" in told:
            refusals += 1
            told["refusal"] = " ".join(told["refusal"].split())
        else:
            told["notes"] = list(map(facts, told["notes"]))
            kinds |= {note[0] for note in told["notes"]}
        assert told == read_here(question), question
    return kinds, refusals


@pytest.mark.slow
def test_messy_sheets_are_read_alike(ask: Ask) -> None:
    chance = random.Random(20261118)
    kinds, refusals = read_alike(ask, [drawn_question(chance) for _ in range(1_000)])
    assert len(kinds) > 20
    assert refusals < 500


@pytest.mark.slow
def test_sums_and_blocks_are_read_alike(ask: Ask) -> None:
    chance = random.Random(20261119)
    kinds, refusals = read_alike(ask, [drawn_blocks(chance) for _ in range(500)])
    assert kinds >= {
        "section",
        "settings",
        "total_rows",
        "total_level",
        "footer",
        "repeated_header",
        "gene_date",
        "wide",
    }
    assert refusals < 50


def test_every_pattern_means_the_same(ask: Ask) -> None:
    """A pattern that one of the two languages takes otherwise, or not at all, is found on all cells of messy sheets."""
    chance = random.Random(1)
    texts = {cell for _ in range(60) for row in drawn_question(chance)["grid"]["rows"] for cell in row}
    # What one language may count as a blank or a digit, and the other not.
    texts |= {"5\u00a0mg", "\u0663", "1\ufeff", "a\u2028b.", "n\u00b2", "K", "\u212a", "\u017f", "see\nthis."}
    names = sorted(rule_section("patterns"))
    told = ask([{"pattern": name, "texts": sorted(texts)} for name in names])
    for name, found in zip(names, told, strict=True):
        for text, groups in zip(sorted(texts), found, strict=True):
            match = rule_pattern(name).fullmatch(text)
            assert groups == (match and [match[0], *match.groups()]), (name, text)


@pytest.mark.slow
def test_workbooks_are_read_alike(ask: Ask, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    chance = random.Random(3)
    values = [
        1,
        -2.5,
        1e-7,
        0.1 + 0.2,
        123456789012,
        True,
        False,
        "text",
        "  blanks ",
        "a\nb",
        "=1/0",
        "",
        None,
        "é<&>",
    ]
    days = [datetime(2024, 5, 1), datetime(2024, 5, 1, 9, 30), date(1999, 12, 31), time(9, 30), timedelta(hours=30)]
    paths = []
    for number in range(6):
        book = openpyxl.Workbook()
        for title in ("first", "R & D"):
            sheet = book.create_sheet(title)
            for _ in range(chance.randint(0, 12)):
                sheet.append([chance.choice(values[:10] + values[11:] + days) for _ in range(chance.randint(0, 7))])
            sheet["C3"], sheet["B20"], sheet["A1"] = 45000.25, "#N/A", "head"
            sheet["C3"].number_format = chance.choice(['0" days"', "yyyy-mm-dd", "[h]:mm", "[Red]0.0", "d/m/yy h:mm"])
            sheet.merge_cells("D2:E4")
        paths.append(tmp_path / f"{number}.xlsx")
        book.save(paths[-1])
    told = ask([{"file": str(path)} for path in paths])
    for path, sheets in zip(paths, told, strict=True):
        assert [sheet["name"] for sheet in sheets] == ["first", "R & D"]
        for sheet in sheets:
            grid, notes = read_workbook(path, sheet["name"])
            assert Grid(sheet["grid"]["rows"]).filled() == Grid(grid.rows).filled()[: len(sheet["grid"]["rows"])]
            assert not any(map(any, grid.rows[len(sheet["grid"]["rows"]) :]))
            assert [tuple(part) for part in sheet["grid"]["merged"]] == list(grid.merged)
            assert list(map(facts, sheet["notes"])) == list(map(facts, notes))


@pytest.mark.slow
def test_roles_are_guessed_alike(ask: Ask, tmp_path: Path) -> None:
    chance = random.Random(4)
    words = sorted(word for kind in role_rules().words.values() for word in kind)
    tables = [drawn_table(chance, words) for _ in range(150)]
    outcomes = 0
    for number, (table, told) in enumerate(zip(tables, ask(tables), strict=True)):
        path = tmp_path / f"{number}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([table["columns"], *table["rows"]])
        refusal = ""
        try:
            proposals = propose_factors(open_table(path), {})
        except InputError as unclear:
            refusal = str(unclear)
        if refusal:
            assert "may be levels of one factor" in refusal, table
            continue
        roles = {proposal.role: proposal.column for proposal in proposals if proposal.role}
        outcomes += "outcome" in roles
        assert told["columns"] == roles, table
        assert set(told["factors"]) == {proposal.column for proposal in proposals if proposal.taken}, table
        assert set(told["candidates"]) == {proposal.column for proposal in proposals if proposal.candidate}, table
    assert 30 < outcomes < 120


@pytest.mark.slow
def test_roles_of_all_small_tables_are_guessed_alike(ask: Ask, tmp_path: Path) -> None:
    cases = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
    paths = [tmp_path / f"{number}.csv" for number in range(len(cases))]
    for path, case in zip(paths, cases, strict=True):
        path.write_text(case["text"], encoding="utf-8", newline="")
    compared = 0
    for path, case, told in zip(paths, cases, ask([{"file": str(path), "roles": True} for path in paths]), strict=True):
        refusal = ""
        try:
            proposals = propose_factors(open_table(path, TableSpec()), {})
        except InputError as error:
            refusal = str(error)
        if refusal or "refusal" in told:  # where one reads columns that may be levels, the other asks
            assert "refusal" in told or "may be levels" in refusal, case
            continue
        compared += 1
        assert told["columns"] == {proposal.role: proposal.column for proposal in proposals if proposal.role}, case
        assert set(told["factors"]) == {proposal.column for proposal in proposals if proposal.taken}, case
    assert compared > 140
