"""Scripts for R users: they run and give the package's answers, and R's numbers are those that the page shows."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import recombine as rc

FOLDER = Path(__file__).parents[2] / "docs" / "for"
TRIAL = {"factors": ["variety", "site"], "outcome": "yield"}


@cache
def lacking(*packages: str) -> str:
    """Return what is not installed, or nothing."""
    if shutil.which("Rscript") is None:
        return "Rscript"
    named = ", ".join(f'"{package}"' for package in packages)
    script = f"cat(setdiff(c({named}), rownames(installed.packages())))"
    return subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True, timeout=120).stdout


def run(script: str, folder: Path, *packages: str) -> str:
    """Run a script of docs/for beside a copy of its table and return what it printed."""
    if missing := lacking(*packages):
        pytest.skip(f"needs {missing} of R")
    for name in (script, "trial.csv"):
        shutil.copy(FOLDER / name, folder)
    known = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(
        ["Rscript", script], cwd=folder, env=known, capture_output=True, text=True, timeout=580, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.trains
def test_a_data_frame_is_audited_from_r_as_from_python(tmp_path: Path) -> None:
    said = run("audit.R", tmp_path, "reticulate")
    audit = rc.audit(FOLDER / "trial.csv", **TRIAL)
    for line in str(audit).splitlines()[1:]:
        assert line.rstrip() in said
    assert " ".join(audit.explain(variety="V1", site="S5").split()) in " ".join(said.split())
    best = max(audit.verdicts.rows(), key=lambda row: row["predicted"])
    assert re.search(rf"{best['variety']} +{best['site']} +{best['verdict']} +{best['predicted']:.4f}", said)
    assert (tmp_path / "audit.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (tmp_path / "audit.html").read_text(encoding="utf-8")


def test_what_the_page_shows_of_emmeans_and_lme4_is_what_r_says(tmp_path: Path) -> None:
    said = run("trial.R", tmp_path, "lme4", "emmeans")
    page = (FOLDER / "mixed-models.md").read_text(encoding="utf-8")
    for group in ("variety", "site", "variety:site", "Residual"):
        (variance,) = re.findall(rf"\b{group} +([0-9.]+)\n", said)[-1:]
        assert f"{float(variance):.3f} for" in page
    with (tmp_path / "trial-in-r.csv").open() as now, (FOLDER / "trial-in-r.csv").open() as stored:
        for ours, theirs in zip(csv.DictReader(now), csv.DictReader(stored), strict=True):
            for name, value in ours.items():
                try:
                    assert float(value) == pytest.approx(float(theirs[name]), abs=1e-4, nan_ok=True)
                except ValueError:
                    assert value == theirs[name]


def test_the_page_shows_the_script() -> None:
    script = (FOLDER / "audit.R").read_text(encoding="utf-8")
    for block in re.findall(r"```r\n(.*?)```", (FOLDER / "r.md").read_text(encoding="utf-8"), re.DOTALL)[1:]:
        for line in block.splitlines():
            assert line.removesuffix(")").removeprefix("table(") in script
