"""A finding that a test registers shows up in every output: one more finding is one file."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import recombine as rc
from recombine.cli import main
from recombine.explore.answers import TableAnswers
from recombine.jobs.findings import FINDINGS, FailOn, FindingEvidence, FindingKind, Severity
from recombine.report import result_text
from recombine.report.audit import audit_json, notebook, page
from recombine.report.comparison import comparison_json

BUILD = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_vocabulary.py"))
FRAME = pd.DataFrame({"colour": ["red", "red", "blue"], "shape": ["cube", "ball", "cube"]})
SENTENCE = "3 combinations were seen, an odd number"


class OddNumber(FindingKind[rc.Audit]):
    """An odd number of seen cells."""

    code = "RC999"
    title = "odd number"
    severity = Severity.WARNING
    meaning = "The number of seen combinations is odd."
    action = "Collect one more."
    fail_on = ("odd",)

    def check(self, audit: rc.Audit) -> FindingEvidence | None:
        """Count the seen cells."""
        seen = len(audit.design.seen)
        return FindingEvidence({"seen": seen}) if seen % 2 else None

    def message(self, evidence: FindingEvidence) -> str:
        """Say how many."""
        return f"{evidence['seen']} combinations were seen, an odd number"


@pytest.fixture
def odd() -> Iterator[FindingKind]:
    with FINDINGS.registered(OddNumber()) as kind:
        yield kind


def audited() -> rc.Audit:
    return rc.audit(rc.Design.from_frame(FRAME, factors=["colour", "shape"]))


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("output", [result_text, page, notebook, audit_json])
def test_it_is_in_every_output_of_an_audit(output) -> None:
    text = " ".join(output(audited()).split())
    assert "RC999" in text
    assert SENTENCE in text


@pytest.mark.usefixtures("odd")
def test_the_page_says_what_it_means_and_what_to_do() -> None:
    text = " ".join(page(audited()).split())
    assert f"{OddNumber.meaning} {OddNumber.action}" in text


@pytest.mark.usefixtures("odd")
def test_it_is_in_the_record_of_the_page_server() -> None:
    audit = audited()
    findings = TableAnswers(audit).record["findings"]
    assert {"RC999"} <= {finding["code"] for finding in findings}


def test_a_comparison_calls_it_new() -> None:
    before = json.loads(audit_json(audited()))
    with FINDINGS.registered(OddNumber()):
        found = rc.compare(before, audited())
        assert "RC999" in str(found)
        assert [item["code"] for item in json.loads(comparison_json(found))["findings"]["new"]] == ["RC999"]
        assert FailOn.named(["odd"]).changes(found) == ["odd: 1 new finding"]


@pytest.mark.parametrize("word", ["RC999", "rc999", "odd"])
@pytest.mark.usefixtures("odd")
def test_it_ends_an_audit_with_one_where_it_is_named(word: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    even = pd.concat([FRAME, pd.DataFrame({"colour": ["blue"], "shape": ["ball"]})])
    for frame, code in ((FRAME, 1), (even, 0)):
        frame.to_csv(table, index=False)
        with pytest.raises(SystemExit) as stopped:
            main(["audit", str(table), "--factors", "colour,shape", "--plan", "0", "--fail-on", word])
        assert stopped.value.code == code


@pytest.mark.usefixtures("odd")
def test_it_is_in_the_page_of_findings() -> None:
    row = next(line for line in BUILD["findings_page"]().splitlines() if line.startswith("| [RC999]"))
    assert row == (
        "| [RC999](findings/RC999.md)<br>`odd` | odd number | warning | The number of seen combinations is odd. | "
        "Collect one more. |"
    )


@pytest.mark.usefixtures("odd")
def test_it_has_a_page_of_its_own() -> None:
    page = BUILD["entry_pages"]()["docs/findings/RC999.md"]()
    assert page.startswith("# RC999: odd number")
    assert OddNumber.meaning in page
    assert OddNumber.action in page


def test_afterwards_it_is_gone() -> None:
    assert "RC999" not in FINDINGS
    with pytest.raises(rc.InputError, match="--fail-on odd names no finding"):
        FailOn.named(["odd"])
