"""``recombine audit`` and ``demo``: answers, machine-readable output, refusals in one line, nothing overwritten."""

from __future__ import annotations

import csv
import html
import importlib
import json
import os
import re
import shlex
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.findings import FINDINGS, ResultKind

FACTORS = ["--factors", "colour,shape"]


def refused(result: tuple[int, str, str], *words: str) -> None:
    """Check the error style: code 2, nothing on standard output, one line on standard error."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert re.fullmatch(r"recombine: [^\n]+\n", err), err
    for word in words:
        assert word in err


def test_an_audit_prints_the_summary_and_succeeds(run, table):
    code, out, err = run("audit", table, *FACTORS, "--outcome", "mass")
    assert (code, err) == (0, "")
    assert out.startswith(
        "Recombine audit of table.csv\nRead          6 of 6 rows used: colour (3) × shape (3), outcome mass\n"
    )
    assert len(out.splitlines()) <= 12
    assert max(map(len, out.splitlines())) <= 100
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_a_named_finding_gives_exit_code_1(run, table):
    assert run("audit", table, *FACTORS, "--fail-on", "RC101")[0] == 1
    assert run("audit", table, *FACTORS, "--fail-on", "rc102,RC105")[0] == 0


def test_json_is_all_there_is_on_standard_output(run, table, tmp_path):
    verdicts = tmp_path / "v.csv"
    code, out, err = run("audit", table, *FACTORS, "--outcome", "mass", "--json", "--verdicts", verdicts)
    assert code == 0
    document = json.loads(out)
    assert document["counts"]["total"] == 9
    assert "verdicts written to" in err


@pytest.mark.slow
@pytest.mark.trains
def test_a_network_is_trained_unless_theory_is_asked_for(run, tmp_path):
    cells = np.indices((7, 6)).reshape(2, -1).T[:-1]
    frame = pd.DataFrame({"dose": [f"d{i}" for i in cells[:, 0]], "line": [f"l{j}" for j in cells[:, 1]]})
    frame.assign(y=cells.sum(axis=1) + np.random.default_rng(0).normal(size=len(cells))).to_csv(tmp_path / "t.csv")
    asked = ["audit", tmp_path / "t.csv", "--factors", "dose,line", "--outcome", "y", "--json"]
    trained = json.loads(run(*asked)[1])
    theory = json.loads(run(*asked, "--forecast", "theory")[1])
    network = trained["forecast"]["trained"]["models"][0]
    assert network["low"] < network["error"] < network["high"]
    assert trained["numbers"]["miss of network"] == network["error"]
    assert any("one trained: " in line for line in trained["answer"])
    assert theory["forecast"]["trained"] is None
    assert theory["numbers"]["miss of network"] == theory["forecast"]["error"]["ntk"]
    refused(run(*asked, "--forecast", "teory"), "--forecast 'teory'", "did you mean 'theory'?")


def test_verdicts_are_written_as_csv(run, table, tmp_path):
    path = tmp_path / "verdicts.csv"
    code, out, _ = run("audit", table, *FACTORS, "--verdicts", path)
    assert code == 0
    assert "verdicts written to" in out
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert {(row["colour"], row["shape"]): row["verdict"] for row in rows} == {
        ("blue", "cone"): "disconnected",
        ("green", "ball"): "disconnected",
        ("green", "cube"): "disconnected",
        ("red", "cone"): "disconnected",
    }


def test_the_report_is_one_page_that_keeps_level_names_as_text(run, tmp_path):
    path, report = tmp_path / "t.csv", tmp_path / "report.html"
    path.write_text("a,b\n<script>alert(1)</script>,x\n<script>alert(1)</script>,y\nplain,x\n")
    code, out, _ = run("audit", path, "--factors", "a,b", "--html", report)
    assert code == 0
    assert f"report written to {report}" in out
    text = report.read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_one_cell_is_explained(run, table):
    code, out, _ = run("audit", table, *FACTORS, "--split", "part", "--explain", "blue, ball")
    assert code == 0
    assert out.startswith("blue · ball: determined.")
    assert "y(blue,ball) = y(blue,cube) + y(red,ball) - y(red,cube)" in out
    code, out, _ = run("audit", table, *FACTORS, "--explain", "red,cone", "--json", "--fail-on", "RC101")
    assert code == 1
    assert json.loads(out)["explained"].startswith("red · cone: disconnected.")


def test_names_with_commas_can_be_quoted(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a, b",c\n"x, y",1\n"x, y",2\nz,1\n')
    code, out, _ = run("audit", path, "--factors", '"a, b",c', "--explain", "z,2")
    assert code == 0
    assert "y(z,2)" in out
    assert run("audit", path, "--factors", '"a, b",c', "--explain", '"x, y",2')[1].startswith("x, y · 2: seen.")


def test_targets_are_judged(run, table, tmp_path):
    targets = tmp_path / "targets.csv"
    targets.write_text("colour,shape\nred,cone\nblue,ball\n")
    document = json.loads(run("audit", table, *FACTORS, "--split", "part", "--targets", targets, "--json")[1])
    assert [row["verdict"] for row in document["verdicts"]] == ["disconnected", "determined"]


def test_unknown_target_levels_are_refused_unless_announced(run, table, tmp_path):
    targets = tmp_path / "targets.csv"
    targets.write_text("colour,shape\nredd,cone\n")
    refused(run("audit", table, *FACTORS, "--targets", targets), "'redd'", "did you mean 'red'", "--new-levels")
    document = json.loads(run("audit", table, *FACTORS, "--targets", targets, "--new-levels", "--json")[1])
    assert document["verdicts"][0]["verdict"] == "unseen level"


def test_costs_and_forbidden_cells_steer_the_plan(run, table, tmp_path):
    cost, forbidden = tmp_path / "cost.csv", tmp_path / "forbidden.csv"
    cost.write_text("colour,shape,cost\nred,cone,0.5\n")
    forbidden.write_text("colour\ngreen\n")
    options = ["--cost", cost, "--forbidden", forbidden, "--plan", "1", "--json"]
    plan = json.loads(run("audit", table, *FACTORS, *options)[1])["plan"]
    assert plan["cells"][0]["cell"] == {"colour": "red", "shape": "cone"}
    assert plan["cells"][0]["cost"] == 0.5
    assert json.loads(run("audit", table, *FACTORS, "--plan", "0", "--json")[1])["plan"] is None


def test_forbidden_cells_are_counted_apart(run, tmp_path):
    table, forbidden = tmp_path / "table.csv", tmp_path / "forbidden.csv"
    table.write_text("a,b,y\nu,s,1\nu,t,2\nv,s,3\nw,x,4\n")
    forbidden.write_text("a,b\nw,s\nw,t\n")
    told = " ".join(run("audit", table, "--factors", "a,b", "--outcome", "y", "--forbidden", forbidden)[1].split())
    assert "; 2 of the unseen counted above are not to be measured" in told


def test_gene_pairs_are_symmetric(run, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("gene_a,gene_b,fitness\nTP53,MYC,1\nMYC,KRAS,2\nKRAS,TP53,3\n")
    options = ["--factors", "gene_a,gene_b", "--outcome", "fitness", "--symmetric", "gene_a,gene_b"]
    code, out, _ = run("audit", path, *options, "--full")
    assert code == 0
    assert "one factor used twice: gene_a and gene_b" in out
    assert "6 cells, 3 seen" in out  # unordered pairs, each gene with itself included


def test_factors_are_guessed_and_the_guess_is_marked(run, tmp_path, monkeypatch):
    path = Path("t.csv")
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{c},{s},{i * 1.5}\n" for i, (c, s) in enumerate([("r", "u"), ("r", "v"), ("b", "u")] * 4))
    path.write_text("colour,shape,mass\n" + rows)
    code, out, _ = run("audit", path, "--outcome", "mass", "--fail-on", "RC104", "--full")
    assert code == 1
    assert "To repeat: recombine audit t.csv --factors colour,shape --outcome mass\n" in out
    assert "Guessed: the factors" in out
    assert "RC104" in out


def test_what_wide_says_is_not_called_a_guess(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("drug,A375,MCF7,K562\na,0.5,0.7,0.1\nb,0.25,0.3,0.4\nc,0.1,0.15,0.9\n")
    out = " ".join(run("audit", path, "--wide", "cell=kill", "--save-design", tmp_path / "d.toml")[1].split())
    assert "A375, MCF7, K562 are read as levels of cell, their numbers as kill, as --wide says" in out
    assert "Guessed the factors beside cell; --save-design" in out
    assert "to name them say" not in out
    assert 'outcome = "kill"  # as --wide says' in (tmp_path / "d.toml").read_text()
    design = tmp_path / "named.toml"
    out = run("audit", path, "--factors", "drug,cell", "--wide", "cell=kill", "--save-design", design)[1]
    assert "drug (3) × cell (3), outcome kill" in out
    assert 'outcome = "kill"  # as --wide says' in design.read_text()
    out = " ".join(run("audit", path)[1].split())
    assert "to name them say --wide" in out
    assert "Guessed the factors and the outcome" in out


def test_cells_that_keep_an_outcome_from_numbers_are_named_with_their_lines(run, tmp_path):
    path = tmp_path / "t.csv"
    cells = ["18.035", "Undetermined", *(f"{20 + place / 7:.3f}" for place in range(20)), "failed run"]
    path.write_text("a,b,CT\n" + "".join(f"a{i % 4},b{i % 5},{cell}\n" for i, cell in enumerate(cells)))
    result = run("audit", path, "--factors", "a,b", "--outcome", "CT")
    refused(result, "2 rows of 23 hold no number but Undetermined (line 3), failed run (line 24); correct these cells")
    assert "class" not in result[2]


@pytest.mark.parametrize("options", [[], ["--full"]])
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_command_to_repeat_is_one_line_that_a_shell_takes(run, tmp_path, monkeypatch, options, columns):
    path = tmp_path / "the drug-screen of the year, well-kept (2).csv"
    rows = "".join(f"{c},{s},{i * 1.5}\n" for i, (c, s) in enumerate([("r", "u"), ("r", "v"), ("b", "u")] * 4))
    path.write_text('Cell line,"drug\'s name, $1","growth rate"\n' + rows)
    monkeypatch.setenv("COLUMNS", str(columns))
    out = run("audit", path, *options)[1]
    [command] = [line.removeprefix("To repeat: ") for line in out.splitlines() if line.startswith("To repeat: ")]
    words = shlex.split(command)
    assert words[:3] == ["recombine", "audit", str(path)]
    code, again, _ = run(*words[1:], *options)
    assert code == 0
    assert "outcome growth rate" in " ".join(again.split())
    assert "To repeat" not in again
    audit = rc.audit(path)
    assert f"To repeat: {command}" in str(audit).split("\n")
    assert command in html.unescape(audit._repr_html_())
    assert command in html.unescape(audit.to_html(tmp_path / f"{columns}.html").read_text(encoding="utf-8"))


def test_unicode_levels_are_fine(run, tmp_path):
    path = tmp_path / "übung.csv"
    path.write_text("farbe,größe\nрот,小\nрот,大\nčervená,小\n", encoding="utf-8")
    code, out, _ = run("audit", path, "--factors", "farbe,größe", "--full")
    assert code == 0
    assert "größe" in out
    assert "y(červená,大) = " in out


def test_nan_outcomes_are_left_out_and_reported(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n0,0,1\n0,1,NaN\n1,0,2\n1,1,\n0,1,3\n")
    code, out, _ = run("audit", path, "--factors", "a,b", "--outcome", "y", "--fail-on", "RC103")
    assert code == 1
    assert "3 of 5 rows used (2 with no usable outcome 'y')" in out


def test_parquet_gives_the_same_audit(run, table, tmp_path):
    path = tmp_path / "table.parquet"
    pd.read_csv(table).to_parquet(path)
    first, second = (json.loads(run("audit", p, *FACTORS, "--outcome", "mass", "--json")[1]) for p in (table, path))
    assert (first.pop("source"), second.pop("source")) == ("table.csv", "table.parquet")
    commands = [document["reading"].pop("command") for document in (first, second)]
    assert commands == [f"recombine audit {p} {' '.join(FACTORS)} --outcome mass" for p in (table, path)]
    assert first == second


SURVIVAL = {("f", 1): (4, 141), ("f", 2): (13, 93), ("f", 3): (106, 90)}
SURVIVAL |= {("m", 1): (118, 62), ("m", 2): (154, 25), ("m", 3): (422, 88)}
COUNTS = "sex,class,survived,n\n" + "".join(
    f"{sex},{rank},no,{lost}\n{sex},{rank},yes,{saved}\n" for (sex, rank), (lost, saved) in SURVIVAL.items()
)


@pytest.mark.slow
def test_how_weights_were_read_is_said_and_can_be_changed(run, tmp_path):
    path, page = tmp_path / "counts.csv", tmp_path / "page.html"
    path.write_text(COUNTS)
    asked = ["audit", path, "--factors", "sex,class", "--outcome", "survived", "--weight", "n"]
    code, out, _ = run(*asked, "--html", page, "--full")
    assert code == 0
    sentence = "A row with weight n is read as n equal measurements; if rows are means of n, say --means."
    assert sentence in " ".join(out.split())
    assert sentence in page.read_text()
    document = json.loads(run(*asked, "--json")[1])
    test = document["additivity"]["lack_of_fit"]
    assert (document["rows"], document["rows_are"], document["two_values"]) == (1316, "counts", [0.0, 1.0])
    assert test["freedom"] == [2, 1310]
    assert f"F(2, 1310) = {test['statistic']:.2f}" in " ".join(out.split())
    assert f"F(2, 1310) = {test['statistic']:.2f}" in page.read_text()
    means = run(*asked, "--means", "--full")[1]
    assert "read as the mean of n measurements; how much those differ is not known" in " ".join(means.split())
    assert json.loads(run(*asked, "--means", "--json")[1])["rows"] == 12
    refused(run("audit", path, "--factors", "sex,class", "--counts"), "Name the column of counts", "--weight")


def test_the_question_before_a_report_is_replaced_writes_its_name_out(run, tmp_path, monkeypatch):
    asked = []
    report = tmp_path / "x\n::error::\x1b[2J\u202e.html"
    report.write_text("old")
    monkeypatch.setattr("typer.confirm", lambda question: asked.append(question))
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    assert run("demo", "--html", report)[0] == 2
    assert report.read_text() == "old"
    assert asked == [f"{tmp_path}/x\\u000a::error::\\u001b[2J\\u202e.html exists; write over it?"]


def test_models_are_compared_on_request(run, table, monkeypatch):
    row = {"share": [0.5], "model": ["additive"], "cells": [9]}
    row |= {"determined": [1.5], "disconnected": [np.nan], "unseen level": [2.0]}
    row |= {f"{word} cells": [20] for word in ("determined", "disconnected", "unseen level")}
    monkeypatch.setattr(rc.Audit, "compare_models", lambda self: rc.Table(row))
    options = ["audit", table, *FACTORS, "--outcome", "mass", "--models"]
    assert json.loads(run(*options, "--json")[1])["models"][0]["determined"] == 1.5
    assert "additive  50 % of cells  1.5 (n = 20)" in run(*options)[1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("colour,shape\n", "no rows"),
        ("colour,shape\n,\n,\n", "2 rows have no value of 'colour'"),
        ("colour,shape\nred,\n,cube\n", "no usable row"),
        ("colour,shape\nred,cube\nred,ball\n", "one level only (red)"),
        ("colour,shape,shape\nred,cube,a\nblue,ball,b\n", "'shape'"),
    ],
)
def test_tables_that_cannot_be_used(run, tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_text(content)
    refused(run("audit", path, *FACTORS), words)


def test_files_that_are_no_tables(run, tmp_path, table):
    refused(run("audit", tmp_path / "tabel.csv", *FACTORS), "does not exist; did you mean 'table.csv'?")
    refused(run("audit", tmp_path, *FACTORS), "is a folder")
    picture = tmp_path / "x.png"
    picture.write_bytes(b"\x89PNG")
    refused(run("audit", picture, *FACTORS), "is not a CSV, TSV, Excel, ODS, Parquet")
    fake = tmp_path / "x.parquet"
    fake.write_bytes(b"not parquet at all")
    refused(run("audit", fake, *FACTORS), "x.parquet cannot be read as a table")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--factors", "color,shape"], ["factor 'color' is not a column of table.csv", "did you mean 'colour'?"]),
        (["--factors", "colour"], ["name at least two factors"]),
        (["--factors", ""], ["--factors is empty"]),
        (["--factors", "colour,colour"], ["named twice"]),
        ([*FACTORS, "--outcome", "mas"], ["outcome 'mas' is not a column", "did you mean 'mass'?"]),
        ([*FACTORS, "--outcome", "shape"], ["both a factor and the outcome"]),
        ([*FACTORS, "--split", "part=tarin"], ["has no value 'tarin'", "did you mean 'train'?"]),
        ([*FACTORS, "--symmetric", "colour,shap"], ["symmetric factor 'shap'", "did you mean 'shape'?"]),
        ([*FACTORS, "--order", "3"], ["order 3 does not fit 2 factors"]),
        ([*FACTORS, "--order", "0"], ["order 0 does not fit 2 factors"]),
        ([*FACTORS, "--order", "two"], ["--order"]),
        ([*FACTORS, "--plan", "-1"], ["--plan"]),
        ([*FACTORS, "--seed", "-1"], ["--seed"]),
        ([*FACTORS, "--fail-on", "RC999"], ["--fail-on RC999 names no finding", "RC101"]),
        ([*FACTORS, "--facters", "x"], ["No such option: --facters", "--factors", "recombine audit --help"]),
        ([*FACTORS, "--explain", "red"], ["one level of each factor"]),
        ([*FACTORS, "--explain", "rad,cube"], ["'rad' is not a level", "did you mean 'red'?"]),
        ([*FACTORS, "--sd", "mass"], ["--weight"]),
        ([*FACTORS, "--models"], ["needs an outcome"]),
        ([*FACTORS, "--targets", "nowhere.csv"], ["nowhere.csv does not exist"]),
        ([*FACTORS, "--cost", "nowhere.csv"], ["nowhere.csv does not exist"]),
    ],
)
def test_requests_that_cannot_be_met(run, table, options, words):
    refused(run("audit", table, *options), *words)


def test_a_measurement_is_not_taken_for_a_factor(run, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": np.arange(3000) % 7, "b": np.arange(3000) / 8}).to_csv(path, index=False)
    refused(
        run("audit", path, "--factors", "a,b"), "3,000 distinct values", "looks like a measurement", "--as-levels b"
    )


def test_nothing_is_overwritten_without_force(run, table, tmp_path):
    precious = tmp_path / "precious.html"
    precious.write_text("mine")
    refused(run("audit", table, *FACTORS, "--html", precious), "precious.html exists", "--force")
    precious = tmp_path / "precious.csv"
    precious.write_text("mine")
    refused(run("audit", table, *FACTORS, "--verdicts", precious), "exists")
    assert precious.read_text() == "mine"
    assert run("audit", table, *FACTORS, "--verdicts", precious, "--force")[0] == 0
    assert precious.read_text() != "mine"
    before = table.read_text()
    refused(run("audit", table, *FACTORS, "--verdicts", table, "--force"), "is the table itself")
    assert table.read_text() == before


def test_places_that_cannot_be_written_are_refused_before_the_work(run, table, tmp_path, monkeypatch):
    refused(run("audit", table, *FACTORS, "--html", tmp_path), "is a folder; name a file in it")
    refused(run("audit", table, *FACTORS, "--html", tmp_path / "no" / "r.html"), "is not a folder")
    refused(run("audit", table, *FACTORS, "--html", table / "r.html"), "is not a folder")
    same = tmp_path / "out"
    refused(run("audit", table, *FACTORS, "--html", same, "--verdicts", same), "two outputs")
    monkeypatch.setattr(tempfile, "TemporaryFile", unwilling)
    refused(run("audit", table, *FACTORS, "--html", tmp_path / "r.html"), "cannot be written")
    same.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    refused(run("audit", table, *FACTORS, "--html", same, "--force"), "cannot be written")


def unwilling(**_: object) -> None:
    """Stand in for a file system that takes no files."""
    raise PermissionError(13, "Permission denied")


@pytest.mark.slow
def test_a_product_of_10_to_the_12_is_audited(run, tmp_path):
    path = tmp_path / "t.csv"
    names = list("abcdef")
    generator = np.random.default_rng(0)
    pd.DataFrame({name: generator.permutation(np.arange(100)) for name in names}).to_csv(path, index=False)
    code, out, _ = run("audit", path, "--factors", ",".join(names), "--plan", "0", "--full")
    assert code == 0
    assert "1,000,000,000,000 cells" in out
    assert "is too large to list" in " ".join(out.split())


def test_the_demo_keeps_a_file_the_user_named(run, tmp_path):
    mine = tmp_path / "mine.html"
    mine.write_text("mine")
    refused(run("demo", "--html", mine), "exists")
    assert mine.read_text() == "mine"


def test_the_demo_asks_before_it_writes_over_an_earlier_one(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("recombine-demo.html").write_text("mine")
    refused(run("demo"), "recombine-demo.html exists", "--force")
    assert Path("recombine-demo.html").read_text() == "mine"


def test_no_input_is_written_over(run, table, tmp_path):
    targets, link = tmp_path / "targets.csv", tmp_path / "link.html"
    targets.write_text("colour,shape\nred,cone\n")
    os.link(targets, link)
    before = targets.read_bytes(), targets.stat().st_mtime_ns
    for output in (targets, link):
        call = ("audit", table, *FACTORS, "--targets", targets, "--html", output, "--force")
        refused(run(*call), "which this command reads")
    assert (targets.read_bytes(), targets.stat().st_mtime_ns) == before


def test_a_structure_that_cannot_be_fitted_at_all_is_refused(run, tmp_path):
    rows = ["hhga0", "hcib0", "hhbc1", "hgfc1", "ehba1", "egge0", "hcie0", "egbe1", "ehfc0", "ecbb0", "ggie0", "ehge0"]
    (tmp_path / "t.csv").write_text("f0,f1,f2,f3,y\n" + "".join(",".join(row) + "\n" for row in rows))
    call = ("audit", tmp_path / "t.csv", "--factors", "f0,f1,f2,f3", "--outcome", "y", "--structure", "log")
    refused(run(*call, "--crossed"), "structure log does not fit this table", "cannot be fitted")


def test_every_finding_can_be_named(run, table):
    codes = [kind.code for kind in FINDINGS if kind.of is ResultKind.AUDIT]
    assert run("audit", table, *FACTORS, "--fail-on", ",".join(codes))[0] == 1


@pytest.fixture
def plants(tmp_path):
    path = tmp_path / "plants.csv"
    rows = [
        (f"p{plant}", "chilled" if plant < 4 else "warm", f"d{dose}", plant + dose)
        for plant in range(8)
        for dose in range(5)
        if plant != dose
    ]
    pd.DataFrame(rows, columns=["plant", "treatment", "dose", "y"]).to_csv(path, index=False)
    return path


PLANTS = ["--factors", "plant,treatment,dose", "--outcome", "y"]


@pytest.mark.slow
def test_nesting_is_noticed_said_or_denied(run, plants):
    def cells(*options: str) -> tuple[int, list[str]]:
        record = json.loads(run("audit", plants, *PLANTS, "--json", *options)[1])
        return record["counts"]["total"], [item["code"] for item in record["findings"]]

    noticed, said, denied = cells(), cells("--nested", "plant/treatment"), cells("--crossed")
    assert (noticed[0], said[0], denied[0]) == (40, 40, 80)
    assert "RC108" in noticed[1]
    assert not {"RC101", "RC108"} & set(said[1])
    assert "RC101" in denied[1]
    assert run("audit", plants, *PLANTS, "--fail-on", "RC108")[0] == 1


@pytest.mark.slow
def test_possible_cells_come_from_a_file(run, plants, tmp_path):
    path = tmp_path / "possible.csv"
    path.write_text("plant,treatment,dose\np0,chilled,\n")
    code, out, _ = run("audit", plants, *PLANTS, "--possible", path, "--full")
    assert code == 0
    assert "All combinations that can exist: 36 cells, 35 seen" in out
    assert "44 of the 80 combinations of levels cannot exist: they are not in possible.csv; 31 cells of" in " ".join(
        out.split()
    )
    path.write_text("flower\nrose\n")
    refused(run("audit", plants, *PLANTS, "--possible", path), "possible.csv has none of the factor columns")


def test_wrong_nesting_is_refused(run, plants):
    refused(run("audit", plants, *PLANTS, "--nested", "treatment/plant"), "did you mean plant/treatment?")
    refused(run("audit", plants, *PLANTS, "--nested", "dose/plant"), "dose does not lie inside plant")


@pytest.mark.slow
def test_no_impossible_cell_is_proposed_and_enough_is_said(run, plants):
    record = json.loads(run("audit", plants, *PLANTS, "--json", "--plan", "20")[1])
    cells = [item["cell"] for item in record["plan"]["cells"]]
    assert len(cells) == 5
    assert all((cell["treatment"] == "chilled") == (cell["plant"] < "p4") for cell in cells)
    frame = pd.read_csv(plants)
    full = frame[frame["plant"] > "p4"]
    full.to_csv(plants, index=False)
    record = json.loads(run("audit", plants, "--factors", "plant,dose", "--outcome", "y", "--json")[1])
    assert (record["plan"]["enough"], record["plan"]["cells"]) == (True, [])
    assert record["plan"]["text"] == "You have enough combinations: every one was seen."


@pytest.mark.slow
def test_an_impossible_cell_is_explained(run, plants):
    out = run("audit", plants, *PLANTS, "--explain", "p0,warm,d1")[1]
    assert out.startswith("p0 · warm · d1: cannot exist: plant lies inside treatment, and p0 is inside chilled. ")


def test_self_pairs_are_proposed_on_demand(run, tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("a,b,y\n" + "".join(f"g{i},g{j},1\n" for i in range(5) for j in range(i + 1, 5) if i + j != 5))
    options = ["audit", path, "--factors", "a,b", "--outcome", "y", "--symmetric", "a,b", "--json", "--plan", "8"]
    for flag, wanted in (([], False), (["--self-pairs"], True)):
        cells = [item["cell"] for item in json.loads(run(*options, *flag)[1])["plan"]["cells"]]
        assert cells
        assert any(cell["a"] == cell["b"] for cell in cells) == wanted


@pytest.mark.trains
def test_the_readme_shows_what_the_demo_prints(run, tmp_path):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```text\n")[2].partition("```")[0]
    told = " ".join(run("demo", "--html", tmp_path / "demo.html")[1].split())
    for piece in re.split(r"\n\s*(?:\.\.\.)?\n", shown):
        assert " ".join(piece.split()) in told


@pytest.mark.slow
def test_sequences_and_sets_are_read_as_in_python(run, tmp_path):
    path = tmp_path / "variants.csv"
    path.write_text("x,genes,y\nACA,A|B,1\nACT,B|nt,2\nGCA,A|nt,3\nGCT,nt|nt,4\nTCA,A|C,5\n", encoding="utf-8")
    code, out, _ = run("audit", path, "--sequence", "x", "--outcome", "y", "--json")
    design = rc.Design.from_frame(path, outcome="y", sequence="x")
    assert code == 0
    assert [row["x"] for row in json.loads(out)["verdicts"]] == rc.audit(design).verdicts["x"].tolist() == ["TCT"]
    explained = run("audit", path, "--set", "genes", "--separator", "|", "--control", "nt", "--explain", "B|C")[1]
    sets = rc.Design.from_frame(path, sets="genes", separator="|", control=["nt"])
    assert explained == rc.audit(sets).explain("B|C") + "\n"
    refused(run("audit", path, "--sequence", "z"), "sequence 'z' is not a column of variants.csv")
    path.write_text("x,y\nACA,1\nACTA,2\n", encoding="utf-8")
    refused(run("audit", path, "--sequence", "x"), "has length", "row")


@pytest.fixture
def doses(tmp_path: Path) -> Path:
    rows = ["plant,dose,year,y"]
    for plant, effect in (("a", 0.0), ("b", 2.0)):
        rows += [f"{plant},{dose},{year},{effect + dose / 10 + year}" for dose in (0, 10, 40) for year in range(1, 8)]
    path = tmp_path / "doses.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_ordered_and_numeric_factors_tell_values_between_seen_ones(run, doses, tmp_path):
    targets = tmp_path / "asked.csv"
    targets.write_text("plant,dose,year\na,25,2.5\nb,80,3\n", encoding="utf-8")
    named = ["--factors", "plant", "--outcome", "y", "--ordered", "dose", "--numeric", "year"]
    code, out, _ = run("audit", doses, *named, "--targets", targets, "--json", "--fail-on", "RC110")
    assert code == 1
    document = json.loads(out)
    assert [factor["scale"] for factor in document["factors"]] == ["labels", "ordered", "numeric"]
    listed = {row["dose"]: row for row in document["verdicts"]}
    assert listed["25"]["verdict"] == "determined"
    assert listed["25"]["predicted"] == pytest.approx(5.0)
    assert listed["80"]["verdict"] == "beyond the seen range"
    code, out, _ = run("audit", doses, *named, "--explain", "a,80,3")
    assert code == 0
    assert "dose 80 lies above the seen range 0 to 40: collect a row with dose 80 or above" in out


def test_ordered_may_be_repeated_or_separated_by_commas(run, doses):
    code, out, _ = run("audit", doses, "--factors", "plant", "--ordered", "dose,year", "--plan", "0", "--full")
    again = run("audit", doses, "--factors", "plant", "--ordered", "dose", "--ordered", "year", "--plan", "0", "--full")
    assert code == 0
    assert (code, out) == again[:2]
    assert "year is ordered" in out


def test_a_factor_that_is_no_number_is_refused_with_its_row(run, doses):
    refused(run("audit", doses, "--factors", "plant,dose", "--numeric", "plant"), "'a' (row 1)", "is not a number")
    code, out, _ = run("audit", doses, "--factors", "dose", "--ordered", "plant=a<x<b", "--plan", "0", "--full")
    assert code == 0
    assert "plant (3)" in out
    assert "plant is ordered" in out


def test_importance_is_a_table_or_a_column(run, table, tmp_path):
    matters = tmp_path / "matters.csv"
    matters.write_text("shape,importance\ncone,2\n,1\n")
    code, out, err = run("audit", table, *FACTORS, "--importance", matters, "--full")
    assert (code, err) == (0, "")
    assert "Cells are weighted by matters.csv." in " ".join(out.split())
    assert "of what matters" in out
    code, out, _ = run("audit", table, *FACTORS, "--importance", "mass", "--json")
    assert code == 0
    assert json.loads(out)["importance"]["statement"].startswith("Cells are weighted by the mean of column 'mass'")


def test_a_finding_that_concerns_nothing_of_importance_does_not_fail(run, table, tmp_path):
    seen = tmp_path / "seen.csv"
    rows = list(csv.DictReader(Path(table).read_text(encoding="utf-8").splitlines()))
    seen.write_text(f"colour,shape,importance\n{rows[0]['colour']},{rows[0]['shape']},1\n")
    assert run("audit", table, *FACTORS, "--fail-on", "RC101")[0] == 1
    assert run("audit", table, *FACTORS, "--fail-on", "RC101", "--importance", seen)[0] == 0


@pytest.mark.slow
def test_bad_importance_is_refused_in_one_line(run, table, tmp_path):
    refused(run("audit", table, *FACTORS, "--importance", "mas"), "neither a column of table.csv nor a file", "'mass'")
    for text, words in {
        "shape,importance\ncone,-1\n": "'-1' in row 1 of bad.csv is no number from 0 on",
        "shape,importance\ncone,nan\n": "row 1 of bad.csv has no importance",
        "shape,importance\ncone,much\n": "'much' in row 1 of bad.csv is no number from 0 on",
        "shape,weight\ncone,1\n": "importance column 'importance' is not a column of bad.csv",
        "shape,importance\nkone,1\n": "did you mean 'cone'?",
        "shape,importance\ncone,0\n": "every importance in bad.csv is 0",
        "shape,importance\ncone,1\n,\n": "row 2 of bad.csv is blank",
    }.items():
        bad = tmp_path / "bad.csv"
        bad.write_text(text)
        refused(run("audit", table, *FACTORS, "--importance", bad), words)


@pytest.mark.trains
def test_the_numbers_of_the_readme_are_those_of_program_and_results(monkeypatch):
    """After a change: python tools/build_readme.py."""
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(root / "tools")
    readme = (root / "README.md").read_text(encoding="utf-8")
    build = importlib.import_module("build_readme")
    assert build.written(readme) == readme
    assert len(readme.split()) <= 900


def test_columns_apart_by_blanks_are_refused_with_how_to_write_them(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\nx,u,1\nx,v,2\nw,u,3\n", encoding="utf-8")
    refused(run("audit", path, "--factors", "a", "b"), "unexpected extra argument", "--factors a,b")
