"""Claims on whether the directions that a support leaves open tell where trained decoders err; bars before the runs."""

from __future__ import annotations

from functools import partial

from recombine.lab.papers.bounds import ClearlyAbove
from recombine.lab.papers.claims import Claim
from recombine.lab.papers.first_principles.readings import error_maps

_maps = partial(
    Claim,
    says="ours",
    source="the condition of sufficient support, as a number for each unseen combination",
    reads="error-maps",
    figure="support-errors",
    risk="one small world, whose components and rule theory knows; two decoders a support, of one kind",
)

CLAIMS = (
    _maps(
        "41a",
        "What a support leaves open, to first order, orders supports as the errors of trained decoders do.",
        measure=error_maps.errors_by_support,
        expect={"open directions, hundredths": ClearlyAbove(50)},
    ),
    _maps(
        "41b",
        "Within a support it tells on which unseen combinations decoders err, better than the way to a seen one.",
        measure=error_maps.maps_within_supports,
        expect={
            "open directions, hundredths": ClearlyAbove(0),
            "open directions less way, hundredths": ClearlyAbove(0),
        },
    ),
)
