"""Sphinx settings: numpydoc for the reference, MyST for the pages, formulas as MathML, nothing from the network."""

import os
from html import escape
from pathlib import Path

from latex2mathml.converter import convert

import recombine
from recombine import __version__
from recombine.explore import page_path

project = "Recombine"
author = "The Recombine authors"
release = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 3  # so that pages can point to headings, as they do where the repository is read
numpydoc_show_class_members = False
autosummary_generate = True
templates_path = ["_templates"]
#: What `import recombine as rc` hands out, by its own name: pages and the index find `split_table` as `rc.split` too.
handed_out = {getattr(recombine, name).__name__: f"rc.{name}" for name in dir(recombine)}
autosummary_context = {"handed_out": handed_out}
html_theme = "furo"
html_title = "Recombine"
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_templates"]
suppress_warnings = ["myst.header"]
#: Where the documentation is published, for previews of links, which need whole addresses; empty on one's own machine.
SITE = f"{os.environ['RECOMBINE_DOCS'].rstrip('/')}/" if os.environ.get("RECOMBINE_DOCS") else ""
html_baseurl = SITE
html_static_path = ["images/preview.png"]
#: Below the site, beside what Sphinx writes: the page on which seen cells are painted.
PAGE = "page.html"
SUMMARY = "Some combinations in your table were measured, most were not. Which of the others do your data predict?"
if SITE:
    invitation = "Paint a grid in your browser</a>: nothing is installed, no table leaves it."
    html_theme_options = {"announcement": f'<a href="{SITE}{PAGE}">{invitation}'}


def preview(title, address):
    """Return what a link to an address of the site shows where it is passed around; nothing where no site is named."""
    if not SITE:
        return ""
    said = {
        "og:type": "website",
        "og:site_name": project,
        "og:title": title,
        "og:description": SUMMARY,
        "og:url": SITE + address,
        "og:image": f"{SITE}_static/preview.png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "A grid of combinations: measured, predictable, open, and the one to measure next",
    }
    tags = "".join(f'<meta property="{name}" content="{escape(text)}">\n' for name, text in said.items())
    return f'{tags}<meta name="twitter:card" content="summary_large_image">\n'


def add_preview(app, name, template, context, doctree):
    """Give every page of the documentation its preview."""
    context["metatags"] = context.get("metatags", "") + preview(context.get("title") or project, f"{name}.html")


def add_page(app, problem):
    """Put the page of `recombine explore` beside the documentation, with its preview."""
    if problem is None and app.builder.format == "html":
        text = page_path().read_text(encoding="utf-8")
        head = '<meta charset="utf-8">\n'
        assert text.count(head) == 1
        text = text.replace(head, head + preview(f"{project}: paint a grid", PAGE))
        (Path(app.outdir) / PAGE).write_text(text, encoding="utf-8")


def setup(app):
    """Have formulas written as MathML, which browsers draw by themselves, and links shown with a picture."""
    from docutils.nodes import SkipNode

    def inline(translator, node):
        translator.body.append(convert(node.astext(), display="inline"))
        raise SkipNode

    def block(translator, node):
        translator.body.append(f"<div class='math'>{convert(node.astext(), display='block')}</div>")
        raise SkipNode

    app.connect("html-page-context", add_preview)
    app.connect("build-finished", add_page)
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
