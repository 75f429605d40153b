"""What the device at hand can do."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from recombine.errors import InputError

_TRITON = find_spec("triton") is not None


def takes_kernels(tensor: Tensor) -> bool:
    """Say whether our own kernels can run where a tensor lies: on a GPU, with triton at hand to compile them.

    Examples
    --------
    >>> import torch
    >>> takes_kernels(torch.zeros(3))
    False
    """
    return tensor.is_cuda and _TRITON


def usable_device(name: str) -> torch.device:
    """Return the device of a name, or say why nothing can be computed there.

    Examples
    --------
    >>> usable_device("cpu")
    device(type='cpu')
    """
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise InputError(f"{name!r} is not a device; use 'cpu', or where there is a GPU 'cuda' or 'cuda:1'") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(f"device {name!r} is not there: torch sees {torch.cuda.device_count()} GPUs; use 'cpu'")
    return device


@cache
def wake_backward(device: torch.device) -> torch.device:
    """Return the device, after the thread in which torch differentiates on a GPU has taken up its context.

    Where a matrix product is the first thing that this thread does, torch warns that there is no context yet.
    """
    if device.type == "cuda":
        with torch.enable_grad():
            torch.autograd.backward(2 * torch.zeros((), device=device, requires_grad=True))
    return device
