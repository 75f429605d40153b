"""Papers, one package each, with claims that are judged against experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.papers.claims import Claim as Claim
    from recombine.lab.papers.paper import Paper as Paper
    from recombine.lab.papers.paper import Plot as Plot
    from recombine.lab.papers.paper import available as available
    from recombine.lab.papers.paper import find as find
    from recombine.lab.papers.reproduce import Order as Order
    from recombine.lab.papers.reproduce import Reproduction as Reproduction
    from recombine.lab.papers.reproduce import from_results as from_results
    from recombine.lab.papers.reproduce import reproduce as reproduce
    from recombine.lab.papers.standing import Outcome as Outcome
    from recombine.lab.papers.standing import Standing as Standing

lazy_package(__name__)
