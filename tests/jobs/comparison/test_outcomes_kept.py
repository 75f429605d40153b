"""Renamed levels are known by their outcomes, and louder noise is told from chance."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.jobs.comparison.outcomes_kept import noise_record, noise_rise
from recombine.jobs.findings import FailOn
from recombine.report.audit.record import audit_json

FACTORS = ["drug", "line", "dose"]


def screen(seed: int = 0, noise: float = 0.1, repeats: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = np.indices((6, 5, 3)).reshape(3, -1).T
    cells = np.repeat(cells[np.random.default_rng(1).random(len(cells)) < 0.7], repeats, axis=0)
    frame = pd.DataFrame({name: [f"{name}{code}" for code in cells[:, at]] for at, name in enumerate(FACTORS)})
    return frame.assign(y=cells @ [1.0, 0.5, 0.3] + noise * rng.normal(size=len(cells)))


def audited(frame: pd.DataFrame, **options: object) -> rc.Audit:
    return rc.audit(frame, factors=FACTORS, outcome="y", structure="add", **options)  # type: ignore[arg-type]


def test_a_renamed_level_is_known_by_its_outcomes_and_its_cells_count_as_before() -> None:
    before = screen()
    after = before.replace({"drug": {"drug2": "compound-B"}}).sample(frac=1, random_state=0)
    found = rc.compare(json.loads(audit_json(audited(before))), audited(after[["dose", "drug", "line", "y"]]))
    cells = int((before.drug == "drug2").sum())
    assert [(item.old, item.new, item.cells) for item in found.renamed] == [("drug2", "compound-B", cells)]
    assert (found.vanished, found.lost, found.gained, found.transitions.only_after.sum()) == (0, 0, 0, 0)
    text = f"drug 'drug2' was renamed 'compound-B': its {cells} measured cells agree"
    assert text in " ".join(found.summary.split())
    assert text in found.markdown.replace("&#39;", "'").replace("&#45;", "-").replace("&#8288;", "").replace(
        "&#58;", ":"
    )
    assert FailOn.named(["gone-levels"]).changes(found) == []
    assert found.changed


@pytest.mark.parametrize("change", ["outcome", "row", "spelling", "twin"])
def test_what_is_no_proof_of_a_new_name_is_not_told(change: str) -> None:
    before = screen()
    after = before.replace({"drug": {"drug2": "drug 2 " if change == "spelling" else "compound-B"}})
    mine = after.index[~after.drug.isin(before.drug)]
    if change == "outcome":
        after.loc[mine[0], "y"] += 1e-3
    if change == "row":
        after = after.drop(index=mine[0])
    if change == "twin":
        after = pd.concat([after, after.loc[mine].assign(drug="compound-C")])
    found = rc.compare(audited(before), audited(after))
    assert found.renamed == ()
    assert FailOn.named(["gone-levels"]).changes(found)


def test_two_levels_that_change_their_names_are_both_known() -> None:
    before = screen()
    names = {"drug2": "compound-B", "drug4": "compound-A"}
    found = rc.compare(audited(before), audited(before.replace({"drug": names})))
    assert {item.old: item.new for item in found.renamed} == names


@pytest.mark.parametrize("repeats", [1, 3])
def test_noise_that_rises_sevenfold_is_a_finding(repeats: int) -> None:
    before = audited(screen(0, 0.1, repeats))
    found = rc.compare(before, json.loads(audit_json(audited(screen(1, 0.7, repeats)))))
    (phrase,) = FailOn.named(["noisier"]).changes(found)
    kind = "misses" if repeats == 1 else "rows that repeat"
    assert phrase.startswith(f"noisier: the standard deviation of {kind} rose ")
    assert found.noisier.after / found.noisier.before == pytest.approx(7, rel=0.4)
    assert FailOn.named(["noisier"]).changes(rc.compare(audited(screen(0, 0.7, repeats)), before)) == []
    assert FailOn.named(["RC506"]).changes(rc.compare(before, audited(screen(2, 0.1, repeats)))) == []


def test_noise_that_nothing_tells_is_refused() -> None:
    bare = screen().drop(columns="y")
    silent = rc.audit(bare, factors=FACTORS)
    found = rc.compare(silent, audited(screen()))
    with pytest.raises(rc.InputError, match="noisier cannot be told: the audit before does not tell the noise"):
        FailOn.named(["noisier"]).changes(found)


@pytest.mark.parametrize("draw", ["normal", "t3", "lognormal"])
def test_noise_of_one_size_is_hardly_ever_told_to_have_risen(draw: str) -> None:
    """30 cells of three rows, heavy tails too: at most 1 in 100 pairs of tables."""
    from recombine.jobs.comparison.outcomes_kept import _noise

    rng = np.random.default_rng(0)
    draws = {
        "normal": rng.normal,
        "t3": lambda size: rng.standard_t(3, size),
        "lognormal": lambda size: np.exp(rng.normal(size=size)),
    }
    alarms = 0
    for _ in range(1000):
        sides = [draws[draw](size=(30, 3)).var(axis=1) * 3 for _ in range(2)]
        alarms += noise_rise(*(_noise("rows that repeat", side, np.full(30, 2.0)) for side in sides)) is not None
    assert alarms <= 10


def test_two_values_have_no_noise_of_their_own() -> None:
    frame = screen(repeats=2)
    assert noise_record(audited(frame.assign(y=(frame.y > 2).astype(int)))) is None
