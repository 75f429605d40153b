"""Trainings that are stopped again and again end where one that was never stopped ends, to the last bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.lab.nets import checkpoints
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.by_hand import (
    GatedNetworks,
    Playground,
    Schedule,
    multi_task,
    reduce_weights,
    schedule_of,
    single_task,
    train_diagonal,
    train_gated,
    train_playground,
)
from recombine.lab.nets.checkpoints import (
    Checkpoints,
    CheckpointWarning,
    TrainingPausedError,
    keep_checkpoints,
    next_checkpoint,
    read_progress,
)
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.modules import Module
from recombine.lab.nets.ensemble.optimisers import SGD, Adam, AdamW
from recombine.lab.nets.ensemble.schedules import Cosine
from recombine.lab.nets.plain.training import Recipe, Training, train, train_in_turns
from recombine.theory.gated.contexts import HalfSpaces

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]
RNG = np.random.default_rng(3)
X = RNG.standard_normal((18, 4))
Y = np.sign(RNG.standard_normal(18))
FEATURES = RNG.standard_normal((8, 8))
IMAGES = RNG.standard_normal((12, 1, 28, 28))

Work = Callable[[str], dict[str, Any]]


def ensemble(hidden: tuple[int, ...] = (9,), dtype: str = "float32", chunk: int | None = 2, **options: Any) -> Work:
    """Train five networks; all that can be asked of them afterwards."""
    how = {"rate": [0.05, 0.1, 0.2, 0.02, 0.3], "steps": 40, "record": range(0, 41, 2), "watch": X[:3], **options}

    def work(device: str) -> dict[str, Any]:
        networks = Ensemble(MLP(4, hidden), range(5), [1.0, 0.1, 0.5, 1.0, 0.2], dtype, device, chunk)
        trained = networks.train(X, Y, **how)
        kept = {name: getattr(trained, name) for name in ("loss", "steps", "stopped", "diverged", "history", "watched")}
        return {**trained.parameters, **trained.statistics, **kept}

    return work


def convolutional(device: str) -> dict[str, Any]:
    network = ConvNet(shape=(1, 28, 28), channels=(3, 4), pools=(2, 2), dense=(6,), outputs=1)
    trained = Ensemble(network, [0, 1], device=device).train(
        IMAGES, Y[:12], rate=1e-3, steps=9, batch=5, optimiser=Adam(), record=[3, 9], watch=IMAGES[:2]
    )
    return {**trained.parameters, **trained.statistics, "history": trained.history, "watched": trained.watched}


def module(device: str) -> dict[str, Any]:
    """Networks of the user's own, with dropout."""
    torch.manual_seed(1)
    networks = Ensemble(Module(lambda: nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 1))), range(3))
    trained = replace(networks, device=device, chunk=2).train(X, Y, rate=0.05, steps=20, batch=5, optimiser=Adam())
    return {**trained.parameters, "loss": trained.loss}


def gated(kind: str, bits: int, momentum: float) -> Work:
    def work(device: str) -> dict[str, Any]:
        units, inputs = 1 if kind == "one-layer" else 3, np.column_stack([X, np.ones(18)])
        contexts = [HalfSpaces.random(units, bits, 5, seed) for seed in (0, 1)]
        start = GatedNetworks.initial(kind, (0, 1), 5, contexts=contexts, device=device)
        rows = [np.arange(18), np.arange(11)]
        end = train_gated(start, inputs, Y, schedule_of(rows, [0, 1], steps=30, batch=4), momentum=momentum)
        return {"weights": end.weights, "readout": end.readout, "bias": end.bias}

    return work


def diagonal(tasks: int) -> Work:
    """Networks of which some stop early, so that columns are dropped, and one that diverges and begins again."""

    def work(device: str) -> dict[str, Any]:
        teacher = FEATURES[:, :6] * [0.1, 0.2, 0.5, 1.0, 1.0, 2.0]
        if tasks == 1:
            start = reduce_weights(*[np.full((8, 6), 0.5)] * 4)
            columns = single_task(FEATURES[:5], teacher, start, device=device)
        else:
            columns = multi_task(FEATURES[:5], teacher, FEATURES[:6], teacher[:, 0], device=device)
        found = train_diagonal(columns, Schedule(rate=0.02, steps=2000, stop=1e-4))
        return {name: getattr(found, name) for name in ("beta", "loss", "test", "best", "steps", "stopped", "rate")}

    return work


def playground(fresh: bool) -> Work:
    def work(device: str) -> dict[str, Any]:
        draws = np.random.default_rng(1)
        points = draws.standard_normal((2, 13, 2))
        labels = np.sign(points[..., 0])
        given = (lambda: points + 0.1 * draws.standard_normal(points.shape)) if fresh else points
        kept = train_playground(Playground.initial([0, 1]), given, labels, record=[0, 3, 9], batch=5)
        return {f"{epoch} {i}": part for epoch, one in kept.items() for i, part in enumerate(one.weights + one.biases)}

    return work


class WithDropout(nn.Module):
    """Everything a plain model may remember: weights, running statistics, a generator."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.layers(inputs)


OPTIMISERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.01),
}


def plain(optimiser: str, tasks: int = 1) -> Work:
    def work(device: str) -> dict[str, Any]:
        model = WithDropout().to(device)
        samples = (torch.tensor(X, dtype=torch.float32, device=device), torch.tensor(Y > 0, device=device).long())
        recipe = Recipe(OPTIMISERS[optimiser], batch=5, epochs=12, stop=0.0, seed=4)
        if tasks == 1:
            losses, accuracies = train(model, samples, recipe, samples)
        else:
            order, descent = torch.Generator().manual_seed(0), recipe.optimiser(model.parameters())
            other = (samples[0], 1 - samples[1])
            both = [
                Training(model, descent, samples, recipe, order, test=samples),
                Training(model, descent, other, recipe, order, weight=0.2),
            ]
            losses, accuracies = train_in_turns(both, 12, lambda found: found[0] < 0.1)
        return {**model.state_dict(), "losses": torch.tensor(losses), "accuracies": torch.tensor(accuracies)}

    return work


def several(device: str) -> dict[str, Any]:
    """Three trainings of which the last depends on the others."""
    first, second = ensemble()(device), playground(fresh=False)(device)
    rate = float(first["loss"].mean().clamp(0.01, 0.1))
    last = ensemble(optimiser=Adam(), rate=rate)(device)
    return {
        f"{which} {name}": value for which, part in enumerate((first, second, last)) for name, value in part.items()
    }


WORKS: dict[str, Work] = {
    "full batches": ensemble(),
    "momentum": ensemble(optimiser=SGD(momentum=0.9, weight_decay=0.01), decay=(0.5, 10)),
    "adam": ensemble(optimiser=Adam(), clip=0.5),
    "adamw and a cosine": ensemble((6, 5), optimiser=AdamW(), decay=Cosine(40), batch=5),
    "shuffled": ensemble((6, 5), batch=5, optimiser=SGD(momentum=0.9)),
    "drawn": ensemble((6, 5), batch=5, draw_from=[0, 0, 1, 5, 6, 7]),
    "stops": ensemble(steps=100, record=range(0, 101, 5), stop=[0.9, 0.3, 1e-9, 0.5, 0.2], chunk=None),
    "stops on the way": ensemble((7, 6), steps=100, record=[0, 3, 50], batch=6, stop=[0.9, 0.3, 1e-9, 0.5, 0.2]),
    "divergence": ensemble(rate=[0.05, 1e30, 0.1, 0.1, 1e30], steps=60, record=range(0, 61, 3)),
    "losses": ensemble(loss=["mse", "logistic", "hinge", "mse", "hinge"], threads=2),
    "float64": ensemble(dtype="float64"),
    "bfloat16": ensemble((6, 5), dtype="bfloat16", batch=5),
    "running statistics": convolutional,
    "module with dropout": module,
    "gated": gated("contexts", 1, 0.0),
    "gated with momentum": gated("contexts", 1, 0.9),
    "gated rows": gated("contexts", 4, 0.5),
    "one layer": gated("one-layer", 4, 0.0),
    "one layer with momentum": gated("one-layer", 4, 0.9),
    "diagonal": diagonal(1),
    "diagonal of two tasks": diagonal(2),
    "playground": playground(fresh=False),
    "playground with fresh samples": playground(fresh=True),
    **{f"plain {name}": plain(name) for name in OPTIMISERS},
    "in turns": plain("momentum", tasks=2),
    "several": several,
}


#: Offers between two interruptions of trainings that make few.
STRIDE = {"running statistics": 4, "playground": 3, "playground with fresh samples": 3, "in turns": 4, "several": 30}
STRIDE |= {f"plain {name}": 4 for name in OPTIMISERS} | {"diagonal": 5, "diagonal of two tasks": 5, "stops": 12}


def interrupt(monkeypatch: pytest.MonkeyPatch, offers: int) -> None:
    """Let the time be up at the n-th moment at which a training could be saved."""
    seen: dict[int, int] = {}

    def due(self: Checkpoints, since: float) -> bool:
        seen[id(self)] = seen.get(id(self), 0) + 1
        return self.over

    monkeypatch.setattr(Checkpoints, "due", due)
    monkeypatch.setattr(Checkpoints, "over", property(lambda self: seen.get(id(self), 0) >= offers))


def attempts(work: Work, device: str, folder: Path) -> tuple[dict[str, Any], int]:
    """Call until it comes to an end; what came out, and how many calls it took."""
    for number in range(1, 1000):
        try:
            with keep_checkpoints(folder):
                return work(device), number
        except TrainingPausedError:
            pass
    raise AssertionError("it never came to an end")


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        one, other = (
            np.asarray(part.cpu() if isinstance(part, torch.Tensor) else part) for part in (found[name], value)
        )
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other), err_msg=name, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", WORKS)
def test_a_training_that_was_stopped_ends_where_it_would_have(
    name: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = WORKS[name]
    wanted = work(device)
    interrupt(monkeypatch, offers=STRIDE.get(name, 8))
    found, calls = attempts(work, device, tmp_path)
    assert calls > 1
    assert_same(found, wanted)


@pytest.mark.slow
def test_the_state_is_that_of_the_step_at_which_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at any step at all."""
    work = ensemble(steps=11, record=[0, 5, 11], batch=5, hidden=(6, 5))
    wanted = work("cpu")
    for offers in range(2, 12):
        monkeypatch.undo()
        interrupt(monkeypatch, offers)
        assert_same(attempts(work, "cpu", tmp_path / str(offers))[0], wanted)


def test_replayed_steps_go_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stand_in: None) -> None:
    def work(device: str) -> dict[str, Any]:
        networks = Ensemble(MLP(4, (6, 5)), range(3), replay=True)
        trained = networks.train(X, Y, rate=0.01, steps=20, batch=5, optimiser=Adam())
        return {**trained.parameters, "loss": trained.loss}

    wanted = work("cpu")
    interrupt(monkeypatch, offers=3)
    assert_same(attempts(work, "cpu", tmp_path)[0], wanted)


def test_chunks_stay_as_they_were_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The free memory or the number of cores may differ at the next attempt; what is saved is saved by chunk."""
    wanted = ensemble(chunk=2)("cpu")
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, offers=5)
        with pytest.raises(TrainingPausedError), keep_checkpoints(tmp_path):
            ensemble(chunk=2)("cpu")
    with keep_checkpoints(tmp_path):
        assert_same(ensemble(chunk=5)("cpu"), wanted)


def test_short_work_writes_nothing(tmp_path: Path) -> None:
    with keep_checkpoints(tmp_path / "none"):
        several("cpu")
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_what_has_ended_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with keep_checkpoints(tmp_path, seconds=0):
        wanted = several("cpu")
    monkeypatch.setattr("recombine.lab.nets.ensemble.steps.Chunk.descend", None)
    monkeypatch.setattr(Playground, "move", None)
    with keep_checkpoints(tmp_path):
        assert_same(several("cpu"), wanted)


@pytest.mark.slow
def test_progress_counts_the_pieces(tmp_path: Path) -> None:
    for piece in ("first card", "second card"):
        with keep_checkpoints(tmp_path, seconds=0, about={"device": piece}) as kept:
            ensemble()("cpu")
            assert [one["device"] for one in kept.pieces][-1] == piece
    told = read_progress(tmp_path)
    assert (told["training"], told["step"]) == (0, 40)
    assert [one["device"] for one in told["pieces"]] == ["first card"], "nothing was trained by the second"


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"PK", b"nonsense"])
def test_a_damaged_state_is_trained_anew(tmp_path: Path, damage: bytes) -> None:
    with keep_checkpoints(tmp_path, seconds=0):
        wanted = several("cpu")
    (tmp_path / "0001-0000.npz").write_bytes(damage)
    flipped = bytearray((tmp_path / "0002-0001.npz").read_bytes())
    flipped[len(flipped) // 2] ^= 1
    (tmp_path / "0002-0001.npz").write_bytes(flipped)
    with pytest.warns(CheckpointWarning, match="begins anew"), keep_checkpoints(tmp_path):
        assert_same(several("cpu"), wanted)


@pytest.mark.slow
def test_a_state_of_another_training_is_not_taken(tmp_path: Path) -> None:
    with keep_checkpoints(tmp_path, seconds=0):
        ensemble(steps=41)("cpu")
    with pytest.warns(CheckpointWarning, match="another plan"), keep_checkpoints(tmp_path):
        assert_same(ensemble()("cpu"), ensemble()("cpu"))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"rate": 0.07}, "rate"),
        ({"stop": 0.1}, "stop"),
        ({"optimiser": Adam()}, "optimiser"),
        ({"loss": "logistic"}, "loss"),
        ({"decay": (0.5, 3)}, "decay"),
        ({"clip": 1.0}, "clip"),
        ({"weights": np.arange(1.0, 19)}, "weights"),
        ({"hidden": (10,)}, "first weights"),
        ({"dtype": "float64"}, "dtype"),
    ],
)
def test_whatever_a_training_depends_on_tells_it_from_others(
    changes: dict[str, Any], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, offers=8)
        with pytest.raises(TrainingPausedError), keep_checkpoints(tmp_path):
            ensemble()("cpu")
    with pytest.warns(CheckpointWarning, match=f"with another .*{word}"), keep_checkpoints(tmp_path):
        found = ensemble(**changes)("cpu")
    assert_same(found, ensemble(**changes)("cpu"))


def test_other_targets_are_another_training(tmp_path: Path) -> None:
    def work(sign: float) -> torch.Tensor:
        return Ensemble(MLP(4, (9,)), [0]).train(X, sign * Y, rate=0.1, steps=20).loss

    with keep_checkpoints(tmp_path, seconds=0):
        work(1.0)
    with pytest.warns(CheckpointWarning, match="another targets"), keep_checkpoints(tmp_path):
        assert bool((work(-1.0) == work(-1.0)).all())


def test_however_short_an_attempt_it_brings_something_forward(tmp_path: Path) -> None:
    work = ensemble(steps=6, record=[0, 6], chunk=5, threads=1)
    wanted = work("cpu")
    for _ in range(5):
        with pytest.raises(TrainingPausedError, match="paused at step"), keep_checkpoints(tmp_path, until=0.0):
            work("cpu")
    with keep_checkpoints(tmp_path, until=0.0):
        assert_same(work("cpu"), wanted)


@pytest.mark.parametrize(
    ("value", "word"),
    [({"a": torch.ones(2)}, "dict that cannot be saved"), (torch.ones(2).bfloat16(), "bfloat16"), (object(), "object")],
)
def test_a_state_that_cannot_be_saved_is_named(value: Any, word: str, tmp_path: Path) -> None:
    with keep_checkpoints(tmp_path, seconds=0):
        checkpoint = next_checkpoint("own")
        checkpoint.load()
        checkpoint.offer(0, dict)
        with pytest.raises(InputError, match=f"'mine' of a state is .*{word}"):
            checkpoint.offer(1, lambda: {"mine": value})


def test_a_disk_that_cannot_be_written_ends_no_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    expected = pytest.warns(CheckpointWarning, match="no checkpoint was written")
    with expected, keep_checkpoints(tmp_path / "file", seconds=0):
        found = ensemble()("cpu")
    assert_same(found, ensemble()("cpu"))


@pytest.mark.slow
def test_nothing_half_is_left(tmp_path: Path) -> None:
    (tmp_path / ".0000-0000.npz.ab12").write_bytes(b"half")
    with keep_checkpoints(tmp_path, seconds=0):
        ensemble()("cpu")
    assert not list(tmp_path.glob(".*"))
    assert json.loads((tmp_path / "progress.json").read_text())


def test_saves_are_as_far_apart_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of its own, which a busy machine does not delay."""
    clock, saves = 100.0, 0
    monkeypatch.setattr(checkpoints, "time", SimpleNamespace(monotonic=lambda: clock, time=lambda: clock))

    def state() -> dict[str, Any]:
        nonlocal saves
        saves += 1
        return {"step": 0}

    with keep_checkpoints(tmp_path, seconds=2):
        checkpoint = next_checkpoint("none")
        checkpoint.load()
        for step in range(50):
            clock += 0.1
            checkpoint.offer(step, state)
    assert saves == 2
