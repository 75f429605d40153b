"""Results find their outputs, and `import recombine` says what they are without loading any."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import recombine as rc
from recombine.jobs.outputs import OUTPUTS, render
from recombine.report import result_text
from recombine.report.audit import notebook, page


@pytest.mark.parametrize("place", [place for kinds in OUTPUTS.values() for place in kinds.values()])
def test_every_face_is_there(place: str) -> None:
    module, _, name = place.partition(":")
    assert callable(getattr(import_module(module), name))


def test_an_audit_shows_its_faces(tmp_path: Path) -> None:
    audit = rc.audit(rc.Design.from_cells([[0, 0], [1, 1], [1, 0], [2, 2]]))
    assert audit._repr_html_() == notebook(audit) == render(audit, "notebook")
    assert audit.to_html(tmp_path / "report.html").read_text(encoding="utf-8") == page(audit)
    assert audit.summary == result_text(audit, audit.plan())
    assert str(audit) == str(audit.answer)
    assert audit.summary.startswith(f"{audit.answer.title}\n")
