"""``import recombine`` loads what every use needs and nothing heavy: checked by name, since a clock would flicker."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import recombine

HEAVY = [
    "dask",
    "duckdb",
    "flint",
    "IPython",
    "jinja2",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "recombine.jobs.audit.audit",
    "recombine.report.audit.sections",
    "recombine.theory",
    "rich",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn",
    "statsmodels",
    "torch",
    "typer",
]


def loaded_by(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after ``statement``."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(done.stdout))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return loaded_by("import recombine")


@pytest.mark.parametrize("module", HEAVY)
def test_import_recombine_leaves_out(loaded: set[str], module: str) -> None:
    assert module not in loaded


def test_names_that_are_imported_when_asked_for_are_listed_from_the_start() -> None:
    code = "import recombine, sys; print(*dir(recombine)); assert 'sklearn' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    listed = done.stdout.split()
    assert {"theory", "measures", "KernelRegressor", "probe", "inspect", "Design", "audit"} <= set(listed)
    assert not {"Any", "TYPE_CHECKING", "annotations"} & set(listed)
    assert all(hasattr(recombine, name) for name in listed)


def test_the_check_sees_a_heavy_import() -> None:
    assert "duckdb" in loaded_by("import recombine.tables.frames; import duckdb")
