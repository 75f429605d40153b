"""What the tests of the laboratory share: every paper, judged once."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine.lab.papers import Reproduction, available, from_results

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def judged() -> dict[str, Reproduction]:
    """Every paper by name, judged on the committed results; claims are judged once for all tests."""
    return {name: from_results(paper, ROOT / "results") for name, paper in available().items()}
