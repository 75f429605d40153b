"""``recombine split``: make one, look at one, and bad input in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(9, size=600), rng.integers(8, size=600), rng.integers(4, size=600)], axis=1)
    frame = pd.DataFrame(cells, columns=["drug", "line", "dose"]).astype(str)
    frame["y"] = cells.sum(axis=1) + rng.normal(size=600).round(4)
    frame["part"] = np.where(rng.random(600) < 0.8, "train", "test")
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


OPTIONS = ["--factors", "drug,line,dose"]
MIX = "determined:0.2,disconnected:0.1"


@pytest.mark.slow
def test_a_split_is_made_written_and_found_again(run: Run, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "parts.csv"
    code, text, err = run("split", table, *OPTIONS, "--test", MIX, "--stratify", "y", "--out", out)
    assert (code, err) == (0, "")
    words = " ".join(text.split())
    assert "drug (9) × line (8) × dose (4): 600 rows" in words
    assert "determined 20.0 % 20.0 % 120" in words
    assert "Each test row has the verdict of its part if effects add; verified cell by cell." in words
    assert "would have to change class" in words
    assert f"table with column 'split' written to {out}" in "".join(text.splitlines())
    code, text, err = run("split", out, *OPTIONS, "--check", "split", "--json")
    assert (code, err) == (0, "")
    record = json.loads(text)
    assert {side: [row["verdict"] for row in rows] for side, rows in record["by value"].items()} == {
        "test determined": ["determined"],
        "test disconnected": ["disconnected"],
    }
    assert record["leaks"] == []


@pytest.mark.slow
def test_the_same_seed_is_the_same_split(run: Run, table: Path, tmp_path: Path) -> None:
    texts = []
    for place, seed in enumerate((3, 3, 4)):
        out = tmp_path / f"parts {place}.csv"
        assert run("split", table, *OPTIONS, "--test", MIX, "--seed", seed, "--out", out)[0] == 0
        texts.append(out.read_text())
    assert texts[0] == texts[1] != texts[2]


def test_json_says_what_was_asked_and_got(run: Run, table: Path) -> None:
    code, text, err = run("split", table, *OPTIONS, "--test", "determined:0.1,new-level:0.1,seen:0.05", "--json")
    assert code == 0
    assert err == "Nothing was written; name a file with --out.\n"
    record = json.loads(text)
    parts = {row["part"]: row for row in record["parts"]}
    assert list(parts) == ["seen", "determined", "unseen level"]
    assert all(abs(row["asked"] - row["got"]) < 0.02 for row in parts.values())
    assert sum(row["rows"] for row in parts.values()) + record["training rows"] + record["unused rows"] == 600


@pytest.mark.slow
def test_levels_are_hidden_of_the_factor_that_is_named(run: Run, table: Path, tmp_path: Path) -> None:
    for factor in ("drug", "line"):
        out = tmp_path / f"{factor}.csv"
        code, text, _ = run("split", table, *OPTIONS, "--test", f"unseen level of {factor}:0.2", "--out", out, "--json")
        assert code == 0
        frame = pd.read_csv(out, dtype=str)
        train, test = frame[frame.split == "train"], frame[frame.split == "test unseen level"]
        assert not set(train[factor]) & set(test[factor])
        assert json.loads(text)["hidden levels"] == {factor: sorted(set(test[factor]))}
        said = " ".join(run("split", table, *OPTIONS, "--test", f"unseen level of {factor}:0.2")[1].split())
        assert f"{factor}: {len(set(test[factor]))} level" in said


def test_a_check_says_what_a_random_split_proves(run: Run, table: Path) -> None:
    code, text, err = run("split", table, *OPTIONS, "--check", "part=train", "--outcome", "y", "--full")
    assert (code, err) == (0, "")
    words = " ".join(text.split())
    assert "training has the same combination: this tests memory and noise, not new combinations" in words
    assert "RC401 same cell (problem): " in words


def test_leaks_that_are_named_end_with_one(run: Run, table: Path) -> None:
    assert run("split", table, *OPTIONS, "--check", "part", "--fail-on", "same,copied")[0] == 1
    assert run("split", table, *OPTIONS, "--check", "part", "--fail-on", "permuted,copied")[0] == 0


def test_names_from_the_table_do_not_command_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    level = "\x1b[31mred"
    path.write_text(f"a,b,part\n{level},x,train\n{level},y,train\nblue,x,train\n{level},x,test\nblue,[/bold]y,test\n")
    code, text, _ = run("split", path, "--factors", "a,b", "--check", "part")
    assert code == 0
    assert "\x1b" not in text
    assert "\\u001b[31mred" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say either --test determined:0.2 to make a split, or --check part to look at one"),
        (["--test", MIX, "--check", "part"], "say either --test"),
        (["--test", "determined"], "test part 'determined' has no share of the rows; write it as 'determined:0.2'"),
        (["--test", "unseen level of drog:0.2"], "'drog' is not a factor; did you mean 'drug'?"),
        (["--test", "unseen level of y:0.2"], "'y' is not a factor; factors: drug, line, dose"),
        (["--test", "determnd:0.2"], "did you mean 'determined'?"),
        (["--test", "determined:0.99"], "can be had: training has to keep a cell for each of"),
        (["--test", MIX, "--stratify", "z"], "stratify 'z' is not a column of table.csv"),
        (["--test", MIX, "--stratify", "drug"], "column 'drug' is both a factor and the stratify"),
        (["--test", MIX, "--structure", "link"], "splits are made for structures that add"),
        (
            ["--test", MIX, "--structure", "pairs", "--order", "3"],
            "--structure and --order contradict each other, and both are given here",
        ),
        (["--test", MIX, "--order", "9"], "order 9 does not fit 3 factors"),
        (["--test", MIX, "--symmetric", "drug"], "name two or more"),
        (["--test", MIX, "--out", "nowhere/parts.csv"], "nowhere is not a folder"),
        (["--check", "parts"], "split 'parts' is not a column of table.csv; did you mean 'part'?"),
        (["--check", "part=trn"], "has no value 'trn'"),
        (["--check", "part", "--out", "x.csv"], "--out goes with --test"),
        (["--check", "part", "--structure", "sum"], "structure 'sum' is unknown"),
        (["--check", "part", "--fail-on", "some"], "--fail-on some names no finding; did you mean 'same'?"),
        (["--test", MIX, "--fail-on", "same"], "--fail-on goes with --check"),
        (["--check", "y"], "split column 'y' has the values"),
    ],
)
def test_bad_input_is_one_line(run: Run, table: Path, options: list[str], message: str) -> None:
    code, out, err = run("split", table, *OPTIONS, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_name_that_promises_another_format_is_refused(run: Run, table: Path, tmp_path: Path) -> None:
    for name in ("p.parquet", "p.csv.gz", "p.tsv", "p.jsonl"):
        code, _, err = run("split", table, "--factors", "a,b", "--test", "determined:0.1", "--out", tmp_path / name)
        assert (code, err) == (
            2,
            f"recombine: --out {tmp_path / name}: a CSV table is written; give it a name that ends in .csv\n",
        )
        assert not (tmp_path / name).exists()


def test_the_table_itself_is_not_overwritten(run: Run, table: Path) -> None:
    code, _, err = run("split", table, *OPTIONS, "--test", MIX, "--out", table, "--force")
    assert code == 2
    assert "is the table itself" in err


def _damaged(path: Path) -> None:
    """Write a table whose column that no option names cannot be read."""
    import duckdb

    columns = "'a'||(i%5) a, 'b'||(i%4) b, i*1.5 y, 'some text '||hash(i) note"
    duckdb.sql(f"copy (select {columns} from range(40) r(i)) to '{path}' (compression uncompressed)")
    data = path.read_bytes()
    start = data.index(b"some text") - 4
    path.write_bytes(data[:start] + bytes(byte ^ 0x5A for byte in data[start : start + 400]) + data[start + 400 :])


def test_where_the_file_cannot_be_written_nothing_is_printed(run: Run, tmp_path: Path) -> None:
    _damaged(tmp_path / "table.parquet")
    call = ["split", tmp_path / "table.parquet", "--factors", "a,b", "--test", "determined:0.2", "--json"]
    assert run(*call)[0] == 0  # the damage is where only --out looks
    code, out, err = run(*call, "--out", tmp_path / "parts.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def test_a_spreadsheet_runs_nothing_of_a_safe_file(run: Run, tmp_path: Path) -> None:
    levels = ["=1+1", "+x", "-2", "@SUM(1)", "plain"]
    rows = [f"{level},{other},{i}" for i, level in enumerate(levels) for other in "uv"]
    (tmp_path / "table.csv").write_text("\n".join(["=a,b,y", *rows]))
    call = ["split", tmp_path / "table.csv", "--factors", "=a,b", "--test", "determined:0.2"]
    for name, options, expected in (
        ("plain.csv", (), ["=a", *levels]),
        ("safe.csv", ("--safe-csv",), ["'=a", "'=1+1", "'+x", "-2", "'@SUM(1)", "plain"]),
    ):
        assert run(*call, "--out", tmp_path / name, *options)[0] == 0
        read = pd.read_csv(tmp_path / name, dtype=str)
        assert [read.columns[0], *dict.fromkeys(read.iloc[:, 0])] == expected
