"""First principles: what is read off sprites without a network, what supports hide and which pixels have full rank."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.first_principles.grids import SKETCHES
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.seeds import require
from recombine.tables.table import Table


def hidden_shares(rows: Table) -> Measured:
    """Return the share of back pixels that a narrow and a wide diagonal hide, and whether it rises with the width."""
    uniform, ends = rows.only(way="drawn"), rows.only(way="ends")
    narrow, wide = (require(uniform, width=width) for width in (0.05, 0.2))
    limit = float(require(ends, width=0.05)["hidden"][0])
    steps = [np.diff(rows_by_width["hidden"][np.argsort(rows_by_width["width"])]) for rows_by_width in (uniform, ends)]
    numbers = {
        "hidden by the narrow": narrow["hidden"][0],
        "hidden by the wide": wide["hidden"][0],
        "largest rise with width": np.concatenate(steps).max(),
        "more with fronts at the ends": limit - float(narrow["hidden"][0]),
    }
    detail = (
        f"share of the pixels of {narrow['values'][0]} back sprites together, half-widths 0.05 and 0.2; with "
        f"{narrow['fronts'][0]} drawn fronts each it is an upper estimate, as draws overlook fronts that show a pixel; "
        f"with fronts at the ends of the band as well it is {limit:.3f} at 0.05, lower and still an upper bound"
    )
    return Measured(numbers, detail)


def unmet_conditions(rows: Table) -> Measured:
    """Return which supports miss values of a slot, and which never show some pixels of a back sprite."""
    cases = {name: require(rows, support=name) for name in SKETCHES} | rows.by("support")
    missing, pixels = ({name: seen[column][0] for name, seen in cases.items()} for column in ("missing", "back pixels"))
    numbers = {
        "not compositional": sorted(name for name in cases if missing[name] > 0),
        "pixels unseen": sorted(name for name in cases if pixels[name] < 1),
    }
    listed = [f"{name}: {missing[name]:.1%} missing, {pixels[name]:.2%} shown" for name in cases]
    return Measured(numbers, f"on the probed values; {'; '.join(listed)}")


def _rule(rows: Table, rule: str) -> Table:
    """Rows of a rule of composition, with one anchor in front and with two."""
    for support in ("orthogonal*", "orthogonal"):
        require(rows, rule=rule, support=support)
    return rows.only(rule=rule)


def full_rank_pixels(rows: Table) -> Measured:
    """Return at how many pixels the back has full rank by number of anchors, and probes with full rank for RGBa."""
    hard, soft, clear = (_rule(rows, rule) for rule in ("hard", "soft", "rgba"))
    single, double = (hard.only(slot=1, support=name)["full"] for name in ("orthogonal*", "orthogonal"))
    full = {name: int((probes["full"] == probes["pixels"]).sum()) for name, probes in (("soft", soft), ("rgba", clear))}
    numbers = {
        "full rank with one anchor": np.unique(single),
        "full rank with two anchors": np.unique(double),
        "RGBa probes of full rank": full["rgba"],
    }
    detail = (
        f"{len(single)} back sprites each, {hard['pixels'][0]} pixels; {len(clear)} probes of RGBa; soft occlusion has "
        f"full rank at {full['soft']} of {len(soft)}, smallest singular value {soft['smallest'].min():.3f}"
    )
    return Measured(numbers, detail)


def open_shares(rows: Table) -> Measured:
    """Return the share of pixels whose open directions some combination would show, by rule of composition."""
    hard, soft, clear = (_rule(rows, rule) for rule in ("hard", "soft", "rgba"))
    column = "shown elsewhere"
    numbers = {
        "hard, one anchor": np.unique(hard.only(support="orthogonal*", slot=1)[column]),
        "hard, two anchors": hard.only(support="orthogonal")[column].max(),
        "soft": soft[column].max(),
        "RGBa": clear.only(support="orthogonal", slot=0)[column].mean(),
    }
    about = "share of front pixels whose opacity the black anchor leaves open; it grows with combinations drawn"
    return Measured(numbers, f"RGBa: {about}")
