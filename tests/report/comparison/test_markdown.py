"""Markdown for a pull request: names of the data are shown letter by letter and never obeyed."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import recombine as rc
from recombine.report.audit.record import audit_json
from recombine.report.comparison import markdown_code, markdown_prose
from recombine.report.comparison.markdown import MAX_MARKDOWN_ROWS, MAX_NAME_LETTERS, MAX_TEXT_LETTERS
from recombine.writing import printable

HOSTILE = [
    "a|b",
    "a\\|b",
    "`code`",
    "``` fence",
    "<script>alert(1)</script>",
    "</details></code><img src=x onerror=alert(1)>",
    "line\nbreak | x |\n\n# heading",
    "@octocat and @org/team",
    "#123 and owner/repo#1",
    "[link](http://example.org)",
    "![image](http://example.org/x.png)",
    "www.example.org http://example.org a@b.com",
    "**bold** _it_ ~~gone~~ $x^2$ :smile:",
    "&lt;b&gt; &#64;octocat",
    "- item",
    "1. item",
    "> quote",
    "---",
    "    indented",
    "<!-- comment",
    "\x1b[31mred\u202eback",
    "x" * 5_000,
    " ",
]


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))


def shown(page: str) -> str:
    """The text that a reader sees, without the joiners that keep names from being taken for people."""
    return html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\u2060", "")


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_shown_letter_by_letter(name):
    want = printable(name)
    for text, most in (
        (f"| a |\n| :-- |\n| {markdown_code(name)} |", MAX_NAME_LETTERS),
        (f"so: {markdown_prose(name)}", 600),
    ):
        page = rendered(text)
        body = shown(page).strip()
        cut = want if len(want) <= most else f"{want[: most - 1]}…"
        assert body in (f"a\n\n\n\n\n{cut}".strip(), f"so: {cut}".strip(), f"a\n\n\n\n\n{cut.strip()}".strip())
        assert set(re.findall(r"</?([a-z0-9]+)", page)) <= {"table", "thead", "tbody", "tr", "th", "td", "code", "p"}


@given(st.text(max_size=40))
def test_any_name_is_one_cell_of_a_table(name):
    page = rendered(f"| a | b |\n| :-- | :-- |\n| {markdown_code(name)} | {markdown_code('end')} |")
    assert page.count("<td") == 2
    assert page.count("<code>") == 2
    assert "<code>end</code>" in page


@given(st.text(alphabet="@#ab1/ .", max_size=30))
def test_nobody_is_called_and_no_issue_is_named(name):
    for text in (markdown_prose(name), markdown_code(name)):
        page = html.unescape(re.sub(r"<[^>]*>", "", rendered(f"so {text}")))
        assert not re.search(r"[@#]\w", page)


def audit(cells) -> rc.Audit:
    frame = pd.DataFrame(cells, columns=["col|our", "<b>shape"])
    return rc.audit(rc.Design.from_frame(frame, factors=["col|our", "<b>shape"], crossed=True))


def test_a_whole_summary_with_hostile_names_keeps_its_form():
    names = [name for name in HOSTILE if name.strip() == name]
    cells = [(name, "x") for name in names] + [("plain", "y")]
    before, after = audit(cells), audit([*cells, ("plain", "x")])
    for found in (rc.compare(before, after), rc.compare(after, before)):
        page = rendered(found.markdown)
        tags = set(re.findall(r"<([a-z0-9]+)", page))
        assert tags <= {
            "h3",
            "p",
            "strong",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "details",
            "summary",
            "code",
        } | {
            "ul",
            "li",
            "blockquote",
        }
        assert page.count("<details>") == page.count("</details>")
        rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
        assert {row.count("<td") + row.count("<th") for row in rows} <= {3, 4}
        assert "alert(1)" in shown(page)
        assert "<script" not in page
        assert "<img" not in page


def test_a_document_that_was_tampered_with_is_not_obeyed():
    """Whoever opens a pull request may have written the baseline, too."""
    found = audit([("a", "x"), ("b", "y")])
    document = json.loads(audit_json(found))
    bad = "</details><img src=x> @octocat | `"
    document |= {"source": bad, "outcome": bad, "recombine": bad, "factors": document["factors"]}
    document["structure"] |= {"name": bad, "assumes": bad}
    document["findings"] = [dict.fromkeys(("code", "title", "severity", "message"), bad) | {"subjects": [bad]}]
    for page in (rendered(rc.compare(found, document).markdown), rendered(rc.compare(document, found).markdown)):
        assert "<img" not in page
        assert page.count("<details>") == page.count("</details>")
        assert not re.search(r"@\w", html.unescape(page))


def test_a_summary_fits_into_a_comment():
    cells = np.repeat(np.arange(8)[:, None], 5, axis=1)
    more = np.vstack([cells, *(np.where(np.arange(5) == place, cells, 0) for place in range(5))])
    label = np.array([f"{i}{'|' * 100}" for i in range(8)])
    one, two = (
        rc.audit(
            rc.Design.from_frame(pd.DataFrame(label[some], columns=list("abcde")), factors=list("abcde"), crossed=True)
        )
        for some in (cells, more)
    )
    found = rc.compare(one, two)
    text = found.markdown
    assert found.gained > 3_000
    assert len(text) < MAX_TEXT_LETTERS + 1_000
    assert "left out: too long for a summary." in text
    assert text.count("<details>") == text.count("</details>")


def test_the_answer_comes_first_and_all_else_is_folded():
    found = rc.compare(audit([("a", "x"), ("b", "y")]), audit([("a", "x"), ("b", "y"), ("a", "y")]))
    lines = [line for line in found.markdown.splitlines() if line]
    assert lines[0] == "### Recombine: what changed"
    answer = [line.name for line in found.answer.content]
    assert [line.partition("** ")[0].removeprefix("- **") for line in lines[1 : len(answer) + 1]] == answer
    assert "| cells | before | after | change |" in lines
    outside = re.sub(r"<details>.*?</details>", "", found.markdown, flags=re.DOTALL)
    assert "<code>" not in outside
    assert len([line for line in outside.splitlines() if line]) < 12


def test_a_huge_change_makes_a_short_summary():
    cells = np.indices((300, 300)).reshape(2, -1).T
    generator = np.random.default_rng(0)
    few, many = (
        rc.audit(rc.Design.from_cells(cells[generator.random(90_000) < p], sizes=(300, 300))) for p in (0.002, 0.2)
    )
    found = rc.compare(few, many)
    assert found.gained > 80_000
    assert len(found.markdown) < 20_000  # GitHub takes 65,536 letters
    assert len(found.markdown.splitlines()) < 3 * MAX_MARKDOWN_ROWS + 60
    assert f"and {found.gained - MAX_MARKDOWN_ROWS:,} more" in found.markdown
