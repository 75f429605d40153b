"""A served table in a real browser: map, certificate, levels by name, windows, painting, hostile names, 400 pixels."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
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
def served(*arguments: object, shown: bool = False, environment: dict[str, str] | None = None) -> Iterator[str]:
    command = [sys.executable, "-m", "recombine", "explore", *map(str, arguments), *([] if shown else ["--no-open"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


#: How the browser is started.
OPTIONS = {"executable_path": BROWSER, "args": ["--no-sandbox", "--disable-gpu"]}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as tools:
        yield tools.chromium


@pytest.fixture(scope="module")
def browser(chromium: Any) -> Iterator[Any]:
    started = chromium.launch(**OPTIONS)
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


@pytest.fixture(scope="module")
def grasps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Five objects in eight lights and seven poses; all that is unseen is of the last object."""
    path = tmp_path_factory.mktemp("tables") / "grasps.csv"
    rows = [(a, b, c) for a in range(5) for b in range(8) for c in range(7) if a < 4 or b + c < 12]
    path.write_text("object,light,pose,y\n" + "\n".join(f"o{a},l{b},p{c},{a + b / 3 - c}" for a, b, c in rows) + "\n")
    with served(path, "--factors", "object,light,pose", "--outcome", "y") as link:
        yield link


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Open a link; a request that leaves this machine or an error on the page fails the test."""
    problems: list[str] = []
    contexts = []

    def opened(link: str, width: int = 1280, scheme: str = "light", beside: Any = None) -> Any:
        """Open it in a browser without memories, or in another tab ``beside`` a page."""
        if beside is None:
            contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
            contexts[-1].set_default_timeout(90_000)  # on a busy machine
        page = (contexts[-1] if beside is None else beside.context).new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
        origin = link[: link.index("/", len("http://"))]
        page.on("request", lambda asked: None if asked.url.startswith(f"{origin}/") else problems.append(asked.url))
        page.goto(link)
        page.wait_for_function("() => document.documentElement.dataset.firstVerdict")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def says(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('.reply')?.textContent.includes(text)", arg=text)


def goes_to(page: Any, factor: str, name: str) -> None:
    box = page.get_by_label(f"Level of {factor}", exact=True)
    box.fill(name)
    box.press("Enter")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 760, 400])
def test_three_factors_open_at_what_is_unseen_and_fit(open_page: Open, grasps: str, width: int) -> None:
    page = open_page(grasps, width=width)
    page.wait_for_function("() => document.querySelector('[aria-label=\"Level of object\"]').value === 'o4'")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("text=Paint")
    page.wait_for_selector("#slices [aria-pressed=true]")
    assert page.inner_text("#slices [aria-pressed=true]").strip() == "object o4"
    assert page.locator("#preset").bounding_box()["width"] > 100
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_term_of_the_certificate_can_be_followed(open_page: Open, small: str) -> None:
    page = open_page(small)
    goes_to(page, "<b>kind</b>", "plain")
    goes_to(page, "site", "s1")
    says(page, "Its certificate")
    page.locator(".reply .term button").first.click()
    says(page, "There is training data for this combination.")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("late", ["window", "levels"])
def test_answers_out_of_turn_do_not_win(open_page: Open, sites: str, late: str) -> None:
    """The answer to the first of two choices comes after that to the second."""
    page = open_page(sites)
    goes_to(page, "site", "site 25")
    says(page, "site site 25, ")
    held: list[Any] = []
    # The first choice asks for one window; for the names of all levels, then for those that hold what was typed.
    matters = "text=site" if late == "levels" else "at="
    page.route(
        f"**/{late}?*",
        lambda route: held.append(route) if matters in route.request.url and not held else route.continue_(),
    )
    goes_to(page, "site", "site 2")
    for _ in range(500):
        if held:
            break
        page.wait_for_timeout(20)
    goes_to(page, "plot", "plot 5")
    says(page, "plot plot 5")
    with page.expect_response(held[0].request.url):
        held[0].continue_()
    page.wait_for_timeout(300)
    says(page, "site site 2, plot plot 5")


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


@pytest.mark.slow
@pytest.mark.parametrize("table", ["small", "sites"])
def test_what_was_painted_is_in_the_link(open_page: Open, request: pytest.FixtureRequest, table: str) -> None:
    page = open_page(request.getfixturevalue(table))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen = painted_one(page)
    misses = settled(page, "#errors")
    page.click("#copy")
    page.wait_for_function("() => document.querySelector('#toast').textContent.includes('in this browser only')")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "token" not in link
    other = open_page(link, beside=page)
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


@pytest.mark.slow
def test_paint_is_kept_before_anything_is_painted(open_page: Open, small: str) -> None:
    page = open_page(small)
    page.click("text=Paint")
    seen = seen_of(page)
    page.reload()
    assert seen_of(page) == seen
    assert page.is_visible("#seen")


@pytest.mark.slow
def test_the_command_that_repeats_the_run_is_shown(open_page: Open, sites: str, large: str) -> None:
    told = open_page(sites).locator(".told").inner_text()
    assert "--factors site,plot --outcome y --weight n --means" in told
    assert "factors and outcome only" in told  # what is dropped here is read by less
    assert "--factors user,item,day --outcome y" in open_page(large).locator(".told").inner_text()


@pytest.mark.slow
def test_what_to_collect_is_shown_by_a_press(open_page: Open, large: str) -> None:
    page = open_page(large)
    page.locator(".collect button").first.click()
    says(page, "disconnected")


@pytest.mark.slow
def test_nothing_sticks_out_at_400_pixels(open_page: Open, small: str, large: str) -> None:
    for link in (small, large):
        page = open_page(link, width=400)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(200)
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, scheme


@pytest.mark.slow
def test_the_token_is_gone_once_the_page_is_there(open_page: Open, small: str) -> None:
    page = open_page(f"{small}#at=0.2&sides=1.0")
    says(page, "site s2")
    origin, token = small.split("?token=")
    assert page.url == f"{origin}#at=0.2&sides=1.0"
    for script in (
        "performance.getEntries().map(entry => entry.name)",
        "navigation.entries().map(entry => entry.url)",
        "[document.referrer, document.cookie, document.documentElement.outerHTML]",
        "Object.values(localStorage).concat(Object.values(sessionStorage))",
    ):
        texts = page.evaluate(script)
        assert texts, script
        assert not any(token in text or "token=" in text for text in texts), script
    assert page.evaluate("document.cookie") == ""
    cookies = page.context.cookies()
    assert len(cookies) == 1
    port = origin.rsplit(":", 1)[1].strip("/")
    flags = {"name": f"recombine-{port}", "domain": "127.0.0.1", "path": "/", "expires": -1, "secure": False}
    assert {name: cookies[0][name] for name in flags} == flags
    assert (cookies[0]["httpOnly"], cookies[0]["sameSite"]) == (True, "Strict")
    assert cookies[0]["value"] not in (token, *page.evaluate("Object.values(localStorage)"))
    page.reload()
    says(page, "site s2")
    page.goto("about:blank")
    page.go_back()
    says(page, "site s2")
    assert page.url == f"{origin}#at=0.2&sides=1.0"


@pytest.mark.slow
def test_the_link_opens_it_again_in_a_tab_beside_and_in_another_browser(open_page: Open, small: str) -> None:
    page = open_page(small)
    for other in (open_page(small, beside=page), open_page(small), open_page(page.url, beside=page)):
        assert "determined 3" in other.inner_text(".tally").replace("\n", " ")
    page.reload()
    page.wait_for_selector(".tally")


@pytest.mark.slow
def test_a_browser_with_the_cookie_alone_is_told_what_to_do(browser: Any, open_page: Open, small: str) -> None:
    page = open_page(small)
    context = browser.new_context()
    context.add_cookies(page.context.cookies())
    other = context.new_page()
    other.goto(small.partition("?")[0])
    other.wait_for_selector(".fault")
    text = other.inner_text("body")
    assert "open the link as it was printed" in text
    assert "small.csv" not in other.content()
    assert not other.is_visible("#seen")
    context.close()


@pytest.mark.slow
def test_a_browser_that_keeps_nothing_is_told_so(browser: Any, small: str) -> None:
    context = browser.new_context()
    blocked = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no storage'); } })"
    context.add_init_script(blocked)
    page = context.new_page()
    page.goto(small)
    page.wait_for_url(small.partition("?")[0])
    page.wait_for_selector(".fault")
    assert "no storage" in page.inner_text("body")
    context.clear_cookies()
    page.reload()
    assert "this browser keeps no cookies; open the link as it was printed" in page.inner_text("body")
    context.close()


@pytest.mark.slow
def test_the_file_leads_to_the_page_and_history_keeps_nothing_that_opens_it(chromium: Any, tmp_path: Path) -> None:
    """The link that is printed is not opened; what is in the file works once."""
    script, shown = tmp_path / "browser", tmp_path / "shown"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {shown}.part && mv {shown}.part {shown}\n')
    script.chmod(0o755)
    table = tmp_path / "secret.csv"
    table.write_text("a,b,y\nx,u,1\nx,v,2\nw,u,3\n")
    environment = {**os.environ, "BROWSER": str(script), "TMPDIR": str(tmp_path)}
    arguments = (table, "--factors", "a,b", "--outcome", "y")
    profile = tmp_path / "profile"
    with served(*arguments, shown=True, environment=environment) as link:
        while not shown.exists():
            time.sleep(0.05)
        with chromium.launch_persistent_context(profile, **OPTIONS) as context:
            page = context.new_page()
            page.goto(shown.read_text())
            page.wait_for_url(link.partition("?")[0])
            page.wait_for_selector(".tally")
            page.reload()
            page.wait_for_selector(".tally")
            assert page.evaluate("history.length") <= 3
        token = link.partition("token=")[2]
        kept = set()
        for path in profile.rglob("*"):
            if path.is_file():
                assert token.encode() not in path.read_bytes()
                kept |= set(re.findall(rb"/\?token=([\w-]{43})", path.read_bytes()))
        for ticket in kept:
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"{link.partition('token=')[0]}token={ticket.decode()}", timeout=20)


@pytest.mark.slow
def test_another_site_reads_nothing(browser: Any, small: str, tmp_path: Path) -> None:
    """With the token stolen even: its page can neither frame the link nor read an answer."""
    path = tmp_path / "evil.html"
    path.write_text(
        "<script>const end = () => document.title = 'refused', ok = () => document.title = 'read';"
        f"fetch('{small}', {{credentials: 'include'}}).then(ok, end)</script><iframe src='{small}'></iframe>"
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("() => document.title")
    assert page.title() == "refused"
    assert all("recombine-key" not in frame.content() for frame in page.frames[1:])
    page.close()


@pytest.mark.slow
def test_a_program_at_another_port_gets_the_cookie_but_no_data(open_page: Open, browser: Any, small: str) -> None:
    """Browsers send cookies to all ports of a machine: another user may listen at one of them."""
    heard: list[str] = []
    origin = small.partition("/?")[0]
    evil = """<script>
      const ask = (path, options) =>
        fetch(ORIGIN + path, {credentials: "include", ...options}).then(answer => answer.text(), String);
      const forged = {headers: {"x-recombine-key": "x"}}, blind = {mode: "no-cors"};
      Promise.all([ask("/"), ask("/table"), ask("/table", blind), ask("/table", forged)])
        .then(texts => { window.texts = [...texts, ...Object.values(localStorage)]; document.title = "done"; });
    </script><iframe src=ORIGIN></iframe>""".replace("ORIGIN", f'"{origin}"')

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("cookie", ""))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(evil.encode())

        def log_message(self, *_: object) -> None:
            pass

    page = open_page(small)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        other = page.context.new_page()
        other.goto(f"http://127.0.0.1:{server.server_port}/")
        other.wait_for_function("() => document.title === 'done'")
        texts = other.evaluate("window.texts")
        framed = [frame.content() for frame in other.frames[1:]]
        server.shutdown()
    assert f"recombine-{origin.rsplit(':', 1)[1]}=" in heard[0], "so it is that the cookie is not enough"
    assert not any("site" in text or "recombine-key" in text for text in [*texts, *framed])
    with urllib.request.urlopen(urllib.request.Request(origin, headers={"cookie": heard[0]}), timeout=20) as answer:
        assert "small.csv" not in answer.read().decode()
    for path in ("/table", "/cell?at=0,0", "/levels?factor=0"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(f"{origin}{path}", headers={"cookie": heard[0]}), timeout=20)
