"""``recombine compare`` and ``--baseline``: outputs, exit codes, files, and bad input in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FACTORS = ["--factors", "colour,shape"]


def refused(result: tuple[int, str, str], *words: str) -> None:
    code, out, err = result
    assert (code, out) == (2, "")
    assert re.fullmatch(r"recombine: [^\n]+\n", err), err
    for word in words:
        assert word in err


@pytest.fixture
def more(table: Path, tmp_path: Path) -> Path:
    """The small table with a row that bridges its two parts."""
    path = tmp_path / "more.csv"
    path.write_text(table.read_text() + "green,cube,x,5.0,train\n")
    return path


@pytest.fixture
def documents(run, table, more, tmp_path) -> tuple[Path, Path]:
    paths = []
    for one in (table, more):
        code, out, _ = run("audit", one, *FACTORS, "--json")
        assert code == 0
        paths.append(tmp_path / f"{one.stem}.json")
        paths[-1].write_text(out)
    return paths[0], paths[1]


def test_the_command_says_what_changed(run, documents):
    code, out, err = run("compare", *documents, "--full")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "0 cells lost (no longer seen or determined), 4 gained." in words
    assert "disconnected determined 3" in words
    assert "disconnected seen 1" in words
    assert "Findings that are gone RC101" in words
    assert all(line == line.rstrip() for line in out.splitlines())
    assert "Nothing changed." in run("compare", documents[0], documents[0])[1]


@pytest.mark.parametrize(
    ("words", "code"),
    [("lost", 1), ("RC101", 1), ("rc102", 0), ("new-findings", 1), ("gone-levels", 0), ("gone-levels, LOST", 1)],
)
def test_a_named_change_gives_exit_code_1(run, documents, words, code):
    less, more = documents
    assert run("compare", more, less, "--fail-on", words)[0] == code
    assert run("compare", less, more, "--fail-on", words)[0] == 0
    assert run("compare", less, less, "--fail-on", words)[0] == 0


def test_the_reason_of_exit_code_1_is_on_every_face(run, documents):
    less, more = documents
    _, out, _ = run("compare", more, less, "--fail-on", "lost")
    assert "--fail-on lost: 4 cells no longer seen or determined" in " ".join(out.split())
    _, out, _ = run("compare", more, less, "--fail-on", "lost", "--json")
    assert json.loads(out)["failed"] == ["lost: 4 cells no longer seen or determined"]
    _, out, _ = run("compare", more, less, "--fail-on", "lost", "--markdown", "-")
    assert "- **--fail-on** lost: 4 cells no longer seen or determined" in out


def test_a_summary_is_written_and_not_over_anything(run, documents, tmp_path):
    summary = tmp_path / "summary.md"
    code, out, _ = run("compare", *documents, "--markdown", summary)
    assert code == 0
    assert f"summary written to {summary}" in out
    assert summary.read_text(encoding="utf-8").startswith("### Recombine: what changed\n")
    refused(run("compare", *documents, "--markdown", summary), "exists", "--force")
    assert run("compare", *documents, "--markdown", summary, "--force")[0] == 0
    code, out, err = run("compare", *documents, "--markdown", summary, "--force", "--json")
    assert json.loads(out)["kind"] == "comparison"
    assert "summary written to" in err
    refused(run("compare", *documents, "--markdown", documents[0], "--force"), "which this command reads")
    refused(run("compare", *documents, "--markdown", "-", "--json"), "both want standard output")
    refused(run("compare", *documents, "--markdown", tmp_path / "nowhere" / "x.md"), "is not a folder")


def test_bad_input_is_one_line(run, documents, table, tmp_path):
    refused(run("compare", documents[0], tmp_path / "none.json"), "none.json does not exist")
    refused(run("compare", documents[0], table), "table.csv is not JSON")
    refused(run("compare", *documents, "--fail-on", "worse"), "is about changes between scores")
    refused(run("compare", *documents, "--fail-on", "lots"), "did you mean 'lost'?")
    refused(run("compare", *documents, "--fail-on", ","), "--fail-on names nothing")
    hostile = tmp_path / "hostile.json"
    hostile.write_text('{"kind": "\\u001b[31m", "recombine": "1"}')
    assert "\x1b" not in run("compare", hostile, documents[0])[2]


def test_a_baseline_reports_what_is_new_and_fails_on_that_alone(run, documents, table, more):
    before, after = documents
    code, out, err = run("audit", more, *FACTORS, "--baseline", before, "--fail-on", "RC101,RC302", "--full")
    assert (code, err) == (0, "")  # RC302 was there before
    assert "0 cells lost" in out
    assert "finding of before stays" in out
    assert "RC302" not in out
    code, out, _ = run("audit", table, *FACTORS, "--baseline", after, "--fail-on", "RC101")
    assert code == 1
    assert "New finding" in out
    assert run("audit", table, *FACTORS, "--baseline", before, "--fail-on", "RC101")[0] == 0
    assert run("audit", table, *FACTORS, "--fail-on", "RC101")[0] == 1


def test_a_baseline_and_compare_say_the_same(run, documents, more):
    before, after = documents
    _, out, _ = run("audit", more, *FACTORS, "--baseline", before, "--json")
    assert json.loads(out) == json.loads(run("compare", before, after, "--json")[1])
    _, out, _ = run("audit", more, *FACTORS, "--baseline", before, "--markdown", "-")
    assert out == run("compare", before, after, "--markdown", "-")[1]


def test_other_outputs_are_written_beside_a_baseline(run, documents, more, tmp_path):
    html, summary = tmp_path / "report.html", tmp_path / "s.md"
    code, out, _ = run("audit", more, *FACTORS, "--baseline", documents[0], "--html", html, "--markdown", summary)
    assert code == 0
    assert html.exists()
    assert summary.exists()
    assert "report written to" in out


def test_baselines_that_make_no_sense_are_refused_before_the_work(run, documents, table, tmp_path):
    missing = tmp_path / "missing.csv"  # the table is not even opened
    refused(run("audit", missing, "--baseline", table), "table.csv is not JSON")
    refused(run("audit", missing, "--markdown", "-"), "--markdown sums up what changed", "--baseline audit.json")
    refused(run("audit", missing, "--baseline", documents[0], "--explain", "a,b"), "ask for one of them")
    refused(run("audit", missing, "--baseline", documents[0], "--fail-on", "RC999"), "names no finding")
    options = ["--factors", "a", "--outcome", "y", "--prediction", "p", "--split", "s"]
    refused(run("score", missing, *options, "--baseline", documents[0]), "is of recombine audit")
    refused(run("score", missing, *options, "--fail-on", "worse"), "--baseline score.json")


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    cells = np.indices((7, 6)).reshape(2, -1).T
    frame = pd.DataFrame(cells, columns=["site", "dose"]).astype(str)
    frame["y"] = cells @ [0.5, 1.0] + 0.1 * rng.normal(size=len(cells))
    frame["part"] = np.where(rng.random(len(cells)) < 0.5, "train", "test")
    frame["good"], frame["half"] = cells @ [0.5, 1.0], cells @ [0.5, 0.5] + 1.25
    path = tmp_path / "predicted.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_scores_have_baselines_too(run, predicted, tmp_path):
    options = ["--factors", "site,dose", "--outcome", "y", "--split", "part=train", "--structure", "add"]
    frame = pd.read_csv(predicted)
    worse = tmp_path / "worse.csv"
    frame.assign(good=frame.half).to_csv(worse, index=False)
    baseline = tmp_path / "score.json"
    baseline.write_text(run("score", predicted, *options, "--prediction", "good,half", "--json")[1])
    same = ["score", predicted, *options, "--prediction", "good,half", "--baseline", baseline]
    code, out, _ = run(*same, "--fail-on", "worse,gone-models")
    assert code == 0
    assert "Nothing changed." in out
    code, out, _ = run("score", worse, *options, "--prediction", "good", "--baseline", baseline, "--fail-on", "worse")
    assert code == 1
    words = " ".join(out.split())
    assert "--fail-on worse: 1 model worse (good)" in words
    assert "Models: 0 new, 1 gone." in words
    code, out, _ = run("score", worse, *options, "--prediction", "good", "--baseline", baseline, "--markdown", "-")
    assert code == 0
    assert "| <code>good</code> |" in out


def test_a_side_that_used_some_rows_only_says_so(run, tmp_path):
    rows = ["a,b,y", *(f"{'' if i % 3 == 1 else 'xz'[i % 2]},{'pq'[i // 2 % 2]},{i}" for i in range(12))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    document = tmp_path / "audit.json"
    document.write_text(run("audit", tmp_path / "t.csv", "--factors", "a,b", "--outcome", "y", "--json")[1])
    assert "- **After** t&#46;csv, 8 of 12 rows used, a (2)" in run("compare", document, document, "--markdown", "-")[1]
    older = json.loads(document.read_text())
    del older["reading"]
    document.write_text(json.dumps(older))
    assert "rows used" not in run("compare", document, document, "--markdown", "-")[1]
