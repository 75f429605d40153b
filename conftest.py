"""Which tests are collected: those that train networks need torch, an extra that `make test` does not install."""

from __future__ import annotations

import signal
from importlib.util import find_spec

HAS_TORCH = find_spec("torch") is not None

NEED_TORCH = [
    "src/recombine/nets/*",
    "tests/nets/*",
    "src/recombine/measures/sensitivity.py",
    "src/recombine/papers/first_principles_worlds.py",
    "src/recombine/papers/forced_rendering_controls.py",
    "src/recombine/papers/forced_rendering_networks.py",
    "src/recombine/papers/forced_rendering_remedies.py",
    "src/recombine/papers/forced_rendering_training.py",
    "src/recombine/papers/gated_linear_images.py",
    "src/recombine/papers/gradient_resists_images.py",
    "src/recombine/papers/gradient_resists_scan.py",
    "tests/papers/test_first_principles_decoders.py",
    "docs/papers/first-principles.md",
    "src/recombine/worlds/image_pairs.py",
    "src/recombine/worlds/label_pairs.py",
    "src/recombine/worlds/noise.py",
]
NEED_CLARABEL = ["src/recombine/theory/group_interpolators.py"]
NEED_TRITON = ["src/recombine/nets/convolution_kernels.py", "src/recombine/nets/residual_kernels.py"]
collect_ignore_glob = [
    *([] if HAS_TORCH else NEED_TORCH),
    *([] if find_spec("clarabel") else NEED_CLARABEL),
    *([] if find_spec("triton") else NEED_TRITON),
]


def pytest_configure() -> None:
    """Let Ctrl-C work in tests that are about it: shells ignore it in what they start in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Say when networks are left out, so that a short run is not mistaken for a whole one."""
    return "networks: tested" if HAS_TORCH else "networks: left out (no torch; make test TEST_EXTRAS=test,nets)"
