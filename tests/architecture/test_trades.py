"""Tutorials of trades: short, with pictures, found from the first pages, on tables that a script draws anew alike."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "for"
PAGES = ("screens", "experiments", "splits", "mixed-models")


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_takes_ten_minutes_and_shows_what_it_says(page: str) -> None:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1_200
    pictures = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", text)
    assert len(pictures) >= 3
    for says, name in pictures:
        assert len(says) > 20
        assert 2_000 < (FOLDER / name).stat().st_size < 120_000
    assert f"for/{page}.md" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"docs/for/{page}.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    for other in set(PAGES) - {page}:
        assert f"({other}.md)" in text


def test_what_is_said_of_open_arms_was_counted() -> None:
    counted = json.loads((ROOT / "results" / "for" / "open-arms.json").read_text(encoding="utf-8"))
    text = " ".join((FOLDER / "experiments.md").read_text(encoding="utf-8").split())
    share, few = counted["share in the 90 % range"], counted["tables of which less than half are"]
    assert (
        f"in {counted['tables']} other draws of this table they held {share['disconnected']:.0%} of open arms, "
        f"in {few['disconnected']} of them less than half; those of predictable arms held {share['determined']:.0%}"
    ).replace("%", " %") in text


def test_every_picture_and_table_is_used() -> None:
    texts = " ".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    for path in FOLDER.iterdir():
        assert path.suffix == ".md" or path.name in texts, path.name


def test_tables_are_what_their_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tables = import_module("build_trade_tables")
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    tables.main()
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["episodes.csv", "landing.csv", "pairs.csv", "profiles.csv", "trial.csv", "wells.csv"]
    for name in written:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    sys.modules.pop("build_trade_tables")
