"""What the paper states and shows, each with the claims that judge it."""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

CHECKLIST: tuple[PaperPanel, ...] = ()
