"""The laboratory: six papers reproduced, the networks, worlds and tasks they need, and the engine that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab import inspection as inspection
    from recombine.lab import nets as nets
    from recombine.lab import papers as papers
    from recombine.lab import report as report
    from recombine.lab import runs as runs
    from recombine.lab import tasks as tasks
    from recombine.lab import worlds as worlds

lazy_package(__name__)
