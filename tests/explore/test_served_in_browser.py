"""A served table in a real browser: map, certificate, levels by name, windows, painting, hostile names, 400 pixels."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
pytest.importorskip("starlette", reason="needs the extra explore")
BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a browser: install chromium")

HOSTILE = ["<img src=x onerror=window.hacked=1>", "</script><b>", "a\nb", "‮back", 'say "x"', "plain"]
Open = Callable[..., Any]


@contextmanager
def served(*arguments: object) -> Iterator[str]:
    command = [sys.executable, "-m", "recombine", "explore", *map(str, arguments), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as tools:
        started = tools.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Six hostile levels by three, of which one is known from the others by three seen cells only."""
    path = tmp_path_factory.mktemp("tables") / "small.csv"
    rows = [(a, b, a + 2 * b) for a in range(6) for b in range(3) if (a, b) not in ((5, 1), (5, 2), (4, 2))]
    lines = ['"{}",s{},{}'.format(HOSTILE[a].replace('"', '""'), b, y) for a, b, y in rows]
    path.write_text("<b>kind</b>,site,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with served(path, "--factors", "<b>kind</b>,site", "--outcome", "y") as link:
        yield link


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Ten blocks of sixty levels by sixty: nothing connects them."""
    path = tmp_path_factory.mktemp("tables") / "large.csv"
    rows = [(a, (a // 60) * 60 + (a * 7 + k * k) % 60, k) for a in range(600) for k in range(6)]
    lines = [f"u{a:03},i{b:03},d{k % 2},{a + b}" for a, b, k in rows]
    path.write_text("user,item,day,y\n" + "\n".join(lines) + "\n")
    with served(path, "--factors", "user,item,day", "--outcome", "y") as link:
        yield link


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Thirty numbered sites by forty plots: more cells than a link has room for values. Rows are means of n."""
    path = tmp_path_factory.mktemp("tables") / "sites.csv"
    rows = [(a, b, a + b + (a * b % 7) / 9, 2 + a) for a in range(30) for b in range(40) if (a * 3 + b * 5) % 7]
    path.write_text("site,plot,y,n\n" + "\n".join(f"site {a},plot {b},{y},{n}" for a, b, y, n in rows) + "\n")
    with served(path, "--factors", "site,plot", "--outcome", "y", "--weight", "n", "--means") as link:
        yield link


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Open a link; a request that leaves this machine or an error on the page fails the test."""
    problems: list[str] = []
    contexts = []

    def opened(link: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.set_default_timeout(90_000)  # on a busy machine
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
        origin = link.partition("?")[0]
        page.on("request", lambda asked: None if asked.url.startswith(origin) else problems.append(asked.url))
        page.goto(link)
        page.wait_for_function("() => document.documentElement.dataset.firstVerdict")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def says(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('.reply').textContent.includes(text)", arg=text)


def goes_to(page: Any, factor: str, name: str) -> None:
    box = page.get_by_label(f"Level of {factor}", exact=True)
    box.fill(name)
    box.press("Enter")


def test_a_cell_is_asked_about_by_pointer_and_keys(open_page: Open, small: str) -> None:
    page = open_page(small)
    assert "determined 3" in page.inner_text(".tally").replace("\n", " ")
    goes_to(page, "<b>kind</b>", "plain")
    goes_to(page, "site", "s2")
    says(page, "determined")
    says(page, "Its certificate: =")
    reply = page.inner_text(".reply")
    assert "predicted y 9" in reply.replace("\n", " ")
    assert reply.count(" · ") == 3
    page.focus("canvas.near")
    page.keyboard.press("Home")
    says(page, ": seen")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".served b").filter(has_text="kind").count() == 0


def test_a_term_of_the_certificate_can_be_followed(open_page: Open, small: str) -> None:
    page = open_page(small)
    goes_to(page, "<b>kind</b>", "plain")
    goes_to(page, "site", "s1")
    says(page, "Its certificate")
    page.locator(".reply .term button").first.click()
    says(page, "There is training data for this combination.")


def test_a_small_table_is_painted_on(open_page: Open, small: str) -> None:
    page = open_page(small)
    page.click("text=Paint")
    page.wait_for_function("() => document.querySelector('#legend')?.textContent.includes('determined 3')")
    page.focus("#seen")
    for key in ("ArrowDown", "Space"):
        page.keyboard.press(key)
    page.wait_for_function("() => /seen 1[46]/.test(document.querySelector('#legend').textContent)")
    page.click("text=What the data say")
    assert page.is_visible("canvas.near")
    assert "15" in page.inner_text(".tally")


def test_a_large_map_is_seen_through_windows(open_page: Open, large: str) -> None:
    page = open_page(large)
    assert "Painting is off: user has 600 levels, the page shows 100." in page.inner_text(".told")
    assert "of 600" in page.inner_text(".pager")
    page.wait_for_function("() => document.querySelector('canvas.far').width > 0")
    before = page.inner_text(".pager")
    page.get_by_label("columns after").click()
    page.wait_for_function("before => document.querySelector('.pager').textContent !== before", arg=before)
    goes_to(page, "item", "i599")
    says(page, "i599")
    goes_to(page, "user", "u000")
    says(page, "u000")
    says(page, "disconnected")
    page.keyboard.press("Escape")
    page.focus("canvas.near")
    page.keyboard.press("PageDown")
    page.wait_for_function("() => !document.querySelector('.reply').textContent.includes('u000')")


def test_enter_takes_the_name_in_the_box_and_moves_nothing_else(open_page: Open, sites: str) -> None:
    page = open_page(sites)
    box = page.get_by_label("Level of site", exact=True)
    goes_to(page, "site", "site 5")
    says(page, "site site 5,")
    for again in ("", "site 5", "SITE 5"):
        box.click()
        if again:
            page.keyboard.press("Control+A")
            page.keyboard.type(again)
            page.wait_for_function("() => document.querySelectorAll('.matches:not([hidden]) li').length === 1")
        else:
            page.wait_for_selector(".matches:not([hidden]) li")
        assert page.inner_text('.matches li[aria-selected="true"]') == "site 5"
        box.press("Enter")
        page.wait_for_timeout(150)
        assert box.input_value() == "site 5"
        assert "site site 5," in page.inner_text(".reply")
    goes_to(page, "site", "site 1")
    says(page, "site site 1,")


def test_levels_stand_by_name_with_numbers_by_size(open_page: Open, sites: str) -> None:
    page = open_page(sites)
    page.select_option(".sides select >> nth=2", label="by name, numbers by size")
    box = page.get_by_label("Level of plot", exact=True)
    box.click()
    page.wait_for_selector(".matches:not([hidden]) li")
    assert page.locator(".matches:not([hidden]) li").all_inner_texts()[:12] == [f"plot {b}" for b in range(12)]
    goes_to(page, "plot", "plot 9")
    says(page, "plot plot 9:")
    page.get_by_label("plot: level after").click()
    says(page, "plot plot 10:")
    page.focus("canvas.near")
    page.keyboard.press("ArrowRight")
    says(page, "plot plot 11:")


def test_rows_that_are_means_say_of_how_many_measurements(open_page: Open, sites: str) -> None:
    page = open_page(sites)
    assert "training rows (" in page.inner_text(".told")
    assert "measurements)" in page.inner_text(".told")
    goes_to(page, "site", "site 5")
    goes_to(page, "plot", "plot 5")
    says(page, "plot plot 5: seen")
    assert "rows 1 measurements 7" in " ".join(page.inner_text(".reply .facts").split())
    goes_to(page, "plot", "plot 4")
    says(page, "a proof by few cells")
    reply = page.inner_text(".reply")
    assert reply.count("in units of one measurement's") == 2


def painted_one(page: Any) -> str:
    """Paint or erase one cell, and return the number of seen cells as the legend says it."""
    page.click("text=Paint")
    before = seen_of(page)
    page.focus("#seen")
    for key in ("ArrowDown", "Space"):
        page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('#legend').textContent.match(/seen ([0-9,]+)/)[1] !== before", arg=before
    )
    return seen_of(page)


def settled(page: Any, place: str) -> str:
    """What stands there once it has not changed for a second: the network answers after the brush."""
    now, before = page.inner_text(place), None
    while now != before or not now:
        page.wait_for_timeout(1000)
        now, before = page.inner_text(place), now
    return str(now)


def seen_of(page: Any) -> str:
    page.wait_for_function("() => /seen [0-9]/.test(document.querySelector('#legend').textContent)")
    return str(page.evaluate("document.querySelector('#legend').textContent.match(/seen ([0-9,]+)/)[1]"))


@pytest.mark.parametrize("table", ["small", "sites"])
def test_what_was_painted_is_in_the_link(open_page: Open, request: pytest.FixtureRequest, table: str) -> None:
    page = open_page(request.getfixturevalue(table))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen = painted_one(page)
    misses = settled(page, "#errors")
    page.click("#copy")
    page.wait_for_function("() => document.querySelector('#toast').textContent.includes('on this machine only')")
    link = page.evaluate("navigator.clipboard.readText()")
    other = open_page(link)
    assert seen_of(other) == seen
    assert other.is_visible("#seen")
    assert settled(other, "#errors") == misses
    page.reload()
    assert seen_of(page) == seen
    assert page.is_visible("#seen")
    # Each way has a link of its own, and going back finds the painting again.
    page.click("text=What the data say")
    goes_to(page, "site", "1")
    page.wait_for_timeout(600)
    assert "at=" in page.evaluate("location.hash")
    page.click("text=Paint")
    assert seen_of(page) == seen
    page.reload()
    assert seen_of(page) == seen
    page.evaluate("location.hash = '#at=0.0&sides=0.1'")
    page.wait_for_selector("canvas.near")
    says(page, ":")


def test_paint_is_kept_before_anything_is_painted(open_page: Open, small: str) -> None:
    page = open_page(small)
    page.click("text=Paint")
    seen = seen_of(page)
    page.reload()
    assert seen_of(page) == seen
    assert page.is_visible("#seen")


def test_the_command_that_repeats_the_run_is_shown(open_page: Open, sites: str, large: str) -> None:
    told = open_page(sites).locator(".told").inner_text()
    assert "--factors site,plot --outcome y --weight n --means" in told
    assert "factors and outcome only" in told  # what is dropped here is read by less
    assert "--factors user,item,day --outcome y" in open_page(large).locator(".told").inner_text()


def test_what_to_collect_is_shown_by_a_press(open_page: Open, large: str) -> None:
    page = open_page(large)
    page.locator(".collect button").first.click()
    says(page, "disconnected")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_at_400_pixels(open_page: Open, small: str, large: str, scheme: str) -> None:
    for link in (small, large):
        page = open_page(link, width=400, scheme=scheme)
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_another_site_reads_nothing(browser: Any, small: str, tmp_path: Path) -> None:
    """With the token stolen even: its page can neither frame the link nor read an answer."""
    path = tmp_path / "evil.html"
    cell = small.replace("/?", "/cell?at=0,0&")
    path.write_text(
        f"<script>fetch('{cell}').then(() => document.title = 'read', () => document.title = 'refused')</script>"
        f"<iframe src='{small}'></iframe>"
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("() => document.title")
    assert page.title() == "refused"
    assert all("served-table" not in frame.content() for frame in page.frames[1:])
    page.close()
