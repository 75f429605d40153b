"""What to collect, in words."""

from __future__ import annotations

NOTHING_TO_COLLECT = "Nothing: there is no further cell to collect that would help much."
