"""The templates of HTML pages, with the words and colours that they use."""

from __future__ import annotations

import platform
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from recombine import words
from recombine._version import __version__
from recombine.report.theme import NARROW_WIDTH
from recombine.verdicts import Verdict
from recombine.writing import amount, beside_error, number, percent, plural, printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from recombine.report.figure import Figure


def fill_template(template: str, *, package: str = "recombine.report", **parts: object) -> str:
    """Return a template of ``package`` with its holes filled in; text is `printable` and escaped, but for figures."""
    text: str = _environment(package).get_template(template).render(**parts)
    return text


@lru_cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("recombine.words")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    style = Markup(verdict_style() + (files("recombine.report") / "style.css").read_text(encoding="utf-8"))
    ask = Markup((files("recombine.report") / "templates" / "ask.js").read_text(encoding="utf-8"))
    environment.filters |= {"number": number, "amount": amount, "beside": beside_error, "inline": inline_both}
    environment.globals |= {
        "Verdict": Verdict,
        "words": words,
        "percent": percent,
        "versions": versions,
        "plural": plural,
        "style": style,
        "ask": ask,
        "policy": Markup(_policy(ask)),
    }
    return environment


def verdict_style() -> str:
    """Return the colours of the verdicts as variables of a style sheet: ``--v0`` and so on, by code."""
    return f":root {{ {' '.join(f'--v{int(kind)}: {kind.colour};' for kind in Verdict)} }}\n"


def _policy(script: str) -> str:
    """Say what a browser may do with a report: run this one script, and load nothing."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    allowed = {"script-src": f"'sha256-{digest}'", "style-src": "'unsafe-inline'", "img-src": "data:"}
    allowed |= dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
    return "; ".join(f"{kind} {source}" for kind, source in allowed.items())


@lru_cache(maxsize=1)
def versions() -> list[tuple[str, str]]:
    """Return the versions of this package, of Python and of the libraries that give numbers and drawings."""
    libraries = [(name, version(name)) for name in ("numpy", "scipy", "matplotlib")]
    return [("recombine", __version__), ("Python", platform.python_version()), *libraries]


def inline_both(figure: Figure) -> Markup:
    """Return a figure as markup twice, for wide and for narrow screens; the style sheet shows one."""
    from markupsafe import Markup

    return Markup(f'<div class="wide">{figure.svg()}</div><div class="narrow">{figure.svg(NARROW_WIDTH)}</div>')
