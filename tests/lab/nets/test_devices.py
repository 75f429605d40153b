"""Kernels are for GPUs on which they can be compiled."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from recombine.errors import InputError
from recombine.lab.nets import devices


@pytest.mark.parametrize(("cuda", "triton"), [(True, True), (True, False), (False, True)])
def test_kernels_need_a_gpu_and_their_compiler(cuda: bool, triton: bool, monkeypatch) -> None:
    monkeypatch.setattr(devices, "_TRITON", triton)
    assert devices.takes_kernels(SimpleNamespace(is_cuda=cuda)) == (cuda and triton)


@pytest.mark.parametrize(("name", "words"), [("gpu", "is not a device"), ("cuda:99", "is not there")])
def test_a_device_that_is_not_there_is_refused(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        devices.usable_device(name)
