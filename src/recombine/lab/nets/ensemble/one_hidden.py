"""The hand-written step of one-hidden-layer ReLU networks on shared inputs.

With z = W'x (the bias is a last row of W, for a last 1 in x), f = v' relu(z) + b and the slope g of the loss in f,
    G = sum over samples of x (g [z > 0])',    dW = G * v,    dv = sum over rows of W * G.
So one matrix product for all networks gives z, one gives G, and the large array between them is written in place.
"""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from recombine.lab.nets.architecture import Tensors
from recombine.lab.nets.architectures.mlp import MLP
from recombine.lab.nets.ensemble.steps import Chunk, ChunkSetting, TrainingState

#: Below this width a product and a sum beat one small matrix product per network.
MAX_NARROW_WIDTH = 200

_mask = torch.ops.aten.threshold_backward.grad_input


def fits_one_hidden(setting: ChunkSetting, rows: bool, dtype: torch.dtype) -> bool:
    """Say whether the hand-written step applies: one hidden layer, one output, shared inputs, full batches."""
    network = setting.architecture
    single = isinstance(network, MLP) and len(network.hidden) == 1 and network.outputs == 1
    return single and setting.samples.shared and not rows and setting.compute == dtype and not setting.loss.labels


class OneHiddenChunk(Chunk):
    """One-hidden-layer networks: rows of ``theta`` (inputs + 2, c, H) are input weights, bias and readout."""

    route = "by hand"

    def __init__(
        self,
        setting: ChunkSetting,
        progress: TrainingState,
        parameters: Tensors,
        slots: list[list[Tensor]] | None = None,
    ) -> None:
        super().__init__(setting, progress)
        weight, bias = parameters["weight0"], parameters["bias0"]
        theta = torch.cat([weight.permute(2, 0, 1), bias.unsqueeze(0), parameters["weight1"].transpose(0, 1)])
        self.remember([theta.contiguous(), parameters["bias1"].clone()], slots)
        self._inputs()
        self._buffers()

    def _inputs(self) -> None:
        inputs, targets, weights = self.setting.samples.take(self.progress.networks, None)
        shared = inputs[0]
        self.x = torch.cat([shared, shared.new_ones(len(shared), 1)], dim=1).contiguous()
        self.targets, self.weights, self.share = targets, weights, weights.unsqueeze(-1)

    def _buffers(self) -> None:
        rows, networks, width = self.blocks[0].shape
        samples = len(self.x)
        self.z = self.x.new_empty(samples, networks * width)
        self.hidden = self.z.view(samples, networks, width)
        self.scratch = self.x.new_empty(samples, networks, width) if width < MAX_NARROW_WIDTH else None
        self.total = self.x.new_empty(rows - 1, networks * width)
        self.product = self.x.new_empty(rows - 1, networks, width)
        self.outputs = self.x.new_empty(networks, samples, 1)

    def step(self, rows: Tensor | None, update: bool = True) -> None:
        """Run forward, note the loss, form the closed gradient and update."""
        outputs = self._forward()
        self.progress.note((self.setting.loss.value(outputs, self.targets) * self.weights).sum(1))
        if not update:
            return
        slope = self.setting.loss.slope(outputs, self.targets) * self.share
        if self.setting.optimiser.plain and self.setting.clip is None:
            self._descend_at_once(slope)
        else:
            self.descend(self._gradients(slope))

    def _forward(self) -> Tensor:
        theta, bias = self.blocks
        torch.mm(self.x, theta[:-1].flatten(1), out=self.z)
        self.z.clamp_min_(0)
        if self.scratch is None:
            torch.bmm(self.hidden.transpose(0, 1), theta[-1].unsqueeze(2), out=self.outputs)
            return self.outputs + bias.unsqueeze(1)
        torch.mul(self.hidden, theta[-1], out=self.scratch)
        return (self.scratch.sum(2).t() + bias).unsqueeze(2)

    def _backward(self, slope: Tensor) -> tuple[Tensor, Tensor]:
        """Overwrite the activations with the masked slope (c, N, 1); return G (inputs + 1, c, H) and dv (c, H)."""
        _mask(slope.transpose(0, 1), self.hidden, 0, grad_input=self.hidden)
        torch.mm(self.x.t(), self.z, out=self.total)
        total = self.total.view_as(self.product)
        torch.mul(self.blocks[0][:-1], total, out=self.product)
        return total, self.product.sum(0)

    def _gradients(self, slope: Tensor) -> list[Tensor]:
        total, readout = self._backward(slope)
        return [torch.cat([total * self.blocks[0][-1], readout.unsqueeze(0)]), slope.sum(1)]

    def _descend_at_once(self, slope: Tensor) -> None:
        """Plain gradient descent: with the rate folded into the slope, gradients are added where they belong."""
        theta, bias = self.blocks
        slope = slope * -self.pace().view(-1, 1, 1)
        total, readout = self._backward(slope)
        theta[:-1].addcmul_(total, theta[-1])
        theta[-1].add_(readout)
        bias.add_(slope.sum(1))
        self.progress.taken.add_(self.progress.active)

    def parameters(self) -> Tensors:
        """Return the parameters by name, stacked on a leading axis."""
        theta, bias = self.blocks
        return {
            "weight0": theta[:-2].permute(1, 2, 0),
            "bias0": theta[-2],
            "weight1": theta[-1].unsqueeze(1),
            "bias1": bias,
        }

    def select(self, keep: Tensor) -> Self:
        """Return a smaller chunk that goes on with some of the networks."""
        slots = [[slot.index_select(slot.ndim - 2, keep) for slot in slots] for slots in self.slots]
        parameters = {name: tensor[keep] for name, tensor in self.parameters().items()}
        return type(self)(self.setting, self.progress.select(keep), parameters, slots)
