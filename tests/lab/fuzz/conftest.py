"""The modules of tests/fuzz can be imported by their names here, too."""

from __future__ import annotations

import sys
from pathlib import Path

FUZZ = str(Path(__file__).parents[2] / "fuzz")
if FUZZ not in sys.path:
    sys.path.insert(0, FUZZ)
