"""Every architecture learns alone what it learns as first, middle and last of three, step by step.

In float64 both ways agree to rounding for as long as training does not amplify it. How much it does is seen against the
same network trained alone from first weights scaled by the next number above 1: a training in a batch may drift no
further than a few times as far. So a difference between the ways is told from chaos.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from recombine.lab.nets.architecture import Architecture, Tensors
from recombine.lab.nets.architectures.convnet import ConvNet
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.architectures.pair_net import PairHeads, PairNet
from recombine.lab.nets.architectures.resnet import ResNet
from recombine.lab.nets.architectures.seq2seq import Seq2Seq
from recombine.lab.nets.architectures.students import Continued, ReluStudent
from recombine.lab.nets.architectures.vit import ViT
from recombine.lab.nets.decoders.bumps import CNNDecoder, MLPDecoder
from recombine.lab.nets.decoders.components import Decoder
from recombine.lab.nets.decoders.composed import (
    ComposedDecoder,
    compositional_decoder,
    monolithic_decoder,
    rgba_decoder,
    small_decoder,
)
from recombine.lab.nets.decoders.encoder import ImageEncoder
from recombine.lab.nets.decoders.low_rank import LowRankDecoder
from recombine.lab.nets.decoders.pixels import PixelMLP, TransformerDecoder
from recombine.lab.nets.decoders.rotation import RotationDecoder
from recombine.lab.nets.ensemble.batches import ShuffledRows
from recombine.lab.nets.ensemble.ensemble import Ensemble
from recombine.lab.nets.ensemble.modules import Module
from recombine.lab.nets.ensemble.optimisers import SGD, AdamW
from recombine.lab.nets.ensemble.schedules import Cosine
from recombine.lab.nets.ensemble.steps import Chunk

#: The network that is looked at, and its two mates, different in each place.
SEED, BATCHES = 3, ([3, 4, 5], [6, 3, 7], [8, 9, 3])
#: Samples, and how many make a mini-batch: the last one of an epoch is short.
SAMPLES, BATCH = 30, 8
#: After these steps both ways are compared: in every test run, and in the slow ones.
FEW_STEPS, MANY_STEPS = (1, 2, 5), (1, 2, 5, 20, 100)
#: What rounding alone may do, relative to a tensor's largest number; and how many times as far as the control a
#: tensor may drift. Measured over all cases and 500 steps: 6e-16 and 1e-6, or twice the control.
ROUNDING, TIMES_CONTROL = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 1e-2}, 30.0
#: One unit in the last place of the weights that are kept above 1.
NEXT = {"float64": 1 + 2.0**-52, "float32": 1 + 2.0**-23, "bfloat16": 1 + 2.0**-23}

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

RNG = np.random.default_rng(0)
VECTORS, IMAGES = RNG.standard_normal((SAMPLES, 6)), RNG.standard_normal((SAMPLES, 2, 8, 8))
LATENTS, LABELS = RNG.random((SAMPLES, 10)), RNG.integers(0, 3, SAMPLES)
NUMBERS, PIXELS, COLOURS = RNG.standard_normal(SAMPLES), RNG.random((SAMPLES, 64)), RNG.random((SAMPLES, 3 * 8 * 8))
CODES = np.eye(SAMPLES, 16) + np.eye(SAMPLES, 16, k=-9)
SENTENCES = np.column_stack(
    [RNG.integers(1, 5, (SAMPLES, 3)), np.zeros(SAMPLES), RNG.integers(1, 4, (SAMPLES, 5)), np.zeros(SAMPLES)]
)
MARKED = np.column_stack([VECTORS, np.eye(2)[np.arange(SAMPLES) % 2]])

ADAMW, HEAVY = AdamW(weight_decay=1e-2), SGD(momentum=0.9, weight_decay=1e-2)
ANNEALED: dict[str, Any] = {"rate": 1e-3, "optimiser": ADAMW, "batch": BATCH, "decay": Cosine(100, 4, 0.01)}


def composed(rule: str, slots: int = 2, **about: Any) -> ComposedDecoder:
    """The published decoder, 8 pixels wide."""
    inputs, channels = 10 // slots, 4 if rule == "rgba" else 3
    component = Decoder(inputs=inputs, channels=channels, hidden=12, features=6, start=2, doublings=2)
    return ComposedDecoder(component, slots, rule, shared=rule == "rgba", **about)


def blobs(name: str) -> ComposedDecoder:
    """A small decoder of blobs, as trained on a CPU."""
    return small_decoder(name, side=8)


STUDENT = ReluStudent(inputs=6, hidden=30, tasks=2)


def continued() -> Continued:
    """Students that go on from given weights."""
    drawn = [STUDENT.initial(seed, 0.5) for seed in range(10)]
    return Continued(STUDENT, tuple(range(10)), {name: torch.stack([one[name] for one in drawn]) for name in drawn[0]})


@dataclass(frozen=True)
class Case:
    """An architecture, what it learns and how."""

    network: Architecture
    inputs: np.ndarray
    targets: np.ndarray
    how: dict[str, Any] = field(default_factory=lambda: ANNEALED)


CASES = {
    "decoder, soft": Case(composed("soft"), LATENTS, COLOURS),
    "decoder, RGBa clamped": Case(composed("rgba"), LATENTS, COLOURS),
    "decoder, RGBa sigmoid": Case(composed("rgba", opacity="sigmoid"), LATENTS, COLOURS),
    "decoder, sum": Case(composed("add"), LATENTS, COLOURS),
    "decoder, monolithic": Case(composed("soft", slots=1), LATENTS, COLOURS),
    "blobs, soft": Case(blobs("compositional"), LATENTS[:, :6], COLOURS),
    "blobs, RGBa": Case(blobs("rgba"), LATENTS[:, :6], COLOURS),
    "blobs, sum": Case(blobs("additive"), LATENTS[:, :6], COLOURS),
    "blobs, monolithic": Case(blobs("monolithic"), LATENTS[:, :6], COLOURS),
    "painting, convolutions": Case(CNNDecoder(16, side=8, hidden=6, depth=3), CODES, PIXELS),
    "painting, dense": Case(MLPDecoder(16, (7, 9), 64), CODES, PIXELS),
    "painting, pixels": Case(PixelMLP(16, side=8, width=12, depth=2), CODES, PIXELS),
    "painting, transformer": Case(TransformerDecoder(16, side=8, width=8, heads=2, hidden=10, depth=1), CODES, PIXELS),
    "painting, low rank": Case(LowRankDecoder(side=8, entropy=0.1, variance=0.01), CODES, PIXELS),
    "painting, rotation": Case(RotationDecoder(inputs=16, side=8, channels=(4, 6, 5)), CODES, PIXELS),
    "encoder": Case(ImageEncoder(side=8, outputs=3, channels=(4, 5), hidden=7), PIXELS, VECTORS[:, :3]),
    "one hidden, by hand": Case(MLP(6, (20,)), VECTORS, NUMBERS, {"rate": 0.02}),
    "one hidden, by hand, Adam": Case(MLP(6, (20,)), VECTORS, NUMBERS, {"rate": 1e-3, "optimiser": ADAMW}),
    "one hidden, mini-batches": Case(
        MLP(6, (20,)), VECTORS, NUMBERS, {"rate": 0.01, "batch": BATCH, "optimiser": HEAVY}
    ),
    "deep, decay": Case(MLP(6, (20, 10)), VECTORS, NUMBERS, {"rate": 0.02, "decay": (0.5, 7), "clip": 0.5}),
    "deep, Adam": Case(MLP(6, (20, 10)), VECTORS, NUMBERS),
    "labels": Case(MLP(6, (20, 10), outputs=3), VECTORS, LABELS, {**ANNEALED, "loss": "cross-entropy"}),
    "convolutions": Case(ConvNet((2, 8, 8), (3, 4), kernel=3, dense=(8,), pools=(1, 2)), IMAGES, NUMBERS),
    "residual": Case(ResNet((2, 8, 8), widths=(4, 6), pool=4), IMAGES, NUMBERS),
    "transformer": Case(ViT((2, 8, 8), patch=4, depth=1, heads=2, head=4, width=8, hidden=8), IMAGES, NUMBERS),
    "pairs": Case(
        PairNet((2, 8, 8), channels=(3, 4), dense=(6,), outputs=3),
        IMAGES,
        LABELS,
        {**ANNEALED, "loss": "cross-entropy"},
    ),
    "pairs, two heads": Case(
        PairHeads((2, 8, 8), channels=(3, 4), dense=(6,), outputs=8),
        IMAGES,
        np.column_stack([LABELS, LABELS[::-1]]) + 1,
        {**ANNEALED, "loss": "sequence-cross-entropy"},
    ),
    "sequences": Case(
        Seq2Seq(5, 4, 4, 6, embedding_in=3, embedding_out=2, encoder=3, decoder=6),
        SENTENCES,
        SENTENCES[:, 4:],
        {**ANNEALED, "loss": "sequence-cross-entropy", "draw_from": range(SAMPLES), "decay": (0.96, 10), "clip": 1.0},
    ),
    "students": Case(STUDENT, MARKED, NUMBERS, {"rate": 0.01, "optimiser": HEAVY}),
    "students, continued": Case(continued(), MARKED, NUMBERS, {"rate": 0.01, "batch": BATCH}),
    "own module": Case(Module(lambda: nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))), VECTORS, NUMBERS),
}


@pytest.fixture
def gradients(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The gradients of each update, (c, P), as the optimiser is handed them."""
    book: list[Tensor] = []
    descend = Chunk.descend

    def noted(self: Chunk, slopes: list[Tensor]) -> None:
        book.append(torch.cat([slope.movedim(-2, 0).flatten(1) for slope in slopes], dim=1))
        descend(self, slopes)

    monkeypatch.setattr(Chunk, "descend", noted)
    return book


def course(
    case: Case, seeds: list[int], steps: tuple[int, ...], book: list[Tensor], **numbers: Any
) -> Iterator[tuple[int, dict[str, Tensor]]]:
    """After each of some steps, what the network of `SEED` is: loss, gradient, outputs and every weight.

    A step that is replayed hands over its gradient while it is recorded alone, so then it is not looked at.
    """
    shapes = {name: values.shape for name, values in case.network.initial(SEED, 1.0).items()}
    place, sizes = seeds.index(SEED), [shape.numel() for shape in shapes.values()]

    def look(parameters: Tensors, statistics: Tensors, networks: Tensor) -> Tensor:
        assert len(networks) == len(seeds), "the networks were not trained in one batch"
        outputs = ensemble.outputs(parameters, {name: values.clone() for name, values in statistics.items()}, inputs)
        everything = [*parameters.values(), *statistics.values(), outputs]
        return torch.cat([values.reshape(len(networks), -1).to(outputs.dtype) for values in everything], dim=1)

    ensemble = Ensemble(case.network, seeds, chunk=len(seeds), stacked=True, **numbers)
    inputs = torch.from_numpy(case.inputs[:5])
    book.clear()
    trained = ensemble.train(
        case.inputs, case.targets, steps=max(steps), record=steps, watch=look, threads=1, **case.how
    )
    assert trained.watched is not None
    for row, step in enumerate(trained.recorded):
        *weights, rest = trained.watched[row, place].split([*sizes, trained.watched.shape[2] - sum(sizes)])
        seen = {**dict(zip(shapes, weights, strict=True)), "statistics and outputs": rest}
        slope = {"gradient": book[step - 1][place].clone()} if len(book) == max(steps) else {}
        yield step, {"loss": trained.history[row, place, None], **slope, **seen}


def apart(one: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest number."""
    return float((one - other).abs().max() / one.abs().max().clamp_min(1e-12))


def compare(
    case: Case, steps: tuple[int, ...], book: list[Tensor], batches: Sequence[list[int]] = BATCHES, **numbers: Any
) -> None:
    """Train alone, with other rounding, and in batches; find the first step and tensor at which the ways part."""
    dtype = numbers["dtype"]
    alone = dict(course(case, [SEED], steps, book, **numbers))
    control = dict(course(case, [SEED], steps, book, scale=NEXT[dtype], **numbers))
    assert apart(alone[steps[0]]["loss"], alone[steps[-1]]["loss"]) > 1e-3, "nothing was learned"
    for seeds in batches:
        drift = dict.fromkeys(alone[steps[0]], 0.0)
        for step, together in course(case, seeds, steps, book, **numbers):
            for name, values in together.items():
                drift[name] = max(drift[name], apart(alone[step][name], control[step][name]))
                bound = max(ROUNDING[dtype], TIMES_CONTROL * drift[name])
                assert apart(alone[step][name], values) <= bound, f"{name} after {step} steps in {seeds}"


@pytest.mark.parametrize("name", CASES)
def test_alone_and_together_agree_step_by_step(name: str, gradients: list[Tensor]) -> None:
    compare(CASES[name], FEW_STEPS, gradients, BATCHES[1:], dtype="float64")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_alone_and_together_agree_for_long(name: str, dtype: str, gradients: list[Tensor]) -> None:
    compare(CASES[name], MANY_STEPS, gradients, dtype=dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["decoder, soft", "blobs, soft", "one hidden, mini-batches"])
def test_alone_and_together_agree_for_longer(name: str, dtype: str, gradients: list[Tensor]) -> None:
    compare(CASES[name], (*MANY_STEPS, 500), gradients, dtype=dtype)


def halved(descend: Any) -> Any:
    """A loss that is a mean over networks."""
    return lambda self, slopes: descend(self, [slope / len(self.progress.networks) for slope in slopes])


def mixed(descend: Any) -> Any:
    """Gradients of which a little belongs to the neighbour."""
    return lambda self, slopes: descend(self, [slope + 1e-9 * slope.roll(1, -2) for slope in slopes])


@pytest.mark.parametrize("defect", [halved, mixed])
@pytest.mark.parametrize("name", ["decoder, soft", "one hidden, by hand, Adam"])
def test_a_defect_of_the_batch_is_found(
    name: str, defect: Any, gradients: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Chunk, "descend", defect(Chunk.descend))
    with pytest.raises(AssertionError, match="after 1 steps"):
        compare(CASES[name], FEW_STEPS, gradients, BATCHES[1:], dtype="float64")


@pytest.mark.parametrize("name", ["decoder, soft", "blobs, RGBa"])
def test_another_order_of_samples_is_found(name: str, gradients: list[Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ShuffledRows.rows
    monkeypatch.setattr(ShuffledRows, "rows", lambda self, step: rows(self, step).flip(0))
    with pytest.raises(AssertionError, match="after 1 steps"):
        compare(CASES[name], FEW_STEPS, gradients, BATCHES[2:], dtype="float64")


@needs_gpu
@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_alone_and_together_agree_on_a_gpu(name: str, replay: bool, gradients: list[Tensor]) -> None:
    compare(CASES[name], MANY_STEPS, gradients, dtype="float64", device="cuda", replay=replay)


@needs_gpu
@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("model", [compositional_decoder(), monolithic_decoder(), rgba_decoder()], ids=repr)
def test_the_published_decoders_agree_in_short_floats(
    model: ComposedDecoder, dtype: str, replay: bool, gradients: list[Tensor]
) -> None:
    """Through our kernels: of composition and Adam in float32, of upsampled convolutions, too, in bfloat16."""
    images = np.random.default_rng(1).random((SAMPLES, model.outputs))
    compare(Case(model, LATENTS, images), MANY_STEPS, gradients, dtype=dtype, device="cuda", replay=replay)
