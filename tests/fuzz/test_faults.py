"""Every request to the file system fails in turn: nothing is lost, nothing is half written, the next run goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from injected import faults_of_a_file

import recombine as rc
from recombine.cells.array_files import read_arrays, write_arrays
from recombine.output_files import write_whole
from recombine.report.figure import Figure
from recombine.tables.table import Table


class Dot(Figure):
    """A figure with a point in it."""

    name = "dot"
    alternative = "a dot"

    @property
    def table(self) -> Table:
        return Table({"x": [1.0]})

    def _draw(self):
        from matplotlib.figure import Figure as Canvas

        return Canvas(figsize=(1, 1))


def _audit() -> rc.Audit:
    design = rc.Design.from_cells([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0])
    return rc.audit(design)


def _writers() -> dict[str, tuple[str, Callable[[Path], object], Callable[[Path], object]]]:
    """What writes files: their names, how it is called, and a reader that raises unless the new file is whole."""
    from recombine.jobs.split import split_table

    table = Table({"cell": ["a", "b"], "value": [1.0, 2.0]})
    page = str(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]])))
    rows = {"drug": list("aabbcc"), "line": list("xyxyxy")}
    import pandas as pd

    split = split_table(pd.DataFrame(rows), "determined:0.2", factors=["drug", "line"])
    audit = _audit()

    def lines(count: int) -> Callable[[Path], object]:
        def read(path: Path) -> None:
            assert len(path.read_text(encoding="utf-8").splitlines()) == count

        return read

    def ends(end: bytes) -> Callable[[Path], object]:
        def read(path: Path) -> None:
            assert path.read_bytes().rstrip().endswith(end)

        return read

    def arrays(path: Path) -> None:
        assert read_arrays(path, "numbers")["a"].tolist() == [0.0] * 1000

    return {
        "text": ("a.txt", lambda path: write_whole(path, page), ends(page.rstrip().encode()[-20:])),
        "report": ("a.html", lambda path: audit.to_html(path, force=True), ends(b"</html>")),
        "table": ("a.csv", table.to_csv, lines(3)),
        "split": ("a.csv", lambda path: split.to_csv(path, force=True), lines(7)),
        "figure": ("a.svg", lambda path: Dot().save(path), ends(b"</svg>")),
        "arrays": ("a.npz", lambda path: write_arrays(path, a=np.zeros(1000)), arrays),
    }


KINDS_OF_FILES = ["text", "table", "split", "figure", "arrays"]
if os.environ.get("RECOMBINE_FUZZ_CASES"):
    KINDS_OF_FILES.append("report")  # each attempt draws its figures anew


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_a_file_is_new_or_as_it_was(kind: str, fresh: Callable[[], Path]) -> None:
    assert faults_of_a_file(fresh, *_writers()[kind]) >= 10
