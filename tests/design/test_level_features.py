"""Descriptors of levels in a design: read as its spec says, noted, and naming levels that no row has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recombine import TableSpec
from recombine.design import Design
from recombine.design.notes import NoteKind
from recombine.design.targets import with_described
from recombine.errors import InputError
from recombine.jobs.audit import audit
from recombine.jobs.values import fit_values
from recombine.table_spec import plain_spec, spec_options
from recombine.words.values import features_sentence

ROWS = pd.DataFrame({"drug": list("aabbcc"), "line": list("xyxyxy"), "y": np.arange(6.0)})
DRUGS = pd.DataFrame({"drug": ["a", "b", "d"], "mass": [1.0, 2.0, None], "smiles": ["C", "CC", "CO"]})


def described(**fields):
    given = {"factors": ["drug", "line"], "outcome": "y", "features": {"drug": DRUGS}}
    return Design.from_frame(ROWS, **(given | fields))


def test_what_is_odd_about_descriptors_is_noted_by_name():
    (note,) = [note for note in described().reading.notes if note.kind is NoteKind.LEVELS_DESCRIBED]
    numbers = note.numbers["drug"]
    assert (numbers["without"], numbers["new"], numbers["imputed"]) == (["c"], ["d"], {"mass": 1})
    (finding,) = [finding for finding in audit(described()).findings if finding.code == "RC111"]
    assert "known by their rows alone: c" in finding.message
    assert "(d) can be asked about" in finding.message


def test_described_levels_are_listed_as_unseen_and_all_verdicts_stay():
    plain, result = audit(described(features=None)), audit(described())
    rows = {(row["drug"], row["line"]): row["verdict"] for row in result.verdicts.rows()}
    assert {cell: word for cell, word in rows.items() if cell[0] == "d"} == {
        ("d", "x"): "unseen level",
        ("d", "y"): "unseen level",
    }
    assert [row["verdict"] for row in plain.verdicts.rows()] == [
        word for (drug, _), word in rows.items() if drug != "d"
    ]


def test_values_of_a_design_rest_on_its_descriptors():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"drug": [f"d{number:02}" for number in range(20)], "x": rng.normal(size=20)})
    codes = np.indices((16, 4)).reshape(2, -1).T
    rows = pd.DataFrame({"drug": table.drug[codes[:, 0]].to_numpy(), "line": codes[:, 1].astype(str)})
    rows["y"] = 3 * table.x[codes[:, 0]].to_numpy() + codes[:, 1]
    spec = TableSpec(factors=["drug", "line"], outcome="y", features={"drug": table})
    design = with_described(Design.from_frame(rows, spec))
    values = fit_values(design, [factor.levels for factor in design.factors])
    asked = np.column_stack([np.arange(16, 20), np.zeros(4, dtype=int)])
    assert np.allclose(values.predict(asked).mean, 3 * table.x[16:])


def test_a_spec_with_features_is_written_and_read_again(tmp_path):
    DRUGS.to_csv(tmp_path / "drugs.csv", index=False)
    spec = TableSpec(factors=["drug"], features=[f"drug={tmp_path / 'drugs.csv'}:drug"])
    assert spec.features == {"drug": (str(tmp_path / "drugs.csv"), "drug")}
    written = spec.write(tmp_path / "design.toml")
    assert 'features = ["drug=drugs.csv:drug"]' in written.read_text()
    assert TableSpec.read(written) == spec
    assert spec_options(spec)[-2:] == ["--features", f"drug={tmp_path / 'drugs.csv'}:drug"]
    assert plain_spec(TableSpec(features={"drug": DRUGS})) == {"features": ["drug=a DataFrame"]}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"features": {"Drug": DRUGS}}, "features are of 'Drug', which is no factor; did you mean 'drug'"),
        ({"features": {"drug": DRUGS[["drug", "smiles"]].head(1)}}, "no column that describes levels of 'drug'"),
        ({"features": {"line": DRUGS}}, "describes no level of factor 'line'"),
        ({"features": "drug=drugs.csv"}, "features are a str; give tables by factor"),
        ({"features": ["drug"]}, "features 'drug' names no factor and file"),
        ({"features": ["drug=a", "drug=b"]}, "features of 'drug' are given twice"),
        ({"features": {"drug": "nowhere.csv"}}, "nowhere.csv does not exist"),
        ({"ordered": ["drug=a<b<c"]}, "features are of 'drug', which is on a scale"),
    ],
)
def test_wrong_features_are_named_with_their_cure(fields, message):
    with pytest.raises(InputError, match=message):
        described(**fields)


def test_an_audit_says_which_descriptors_count():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"drug": [f"d{number:02}" for number in range(20)]})
    table = table.assign(**{name: rng.normal(size=20) for name in ("logP", "mass", "rings")})
    codes = np.indices((20, 4)).reshape(2, -1).T
    rows = pd.DataFrame({"drug": table.drug[codes[:, 0]].to_numpy(), "line": codes[:, 1].astype(str)})
    spec = {"factors": ["drug", "line"], "outcome": "y", "features": {"drug": table}}
    for effect, sentence in ((table.mass, "drug: carried by mass; 2 others do not help."), (0.0, "none of its 3")):
        rows["y"] = np.broadcast_to(effect, 20)[codes[:, 0]] + codes[:, 1] + 0.1 * rng.normal(size=80)
        assert sentence in features_sentence(audit(Design.from_frame(rows, **spec)))
    assert features_sentence(audit(described(features=None))) == ""


def test_values_of_described_levels_rest_on_their_features_in_an_audit():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"drug": [f"d{number:02}" for number in range(20)], "x": rng.normal(size=20)})
    codes = np.indices((18, 4)).reshape(2, -1).T
    rows = pd.DataFrame({"drug": table.drug[codes[:, 0]].to_numpy(), "line": codes[:, 1].astype(str)})
    rows["y"] = 3 * table.x[codes[:, 0]].to_numpy() + codes[:, 1] + 0.1 * rng.normal(size=72)
    result = audit(Design.from_frame(rows, factors=["drug", "line"], outcome="y", features={"drug": table}))
    for row in result.verdicts.rows():
        assert (row["verdict"], row["rests on"]) == ("unseen level", "features of drug")
        truth = 3 * float(table.x[table.drug == row["drug"]].iloc[0]) + int(row["line"])
        assert abs(row["predicted"] - truth) < 0.5
        assert row["low"] < row["predicted"] < row["high"]
