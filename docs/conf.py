"""Sphinx settings: numpydoc for the reference, MyST for the pages, nothing from the network."""

from recombine import __version__

project = "Recombine"
author = "The Recombine authors"
release = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 2  # so that pages can point to headings, as they do where the repository is read
numpydoc_show_class_members = False
autosummary_generate = True
templates_path = ["_templates"]
html_theme = "furo"
html_title = "Recombine"
exclude_patterns = ["_build", "_templates"]
suppress_warnings = ["myst.header"]
