"""Linear algebra on one thread."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[object]:
    """Keep linear algebra to one thread: a second one only waits where cores are shared (36 s against 4 s)."""
    import scipy.linalg  # noqa: F401 loads its own linear algebra, which can be kept to one thread only once it is there

    limits: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """Look for libraries with threads again only where modules came: to look takes longer than many a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
