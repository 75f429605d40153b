"""The built page: script and style in one HTML file, made from ``page/`` of the repository."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def page_path() -> Path:
    """Return the path of the page; any browser opens it, from disk or from a static site.

    Examples
    --------
    >>> page_path().read_text(encoding="utf-8").splitlines()[0]
    '<!doctype html>'
    """
    return Path(str(files("recombine.explore") / "page.html"))
