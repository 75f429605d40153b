"""How much less the group norm errs than plain norms on the same gates and samples, seed by seed."""

from __future__ import annotations

import numpy as np

from recombine.lab.papers.measured import Measured, MissingRowsError
from recombine.lab.papers.seeds import Interval, several
from recombine.tables.table import Table

#: What tells one problem from another, by experiment.
BALANCE = ("units", "quantile", "samples", "seed")
TEACHERS = ("units", "deciding", "samples", "seed")
#: The ends that are compared.
FEW_UNITS, MANY_UNITS = 10, 100
MEDIAN_SHARE, SHUT_SHARE = 0.5, 0.95
FEWEST_DECIDING_UNITS, MOST_DECIDING_UNITS = 1, 20


def gains(rows: Table, keys: tuple[str, ...], norm: str = "effective") -> Table:
    """Return one row per problem with "gain", by how many points the group norm errs less than a plain one.

    Examples
    --------
    >>> about = {"units": 5, "deciding": 1, "samples": 50, "seed": 0}
    >>> errors = {"group": 0.1, "effective": 0.15}
    >>> rows = Table.from_rows(about | {"classifier": name, "error": error} for name, error in errors.items())
    >>> gains(rows, TEACHERS)["gain"].round(6).tolist()
    [5.0]
    """
    there = rows.where(np.isfinite(rows["error"]))
    group = {tuple(row[key] for key in keys): row["error"] for row in there.only(classifier="group").rows()}
    listed = [
        {key: row[key] for key in keys} | {"gain": 100 * (row["error"] - group[problem])}
        for row in there.only(classifier=norm).rows()
        if (problem := tuple(row[key] for key in keys)) in group
    ]
    if not listed:
        raise MissingRowsError(f"no problem has limits under both the group norm and {norm!r}")
    return Table.from_rows(listed)


def _by_seed(rows: Table, **chosen: float) -> dict[int, float]:
    """Return each seed's mean gain over the problems of a condition."""
    there = rows.only(**chosen)
    if not len(there):
        raise MissingRowsError(f"no problems with {chosen}")
    return {seed: float(group["gain"].mean()) for seed, group in sorted(there.by("seed").items())}


def _interval(values: dict[int, float]) -> Interval:
    return Interval.of(np.array(list(values.values())))


def _difference(larger: dict[int, float], smaller: dict[int, float]) -> Interval:
    return Interval.of(np.array([larger[seed] - smaller[seed] for seed in larger if seed in smaller]))


def _series(rows: Table, name: str) -> dict[str, float]:
    return {f"{value:g}": float(group["gain"].mean()) for value, group in sorted(rows.by(name).items())}


def few_balanced_units(rows: Table) -> Measured:
    """Return the gain with few units and balanced gates on images."""
    ends = {"units": FEW_UNITS, "quantile": MEDIAN_SHARE}
    plain = gains(rows, BALANCE)
    numbers = {
        "gain over SVM-L2": _interval(_by_seed(plain, **ends)),
        "over L2 on zeta": str(_interval(_by_seed(gains(rows, BALANCE, "zeta"), **ends))),
    }
    return Measured(numbers, _problems(rows, plain))


def gain_by_balance(rows: Table) -> Measured:
    """Return how much smaller the gain is where gates are nearly shut, on images."""
    plain = gains(rows, BALANCE)
    few = plain.only(units=FEW_UNITS)
    numbers = {
        "gain, median less nearly shut": _difference(
            _by_seed(few, quantile=MEDIAN_SHARE), _by_seed(few, quantile=SHUT_SHARE)
        ),
        "gain by share of images below": _series(few, "quantile"),
    }
    return Measured(numbers, _problems(rows, plain))


def gain_by_units(rows: Table) -> Measured:
    """Return how much smaller the gain is with many units, on images."""
    plain = gains(rows, BALANCE).only(quantile=MEDIAN_SHARE)
    numbers = {
        "gain, 10 units less 100": _difference(_by_seed(plain, units=FEW_UNITS), _by_seed(plain, units=MANY_UNITS)),
        "gain by units": _series(plain, "units"),
    }
    return Measured(numbers, _problems(rows, plain))


def one_unit_decides(rows: Table) -> Measured:
    """Return the gains over both plain norms where one unit of the teacher decides."""
    numbers = {
        f"gain over {words}": _interval(_by_seed(gains(rows, TEACHERS, norm), deciding=FEWEST_DECIDING_UNITS))
        for norm, words in (("effective", "SVM-L2"), ("zeta", "L2 on zeta"))
    }
    return Measured(numbers, _problems(rows, gains(rows, TEACHERS)))


def gain_by_deciding(rows: Table) -> Measured:
    """Return how much smaller the gain is where all units decide, and whether plain L2 then errs less."""
    plain = gains(rows, TEACHERS)
    single, every = (_by_seed(plain, deciding=count) for count in (FEWEST_DECIDING_UNITS, MOST_DECIDING_UNITS))
    numbers = {
        "gain, one decides less all": _difference(single, every),
        "gain where all decide": str(_interval(every)),
        "gain by deciding units": _series(plain, "deciding"),
        "over L2 on zeta": _series(gains(rows, TEACHERS, "zeta"), "deciding"),
    }
    return Measured(numbers, _problems(rows, plain))


def plain_where_all_decide(rows: Table) -> Measured:
    """Return how much less plain L2 on unit weights errs than the group norm where all units of the teacher decide."""
    zeta = gains(rows, TEACHERS, "zeta")
    numbers = {"L2 on zeta errs less by": _opposite(_by_seed(zeta, deciding=MOST_DECIDING_UNITS))}
    return Measured(numbers, _problems(rows, zeta))


def plain_on_images(rows: Table) -> Measured:
    """Return how much less plain L2 on unit weights errs than the group norm on images, over all shapes together."""
    zeta = gains(rows, BALANCE, "zeta")
    shapes = [float(group["gain"].mean()) for group in zeta.by("units", "quantile").values()]
    numbers = {
        "L2 on zeta errs less by": _opposite(_by_seed(zeta)),
        "shapes in which it does": f"{sum(gain < 0 for gain in shapes)} of {len(shapes)}",
        "gain of the group norm, by units": _series(zeta, "units"),
    }
    return Measured(numbers, _problems(rows, zeta))


def _opposite(values: dict[int, float]) -> Interval:
    return _interval({seed: -gain for seed, gain in values.items()})


def _problems(rows: Table, compared: Table) -> str:
    """Say how many problems are compared, and in how many nothing separates the samples."""
    every = rows.only(classifier="group")
    none = int((~np.isfinite(every["error"])).sum())
    sizes = ", ".join(str(size) for size in sorted(rows.by("samples")))
    missing = f"; {none} of {len(every)} problems have no limit, as nothing separates their samples" if none else ""
    return (
        f"points of error; {several(len(rows.by('seed')), 'seed')} of samples and gates, each seed's mean over "
        f"{sizes} samples, {len(compared)} problems{missing}"
    )
