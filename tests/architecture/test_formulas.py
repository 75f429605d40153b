"""Formulas of the docs: every one becomes MathML, which browsers draw without a network."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from latex2mathml.converter import convert

DOCS = Path(__file__).parents[2] / "docs"
FENCES = re.compile(r"^(`{3,}).*?^\1`*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\w\\$])\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\d)", re.DOTALL)
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts and "generated" not in path.parts)


def formulas(path: Path) -> list[str]:
    text = FENCES.sub("", path.read_text(encoding="utf-8"))
    return [block or inline for block, inline in FORMULA.findall(text)]


@pytest.mark.parametrize("path", [path for path in PAGES if formulas(path)], ids=lambda path: path.stem)
def test_formulas_become_mathml(path: Path) -> None:
    for formula in formulas(path):
        written = "".join(ElementTree.fromstring(convert(formula)).itertext())
        assert "\\" not in written, f"{path.name}: ${formula}$ has a command that is not drawn"
        assert written.strip()


def test_there_are_formulas() -> None:
    assert sum(len(formulas(path)) for path in PAGES) > 20
