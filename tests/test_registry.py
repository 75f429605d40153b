"""A registry keeps its order, refuses a name twice, and forgets what a test registered."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from recombine.errors import InputError
from recombine.registry import Registry


def entry(name: str) -> SimpleNamespace:
    return SimpleNamespace(name=name)


def test_entries_keep_the_order_in_which_they_were_added():
    registry = Registry("cause", [entry("leak"), entry("echo")])
    registry.add(entry("arc"))
    assert registry.names == ("leak", "echo", "arc")
    assert [member.name for member in registry] == ["leak", "echo", "arc"]
    assert len(registry) == 3
    assert "arc" in registry
    assert "bow" not in registry


def test_a_name_is_taken_once():
    registry = Registry("cause", [entry("leak")])
    with pytest.raises(ValueError, match="two causes are named 'leak'"):
        registry.add(entry("leak"))


def test_an_unknown_name_is_refused_with_its_near_miss():
    with pytest.raises(InputError, match="cause 'leek' is unknown; did you mean 'leak'"):
        Registry("cause", [entry("leak")])["leek"]


def test_what_a_test_registered_is_gone_after_it_even_when_it_fails():
    registry = Registry("cause", [entry("leak")])
    echo = entry("echo")
    with registry.registered(echo):
        assert registry["echo"] is echo
    assert registry.names == ("leak",)
    with pytest.raises(RuntimeError), registry.registered(echo):
        raise RuntimeError
    assert registry.names == ("leak",)


def test_entries_may_be_named_by_another_attribute():
    registry = Registry("finding", [SimpleNamespace(code="RC101")], key=lambda finding: finding.code)
    assert registry["RC101"].code == "RC101"
