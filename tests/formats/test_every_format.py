"""The same table gives the same answer in every format, from every command, by name and through a pipe."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recombine as rc
from known_formats import FACTORS, FORMS, as_form, measurements
from recombine.tables.engine import column_names

Run = Callable[..., tuple[int, str, str]]
Made = Callable[[str], Path]


def answer(out: str, name: str) -> dict[str, Any]:
    """What an audit says, but for the name of the file and the time it took."""
    return {key: value for key, value in json.loads(out.replace(name, "T")).items() if key != "seconds"}


@pytest.mark.parametrize("form", FORMS[1:])
def test_the_same_table_gives_the_same_audit(run: Run, made: Made, form: str) -> None:
    code, wanted, err = run("audit", made("csv"), *FACTORS, "--json")
    assert (code, err) == (0, "")
    code, found, err = run("audit", made(form), *FACTORS, "--json")
    assert (code, err) == (0, "")
    assert answer(found, f"t.{form}") == answer(wanted, "t.csv")


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_pipe_is_told_by_its_bytes(run: Run, made: Made, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    wanted = run("audit", made("csv"), *FACTORS, "--json")[1]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(made(form).read_bytes())))
    code, found, err = run("audit", "-", *FACTORS, "--json")
    assert (code, err) == (0, "")
    source = json.loads(found)["source"]
    assert source.startswith("stdin.")
    assert answer(found, source)["cells"] == answer(wanted, "t.csv")["cells"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["xlsx", "sqlite", "feather", "json"])
def test_every_command_opens_it(run: Run, tmp_path: Path, form: str) -> None:
    frame = measurements()
    frame["part"] = ["test" if row % 5 == 0 else "train" for row in range(len(frame))]
    frame["net"], frame["guess"] = frame["growth"] + 0.25, frame["drug"]
    table = as_form(frame, form, tmp_path / f"t.{form}")
    targets = as_form(frame[["drug", "cell line"]].drop_duplicates()[:3], form, tmp_path / f"targets.{form}")
    drugs = pd.DataFrame({"drug": [f"d{i}" for i in range(4)], "mass": [1.0, 2.5, 3.0, 7.0]})
    features = as_form(drugs, form, tmp_path / f"drugs.{form}")
    for words in (
        ["audit", table, *FACTORS, "--targets", targets],
        ["audit", table, *FACTORS, "--features", f"drug={features}"],
        ["score", table, *FACTORS, "--split", "part=train", "--prediction", "net"],
        ["split", table, "--factors", "drug,cell line", "--check", "part"],
        ["probe", table, "--prediction", "guess", "--outcome", "drug", "--factors", "cell line"],
    ):
        code, out, err = run(*words, "--json")
        assert code == 0, err
        assert json.loads(out), words
    assert column_names(table) == tuple(frame.columns)
    assert rc.audit(str(table), factors=["drug", "cell line"], outcome="growth").design.sizes == (4, 4)


@pytest.mark.parametrize(
    "address", ["https://a.org/t.csv", "http://a.org/t.xlsx", "s3://b/t.parquet", "gs://b/t", "ftp://a/t"]
)
def test_an_address_is_to_be_downloaded_first(run: Run, address: str) -> None:
    code, out, err = run("audit", address)
    assert (code, out) == (2, "")
    assert (
        err
        == f"recombine: {address} is an address, and nothing is fetched; download the file first, then name it here\n"
    )
    with pytest.raises(rc.InputError, match="download the file first"):
        rc.audit(address)
