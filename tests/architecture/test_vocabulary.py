"""Pages of the documentation that registries give are what the package says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

BUILD = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_vocabulary.py"))


@pytest.mark.parametrize("page", BUILD["PAGES"])
def test_a_written_page_is_fresh(page: str) -> None:
    text = (BUILD["ROOT"] / page).read_text(encoding="utf-8")
    assert text == BUILD["PAGES"][page](), "run python tools/build_vocabulary.py"
