"""The page as a widget: what Python holds of it, and that the frame and the model tell each other of changes."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

import recombine as rc

pytest.importorskip("anywidget", reason="needs anywidget: pip install 'recombine[notebook]'")
from recombine.explore import Explorer


def explored() -> Explorer:
    table = pd.DataFrame({"kind": ["a", "a", "b"], "site": ["p", "q", "p"], "y": [1.0, 2.0, 4.0]})
    shown = rc.audit(rc.Design.from_frame(table, factors=["kind", "site"], outcome="y")).explore()
    assert isinstance(shown, Explorer)
    return shown


def test_an_audit_opens_with_its_cells() -> None:
    shown = explored()
    assert shown.seen == [("a", "p"), ("a", "q"), ("b", "p")]
    assert shown.scene == shown.table


def test_what_is_painted_is_read_back() -> None:
    shown = explored()
    shown.scene = shown.scene.replace("m=0.3", "m=0.4")
    assert shown.seen == [("a", "p"), ("a", "q"), ("b", "p"), ("b", "q")]
    shown.scene = "s=9x9&m=0.3&k=ntk3"
    assert shown.seen == []


def test_the_module_carries_the_page() -> None:
    module = str(explored()._esm)
    assert "What follows" in module
    assert "http://" not in module
    assert "https://" not in module


@pytest.mark.slow
def test_without_anywidget_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import recombine as rc\n"
        "try:\n    rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])).explore()\n"
        "except rc.InputError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "[notebook]'" in told
