"""Kernel theory: every experiment, its unit function and its settings."""

from __future__ import annotations

from recombine.papers.kernel_theory.experiments import context, kernels
from recombine.papers.kernel_theory.experiments import onehot as networks
from recombine.papers.kernel_theory.image_grids import EXPERIMENTS as IMAGE_EXPERIMENTS
from recombine.runs.experiment import Experiment, grid

NAME = "kernel-theory"
#: Depths at which kernel values still differ by far more than rounding.
DEPTHS = {"relu": 100, "leaky relu": 100, "step": 30, "quadratic": 30, "gaussian": 60, "ntk": 30}
#: From nothing but memorized pairs to nothing memorized.
COARSE, FINE = [0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49, 0.5], kernels.spread(0.01, 0.5, 50)
INSIDE = [amount for amount in COARSE if amount < 0.5]
INSIDE_FINE = [amount for amount in FINE if amount < 0.5]


def _salience_grid(longer: int) -> list[dict[str, object]]:
    lengths = {name: depth if name == "gaussian" else longer * depth for name, depth in DEPTHS.items()}
    return [
        {"activation": name, "factors": factors, "depths": depth}
        for name, depth in lengths.items()
        for factors in (2, 3, 4)
    ]


def _leak_grid(salience: list[float]) -> list[dict[str, object]]:
    return [
        {"set": name, "anchors": anchors, "salience": salience}
        for name, sets in kernels.ANCHOR_SETS.items()
        for anchors in sets
    ]


#: Scales from feature learning to hardly any, and the seeds of the paper.
SIGMAS, SEEDS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0], list(range(6))
#: Stable steps by loss: with many units at scale 1 the kernel is large, so the step must be small.
RATES = {"mse": (0.02, 0.006), "logistic": (0.1, 0.1)}


def _rate(loss: str, sigma: float) -> float:
    return RATES[loss][sigma == 1.0]


def _addition_grid(sigmas: list[float], narrow: int, steps: int) -> list[dict[str, object]]:
    """One unit an anchor set and scale; rich networks need fewer units, lazy ones all of them."""
    return [
        {"set": name, "sigma": sigma, "width": 1000 if sigma == 1 else narrow}
        | {"rate": 0.005, "steps": steps, "stop": 1e-4, "seeds": SEEDS}
        for name in networks.ADDITION_SETS
        for sigma in sigmas
    ]


def _context_grid(
    sigmas: list[float], narrow: int, steps: int, rich_steps: int, tasks: tuple[int, ...]
) -> list[dict[str, object]]:
    """Rich networks leave a plateau first, so they get more steps."""
    return [
        {"left out": left_out, "loss": loss, "sigma": sigma, "width": 1000 if sigma == 1 else narrow}
        | {"rate": _rate(loss, sigma), "steps": steps if sigma == 1 else rich_steps, "stop": 1e-4, "seeds": SEEDS}
        for left_out in tasks
        for loss in ("logistic", "mse")
        for sigma in sigmas
    ]


def _equivalence_grid(sigmas: list[float], width: int, losses: tuple[str, ...]) -> list[dict[str, object]]:
    rates = {"mse": (0.03, 0.003), "logistic": (0.1, 0.03)}
    return [
        {"loss": loss, "sigma": sigma, "width": width, "rate": rates[loss][sigma == 1.0] * 1000 / width}
        | {"steps": 2000 * width // 1000, "records": 41, "seeds": SEEDS}
        for loss in losses
        for sigma in sigmas
    ]


def _deep_grid(
    choices: list[dict[str, object]], rate: float, steps: int, seeds: list[int], **more: object
) -> list[dict[str, object]]:
    """One to four layers of 100 units with Adam, as the paper trains deep networks."""
    return [
        {**choice, "sigma": 0.1, "width": 100, "depth": depth}
        | {"optimiser": "adam", "rate": rate, "steps": steps, **more, "seeds": seeds}
        for choice in choices
        for depth in (1, 2, 3, 4)
    ]


def _blocks(*left_out: int) -> list[dict[str, object]]:
    return [{"left out": block, "loss": "logistic"} for block in left_out]


def _depth_grid(most: int) -> list[dict[str, object]]:
    return [{"activation": name, "depths": list(range(1, most + 1))} for name in ("relu", "quadratic", "step", "ntk")]


KERNEL_EXPERIMENTS = (
    Experiment(f"{NAME}/salience", kernels.salience, quick=_salience_grid(1), full=_salience_grid(5)),
    Experiment(
        f"{NAME}/sampled-salience",
        kernels.sampled_salience,
        quick=[{"width": 100_000, "seeds": [0, 1, 2, 3, 4]}],
        full=[{"width": 1_000_000, "seeds": list(range(10))}],
    ),
    Experiment(
        f"{NAME}/additivity",
        kernels.additivity,
        quick=[{"seeds": list(range(10))}],
        full=[{"seeds": list(range(start, start + 50))} for start in range(0, 500, 50)],
    ),
    Experiment(f"{NAME}/leak", kernels.leak, quick=_leak_grid(COARSE), full=_leak_grid(FINE)),
    Experiment(
        f"{NAME}/equivalence",
        kernels.equivalence,
        quick=[{"variant": name, "salience": INSIDE} for name in kernels.EQUIVALENCES],
        full=[{"variant": name, "salience": INSIDE_FINE} for name in kernels.EQUIVALENCES],
    ),
    Experiment(
        f"{NAME}/ordering",
        kernels.ordering,
        quick=[{"n": 7, "salience": INSIDE}],
        full=[{"n": n, "salience": INSIDE_FINE} for n in (5, 6, 7, 8, 9)],
    ),
    Experiment(
        f"{NAME}/dispersed",
        kernels.dispersed,
        quick=[{"salience": amount, "seeds": list(range(1, 51))} for amount in kernels.DISPERSED_SALIENCE],
        full=[{"salience": amount, "seeds": list(range(1, 51))} for amount in kernels.spread(0.0, 0.5, 51)],
    ),
    Experiment(
        f"{NAME}/substitution",
        kernels.substitution,
        quick=grid(activation=["relu", "quadratic", "ntk"], depth=[1, 2, 3, 5]),
        full=grid(activation=["relu", "quadratic", "ntk", "step"], depth=range(1, 21)),
    ),
    Experiment(
        f"{NAME}/phase",
        context.phase,
        quick=[{"left out": k, "loss": loss, "steps": 150} for k in (3, 2, 1) for loss in context.LOSSES],
        full=[{"left out": k, "loss": loss, "steps": 210} for k in (3, 2, 1) for loss in context.LOSSES],
    ),
    Experiment(f"{NAME}/by-depth", context.by_depth, quick=_depth_grid(20), full=_depth_grid(60)),
    Experiment(
        f"{NAME}/conjunctions",
        context.conjunctions,
        quick=[
            {"activation": name, "depth": 3, "left out": left_out}
            for name in ("relu", "quadratic")
            for left_out in (3, 2, 1)
        ],
        full=[
            {"activation": name, "depth": depth, "left out": left_out}
            for name in ("relu", "quadratic")
            for depth in range(1, 11)
            for left_out in (3, 2, 1)
        ],
    ),
)


NETWORK_EXPERIMENTS = (
    Experiment(
        f"{NAME}/onehot-addition",
        networks.addition,
        quick=_addition_grid([1e-6, 1e-2, 1.0], narrow=200, steps=10_000),
        full=_addition_grid(SIGMAS, narrow=1000, steps=100_000),
    ),
    Experiment(
        f"{NAME}/onehot-context",
        networks.context,
        quick=_context_grid([1e-3, 1.0], narrow=200, steps=2000, rich_steps=8000, tasks=(3, 2)),
        full=_context_grid(SIGMAS, narrow=1000, steps=5000, rich_steps=20_000, tasks=(3, 2, 1)),
    ),
    Experiment(
        f"{NAME}/onehot-equivalence",
        networks.equivalence,
        quick=_equivalence_grid([1e-6, 1.0], 1000, ("mse",)),
        full=_equivalence_grid(SIGMAS, 10_000, ("mse", "logistic")),
    ),
    Experiment(
        f"{NAME}/deep-context",
        networks.context,
        quick=_deep_grid(_blocks(3), 1e-3, 2000, SEEDS[:3], stop=1e-4),
        full=_deep_grid(_blocks(3, 2, 1), 1e-4, 100_000, SEEDS, stop=1e-4),
    ),
    Experiment(
        f"{NAME}/deep-addition",
        networks.addition,
        quick=_deep_grid([{"set": "extrapolation"}], 5e-4, 8000, SEEDS[:3], stop=1e-4),
        full=_deep_grid([{"set": name} for name in networks.ADDITION_SETS], 1e-4, 100_000, SEEDS, stop=1e-4),
    ),
    Experiment(
        f"{NAME}/deep-equivalence",
        networks.equivalence,
        quick=_deep_grid([{"loss": "mse"}], 1e-4, 1200, SEEDS[:3], records=13),
        full=_deep_grid([{"loss": "mse"}], 1e-4, 10_000, SEEDS, records=41),
    ),
)

EXPERIMENTS = (*KERNEL_EXPERIMENTS, *NETWORK_EXPERIMENTS, *IMAGE_EXPERIMENTS)
