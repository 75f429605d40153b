"""Inspection: what activations on a grid of cells tell about a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.jobs.inspection.inspection import Inspection as Inspection
    from recombine.jobs.inspection.inspection import inspect as inspect

open_room(__name__)
