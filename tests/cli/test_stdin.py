"""A table through a pipe: ``-`` in place of its file."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from recombine.formats.recognition import ending_of

FACTORS = ["--factors", "colour,shape", "--outcome", "mass"]
COMMAND = [sys.executable, "-m", "recombine"]


@pytest.fixture
def piped(run, monkeypatch):
    """Run a command with bytes on its standard input."""

    def with_bytes(data: bytes, *arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return run(*arguments)

    return with_bytes


def forms(table: Path) -> dict[str, bytes]:
    frame, packed = pd.read_csv(table), io.BytesIO()
    frame.to_parquet(packed)
    return {
        "csv": table.read_bytes(),
        "semicolons": frame.to_csv(index=False, sep=";").encode("utf-16"),
        "tsv": frame.to_csv(index=False, sep="\t").encode(),
        "jsonl": frame.to_json(orient="records", lines=True).encode(),
        "gzip": gzip.compress(table.read_bytes()),
        "parquet": packed.getvalue(),
    }


@pytest.mark.parametrize("form", ["csv", "semicolons", "tsv", "jsonl", "gzip", "parquet"])
def test_a_pipe_gives_the_audit_of_the_file(run, piped, table, form):
    wanted = json.loads(run("audit", table, *FACTORS, "--json")[1])
    code, out, err = piped(forms(table)[form], "audit", "-", *FACTORS, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["source"].startswith("stdin.")
    del wanted["reading"]["command"]
    assert found["reading"].pop("command") == f"recombine audit - {' '.join(FACTORS)}"
    same = [name for name in wanted if name not in ("source", "answer", "seconds", "notes")]
    assert {name: found[name] for name in same} == {name: wanted[name] for name in same}


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "{table}", *FACTORS, "--targets", "{file}"],
        ["split", "{file}", "--factors", "colour,shape", "--check", "part"],
        ["split", "{file}", "--factors", "colour,shape", "--test", "seen:0.2"],
        ["score", "{file}", *FACTORS, "--split", "part=train", "--prediction", "net"],
        ["probe", "{file}", "--prediction", "net", "--outcome", "mass", "--factors", "shape"],
        ["compare", "{audit}", "{file}"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_every_command_that_reads_a_table_takes_a_pipe(run, piped, table, tmp_path, arguments):
    rows = [f"a{i},b{j},{i + j},{i},{'train' if (i + j) % 3 else 'test'}" for i in range(5) for j in range(5)] * 2
    table.write_text("colour,shape,mass,net,part\n" + "\n".join(rows) + "\n")
    audit = tmp_path / "audit.json"
    audit.write_text(run("audit", table, *FACTORS, "--json")[1])
    file = audit if arguments[0] == "compare" else table
    if "--targets" in arguments:
        file = tmp_path / "targets.csv"
        file.write_text("colour,shape\na1,b1\n")

    def answered(named: object) -> list[str]:
        words = [word.format(file=named, table=table, audit=audit) for word in arguments]
        code, out, err = run(*words, "--json") if named != "-" else piped(file.read_bytes(), *words, "--json")
        assert (code, out != "") == (0, True), err
        return [line for line in out.splitlines() if file.name not in line and "stdin." not in line]

    assert answered("-") == answered(file)


@pytest.mark.parametrize("data", [b"", b" \n\n"])
def test_an_empty_pipe_is_told_in_one_line_with_its_cure(piped, data):
    code, out, err = piped(data, "audit", "-", *FACTORS)
    assert (code, out) == (2, "")
    assert err == (
        "recombine: standard input is empty; pipe a table in (recombine audit - < table.csv), or name its file in "
        "place of -\n"
    )


@pytest.mark.slow
def test_a_terminal_is_refused_and_never_waited_for():
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    done = subprocess.run([*COMMAND, "audit", "-"], stdin=child, capture_output=True, text=True, timeout=60)
    os.close(parent), os.close(child)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "standard input, which is the keyboard here; pipe a table in" in done.stderr


def test_standard_input_is_read_once(piped, table):
    code, _, err = piped(table.read_bytes(), "audit", "-", "--targets", "-")
    assert (code, err) == (2, "recombine: - is standard input, which can be read once; name a file for the other one\n")


@pytest.mark.parametrize(
    ("data", "cause"), [(b"PK\x03\x04rest", "stdin.zip is cut short or damaged"), (b"\x00\x01", "not a text")]
)
def test_what_is_no_table_is_told_in_one_line(piped, data, cause):
    code, out, err = piped(data, "audit", "-")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert cause in err


def test_what_a_pipe_holds_is_told_by_its_beginning():
    assert ending_of(b'\xef\xbb\xbf {"a": 1}') == ".jsonl"
    assert ending_of(b'[\n {"a": 1}]') == ".json"
    assert ending_of(gzip.compress(b'{"a": 1}')) == ".jsonl.gz"
    assert ending_of(b'"{a}",b') == ending_of(b"PAR1,b\n1,2") == ".csv"


@pytest.mark.slow
def test_nothing_is_left_behind_by_a_pipe_not_even_after_ctrl_c(table, tmp_path):
    known = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([*COMMAND, "audit", "-", *FACTORS], input=table.read_bytes(), env=known, capture_output=True)
    assert done.returncode == 0
    assert list(tmp_path.glob("recombine-*")) == []
    waiting = subprocess.Popen(
        [*COMMAND, "audit", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=known
    )
    for _ in range(600):
        if list(tmp_path.glob("recombine-*")):
            break
        time.sleep(0.1)
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (130, b"", b"recombine: stopped\n")
    assert list(tmp_path.glob("recombine-*")) == []
