"""The page in a real browser: brush, keys, pointer, link, undo, own data, hostile names, narrow screens, dark."""

from __future__ import annotations

import json
import os
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.cells.conjunctions import every_cell
from recombine.explore import page_path
from recombine.explore.scene import painted
from recombine.verdicts import Verdict

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a browser: install chromium")

ISLANDS = "seen 16 determined 25 disconnected 40"
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as tools:
        started = tools.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Open the page with a scene; a request that leaves it or an error on it fails the test."""
    problems: list[str] = []
    contexts = []

    def opened(scene: str = "", width: int = 1280, scheme: str = "light", **more: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        context.set_default_timeout(90_000)  # on a busy machine
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: None if request.url.startswith("file:") else problems.append(request.url))
        page.goto(f"{page_path().as_uri()}#{scene}" if scene else page_path().as_uri())
        page.wait_for_function(
            "() => document.documentElement.dataset.firstVerdict && document.querySelector('#errors').firstChild"
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def legend(page: Any) -> str:
    """Words and counts, without the symbols."""
    return " ".join(
        word for word in page.inner_text("#legend").replace("\n", " ").split() if len(word) > 1 or word.isdigit()
    ).translate(str.maketrans("", "", "·●✕■"))


def waits_for(page: Any, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('#legend').textContent.replace(/[^a-z0-9 ]/g, '').includes(text)", arg=text
    )


def move_to(page: Any, row: int, column: int) -> None:
    page.focus("#seen")
    for key in ["Escape", "ArrowDown", *["ArrowDown"] * row, *["ArrowRight"] * column]:
        page.keyboard.press(key)


@pytest.mark.slow
def test_the_first_screen_shows_verdicts(open_page: Open) -> None:
    page = open_page()
    assert legend(page) == ISLANDS
    assert "Try the dashed square" in page.inner_text("#brushline")
    assert int(page.evaluate("document.documentElement.dataset.firstVerdict")) > 0


@pytest.mark.slow
def test_a_bridge_is_painted_by_keys_and_read_out(open_page: Open) -> None:
    page = open_page()
    move_to(page, 2, 7)
    page.keyboard.press("Space")
    waits_for(page, "determined 64")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("() => document.querySelector('#live').textContent.startsWith('a 2, b 8: determined.')")
    page.keyboard.press("Control+z")
    waits_for(page, "disconnected 40")
    page.keyboard.press("Control+y")
    waits_for(page, "determined 64")


@pytest.mark.slow
def test_the_brush_paints_a_line_and_one_undo_takes_it_back(open_page: Open) -> None:
    page = open_page("s=9x9&m=&k=ntk3")
    box = page.locator("#seen").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 340, box["y"] + 40, steps=3)
    page.mouse.up()
    page.wait_for_function("() => parseInt(document.querySelector('#legend b').textContent) > 5")
    page.click("#undo")
    waits_for(page, "seen 0")


@pytest.mark.slow
def test_pointing_at_a_determined_cell_says_why(open_page: Open) -> None:
    page = open_page("s=2x2&m=0.3&t=adding&k=ntk3")
    box = page.locator("#follows").bounding_box()
    page.mouse.move(box["x"] + 85, box["y"] + box["height"] - 20)
    page.wait_for_function("() => document.querySelector('#say').textContent.includes('= 4')")
    assert "a 2, b 2: determined" in page.inner_text("#say")


@pytest.mark.slow
def test_a_scene_is_its_link(open_page: Open) -> None:
    page = open_page()
    move_to(page, 1, 5)
    page.keyboard.press("Space")
    page.select_option("#truth", "formula")
    page.fill("#formula", "a * b")
    page.wait_for_function("() => location.hash.includes('y=a+*+b')")
    other = open_page(page.evaluate("location.hash.slice(1)"))
    assert legend(other) == legend(page) == "seen 17 determined 64 disconnected 0"
    assert other.input_value("#formula") == "a * b"


@pytest.mark.slow
def test_a_bad_formula_is_explained_and_a_bad_link_refused(open_page: Open) -> None:
    page = open_page("s=9x9&k=cnn3")
    page.wait_for_selector("#toast.on")
    assert "cnn3" in page.inner_text("#toast")
    assert legend(page) == ISLANDS
    page.select_option("#truth", "formula")
    page.fill("#formula", "a + alert(1)")
    assert "alert" in page.inner_text("#formulasay")
    page.fill("#formula", "log(a - 1)")
    page.wait_for_function("() => document.querySelector('#formulasay').textContent.includes('9 of 81 cells')")
    page.fill("#formula", "sqrt(-a)")
    page.wait_for_function("() => document.querySelector('#formulasay').textContent.includes('any cell')")
    page.select_option("#truth", "adding")
    page.wait_for_function("() => document.querySelector('#formulasay').textContent === ''")


@pytest.mark.slow
@pytest.mark.parametrize("link", ["p=nonsense&m=zzz", "p=own&n=5000.5000", "s=9x9&t=formula&y=a+%2B"])
def test_a_broken_link_is_told_and_replaced(open_page: Open, link: str) -> None:
    page = open_page(link)
    page.wait_for_selector("#toast.on")
    assert page.inner_text("#toast").startswith("This link could not be read: ")
    assert "Two islands" in page.inner_text("#toast")
    page.wait_for_function("() => location.hash.startsWith('#p=islands')")
    other = open_page("p=barley")
    other.evaluate("link => { location.hash = '#' + link; }", link)
    other.wait_for_function("() => document.querySelector('#toast').textContent.startsWith('This link could not be')")
    assert other.evaluate("location.hash").startswith("#p=barley")
    other.wait_for_timeout(4500)
    assert other.locator("#toast.on").count() == 1, "it stays until the reader does something"


@pytest.mark.slow
def test_going_to_the_grid_is_no_broken_link(open_page: Open) -> None:
    page = open_page("p=barley")
    page.evaluate("document.querySelector('.skip').click()")
    page.wait_for_function("() => location.hash.startsWith('#p=barley')")
    assert page.inner_text("#toast") == ""


@pytest.mark.slow
def test_numbers_say_what_they_rest_on(open_page: Open) -> None:
    page = open_page("p=barley&o=2")
    assert "adding pairs by" in page.inner_text("#netfoot")
    assert page.locator("#errors th:has-text('adding pairs')").count() == 1
    page = open_page("p=flights")
    assert "on 6 of 57 determined cells; adding by" in page.inner_text("#netfoot")
    assert "determined, 6 of 57" in page.inner_text("#errors")


@pytest.mark.slow
def test_own_data_with_hostile_names(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text('kind,"<b>site</b>",y\n"<img src=x onerror=window.hacked=1>",p,1.5\nb,p,2.5\nb,q,4.5\n')
    page = open_page()
    page.click("#open")
    page.set_input_files("dialog input[type=file]", path)
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 1")
    move_to(page, 0, 1)
    page.wait_for_function("() => document.querySelector('#say').textContent.includes('= 3.5')")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#say b, #say img").filter(has_text="site").count() == 0


@pytest.mark.slow
def test_what_to_collect_is_painted_by_a_click(open_page: Open) -> None:
    page = open_page()
    page.click("#collect")
    page.click("#next li:first-child button")
    waits_for(page, "determined 64")


@pytest.mark.slow
def test_the_tour_goes_on_when_its_task_is_done(open_page: Open) -> None:
    page = open_page()
    page.click("#tour")
    page.wait_for_selector("#guide h2")
    move_to(page, 4, 1)
    page.keyboard.press("Space")
    page.click("#guide button:has-text('Next')")
    assert "2 of 5" in page.inner_text("#guide")


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 5])
def test_a_preset_leaves_the_tour(open_page: Open, step: int) -> None:
    page = open_page()
    for preset in ("barley", "flights", "islands"):
        page.click("#tour")
        for _ in range(1, step):
            page.click("#guide button:has-text('Skip')")
        assert f"{step} of 5" in page.inner_text("#guide"), preset
        page.select_option("#preset", preset)
        page.wait_for_selector("#guide", state="hidden")
        assert page.is_visible("h1"), preset


@pytest.mark.slow
def test_a_link_or_a_table_leaves_the_tour(open_page: Open) -> None:
    page = open_page()
    page.click("#tour")
    page.evaluate("location.hash = '#s=6x6&m='")
    page.wait_for_selector("#guide", state="hidden")
    page.click("#tour")
    page.wait_for_selector("#guide", state="visible")
    drop(page, "kind,site,y\na,p,1.5\nb,p,2.5\nb,q,4.5\n")
    page.click("dialog button:has-text('Show it')")
    page.wait_for_selector("#guide", state="hidden")


@pytest.mark.slow
def test_what_was_read_out_goes_with_its_grid(open_page: Open) -> None:
    page = open_page()
    move_to(page, 1, 5)
    page.wait_for_function("() => document.querySelector('#live').textContent.startsWith('a 2, b 6')")
    page.click("#tour")
    page.wait_for_function("() => document.querySelector('#live').textContent === ''")
    move_to(page, 1, 1)
    page.wait_for_function("() => document.querySelector('#live').textContent.startsWith('a 2, b 2')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.querySelector('#live').textContent === ''")


def drop(page: Any, text: str, name: str = "own.csv") -> None:
    page.evaluate(
        """([text, name]) => {
          const data = new DataTransfer();
          data.items.add(new File([text], name));
          document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [text, name],
    )


@pytest.mark.slow
def test_a_dropped_file_opens(open_page: Open) -> None:
    page = open_page()
    drop(page, "kind,site,y\na,p,1.5\nb,p,2.5\nb,q,4.5\n")
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 1")


@pytest.mark.slow
def test_a_parquet_file_opens(open_page: Open, tmp_path: Path) -> None:
    frame = pd.DataFrame({"kind": list("abba"), "site": ["p", "p", "q", None], "y": [1.5, 2.0, 4.0, 9.0]})
    frame["notes"] = [[1], [2], [3], [4]]  # no levels: it is not asked about
    frame.to_parquet(tmp_path / "own.parquet", row_group_size=2)
    page = open_page()
    page.click("#open")
    page.set_input_files("dialog input[type=file]", tmp_path / "own.parquet")
    page.wait_for_selector("dialog fieldset")
    assert page.locator("dialog fieldset label").all_inner_texts() == ["kind guessed", "site", "y"]
    page.locator("dialog fieldset input").nth(1).check()  # a quarter of its values is missing: no guess
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 1")
    assert page.inner_text("#reading summary").startswith("3 of 4 rows are used: 1 has no site.")
    move_to(page, 0, 1)
    page.wait_for_function("() => document.querySelector('#say').textContent.includes('= 3.5')")


@pytest.mark.slow
def test_a_workbook_opens_at_the_first_sheet_with_a_table(open_page: Open, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "read me"
    for title, rows in {"trial": [["a", "p", 1.5], ["b", "p", 2.5], ["b", "q", 4.5]], "other": [["a", "p", 1]]}.items():
        sheet = book.create_sheet(title)
        for row in [["kind", "site", "y"], *rows]:
            sheet.append(row)
    book.save(tmp_path / "own.xlsx")
    page = open_page()
    page.click("#open")
    page.set_input_files("dialog input[type=file]", tmp_path / "own.xlsx")
    page.wait_for_selector("dialog fieldset")
    sheets = page.locator("dialog select").first
    assert sheets.locator("option").all_inner_texts() == ["Sheet", "trial", "other"]
    assert sheets.input_value() == "trial"
    sheets.select_option("Sheet")
    page.wait_for_function("() => document.querySelector('dialog .fault').textContent.includes('no rows')")
    sheets.select_option("other")
    page.wait_for_function("() => document.querySelector('dialog h2').textContent.startsWith('1 row')")
    sheets.select_option("trial")
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 1")


@pytest.mark.slow
@pytest.mark.parametrize("outcome", [lambda row: row / 8, lambda row: row])
def test_a_small_table_is_shown_as_the_audit_has_it(open_page: Open, outcome: Callable[[int], float]) -> None:
    page = open_page()
    rows = [f"d{row % 4},c{row % 5},{outcome(row)}" for row in range(13)]
    drop(page, "\n".join(["drug,cell,y", *rows]))
    page.wait_for_selector("dialog[open] fieldset")
    assert page.locator("dialog fieldset input:checked + span").all_inner_texts() == ["drug", "cell"]
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 7")


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_explained_in_the_dialog(open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "junk.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    pd.DataFrame({"kind": ["a", "b"], "y": [1.5, 2.0]}).to_parquet(tmp_path / "zstd.parquet", compression="zstd")
    page = open_page()
    page.click("#open")
    for name, text in {"empty.csv": "is empty", "junk.png": "not text", "zstd.parquet": "Parquet"}.items():
        page.set_input_files("dialog input[type=file]", tmp_path / name)
        page.wait_for_function("text => document.querySelector('dialog .fault').textContent.includes(text)", arg=text)
    assert page.inner_text("#toast") == ""
    page.click("dialog button:has-text('Cancel')")
    drop(page, "")
    page.wait_for_selector("#toast.on")
    assert "is empty" in page.inner_text("#toast")


MESSY = """Table 3: viability of cells;;;
;;;
drug;cell line;viability;notes
cisplatin;HeLa;45,2%;
cisplatin;A549 ;51,7%;check again
paclitaxel;HeLa;33,1%;
paclitaxel;A549;<5;
control;HeLa;98,8%;
control;A549;97,0%;
Total;;325,8;
* as reported;;;
"""


@pytest.mark.slow
def test_a_messy_table_says_how_it_was_read_and_keeps_that_beside_the_grid(open_page: Open) -> None:
    page = open_page()
    drop(page, MESSY)
    page.wait_for_selector("dialog[open] fieldset")
    read = page.inner_text("dialog .read")
    for text in ("line 1 is not read: Table 3", "lines 10 and 11", "percent signs", "decimal commas", "<5"):
        assert text in read
    assert page.locator("dialog fieldset input:checked + span").all_inner_texts() == ["drug", "cell line"]
    assert page.locator("dialog select option:checked").inner_text() == "viability (guessed)"
    assert page.inner_text("dialog .used") == "5 of 6 rows are used: 1 has no viability."
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 1")
    assert page.inner_text("#reading summary").startswith("5 of 6 rows are used: 1 has no viability.")
    page.click("#reading summary")
    assert "percent signs" in page.inner_text("#reading")
    page.select_option("#preset", "islands")
    page.wait_for_selector("#reading", state="hidden")
    page.click("#undo")
    page.wait_for_selector("#reading", state="visible")


@pytest.mark.slow
def test_under_half_of_the_rows_need_a_tick(open_page: Open) -> None:
    page = open_page()
    drop(
        page,
        "\n".join(["drug,cell,gain", *(f"d{row % 3},c{row % 4},{'' if row % 4 else row / 8}" for row in range(12))]),
    )
    page.wait_for_selector("dialog[open] fieldset")
    page.click("dialog button:has-text('Show it')")
    assert "Only 3 of 12 rows" in page.inner_text("dialog .fault")
    page.check("dialog .doubt input")
    page.click("dialog button:has-text('Show it')")
    page.wait_for_selector("dialog", state="hidden")
    assert "3 of 12 rows are used: 9 have no gain" in page.inner_text("#reading summary")


@pytest.mark.slow
def test_columns_that_are_levels_can_be_named(open_page: Open) -> None:
    page = open_page()
    drop(page, "drug,10 uM,20 uM,50 uM\na,1.5,2.5,3.5\nb,2.5,3.5,\nc,4.5,,7.25\n")
    page.wait_for_selector("dialog[open] fieldset")
    assert page.input_value("dialog input[placeholder]") == "column=value"
    page.fill("dialog input[placeholder]", "dose=")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('dialog .fault').textContent.includes('--wide')")
    page.fill("dialog input[placeholder]", "dose=gain")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('dialog fieldset').textContent.includes('dose')")
    assert page.locator("dialog select option:checked").inner_text() == "gain (guessed)"
    page.click("dialog button:has-text('Show it')")
    waits_for(page, "determined 2")


@pytest.mark.slow
def test_too_many_levels_are_told_beside_their_box(open_page: Open) -> None:
    page = open_page()
    drop(page, "\n".join(["plate,kind,y", *(f"p{row},{row % 3},{row / 8}" for row in range(150))]))
    page.wait_for_selector("dialog[open] fieldset")
    labels = [" ".join(text.split()) for text in page.locator("dialog fieldset label").all_inner_texts()]
    assert labels == ["plate 150 levels, too many", "kind guessed", "y 150 levels, too many"]
    page.locator("dialog fieldset input").first.check()
    page.click("dialog button:has-text('Show it')")
    assert "plate has 150 levels" in page.inner_text("dialog .fault")


PICTURES = Path(__file__).parent / "pictures"
SIDE = 12
#: A font that every machine with matplotlib has.
LETTERS = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")


def same_letters(page: Any) -> None:
    """Write with the same font wherever the test runs: others have other widths, and move everything."""
    code = b64encode(LETTERS.read_bytes()).decode()
    face = f"@font-face {{ font-family: Same; src: url(data:font/ttf;base64,{code}) }}"
    page.add_style_tag(content=f"{face} :root {{ --sans: Same !important; --serif: Same !important }}")
    page.evaluate("document.fonts.load('16px Same').then(() => dispatchEvent(new Event('resize')))")


def blocks(path: Path) -> np.ndarray:
    """Mean colours of squares of 12 pixels: letters that are smoothed otherwise are nearly the same then."""
    image = matplotlib.image.imread(path)[..., :3]
    rows, columns = (length // SIDE for length in image.shape[:2])
    return image[: rows * SIDE, : columns * SIDE].reshape(rows, SIDE, columns, SIDE, 3).mean(axis=(1, 3))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_it_looks_as_it_did(open_page: Open, tmp_path: Path, scheme: str, width: int) -> None:
    page = open_page(width=width, scheme=scheme, bypass_csp=True)
    same_letters(page)
    move_to(page, 1, 5)
    page.wait_for_timeout(400)
    name = f"{scheme}-{width}.png"
    page.locator("#pictures").screenshot(path=tmp_path / name)
    if "RECOMBINE_NEW_PICTURES" in os.environ:
        (PICTURES / name).write_bytes((tmp_path / name).read_bytes())
    now, then = blocks(tmp_path / name), blocks(PICTURES / name)
    assert now.shape[1] == then.shape[1]
    assert abs(now.shape[0] - then.shape[0]) <= 2
    rows = min(len(now), len(then))
    apart = np.abs(now[:rows] - then[:rows]).max(axis=2)
    assert apart.mean() < 0.01, f"{name} has changed; look at it, then run with RECOMBINE_NEW_PICTURES=1"
    assert np.mean(apart > 0.15) < 0.01


MODEL = """
const values = {scene: SCENE, table: SCENE, height: 700}, listeners = {};
window.model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => { window.saved = (window.saved ?? 0) + 1; },
  on: (name, listener) => { listeners[name] = listener; },
  off: () => undefined,
  told: (name, value) => { values[name] = value; listeners["change:" + name](); },
};
"""


@pytest.mark.slow
def test_in_a_notebook_the_frame_and_python_tell_each_other(browser: Any) -> None:
    shown = pytest.importorskip("recombine.explore.notebook", reason="needs anywidget")
    grid = rc.Design.from_cells([[0, 0], [0, 1], [1, 0], [39, 39]])  # too large for its values to be in a link
    shown = shown.Explorer(grid)
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<div id=cell></div>"))
    page.goto("http://notebook.test/")
    page.evaluate(MODEL.replace("SCENE", json.dumps(shown.scene)))
    module = f"{shown._esm}\nwindow.clean = render({{model: window.model, el: document.getElementById('cell')}});"
    page.add_script_tag(content=module, type="module")
    frame = page.frame_locator("iframe")
    frame.locator("#legend b").first.wait_for()
    inside = page.frames[1]
    inside.wait_for_function("() => document.querySelector('#legend').textContent.includes('determined')")
    inside.focus("#seen")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Space"):
        page.keyboard.press(key)
    page.wait_for_function("() => window.saved >= 1 && window.model.get('scene').includes('m=')")
    shown.scene = page.evaluate("window.model.get('scene')")
    assert ("1", "1") in shown.seen
    page.evaluate("scene => window.model.told('scene', scene)", shown.table)
    inside = page.frames[1]
    waits_for(inside, "seen 4")
    page.evaluate("window.clean()")
    context.close()
    assert problems == []


#: Elements whose content is wider than they are, and pairs of parts of the page that lie over each other.
ASTRAY = """() => {
  const shown = [...document.querySelectorAll("main *, header *")].filter(
    (one) => one.offsetParent && !one.closest(".hidden"));
  const cut = shown.filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1 &&
    getComputedStyle(one).display !== "inline");
  const parts = "header button, header select, h1, .deck, #guide, figure, #slices, #say, #panel > div";
  const boxes = shown.filter((one) => one.matches(parts)).map((one) => [one, one.getBoundingClientRect()]);
  const shared = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const over = boxes.flatMap(([one, a], at) =>
    boxes.slice(at + 1).filter(([, b]) => shared(a, b)).map(([two]) => [one, two]));
  return [...cut, ...over.flat()].map((one) => `${one.tagName}#${one.id}.${one.className}`);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("touch", [False, True])
@pytest.mark.parametrize("width", [1280, 1024, 760, 400])
def test_nothing_is_cut_off_or_lies_over_something_else(open_page: Open, width: int, touch: bool) -> None:
    page = open_page(width=width, has_touch=touch, is_mobile=touch)
    for scene in ("p=islands", "p=barley&o=2&c=1c", "p=flights&c=3&d=1", "z=8", "s=50x50&m=", "p=context&o=2"):
        page.evaluate("scene => { location.hash = scene; }", scene)
        page.wait_for_timeout(300)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (scene, scheme)
            assert page.evaluate(ASTRAY) == [], (scene, scheme)


@pytest.mark.slow
@pytest.mark.parametrize("width", [760, 400])
def test_a_finger_finds_what_it_presses(open_page: Open, width: int) -> None:
    page = open_page("p=barley&o=2", width=width, has_touch=True, is_mobile=True)
    page.click("#collect")
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter((one) => one.offsetParent)
        .map((one) => [one.id || one.textContent, Math.min(one.offsetHeight, one.offsetWidth)])"""
    )
    assert len(sizes) > 15
    assert [size for size in sizes if size[1] < 40] == []
    page.evaluate("location.hash = 'p=islands'")
    page.wait_for_function("() => document.querySelector('#seen').clientHeight >= 9 * 40 + 20")


def swipe(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Move a finger over the page, as the browser would hear of it."""
    hand = page.context.new_cdp_session(page)
    hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": start[0], "y": start[1]}]})
    for step in range(1, 11):
        x, y = (one + (two - one) * step / 10 for one, two in zip(start, end, strict=True))
        hand.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y}]})
        page.wait_for_timeout(20)
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)


@pytest.mark.slow
def test_a_finger_scrolls_over_the_grid_and_a_tap_paints_one_cell(open_page: Open) -> None:
    page = open_page(width=400, has_touch=True, is_mobile=True)
    box = page.locator("#seen").bounding_box()
    x, y = box["x"] + 20 + 7.5 * 40, box["y"] + 20 + 2.5 * 40  # the dashed square
    swipe(page, (x, y + 150), (x, y - 150))
    assert page.evaluate("scrollY") > 100
    assert legend(page) == ISLANDS, "a drag has painted nothing"
    page.evaluate("scrollTo(0, 0)")
    page.touchscreen.tap(x, y)
    waits_for(page, "seen 17")
    waits_for(page, "determined 64")
    page.touchscreen.tap(x, y)
    waits_for(page, "seen 16")
    page.tap("#drag")
    assert page.get_attribute("#drag", "aria-pressed") == "true"
    before = page.evaluate("scrollY")
    y = page.locator("#seen").bounding_box()["y"] + 20 + 0.5 * 40
    swipe(page, (box["x"] + 220, y), (box["x"] + 360, y + 160))
    assert page.evaluate("scrollY") == before
    page.wait_for_function("() => parseInt(document.querySelector('#legend b').textContent) >= 20")
    page.tap("#undo")
    waits_for(page, "seen 16")


@pytest.mark.slow
def test_networks_are_named_by_what_they_are(open_page: Open) -> None:
    page = open_page()
    assert page.inner_text("#ntk").split() == ["all", "layers", "learn", "NTK"]
    assert page.inner_text("#nngp").split() == ["only", "the", "last", "NNGP"]
    page.click("#nngp")
    page.wait_for_function("() => location.hash.includes('k=nngp3')")


def painted_on(page: Any, side: int) -> np.ndarray:
    page.wait_for_function("() => location.hash.includes('m=')")
    return painted(page.evaluate("location.hash.slice(1)"), (side, side))


@pytest.mark.slow
def test_a_puzzle_is_played_and_its_result_is_in_the_link(open_page: Open) -> None:
    page = open_page()
    page.click("#puzzle")
    page.wait_for_selector("#guide h2")
    assert "Puzzle 1 of 8" in page.inner_text("#guide")
    given = painted_on(page, 6)

    def is_settled(more: Sequence[list[int]]) -> bool:
        found = rc.identify([*given.tolist(), *more], every_cell((6, 6)), sizes=(6, 6), route="exact")
        return bool(np.all(found.verdicts <= Verdict.DETERMINED))

    empty = [cell for cell in every_cell((6, 6)).tolist() if cell not in given.tolist()]
    assert not any(map(is_settled, combinations(empty, 2)))
    right = next(cells for cells in combinations(empty, 3) if is_settled(cells))
    wrong = next(cells for cells in combinations(empty, 3) if not is_settled(cells) and cells[:2] == right[:2])
    assert not page.is_visible("#say")
    for row, column in wrong:
        assert not page.is_visible("#legend"), "what follows is hidden"
        move_to(page, row, column)
        assert page.inner_text("#live") == f"a {row + 1}, b {column + 1}: not painted"
        page.keyboard.press("Space")
    page.wait_for_function("() => document.querySelector('#guide').textContent.includes('Not yet')")
    assert page.is_visible("#legend")
    assert "Tries so far: 1" in page.inner_text("#guide")
    page.keyboard.press("Space")
    move_to(page, *right[2])
    page.keyboard.press("Space")
    page.wait_for_function("() => document.querySelector('#guide').textContent.includes('Solved at try 2')")
    move_to(page, *given[0])
    page.keyboard.press("Space")
    assert "disconnected 0" in legend(page), "what was given stays"
    page.wait_for_function("() => location.hash.startsWith('#z=1.2&')")
    other = open_page(page.evaluate("location.hash.slice(1)"))
    assert "Solved at try 2" in other.inner_text("#guide")
    other.click("#guide button:has-text('Play it again')")
    other.wait_for_selector(".veiled")
    other.focus("#guide button:has-text('Next')")
    other.keyboard.press("Enter")
    other.wait_for_function("() => document.activeElement.textContent.startsWith('Puzzle 2 of 8')")
    other.click("#tour")
    other.wait_for_function("() => document.querySelector('#guide').textContent.includes('1 of 5')")
    assert other.is_visible("#say")
    other.click("#puzzle")
    other.click("#guide button:has-text('Leave')")
    other.wait_for_selector("#guide", state="hidden")
    assert other.is_visible("h1")
