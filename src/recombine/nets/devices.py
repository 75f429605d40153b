"""What the device at hand can do."""

from __future__ import annotations

from importlib.util import find_spec

from torch import Tensor

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
