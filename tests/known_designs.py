"""Designs that a table would give, made of one without scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recombine.design.design import Design
from recombine.design.scaling import put_on_scales, scales_asked
from recombine.table_spec import make_spec


def on_scales(design: Design, ordered: Sequence[str] = (), numeric: Sequence[str] = ()) -> Design:
    """Return the design with some factors ordered or numeric: their levels share a curve, so others follow between."""
    scales = scales_asked(ordered, numeric, design.names)
    if not scales:
        return design
    changes = {"ordered": (*design.spec.ordered, *ordered), "numeric": (*design.spec.numeric, *numeric)}
    return replace(design, space=put_on_scales(design.space, scales), spec=make_spec(design.spec, changes))
