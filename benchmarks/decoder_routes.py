"""Decoders trained alone and three in a batch: is it the same training, and how many networks lose a slot?

Three measurements on the paper's sprites (a GPU; about 20 minutes on an H200)::

    python benchmarks/decoder_routes.py paths       # how far apart two trainings of one seed drift
    python benchmarks/decoder_routes.py gradients   # both routes' gradients beside float64
    python benchmarks/decoder_routes.py networks    # 24 seeds on two narrow bands, alone and in batches of three

Each adds its part to ``results/decoders/routes.json``. ``summary`` prints what is there and needs no GPU. The rows that
are committed come from an earlier script with the same calls; this form of it has not been run on a GPU.

AdamW divides a gradient by its own size, so rounding is carried into the weights at once and grows by training. Whether
two routes differ by more than rounding is seen against a third run: alone again, its first weights scaled by 1 + 1e-7.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import fisher_exact

from recombine.lab.papers.first_principles.experiments.decoders import TRAIN_SEED, Condition, decoder_scores
from recombine.lab.papers.first_principles.grids import LENGTHS, SPRITES
from recombine.lab.papers.first_principles.readings.routes import state
from recombine.lab.runs.experiment import Unit

RESULT = Path(__file__).parents[1] / "results" / "decoders" / "routes.json"
SUPPORTS = ("diagonal 0.1", "diagonal 0.05")
#: Seeds that no earlier run had used, so that none was chosen for what it does.
SEEDS = range(10, 34)
STEPS = (1, 2, 5, 20, 100, 500, 2000)
#: One step of gradient descent this long writes the gradient into the weights with little rounding.
GRADIENT_RATE = 1e4
STORED = ("support", "seed", "r2 id", "r2 all", "mse front", "mse back", "front sum", "train loss")

Row = dict[str, Any]
Weights = Mapping[str, Any]


def unit(support: str, seeds: Sequence[int]) -> Unit:
    """Return the unit of decoders that trains these seeds together for 19,600 steps."""
    setting = {**SPRITES, **LENGTHS["annealed"], "targets": "hard", "support": support, "model": "compositional"}
    return Unit("first-principles/decoders", 1, {**setting, "seeds": list(seeds)}, device="cuda")


class Trainer:
    """Trainings of chosen seeds on one drawing of the images of a support."""

    def __init__(self, support: str) -> None:
        self.condition = Condition.of(unit(support, [0]))
        self.latents, self.images = self.condition.draw(TRAIN_SEED)

    def weights(self, seeds: Sequence[int], steps: int, dtype: str, scale: float = 1.0) -> list[Weights]:
        """Return the weights of every seed after so many steps of the paper's AdamW."""
        from recombine.lab.nets.ensemble.optimisers import AdamW

        optimiser = AdamW(weight_decay=self.condition.setting["weight decay"])
        return self._train(seeds, steps, dtype, optimiser, self.condition.setting["rate"], scale)

    def gradient(self, seeds: Sequence[int], index: int, dtype: str) -> np.ndarray:
        """Return the gradient of the first mini-batch for one of the seeds."""
        from recombine.lab.nets.ensemble.optimisers import SGD

        start = flat(self.condition.model.initial(seeds[index], 1.0))
        end = flat(self._train(seeds, 1, dtype, SGD(), GRADIENT_RATE, 1.0)[index])
        return (start - end) / GRADIENT_RATE

    def _train(
        self, seeds: Sequence[int], steps: int, dtype: str, optimiser: Any, rate: float, scale: float
    ) -> list[Weights]:
        from recombine.lab.nets.ensemble.ensemble import Ensemble
        from recombine.lab.nets.ensemble.schedules import Cosine

        setting, condition = self.condition.setting, self.condition
        ensemble = Ensemble(condition.model, seeds, dtype=dtype, device="cuda", chunk=len(seeds), scale=scale)
        trained = ensemble.train(
            condition.world.inputs(self.latents),
            self.images.flatten(1),
            rate=rate,
            steps=steps,
            batch=setting["batch"],
            optimiser=optimiser,
            decay=Cosine(setting["periods"], setting["every"], setting["floor"]),
        )
        return [{name: values[i] for name, values in trained.parameters.items()} for i in range(len(seeds))]


def flat(weights: Weights) -> np.ndarray:
    """Return all weights of a network as one vector of doubles."""
    return np.concatenate([np.asarray(values.detach().cpu().double()).ravel() for values in weights.values()])


def paths() -> Iterator[Row]:
    """Yield, after each number of steps, how far other trainings of seed 0 are from the one alone."""
    trainer = Trainer(SUPPORTS[0])
    start = flat(trainer.condition.model.initial(0, 1.0))
    for dtype in ("float32", "bfloat16"):
        for steps in STEPS:
            alone = flat(trainer.weights([0], steps, dtype)[0])
            others = {
                "alone again": trainer.weights([0], steps, dtype)[0],
                "alone, start 1 + 1e-7": trainer.weights([0], steps, dtype, scale=1 + 1.2e-7)[0],
                "first of three": trainer.weights([0, 1, 2], steps, dtype)[0],
                "last of three": trainer.weights([1, 2, 0], steps, dtype)[2],
            }
            way = np.linalg.norm(alone - start)
            vectors = {name: flat(weights) for name, weights in others.items()}
            apart = {name: float(np.linalg.norm(vector - alone) / way) for name, vector in vectors.items()}
            ends = float(np.linalg.norm(vectors["first of three"] - vectors["last of three"]) / way)
            yield {"dtype": dtype, "steps": steps, "way": float(way), **apart, "first and last of three": ends}


def gradients() -> Iterator[Row]:
    """Yield how far each route's gradient is from that in float64, at first weights and at trained ones."""
    from recombine.lab.nets.decoders.composed import ComposedDecoder

    trainer, drawn = Trainer(SUPPORTS[0]), ComposedDecoder.initial
    points = {"start": drawn(trainer.condition.model, 0, 1.0)}
    for steps in (3300, 10_000):
        points[f"alone {steps}"] = trainer.weights([0], steps, "bfloat16")[0]
        points[f"batch {steps}"] = trainer.weights([0, 1, 2], steps, "bfloat16")[0]
    for name, weights in points.items():
        begun = {key: values.detach().cpu().float() for key, values in weights.items()}

        def initial(self: ComposedDecoder, seed: int, scale: float, begun: Weights = begun) -> Any:
            return {key: values.clone() for key, values in begun.items()} if seed == 0 else drawn(self, seed, scale)

        ComposedDecoder.initial = initial  # type: ignore[assignment, method-assign]
        try:
            exact = trainer.gradient([0], 0, "float64")
            for dtype in ("float32", "bfloat16"):
                routes = {"alone": ([0], 0), "first of three": ([0, 1, 2], 0), "last of three": ([1, 2, 0], 2)}
                measured = {route: trainer.gradient(*which, dtype) for route, which in routes.items()}
                size = np.linalg.norm(exact)
                errors = {route: float(np.linalg.norm(value - exact) / size) for route, value in measured.items()}
                apart = float(np.linalg.norm(measured["alone"] - measured["first of three"]) / size)
                yield {"weights": name, "dtype": dtype, "norm": float(size), **errors, "alone against first": apart}
        finally:
            ComposedDecoder.initial = drawn  # type: ignore[method-assign]


def networks() -> Iterator[Row]:
    """Yield what became of every network, trained alone and with two others."""
    for start in range(0, len(SEEDS), 3):
        trio = list(SEEDS)[start : start + 3]
        for support in SUPPORTS:
            for route, seeds in (("batch", trio), *(("alone", [seed]) for seed in trio)):
                for row in decoder_scores(unit(support, seeds)):
                    yield {"route": route, **{name: row[name] for name in STORED}}


def summary(stored: Mapping[str, Any]) -> None:
    """Print every part that is there."""
    for row in (*stored.get("paths", ()), *stored.get("gradients", ())):
        print(
            "  ".join(f"{name} {value:.3g}" if isinstance(value, float) else str(value) for name, value in row.items())
        )
    table = []
    for route in ("alone", "batch"):
        states = [state(row) for row in stored.get("networks", ()) if row["route"] == route]
        lost = len(states) - states.count("sound")
        table.append((lost, len(states) - lost))
        print(f"{route}: {len(states)} networks, {states.count('dead')} dead, {states.count('leaky')} leaky")
    print(f"Fisher's exact test of the two rates: p = {fisher_exact(table).pvalue:.2f}")


def main() -> None:
    """Measure one part, or print the summary."""
    measures = {"paths": paths, "gradients": gradients, "networks": networks}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*measures, "summary"], nargs="?", default="summary")
    part = parser.parse_args().part
    stored = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
    if part != "summary":
        import torch

        begun, rows = time.time(), []
        for row in measures[part]():
            print(row, flush=True)
            rows.append(row)
        stored[part] = rows
        stored.setdefault("about", {})[part] = {
            "command": f"python benchmarks/decoder_routes.py {part}",
            "device": torch.cuda.get_device_name(),
            "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
            "seconds": round(time.time() - begun, 1),
        }
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    summary(stored)


if __name__ == "__main__":
    main()
