"""Tables that come with the package; the function that gives a path says where its table is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.data.flights import flights_path as flights_path
    from recombine.data.hit_rates import hit_rate as hit_rate
    from recombine.data.hit_rates import hit_rates as hit_rates
    from recombine.data.screen import screen_path as screen_path

lazy_package(__name__)
