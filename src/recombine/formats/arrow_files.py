"""Arrow IPC and Feather files, by pyarrow or polars, whichever is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recombine.errors import InputError


def arrow_data(path: Path) -> tuple[Any, bool]:
    """Return an Arrow file as a dataset or table of pyarrow, or a frame of polars, and whether DuckDB scans it."""
    if sys.modules.get("pandas", sys) is None:  # kept out of a command for speed, which pyarrow cannot stand
        del sys.modules["pandas"]
    with path.open("rb") as begun:
        stream = begun.read(6) != b"ARROW1"
    try:
        if find_spec("pyarrow") is not None:
            import pyarrow.dataset
            import pyarrow.ipc

            if not stream:
                return pyarrow.dataset.dataset(path, format="ipc"), True
            with pyarrow.memory_map(str(path)) as file:
                return pyarrow.ipc.open_stream(file).read_all(), True
        import polars

        return (polars.read_ipc_stream(path) if stream else polars.scan_ipc(path)), False
    except ModuleNotFoundError:
        raise InputError(f"{path.name} is read by pyarrow or polars; get one with pip install pyarrow") from None
    except Exception as error:  # libraries raise whatever their parts raise: damage is damage
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path.name} cannot be read as a table: {reason}; write it again") from None
