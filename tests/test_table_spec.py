"""How a table is read: one object, whichever way it is written."""

from __future__ import annotations

import typing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.design import used_spec
from recombine.table_spec import TableFields, TableSpec, fields, make_spec, plain_spec, spec_toml

FRAME = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "n": [1, 2, 3, 4], "mass": [1.5, 2.5, 3.5, 4.5]})


def test_the_keywords_are_the_fields() -> None:
    assert sorted(typing.get_type_hints(TableFields)) == sorted(field.name for field in fields())


def test_every_field_is_told_in_the_docstring() -> None:
    told = {
        name.strip()
        for line in TableSpec.__doc__.split("\n")
        if " : " in line
        for name in line.split(" : ")[0].split(",")
    }
    assert {field.name for field in fields()} <= told


def test_spec_and_keywords_read_the_same_and_keywords_win() -> None:
    spec = rc.TableSpec(factors=["colour", "shape"], outcome="n")
    design = rc.Design.from_frame(FRAME, spec, outcome="mass")
    plain = rc.Design.from_frame(FRAME, factors=["colour", "shape"], outcome="mass")
    assert design.spec == plain.spec == rc.TableSpec(factors=("colour", "shape"), outcome="mass")
    assert design.outcome is not None
    assert design.outcome.tolist() == [3.5, 4.5, 1.5, 2.5]


@pytest.mark.parametrize("wrong", [["colour", "shape"], {"factors": ["colour"]}, "colour"])
def test_what_is_no_spec_is_refused(wrong: object) -> None:
    with pytest.raises(rc.InputError, match="is no TableSpec; name what the columns are"):
        rc.Design.from_frame(FRAME, wrong)  # type: ignore[arg-type]


def test_a_text_in_place_of_names_is_refused() -> None:
    for name in [field.name for field in fields() if field.kind == "names"]:
        with pytest.raises(rc.InputError, match=f"{name} is the text 'colour'; give a list of column names"):
            make_spec(None, {name: "colour"})
    with pytest.raises(rc.InputError, match="factors is a int"):
        rc.TableSpec(factors=3)  # type: ignore[arg-type]


def test_guesses_are_told_from_what_was_said() -> None:
    frame = pd.DataFrame(
        {"plant": [f"p{n}" for n in range(40)] * 2, "arm": ["a", "b"] * 40, "dose": ["1"] * 40 + ["2"] * 40}
    )
    spec, guessed = used_spec(
        rc.Design.from_frame(frame.assign(n=3, y=0.5 * (frame.arm == "a") + frame.index), weight="n", outcome="y")
    )
    assert spec.factors == ("plant", "arm", "dose")
    assert (spec.counts, spec.nested) == (False, ("plant/arm",))
    assert guessed == {"factors": "guessed", "counts": "guessed", "nested": "inferred from the rows"}
    again, none = used_spec(rc.Design.from_frame(frame.assign(n=3, y=1.0 * frame.index), spec))
    assert (again, none) == (spec, {})


def test_order_structure_and_importance_of_the_spec_are_those_of_the_audit() -> None:
    spec = rc.TableSpec(factors=["colour", "shape"], outcome="mass", order=2, importance="n")
    audit = rc.audit(rc.Design.from_frame(FRAME, spec))
    assert audit.order == 2
    assert audit.importance is not None
    assert audit.importance.values.tolist() == [3.0, 4.0, 1.0, 2.0]
    assert rc.audit(rc.Design.from_frame(FRAME, spec), 1).order == 1
    assert plain_spec(audit.design.spec)["importance"] == "n"


def test_costs_and_forbidden_cells_of_the_spec_are_those_of_the_plan() -> None:
    frame = pd.DataFrame({"a": list("xyz"), "b": list("pqr")})
    never = pd.DataFrame({"a": ["x"]})
    open_to_all = rc.audit(rc.Design.from_frame(frame, factors=["a", "b"])).plan(None)
    spec = rc.TableSpec(factors=["a", "b"], forbidden=never)
    audit = rc.audit(rc.Design.from_frame(frame, spec))
    assert (
        audit.plan(None).picks
        == rc.audit(rc.Design.from_frame(frame, factors=["a", "b"])).plan(None, forbidden=[{"a": "x"}]).picks
    )
    assert any(pick.cell[0] == 0 for pick in open_to_all.picks)
    assert not any(pick.cell[0] == 0 for pick in audit.plan(None).picks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "says nothing; write what the columns are"),
        ("# nothing\n", "says nothing"),
        ("factors = [", "is not TOML"),
        ("\x00", "is not TOML"),
        ('facters = ["colour"]', "'facters' says nothing about a table; did you mean 'factors'? Settings: factors,"),
        ('factors = "colour,shape"', 'factors is "colour,shape"; give a list of texts: ["colour", "shape"]'),
        ("factors = [1, 2]", "factors is [1, 2]; give a list of texts"),
        ("outcome = 3", 'outcome is 3; give a text: "mass"'),
        ('outcome = ""', 'outcome is ""; give a text'),
        ("order = true", "order is true; give a whole number: 2"),
        ("order = 1.5", "order is 1.5; give a whole number"),
        ('crossed = "yes"', 'crossed is "yes"; give true or false'),
        ("possible = 3", 'possible is 3; give the name of a file: "cells.csv"'),
        ("day = 2020-01-01", "'day' says nothing about a table"),
        ("outcome = 2020-01-01", 'outcome is "2020-01-01"; give a text'),
        ("[outcome]\nname = 1", 'outcome is {"name": 1}; give a text'),
        ("[tool.recombine]\noutcom = 'y'", "[tool.recombine] of"),
        ("[tool]\nrecombine = 3", "is no table of settings"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "design.toml"
    path.write_text(text)
    with pytest.raises(rc.InputError) as refused:
        TableSpec.read(path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(rc.InputError, match="does not exist; write one with --save-design"):
        TableSpec.read(tmp_path / "none.toml")
    with pytest.raises(rc.InputError, match="is a folder or device"):
        TableSpec.read(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'outcome = "\xe9"')
    with pytest.raises(rc.InputError, match="is not TOML"):
        TableSpec.read(tmp_path / "latin.toml")


NAMES = st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1).filter(str.strip), max_size=3)


@given(
    factors=NAMES,
    nested=NAMES,
    outcome=st.none() | st.text(st.characters(blacklist_categories=["Cs"]), min_size=1).filter(str.strip),
    counts=st.sampled_from([None, True, False]),
    crossed=st.booleans(),
    order=st.none() | st.integers(1, 9),
)
def test_a_spec_comes_back_from_its_file(**said: Any) -> None:
    spec = make_spec(None, said | {"crossed": said["crossed"] and not said["nested"]})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "design.toml"
        path.write_text(spec_toml(spec, {"factors": "guessed"}, path.parent), encoding="utf-8", newline="")
        again = TableSpec.read(path) if plain_spec(spec) else spec
    assert plain_spec(again) == plain_spec(spec)


def test_files_are_named_from_where_the_spec_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "cells.csv").write_text("a,b\nx,y\n")
    monkeypatch.chdir(tmp_path)
    text = spec_toml(TableSpec(possible="cells.csv", importance="n"), {}, Path("kept"))
    assert 'possible = "../cells.csv"' in text
    (tmp_path / "kept" / "design.toml").write_text(text)
    spec = TableSpec.read(Path("kept/design.toml"))
    assert Path(spec.possible).samefile("cells.csv")
    assert spec.importance == "n"


def test_a_file_and_its_column_are_read_from_wherever_one_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "d.csv").write_text("name,mass\na,1\nb,2\n")
    (tmp_path / "design.toml").write_text('factors = ["drug", "dose"]\nfeatures = ["drug=d.csv:name"]\n')
    assert TableSpec.read(tmp_path / "design.toml").features == {"drug": (str(tmp_path / "d.csv"), "name")}
    monkeypatch.chdir(tmp_path)
    assert TableSpec.read("design.toml").features == {"drug": ("d.csv", "name")}


def test_a_spec_is_written_and_read_in_python(tmp_path: Path) -> None:
    spec = rc.TableSpec(factors=("a", "b"), outcome="y", as_levels=("b",), counts=False)
    path = spec.write(tmp_path / "design.toml")
    assert rc.TableSpec.read(str(path)) == spec
    with pytest.raises(rc.InputError, match="exists"):
        spec.write(path)
    assert rc.TableSpec.read(make_spec(spec, {"outcome": "z"}).write(path, force=True)).outcome == "z"
    with pytest.raises(rc.InputError, match="possible is a DataFrame; write that table to a file"):
        rc.TableSpec(possible=FRAME).write(tmp_path / "other.toml")


def test_keywords_replace_what_they_contradict_in_a_spec() -> None:
    spec = rc.TableSpec(nested=("a/b",), ordered=("dose", "age"))
    assert make_spec(spec, {"crossed": True}) == rc.TableSpec(crossed=True, ordered=("dose", "age"))
    assert make_spec(spec, {"numeric": ["dose"]}) == rc.TableSpec(nested=("a/b",), ordered=("age",), numeric=("dose",))


def test_a_name_that_no_field_has_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(rc.InputError, match=r"nothing of a table is called 'factor'; did you mean 'factors'\?"):
        make_spec(None, {"factor": ["a", "b"]})
