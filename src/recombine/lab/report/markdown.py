"""Markdown as HTML: tables, formulas as MathML that no network is needed for, and HTML that stands in the text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


def html_of(text: str) -> str:
    """Return Markdown as HTML.

    Examples
    --------
    >>> html_of("# Why it *adds*").strip()
    '<h1 id="why-it-adds">Why it <em>adds</em></h1>'
    >>> "<mi>k</mi>" in html_of("Order $k$.")
    True
    """
    return str(_parser().render(text))


def headings(text: str) -> list[tuple[str, str]]:
    """Return the anchors and texts of the second-level headings, for a table of contents.

    Examples
    --------
    >>> headings("## What it says")
    [('what-it-says', 'What it says')]
    """
    tokens = _parser().parse(text)
    titles = [
        tokens[index + 1].content
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]
    return [(_anchor(name), name) for name in titles]


def _anchor(text: str) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
    return "-".join(words)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.inline.ruler.before("escape", "math", _math)
    parser.add_render_rule("math", _math_markup)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule(
        "table_open", lambda *_: '<div class="scroll" role="region" aria-label="Table" tabindex="0">\n<table>\n'
    )
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _math(state: StateInline, silent: bool) -> bool:
    """Take ``$...$``, and ``$$...$$`` as a formula of its own line; a lone dollar, or one before a blank, is text."""
    text, start = state.src, state.pos
    if text[start] != "$":
        return False
    mark = "$$" if text.startswith("$$", start) else "$"
    begin = start + len(mark)
    end = text.find(mark, begin)
    if end <= begin or text[begin].isspace() or (mark == "$" and text[end - 1].isspace()):
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content, token.markup = text[begin:end], mark
    state.pos = end + len(mark)
    return True


def _math_markup(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    from latex2mathml.converter import convert

    token = tokens[index]
    return str(convert(token.content, display="block" if token.markup == "$$" else "inline"))


def _heading(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return f'<{tokens[index].tag} id="{_anchor(tokens[index + 1].content)}">'
