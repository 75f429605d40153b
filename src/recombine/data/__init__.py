"""Tables that come with the package; where they are from is in the README beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.data.flights import flights_path as flights_path
    from recombine.data.hit_rates import hit_rate as hit_rate
    from recombine.data.hit_rates import hit_rates as hit_rates

lazy_package(__name__)
