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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("stored", "options", "line", "used"),
    [
        ('nested = ["colour/shape"]', ["--crossed"], "--crossed as given here, not nested", {"crossed": True}),
        ("crossed = true", ["--nested", "colour/site"], "--nested as given here, not crossed", None),
        ('structure = "add"', ["--order", "2"], "--order as given here, not structure", {"order": 2}),
        ("order = 2", ["--structure", "add"], "--structure as given here, not order", {"structure": "add"}),
        ('structure = "pairs"', ["--order", "2"], "", {"structure": "pairs", "order": 2}),
        (
            'ordered = ["dose", "grade=low<mid<high"]',
            ["--numeric", "dose"],
            "--numeric as given here, not ordered",
            {"ordered": ["grade=low<mid<high"], "numeric": ["dose"]},
        ),
        ('numeric = ["dose"]', ["--ordered", "dose"], "--ordered as given here, not numeric", {"ordered": ["dose"]}),
    ],
)
def test_an_option_replaces_what_it_contradicts_and_names_both(
    run: Run, folder: Path, stored: str, options: list[str], line: str, used: dict[str, object] | None
) -> None:
    grades = ["low", "mid", "high"]
    cells = [(c, s, t, d) for c in range(4) for s in range(3) for t in range(2) for d in range(3)]
    rows = [f"{c},{s},{t},{d},{grades[d]},{c}.5" for c, s, t, d in cells]
    (folder / "table.csv").write_text("\n".join(["colour,shape,site,dose,grade,mass", *rows]) + "\n")
    (folder / "design.toml").write_text(f'factors = ["colour", "shape", "site"]\n{stored}\n')
    code, out, err = run("audit", "table.csv", "--plan", 0, "--json", "--design", "design.toml", *options)
    assert err.startswith(f"recombine: {line} as in design.toml\n" if line else ""), err
    if used is None:  # colours are not nested in sites: that this is said shows that the option counts
        assert (code, "colour does not lie inside site" in err) == (2, True), err
        return
    assert json.loads(out)["table"] == {"factors": ["colour", "shape", "site"], **used}
    if "order" in used:
        assert json.loads(out)["structure"]["asked"] is True


@pytest.mark.parametrize(
    ("stored", "options"),
    [
        ('nested = ["colour/shape"]\ncrossed = true', ["--nested", "colour/shape", "--crossed"]),
        ('structure = "add"\norder = 2', ["--structure", "add", "--order", "2"]),
        ('ordered = ["dose"]\nnumeric = ["dose"]', ["--ordered", "dose", "--numeric", "dose"]),
    ],
)
def test_two_settings_that_contradict_each_other_in_one_place_are_refused(
    run: Run, folder: Path, stored: str, options: list[str]
) -> None:
    (folder / "design.toml").write_text(f'factors = ["colour", "shape"]\n{stored}\n')
    code, out, err = run("audit", "table.csv", "--design", "design.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "contradict each other, and both stand in design.toml; leave one out" in err
    code, out, err = run("audit", "table.csv", "--factors", "colour,shape", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    flags = [word for word in options if word.startswith("--")]
    assert f"{flags[0]} and {flags[1]} contradict each other, and both are given here; leave one out" in err


def test_the_split_of_a_design_is_what_is_checked(run: Run, folder: Path) -> None:
    (folder / "design.toml").write_text('factors = ["colour", "shape"]\nsplit = "part=train"\n')
    code, out, err = run("split", "table.csv", "--design", "design.toml", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["table"]["split"] == "part=train"
    code, out, err = run("split", "table.csv", "--design", "design.toml", "--check", "part=test", "--json")
    assert (code, err) == (0, "recombine: --check as given here, not as in design.toml\n")
    assert json.loads(out)["training rows"] == 1


@pytest.mark.slow
def test_score_and_split_guess_the_factors_as_the_audit_does(run: Run, folder: Path) -> None:
    rows = [
        f"{a},{b},{a}.{a}{b}1,{b}.{a}{b}7,{'test' if (a + b) % 4 == 0 else 'train'}" for a in range(6) for b in range(6)
    ]
    (folder / "table.csv").write_text("\n".join(["drug,line,y,net,part", *rows]) + "\n")
    table, _ = audited(run, "--outcome", "y", "--split", "part=train")
    assert table["factors"] == ["drug", "line"]
    for words in (
        ["score", "table.csv", "--outcome", "y", "--split", "part=train", "--prediction", "net"],
        ["split", "table.csv", "--outcome", "y", "--check", "part=train"],
        ["split", "table.csv", "--outcome", "y", "--test", "determined:0.2"],
    ):
        code, out, err = run(*words)
        assert code == 0, err
        assert "the factors are a guess" in " ".join(out.split()).lower()
        out = run(*words, "--full")[1]
        assert "The factors are a guess; name them with --factors to be sure." in " ".join(out.split())
        assert json.loads(run(*words, "--json")[1])["table"]["factors"] == ["drug", "line"]


@pytest.mark.slow
def test_the_help_of_a_design_names_the_section_of_a_project(run: Run) -> None:
    for command in ("audit", "score", "split", "explore", "probe"):
        assert "tool.recombine" in run(command, "--help")[1]


def test_keys_may_be_spelled_as_options_and_paths_are_plain(run: Run, folder: Path) -> None:
    (folder / "cells.csv").write_text("colour,shape\nred,cube\n")
    (folder / "designs").mkdir()
    (folder / "designs" / "d.toml").write_text(
        'factors = ["colour", "shape", "mass"]\nas-levels = ["mass"]\npossible = "../cells.csv"\n'
    )
    options = ["--factors", "colour,shape,mass", "--as-levels", "mass", "--possible", "cells.csv"]
    assert audited(run, "--design", "designs/d.toml")[0] == audited(run, *options)[0]
    (folder / "d.toml").write_text('as-levels = ["mass"]\nas_levels = ["mass"]\n')
    assert "as_levels is said twice" in run("audit", "table.csv", "--design", "d.toml")[2]


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
        (["score", "table.csv", "--prediction", "mass", "--factors", "colour,shape"], "which column is the outcome?"),
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
