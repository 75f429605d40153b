"""Weights on the chip: the kernel run thread by thread on a CPU, in double precision; its layouts; a GPU's losses."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from recombine.errors import InputError
from recombine.lab.nets.architectures import MLP
from recombine.lab.nets.ensemble import SGD, Adam, Cosine, Ensemble, ensemble, on_chip
from recombine.lab.nets.ensemble.ensemble import Trained
from recombine.lab.nets.ensemble.on_chip import LOSSES, Chip, Layout, choose_layout

HERE = Path(__file__).parent
H200 = Chip(processors=132, shared=232_448, clusters=True)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

RECIPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "momentum": {"optimiser": SGD(momentum=0.9, weight_decay=0.01), "loss": "logistic"},
    "weight decay": {"optimiser": SGD(weight_decay=0.1), "loss": "hinge"},
    "stops": {"stop": [0.0, 0.3, 0.1], "loss": ["mse", "mse", "squared-absolute"]},
    "decay": {"decay": (0.5, 7), "weights": [[1.0, 0, 2] * 7, [1.0] * 21, [0, 1.0, 1] * 7]},
    "cosine": {"decay": Cosine(periods=5, every=6, floor=0.1)},
    "divergence": {"rate": [0.05, 1e4, 0.02]},
}


def data(width: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(width)
    # What float32 holds exactly, so that both precisions start from the same.
    inputs = torch.randn(21, 5, generator=generator).double()
    return inputs, torch.randn(3, 21, generator=generator).sign().double()


def train(recipe: str, width: int, watch: Any = None, record: Any = (0, 1, 20, 45), **ensemble: Any) -> Trained:
    """Train three networks on 21 samples, recorded and watched at steps before, at and after the ends of spans."""
    inputs, targets = data(width)
    settings = {"rate": [0.05, 0.1, 0.02], "steps": 45} | RECIPES[recipe]
    networks = Ensemble(MLP(5, (width,)), [0, 1, 2], scale=[0.3, 1.0, 2.0], **ensemble)
    watch = inputs[:2] if watch is None else watch
    return networks.train(inputs, targets, record=record, watch=watch, threads=1, **settings)


def agree(one: Trained, other: Trained, tolerance: float) -> None:
    kept = ~other.diverged
    assert torch.equal(one.diverged, other.diverged)
    assert torch.equal(one.stopped, other.stopped)
    assert torch.equal(one.steps[kept], other.steps[kept])
    pairs = [(one.loss, other.loss), (one.history.t(), other.history.t())]
    assert one.watched is not None
    assert other.watched is not None
    pairs.append((one.watched.transpose(0, 1), other.watched.transpose(0, 1)))
    pairs += [(one.parameters[name], other.parameters[name]) for name in other.parameters]
    for ours, theirs in pairs:
        torch.testing.assert_close(
            ours[kept].double().cpu(), theirs[kept].double().cpu(), rtol=tolerance, atol=tolerance
        )


class Emulated:
    """A kernel compiled for the CPU."""

    def __init__(self, layout: Layout, loss: str, plain: bool, folder: Path) -> None:
        macros = {name.upper(): value for name, value in asdict(layout).items()}
        macros |= {"LOSS": LOSSES.index(loss), "PLAIN": int(plain)}
        library = folder / f"{'-'.join(map(str, macros.values()))}.so"
        if not library.exists():
            source = Path(on_chip.__file__).with_suffix(".cu")
            options = ["-std=c++20", "-w", "-shared", "-fPIC", "-pthread", f'-DKERNEL="{source}"']
            given = [f"-D{name}={value}" for name, value in macros.items()]
            command = ["g++", *options, *given, "-x", "c++", str(HERE / "emulated_cuda.h"), "-o", str(library)]
            subprocess.run(command, check=True)
        self.run = ctypes.CDLL(str(library)).run

    def launch(self, blocks: int, threads: int, shared: int, arguments: Any) -> None:
        *tensors, setting = arguments
        pointers = (ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))
        values = [getattr(setting, name) for name, _ in setting._fields_]
        # The structure holds float32.
        decimals = [float(f"{value:.7g}") for value in values[6:]]
        self.run(blocks, pointers, (ctypes.c_int * 6)(*values[:6]), (ctypes.c_double * 3)(*decimals))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernels of all tests: recipes that differ only in numbers share one."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def emulate(monkeypatch: pytest.MonkeyPatch, compiled: Path) -> Callable[[Layout], None]:
    def with_layout(layout: Layout) -> None:
        monkeypatch.setattr(ensemble, "why_not_on_chip", lambda *_: None)
        monkeypatch.setattr(on_chip, "_layout", lambda *_: layout)
        monkeypatch.setattr(on_chip, "_kernel", lambda layout, loss, plain, _: Emulated(layout, loss, plain, compiled))

    return with_layout


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_kernel_does_what_the_hand_written_step_does(recipe: str, emulate: Callable[[Layout], None]) -> None:
    by_hand = train(recipe, 23, dtype="float64")
    emulate(Layout(inputs=5, units=2, parts=4, group=8, warps=2, cluster=1, beside=1))
    on = train(recipe, 23, dtype="float64")
    assert (on.route, by_hand.route) == ("on chip", "by hand")
    agree(on, by_hand, 1e-12)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("units", "parts", "group", "warps"), [(1, 1, 8, 1), (4, 8, 8, 2), (4, 16, 4, 3), (1, 2, 2, 2)]
)
def test_every_layout_computes_the_same(
    units: int, parts: int, group: int, warps: int, emulate: Callable[[Layout], None]
) -> None:
    by_hand = train("stops", 23, dtype="float64")
    emulate(Layout(inputs=5, units=units, parts=parts, group=group, warps=warps, cluster=1, beside=1))
    agree(train("stops", 23, dtype="float64"), by_hand, 1e-12)


@pytest.mark.parametrize("networks", [1, 10, 256])
@pytest.mark.parametrize("width", [1, 32, 100, 512, 1000, 2000])
@pytest.mark.parametrize("inputs", [1, 20, 40])
def test_a_layout_holds_the_whole_network(networks: int, width: int, inputs: int) -> None:
    layout = choose_layout(networks, inputs, width, 60, H200)
    assert layout is not None
    assert layout.cluster * layout.warps * (32 // layout.parts) * layout.units >= width
    assert layout.units * layout.group <= 32
    assert layout.warps <= 32
    assert layout.shared_bytes(60) <= H200.shared


def test_what_is_too_large_for_a_chip_has_no_layout() -> None:
    assert choose_layout(8, 20, 1000, 3000, H200) is None
    assert choose_layout(8, 500, 1000, 60, H200) is None
    assert choose_layout(8, 20, 100_000, 60, H200) is None
    assert choose_layout(8, 20, 4000, 60, Chip(132, 100_000, clusters=False)) is None


def test_few_networks_on_many_samples_are_left_to_stacked_arrays() -> None:
    assert choose_layout(1, 20, 1000, 60, H200) is not None
    assert choose_layout(1, 20, 3000, 700, H200) is None
    assert choose_layout(300, 20, 1000, 700, H200) is not None


def test_a_result_says_which_route_it_took() -> None:
    inputs, targets = torch.eye(3), torch.tensor([1.0, -1, 1])
    settings: dict[str, Any] = {"rate": 0.1, "steps": 2}
    assert Ensemble(MLP(3, (4,)), [0]).train(inputs, targets, **settings).route == "by hand"
    assert Ensemble(MLP(3, (4,)), [0]).train(inputs, targets, batch=2, **settings).route == "autograd"
    assert Ensemble(MLP(3, (4, 4)), [0]).train(inputs, targets, **settings).route == "autograd"


@pytest.mark.parametrize(
    ("hidden", "settings", "reason"),
    [((4,), {}, "NVIDIA GPU"), ((4, 4), {}, "one hidden layer"), ((4,), {"batch": 2}, "full batches")],
)
def test_asking_for_the_chip_where_it_does_not_fit_says_why(
    hidden: tuple[int, ...], settings: dict[str, Any], reason: str
) -> None:
    asked = Ensemble(MLP(3, hidden), [0], on_chip=True)
    with pytest.raises(InputError, match=reason):
        asked.train(torch.eye(3), [1.0, -1, 1], rate=0.1, steps=2, **settings)


def distance_from_kinks(inputs: torch.Tensor) -> Callable[[Any, Any, torch.Tensor], torch.Tensor]:
    """Watch how close to 0 a hidden unit of each network comes, where rounding decides whether it is on."""

    def distance(parameters: Any, statistics: Any, networks: torch.Tensor) -> torch.Tensor:
        hidden = inputs @ parameters["weight0"].transpose(1, 2) + parameters["bias0"].unsqueeze(1)
        return hidden.abs().flatten(1).amin(1)

    return distance


@needs_gpu
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("width", [23, 300, 1000])
def test_a_gpu_finds_the_losses_of_the_loop(recipe: str, width: int) -> None:
    on = train(recipe, width, device="cuda", on_chip=True)
    off = train(recipe, width, device="cuda", on_chip=False)
    exact = train(recipe, width, dtype="float64")
    assert (on.route, off.route) == ("on chip", "by hand")
    away = train(recipe, width, distance_from_kinks(data(width)[0]), range(45), dtype="float64").watched
    assert away is not None
    clear = (away.amin(0) > 1e-6) & ~exact.diverged
    for other in (off, exact):
        assert torch.equal(on.diverged.cpu(), other.diverged.cpu())
        for mine, theirs in ((on.loss.unsqueeze(0), other.loss.unsqueeze(0)), (on.history, other.history)):
            close(mine, theirs, clear)


def close(mine: torch.Tensor, theirs: torch.Tensor, clear: torch.Tensor) -> None:
    """Compare losses (R, E): to 1e-6 where no unit was on or off by rounding alone, which costs more elsewhere."""
    gaps = (mine.double().cpu() - theirs.double().cpu()).abs() / theirs.double().cpu().abs().clamp_min(1)
    finite = gaps.isfinite()
    assert bool((gaps[:, clear] <= 1e-6).all())
    assert bool((gaps[finite] <= 1e-4).all())


@needs_gpu
@pytest.mark.parametrize(("networks", "clusters"), [(3, True), (60, True), (200, False)])
def test_clusters_of_blocks_compute_the_same(networks: int, clusters: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    inputs, targets = torch.randn(60, 20, generator=generator), torch.randn(60, generator=generator)
    layout = choose_layout(networks, 20, 1000, 60, on_chip._chip(torch.device("cuda")))
    assert layout is not None
    assert (layout.cluster > 1) == clusters
    one, two = (
        Ensemble(MLP(20, (1000,)), range(networks), dtype=dtype, device=device).train(
            inputs, targets, rate=1e-3, steps=10, record=range(10), watch=watch
        )
        for dtype, device, watch in (
            ("float32", "cuda", None),
            ("float64", "cpu", distance_from_kinks(inputs.double())),
        )
    )
    assert one.route == "on chip"
    assert two.watched is not None
    clear = two.watched.amin(0) > 1e-6
    assert int(clear.sum()) > networks // 3
    close(one.history, two.history, clear)


@needs_gpu
@pytest.mark.parametrize("settings", [{"optimiser": Adam()}, {"clip": 1.0}])
def test_other_recipes_take_the_next_route_on_a_gpu(settings: dict[str, Any]) -> None:
    ensemble = Ensemble(MLP(3, (4,)), [0], device="cuda")
    assert ensemble.train(torch.eye(3), [1.0, -1, 1], rate=0.1, steps=2, **settings).route == "by hand"
