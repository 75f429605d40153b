"""How well the score names causes: planted models whose causes are known, and networks trained on real tables.

Planted (`planted_models`): a cause is recovered where its true amount lies in the range that the score gives. Real:
scikit-learn networks on tables that others published (`real_tables`, which says what to install), and how much of their
error over noise has a named cause.

    python benchmarks/score.py planted --runs 20 --write
    python benchmarks/score.py learned --runs 20 --write
    python benchmarks/score.py classes --runs 200
    python benchmarks/score.py gains --runs 25
    python benchmarks/score.py real
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from planted_models import KINDS, MODELS, Floats, Kind, World, class_parts, draw_classes, draw_world, planted_amounts
from real_tables import real_frames
from recombine import Design, InputError, score
from recombine.jobs.limits import SCORE_LIMITS
from recombine.jobs.score import CAUSES, ModelScore, Score
from recombine.jobs.score.score import score_of
from recombine.words import model_sentences

Row = dict[str, Any]
RESULTS = Path(__file__).parents[1] / "results" / "score"
#: The model that knows departures, models none of which does, and worlds without and with something to learn.
LEARNED, NONE_LEARNED = "learned interactions", ("exact", "leak of b", "random", "shortcut a")
LEARNABLE_WORLDS = ("noisy sums", "strong interactions", "noisy interactions", "nested")
#: A cause of so much of the error is missed if its range holds 0.
MIN_SHARE_MISSED = 0.1
#: What is counted: every cause, and the gain over adding.
COUNTED = (*CAUSES.names, "gain")
#: Rows of a table that networks are trained on, at most, and draws of which cells are held out.
MOST_ROWS, SPLITS = 4_000, 1
HELD_SHARE = 0.35
#: Models whose rest is in part memory: memorization and rest share it, and are not counted.
REMEMBERS = ("learned interactions", "leak of b, no seen noise")
FEWEST_CELLS = 20
#: Models of which 0.6 of the effect of b arrives and all of the others', no marginal followed: of measured effects, and
#: of effects without the noise of the measured cells.
SLOPES = ("leak of b", "leak of b, no seen noise")


def planted(runs: int, kinds: Sequence[Kind]) -> list[Row]:
    """Return, for each cause of each planted model, its true amount beside what the score says."""
    rows: list[Row] = []
    for kind in kinds:
        for run in range(runs):
            world = draw_world(kind, run)
            parts = {name: model(world) for name, model in MODELS.items() if _applies(kind, name)}
            told = {name: world.at_held_out(world.told.whole + sum(some.values())) for name, some in parts.items()}
            held_out = score(world.design, told, structure=kind.structure)
            if held_out.regressors is None:
                continue
            # One by one: what one of several models got right would be told apart from structure.
            for name, predicted in told.items():
                model = score_of(held_out, {name: predicted[:, None]}, seed=0).models[0]
                rows += [{"world": kind.name, "run": run} | row for row in _told(world, model, parts[name])]
        _print_world(kind.name, [row for row in rows if row["world"] == kind.name])
    return rows


def _told(world: World, model: ModelScore, parts: dict[str, Floats]) -> Iterator[Row]:
    """Yield what one model's causes, gain, and slopes truly are, and what is said of them."""
    assert model.attribution is not None
    assert model.gain is not None
    truth, slack = planted_amounts(world, parts), _slack(model)
    if "seen noise" not in model.causes:
        truth["structure"] += truth.pop("seen noise")
    names = [name for name in model.causes if model.name not in REMEMBERS or name not in ("memorization", "rest")]
    amounts = [(name, model.causes[name], truth.get(name, 0.0), slack) for name in names]
    amounts.append(("gain", model.gain, truth["gain"], slack))
    for cause, asked, factor in (("leak", "slope", "b"), ("shortcut", "pull", "")):
        table = model.attribution.per_factor[cause].coefficients if model.name in SLOPES else {}
        expected = {"slope": 1.0, "pull": 0.0}[asked]
        amounts += [(asked, amount, 0.6 if name == factor else expected, 0.0) for name, amount in table.items()]
    error = truth["error"]
    for cause, amount, true, slack in amounts:
        row = {"model": model.name, "cause": cause, "true": true, "told": amount.value, "error": error}
        yield row | {
            "held": bool(amount.low - slack <= true <= amount.high + slack),
            "within chance": amount.within_chance,
        }


def counts(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return by cause how often the range held, and how often a cause of a tenth of the error was missed."""
    counted: dict[str, dict[str, float]] = {}
    for cause in dict.fromkeys(row["cause"] for row in rows):
        mine = [row for row in rows if row["cause"] == cause]
        counted[cause] = {"held": float(np.mean([row["held"] for row in mine])), "of": len(mine)}
        large = [row for row in mine if cause in CAUSES.names and row["true"] > MIN_SHARE_MISSED * row["error"]]
        if large:
            counted[cause] |= {"missed": sum(row["within chance"] for row in large), "large": len(large)}
    return counted


def _print_world(name: str, rows: Sequence[Row]) -> None:
    texts = []
    for cause, of in counts(rows).items():
        missed = f" (missed {of['missed']:.0f} of {of['large']:.0f})" if "large" in of else ""
        texts.append(f"{cause} {of['held']:.1%}{missed}")
    print(f"{name}, {max((row['run'] for row in rows), default=-1) + 1} runs: {', '.join(texts)}", flush=True)


def write(what: str, runs: int, found: dict[str, Any]) -> None:
    """Store what was counted."""
    record = {
        "command": f"python benchmarks/score.py {what} --runs {runs} --write",
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "recombine")},
        "python": platform.python_version(),
        "seed": 0,
        "device": "cpu",
    }
    rows = ",\n".join(map(json.dumps, found.pop("rows", [])))
    text = json.dumps(record | found, indent=1).removesuffix("\n}") + (
        f',\n "rows": [\n{rows}\n]\n}}\n' if rows else "\n}\n"
    )
    (RESULTS / f"{what}.json").write_text(text, encoding="utf-8")


def learned(runs: int) -> list[Row]:
    """Return what is said of the structure that another model got right, beside its true amount.

    One model of each group knows four fifths of all departures, or none does: then whatever is said to be learnable is
    chance, or agreement of departures that the planted models have by design.
    """
    groups = {"one learned it": ("exact", "leak of b", "random", LEARNED), "none did": NONE_LEARNED}
    rows: list[Row] = []
    for kind in [kind for kind in KINDS if kind.name in LEARNABLE_WORLDS]:
        for run, (group, names) in itertools.product(range(runs), groups.items()):
            world = draw_world(kind, run)
            departures = {name: sum(MODELS[name](world).values()) for name in names}
            told = {name: world.at_held_out(world.told.whole + departure) for name, departure in departures.items()}
            for model in score(world.design, told, structure=kind.structure).models:
                if model.name == LEARNED:
                    continue
                amount = model.causes.get("learnable")
                told_of = {"told": 0.0 if amount is None else amount.value, "by": "" if amount is None else _by(model)}
                row = {"world": kind.name, "run": run, "group": group, "model": model.name} | told_of
                if LEARNED in departures:
                    true = _learnable(world, departures[model.name], departures[LEARNED])
                    row |= {"true": true, "held": amount is not None and amount.low <= true <= amount.high}
                rows.append(row | {"share": model.share(row["told"])})
    for world, group in itertools.product(LEARNABLE_WORLDS, groups):
        mine = [row for row in rows if (row["world"], row["group"]) == (world, group)]
        said = [row for row in mine if row["by"]]
        print(
            f"{world}, {group}: said of {len(said)} of {len(mine)} models, over a twentieth of the error of "
            f"{sum(row['share'] > SCORE_LIMITS.share_told for row in said)}; right model "
            f"{sum(row['by'] == LEARNED for row in said)}, true amount in range "
            f"{sum(bool(row.get('held')) for row in said)}"
        )
    return rows


def _by(model: ModelScore) -> str:
    assert model.attribution is not None
    return next(iter(model.attribution.by.values()), "")


def _learnable(world: World, departure: Floats, other: Floats) -> float:
    """Return how much of a model's structure the ``other`` got right, over all unseen cells, without seen noise."""
    beyond = world.truth[world.unseen] - world.told.whole
    share = float(np.clip(other @ beyond / (other @ other), 0.0, 1.0))
    noise = np.mean((world.told.whole - world.noiseless.whole) ** 2)
    return float(-share * np.mean(other * (departure - beyond)) - share * noise)


def classes(runs: int) -> None:
    """Print the same of three classes, whose errors are summed."""
    names = ("exact", "leak of b", "leak of all", "shortcut a", "leak and shortcut", "random")
    found: dict[tuple[str, str], list[tuple[bool, float, float]]] = defaultdict(list)
    overall: dict[str, list[bool]] = defaultdict(list)
    for run in range(runs):
        worlds = draw_classes(run)
        parts = {name: class_parts(worlds, MODELS[name]) for name in names}
        told = {
            name: np.stack(
                [
                    world.at_held_out(world.told.whole + sum(mine.values()))
                    for world, mine in zip(worlds, some, strict=True)
                ],
                axis=1,
            )
            for name, some in parts.items()
        }
        # Cells that are not determined have the truth's chances, which sum to 1 as well.
        result = score({f"class {place}": world.design for place, world in enumerate(worlds)}, told)
        for model in result.models:
            amounts = [planted_amounts(*pair) for pair in zip(worlds, parts[model.name], strict=True)]
            slack = _slack(model)
            for cause, amount in (model.causes | {"gain": model.gain}).items():
                assert amount is not None
                true = sum(each.get(cause, 0.0) for each in amounts)
                within = amount.low - slack <= true <= amount.high + slack
                found[model.name, cause].append((within, true, amount.value - true))
                overall[cause].append(within)
    print(f"three classes, {runs} runs\n{'':26}" + "".join(f"{cause:>20}" for cause in COUNTED))
    for name in names:
        print(f"  {name:24}" + "".join(f"{_text(found[name, cause]):>20}" for cause in COUNTED))
    print("\nall   " + ", ".join(f"{cause} {np.mean(entries):.1%}" for cause, entries in overall.items()))


def gains(runs: int) -> None:
    """Print how often a gain is put down to departures: of models that know them all, and of models that know none.

    The latter know the effects without noise, and in a world of sums so do the former.
    """
    said: dict[str, list[bool]] = defaultdict(list)
    for kind in KINDS[:3]:
        for run in range(runs):
            world = draw_world(kind, run)
            told = {
                "all": world.at_held_out(world.truth[world.unseen]),
                "none": world.at_held_out(world.noiseless.whole),
            }
            result = score(world.design, told, structure=kind.structure)
            for model in result.models:
                departs = model.name == "all" and kind.interaction > 0
                words = " ".join(model_sentences(result, model))
                said["departures" if departs else "none"].append("departures that it got right." in words)
    print(f"said of models that know departures: {sum(said['departures'])} of {len(said['departures'])}")
    print(f"said of models that know none: {sum(said['none'])} of {len(said['none'])}")


def _slack(model: ModelScore) -> float:
    """A thousandth of the error: the weak pull on coefficients moves amounts that have no other spread by less."""
    assert model.attribution is not None
    return 1e-3 * model.attribution.error.value


def _applies(kind: Kind, model: str) -> bool:
    if model in ("lost interactions", "sums only"):
        return kind.structure != "add"
    return model not in ("leak of a", "leak of a and b") or kind.children > 0


def _text(entries: list[tuple[bool, float, float]]) -> str:
    if not entries:
        return ""
    share, true, bias = np.mean(entries, axis=0)
    return f"{share:.1%} {true:.3f} {bias:+.3f}"


def real() -> None:
    """Print, by table, what a network's error on determined held-out cells is made of."""
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    for name, frame, factors, outcome in real_frames():
        for split in range(SPLITS):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = _trained(frame, factors, outcome, split)
            if found is None:
                continue
            for model in found.models:
                _print_one(f"{name} {split}", found, model)
                rows[model.name].append(_shares(model))
    for name, some in rows.items():
        explained = np.array([row["explained"] for row in some])
        known = explained[np.isfinite(explained)]
        print(
            f"\n{name}: {len(some)} trials; error over noise explained, where that is a fifth of the error or more: "
            f"median {np.median(known):.0%}, mean {np.mean(known):.0%}, at least 80 % in {np.mean(known >= 0.8):.0%} "
            f"of {len(known)}"
        )
        for cause in CAUSES.names:
            print(f"  {cause:12} {np.mean([row.get(cause, 0.0) for row in some]):.2f} of the error on average")


def _trained(frame: Any, factors: list[str], outcome: str, seed: int) -> Score | None:
    """Hold out a share of a table's cells, train networks on the rows of the others, and score them."""
    from sklearn.neural_network import MLPRegressor
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(seed)
    frame = frame.iloc[np.sort(rng.permutation(len(frame))[:MOST_ROWS])]
    cell = frame.groupby(factors, observed=True).ngroup().to_numpy()
    frame = frame.assign(part=np.where((rng.random(cell.max() + 1) < HELD_SHARE)[cell], "test", "train"))
    train = (frame.part == "train").to_numpy()
    if train.all() or not train.any():
        return None
    inputs = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(frame[factors]).transform(frame[factors])
    values = frame[outcome].to_numpy(dtype=float)
    mean, spread = values[train].mean(), values[train].std() or 1.0
    models = {
        "MLP, 1 hidden layer": MLPRegressor(hidden_layer_sizes=(100,), max_iter=500, random_state=seed),
        "MLP, 2 hidden layers": MLPRegressor(hidden_layer_sizes=(100, 100), max_iter=500, random_state=seed),
    }
    for name, model in models.items():
        fitted = model.fit(inputs[train], (values[train] - mean) / spread)
        frame = frame.assign(**{name: mean + spread * fitted.predict(inputs)})
    try:
        design = Design.from_frame(
            frame, factors=factors, outcome=outcome, split="part=train", as_levels=factors, crossed=True
        )
        found = score(design, frame, list(models), "part=train", seed=seed)
    except InputError as error:
        print(f"  left out: {error}")
        return None
    return found if found.determined >= FEWEST_CELLS else None


def _shares(model: ModelScore) -> dict[str, float]:
    assert model.attribution is not None
    whole = model.attribution.error.value
    return {name: amount.value / whole for name, amount in model.causes.items()} | {"explained": model.explained}


def _print_one(name: str, found: Score, model: ModelScore) -> None:
    shares = _shares(model)
    causes = " ".join(f"{cause} {shares[cause]:+.2f}" for cause in CAUSES.names if cause in shares)
    structure = found.audit.choice.name
    print(
        f"{name[:34]:34} {model.name:21} {structure:10} {found.determined:5} cells  "
        f"explained {model.explained:5.0%}  {causes}",
        flush=True,
    )


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description="How well the score names causes.")
    parser.add_argument("what", choices=("planted", "learned", "classes", "gains", "real"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--world", choices=[kind.name for kind in KINDS], action="append", help="all by default")
    parser.add_argument("--write", action="store_true", help="store what was counted")
    asked = parser.parse_args()
    if asked.what == "planted":
        rows = planted(asked.runs, [kind for kind in KINDS if asked.world is None or kind.name in asked.world])
        _print_world("all worlds", rows)
        if asked.write:
            worlds = {row["world"]: [each for each in rows if each["world"] == row["world"]] for row in rows}
            by_world = {name: counts(mine) for name, mine in worlds.items()}
            write(asked.what, asked.runs, {"all": counts(rows), "worlds": by_world})
    elif asked.what == "learned":
        rows = learned(asked.runs)
        if asked.write:
            write(asked.what, asked.runs, {"rows": rows})
    elif asked.what == "classes":
        classes(asked.runs)
    elif asked.what == "gains":
        gains(asked.runs)
    else:
        real()


if __name__ == "__main__":
    main()
