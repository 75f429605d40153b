"""How well the score names causes: planted models whose causes are known, and networks trained on real tables.

Planted (`planted_models`): a cause is recovered where its true amount lies in the range that the score gives. Real:
scikit-learn networks on tables that others published (`real_tables`, which says what to install), and how much of their
error over noise has a named cause.

    python benchmarks/score.py planted --runs 200
    python benchmarks/score.py classes --runs 200
    python benchmarks/score.py gains --runs 25
    python benchmarks/score.py real
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from planted_models import KINDS, MODELS, Kind, class_parts, draw_classes, draw_world, planted_amounts
from real_tables import real_frames
from recombine import Design, InputError, score
from recombine.jobs.score import CAUSES, ModelScore, Score
from recombine.words import model_sentences

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


def planted(runs: int, kinds: Sequence[Kind]) -> None:
    """Print how often each cause's true amount lies in its range: by world and model, then over all."""
    print(f"{runs} runs; share in range, mean true amount, mean of estimate less truth\n")
    overall: dict[str, list[bool]] = defaultdict(list)
    for kind in kinds:
        found: dict[tuple[str, str], list[tuple[bool, float, float]]] = defaultdict(list)
        for run in range(runs):
            world = draw_world(kind, run)
            parts = {name: model(world) for name, model in MODELS.items() if _applies(kind.structure, name)}
            told = {name: world.at_held_out(world.told.whole + sum(some.values())) for name, some in parts.items()}
            result = score(world.design, told, structure=kind.structure)
            for model in result.models:
                truth, slack = planted_amounts(world, parts[model.name]), _slack(model)
                if model.name in SLOPES:
                    _count_slopes(model, overall)
                for cause, amount in (model.causes | {"gain": model.gain}).items():
                    assert amount is not None
                    true = truth.get(cause, 0.0)
                    within = amount.low - slack <= true <= amount.high + slack
                    found[model.name, cause].append((within, true, amount.value - true))
                    # What a planted model remembers of the seen cells is in part what a network would.
                    if model.name not in REMEMBERS or cause not in ("memorization", "rest"):
                        overall[cause].append(within)
        print(f"{kind.name}\n{'':26}" + "".join(f"{cause:>20}" for cause in COUNTED))
        for name in MODELS:
            texts = [_text(found[name, cause]) for cause in COUNTED]
            if any(texts):
                print(f"  {name:24}" + "".join(f"{text:>20}" for text in texts), flush=True)
    print("\nall   " + ", ".join(f"{cause} {np.mean(entries):.1%}" for cause, entries in overall.items()))


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


def _count_slopes(model: ModelScore, overall: dict[str, list[bool]]) -> None:
    assert model.attribution is not None
    for name, slope in model.attribution.per_factor["leak"].coefficients.items():
        overall["slope"].append(slope.low <= (0.6 if name == "b" else 1.0) <= slope.high)
    for pull in model.attribution.per_factor["shortcut"].coefficients.values():
        overall["pull"].append(pull.low <= 0.0 <= pull.high)


def _slack(model: ModelScore) -> float:
    """A thousandth of the error: the weak pull on coefficients moves amounts that have no other spread by less."""
    assert model.attribution is not None
    return 1e-3 * model.attribution.error.value


def _applies(structure: str, model: str) -> bool:
    return (model == "lost interactions") <= (structure != "add")


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
    parser.add_argument("what", choices=("planted", "classes", "gains", "real"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--world", choices=[kind.name for kind in KINDS], action="append", help="all by default")
    asked = parser.parse_args()
    if asked.what == "planted":
        planted(asked.runs, [kind for kind in KINDS if asked.world is None or kind.name in asked.world])
    elif asked.what == "classes":
        classes(asked.runs)
    elif asked.what == "gains":
        gains(asked.runs)
    else:
        real()


if __name__ == "__main__":
    main()
