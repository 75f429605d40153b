"""Where statements stand, under which headings, and bounds for two sizes of images.

Bounds are for the released sizes (28 x 28 pixels, a hole of 17 x 17); where 16 x 16 pixels ask for another, it follows.
The paper prints few numbers, so that bounds are ours; sources say where a statement stands.
"""

from __future__ import annotations

from recombine.lab.papers.bounds import Bound, ByScale, by_scale
from recombine.lab.papers.forced_rendering.readings.rows import PAPER_SIZE, SMALL

#: Headings of the page.
HOLE, PASTING, SHEETS = "Decoders fail in the hole", "They superpose what they saw", "Kernels, directions and areas"
REMEDIES, ELSEWHERE = "Rendering each factor in pixels helps", "Other tasks"
ABSTRACT = "abstract, PMLR 267"
#: The authors' code, as owner and name on GitHub.
CODE = "qiyaoliang/DisentangledCompGen"
README = f"README of {CODE}"


def by_size(paper: Bound, small: Bound) -> ByScale:
    """Return a bound for the paper's images and one for those of 16 x 16 pixels.

    Examples
    --------
    >>> from recombine.lab.papers.bounds import Below
    >>> str(by_size(Below(0.05), Below(0.2)).at("16 pixels"))
    'below 0.2'
    """
    return by_scale(**{PAPER_SIZE: paper, SMALL: small})
