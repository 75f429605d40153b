"""The audit of the bundled flights and its page, made once for all tests that look at them."""

from __future__ import annotations

from functools import cache

import recombine as rc
from recombine.data import flights_path
from recombine.report.audit.page import page


@cache
def flights() -> rc.Audit:
    design = rc.Design.from_frame(
        flights_path(), factors=["carrier", "origin", "dest"], outcome="air_time", weight="n", sd="sd"
    )
    return rc.audit(design)


@cache
def flights_page() -> str:
    return page(flights())
