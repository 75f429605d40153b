"""Draw the picture of the README from the bundled table: python tools/build_pictures.py."""

from __future__ import annotations

from pathlib import Path

import recombine as rc
from recombine.data import flights_path
from recombine.report.audit import ModelsFigure

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    """Write docs/images/models.png."""
    design = rc.Design.from_frame(flights_path(), ["carrier", "origin", "dest"], "air_time", weight="n", sd="sd")
    figure = ModelsFigure(rc.audit(design).compare_models(), "minutes")
    IMAGES.mkdir(exist_ok=True)
    figure.save(IMAGES / "models.png")


if __name__ == "__main__":
    main()
