"""Which tests are collected: those that train networks need torch, an extra that `make test` does not install."""

from __future__ import annotations

import gc
import os
import re
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

HAS_TORCH = find_spec("torch") is not None
HAS_LAB = (Path(__file__).parent / "src" / "recombine" / "lab").is_dir()

NEED_TORCH = [
    "src/recombine/lab/nets/*",
    "tests/lab/nets/*",
    "src/recombine/lab/papers/*/experiments/*",
    "tests/lab/papers/first_principles/test_decoders.py",
    "docs/networks.md",
    "docs/papers/first-principles.md",
    "docs/papers/forced-rendering.md",
    "docs/papers/multitask.md",
    "src/recombine/measures/outputs/sensitivity.py",
    "src/recombine/lab/worlds/images/label_pairs.py",
    "src/recombine/lab/worlds/images/noise.py",
    "src/recombine/lab/worlds/images/pairs.py",
]
NEED_CLARABEL = ["src/recombine/theory/diagonal/group_interpolators.py"]
NEED_TRITON = ["src/recombine/lab/nets/*/*_kernels.py"]
NEED_STARLETTE = ["src/recombine/explore/server.py"]
#: Their snippets are run in docs/papers, where the holes of the text are filled.
PAGES = ["src/recombine/lab/papers/*/page.md"]
collect_ignore_glob = [
    *PAGES,
    *([] if HAS_TORCH else NEED_TORCH),
    *([] if find_spec("clarabel") else NEED_CLARABEL),
    *([] if find_spec("triton") else NEED_TRITON),
    *([] if find_spec("starlette") else NEED_STARLETTE),
]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out, in a copy without the laboratory, what compares the rest of the package with it, and its shape."""
    if not HAS_LAB and collection_path.parent.name == "architecture":
        return True
    if HAS_LAB or collection_path.suffix not in (".py", ".md"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    uses = r"^\s*(>>> |\.\.\. )?(from recombine\.lab|import recombine\.lab|[^#`]*\brc\.lab\.)"
    return True if re.search(uses, text, re.MULTILINE) else None


def pytest_configure(config: pytest.Config) -> None:
    """Let workers keep byte code, and Ctrl-C work in tests about it: shells ignore it in what they start behind."""
    if getattr(config.option, "numprocesses", None) and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        # Else every worker and every process that a test starts compiles every module; sources' folders stay clean.
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Spare the collector of garbage the thousands of tests, which it would look through again and again."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    """Say when networks are left out, so that a short run is not mistaken for a whole one."""
    return "networks: tested" if HAS_TORCH else "networks: left out (no torch; make test TEST_EXTRAS=test,nets)"
