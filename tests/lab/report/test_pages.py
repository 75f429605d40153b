"""Pages of papers: the documentation is what results and page.md give, formulas convert, and holes name what exists."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from recombine.errors import RecombineError
from recombine.lab.papers import Paper, Reproduction, Standing, available, find, from_results
from recombine.lab.papers.paper import coverage
from recombine.lab.papers.record import load_record
from recombine.lab.report import page_text, paper_page
from recombine.lab.report.markdown import html_of
from recombine.lab.report.page_text import claims_text

ROOT = Path(__file__).parents[3]
PAPER = find("kernel-theory")
every_paper = pytest.mark.parametrize("paper", available().values(), ids=lambda paper: paper.name)


class _Texts(dict[str, str]):
    """Pages of papers as Markdown, each written when it is first read."""

    def __init__(self, judged: dict[str, Reproduction]) -> None:
        super().__init__()
        self.judged = judged

    def __missing__(self, name: str) -> str:
        self[name] = page_text(self.judged[name])
        return self[name]


@pytest.fixture(scope="session")
def texts(judged: dict[str, Reproduction]) -> dict[str, str]:
    """The page of every paper as Markdown."""
    return _Texts(judged)


@pytest.fixture(scope="module")
def build_pages() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("build_pages")
    finally:
        sys.path.remove(str(ROOT / "tools"))


class _Reader(HTMLParser):
    """Gather what a reader sees as text, and what stands in formulas; code and drawings apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text, self.formulas, self.tags = "", "", list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)
        if tag in ("code", "svg", "style", "math"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open.remove(tag)

    def handle_data(self, data: str) -> None:
        if "math" in self.open:
            self.formulas += data
        elif not self.open:
            self.text += data


class TestDocumentation:
    @pytest.mark.slow
    @every_paper
    def test_the_page_is_what_the_results_give(self, paper: Paper, texts: dict[str, str]) -> None:
        """After a change: python tools/build_pages.py NAME."""
        written = (ROOT / "docs" / "papers" / f"{paper.name}.md").read_text(encoding="utf-8")
        assert written == texts[paper.name], f"run python tools/build_pages.py {paper.name}"

    @every_paper
    def test_the_figures_are_those_that_the_page_shows(self, paper: Paper, texts: dict[str, str]) -> None:
        shown = re.findall(rf"\]\(({paper.name}/[\w-]+\.svg)\)", texts[paper.name])
        folder = ROOT / "docs" / "papers"
        assert sorted(shown) == sorted(str(path.relative_to(folder)) for path in (folder / paper.name).glob("*.svg"))

    @every_paper
    def test_every_claim_stands_in_it_once_with_its_verdict(
        self, paper: Paper, texts: dict[str, str], judged: dict[str, Reproduction]
    ) -> None:
        rows = re.findall(r"^\| \*\*(\w+)\*\* .* \| (\S+) ([a-z ]+) \|$", texts[paper.name], re.MULTILINE)
        outcomes = judged[paper.name].outcomes
        verdicts = {claim.number: outcomes[claim.id].verdict for claim in paper.claims}
        assert len(rows) == len(paper.claims)
        assert {number: (mark, word) for number, mark, word in rows} == {
            number: (verdict.symbol, verdict.value) for number, verdict in verdicts.items()
        }

    @every_paper
    def test_the_formulas_convert(self, paper: Paper, texts: dict[str, str]) -> None:
        seen = _Reader(html_of(texts[paper.name]))
        assert "$" not in seen.text
        assert "\\" not in seen.formulas, "a command that the converter does not know"
        assert seen.tags.count("h1") == 1

    @every_paper
    def test_a_page_is_read_in_minutes_and_opens_with_what_came_out_and_how_much_is_judged(
        self, paper: Paper, texts: dict[str, str], judged: dict[str, Reproduction]
    ) -> None:
        text = texts[paper.name]
        folds = r"<details>.*?</details>"
        assert len(re.sub(folds, "", text, flags=re.DOTALL).split()) <= 2500
        assert text.count("<details>") == text.count("</details>") > 4
        _, _, opening = text.split("\n\n")[:3]
        numbers = {claim.number: judged[paper.name].outcomes[claim.id] for claim in paper.claims}
        tally = coverage(paper.checklist, numbers)
        assert tally in opening.replace("\n", " ")
        assert opening.replace("\n", " ").index(tally) > 100, "content comes first"
        assert all(claim.theme for claim in paper.claims if not claim.ours)

    @every_paper
    def test_all_that_a_paper_states_is_listed_with_what_judges_it(self, paper: Paper) -> None:
        named = {number for panel in paper.checklist for number in panel.claims}
        assert named <= {claim.number for claim in paper.claims}
        theirs = {claim.number for claim in paper.claims if claim.says == "paper"}
        assert theirs <= named, "a claim about the paper that no entry of its list names"
        assert all(panel.claims or panel.missing for panel in paper.checklist), "why an entry is not judged"
        assert len({(panel.where, panel.what) for panel in paper.checklist}) == len(paper.checklist) > 20

    @pytest.mark.parametrize("name", ["README.md", "docs/papers/index.md"])
    def test_tables_of_papers_are_up_to_date(self, build_pages: ModuleType, name: str) -> None:
        """After a change: python tools/build_pages.py."""
        text = (ROOT / name).read_text(encoding="utf-8")
        assert build_pages.with_table(text, load_record(ROOT / "results"), Path(name)) == text
        table = text.partition("<!-- papers")[2].partition("<!-- end of papers")[0]
        rows = [line for line in table.splitlines() if line.startswith(("| [", "- ["))]
        assert len(rows) == len(available())
        assert all(line.split(" | ")[-1].removesuffix(" |").strip() for line in rows), "what is new is written by hand"

    def test_a_readme_without_its_marks_is_refused(self, build_pages: ModuleType) -> None:
        with pytest.raises(RecombineError, match=r"README.md has no lines <!-- papers"):
            build_pages.with_table("# Recombine", {}, Path("README.md"))

    def test_a_wrong_name_is_one_line(self) -> None:
        words = [sys.executable, str(ROOT / "tools" / "build_pages.py"), "kernel-theorie"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"'kernel-theorie' is not a paper; did you mean 'kernel-theory'\?.*\n", done.stderr)


class TestHoles:
    @pytest.fixture
    def paged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
        """Make a page of claim 12 and its results from a text with holes."""
        package = tmp_path / "paged"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "checklist.py").write_text("CHECKLIST = ()", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "paged", raising=False)
        known = from_results(PAPER, ROOT / "results", only=["12"])

        def page(written: str) -> str:
            (package / "page.md").write_text(written, encoding="utf-8")
            paper = Paper(PAPER.name, "", "", "paged")
            vars(paper).update(experiments=PAPER.experiments, claims=known.claims, figures=PAPER.figures)
            return page_text(Reproduction(paper, known.claims, known.results))

        return page

    def test_they_are_filled_by_results(self, paged: Callable[[str], str]) -> None:
        text = '{{ n("12", "wrong under squared loss") }} wrong, {{ n("12", "margin at depth 1, squared") }}: '
        text += '{{ verdict("12") }}.\n\n{{ tally }}'
        assert paged(text) == (
            "0 wrong, 0.795: holds.\n\n"
            "|  | holds | of these written after the data |\n| --- | ---: | ---: |\n| 1 of ours | 1 | 1 |"
        )

    @pytest.mark.parametrize(
        ("hole", "message"),
        [
            (
                '{{ n("12", "slope") }}',
                r"claim 12 measures no 'slope', but right under the hard margin, .*; mend page.md",
            ),
            ('{{ n("99", "slope") }}', r"'99' is not a claim of kernel-theory"),
            ('{{ verdict("99") }}', r"'99' is not a claim of kernel-theory"),
            ('{{ figure("nothing") }}', r"page.md shows a figure 'nothing'; there are salience"),
        ],
    )
    def test_what_nobody_measures_is_a_defect(self, paged: Callable[[str], str], hole: str, message: str) -> None:
        with pytest.raises(RecombineError, match=message):
            paged(hole)

    def test_a_word_that_is_no_hole_is_a_defect(self, paged: Callable[[str], str]) -> None:
        with pytest.raises(RecombineError, match=r"page.md of kernel-theory: 'talley' is undefined"):
            paged("{{ talley }}")

    @every_paper
    def test_without_results_a_number_is_a_dash(self, paper: Paper) -> None:
        text = page_text(Reproduction(paper, paper.claims, {}))
        assert "no results at hand" in text
        assert "| ○ not run |" in text


class TestSomeClaims:
    @pytest.mark.slow
    def test_title_and_tally_come_first(self, judged: dict[str, Reproduction]) -> None:
        some = PAPER.chosen(["12", "24"])
        text = claims_text(Reproduction(PAPER, some, judged[PAPER.name].results))
        title, citation, tally = text.split("\n\n")[:3]
        assert title == f"# {PAPER.title}"
        assert f"2 of the {len(PAPER.claims)} claims" in citation
        assert tally.startswith("|  | holds |")
        assert sum(int(line.split()[1]) for line in tally.splitlines()[2:]) == len(some)

    def test_a_figure_stands_once_with_the_first_claim_that_names_it(self, judged: dict[str, Reproduction]) -> None:
        results = judged[PAPER.name].results
        named = next(claim for claim in PAPER.claims if claim.figures)
        bare = next(claim for claim in PAPER.claims if not claim.figures)
        twins = [replace(named, number=str(90 + place), theme=f"Theme {place}") for place in range(2)]
        text = claims_text(Reproduction(PAPER, [replace(bare, theme="Bare"), *twins], results))
        order = re.findall(r"^<details><summary>Theme \d|^<figure id=\"[\w-]+\"", text, re.MULTILINE)
        assert [line for line in order if line.startswith("<figure")] == [
            f'<figure id="figure-{name}"' for name in named.figures
        ]
        assert order.index("<details><summary>Theme 0") < order.index(f'<figure id="figure-{named.figures[0]}"')
        assert order.index(f'<figure id="figure-{named.figures[-1]}"') < order.index("<details><summary>Theme 1")


def test_marks_in_the_text_of_claims_stay_text() -> None:
    claim = replace(PAPER.claim("12"), statement="Width |w| < 2 * 3 * k_a k_b costs $5, not $x_1|y$.", risk="a*b*c")
    text = claims_text(Reproduction(PAPER, [claim], {}))
    seen = _Reader(html_of(text))
    assert "Width |w| < 2 * 3 * k_a k_b costs $5, not ." in seen.text
    assert seen.formulas == "x1|y"
    assert "a*b*c." in seen.text


@pytest.fixture(scope="module")
def page(judged: dict[str, Reproduction]) -> str:
    """A report as HTML."""
    return paper_page(judged[PAPER.name], command="recombine <reproduce>")


class TestReport:
    def test_it_is_the_page_with_every_figure_drawn(self, page: str, texts: dict[str, str]) -> None:
        assert page.count("<h1") == 1
        assert page.count("<svg") == texts[PAPER.name].count(".svg)")
        assert page.count('class="scroll plate"') == page.count("<svg"), "figures have a white ground by night"
        assert "recombine &lt;reproduce&gt;" in page
        assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page).split("<main")[1]

    def test_every_verdict_has_a_colour_and_a_symbol(self, page: str) -> None:
        cells = re.findall(r'<td class="verdict ([a-z-]+)"><span class="mark">(\S+)</span> ([a-z ]+)</td>', page)
        assert len(cells) == len(PAPER.claims)
        for name, symbol, words in cells:
            assert name == words.replace(" ", "-")
            assert symbol == Standing(words).symbol

    def test_it_explains_its_words(self, page: str) -> None:
        for standing in Standing:
            assert f"<dd>{standing.meaning}</dd>" in page
        assert "computed, and stored, by itself" in page

    def test_contents_lead_to_headings(self, page: str) -> None:
        links = re.findall(r'<li><a href="#([^"]+)"', page.split("</nav>")[0])
        assert len(links) > 4
        for anchor in links:
            assert page.count(f' id="{anchor}"') == 1

    def test_a_command_is_printed_once(self, page: str, judged: dict[str, Reproduction]) -> None:
        commands = {one.provenance.command for one in judged[PAPER.name].results.values()}
        sources = page.split('<section id="sources">')[1]
        assert len(re.findall(r"<code>recombine reproduce kernel-theory --scale", sources)) == len(commands)

    def test_each_experiment_has_its_own_versions(self, page: str) -> None:
        names = r"cifar-addition, cifar-context, mnist-addition, mnist-context, mnist-equivalence, mnist-splits"
        assert re.search(rf"torch 2\.11\.0[^<]*\({names}\)", page)
        assert "torch 2.13.0+cpu" in page

    def test_what_a_figure_refers_to_is_in_the_page(self, page: str) -> None:
        """Markers, clips and the hatches of bars; a reference to nothing draws nothing."""
        found = set(re.findall(r"url\(#([^)\s]+)\)", page)) | set(re.findall(r'<use[^>]*href="#([^"]+)"', page))
        ids = re.findall(r' id="([^"]+)"', page)
        assert found <= set(ids)
        assert len(ids) == len(set(ids))
        assert any("pattern" in part for part in page.split("<defs>")), "no hatch on the page"

    def test_every_number_stands_beside_its_bound(self, judged: dict[str, Reproduction]) -> None:
        claim = PAPER.claim("12")
        page = paper_page(Reproduction(PAPER, [claim], judged[PAPER.name].results))
        assert "✓ wrong under squared loss: 0 (asked: exactly 0)<br>" in page
        assert "margin at depth 1, squared: 0.795<br>" in page
        assert f"asked: {claim.expected}" in paper_page(Reproduction(PAPER, [claim], {}))
