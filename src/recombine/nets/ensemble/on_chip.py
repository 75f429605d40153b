"""One-hidden-layer ReLU networks whose weights stay on the chip of a GPU for many steps (``on_chip.cu``).

A step of stacked arrays goes through device memory a dozen times. Here a network's weights are read once, live in the
registers of one block of threads or of a few, and are written back when somebody wants to look: when a loss or outputs
are recorded, and at the end. A network that stops or diverges lets go of its block at once.
"""

from __future__ import annotations

import ctypes
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from recombine.nets.cuda_kernel import CudaKernel, can_compile
from recombine.nets.ensemble.one_hidden import OneHiddenChunk
from recombine.nets.ensemble.optimisers import SGD
from recombine.nets.ensemble.steps import ChunkSetting
from recombine.nets.losses import ABSOLUTE_SHARE

#: Losses in the kernel's numbering.
LOSSES = ("mse", "squared-absolute", "logistic", "hinge")


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

    def shared_bytes(self, samples: int) -> int:
        """Return the shared memory of a block that trains on so many samples."""
        groups = -(-samples // (self.group * self.parts))
        padded = groups * self.group * self.parts
        row = 4 * (-(-self.inputs // 4) | 1)
        slopes = self.warps * self.parts * (groups * self.group + 4)
        return 4 * (padded * (row + 2 + 2 * self.cluster * self.warps) + slopes + groups * 32 * self.warps)


def choose_layout(networks: int, inputs: int, width: int, samples: int, chip: Chip) -> Layout | None:
    """Return the layout that measured best for such networks, or None where none fits."""
    return None


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
    if not isinstance(setting.optimiser, SGD) or setting.clip is not None:
        return "its optimiser is SGD without clip"
    if _layout(setting, networks) is None:
        return "the networks or their samples are too large for a multiprocessor"
    return None


def _layout(setting: ChunkSetting, networks: int) -> Layout | None:
    network, samples = setting.architecture, setting.samples
    return choose_layout(networks, network.inputs, network.hidden[0], len(samples), _chip(samples.targets.device))


@cache
def _chip(device: torch.device) -> Chip:
    has = torch.cuda.get_device_properties(device)
    return Chip(has.multi_processor_count, has.shared_memory_per_block_optin, has.major >= 9)


@cache
def _kernel(layout: Layout, loss: str, plain: bool, device: torch.device) -> CudaKernel:
    macros = {name.upper(): value for name, value in asdict(layout).items()}
    with torch.cuda.device(device):
        source = Path(__file__).with_suffix(".cu")
        return CudaKernel(source, "train", macros | {"LOSS": LOSSES.index(loss), "PLAIN": int(plain)})


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
        self.memory = [slots[0] if slots else torch.zeros_like(b) for slots, b in zip(self.slots, self.blocks)]

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
        arguments = [*self.blocks, *self.memory, *data, *noted, setting]
        kernel.launch(networks * layout.cluster, 32 * layout.warps, shared, arguments)

    def _shares(self, steps: int) -> Tensor:
        """Return the shares (steps,) of their rates at which networks descend; all that go on have come equally far."""
        progress, anneal = self.progress, self.setting.anneal
        taken = progress.taken.max() + torch.arange(steps, device=progress.taken.device)
        shares = progress.decay[0] ** (taken // progress.every[0])
        return shares if anneal is None else (shares * anneal.share(taken)).to(shares.dtype)
