"""``recombine explore``: where the page is, and that it is opened unless one says no."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from recombine.explore import page_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    return addresses


def test_the_page_is_opened(run, opened) -> None:
    code, out, err = run("explore")
    assert (code, err) == (0, "")
    assert Path(out.strip()) == page_path()
    assert opened == [page_path().as_uri()]


def test_it_can_be_told_only_where_it_is(run, opened) -> None:
    assert run("explore", "--no-open")[0] == 0
    assert opened == []


def test_a_machine_without_a_browser_is_told_what_to_do(run, monkeypatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    code, out, _ = run("explore")
    assert code == 0
    assert "open this file" in out
