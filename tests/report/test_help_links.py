"""Every output leads to the page about what it says, where the documentation has an address; else to nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

import recombine as rc
from recombine import registry
from recombine.report import result_text
from recombine.report.audit import audit_json, notebook, page
from recombine.report.notebook import score_notebook
from recombine.report.score import score_json, score_page

BASE = "https://docs.example/recombine"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_DOCS", f"{BASE}/")


@pytest.fixture
def unpublished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOMBINE_DOCS", raising=False)
    monkeypatch.setattr(registry, "documentation", lambda: "")


def audited() -> rc.Audit:
    return rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 1], [2, 2]]))


def scored() -> rc.Score:
    cells = np.indices((9, 7)).reshape(2, -1).T
    train = np.random.default_rng(0).random(63) < 0.5
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=train)
    return rc.score(design, {"net": design.held_out @ [1.0, 1.0] + 3.0}, structure="add")


AUDITS = (result_text, page, notebook, audit_json)
SCORES = (result_text, score_page, score_notebook, score_json)


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("output", AUDITS)
def test_an_audit_leads_to_its_findings(output: Callable[[rc.Audit], str]) -> None:
    assert f"{BASE}/findings/RC101.html" in output(audited())


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("output", SCORES)
def test_a_score_leads_to_the_largest_cause(output: Callable[[rc.Score], str]) -> None:
    assert f"{BASE}/causes/leak.html" in output(scored())


@pytest.mark.usefixtures("published")
def test_the_structure_has_its_address() -> None:
    assert json.loads(audit_json(audited()))["structure"]["help"] == f"{BASE}/structures/add.html"


@pytest.mark.slow
@pytest.mark.usefixtures("unpublished")
@pytest.mark.parametrize("output", [*AUDITS, *SCORES])
def test_without_an_address_there_is_no_link(output: Callable[[object], str]) -> None:
    result = audited() if output in AUDITS and output is not result_text else scored()
    assert not any(folder in output(result) for folder in ("/findings/", "/causes/", "/structures/"))
    assert '<a href="http' not in output(result)


def test_the_address_is_that_of_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    from email.message import Message

    built = Message()
    built["Project-URL"] = "Source, https://code.example"
    built["Project-URL"] = "Documentation, https://docs.example/recombine/"
    monkeypatch.delenv("RECOMBINE_DOCS", raising=False)
    monkeypatch.setattr(registry, "metadata", lambda name: built)
    registry.documentation.cache_clear()
    assert registry.help_address("cause", "seen noise") == f"{BASE}/causes/seen-noise.html"
    registry.documentation.cache_clear()
