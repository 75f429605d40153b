"""Papers, one package each: whatever package in this folder has a ``PAPER`` is listed, run and reported.

Examples
--------
>>> from recombine.papers import available
>>> "kernel-theory" in available()
True
"""

from __future__ import annotations

import importlib
import pkgutil

from recombine.errors import InputError, listing, near_miss
from recombine.papers.claims import Claim
from recombine.papers.paper import Paper, Plot
from recombine.papers.standing import Outcome, Standing

__all__ = ["Claim", "Outcome", "Paper", "Plot", "Standing", "available", "find"]


def available() -> dict[str, Paper]:
    """Return every paper by its short name.

    Examples
    --------
    >>> available()["kernel-theory"].citation
    'Lippl and Stachenfeld, ICLR 2025'
    """
    modules = (
        importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__) if found.ispkg
    )
    papers = [module.PAPER for module in modules if isinstance(getattr(module, "PAPER", None), Paper)]
    return {paper.name: paper for paper in sorted(papers, key=lambda paper: paper.name)}


def find(name: str) -> Paper:
    """Return one paper, or say which there are.

    Examples
    --------
    >>> find("kernel-theory").name
    'kernel-theory'
    """
    papers = available()
    if name not in papers:
        raise InputError(f"{name!r} is not a paper;{near_miss(name, papers)} Papers: {listing(papers)}")
    return papers[name]
