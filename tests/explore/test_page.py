"""The built page: one file that asks for nothing, small, and with the verdicts of the package."""

from __future__ import annotations

import gzip
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from recombine.explore import page_path
from recombine.verdicts import Verdict

LARGEST = 75_000
TEXT = page_path().read_text(encoding="utf-8")
SOURCES = Path(__file__).parents[2] / "page" / "src"


def test_the_page_is_small() -> None:
    assert len(gzip.compress(TEXT.encode(), 9, mtime=0)) <= LARGEST


def test_nothing_outside_is_asked_for() -> None:
    asked = re.findall(r"(?:src|href)\s*=\s*[\"']?([^\"'\s>]*)", TEXT.split("<script>")[0])
    assert [address for address in asked if address != "data:," and not address.startswith("#")] == []
    assert not re.search(
        r"https?://|(?<![\w.])(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import)\s*\(", TEXT
    )
    assert not re.search(r"@import|url\(", TEXT)


def test_the_browser_is_told_to_refuse_requests() -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', TEXT)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "connect-src" not in policy[1]


@pytest.mark.parametrize("verdict", Verdict)
def test_verdicts_look_as_everywhere(verdict: Verdict) -> None:
    found = re.search(rf'code:{int(verdict)},word:"([^"]*)",symbol:"([^"]*)",colour:"([^"]*)",meaning:"([^"]*)"', TEXT)
    assert found is not None
    assert found.groups() == (verdict.word, verdict.symbol, verdict.colour, verdict.meaning)
    assert f"--v{int(verdict)}: {verdict.colour}" in TEXT, "its colour in the style sheet"


@pytest.mark.skipif(not SOURCES.exists(), reason="the page's sources are not here")
def test_what_is_built_belongs_to_the_sources() -> None:
    """Says without node what ``node page/tools/build.mjs --check`` says with it; the texts are read as that does."""
    root = SOURCES.parents[1]
    built = json.loads((root / "page" / "built.json").read_text(encoding="utf-8"))
    names = [path.relative_to(root / "page").as_posix() for path in SOURCES.rglob("*") if path.is_file()]
    digest = sha256()
    for name in sorted([*names, "package-lock.json", "tools/build.mjs", "../src/recombine/sheets/rules.json"]):
        digest.update(name.encode())
        digest.update((root / "page" / name).read_bytes().replace(b"\r\n", b"\n"))
    assert built.pop("sources") == digest.hexdigest(), "the sources have changed; run: npm --prefix page run build"
    for name, found in built.items():
        assert sha256((root / name).read_bytes()).hexdigest() == found, f"{name} was changed by hand; build it again"


@pytest.mark.skipif(not SOURCES.exists(), reason="the page's sources are not here")
def test_its_sources_are_short() -> None:
    long = [path.name for path in SOURCES.rglob("*.ts") if len(path.read_text(encoding="utf-8").splitlines()) > 400]
    assert long == []
