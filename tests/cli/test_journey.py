"""A table described once: audit --save-design, split --design, score --design, compare; verdicts agree throughout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.score import class_designs
from recombine.jobs.split import check_split, split_table
from recombine.table_spec import TableSpec

Run = Callable[..., tuple[int, str, str]]


def sequences() -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(0)
    texts = ["".join(letters) for letters in rng.choice(list("ACGT"), size=(90, 4))]
    return pd.DataFrame({"variant": texts, "y": [sum(map(ord, text)) / 10 for text in texts]}), [
        "--sequence",
        "variant",
    ]


def sets() -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(1)
    chosen = [sorted(rng.choice(list("ABCDEF"), size=rng.integers(1, 4), replace=False)) for _ in range(80)]
    frame = pd.DataFrame(
        {"genes": ["+".join([*some, "ctrl"]) for some in chosen], "line": rng.choice(list("xyz"), size=80)}
    )
    return frame.assign(y=[len(some) + 0.1 * ord(some[0]) for some in chosen]), ["--set", "genes", "--factors", "line"]


def nested() -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(2)
    plant, dose = np.indices((24, 5)).reshape(2, -1)
    frame = pd.DataFrame({"plant": plant, "arm": plant % 2, "dose": dose}).astype(str)
    frame["y"] = plant * 0.3 + dose + rng.normal(size=len(frame))
    return frame[rng.random(len(frame)) < 0.7], ["--factors", "plant,arm,dose"]


def ordered() -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(3)
    site, dose, age = rng.integers(0, (6, 8, 5), size=(140, 3)).T
    frame = pd.DataFrame({"site": [f"s{n}" for n in site], "dose": dose * 2.5, "age": age})
    return frame.assign(y=site + 0.4 * dose + 0.1 * age**2), [
        "--factors",
        "site",
        "--ordered",
        "dose",
        "--numeric",
        "age",
    ]


def listed() -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(4)
    cells = np.array([(a, b) for a in range(9) for b in range(9) if (a + b) % 3])
    frame = pd.DataFrame(cells[rng.random(len(cells)) < 0.8], columns=["a", "b"]).astype(str)
    frame["y"] = frame.a.astype(int) - 2.0 * frame.b.astype(int)
    pd.DataFrame(cells, columns=["a", "b"]).to_csv("cells.csv", index=False)
    return frame, ["--factors", "a,b", "--possible", "cells.csv"]


def symmetric() -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(5)
    one, two = rng.integers(8, size=(2, 90))
    frame = pd.DataFrame({"gene_a": [f"g{n}" for n in one], "gene_b": [f"g{n}" for n in two]})
    return frame.assign(y=one + two + 0.1 * rng.normal(size=90)), [
        "--factors",
        "gene_a,gene_b",
        "--symmetric",
        "gene_a,gene_b",
    ]


TABLES = [sequences, sets, nested, ordered, listed, symmetric]


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_a_table_that_is_described_once_is_read_alike_by_every_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: Callable[[], tuple[pd.DataFrame, list[str]]]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, options = table()
    frame.to_csv("table.csv", index=False)
    (tmp_path / "designs").mkdir()
    saved = tmp_path / "designs" / "design.toml"
    code, out, err = run("audit", "table.csv", *options, "--outcome", "y", "--plan", 0, "--save-design", saved)
    assert (code, err) == (0, "")
    assert out.endswith(f"how the table was read is written to {saved}\n")
    code, out, err = run(
        "split", "table.csv", "--design", saved, "--test", "determined:0.2", "--out", "parts.csv", "--json"
    )
    assert code == 0, err
    parts = pd.read_csv("parts.csv")
    parts["half"], parts["exact"] = 0.5 * parts.y, parts.y + 0.01 * np.sin(np.arange(len(parts)))
    parts.to_csv("parts.csv", index=False)
    spec = TableSpec.read(saved)
    design = rc.Design.from_frame("parts.csv", spec, split="split=train")
    audit = rc.audit(design, structure="add")
    check = check_split("parts.csv", spec, split="split=train")
    assert json.loads(out)["table"] == json.loads(run("audit", "table.csv", "--design", saved, "--json")[1])["table"]
    # Verdicts of audit, check and score agree cell by cell, and are what the split promised.
    assert (audit.decided.verdicts_of(design.held_out) == rc.Verdict.DETERMINED).all()
    assert check.codes.tolist() == audit.decided.verdicts_of(check.cells).tolist()
    assert {tuple(cell) for cell in check.cells.tolist()} == {tuple(cell) for cell in design.held_out.tolist()}
    scored = rc.score(design, "parts.csv", ["half"], structure="add")
    assert scored.codes.tolist() == audit.decided.verdicts_of(design.held_out).tolist()
    for name in ("half", "exact"):
        words = ["score", "parts.csv", "--design", saved, "--split", "split=train", "--prediction", name, "--json"]
        code, out, err = run(*words, "--structure", "add")
        assert code == 0, err
        Path(f"{name}.json").write_text(out)
    assert run("compare", "half.json", "exact.json")[0] == 0


def test_a_split_of_a_table_on_scales_is_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame, _ = ordered()
    spec = rc.TableSpec(factors=["site"], ordered=["dose"], numeric=["age"])
    split = split_table(frame, "determined:0.15,unseen level of site:0.1", spec, seed=1)
    check = check_split(frame.assign(part=split.column), spec, split="part=train")
    sides = {side: table["verdict"].tolist() for side, table in check.by_side.items()}
    assert {side: words for side, words in sides.items() if side.startswith("test")} == {
        "test determined": ["determined"],
        "test unseen level": ["unseen level"],
    }
    with pytest.raises(rc.InputError, match="levels on a scale follow from those beside them"):
        split_table(frame, "unseen level of dose:0.1", spec)


@pytest.mark.slow
def test_a_model_that_adds_on_a_scale_has_no_cause_but_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame, _ = ordered()
    frame = frame.assign(y=frame.y + 0.05 * np.random.default_rng(0).normal(size=len(frame)))
    frame["part"] = np.where((frame.dose == 7.5) | (np.arange(len(frame)) % 5 == 0), "test", "train")
    design = rc.Design.from_frame(
        frame, factors=["site"], ordered=["dose"], numeric=["age"], outcome="y", split="part=train"
    )
    audit = rc.audit(design, structure="add")
    predicted = audit.values.certified_of(design.held_out)
    predicted[audit.decided.verdicts_of(design.held_out) != rc.Verdict.DETERMINED] = 0.0
    (model,) = rc.score(design, {"adding": predicted}, structure="add").models
    assert model.gain is not None
    assert abs(model.gain.value) < 1e-9
    assert abs(model.causes["leak"].value) + abs(model.causes["shortcut"].value) < 0.05 * model.attribution.error.value


def interacting() -> tuple[pd.DataFrame, str]:
    rng = np.random.default_rng(6)
    cells = np.indices((5, 5, 6)).reshape(3, -1).T
    pairs = [rng.normal(size=(5, 5)), rng.normal(size=(5, 6)), rng.normal(size=(5, 6))]
    y = 2 * pairs[0][cells[:, 0], cells[:, 1]] + pairs[1][cells[:, 0], cells[:, 2]] + pairs[2][cells[:, 1], cells[:, 2]]
    return pd.DataFrame(cells, columns=list("abc")).astype(str).assign(y=y + 0.05 * rng.normal(size=len(y))), "pairs"


def curved() -> tuple[pd.DataFrame, str]:
    cells = np.indices((7, 6, 4)).reshape(3, -1).T
    sums = cells @ [0.7, 0.9, 1.1] - 5
    return pd.DataFrame(cells, columns=list("abc")).astype(str).assign(y=np.tanh(sums / 2)), "link"


def classes() -> tuple[pd.DataFrame, str]:
    frame, _ = interacting()
    return frame.assign(y=pd.cut(frame.y, 3, labels=["low", "mid", "high"]).astype(str)), "add"


@pytest.mark.parametrize("made", [interacting, pytest.param(curved, marks=pytest.mark.slow), classes])
def test_audit_check_and_score_agree_where_the_structure_is_chosen(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[], tuple[pd.DataFrame, str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, structure = made()
    rng = np.random.default_rng(12)
    frame = frame.assign(part=rng.choice(["train", "test", ""], p=[0.5, 0.35, 0.15], size=len(frame)))
    frame = frame[frame.part != ""].assign(net=lambda rows: rng.permutation(rows.y))
    frame.to_csv("table.csv", index=False)
    options = ["--factors", "a,b,c", "--outcome", "y", "--check", "part=train"]
    code, out, err = run("split", "table.csv", *options, "--json", "--save-design", "design.toml")
    assert code == 0, err
    checked = json.loads(out)
    assert (checked["structure"], checked["asked"]) == (structure, False)
    told = "assumed without comparing" if made is classes else "chosen from the data"
    assert f'# structure = "{structure}"  # {told}' in Path("design.toml").read_text().splitlines()
    spec = TableSpec.read(Path("design.toml"))
    check = check_split("table.csv", spec, split="part=train")
    assert f"Verdicts hold if {check.choice.assumption} ({told})." in " ".join(check.summary.split())
    designs = class_designs if made is classes else rc.Design.from_frame
    score = rc.score(designs("table.csv", spec, split="part=train"), "table.csv", ["net"])
    audit = rc.audit(score.design, structure="add" if made is classes else None)
    assert audit.choice.name == structure
    assert check.cells.tolist() == score.design.held_out.tolist()
    assert check.codes.tolist() == score.codes.tolist() == audit.decided.verdicts_of(check.cells).tolist()
    assert made is classes or len(check.verdicts["cells"]) > 1
    assert [row["cells"] for row in checked["verdicts"]] == check.verdicts["cells"].tolist()
