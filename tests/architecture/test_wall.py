"""The wall: nothing outside the laboratory imports it or names it, but the root's and the commands' tables."""

from __future__ import annotations

import ast

import pytest

import measures

#: Tables that name what users may ask for, without importing it.
TABLES = ("recombine", "recombine.cli.commands")
OUTSIDE = sorted(set(measures.modules()) - measures.lab())


def mentions(tree: ast.Module) -> list[str]:
    """Texts of a module, docstrings too, that name the laboratory."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [text for text in texts if "recombine.lab" in text or "rc.lab" in text]


@pytest.mark.slow
def test_nothing_outside_imports_the_lab() -> None:
    """Imports for types count: whoever needs a type of the laboratory stands on the wrong side."""
    found = {
        name: sorted(target for target in measures.imports(name, types=True) if target in measures.lab())
        for name in OUTSIDE
        if name != "recombine"
    }
    assert {name: targets for name, targets in found.items() if targets} == {}


@pytest.mark.slow
def test_only_two_tables_name_the_lab() -> None:
    named = {name for name in OUTSIDE if mentions(measures.tree(name))}
    assert named == {"recombine.cli.commands"}
    assert "lab" in measures.contents("recombine")


@pytest.mark.parametrize("text", ['"""See `recombine.lab.nets`."""', 'open("recombine.lab.papers:x")', 'f"rc.lab{1}"'])
def test_the_check_finds_a_mention(text: str) -> None:
    assert mentions(ast.parse(text))


def test_an_audit_loads_nothing_of_the_lab() -> None:
    loaded = measures.loaded_by_audit()
    assert "recombine.jobs.audit.audit" in loaded
    assert loaded & measures.lab() == set()
