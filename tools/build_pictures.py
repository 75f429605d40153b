"""Draw the pictures of the README and the tutorial from the bundled table: python tools/build_pictures.py."""

from __future__ import annotations

from pathlib import Path

import recombine as rc
from recombine.data import flights_path
from recombine.report.audit import ModelsFigure, VerdictMap

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    """Write docs/images/models.png and docs/images/map.png."""
    design = rc.Design.from_frame(flights_path(), ["carrier", "origin", "dest"], "air_time", weight="n", sd="sd")
    audit = rc.audit(design)
    IMAGES.mkdir(exist_ok=True)
    ModelsFigure(audit.compare_models(), "minutes").save(IMAGES / "models.png")
    VerdictMap(audit).save(IMAGES / "map.png")


if __name__ == "__main__":
    main()
