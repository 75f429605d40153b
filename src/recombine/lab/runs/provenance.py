"""What produced a result: versions, command, commit, host and device. Recorded with it, never part of its key."""

from __future__ import annotations

import os
import platform
import shlex
import socket
import subprocess
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from recombine._version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")


def driver_record() -> dict[str, Any]:
    """Return what is the same for every unit of a sweep: package version, command and source commit.

    Examples
    --------
    >>> sorted(driver_record())
    ['command', 'commit', 'recombine']
    """
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]) if sys.argv else ""
    return {"recombine": __version__, "command": command, "commit": source_commit()}


def worker_record(device: str) -> dict[str, Any]:
    """Return what belongs to the process that computed: host, Python, library versions and device.

    Examples
    --------
    >>> worker_record("cpu")["device"]
    'cpu'
    """
    return {
        "host": socket.gethostname(),
        "python": platform.python_version(),
        "libraries": _libraries(),
        "device": _device(device),
    }


@lru_cache(maxsize=1)
def source_commit() -> str | None:
    """Return the commit of the source tree the package runs from, with ``+`` if it was edited.

    Outside one it is what ``$RECOMBINE_COMMIT`` says, which goes along where only the source is taken; else None.
    """
    root, named = Path(__file__).parent, os.environ.get("RECOMBINE_COMMIT")

    def ask(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True, timeout=10).stdout

    try:
        # An installed package may lie inside somebody else's repository, whose commit says nothing about it.
        if not ask("ls-files", Path(__file__).name).strip():
            return named
        return ask("rev-parse", "HEAD").strip() + ("+" if ask("status", "--porcelain", "--", "../..").strip() else "")
    except (OSError, subprocess.SubprocessError):
        return named


@lru_cache(maxsize=1)
def _libraries() -> dict[str, str]:
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _device(device: str) -> str:
    torch = sys.modules.get("torch")
    if torch is None or not device.startswith("cuda") or not torch.cuda.is_available():
        return device
    return f"{device} ({torch.cuda.get_device_name(torch.device(device))})"
