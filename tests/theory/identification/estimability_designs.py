"""Draw 500 random designs, ask R's estimability package about them, and store both in estimability_designs.json.

Run ``python tests/theory/identification/estimability_designs.py`` (needs Rscript and the R package).
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
NUMBER = 500
LARGEST_PRODUCT = 240


def random_design(generator: np.random.Generator) -> dict[str, object]:
    """Return sizes, order and the seen cells as a string of 0 and 1."""
    while True:
        factors = int(generator.integers(2, 6))
        sizes = [int(size) for size in generator.integers(2, {2: 13, 3: 7, 4: 5, 5: 4}[factors], size=factors)]
        if np.prod(sizes) <= LARGEST_PRODUCT:
            break
    order = int(generator.integers(1, min(factors, 3)))
    density = generator.choice([0.1, 0.2, 0.3, 0.5, 0.7])
    # Two blocks that share few cells: disconnected or nearly so, which plain random designs seldom are.
    seen = generator.random(sizes) < density
    if generator.random() < 0.4:
        halves = [generator.random(size) < 0.5 for size in sizes]
        sides = np.stack(np.meshgrid(*halves, indexing="ij"))
        seen &= sides.all(axis=0) | ~sides.any(axis=0) | (generator.random(sizes) < 0.03)
    seen.reshape(-1)[generator.integers(seen.size)] = True
    return {"sizes": sizes, "order": order, "seen": "".join("01"[int(cell)] for cell in seen.reshape(-1))}


def ask_r(designs: list[dict[str, object]]) -> list[str]:
    """Return R's answer to each design as a string of 0 and 1, one for every cell."""
    lines = [f"{','.join(map(str, d['sizes']))} {d['order']} {d['seen']}" for d in designs]  # type: ignore[call-overload]
    done = subprocess.run(
        [shutil.which("Rscript") or "Rscript", str(HERE / "estimability.R")],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def main() -> None:
    """Write the file."""
    generator = np.random.default_rng(20261115)
    designs = [random_design(generator) for _ in range(NUMBER)]
    answers = ask_r(designs)
    assert len(answers) == NUMBER
    lines = [json.dumps(design | {"estimable": answer}) for design, answer in zip(designs, answers, strict=True)]
    (HERE / "estimability_designs.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
