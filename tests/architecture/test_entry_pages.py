"""Every finding, cause and structure has its page with an example that raises it, and every rate its row."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from recombine.data import hit_rates
from recombine.jobs.findings import FINDINGS
from recombine.jobs.score.causes import CAUSES
from recombine.registry import help_address
from recombine.theory.structures import simplest_first

ROOT = Path(__file__).parents[2]
TOOLS = str(ROOT / "tools")
NAMES = {
    "finding": [kind.code for kind in FINDINGS],
    "cause": [cause.name for cause in CAUSES],
    "structure": [structure.name for structure in simplest_first()],
}
RATES = (ROOT / "docs" / "rates.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rates() -> dict[str, object]:
    sys.path.insert(0, TOOLS)
    try:
        return runpy.run_path(str(ROOT / "tools" / "rates.py"))
    finally:
        sys.path.remove(TOOLS)


@pytest.mark.parametrize("what", NAMES)
def test_pages_are_those_of_the_entries(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_DOCS", "https://docs.example")
    wanted = {help_address(what, name) for name in NAMES[what]}
    folder = ROOT / "docs" / f"{what}s"
    assert {f"https://docs.example/{what}s/{page.stem}.html" for page in folder.glob("*.md")} == wanted


@pytest.mark.parametrize("code", NAMES["finding"])
def test_the_example_of_a_finding_raises_it(code: str) -> None:
    example = (ROOT / "docs" / "findings" / f"{code}.md").read_text(encoding="utf-8").partition("## Example")[2]
    assert re.search(rf"^{code} {FINDINGS[code].title.split()[0]}", example, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES["cause"])
def test_the_example_of_a_cause_has_an_amount(name: str) -> None:
    page = ROOT / "docs" / "causes" / f"{name.replace(' ', '-')}.md"
    amount = re.search(r"^(\d+\.\d+), 95 % range", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert amount is not None
    assert float(amount[1]) > 0


@pytest.mark.parametrize("name", NAMES["structure"])
def test_the_example_of_a_structure_predicts_better_than_others(name: str) -> None:
    text = (ROOT / "docs" / "structures" / f"{name}.md").read_text(encoding="utf-8")
    misses = {said: float(number) for said, number in re.findall(r"^([a-z -]+): off by (\S+)$", text, re.MULTILINE)}
    assert len(misses) > 1
    assert min(misses, key=lambda said: misses[said]) == name


@pytest.mark.parametrize("sentence", hit_rates()["sentences"])
def test_every_sentence_with_a_rate_has_its_row(sentence: str, rates) -> None:
    rate = hit_rates()["sentences"][sentence]
    constant = f"{100 * rate['constant']:.0f} %" if "constant" in rate else "–"
    assert f"| {sentence} | {rate['says']} | {rate['right']} of {rate['of']} | {constant} |" in RATES
    command = rates["source_of"](sentence).command
    assert " ".join(command.split()) in " ".join(RATES.split())
    assert (ROOT / command.split()[1]).is_file()


@pytest.mark.parametrize("case", hit_rates()["ranges"])
def test_every_range_has_its_row(case: str) -> None:
    for kind, entry in hit_rates()["ranges"][case].items():
        assert f"| {case} | {kind} | {entry['low']:.2f} to {entry['high']:.2f} |" in RATES
        assert f"| {entry['held']} of {entry['trials']} |" in RATES


@pytest.mark.parametrize("code", NAMES["finding"])
def test_a_rate_in_the_words_of_a_finding_has_its_row(code: str, rates) -> None:
    quoted = re.findall(r"\b(\d+) of (\d+)\b(?!,\d)", FINDINGS[code].meaning)
    apart = [row for row in rates["counted_apart"]() if row.code == code]
    assert not quoted or apart
    for right, of in quoted:
        assert f"{right} of {of}" in apart[0].right
    for row in apart:
        assert (ROOT / row.command.split()[1]).is_file()
        assert row.right in RATES


def test_the_page_of_causes_ranges_is_of_every_cause(rates) -> None:
    assert {row[0].partition("]")[0][1:] for row in rates["cause_rows"]()} == set(NAMES["cause"])


def test_the_pictures_of_concepts_are_what_the_tool_draws() -> None:
    build = runpy.run_path(str(ROOT / "tools" / "build_concepts.py"))
    for name, draw in build["PICTURES"].items():
        assert (build["FOLDER"] / name).read_text(encoding="utf-8") == draw(), "run python tools/build_concepts.py"
