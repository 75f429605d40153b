"""Reports in a browser: they sort, filter and answer under their policy, which lets no other script run."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recombine as rc

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = [pytest.mark.skipif(BROWSER is None, reason="needs a browser: install chromium"), pytest.mark.slow]
LEVELS = ["x\n::error::forged", "</script><script>ran=1</script>", "w\u202er", "<img src=x onerror=ran=1>", "ab", "cd"]
FORGED = "<script>window.ran = 1</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a table whose levels are hostile, two of its cells open."""
    pairs = [(i, j) for i, j in itertools.product(range(6), range(6)) if (i + j) % 3 and (i < 4) == (j < 4)]
    rows = [(LEVELS[i], LEVELS[::-1][(j + 2) % 6], i + 2.0 * j) for i, j in pairs]
    frame = pd.DataFrame(rows, columns=["a", "b<i>", "y"])
    audit = rc.audit(rc.Design.from_frame(frame, factors=["a", "b<i>"], outcome="y"))
    path = tmp_path_factory.mktemp("report") / "report.html"
    audit.to_html(path)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as tools:
        started = tools.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


def test_a_report_sorts_filters_and_answers_under_its_policy(browser: Any, report: Path) -> None:
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: None if request.url.startswith("file:") else problems.append(request.url))
    page.goto(report.as_uri())
    page.wait_for_selector("#ask table.found")
    assert page.evaluate("window.ran") is None
    rows = "#ask table.found tbody tr"
    everything = page.locator(rows).count()
    page.fill("#ask input.find", "\\u000a::error")
    assert 0 < page.locator(rows).count() < everything
    page.locator(f"{rows} >> nth=0").click()
    page.wait_for_selector("#ask .reply h4 .level")
    assert "\\u000a::error" in page.inner_text("#ask .reply h4")
    page.fill("#ask input.find", "")
    heads = page.locator("#coverage details table thead th button")
    page.evaluate("document.querySelectorAll('details').forEach((item) => item.open = true)")
    heads.first.click()
    levels = page.locator("#coverage details table tbody th").all_inner_texts()
    heads.first.click()
    assert page.locator("#coverage details table tbody th").all_inner_texts() == levels[::-1]
    page.locator(".sheet:visible").first.click()
    page.wait_for_function("document.querySelector('#ask .place').textContent.startsWith('Only ')")
    # Bars have the lengths that their styles say.
    assert page.evaluate("document.querySelector('.stack span').getBoundingClientRect().width") > 0
    assert problems == []
    page.close()


def test_no_other_script_runs_in_a_report(browser: Any, report: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged.html"
    text = report.read_text(encoding="utf-8")
    for policy, ran in ((True, None), (False, 1)):
        kept = text if policy else text.replace('http-equiv="Content-Security-Policy"', 'name="none"')
        forged.write_text(kept.replace("<main>", f"<main>{FORGED}"), encoding="utf-8")
        page = browser.new_page()
        page.goto(forged.as_uri())
        assert page.evaluate("window.ran ?? null") == ran
        page.close()
