"""Two states of the package are compared by every number and code, and by no sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
DOCUMENT = {"schema": 1, "counts": {"seen": 3}, "cells": [{"verdict": "seen", "low": 0.5}], "statement": "Three."}


@pytest.fixture(scope="module")
def same_numbers() -> Iterator[ModuleType]:
    sys.path.insert(0, str(TOOLS))
    try:
        yield import_module("same_numbers")
    finally:
        sys.path.remove(str(TOOLS))


def changed(**fields: Any) -> dict[str, Any]:
    return {**DOCUMENT, **fields}


def test_sentences_and_versions_may_change(same_numbers: ModuleType) -> None:
    after = changed(schema=2, statement="3 of them.", cells=[{"verdict": "seen", "low": 0.5 * (1 + 1e-14)}])
    assert list(same_numbers.differences(DOCUMENT, after)) == []
    long = "a text of more than five words", "another text, of six words or so"
    assert list(same_numbers.differences(*long)) == []
    assert list(same_numbers.differences("two words", "too, words")) != []


@pytest.mark.parametrize(
    ("after", "path"),
    [
        (changed(counts={"seen": 4}), ".counts.seen"),
        (changed(cells=[{"verdict": "seen", "low": 0.5 + 1e-10}]), ".cells[0].low"),
        (changed(cells=[{"verdict": "determined", "low": 0.5}]), ".cells[0].verdict"),
        (changed(cells=[{"verdict": "seen", "low": None}]), ".cells[0].low"),
        (changed(cells=[]), ".cells"),
        (changed(cells=[{"verdict": "seen"}]), ".cells[0].low"),
        (changed(new=1), ".new"),
        (changed(counts=True), ".counts"),
    ],
)
def test_anything_else_is_named_by_its_path(same_numbers: ModuleType, after: Any, path: str) -> None:
    assert [line.partition(":")[0] for line in same_numbers.differences(DOCUMENT, after)] == [path]


def test_what_was_renamed_on_purpose_is_the_same(same_numbers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(same_numbers.RENAMED_KEYS, "counts", "numbers")
    monkeypatch.setitem(same_numbers.RENAMED_CODES, "seen", "SEEN")
    after = {"numbers": {"SEEN": 3}, "cells": [{"verdict": "SEEN", "low": 0.5}]}
    assert list(same_numbers.differences(DOCUMENT, after)) == []
    after["numbers"] = {"SEEN": 2}
    assert list(same_numbers.differences(DOCUMENT, after)) == [".numbers.SEEN: 3 before, 2 after"]


def test_differences_and_failures_end_with_1(same_numbers: ModuleType, tmp_path: Path) -> None:
    files = tmp_path / "before.json", tmp_path / "after.json"
    given = ["--before", str(files[0]), "--after", str(files[1])]
    for after, code in ((DOCUMENT, 0), (changed(counts={"seen": 4}), 1)):
        for path, document in zip(files, (DOCUMENT, after), strict=True):
            path.write_text(json.dumps({"audit": document}))
        assert same_numbers.main(given) == code
    for path in files:
        path.write_text(json.dumps({"audit": {"code": 2, "complaint": "no such file"}}))
    assert same_numbers.main(given) == 1


def test_an_option_keeps_the_words_of_its_value_together(same_numbers: ModuleType) -> None:
    arguments = same_numbers.cases("split sums level")["split sums level"]
    assert arguments[arguments.index("--test") + 1] == "unseen level:0.1,seen:0.1"
