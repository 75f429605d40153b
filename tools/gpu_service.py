"""One GPU for several processes at the same time, by NVIDIA's multi-process service. Used by ``ship.py``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

#: Ends with 0 where a GPU can be used.
TRIAL = """
import ctypes, sys
driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
sys.exit(driver.cuInit(0) or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
"""


@contextmanager
def shared_gpu(device: str) -> Iterator[dict[str, str]]:
    """Start NVIDIA's service by which processes compute at the same time on one GPU, where there is one."""
    control = shutil.which("nvidia-cuda-mps-control") if device.startswith("cuda") else None
    if control is None or "CUDA_MPS_PIPE_DIRECTORY" in os.environ:
        yield {}
        return
    with tempfile.TemporaryDirectory() as place:
        known = {"CUDA_MPS_PIPE_DIRECTORY": place, "CUDA_MPS_LOG_DIRECTORY": place}
        # A context of the driver's own is there at once, and torch after many seconds.
        trial = [sys.executable, "-c", TRIAL]
        environment = {**os.environ, **known}
        subprocess.run([control, "-d"], env=environment, check=False)
        try:
            yield known if _works(trial, environment) else {}
        finally:
            subprocess.run([control], input=b"quit\n", env=environment, check=False)


def _works(trial: list[str], environment: dict[str, str]) -> bool:
    try:
        return subprocess.run(trial, env=environment, capture_output=True, check=False, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False
