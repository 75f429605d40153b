"""Kernels are for GPUs on which they can be compiled."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

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


FIRST_BACKWARD = """
import warnings
warnings.simplefilter("error")
import numpy as np
from recombine.lab.nets.architectures import MLP
from recombine.lab.nets.ensemble import Ensemble
Ensemble(MLP(inputs=2, hidden=(3,)), seeds=[0], device="cuda").train(np.eye(2), [1.0, -1.0], rate=0.1, steps=2)
"""


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_first_training_of_a_process_has_a_context_in_every_thread() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_BACKWARD], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_waking_the_thread_leaves_other_devices_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.autograd, "backward", None)  # would be called
    devices.wake_backward(torch.device("cpu"))
