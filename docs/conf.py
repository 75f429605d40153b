"""Sphinx settings: numpydoc for the reference, MyST for the pages, formulas as MathML, nothing from the network."""

from latex2mathml.converter import convert

from recombine import __version__

project = "Recombine"
author = "The Recombine authors"
release = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3  # so that pages can point to headings, as they do where the repository is read
numpydoc_show_class_members = False
autosummary_generate = True
templates_path = ["_templates"]
html_theme = "furo"
html_title = "Recombine"
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_templates"]
suppress_warnings = ["myst.header"]


def setup(app):
    """Have formulas written as MathML, which browsers draw by themselves."""
    from docutils.nodes import SkipNode

    def inline(translator, node):
        translator.body.append(convert(node.astext(), display="inline"))
        raise SkipNode

    def block(translator, node):
        translator.body.append(f"<div class='math'>{convert(node.astext(), display='block')}</div>")
        raise SkipNode

    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
