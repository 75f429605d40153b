"""Kernels are for GPUs on which they can be compiled."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from recombine.nets import devices


@pytest.mark.parametrize(("cuda", "triton"), [(True, True), (True, False), (False, True)])
def test_kernels_need_a_gpu_and_their_compiler(cuda: bool, triton: bool, monkeypatch) -> None:
    monkeypatch.setattr(devices, "_TRITON", triton)
    assert devices.takes_kernels(SimpleNamespace(is_cuda=cuda)) == (cuda and triton)
