"""``--design``, ``--save-design`` and ``[tool.recombine]``: what they say, what wins, and bad input in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(table: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(table.parent)
    return table.parent


def audited(run: Run, *options: object) -> tuple[dict[str, object], str]:
    code, out, err = run("audit", "table.csv", "--plan", 0, "--json", *options)
    assert code == 0, err
    return json.loads(out)["table"], err


def test_guesses_are_saved_and_marked(run: Run, folder: Path) -> None:
    run("audit", "table.csv", "--outcome", "mass", "--plan", 0, "--save-design", "design.toml")
    text = (folder / "design.toml").read_text()
    assert 'factors = ["colour", "shape", "site"]  # guessed' in text.splitlines()
    assert 'outcome = "mass"' in text.splitlines()
    assert audited(run, "--design", "design.toml")[0] == audited(run, "--outcome", "mass")[0]
    code, _, err = run("audit", "table.csv", "--save-design", "design.toml")
    assert (code, err.count("\n")) == (2, 1)
    assert "design.toml exists" in err


def test_nesting_that_was_inferred_is_a_remark(run: Run, folder: Path) -> None:
    arms = ["chilled"] * 4 + ["warm"] * 4
    rows = [f"p{plant},{arm},{dose},{plant * dose % 7}" for plant, arm in enumerate(arms) for dose in range(5)]
    (folder / "plants.csv").write_text("\n".join(["plant,treatment,dose,y", *rows]) + "\n")
    columns = ["--factors", "plant,treatment,dose", "--outcome", "y", "--plan", 0]
    run("audit", "plants.csv", *columns, "--save-design", "plants.toml")
    assert (
        '# nested = ["plant/treatment"]  # inferred from the rows' in (folder / "plants.toml").read_text().splitlines()
    )
    code, out, _ = run("audit", "plants.csv", "--design", "plants.toml", "--json", "--plan", 0)
    nesting = json.loads(out)["nesting"]
    assert (code, [(item["child"], item["inferred"]) for item in nesting]) == (0, [("plant", True)])


def test_options_beside_a_design_win_and_say_so(run: Run, folder: Path) -> None:
    (folder / "design.toml").write_text('factors = ["colour", "shape"]\noutcome = "mass"\n')
    spec, err = audited(run, "--design", "design.toml", "--factors", "colour,site", "--crossed")
    assert spec == {"factors": ["colour", "site"], "outcome": "mass", "crossed": True}
    assert err == "recombine: --factors as given here, not as in design.toml\n"
    assert audited(run, "--design", "design.toml", "--outcome", "mass")[1] == ""


def test_a_project_says_how_its_tables_are_read(run: Run, folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.recombine]\nfactors = ["colour", "shape"]\n')
    spec, err = audited(run)
    assert spec == {"factors": ["colour", "shape"]}
    assert err == "recombine: the table is read as [tool.recombine] of pyproject.toml says\n"
    (folder / "design.toml").write_text('factors = ["colour", "site"]\n')
    assert audited(run, "--design", "design.toml") == ({"factors": ["colour", "site"]}, "")
    (folder / "pyproject.toml").write_text("[tool.other\n")
    assert audited(run, "--factors", "colour,site")[1] == ""


def test_fields_that_a_command_does_not_take_are_left_to_others(run: Run, folder: Path) -> None:
    (folder / "design.toml").write_text('factors = ["colour", "shape"]\nsplit = "part=train"\noutcome = "mass"\n')
    code, out, err = run("split", "table.csv", "--design", "design.toml", "--check", "part", "--json")
    assert code == 0, err
    assert json.loads(out)["table"] == {"factors": ["colour", "shape"], "outcome": "mass", "split": "part"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "says nothing"),
        ('facters = ["colour"]', "did you mean 'factors'?"),
        ('factors = "colour"', "give a list of texts"),
        ('factors = ["colour", "shap"]', "factor 'shap' is not a column of table.csv; did you mean 'shape'?"),
        ('factors = ["colour", "shape"]\nordered = ["dos"]', "'dos'"),
        ('factors = ["colour", "shape"]\nsequence = "seq"', "sequence 'seq' is not a column of table.csv"),
        ('factors = ["colour", "shape"]\npossible = "none.csv"', "none.csv does not exist"),
        ('factors = ["colour", "shape"]\nstructure = "sum"', "sum"),
        ('factors = ["colour", "shape"]\nsplit = "prt=train"', "prt"),
        ('factors = ["colour", "shape"]\nnested = ["colour"]', "colour"),
    ],
)
@pytest.mark.parametrize("command", ["audit", "explore", "score", "split", "probe"])
def test_a_bad_design_is_one_line(run: Run, folder: Path, command: str, text: str, message: str) -> None:
    (folder / "design.toml").write_text(text)
    more = {
        "explore": ["--no-open"],
        "score": ["--prediction", "mass", "--outcome", "mass", *([] if "split" in text else ["--split", "part=train"])],
        "split": ["--test", "determined:0.2"],
        "probe": ["--prediction", "mass", "--outcome", "colour"],
    }.get(command, [])
    unread = {
        "score": ("sum",),
        "split": ("prt",),
        "probe": ("prt", "dos", "seq", "none.csv", "sum", "nested", "colour"),
    }
    if any(word in text.split("\n")[-1] for word in unread.get(command, ())) and "\n" in text:
        pytest.skip("not about this command")
    code, out, err = run(command, "table.csv", "--design", "design.toml", *more)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "table.csv", "--prediction", "mass"], "which columns are the factors? Name them with --factors"),
        (["score", "table.csv", "--prediction", "mass", "--factors", "colour,shape"], "which column is the outcome?"),
        (["split", "table.csv", "--test", "determined:0.2"], "which columns are the factors?"),
        (["audit", "table.csv", "--design", "none.toml"], "none.toml does not exist"),
        (["audit", "table.csv", "--design", "."], "is a folder or device"),
        (["explore", "--design", "table.csv"], "--design is about a table"),
        (["audit", "table.csv", "--save-design", "table.csv", "--force"], "table.csv is the table itself"),
    ],
)
def test_what_is_lacking_is_asked_for_in_one_line(run: Run, folder: Path, words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert message in err
