"""Identification where some factors lie on a scale, so that cells are weighted sums of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.theory.identification.scaled.routes import leverage_for as leverage_for
    from recombine.theory.identification.scaled.routes import null_vectors_for as null_vectors_for

lazy_package(__name__)
