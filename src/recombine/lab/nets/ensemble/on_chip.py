"""One-hidden-layer ReLU networks whose weights stay on the chip of a GPU for many steps (``on_chip.cu``).

A step of stacked arrays goes through device memory a dozen times. Here a network's weights are read once, live in the
registers of one block of threads or of a few, and are written back when somebody wants to look: when a loss or outputs
are recorded, and at the end. A network that stops or diverges lets go of its block at once.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.cuda_kernel import MODEST_SHARED_BYTES, CudaKernel, can_compile
from recombine.lab.nets.ensemble.one_hidden import OneHiddenChunk
from recombine.lab.nets.ensemble.optimisers import SGD
from recombine.lab.nets.ensemble.steps import ChunkSetting
from recombine.lab.nets.losses import ABSOLUTE_SHARE

#: Losses in the kernel's numbering.
LOSSES = ("mse", "squared-absolute", "logistic", "hinge")

#: Registers of a multiprocessor, and the most that a thread can have.
REGISTERS, THREAD_REGISTERS = 2**16, 255

#: Cycles of a step of stacked arrays on an H200: those of its launches, and those per hidden unit and sample.
STACKED = (120_000, 0.016)

#: Numbers in one array that the kernel can count.
MOST_NUMBERS = 2**31 - 1


@dataclass(frozen=True)
class Chip:
    """What a GPU has: multiprocessors, shared memory of a block in bytes, and whether blocks can work in clusters."""

    processors: int
    shared: int
    clusters: bool


@dataclass(frozen=True)
class Layout:
    """How a network is spread over threads; the fields are macros of the kernel, where they are explained."""

    inputs: int
    units: int
    parts: int
    group: int
    warps: int
    cluster: int
    beside: int

    @property
    def registers(self) -> int:
        """Registers that a thread uses: its weights, their gradients and some forty more."""
        return self.units * (2 * self.inputs + 4) + 40

    def shared_bytes(self, samples: int) -> int:
        """Return the shared memory of a block that trains on so many samples."""
        groups = -(-samples // (self.group * self.parts))
        padded = groups * self.group * self.parts
        row = 4 * (-(-self.inputs // 4) | 1)
        slopes = self.warps * self.parts * (groups * self.group + 4)
        return 4 * (padded * (row + 2 + 2 * self.cluster * self.warps) + slopes + groups * 32 * self.warps)

    def room(self, samples: int, chip: Chip) -> int:
        """Return how many blocks have room on a multiprocessor."""
        if self.registers > THREAD_REGISTERS or self.warps > 32:
            return 0
        return min(REGISTERS // (self.registers * 32 * self.warps), chip.shared // self.shared_bytes(samples))

    def cycles(self, networks: int, samples: int, chip: Chip) -> float:
        """Estimate a step's clock cycles; sixty layouts took within 10 % (r.m.s.) of such a sum on an H200."""
        waves = -(-networks * self.cluster // (self.beside * chip.processors))
        rows = self.group * -(-samples // (self.group * self.parts))
        loads, products = 2 * rows * -(-self.inputs // 4), 2 * rows * self.units * (self.inputs + 3)
        shuffles = (self.parts.bit_length() - 1) * self.units * (self.inputs + 2) + rows
        busy = self.beside * self.warps * (1.5 * (loads + shuffles) + 0.3 * products + 4 * self.cluster * self.warps)
        alone = 2 * products + 8 * loads + 2000 + (200 * self.cluster if self.cluster > 1 else 0)
        return waves * math.hypot(busy, alone)


def choose_layout(networks: int, inputs: int, width: int, samples: int, chip: Chip) -> Layout | None:
    """Return the layout that should be fastest for such networks, or None where none fits or stacked arrays are faster.

    Examples
    --------
    >>> choose_layout(256, 20, 32, 60, Chip(processors=132, shared=232448, clusters=True))
    Layout(inputs=20, units=2, parts=8, group=8, warps=4, cluster=1, beside=2)
    """
    if networks * max(width * (inputs + 2), samples) > MOST_NUMBERS:
        return None
    layouts: list[Layout] = []
    for cluster, units, splits in product((1, 2, 4, 8) if chip.clusters else (1,), (1, 2), (1, 2, 4, 8)):
        warps = math.ceil(math.ceil(width / cluster) * splits / (32 * units))
        alone = Layout(inputs, units, splits, 8, warps, cluster, beside=1)
        if room := alone.room(samples, chip):
            layouts.append(replace(alone, beside=min(room, -(-networks * cluster // chip.processors))))
    best = min(layouts, key=lambda layout: layout.cycles(networks, samples, chip), default=None)
    stacked = STACKED[0] + STACKED[1] * networks * width * samples
    return best if best is not None and best.cycles(networks, samples, chip) < stacked else None


class Setting(ctypes.Structure):
    """The kernel's last argument."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("networks", "width", "samples", "steps", "update", "stopping")),
        *((name, ctypes.c_float) for name in ("momentum", "weight_decay", "absolute")),
    )


def why_not_on_chip(setting: ChunkSetting, networks: int) -> str | None:
    """Say what keeps a chunk that the hand-written step fits from staying on the chip, or None where nothing does."""
    device = setting.samples.targets.device
    if device.type != "cuda" or not can_compile():
        return "it needs an NVIDIA GPU and torch built for it"
    if setting.compute != torch.float32:
        return f"it computes in float32, not in {setting.compute}"
    if setting.loss.name not in LOSSES:
        return f"its loss is one of {', '.join(LOSSES)}"
    if not isinstance(setting.optimiser, SGD) or setting.clip is not None:
        return "its optimiser is SGD without clip"
    if _layout(setting, networks) is None:
        return (
            "its networks and their samples fit on a multiprocessor, and are not so few that stacked arrays are faster"
        )
    return None


def _layout(setting: ChunkSetting, networks: int) -> Layout | None:
    network, samples = setting.architecture, setting.samples
    assert isinstance(network, MLP), "fits_one_hidden was not asked"
    return choose_layout(networks, network.inputs, network.hidden[0], len(samples), _chip(samples.targets.device))


@cache
def _chip(device: torch.device) -> Chip:
    has = torch.cuda.get_device_properties(device)
    return Chip(
        has.multi_processor_count,
        int(getattr(has, "shared_memory_per_block_optin", MODEST_SHARED_BYTES)),
        has.major >= 9,
    )


@cache
def _kernel(layout: Layout, loss: str, plain: bool, device: torch.device) -> CudaKernel:
    macros = {name.upper(): value for name, value in asdict(layout).items()}
    macros |= {"LOSS": LOSSES.index(loss), "PLAIN": int(plain)}
    return CudaKernel(Path(__file__).with_suffix(".cu"), "train", macros, device)


class OnChipChunk(OneHiddenChunk):
    """The same networks and the same blocks of parameters, with as many steps at once as nobody looks at."""

    route = "on chip"
    longest = 1000

    def _buffers(self) -> None:
        """Take what the kernel reads; hidden units need no memory."""
        layout = _layout(self.setting, len(self.targets))
        assert layout is not None, "why_not_on_chip was not asked"
        self.layout = layout
        self.targets, self.weights = self.targets.contiguous(), self.weights.contiguous()
        self.x = self.x[:, :-1].contiguous()
        self.full = self.x.new_ones(self.longest)
        self.memory = [
            slots[0] if slots else torch.zeros_like(b) for slots, b in zip(self.slots, self.blocks, strict=True)
        ]

    def step(self, rows: Tensor | None, update: bool = True) -> None:
        """Do one step, or only note the loss."""
        self._launch(1, update)

    def advance(self, steps: int) -> None:
        """Do many steps."""
        self._launch(steps, True)

    def _launch(self, steps: int, update: bool) -> None:
        progress, optimiser = self.progress, self.setting.optimiser
        assert isinstance(optimiser, SGD)
        _, networks, width = self.blocks[0].shape
        counts = (networks, width, len(self.x), steps, update, progress.stopping)
        setting = Setting(*counts, optimiser.momentum, optimiser.weight_decay, ABSOLUTE_SHARE)
        data = (self.x, self.targets, self.weights, progress.rate, self._shares(steps), progress.threshold)
        noted = (progress.active, progress.latest, progress.worst, progress.taken)
        layout, shared = self.layout, self.layout.shared_bytes(len(self.x))
        kernel = _kernel(layout, self.setting.loss.name, optimiser.plain, self.x.device)
        arguments: list[Tensor | ctypes.Structure] = [*self.blocks, *self.memory, *data, *noted, setting]
        kernel.launch(networks * layout.cluster, 32 * layout.warps, shared, arguments)

    def _shares(self, steps: int) -> Tensor:
        """Return the shares (steps,) of their rates at which networks descend; all that go on are at the same step."""
        progress, anneal = self.progress, self.setting.anneal
        if anneal is None and not progress.decaying:
            return self.full[:steps]
        taken = progress.taken.max() + torch.arange(steps, device=progress.taken.device)
        shares = progress.decay[0] ** (taken // progress.every[0])
        return shares if anneal is None else (shares * anneal.share(taken)).to(shares.dtype)
