"""What terminals and logs show: no name of the data makes a line of its own, or a command."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest

import recombine as rc
from recombine.report.layout import Line, Section, ShownTable, text_grid
from recombine.report.screen import plain_text, result_text

FORGED = ["x\n::error title=forged::pwned", "r\n\nFindings\n  none", "::add-mask::e", "e ##[error]forged", "b \x1b[31m"]


@pytest.fixture(scope="module")
def forging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose levels hold line ends and commands of builds."""
    path = tmp_path_factory.mktemp("names") / "gh.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow("aby")
        for i, j in itertools.product(range(5), range(5)):
            if (i + j) % 3:
                writer.writerow([FORGED[i], FORGED[(j + 2) % 5], i + 2 * j + 3 * (i == 0 and j == 1)])
    return path


@pytest.mark.parametrize("width", [30, 80, 110])
def test_no_level_forges_a_line_of_a_report(forging: Path, width: int) -> None:
    audit = rc.audit(rc.Design.from_frame(forging, factors=["a", "b"], outcome="y"))
    text = result_text(audit, width=width)
    assert "\\u000a::error" in "".join(text.split())
    lines = text.splitlines()
    assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line or "\x1b" in line]
    assert lines.count("Findings") == 1
    # What begins inside a name is indented further than any line of ours begins.
    assert not [line for line in lines if line.startswith(("Findings", "  none")) and line.strip() != "Findings"]


def test_a_level_can_be_asked_about_as_it_is_written(forging: Path) -> None:
    audit = rc.audit(rc.Design.from_frame(forging, factors=["a", "b"], outcome="y"))
    text = audit.explain(["x\\u000a::error title=forged::pwned", "\\u003a:add-mask::e"])
    assert text == audit.explain([FORGED[0], FORGED[2]])
    assert [line[:2] for line in text.splitlines()[1:]] == ["  "] * text.count("\n")


@pytest.mark.parametrize("width", [24, 40, 80])
def test_lines_after_the_first_are_indented_beyond_those_of_sections(width: int) -> None:
    name = "word " * 60 + "z" * 200
    blocks: list[str | Line | ShownTable | None] = [
        name,
        Line(name, "bold"),
        text_grid([[name, "1"]], ["cell", "n"], numbers=1),
    ]
    shown = plain_text([Section(f"title {name}", blocks), Section(f"other {name}", blocks)], width)
    started = [line for line in shown.splitlines() if line and not line.startswith("    ")]
    assert sum(line.startswith("  cell") for line in started) == 2
    assert len(started) == 2 * (1 + 2 + 2)
