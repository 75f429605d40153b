"""Advice says which cells to collect next, given costs and cells that cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.advice.candidates import read_costs as read_costs
    from recombine.jobs.advice.candidates import read_forbidden as read_forbidden
    from recombine.jobs.advice.plan import Pick as Pick
    from recombine.jobs.advice.plan import Plan as Plan
    from recombine.jobs.advice.plan import plan as plan

lazy_package(__name__)
