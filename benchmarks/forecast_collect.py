"""What the audit says of models and what trained models then did, table by table: a file per trial in a folder.

Run: ``python benchmarks/forecast_collect.py FOLDER [--trials N]``. What is there already is not made again, so a run
that was stopped goes on; trials come in an order that the names' hashes decide, so that the first N are a fair draw.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import itertools
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from forecast_tables import forecast_tables, real_trials
from recombine.jobs.audit import fitted_networks
from recombine.jobs.audit.additivity import check_additivity
from recombine.jobs.audit.forecast import forecast
from recombine.jobs.training import TrainingTask
from trained_models import CLASSIFIERS, SAME, Trial, is_classified, planted_trials, predictions
from value_tables import hashed

#: What is said without held-out rows takes most of the time: it is tried on one table of so many first, then on others.
TABLES_PER_FIRST = 3
#: Without held-out rows, models besides the network are trained on one table of so many.
TABLES_PER_MODEL = 8
#: Planted leaks, and as many planted shortcuts.
PLANTED = 12


def tables_in(cache: Path) -> list[Any]:
    """Return the tables, read once and kept."""
    file = cache / "tables.pkl"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pickle.dumps(forecast_tables()))
    tables: list[Any] = pickle.loads(file.read_bytes())
    return tables


def kept(trial: Trial, part: str, cache: Path, make: Callable[[Trial, Path], dict[str, Any]]) -> dict[str, Any]:
    """Return one part of the record of a trial, made once."""
    file = file_of(trial, part, cache)
    if not file.exists():
        start, fitted_networks.DEPTHS = time.process_time(), (1,)  # of deeper networks nothing is said
        made = make(trial, cache)
        file.write_bytes(pickle.dumps(made))
        print(f"{trial.name}, {part}: {time.process_time() - start:.1f} s", flush=True)
    stored: dict[str, Any] = pickle.loads(file.read_bytes())
    return stored


def file_of(trial: Trial, part: str, cache: Path) -> Path:
    """Return where a part of the record of a trial is kept."""
    return cache / f"{part}-{hashed(trial.name + trial.kind) % 16**16:016x}.pkl"


def with_split(trial: Trial, cache: Path) -> dict[str, Any]:
    """Return what is said where rows are held out, and what other models did."""
    told = forecast(trial.design, trial.unseen)
    record: dict[str, Any] = {"trial": trial, "split": told}
    record["trained"] = trained(trial.design, told, None, drawn(trial))
    record["truth"] = {model: predictions(trial, model, cache) for model in trial.models}
    if trial.kind == "real" and is_classified(trial):
        classes = record["classes"] = trial.classes
        record["trained classes"] = trained(classes.design, told, None, ())
        record["truth of classes"] = {model: predictions(classes, model, cache) for model in CLASSIFIERS}
    return record


def without_split(trial: Trial, cache: Path) -> dict[str, Any]:
    """Return what is said of the training part alone."""
    alone = trial.seen_only
    told = forecast(alone, trial.unseen, check=check_additivity(alone, (1,)).at(1))
    few = () if hashed(trial.name, "folds") % TABLES_PER_MODEL else drawn(trial)
    record: dict[str, Any] = {"alone": told, "trained alone": trained(alone, told, trial.unseen, few)}
    if trial.kind == "real" and is_classified(trial):
        record["trained classes alone"] = trained(trial.classes.seen_only, told, None, ())
    return record


def drawn(trial: Trial) -> tuple[str, ...]:
    """Return the models besides the network that the audit trains: others have nothing beside them."""
    return tuple(name for name, model in SAME.items() if model in trial.models)


def trained(design: Any, told: Any, unseen: Any, names: Any) -> Any:
    """Return what the audit trains on the cells that its forecast was scored on; None where it trains nothing."""
    if told.scored is None or design.outcome is None or np.ptp(design.outcome[design.train]) == 0:
        return None
    return TrainingTask(design, told.scored.places, unseen, names=names).training


def collected(cache: Path, trials: int | None = None, only_made: bool = False) -> list[dict[str, Any]]:
    """Return the records of the first real tables and of planted ones, made where they are missing."""
    real = list(itertools.islice(real_trials(tables_in(cache)), trials))
    every, records = [*planted_trials(PLANTED), *real], {}
    first = [trial.kind != "real" or hashed(trial.name, "alone") % TABLES_PER_FIRST == 0 for trial in every]
    parts: list[tuple[Trial, str, Any]] = []
    for trial, soon in zip(every, first, strict=True):
        parts += [(trial, "split", with_split), *([(trial, "alone", without_split)] if soon else [])]
    parts += [(trial, "alone", without_split) for trial, soon in zip(every, first, strict=True) if not soon]
    for trial, part, make in parts:
        if only_made and not file_of(trial, part, cache).exists():
            continue
        try:
            records.setdefault(id(trial), {}).update(kept(trial, part, cache, make))
        except Exception as problem:  # one table must not stop the others; it is named
            print(f"{trial.name}, {part}: {type(problem).__name__}: {problem}", flush=True)
    return [record for record in records.values() if "trial" in record]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--trials", type=int)
    options = parser.parse_args()
    print(f"{len(collected(options.cache, options.trials))} trials")


if __name__ == "__main__":
    main()
