"""Rebuild the bundled drug screen from the CCLE file of drug responses: python tools/build_screen.py FILE.

``FILE`` is ``CCLE_NP24.2009_Drug_data_2015.02.24.csv`` of the Cancer Cell Line Encyclopedia (Barretina et al., Nature
483, 603-607, 2012), which DepMap distributes under CC BY 4.0. Its skin lines are kept: all 24 drugs on 40 lines. What
is ``measured`` here is what two campaigns would have: every second drug on every second line, half of those wells; the
other wells of the screen are ``hidden``, so that whoever likes can look how well they were predicted.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src" / "recombine" / "data" / "screen.csv"
LINE, DRUG, AREA = "CCLE Cell Line Name", "Compound", "ActArea"


def main() -> None:
    """Write the table."""
    with Path(sys.argv[1]).open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row[LINE].endswith("_SKIN")]
    wells = sorted((row[DRUG], row["Primary Cell Line Name"], f"{float(row[AREA]):.3f}") for row in rows)
    drugs, lines = (sorted({well[column] for well in wells}) for column in (0, 1))
    chosen = np.random.default_rng(0).random((len(drugs), len(lines))) < 0.5
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["drug", "cell_line", "activity", "split"])
        for drug, line, area in wells:
            place = drugs.index(drug), lines.index(line)
            same_campaign = place[0] % 2 == place[1] % 2
            writer.writerow([drug, line, area, "measured" if same_campaign and chosen[place] else "hidden"])
    print(f"{TARGET}: {len(wells)} wells, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
