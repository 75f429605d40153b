"""What experiments need before they start: image sets that are at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recombine.lab.runs.experiment import Unit
from recombine.lab.worlds.images.sources import load_images


def require_images(units: Sequence[Unit], default: str = "", load: Callable[[str], object] = load_images) -> None:
    """Load every image set that units name, or raise the one message that says how to get it.

    Examples
    --------
    >>> require_images([Unit("addition", 1, {"images": "digits"})])
    """
    for name in sorted({unit.setting.get("images", default) for unit in units}):
        load(name)
