"""A stable step size for full-batch gradient descent, from the largest eigenvalue of the tangent kernel.

Near a minimum the loss bends by at most ``curvature`` along the outputs, and outputs move with the parameters as the
tangent kernel K says, so gradient descent is stable below 2 / (curvature * largest eigenvalue of the weighted K).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt
import torch
from torch import Tensor
from torch.func import jacrev

from recombine.errors import InputError
from recombine.nets.architecture import Architecture, Tensors, select_networks
from recombine.nets.ensemble.ensemble import Ensemble
from recombine.nets.ensemble.samples import as_tensor
from recombine.nets.layers.dense import MLP
from recombine.nets.losses import loss_named


def tangent_kernel(architecture: Architecture, parameters: Tensors, inputs: Tensor) -> Tensor:
    """Return each network's tangent kernel: inner products of output gradients at all pairs of samples.

    Parameters
    ----------
    architecture : Architecture
        Of one output and without running statistics.
    parameters : dict of Tensor
        Stacked on a leading axis of length c.
    inputs : Tensor, shape (N, ...)

    Returns
    -------
    Tensor, shape (c, N, N)

    Examples
    --------
    >>> from recombine.nets.architecture import stack_networks
    >>> network = MLP(inputs=3, hidden=(200,))
    >>> one = stack_networks([network.initial(seed=0, scale=1.0)])
    >>> tangent_kernel(network, one, torch.eye(3).double()).shape
    torch.Size([1, 3, 3])
    """
    if architecture.outputs != 1 or architecture.statistics(0):
        raise InputError("the tangent kernel is for networks of one output and without batch normalisation")
    if isinstance(architecture, MLP) and len(architecture.hidden) == 1:
        return _one_hidden(architecture, parameters, inputs)
    networks = len(next(iter(parameters.values())))
    return torch.stack(
        [_by_autograd(architecture, select_networks(parameters, slice(i, i + 1)), inputs) for i in range(networks)]
    )


def _one_hidden(architecture: MLP, parameters: Tensors, inputs: Tensor) -> Tensor:
    """Closed form: readout part (activations and bias) plus hidden part (inputs, bias and readout of active units)."""
    hidden = architecture.hidden_layers(parameters, inputs.expand(len(parameters["bias1"]), *inputs.shape))[0]
    reach = torch.sign(hidden) * parameters["weight1"]
    readout = hidden @ hidden.transpose(1, 2) + 1
    return readout + (reach @ reach.transpose(1, 2)) * (inputs @ inputs.t() + 1)


def _by_autograd(architecture: Architecture, parameters: Tensors, inputs: Tensor) -> Tensor:
    def outputs(values: Tensors) -> Tensor:
        return architecture.forward(values, {}, inputs.unsqueeze(0), False)[0, :, 0]

    jacobian = torch.cat([part.flatten(1) for part in jacrev(outputs)(parameters).values()], dim=1)
    return jacobian @ jacobian.t()


def stable_rate(
    ensemble: Ensemble,
    inputs: npt.ArrayLike | Tensor,
    targets: npt.ArrayLike | Tensor,
    *,
    loss: str | Sequence[str] = "mse",
    weights: npt.ArrayLike | Tensor | None = None,
    safety: float = 0.5,
) -> list[float]:
    """Return a learning rate for each network at which full-batch gradient descent is stable.

    The kernel's largest eigenvalue is taken at the start, or estimated for the end of training where that is larger: a
    network that begins small must grow until it fits, and depth layers that share a linear map of norm b give a kernel
    of about depth * b^(2 - 2 / depth) times that of the inputs.

    Parameters
    ----------
    ensemble : Ensemble
        Of multilayer perceptrons with one output.
    inputs : array, shape (N, d)
    targets : array, shape (N,) or (E, N)
    loss : str or sequence of str
    weights : array, shape (N,) or (E, N), optional
    safety : float
        Share of the largest stable rate.

    Returns
    -------
    list of float, length E

    Examples
    --------
    >>> import numpy as np
    >>> ensemble = Ensemble(MLP(inputs=4, hidden=(500,)), seeds=[0, 1], scale=[1.0, 1e-3])
    >>> lazy, rich = stable_rate(ensemble, np.eye(4), [1.0, 1.0, -1.0, -1.0])
    >>> 0 < lazy < rich
    True
    """
    if not isinstance(ensemble.architecture, MLP):
        raise InputError("a stable rate is worked out for multilayer perceptrons; choose the rate of others yourself")
    x = as_tensor(inputs).to("cpu", torch.float64)
    y = as_tensor(targets).to("cpu", torch.float64)
    parameters = {name: tensor.to("cpu", torch.float64) for name, tensor in ensemble.initial()[0].items()}
    share = _shares(weights, len(ensemble), len(x))
    first = _largest(tangent_kernel(ensemble.architecture, parameters, x), share)
    depth = len(ensemble.architecture.hidden) + 1
    last = _grown(x, y, share, depth) * _largest(x @ x.t() + 1, share)
    names = [loss] * len(ensemble) if isinstance(loss, str) else loss
    curvature = torch.tensor([loss_named(name).curvature for name in names], dtype=torch.float64)
    rates: list[float] = (safety * 2 / (curvature * torch.maximum(first, last))).tolist()
    return rates


def _shares(weights: npt.ArrayLike | Tensor | None, networks: int, samples: int) -> Tensor:
    if weights is None:
        return torch.full((networks, samples), 1 / samples, dtype=torch.float64)
    share = as_tensor(weights).to("cpu", torch.float64).expand(networks, samples)
    return share / share.sum(1, keepdim=True)


def _largest(kernel: Tensor, share: Tensor) -> Tensor:
    """Return the largest eigenvalue of each kernel (c, N, N) or (N, N) with samples weighted by ``share`` (c, N)."""
    root = share.sqrt()
    weighted = root.unsqueeze(2) * kernel * root.unsqueeze(1)
    values: Tensor = torch.linalg.eigvalsh(weighted)
    return values[:, -1]


def _grown(inputs: Tensor, targets: Tensor, share: Tensor, depth: int) -> Tensor:
    """Return depth * b^(2 - 2 / depth) for the norm b of the smallest linear map that fits each network's samples."""
    seen = (share > 0).to(inputs.dtype)
    maps: Tensor = torch.linalg.pinv(inputs * seen.unsqueeze(2)) @ (targets * seen).unsqueeze(2)
    norms: Tensor = torch.linalg.vector_norm(maps, dim=(1, 2))
    return depth * norms.pow(2 - 2 / depth)
